#!/usr/bin/python3
"""Writes tests/reference/golden_*.h: numbers drawn by torch and numpy, for the unit tests of core/random.

Every case holds either some values as bit patterns or the FNV-1a hash of all their bytes, and the generator's next
output, which shows that exactly as many outputs were consumed. Made with torch 1.13.1 and numpy 1.24.2 on x86-64
with AVX2.

    /usr/bin/python3 tests/reference/make_random_golden.py
"""
import os
import struct

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = (0, 1, 1337, -3, 2**32 + 5, 2**64 - 1)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return "0x%016x" % value


def hash_of(values):
    """The FNV-1a hash of a torch tensor or numpy array; integers are hashed as int64."""
    array = values.detach().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)
    return fnv(np.ascontiguousarray(array).tobytes())


def float_bits(value):
    return "0x%08x" % struct.unpack("<I", struct.pack("<f", value))


def seed_text(seed):
    return "0x%xu" % (seed % 2**64)


def next_torch(generator=None):
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator))


class Header:
    def __init__(self, name, topic):
        self.path = os.path.join(HERE, name + ".h")
        guard = "ATTNLAB_TESTS_REFERENCE_%s_H" % name.upper()
        self.lines = ["/* %s, written by make_random_golden.py. */" % topic, "#ifndef " + guard, "#define " + guard, "",
                      "#include <stdint.h>", "", "/* clang-format off */"]

    def table(self, name, fields, rows):
        self.lines += ["static const struct { %s } %s[] = {" % (fields, name)]
        self.lines += ["    {%s}," % ", ".join(str(value) for value in row) for row in rows]
        self.lines += ["};", ""]

    def write(self):
        open(self.path, "w").write("\n".join(self.lines + ["#endif", ""]))


def write_torch_random():
    out = Header("golden_torch_random", "What torch's generator draws")
    rows = []
    for seed in SEEDS:
        raw = np.random.RandomState(seed % 2**32)._bit_generator.random_raw(1000)
        torch.manual_seed(seed)
        first = [next_torch() for _ in range(3)]
        assert first[0] == (int(raw[0]) << 32 | int(raw[1])) & (2**63 - 1)
        rows.append([seed_text(seed), raw[0], raw[1], raw[623], raw[624], raw[999]] + first)
    out.table("golden_outputs", "uint64_t seed; uint32_t output_0, output_1, output_623, output_624, output_999; "
              "int64_t int63[3];", [row[:6] + ["{%d, %d, %d}" % tuple(row[6:])] for row in rows])

    rows = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        values = torch.rand(2, dtype=torch.float64)
        rows.append([seed_text(seed)] + [v.hex() for v in values.tolist()])
    out.table("golden_doubles", "uint64_t seed; double first, second;", rows)

    rows = []
    for seed in SEEDS:
        for count, low, high in ((0, 0, 1), (1, 0, 1), (15, -0.1, 0.1), (64, -64**-0.5, 64**-0.5), (2049, -2.5, 7.1)):
            torch.manual_seed(seed)
            values = torch.empty(count).uniform_(low, high)
            rows.append([seed_text(seed), count, repr(float(low)), repr(float(high)), hash_of(values), next_torch()])
    out.table("golden_uniform", "uint64_t seed; uint32_t count; double low, high; uint64_t hash; int64_t next;", rows)

    rows = []
    for seed in SEEDS:
        for count in (0, 1, 2, 3, 8, 15, 16, 17, 20, 31, 32, 100, 624, 1920, 4097, 20011):
            mean, deviation = ((0.0, 1.0), (0.0, 0.02), (-1.7, 2.9))[(count + seed) % 3]
            torch.manual_seed(seed)
            values = torch.empty(count).normal_(mean, deviation)
            rows.append([seed_text(seed), count, mean, deviation, hash_of(values), next_torch()])
    out.table("golden_normal", "uint64_t seed; uint32_t count; double mean, deviation; uint64_t hash; int64_t next;", rows)

    rows = []
    for count in (8, 16, 20):
        torch.manual_seed(0)
        rows += [[count, i, float_bits(v)] for i, v in enumerate(torch.randn(count).tolist())]
    out.table("golden_normal_values", "uint32_t count, index, bits;", rows)

    # The value kept from a draw of odd length is used by the next short draw, whatever is drawn in between.
    rows = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        parts = [torch.empty(3).normal_(0, 1), torch.rand(2), torch.randn(17), torch.randperm(5).float(),
                 torch.empty(2).normal_(5, 0.5), torch.randn(1)]
        rows.append([seed_text(seed), hash_of(torch.cat(parts)), next_torch()])
    out.table("golden_kept_normal", "uint64_t seed; uint64_t hash; int64_t next;", rows)

    rows = []
    for seed in SEEDS:
        for low, high, count in ((0, 10, 50), (-5, 6, 7), (0, 2**32 - 1, 20), (0, 2**32, 20), (-2**40, 2**41, 20),
                                 (0, 1, 3), (-2**63, 2**63 - 1, 5)):
            torch.manual_seed(seed)
            values = torch.randint(low, high, (count,))
            rows.append([seed_text(seed), "INT64_MIN" if low == -2**63 else low, high, count, hash_of(values), next_torch()])
    out.table("golden_randint", "uint64_t seed; int64_t low, high; uint32_t count; uint64_t hash; int64_t next;", rows)

    rows = []
    for seed in SEEDS:
        for count in (0, 1, 2, 12, 60, 2000, 30011):
            torch.manual_seed(seed)
            values = torch.randperm(count)
            rows.append([seed_text(seed), count, hash_of(values), next_torch()])
    out.table("golden_randperm", "uint64_t seed; uint32_t count; uint64_t hash; int64_t next;", rows)
    out.write()


