#!/usr/bin/python3
"""The lab sheet's runs on reviews.tsv in double precision:

    python3 make_lab_double_golden.py reviews.tsv > golden_lab_double.h

From its 27th step on, seed 42 with positions depends on the rounding: PyTorch's own losses in double are 1.5e-4 from
those in float32, and so are those of one of four float32 runs whose initial weights are disturbed by 6e-8. Both are
PyTorch's, so the losses of a run must be those of one of the two. Needs python3-torch.
"""
import sys

import torch
from torch import nn

from models import BATCH, Transformer

TRAIN, LENGTH, STEPS = 1600, 20, 64


def read(path):
    vocabulary, rows, labels = {}, [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            label, text = line.rstrip("\n").split("\t")
            ids = [vocabulary.setdefault(word, len(vocabulary) + 2) for word in text.split()][:LENGTH]
            rows.append(ids + [0] * (LENGTH - len(ids)))
            labels.append(int(label))
    return torch.tensor(rows), torch.tensor(labels), len(vocabulary) + 2


def losses_of(x, y, words, seed, position):
    torch.manual_seed(seed)
    model = Transformer(words, LENGTH, position=position)
    torch.manual_seed(seed)
    model, losses = model.double(), []
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    while len(losses) < STEPS:
        order = torch.randperm(TRAIN)
        for start in range(0, TRAIN, BATCH):
            batch = order[start:start + BATCH]
            optimiser.zero_grad()
            loss = nn.CrossEntropyLoss()(model(x[batch]), y[batch])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return losses[:STEPS]


def main():
    torch.set_num_threads(1)
    x, y, words = read(sys.argv[1])
    print("/* Made by tests/reference/make_lab_double_golden.py with torch %s. */" % torch.__version__)
    print("// clang-format off")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_LAB_DOUBLE_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_LAB_DOUBLE_H\n")
    print("/* In the order of lab_runs (golden_lab.h). */\nstatic const double lab_double_losses[][%d] = {" % STEPS)
    for seed in (0, 1, 42):
        for position in (True, False):
            losses = losses_of(x, y, words, seed, position)
            print("    {%s}," % ", ".join("%.9g" % loss for loss in losses))
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
