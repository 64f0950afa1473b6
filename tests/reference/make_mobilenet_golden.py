#!/usr/bin/python3
"""Writes tests/reference/golden_mobilenet.h: PyTorch's results for convolutions with TensorFlow's padding, for
bilinear resizing, and for a small network built like MobileNetV2.

Run as `tests/reference/make_mobilenet_golden.py > tests/reference/golden_mobilenet.h` with python3-torch installed.
Inputs and weights are left out: the tests draw them from the same numpy stream, in the same order.
"""
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)

# As in tests/unit/core/pretrained/test_mobilenet.c: expansion, channels, repeats, stride.
STEM, STAGES, OUTPUT = 8, [(1, 8, 1, 1), (3, 12, 2, 2), (2, 12, 1, 1), (2, 20, 2, 2)], 24


def emit(name, values):
    values = torch.as_tensor(values, dtype=torch.float32).flatten().tolist()
    print(f"static const float golden_{name}[{len(values)}] = {{")
    for start in range(0, len(values), 6):
        print("    " + " ".join(c_float(v) + "," for v in values[start : start + 6]))
    print("};")


def c_float(value):
    text = f"{value:.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def same_padding(extent, stride):
    """The number of zeros that SAME puts before and after, for a filter of 3 (see tf.nn.convolution's documentation)."""
    total = max(3 - stride, 0) if extent % stride == 0 else max(3 - extent % stride, 0)
    return total // 2, total - total // 2


def convolve(x, kernel, stride, groups=1):
    """x is [batch, height, width, channels], kernel is Keras': [height, width, in, out]."""
    x = x.permute(0, 3, 1, 2)
    if kernel.shape[0] == 3:
        x = F.pad(x, (*same_padding(x.shape[3], stride), *same_padding(x.shape[2], stride)))
    return F.conv2d(x, kernel.permute(3, 2, 0, 1), stride=stride, groups=groups).permute(0, 2, 3, 1)


def depthwise(x, kernel, stride):
    return convolve(x, kernel.permute(0, 1, 3, 2), stride, groups=x.shape[3])


def floats(values):
    return torch.from_numpy(values.astype(np.float32))


def depthwise_cases():
    for height, width, stride in [(1, 2, 1), (4, 5, 1), (4, 5, 2), (7, 6, 2)]:
        rng = np.random.default_rng(10 * height + stride)
        x = floats(rng.normal(0, 1, (1, height, width, 3)))
        kernel = floats(rng.normal(0, 1, (3, 3, 3, 1)))
        bias = floats(rng.normal(0, 1, 3))
        emit(f"depthwise_{height}_{width}_{stride}", F.relu6(depthwise(x, kernel, stride) + bias))


def resize(pixels, size):
    grey = torch.tensor(pixels, dtype=torch.float32)[None, None] / 255
    resized = F.interpolate(grey, size=(size, size), mode="bilinear", align_corners=False)
    return resized[0, 0] * 255 / 127.5 - 1


def resize_cases():
    for rows, columns, size in [(5, 7, 12), (9, 6, 4), (1, 1, 3)]:
        pixels = np.random.default_rng(rows).integers(0, 256, (rows, columns))
        emit(f"resize_{rows}_{columns}_{size}", resize(pixels, size))


class Network:
    def __init__(self, rng):
        self.rng = rng
        self.layers = [self.layer("dense", 3, STEM, 2)]
        channels = STEM
        for expansion, out, repeats, stride in STAGES:
            for i in range(repeats):
                wide = channels * expansion
                block = [self.layer("pointwise", channels, wide)] if expansion > 1 else []
                block.append(self.layer("depthwise", wide, wide, stride if i == 0 else 1))
                block.append(self.layer("project", wide, out))
                self.layers.append((block, channels == out and (i > 0 or stride == 1)))
                channels = out
        self.layers.append(self.layer("pointwise", channels, OUTPUT))

    def layer(self, kind, channels, out, stride=1):
        shape = {"dense": (3, 3, channels, out), "depthwise": (3, 3, channels, 1)}.get(kind, (1, 1, channels, out))
        kernel = floats(self.rng.normal(0, 1 / np.sqrt(np.prod(shape[:3]) if kind != "depthwise" else 9), shape))
        gamma = floats(self.rng.uniform(0.5, 1.5, out))
        beta = floats(self.rng.normal(0, 0.5, out))
        mean = floats(self.rng.normal(0, 0.1, out))
        variance = floats(self.rng.uniform(0.5, 1.5, out))
        return kind, kernel, stride, (gamma, beta, mean, variance)

    def apply(self, layer, x):
        if isinstance(layer[0], list):
            y = x
            for part in layer[0]:
                y = self.apply(part, y)
            return x + y if layer[1] else y
        kind, kernel, stride, (gamma, beta, mean, variance) = layer
        x = depthwise(x, kernel, stride) if kind == "depthwise" else convolve(x, kernel, stride)
        x = gamma * (x - mean) / torch.sqrt(variance + 1e-3) + beta
        return x if kind == "project" else F.relu6(x)

    def embed(self, x):
        for layer in self.layers:
            x = self.apply(layer, x)
        return x.mean((1, 2))


def network_cases():
    rng = np.random.default_rng(4)
    network = Network(rng)
    for size in 32, 45:
        emit(f"network_{size}", network.embed(floats(rng.uniform(-1, 1, (3, size, size, 3)))))


print("/* Written by tests/reference/make_mobilenet_golden.py. */")
print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_MOBILENET_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_MOBILENET_H\n")
depthwise_cases()
resize_cases()
network_cases()
print("\n#endif")
