#!/usr/bin/python3
"""PyTorch's side of `make bench`: trains the same models on the same tasks, on one thread.

Reads lines "model epochs" and answers each with one line of JSON: the seconds of wall clock and of processor time for the
whole run (data, weights, training, evaluation after each epoch, attention at the end), not counting the import of PyTorch,
and the largest resident size so far in bytes. tests/reference compares a run's numbers (losses, accuracies).
"""
import json
import os
import resource
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from models import BATCH, LENGTH, MODELS, Attention, Transformer, first_element  # noqa: E402


def read_reviews(path, steps=20):
    vocabulary, rows, labels = {}, [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            label, text = line.rstrip("\n").split("\t")
            ids = [vocabulary.setdefault(word, len(vocabulary) + 2) for word in text.split()][:steps]
            rows.append(ids + [0] * (steps - len(ids)))
            labels.append(int(label))
    return torch.tensor(rows), torch.tensor(labels), len(vocabulary) + 2


def train(model, batches, tests, rate, epochs):
    optimiser, loss_of = torch.optim.Adam(model.parameters(), lr=rate), nn.CrossEntropyLoss()
    for _ in range(epochs):
        for inputs, labels in batches():
            optimiser.zero_grad()
            loss = loss_of(model(inputs), labels)
            loss.backward()
            optimiser.step()
            loss.item()
        with torch.no_grad():
            (model(tests[0]).argmax(1) == tests[1]).float().mean().item()


def run_numbers(name, epochs):
    torch.manual_seed(0)
    inputs, labels = first_element(2000, LENGTH, 1)
    tests = first_element(600, LENGTH, 2)
    model = MODELS[name]()
    order = torch.Generator().manual_seed(0)
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=BATCH, shuffle=True, generator=order)
    train(model, lambda: loader, tests, 0.005, epochs)
    if isinstance(model, Attention):
        with torch.no_grad():
            model(tests[0][:200])
        model.weights.mean((0, 1)).tolist()


def run_text(path, epochs):
    torch.manual_seed(0)
    tokens, labels, vocabulary_size = read_reviews(path)
    model = Transformer(vocabulary_size)

    def batches():
        for rows in torch.randperm(1600).split(BATCH):
            yield tokens[rows], labels[rows]

    train(model, batches, (tokens[1600:], labels[1600:]), 0.003, epochs)
    with torch.no_grad():
        for row in range(1600, 1720):
            model(tokens[row : row + 1])
            model.block.attn.weights.mean((0, 1, 2)).argmax().item()


def main():
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    for line in sys.stdin:
        name, epochs = line.rstrip("\n").rsplit(" ", 1)
        wall, processor = time.perf_counter(), time.process_time()
        if name == "transformer on text":
            run_text(os.environ["BENCH_REVIEWS"], int(epochs))
        else:
            run_numbers(name, int(epochs))
        print(
            json.dumps(
                {
                    "seconds": time.perf_counter() - wall,
                    "processor_seconds": time.process_time() - processor,
                    "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