def write_torch_init():
    out = Header("golden_torch_init", "What torch's modules draw, parameters hashed in the order of the names below")

    def draw(seed, make, names):
        torch.manual_seed(seed)
        module = make()
        return fnv(b"".join(getattr_path(module, name).detach().numpy().tobytes() for name in names)), next_torch()

    def getattr_path(module, name):
        for part in name.split("."):
            module = getattr(module, part)
        return module

    rows = [[seed_text(s), i, o, b, *draw(s, lambda: nn.Linear(i, o, bias=bool(b)), ["weight", "bias"][:1 + b])]
            for s in SEEDS for i, o, b in ((1, 32, 1), (4, 3, 1), (32, 32, 1), (32, 2, 1), (7, 5, 0), (333, 61, 1))]
    out.table("golden_linear", "uint64_t seed; uint32_t inputs, outputs, has_bias; uint64_t hash; int64_t next;", rows)

    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    rows = [[seed_text(s), gates, i, h, *draw(s, lambda: make(i, h), names)]
            for s in SEEDS for make, gates in ((nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)) for i, h in ((1, 32), (3, 2), (5, 7))]
    out.table("golden_recurrent", "uint64_t seed; uint32_t gates, inputs, hidden; uint64_t hash; int64_t next;", rows)

    rows = [[seed_text(s), n, d, -1 if p is None else p, *draw(s, lambda: nn.Embedding(n, d, padding_idx=p), ["weight"])]
            for s in SEEDS for n, d, p in ((5, 3, None), (5, 3, 0), (10, 3, 0), (10, 3, 9), (101, 32, 0))]
    out.table("golden_embedding", "uint64_t seed; uint32_t rows, width; int64_t padding; uint64_t hash; int64_t next;", rows)

    names = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    rows = [[seed_text(s), d, *draw(s, lambda: nn.MultiheadAttention(d, 1), names)] for s in SEEDS for d in (2, 8, 32, 48)]
    out.table("golden_multihead_attention", "uint64_t seed; uint32_t width; uint64_t hash; int64_t next;", rows)

    rows = []
    for seed in SEEDS:
        for length, width in ((3, 4), (60, 32), (5, 5)):
            torch.manual_seed(seed)
            rows.append([seed_text(seed), length, width, hash_of(torch.randn(1, length, width) * 0.02), next_torch()])
    out.table("golden_positions", "uint64_t seed; uint32_t length, width; uint64_t hash; int64_t next;", rows)

    rows = []
    for seed in (0, 1, 2):
        torch.manual_seed(seed)
        linear = nn.Linear(1, 32)
        parts = [linear.weight, linear.bias, torch.randn(1, 60, 32) * 0.02]
        for outputs in (32, 32, 32, 2):
            linear = nn.Linear(32, outputs)
            parts += [linear.weight, linear.bias]
        rows.append([seed_text(seed), hash_of(torch.cat([part.flatten() for part in parts])), next_torch()])
    out.table("golden_attention_model", "uint64_t seed; uint64_t hash; int64_t next;", rows)
    out.write()


