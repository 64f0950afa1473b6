#!/usr/bin/python3
"""Writes tests/reference/golden_experiment.h: the results of PyTorch 1.13 and numpy for the experiments.

Run as `tests/reference/make_experiment_golden.py > tests/reference/golden_experiment.h` with python3-torch installed.
Each golden_* array holds one flattened tensor, with enough digits to restore each float32.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from models import LENGTH, MODELS, WIDTH, Attention, Block, Heads, TorchHeads, first_element

torch.set_num_threads(1)


def emit(name, values):
    values = torch.as_tensor(values, dtype=torch.float32).detach().flatten().tolist()
    print(f"static const float golden_{name}[{len(values)}] = {{")
    for start in range(0, len(values), 6):
        print("    " + " ".join(c_float(v) + "," for v in values[start : start + 6]))
    print("};")


def c_float(value):
    text = f"{value:.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def attend(q, k, v, hidden=None, scale=True):
    scores = q @ k.transpose(-2, -1)
    scaled = scores / q.shape[-1] ** 0.5 if scale else scores
    masked = scaled if hidden is None else scaled.masked_fill(hidden, -math.inf)
    weights = torch.softmax(masked, -1)
    return dict(scores=scores, scaled=scaled, weights=weights, output=weights @ v)


def attention_steps():
    torch.manual_seed(0)
    tokens = torch.randn(1, 4, 8)
    q, k, v = (nn.Linear(8, 8, bias=False)(tokens) for _ in range(3))
    for name, value in dict(input=tokens, q=q, k=k, v=v, **attend(q, k, v)).items():
        emit(f"drawn_{name}", value)

    torch.manual_seed(5)
    tokens = torch.randn(1, 5, 3)  # fewer than 16 numbers: another branch of the stream
    q, k, v = (nn.Linear(3, 3, bias=False)(tokens) for _ in range(3))
    emit("drawn_small_output", attend(q, k, v)["output"])

    torch.manual_seed(1337)
    tokens = torch.randn(4, 8, 32)
    k, q, v = (nn.Linear(32, 16, bias=False)(tokens) for _ in range(3))
    later = torch.ones(8, 8).triu(1).bool()
    steps = attend(q, k, v, later, scale=False)
    for name, value in dict(q=q, k=k, v=v, **steps).items():
        if name != "scaled":
            emit(f"head_{name}", value[0])
    emit("head_scaled_output", attend(q, k, v, later)["output"][0])
    k, q = torch.randn(4, 8, 16), torch.randn(4, 8, 16)
    scores = q @ k.transpose(-2, -1)
    emit("head_variances", [t.var() for t in (k, q, scores, scores * 16**-0.5)])

    q = torch.tensor([[1.0, 0, 0, 0]])
    k = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0.7, 0.7, 0, 0]])
    v = torch.tensor([[10.0, 0], [0, 10], [5, 5]])
    for name, value in attend(q, k, v).items():
        emit(f"worked_{name}", value)

    q = torch.tensor([[1.0, 2], [0.5, -1]])
    k = torch.tensor([[1.0, 0], [0, 1], [-1, 0.25]])
    v = torch.tensor([[1.0], [2], [4]])
    emit("cross_weights", attend(q, k, v)["weights"])
    emit("cross_output", attend(q, k, v)["output"])
    emit("cross_causal_weights", attend(q, k, v, torch.ones(2, 3).triu(1).bool())["weights"])


def running_average():
    torch.manual_seed(1337)
    x = torch.randn(4, 8, 2)
    emit("average_x", x)
    emit("average_loop", torch.stack([x[:, : t + 1].mean(1) for t in range(8)], 1))
    hidden = torch.ones(8, 8).triu(1).bool()
    emit("average_weights", F.softmax(torch.zeros(8, 8).masked_fill(hidden, -math.inf), -1))


def scaling():
    torch.manual_seed(0)
    rows = []
    for d in (4, 16, 64, 256, 1024):
        a, b = torch.randn(2000, d), torch.randn(2000, d)
        std = (a * b).sum(1).std()
        draws = torch.randn(1, 64)
        scaled = std / math.sqrt(d)
        rows.append([std, scaled, torch.softmax(draws * std, 1).max(), torch.softmax(draws * scaled, 1).max()])
    emit("scaling", rows)


def gradient_reach():
    for name in ("rnn", "lstm", "attention"):
        torch.manual_seed(0)
        x, y = first_element(256, LENGTH, 1)
        x.requires_grad_(True)
        loss = nn.CrossEntropyLoss()(MODELS[name]()(x), y)
        loss.backward()
        emit(f"reach_{name}_loss", [loss])
        emit(f"reach_{name}", x.grad.abs().mean(dim=(0, 2)))


class NumbersTransformer(nn.Module):
    """The lab's TinyTransformer for single numbers: a Linear in place of the embedding."""

    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1, WIDTH)
        self.pos = nn.Parameter(nn.init.normal_(torch.zeros(1, LENGTH, WIDTH), std=0.02))
        self.block = Block(Heads(WIDTH, 4), WIDTH, 64, nn.ReLU)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.head(self.block(self.inp(x) + self.pos).mean(1))


