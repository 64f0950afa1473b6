#!/usr/bin/python3
"""What PyTorch gives for the chapter's four models: python3 make_training_golden.py > golden_training.h

Needs python3-torch. The losses of the first 64 steps of seeds 0, 1 and 2, and for seed 0 the loss, the logits
and every gradient of the first batch before any step (the first 16 training examples, in order).
"""
import textwrap

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def draw_task(count, steps, seed):
    values = np.random.default_rng(seed).normal(0, 1, (count, steps, 1)).astype(np.float32)
    return torch.tensor(values), torch.tensor((values[:, 0, 0] > 0).astype(np.int64))


class Recurrent(nn.Module):
    def __init__(self, layer, width=32):
        super().__init__()
        self.rnn = layer(1, width, batch_first=True)
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self, steps, width=32, position=True):
        super().__init__()
        self.inp = nn.Linear(1, width)
        self.pos = nn.Parameter(torch.randn(1, steps, width) * 0.02) if position else None
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        h = self.inp(x) if self.pos is None else self.inp(x) + self.pos
        q, k, v = self.q(h), self.k(h), self.v(h)
        weights = torch.softmax(q @ k.transpose(1, 2) / k.shape[-1] ** 0.5, dim=-1)
        return self.fc((weights @ v).mean(1))


MODELS = [
    ("rnn", "learned", lambda: Recurrent(nn.RNN)),
    ("lstm", "learned", lambda: Recurrent(nn.LSTM)),
    ("attention", "learned", lambda: Attention(60)),
    ("attention", "none", lambda: Attention(60, position=False)),
]
# The order in which the classes make their parameters, which named_parameters() does not keep.
ORDER = "inp.weight inp.bias pos q.weight q.bias k.weight k.bias v.weight v.bias fc.weight fc.bias".split()


def parameters_in_order(model):
    named = dict(model.named_parameters())
    return [(name, named[name]) for name in (ORDER if "q.weight" in named else named) if name in named]


def first_losses(make, seed):
    torch.manual_seed(seed)
    x, y = draw_task(2000, 60, 1)
    model = make()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, generator=generator)
    losses = []
    while len(losses) < 64:
        for xb, yb in loader:
            optimiser.zero_grad()
            loss = nn.CrossEntropyLoss()(model(xb), yb)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return losses[:64]


def first_gradient(make):
    torch.manual_seed(0)
    x, y = draw_task(2000, 60, 1)
    model = make()
    logits = model(x[:16])
    loss = nn.CrossEntropyLoss()(logits, y[:16])
    loss.backward()
    gradient = torch.cat([p.grad.flatten() for _, p in parameters_in_order(model)])
    return logits.detach().flatten(), loss.item(), gradient


def numbers(values):
    return textwrap.fill(", ".join(f"{float(v):.8g}" for v in values), 118)


def main():
    print("/* Made by tests/reference/make_training_golden.py with torch %s. */" % torch.__version__)
    print("#include <stddef.h>\n")
    print("static const struct golden_model {")
    print("    const char *model, *position;")
    print("    double losses[3][64], logits[32], loss;")
    print("    const double *gradient;")
    print("    size_t parameter_count;")
    print("} golden_models[] = {")
    for model, position, make in MODELS:
        print(f'{{"{model}", "{position}", {{')
        for seed in range(3):
            print("{" + numbers(first_losses(make, seed)) + "},")
        logits, loss, gradient = first_gradient(make)
        print("}, {" + numbers(logits) + f"}}, {loss:.9g}, (const double[]){{" + numbers(gradient) + "},")
        print(f"{len(gradient)}}},")
    print("};")


if __name__ == "__main__":
    main()
