#!/usr/bin/python3
"""PyTorch's losses on features that nobody scaled: python3 make_unscaled_golden.py > ../api/cases/unscaled-golden.json

For the two files unscaled-*.csv in tests/api/cases: each epoch's mean loss with the defaults of a data set of numbers
(the first 80 % of the rows train, batches of 64, rate 0.005, seed 0), on the columns as they are and standardised by
the training rows' mean and deviation. Needs python3-torch and python3-numpy.
"""
import csv
import json
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from models import BATCH, Attention, Recurrent

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api", "cases")
EPOCHS = 6


def read(name):
    """The columns as float32, and the classes numbered in their order."""
    with open(os.path.join(CASES, name + ".csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    classes = sorted({row[-1] for row in rows})
    values = np.array([[float(v) for v in row[:-1]] for row in rows], np.float32)
    return values, np.array([classes.index(row[-1]) for row in rows])


def standardised(values, count):
    """By the mean and the deviation of the first `count` rows; a constant column is only centred."""
    train = values[:count].astype(np.float64)
    deviation = train.std(0)
    return ((values - train.mean(0)) / np.where(deviation > 0, deviation, 1)).astype(np.float32)


def losses(make, values, labels):
    torch.manual_seed(0)
    data = TensorDataset(torch.tensor(values)[:, :, None], torch.tensor(labels))
    model = make()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, generator=torch.Generator().manual_seed(0))
    epochs = []
    for _ in range(EPOCHS):
        total = 0
        for inputs, targets in loader:
            optimiser.zero_grad()
            loss = nn.CrossEntropyLoss()(model(inputs), targets)
            loss.backward()
            optimiser.step()
            total += loss.item() * len(targets)
        epochs.append(float(f"{total / len(labels):.7g}"))
    return epochs


def main():
    torch.set_num_threads(1)
    golden = {"torch": torch.__version__}
    for name in ("unscaled-10-rows", "unscaled-column"):
        values, labels = read(name)
        count, steps = len(values) * 4 // 5, values.shape[1]
        models = {"rnn": lambda: Recurrent(nn.RNN), "lstm": lambda: Recurrent(nn.LSTM),
                  "attention": lambda: Attention(steps=steps)}
        golden[name] = {
            model: {"as given": losses(make, values[:count], labels[:count]),
                    "standardised": losses(make, standardised(values, count)[:count], labels[:count])}
            for model, make in models.items()}
    json.dump(golden, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