def write_torch_loader():
    out = Header("golden_torch_loader", "The order in which torch's DataLoader delivers examples")
    rows = []
    for seed in (0, 1, 2, -3):
        # The loop breaks off every epoch after `limit` batches; 0 means no limit.
        for count, batch, epochs, limit in ((2000, 64, 3, 0), (64, 16, 5, 0), (10, 3, 7, 0), (1, 1, 4, 0),
                                            (1, 4, 3, 0), (5, 8, 4, 0), (64, 16, 5, 4), (64, 16, 5, 2), (10, 3, 5, 4), (10, 3, 5, 3), (3, 1, 6, 3)):
            generator = torch.Generator().manual_seed(seed)
            loader = DataLoader(TensorDataset(torch.arange(count)), batch_size=batch, shuffle=True, generator=generator)
            order, batches = [], 0
            for _ in range(epochs):
                for i, (indices,) in enumerate(loader):
                    order += indices.tolist()
                    batches += 1
                    if i + 1 == limit:
                        break
            rows.append([seed_text(seed), count, batch, epochs, limit, batches, hash_of(order), next_torch(generator)])
    out.table("golden_dataloader", "uint64_t seed; uint32_t count, batch, epochs, limit, batches; uint64_t hash; int64_t next;", rows)

    rows = []
    for epoch in range(60):
        if epoch == 0:
            loader = DataLoader(TensorDataset(torch.arange(2000)), batch_size=64, shuffle=True,
                                generator=torch.Generator().manual_seed(0))
        order = torch.cat([indices for (indices,) in loader]).tolist()
        if epoch in (0, 1, 2, 59):
            rows.append([epoch] + order[:3] + order[-3:])
    out.table("golden_epochs", "uint32_t epoch; uint32_t first[3], last[3];",
              [[r[0], "{%d, %d, %d}" % tuple(r[1:4]), "{%d, %d, %d}" % tuple(r[4:])] for r in rows])

    rows = []
    for seed in (0, 1, 2):
        torch.manual_seed(seed)
        order = torch.cat([torch.randperm(1600) for _ in range(3)])
        rows.append([seed_text(seed), 1600, 64, 3, hash_of(order), next_torch()])
    out.table("golden_plain_randperm", "uint64_t seed; uint32_t count, batch, epochs; uint64_t hash; int64_t next;", rows)
    out.write()


