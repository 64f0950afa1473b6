#!/usr/bin/python3
"""PyTorch's numbers for attention-steps beyond the documents' own: python3 make_attention_steps_golden.py >
golden_attention_steps.h

Needs python3-torch. Several heads as the lab's class and as nn.MultiheadAttention with the same parameters, with one
sequence and with two; other sizes and examples of a batch; given maps; and the mistakes that a student may choose.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from make_experiment_golden import c_float
from models import Heads

torch.set_num_threads(1)


def emit(name, values):
    values = torch.as_tensor(values, dtype=torch.float32).detach().flatten().tolist()
    print(f"static const float golden_steps_{name}[{len(values)}] = {{")
    for start in range(0, len(values), 6):
        print("    " + " ".join(c_float(v) + "," for v in values[start : start + 6]))
    print("};")


def torch_heads(lab, width, heads):
    """nn.MultiheadAttention with the lab's parameters."""
    ready = nn.MultiheadAttention(width, heads, batch_first=True)
    with torch.no_grad():
        ready.in_proj_weight.copy_(torch.cat([lab.q.weight, lab.k.weight, lab.v.weight]))
        ready.in_proj_bias.copy_(torch.cat([lab.q.bias, lab.k.bias, lab.v.bias]))
        ready.out_proj.load_state_dict(lab.out.state_dict())
    return ready


def cross(lab, x, context):
    """The lab's forward pass with keys and values from another sequence."""
    q, k, v = lab.split(lab.q(x)), lab.split(lab.k(context)), lab.split(lab.v(context))
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1)
    joined = (weights @ v).transpose(1, 2).reshape(*x.shape[:2], -1)
    return weights, joined, lab.out(joined)


def several_heads():
    for name, seed, batch, tokens, width, heads, example, context_tokens in [
        ("heads", 0, 1, 4, 8, 2, 0, 0),
        ("batch", 3, 3, 5, 12, 3, 2, 0),
        ("cross", 1, 2, 4, 8, 4, 1, 6),
    ]:
        torch.manual_seed(seed)
        x = torch.randn(batch, tokens, width)
        context = torch.randn(batch, context_tokens, width) if context_tokens else x
        lab = Heads(width, heads)
        weights, joined, output = cross(lab, x, context)
        ready, ready_weights = torch_heads(lab, width, heads)(x, context, context, average_attn_weights=False)
        emit(f"{name}_weights", weights[example])
        emit(f"{name}_concatenated", joined[example])
        emit(f"{name}_output", output[example])
        emit(f"{name}_torch_weights", ready_weights[example])
        emit(f"{name}_torch_output", ready[example])


def one_head():
    torch.manual_seed(7)
    x, context = torch.randn(2, 5, 6), torch.randn(2, 3, 6)
    q, k, v = (nn.Linear(6, 4, bias=False) for _ in range(3))
    weights = torch.softmax(q(x) @ k(context).transpose(1, 2) / 2, -1)
    emit("one_weights", weights[1])
    emit("one_output", (weights @ v(context))[1])
    keys, queries = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    scores = queries @ keys.transpose(1, 2)
    emit("one_variances", [t.var() for t in (keys, queries, scores, scores / 2)])

    torch.manual_seed(2)  # the map of the keys is given, the others are drawn
    h = torch.tensor([[1.0, 2, -1], [0.5, 0, 3]])
    q, k, v = (nn.Linear(3, 2, bias=False) for _ in range(3))
    weights = torch.softmax(q(h) @ (h @ torch.tensor([[1.0, 0, 0], [0, 1, -0.5]]).T).T / math.sqrt(2), -1)
    emit("given_weights", weights)
    emit("given_output", weights @ v(h))


def mistakes():
    torch.manual_seed(1337)
    x = torch.randn(4, 8, 32)
    k, q, v = (nn.Linear(32, 16, bias=False)(x)[0] for _ in range(3))
    scores, triangle = q @ k.T, torch.tril(torch.ones(8, 8))
    hidden = scores.masked_fill(triangle == 0, -math.inf)
    emit("over_queries_weights", F.softmax(hidden, dim=-2))
    emit("zero_fill_weights", F.softmax(scores * triangle, dim=-1))
    emit("swapped_weights", F.softmax((k @ q.T).masked_fill(triangle == 0, -math.inf), dim=-1))
    emit("half_weights", F.softmax((scores * 0.5).masked_fill(triangle == 0, -math.inf), dim=-1))
    average = F.softmax(torch.zeros(8, 8).masked_fill(triangle == 0, -math.inf), dim=-1)
    emit("average_weights", average)
    emit("average_output", average @ v)


print("/* Made by tests/reference/make_attention_steps_golden.py with torch %s. */" % torch.__version__)
with torch.no_grad():
    several_heads()
    one_head()
    mistakes()
