"""The models as PyTorch classes, with the parameter names that attnlab exports, and the chapter's examples.

Used by the scripts that make golden values, by test_pytorch.py and by the benchmark. Every class creates its parts in
the same order as the chapter's or the lab's class, because PyTorch draws their weights in that order.
"""
import math

import numpy as np
import torch
from torch import nn

LENGTH, WIDTH, BATCH = 60, 32, 64


def first_element(count, steps, seed):
    """Values of shape (count, steps, 1), and for each example whether its first value is above 0."""
    values = np.random.default_rng(seed).normal(0, 1, (count, steps, 1)).astype(np.float32)
    return torch.tensor(values), torch.tensor((values[:, 0, 0] > 0).astype(np.int64))


def attend(query, key, value, hidden=None, scale=True):
    """The weights, and the values averaged by them. Keys are masked where `hidden` (broadcast to the scores) is true."""
    scores = query @ key.transpose(-2, -1)
    if scale:
        scores = scores / math.sqrt(query.shape[-1])
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    weights = torch.softmax(scores, -1)
    return weights, weights @ value


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = kind(1, WIDTH, batch_first=True)
        self.fc = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    """`position` is added to every step: "learned", a tensor (steps, WIDTH), or None."""

    def __init__(self, position="learned", steps=LENGTH, scale=True):
        super().__init__()
        self.scale = scale
        self.inp = nn.Linear(1, WIDTH)
        self.pos = nn.Parameter(torch.randn(1, steps, WIDTH) * 0.02) if isinstance(position, str) else position
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.fc = nn.Linear(WIDTH, 2)

    def forward(self, x):
        hidden = self.inp(x) if self.pos is None else self.inp(x) + self.pos
        self.weights, output = attend(self.q(hidden), self.k(hidden), self.v(hidden), scale=self.scale)
        return self.fc(output.mean(1))


class Heads(nn.Module):
    """The lab's attention with several heads: one Linear each for query, key, value and output."""

    def __init__(self, width, heads, scale=True):
        super().__init__()
        self.heads, self.scale = heads, scale
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, hidden=None):
        query, key, value = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        self.weights, output = attend(query, key, value, hidden, self.scale)
        return self.out(output.transpose(1, 2).reshape(x.shape))


class TorchHeads(nn.Module):
    """PyTorch's own nn.MultiheadAttention, behind the interface of Heads."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x, hidden=None):
        count, steps, _ = x.shape
        if hidden is not None:
            hidden = hidden.expand(count, self.attention.num_heads, steps, steps).reshape(-1, steps, steps)
        output, self.weights = self.attention(x, x, x, attn_mask=hidden, average_attn_weights=False)
        return output


class Block(nn.Module):
    """Normalises after each sum, or with `norm_first` before each part, as nn.TransformerEncoderLayer does with it."""

    def __init__(self, attention, width, feedforward_width, activation, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attn = attention
        self.norm1 = nn.LayerNorm(width)
        self.ff = nn.Sequential(nn.Linear(width, feedforward_width), activation(), nn.Linear(feedforward_width, width))
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x, hidden=None):
        if self.norm_first:
            x = x + self.attn(self.norm1(x), hidden)
            return x + self.ff(self.norm2(x))
        x = self.norm1(x + self.attn(x, hidden))
        return self.norm2(x + self.ff(x))


class Transformer(nn.Module):
    """The lab's TinyTransformer with any number of blocks, listed in `blocks`. It draws positions even if it has none."""

    def __init__(self, vocabulary_size, steps=20, heads=4, feedforward_width=64, layers=1, position=True, norm_first=False,
                 scale=True):
        super().__init__()
        self.embed = nn.Embedding(vocabulary_size, WIDTH, padding_idx=0)
        self.pos = nn.Parameter(0.02 * torch.randn(1, steps, WIDTH))
        blocks = [Block(Heads(WIDTH, heads, scale), WIDTH, feedforward_width, nn.ReLU, norm_first) for _ in range(layers)]
        if layers == 1:
            self.block, self.blocks = blocks[0], blocks
        else:
            self.blocks = nn.ModuleList(blocks)
        self.head = nn.Linear(WIDTH, 2)
        self.position = position

    def forward(self, tokens):
        present = tokens != 0
        x = self.embed(tokens) + self.pos if self.position else self.embed(tokens)
        for block in self.blocks:
            x = block(x, ~present[:, None, None, :])
        return self.head(masked_mean(x, present))


def masked_mean(x, present):
    return (x * present.unsqueeze(-1)).sum(1) / present.sum(1, keepdim=True).clamp(min=1)


MODELS = {
    "rnn": lambda: Recurrent(nn.RNN),
    "lstm": lambda: Recurrent(nn.LSTM),
    "attention": Attention,
    "attention without positions": lambda: Attention(None),
}

UNSCALED = {
    "attention": lambda: Attention(scale=False),
    "attention without positions": lambda: Attention(None, scale=False),
}