def more_reach():
    unplaced = MODELS["attention without positions"]
    for name, make in (("unplaced", unplaced), ("transformer", NumbersTransformer)):
        torch.manual_seed(0)
        x, y = first_element(256, LENGTH, 1)
        x.requires_grad_(True)
        loss = nn.CrossEntropyLoss()(make()(x), y)
        loss.backward()
        emit(f"reach_{name}_loss", [loss])
        emit(f"reach_{name}", x.grad.abs().mean(dim=(0, 2)))


def sinusoidal(length):
    angles = torch.arange(length).unsqueeze(1) / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def permutation():
    cases = (("plain", 0, 60, 8, None), ("learned", 3, 12, 4, "learned"), ("sinusoidal", 4, 10, 3, sinusoidal(10)))
    for name, seed, length, count, position in cases:
        torch.manual_seed(seed)
        model = Attention(position, length)
        x, _ = first_element(count, length, 5)
        with torch.no_grad():
            original = model(x)
            order = torch.randperm(length)
            shuffled = model(x[:, order])
        emit(f"permutation_{name}_order", order)
        emit(f"permutation_{name}_original", original)
        emit(f"permutation_{name}_shuffled", shuffled)
        tokens = {}
        for which, inputs in (("original", x), ("shuffled", x[:, order])):
            with torch.no_grad():
                model(inputs)
                hidden = model.inp(inputs) if model.pos is None else model.inp(inputs) + model.pos
                tokens[which] = model.weights @ model.v(hidden)
            emit(f"permutation_{name}_tokens_{which}", tokens[which][0])
        emit(f"permutation_{name}_moved", [(tokens["shuffled"] - tokens["original"][:, order]).abs().max()])


def transformer_block():
    torch.manual_seed(0)
    block = Block(TorchHeads(32, 4), 32, 128, nn.GELU)
    x = torch.randn(2, 10, 32)
    emit("block_input", x)
    emit("block_output", block(x))

    torch.manual_seed(7)
    stack = nn.Sequential(*(Block(TorchHeads(12, 3), 12, 20, nn.ReLU) for _ in range(2)))
    x = torch.randn(1, 5, 12)
    emit("stack_output", stack(x))
    emit("stack_parameter_count", [sum(p.numel() for p in stack.parameters())])

    torch.manual_seed(7)
    stack = nn.Sequential(*(Block(TorchHeads(12, 3), 12, 20, nn.ReLU, norm_first=True) for _ in range(2)))
    emit("stack_first_output", stack(torch.randn(1, 5, 12)))


if __name__ == "__main__":
    print("/* What PyTorch gives for the experiments; made by tests/reference/make_experiment_golden.py. */")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_EXPERIMENT_H")
    print("#define ATTNLAB_TESTS_REFERENCE_GOLDEN_EXPERIMENT_H\n")
    print("/* clang-format off */")
    for make in (attention_steps, running_average, scaling, gradient_reach, more_reach, permutation, transformer_block):
        make()
    print("/* clang-format on */\n")
    print("#endif")
