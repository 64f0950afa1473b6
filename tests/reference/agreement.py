#!/usr/bin/python3
"""How long attnlab and PyTorch agree: python3 agreement.py [seed ...]   (needs python3-torch; a minute or two a seed)

Trains the chapter's four models on both sides with the chapter's 60 epochs. Prints after how many epochs the mean
losses of an epoch still differ by less than 1e-5 and 1e-3 of themselves, and both sides' test accuracies at the end.
"""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from models import BATCH, LENGTH, MODELS, first_element
from test_pytorch import Daemon, train

EPOCHS = 60


def pytorch(name, seed):
    torch.manual_seed(seed)
    inputs, labels = first_element(2000, LENGTH, 1)
    tests, answers = first_element(600, LENGTH, 2)
    model = MODELS[name]()
    order = torch.Generator().manual_seed(seed)
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=BATCH, shuffle=True, generator=order)
    losses = train(model, lambda: loader, 0.005, EPOCHS)
    with torch.no_grad():
        return losses, (model(tests).argmax(1) == answers).float().mean().item()


def attnlab(daemon, name, seed):
    model, *without = name.split(maxsplit=1)
    position = {"position": "none"} if without else {}
    run = daemon.train(model=model, seed=seed, epochs=EPOCHS, **position)
    rows = daemon.get(f"/api/runs/{run['id']}/metrics")["rows"]
    return [row["train_loss"] for row in rows[1:]], run["result"]["test_accuracy"]


def epochs_within(ours, theirs, tolerance):
    for epoch, (a, b) in enumerate(zip(ours, theirs)):
        if abs(a - b) > tolerance * abs(b):
            return epoch
    return EPOCHS


def main(seeds):
    torch.set_num_threads(1)
    daemon = Daemon()
    print(f"{'model':28}{'seed':>5}{'to 1e-5':>10}{'to 1e-3':>10}{'attnlab':>10}{'PyTorch':>10}")
    for name in MODELS:
        for seed in seeds:
            (ours, accuracy), (theirs, expected) = attnlab(daemon, name, seed), pytorch(name, seed)
            counts = [epochs_within(ours, theirs, tolerance) for tolerance in (1e-5, 1e-3)]
            print(f"{name:28}{seed:5}{counts[0]:10}{counts[1]:10}{accuracy:10.3f}{expected:10.3f}", flush=True)
    daemon.close()


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]] or [0])
