#!/usr/bin/python3
"""Attention over numbers that were not scaled, where every weight is 0 or 1, beside PyTorch's: twenty whole steps.

A table of heights, weights and ages, learnt in one batch: the loss must be PyTorch's, and query and key must not move at
all. Needs python3-torch; without it tests/run skips this file.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from models import Attention  # noqa: E402

PROGRAM = os.environ.get("ATTNLAB_PROGRAM", os.path.join(HERE, "..", "..", "build", "attnlab"))


def table():
    draw = random.Random(1)
    ranges = ((150, 200), (45, 110), (18, 80), (0, 1))
    return [tuple(draw.randint(*limits) for limits in ranges) for _ in range(250)]


def losses_of_pytorch(rows, steps):
    torch.manual_seed(1)
    model = Attention(steps=3)
    before = model.q.weight.detach().clone()
    x = torch.tensor([row[:3] for row in rows], dtype=torch.float32).unsqueeze(-1)
    y = torch.tensor([row[3] for row in rows])
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=0.005), []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert torch.equal(model.q.weight, before)
    return losses


class Saturated(unittest.TestCase):
    def test_losses_are_those_of_pytorch(self):
        torch.set_num_threads(1)
        rows = table()
        losses = losses_of_pytorch(rows[:200], 20)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("height,weight,age,label\n" + "".join("%d,%d,%d,%d\n" % row for row in rows))
            for steps in (1, 2, 3, 20):
                options = {"task": path, "seed": 1, "epochs": steps, "batch_size": 200, "learning_rate": 0.005}
                command = [PROGRAM, "run", "train", "--data", folder, "--json"]
                for name, value in options.items():
                    command += ["--" + name, str(value)]
                result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                self.assertAlmostEqual(result["train_loss"], losses[steps - 1], delta=1e-5 * losses[0])


if __name__ == "__main__":
    unittest.main()