def write_numpy_random():
    out = Header("golden_numpy_random", "What numpy's default_rng draws")
    seeds = (0, 1, 2, 12345, 2**32 - 1, 2**32, 2**64 - 1)
    rng = np.random.default_rng

    def following(generator):
        return "0x%016xu" % int(generator.bit_generator.random_raw())

    def case(seed, draw):
        generator = rng(seed)
        return hash_of(draw(generator)), following(generator)

    rows = []
    for seed in seeds:
        state = rng(seed).bit_generator.state["state"]
        halves = ["0x%016xu" % (state[k] >> shift & 2**64 - 1) for k in ("state", "inc") for shift in (64, 0)]
        rows.append([seed_text(seed)] + halves + ["0x%016xu" % int(v) for v in rng(seed).bit_generator.random_raw(2)])
    out.table("golden_numpy_seeds", "uint64_t seed, state_high, state_low, increment_high, increment_low, output_0, output_1;", rows)

    rows = []
    for words in ([7], [1, 2], [0, 0], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]):
        rows.append(["{%s}" % ", ".join(map(str, words)), len(words), following(rng(words))])
    out.table("golden_numpy_words", "uint32_t words[6]; uint32_t count; uint64_t output_0;", rows)

    rows = []
    for seed in seeds:
        for count, mean, deviation in ((8, 0.0, 1.0), (3000, 1.7, 0.3), (120000, 0.0, 1.0)):
            if count < 100000 or seed in (1, 2):
                rows.append([seed_text(seed), count, mean, deviation, *case(seed, lambda g: g.normal(mean, deviation, count))])
    out.table("golden_numpy_normal", "uint64_t seed; uint32_t count; double mean, deviation; uint64_t hash; uint64_t next;", rows)

    rows = [[seed_text(s), *(v.hex() for v in rng(s).normal(0, 1, 3))] for s in (0, 1, 2)]
    out.table("golden_numpy_normal_values", "uint64_t seed; double first, second, third;", rows)

    rows = [[seed_text(s), low, high, *case(s, lambda g: g.uniform(low, high, 300))] for s in seeds for low, high in ((0.0, 1.0), (-2.5, 7.1))]
    out.table("golden_numpy_uniform", "uint64_t seed; double low, high; uint64_t hash; uint64_t next;", rows)

    rows = []
    for seed in seeds:
        for low, high, count in ((0, 10, 51), (0, 1, 3), (-5, 6, 50), (0, 2**31, 7), (0, 2**32 - 1, 7), (0, 2**32, 7), (3, 2**32 + 4, 50),
                                 (0, 3 * 2**30, 50), (0, 3 * 2**61, 50), (-2**63, 2**63 - 1, 5)):
            # random() after an odd count does not use the kept half; the next integer does.
            draw = lambda g: np.concatenate([g.integers(low, high, count), [int(g.random() * 2**53)], g.integers(0, 27, 1)])
            rows.append([seed_text(seed), "INT64_MIN" if low == -2**63 else low, high, count, *case(seed, draw)])
    out.table("golden_numpy_integers", "uint64_t seed; int64_t low, high; uint32_t count; uint64_t hash; uint64_t next;", rows)

    rows = [[seed_text(s), n, *case(s, lambda g: g.permutation(n))]
            for s in seeds for n in (0, 1, 2, 12, 33, 2000, 70001) if n < 70000 or s == 1]
    out.table("golden_numpy_permutation", "uint64_t seed; uint32_t count; uint64_t hash; uint64_t next;", rows)

    rows = []
    for seed in seeds:
        generator = rng(seed)
        values = np.arange(100) * 3
        generator.shuffle(values)
        generator.shuffle(values[:37])
        rows.append([seed_text(seed), hash_of(values), following(generator)])
    out.table("golden_numpy_shuffle", "uint64_t seed; uint64_t hash; uint64_t next;", rows)

    rows = []
    for seed in seeds:
        for population, count in ((5, 3), (10, 10), (1, 1), (100, 100), (2000, 64), (10000, 300),
                                  (10001, 201), (10001, 200), (20000, 400), (20000, 401), (20000, 20000)):
            if population < 5000 or seed in (0, 1):
                rows.append([seed_text(seed), population, count, *case(seed, lambda g: g.choice(population, count)),
                             *case(seed, lambda g: g.choice(population, count, replace=False))])
    out.table("golden_numpy_choice", "uint64_t seed; uint32_t population, count; uint64_t hash; uint64_t next; "
              "uint64_t distinct_hash; uint64_t distinct_next;", rows)

    rows = [[seed_text(s), *case(s, lambda g: g.choice(5, 200, p=[0.1, 0.2, 0.05, 0.3, 0.35]))] for s in seeds]
    out.table("golden_numpy_choice_weighted", "uint64_t seed; uint64_t hash; uint64_t next;", rows)
    out.write()


torch.set_num_threads(1)
write_torch_random()
write_torch_init()
write_torch_loader()
write_numpy_random()
