#!/usr/bin/python3
"""Compares attnlab and PyTorch as a student would: attnlab's daemon over HTTP, PyTorch in this process.

A run of two epochs (64 steps on numbers, 50 on text) must have PyTorch's losses. Its exported weights, loaded into the
PyTorch class by load_state_dict, must give the same logits, probabilities and attention. The seeds differ from those of
the committed golden values. Needs python3-torch; without it tests/run skips this file.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from models import BATCH, LENGTH, MODELS, UNSCALED, Transformer, first_element  # noqa: E402

PROGRAM = os.environ.get("ATTNLAB_PROGRAM", os.path.join(HERE, "..", "..", "build", "attnlab"))
SEED = 5


def read_safetensors(data):
    """The tensors of a safetensors file: the header's length in 8 bytes, a JSON header, then the numbers."""
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        tensors[name] = torch.tensor(np.frombuffer(body[first:last], "<f4").reshape(entry["shape"]).copy())
    return tensors


OPTIMISERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD, "rmsprop": torch.optim.RMSprop}


def train(model, batches, rate, epochs, optimizer="adam", **settings):
    """The mean loss of each epoch, each example counted once."""
    optimiser = OPTIMISERS[optimizer](model.parameters(), lr=rate, **settings)
    loss_of, rows = nn.CrossEntropyLoss(), []
    for _ in range(epochs):
        total = count = 0
        for inputs, labels in batches():
            optimiser.zero_grad()
            loss = loss_of(model(inputs), labels)
            loss.backward()
            optimiser.step()
            total += loss.item() * len(labels)
            count += len(labels)
        rows.append(total / count)
    return rows


