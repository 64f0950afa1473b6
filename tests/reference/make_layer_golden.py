#!/usr/bin/python3
"""Single layers as PyTorch computes them: python3 make_layer_golden.py > golden_layers.h

Needs python3-torch. For the linear layer, the RNN, the LSTM and attention averaged over its queries (plain, causal, unscaled):
the parameters and the input, drawn with seed 1, the output, and the gradients of sum(output * weights).
"""
import textwrap

import torch
from torch import nn

from models import attend


class PooledAttention(nn.Module):
    def __init__(self, width, causal=False, scale=True):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.causal, self.scale = causal, scale

    def forward(self, h):
        later = torch.ones(h.shape[1], h.shape[1], dtype=torch.bool).triu(1) if self.causal else None
        return attend(self.q(h), self.k(h), self.v(h), later, self.scale)[1].mean(1)


class Last(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0][:, -1]


LAYERS = [
    ("linear", lambda: nn.Linear(5, 3), (2, 4, 5)),
    ("rnn", lambda: Last(nn.RNN(3, 10, batch_first=True)), (3, 6, 3)),
    ("lstm", lambda: Last(nn.LSTM(3, 10, batch_first=True)), (3, 6, 3)),
    ("pooled_attention", lambda: PooledAttention(6), (2, 9, 6)),
    ("causal_attention", lambda: PooledAttention(6, True), (2, 9, 6)),
    ("unscaled_attention", lambda: PooledAttention(6, scale=False), (2, 9, 6)),
]


def as_float(value):
    text = f"{value:.8g}"
    return text + ("F" if "." in text or "e" in text else ".0F")


def array(name, part, tensor):
    print(f"static const float golden_{name}_{part}[] = {{")
    print(textwrap.fill(", ".join(map(as_float, tensor.detach().flatten().tolist())), 118) + "};")


print("/* Made by tests/reference/make_layer_golden.py with torch %s. */" % torch.__version__)
for name, make, shape in LAYERS:
    torch.manual_seed(1)
    layer = make().double()
    x = torch.randn(shape).double().requires_grad_(True)
    output = layer(x)
    weights = torch.randn(output.shape).double()
    (output * weights).sum().backward()
    array(name, "parameters", torch.cat([p.flatten() for p in layer.parameters()]))
    array(name, "input", x)
    array(name, "output", output)
    array(name, "weights", weights)
    array(name, "grad_input", x.grad)
    array(name, "grad_parameters", torch.cat([p.grad.flatten() for p in layer.parameters()]))
