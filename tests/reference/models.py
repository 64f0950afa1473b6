"""The models as PyTorch classes, with the parameter names that attnlab exports. Used by test_pytorch.py and the benchmark."""
import math

import torch
from torch import nn

LENGTH, WIDTH, BATCH = 60, 32, 64


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = kind(1, WIDTH, batch_first=True)
        self.fc = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self, positions):
        super().__init__()
        self.inp = nn.Linear(1, WIDTH)
        self.pos = nn.Parameter(0.02 * torch.randn(1, LENGTH, WIDTH)) if positions else None
        self.q, self.k, self.v = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc = nn.Linear(WIDTH, 2)

    def forward(self, x):
        hidden = self.inp(x)
        if self.pos is not None:
            hidden = hidden + self.pos
        query, key, value = self.q(hidden), self.k(hidden), self.v(hidden)
        self.weights = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(WIDTH), -1)
        return self.fc((self.weights @ value).mean(1))


class Heads(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x, present):
        count, steps, _ = x.shape
        split = (count, steps, self.heads, WIDTH // self.heads)
        query, key, value = (part(x).view(split).transpose(1, 2) for part in (self.q, self.k, self.v))
        scores = query @ key.transpose(2, 3) / math.sqrt(WIDTH // self.heads)
        self.weights = torch.softmax(scores.masked_fill(~present[:, None, None, :], -math.inf), -1)
        return self.out((self.weights @ value).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, heads=4, hidden=64):
        super().__init__()
        self.attn = Heads(heads)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.ff = nn.Sequential(nn.Linear(WIDTH, hidden), nn.ReLU(), nn.Linear(hidden, WIDTH))

    def forward(self, x, present):
        x = self.norm1(x + self.attn(x, present))
        return self.norm2(x + self.ff(x))


class Transformer(nn.Module):
    def __init__(self, vocabulary_size, steps=20):
        super().__init__()
        self.embed = nn.Embedding(vocabulary_size, WIDTH, padding_idx=0)
        self.pos = nn.Parameter(0.02 * torch.randn(1, steps, WIDTH))
        self.block = Block()
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        present = tokens != 0
        hidden = self.block(self.embed(tokens) + self.pos, present)
        mean = (hidden * present[..., None]).sum(1) / present.sum(1, keepdim=True)
        return self.head(mean)


MODELS = {
    "rnn": lambda: Recurrent(nn.RNN),
    "lstm": lambda: Recurrent(nn.LSTM),
    "attention": lambda: Attention(True),
    "attention without positions": lambda: Attention(False),
}
