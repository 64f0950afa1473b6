#!/usr/bin/python3
"""Steps of PyTorch's optimisers on fixed gradients: python3 make_optimizer_golden.py > golden_optimizers.h

Needs python3-torch. For tensors of 1, 7, 16 and 37 numbers, all in one array: the parameters before, the gradients of four
steps, and what each optimiser makes of them. Every number is written with all its bits.
"""
import textwrap

import torch

SIZES, STEPS, RATE = (1, 7, 16, 37), 4, 0.005
CASES = [
    ("ADAM", torch.optim.Adam, 0, 0),
    ("ADAM", torch.optim.Adam, 0, 0.1),
    ("ADAMW", torch.optim.AdamW, 0, 0),
    ("ADAMW", torch.optim.AdamW, 0, 0.1),
    ("SGD", torch.optim.SGD, 0, 0),
    ("SGD", torch.optim.SGD, 0, 0.1),
    ("SGD", torch.optim.SGD, 0.9, 0),
    ("SGD", torch.optim.SGD, 0.9, 0.1),
    ("RMSPROP", torch.optim.RMSprop, 0, 0),
    ("RMSPROP", torch.optim.RMSprop, 0, 0.1),
    ("RMSPROP", torch.optim.RMSprop, 0.9, 0),
    ("RMSPROP", torch.optim.RMSprop, 0.9, 0.1),
]


def numbers(tensors):
    def as_float(value):
        text = f"{value:.9g}"
        return text + ("F" if "." in text or "e" in text else ".0F")

    return "{" + textwrap.fill(", ".join(as_float(v) for t in tensors for v in t.flatten().tolist()), 118) + "}"


def after_steps(make, momentum, weight_decay, values, gradients):
    parameters = [torch.nn.Parameter(value.clone()) for value in values]
    further = {"momentum": momentum} if momentum else {}
    optimiser, rows = make(parameters, lr=RATE, weight_decay=weight_decay, **further), []
    for gradient in gradients:
        for parameter, part in zip(parameters, gradient):
            parameter.grad = part.clone()
        optimiser.step()
        rows.append(numbers([p.detach() for p in parameters]))
    return rows


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    values = [torch.randn(size) for size in SIZES]
    gradients = [[torch.randn(size) * 10 ** torch.randn(size) for size in SIZES] for _ in range(STEPS)]
    print("/* Made by tests/reference/make_optimizer_golden.py with torch %s. */" % torch.__version__)
    print('#include "core/math/kernels.h"\n')
    print(f"enum {{ GOLDEN_NUMBERS = {sum(SIZES)}, GOLDEN_STEPS = {STEPS} }};")
    print(f"static const double golden_rate = {RATE};")
    print("static const float golden_before[GOLDEN_NUMBERS] =\n" + numbers(values) + ";")
    print("static const float golden_gradients[GOLDEN_STEPS][GOLDEN_NUMBERS] = {")
    print(",\n".join(map(numbers, gradients)) + "};")
    print("static const struct {")
    print("    enum optimizer_kind kind;")
    print("    double momentum, weight_decay;")
    print("    float after[GOLDEN_STEPS][GOLDEN_NUMBERS];")
    print("} golden_optimizers[] = {")
    for kind, make, momentum, weight_decay in CASES:
        rows = after_steps(make, momentum, weight_decay, values, gradients)
        print(f"{{OPTIMIZER_{kind}, {momentum}, {weight_decay}, {{\n" + ",\n".join(rows) + "}},")
    print("};")


if __name__ == "__main__":
    main()
