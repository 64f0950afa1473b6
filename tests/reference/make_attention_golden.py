#!/usr/bin/python3
"""The results of PyTorch's attention after 60 epochs: python3 make_attention_golden.py > golden_attention.h

Needs python3-torch and some minutes. For the chapter's attention with positions, with seeds 0, 1 and 2: the test
accuracy, and the attention on each key, averaged over the first 200 test examples and all queries.
"""
import torch
import torch.nn as nn
from make_training_golden import Attention, draw_task, numbers
from torch.utils.data import DataLoader, TensorDataset


def train(seed):
    torch.manual_seed(seed)
    x, y = draw_task(2000, 60, 1)
    model = Attention(60)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, generator=generator)
    for _ in range(60):
        for xb, yb in loader:
            optimiser.zero_grad()
            nn.CrossEntropyLoss()(model(xb), yb).backward()
            optimiser.step()
    return model


@torch.no_grad()
def report(model):
    x, y = draw_task(600, 60, 2)
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    h = model.inp(x[:200]) + model.pos
    weights = torch.softmax(model.q(h) @ model.k(h).transpose(1, 2) / 32 ** 0.5, dim=-1)
    print(f"{{{accuracy:.8g},\n {{{numbers(weights.mean(dim=(0, 1)))}}}}},")


print("/* Made by tests/reference/make_attention_golden.py with torch %s. */" % torch.__version__)
print("static const struct golden_attention {")
print("    double test_accuracy, mean[60];")
print("} golden_attention[] = {")
for seed in range(3):
    report(train(seed))
print("};")
