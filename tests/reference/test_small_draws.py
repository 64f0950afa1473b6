#!/usr/bin/python3
"""Normal numbers in small sizes beside PyTorch's, to the bit: fewer than 16 are drawn one by one, and scaled in double.

Every size from 1 to 17 in what experiments draw, and in the positions and embeddings of models, which a run at a rate
too small to move them exports. Needs python3-torch; without it tests/run skips this file.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from test_pytorch import PROGRAM, Daemon, read_safetensors  # noqa: E402

SIZES = range(1, 18)


class SmallDraws(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def assert_equal(self, ours, theirs, what):
        self.assertTrue(torch.equal(ours.flatten(), theirs.detach().flatten()), what)

    def initial(self, task, model, steps, seed, **parameters):
        run = self.daemon.train(task=task, model=model, sequence_length=steps, seed=seed, epochs=1, width=1,
                                learning_rate=1e-30, train_examples=8, test_examples=4, **parameters)
        self.assertEqual(run["state"], "succeeded", run.get("error"))
        return read_safetensors(self.daemon.get(f"/api/runs/{run['id']}/model.safetensors", raw=True))

    def test_experiments(self):
        experiments = {"running-average": ("x", {"batch": 1, "channels": 1}),
                       "attention-steps": ("input", {"width": 1})}
        with tempfile.TemporaryDirectory() as folder:
            for experiment, (drawn, parameters) in experiments.items():
                for size in SIZES:
                    command = [PROGRAM, "run", experiment, "--data", folder, "--json"]
                    for name, value in {**parameters, "tokens": size, "seed": size}.items():
                        command += ["--" + name, str(value)]
                    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                    torch.manual_seed(size)
                    self.assert_equal(torch.tensor(result[drawn]), torch.randn(size), f"{experiment}, {size} numbers")

    def test_positions(self):
        for steps in SIZES:
            torch.manual_seed(steps)
            nn.Linear(1, 1)
            chapter = torch.randn(1, steps, 1) * 0.02
            tensors = self.initial("first-element", "attention", steps, steps)
            self.assert_equal(tensors["pos"], chapter, f"attention, {steps} steps")
            tensors = self.initial("reviews", "transformer", steps, steps, heads=1)
            torch.manual_seed(steps)
            nn.Embedding(len(tensors["embed.weight"]), 1, padding_idx=0)
            lab = nn.init.normal_(torch.zeros(1, steps, 1), std=0.02)
            self.assert_equal(tensors["pos"], lab, f"transformer, {steps} steps")

    def test_embeddings(self):
        for words in range(1, 16):
            rows = [f"{row % 2}\t" + " ".join(f"word{i}" for i in range(words)) for row in range(12)]
            url = f"{self.daemon.url}/api/datasets?name=words{words}"
            headers = {"Content-Type": "text/tab-separated-values"}
            request = urllib.request.Request(url, "\n".join(rows).encode(), headers)
            urllib.request.urlopen(request, timeout=60).close()
            torch.manual_seed(words)
            theirs = nn.Embedding(words + 2, 1, padding_idx=0).weight
            tensors = self.initial(f"words{words}", "transformer", 3, words, heads=1)
            self.assert_equal(tensors["embed.weight"], theirs, f"{words} words")


if __name__ == "__main__":
    unittest.main()
