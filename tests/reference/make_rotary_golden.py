#!/usr/bin/python3
"""PyTorch's numbers for attention with rotary positions: python3 make_rotary_golden.py > golden_rotary.h

Queries and keys are turned by complex multiplication, written independently of the C code: neighbours (x[2i], x[2i+1])
are one complex number, and step t multiplies it by e^(i t 10000^(-2i/D)). For each case: parameters, input, a gradient
of the output, and from those the output, the weights and all gradients. Needs python3-torch.
"""
import sys

import torch

from models import Heads, attend

COUNT, STEPS, WIDTH, HEADS = 2, 5, 8, 2
LENGTHS = (5, 3)  # present steps of the two examples


def turn(x):
    """x of shape (..., steps, head width), each step turned by its angles."""
    steps, width = x.shape[-2:]
    frequency = 10000 ** (-torch.arange(0, width, 2).double() / width)
    angle = torch.arange(steps).double().unsqueeze(1) * frequency
    factor = torch.complex(angle.cos().float(), angle.sin().float())
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], width // 2, 2))
    return torch.view_as_real(pairs * factor).reshape(x.shape)


class RotaryHeads(Heads):
    def forward(self, x, hidden=None):
        query, key = turn(self.split(self.q(x))), turn(self.split(self.k(x)))
        self.weights, output = attend(query, key, self.split(self.v(x)), hidden)
        return self.out(output.transpose(1, 2).reshape(x.shape))


class RotaryPooled(torch.nn.Module):
    """One head without an output projection, averaged over the queries."""

    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (torch.nn.Linear(width, width) for _ in range(3))

    def forward(self, x, hidden=None):
        self.weights, output = attend(turn(self.q(x)), turn(self.k(x)), self.v(x), hidden)
        return output.mean(1)


def write(name, values):
    numbers = [f"{float(v):#.9g}f" for v in values.detach().reshape(-1)]
    print(f"static const float {name}[] = {{{', '.join(numbers)}}};")


def case(name, module, hidden):
    torch.manual_seed(4)
    parameters = list(module.parameters())
    with torch.no_grad():
        for p in parameters:
            p += 0.2 * torch.randn_like(p)
    x = torch.randn(COUNT, STEPS, WIDTH).requires_grad_()
    y = module(x, hidden)
    r = torch.randn_like(y)
    y.backward(r)
    flat = lambda tensors: torch.cat([t.reshape(-1) for t in tensors])
    write(f"{name}_parameters", flat(parameters))
    write(f"{name}_input", x)
    write(f"{name}_output", y)
    write(f"{name}_grad_output", r)
    write(f"{name}_grad_input", x.grad)
    write(f"{name}_grad_parameters", flat([p.grad for p in parameters]))
    write(f"{name}_attention", module.weights)
    print()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    present = torch.arange(STEPS).unsqueeze(0) < torch.tensor(LENGTHS).unsqueeze(1)
    padding = ~present.view(COUNT, 1, 1, STEPS)
    causal = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)
    print("/* Made by tests/reference/make_rotary_golden.py with torch " + torch.__version__ + ". */")
    print("// clang-format off")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_ROTARY_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_ROTARY_H\n")
    print(f"enum {{ GOLDEN_COUNT = {COUNT}, GOLDEN_STEPS = {STEPS}, GOLDEN_WIDTH = {WIDTH}, GOLDEN_HEADS = {HEADS} }};")
    print(f"static const int golden_lengths[] = {{{', '.join(map(str, LENGTHS))}}};\n")
    case("rotary_heads", RotaryHeads(WIDTH, HEADS), padding)
    case("rotary_causal_heads", RotaryHeads(WIDTH, HEADS), padding | causal)
    case("rotary_pooled", RotaryPooled(WIDTH), causal)
    write("rotary_turned", turn(torch.ones(STEPS, WIDTH)))
    print("#endif")


if __name__ == "__main__":
    sys.exit(main())