class Daemon:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", self.folder.name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1].rstrip("/")

    def get(self, path, raw=False):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            body = answer.read()
        return body if raw else json.loads(body)

    def post(self, path, value):
        request = urllib.request.Request(self.url + path, json.dumps(value).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def train(self, **parameters):
        run = self.post("/api/runs", {"experiment": "train", "seed": SEED, "epochs": 2, **parameters})
        while run["state"] in ("queued", "running"):
            with urllib.request.urlopen(f"{self.url}/api/runs/{run['id']}/events", timeout=300) as stream:
                stream.read()
            run = self.get(f"/api/runs/{run['id']}")
        return run

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.folder.cleanup()


class Comparison(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def assert_near(self, ours, theirs, tolerance, what):
        ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
        self.assertEqual(ours.shape, theirs.shape, what)
        if ours.size > 0:
            self.assertLessEqual(np.abs(ours - theirs).max(), tolerance * max(1.0, np.abs(theirs).max()), what)

    def check_losses(self, run, losses):
        self.assertEqual(run["state"], "succeeded")
        rows = self.daemon.get(f"/api/runs/{run['id']}/metrics")["rows"]
        self.assertIsNone(rows[0]["train_loss"])
        self.assert_near([row["train_loss"] for row in rows[1:]], losses, 1e-5, "losses of the epochs")

    def load_into(self, run, model):
        tensors = read_safetensors(self.daemon.get(f"/api/runs/{run['id']}/model.safetensors", raw=True))
        model.load_state_dict(tensors, strict=True)
        self.assertEqual(run["result"]["parameter_count"], sum(p.numel() for p in model.parameters()))
        return model.eval()

    def check_gradient(self, run, model, inputs, labels):
        """What reaches each input step; relative, because an RNN's shrinks by orders of magnitude from step to step."""
        inputs = inputs.clone().requires_grad_(True)
        nn.CrossEntropyLoss()(model(inputs), labels).backward()
        expected = inputs.grad.abs().mean(dim=(0, 2)).numpy()
        ours = np.asarray(self.daemon.get(f"/api/runs/{run['id']}/gradient")["gradient"])
        normal = expected > 1e-36  # smaller numbers are subnormal on the way, and have few digits
        self.assert_near(ours[normal] / expected[normal], np.ones(normal.sum()), 1e-5, "gradient of the input")
        self.assert_near(ours[~normal], expected[~normal], 1e-36, "gradient of the input where it is subnormal")

    def check_numbers(self, name, **parameters):
        torch.manual_seed(SEED)
        inputs, labels = first_element(2000, LENGTH, 1)
        make = (MODELS if parameters.get("scale", True) else UNSCALED)[name]
        model = make()
        order = torch.Generator().manual_seed(SEED)
        loader = DataLoader(TensorDataset(inputs, labels), batch_size=BATCH, shuffle=True, generator=order)
        run = self.daemon.train(**parameters)
        settings = {key: parameters[key] for key in ("optimizer", "momentum", "weight_decay") if key in parameters}
        self.check_losses(run, train(model, lambda: loader, parameters.get("learning_rate", 0.005), 2, **settings))

        model = self.load_into(run, make())
        self.check_gradient(run, model, inputs[:256], labels[:256])
        tests, _ = first_element(600, LENGTH, 2)
        some = tests[:16]
        with torch.no_grad():
            logits = model(some)
        answers = self.daemon.post(f"/api/runs/{run['id']}/predictions", {"sequences": some[:, :, 0].tolist()})
        answers = answers["predictions"]
        self.assert_near([a["logits"] for a in answers], logits.numpy(), 1e-5, "logits")
        self.assert_near([a["probabilities"] for a in answers], torch.softmax(logits, 1).numpy(), 1e-5, "probabilities")
        if parameters["model"] == "attention":
            matrix = self.daemon.get(f"/api/runs/{run['id']}/attention?epoch=last&example=3")["weights"]
            self.assert_near(matrix, model.weights[3].numpy(), 1e-5, "attention")
            mean = self.daemon.get(f"/api/runs/{run['id']}/attention/mean")["weights"]
            with torch.no_grad():
                model(tests[:200])
            self.assert_near(mean, model.weights.mean((0, 1)).numpy(), 1e-5, "mean attention")

    def test_rnn(self):
        self.check_numbers("rnn", model="rnn")

    def test_lstm(self):
        self.check_numbers("lstm", model="lstm")

    def test_attention(self):
        self.check_numbers("attention", model="attention")

    def test_attention_without_positions(self):
        self.check_numbers("attention without positions", model="attention", position="none")

    def test_unscaled_attention(self):
        self.check_numbers("attention", model="attention", scale=False)

    def test_unscaled_attention_without_positions(self):
        self.check_numbers("attention without positions", model="attention", position="none", scale=False)

    def test_optimisers(self):
        for settings in (
            {"optimizer": "adam", "weight_decay": 0.01},
            {"optimizer": "adamw", "weight_decay": 0.01},
            {"optimizer": "adamw", "weight_decay": 0},
            {"optimizer": "sgd", "learning_rate": 0.05},
            {"optimizer": "sgd", "momentum": 0.9, "weight_decay": 0.001, "learning_rate": 0.05},
            {"optimizer": "rmsprop", "weight_decay": 0.001, "learning_rate": 0.001},
            {"optimizer": "rmsprop", "momentum": 0.9, "learning_rate": 0.0002},
        ):
            for model in ("rnn", "attention"):
                with self.subTest(model=model, **settings):
                    self.check_numbers(model, model=model, **settings)

    def reviews(self, split):
        examples, total = [], 1
        while len(examples) < total:
            path = f"/api/datasets/reviews/examples?split={split}&limit=50&offset={len(examples)}"
            answer = self.daemon.get(path)
            examples += answer["examples"]
            total = answer["total"]
        return examples

    def check_text(self, norm_first, scale=True, **parameters):
        examples, vocabulary = self.reviews("train"), {}

        def encode(words):
            ids = [vocabulary.get(word, 1) for word in words][:20]
            return ids + [0] * (20 - len(ids))

        for example in examples + self.reviews("test"):
            for word in example["tokens"]:
                vocabulary.setdefault(word, len(vocabulary) + 2)
        tokens = torch.tensor([encode(example["tokens"]) for example in examples])
        labels = torch.tensor([example["class_index"] for example in examples])
        torch.manual_seed(SEED)
        model = Transformer(len(vocabulary) + 2, norm_first=norm_first, scale=scale)
        torch.manual_seed(SEED)

        def batches():
            for rows in torch.randperm(len(labels)).split(BATCH):
                yield tokens[rows], labels[rows]

        run = self.daemon.train(model="transformer", task="reviews", scale=scale, **parameters)
        self.check_losses(run, train(model, batches, 0.003, 2))

        model = self.load_into(run, Transformer(len(vocabulary) + 2, norm_first=norm_first, scale=scale))
        texts = [example["text"] for example in self.reviews("test")[:16]]
        answers = self.daemon.post(f"/api/runs/{run['id']}/predictions", {"texts": texts})["predictions"]
        for answer in answers:
            with torch.no_grad():
                logits = model(torch.tensor([encode(answer["tokens"])]))
            self.assert_near(answer["logits"], logits[0].numpy(), 1e-5, "logits")
            count = len(answer["tokens"])
            self.assert_near(answer["attention"], model.block.attn.weights[0, :, :count, :count].mean(0).numpy(), 1e-5, "attention")

    def test_transformer_on_text(self):
        self.check_text(False)

    def test_transformer_that_normalises_first(self):
        self.check_text(True, norm="first")

    def test_unscaled_transformer_on_text(self):
        self.check_text(False, scale=False)


if __name__ == "__main__":
    unittest.main()
