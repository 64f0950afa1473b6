#!/usr/bin/python3
"""Gradients of attention whose weights are nearly or exactly one: python3 make_saturated_golden.py > golden_saturated.h

The truth is PyTorch's in double precision. float32 cannot keep more than the rounding of its scores: a score q.k whose
terms add up to S in magnitude is known to within a few S 2^-24, and so are the logarithms of the weights. This file
holds S for each case; PyTorch's own float32 gradients must be within the bound that the test asks of attnlab. Where all
keys but one are more than 110 behind, their weights vanish in float32, and the gradients of query and key are exactly
0. Needs python3-torch.
"""
import sys

import torch

HEADS, POOLED, PLACED, UNPLACED = "HEADS", "POOLED", "PLACED", "UNPLACED"
ROUNDINGS = 16  # of sums over width and steps; the bound is (ROUNDINGS + S) 2^-24, relative to the largest value

# steps, width, heads, causal, deviation of the parameters, deviation of the input
SHAPES = [
    (3, 2, 1, 0, 1, 1),
    (3, 3, 1, 1, 2, 1),
    (4, 2, 2, 0, 4, 1),
    (4, 4, 2, 1, 4, 1),
    (5, 2, 1, 0, 4, 2),
    (2, 3, 1, 0, 6, 2),
    (3, 2, 1, 0, 60, 40),
    (4, 2, 2, 1, 60, 40),
    (2, 2, 1, 0, 1e4, 1),
    (3, 3, 1, 0, 1, 1e4),
    (3, 2, 1, 1, 1e6, 1e-3),
    (3, 2, 1, 0, 1e-18, 1e-3),
    (3, 2, 1, 0, 1, 1e-18),
    (1, 2, 1, 0, 1, 1),
    (1, 3, 1, 1, 5, 150),
    (4, 3, 1, 0, 1.5, 1),
    (4, 2, 2, 1, 2.5, 1),
    (5, 4, 2, 0, 1.2, 1),
    (3, 10, 2, 0, 3, 1),
]


def names_of(kind, width):
    """The tensors in attnlab's order, each with its shape."""
    tensors = []
    if kind in (PLACED, UNPLACED):
        tensors += [("inp.weight", (width, 1)), ("inp.bias", (width,))]
    if kind == PLACED:
        tensors += [("pos", None)]
    for name in ("q", "k", "v") + (("o",) if kind == HEADS else ()):
        tensors += [(name + ".weight", (width, width)), (name + ".bias", (width,))]
    return tensors


def unpack(kind, steps, width, flat):
    tensors, at = {}, 0
    for name, shape in names_of(kind, width):
        shape = (steps, width) if shape is None else shape
        size = torch.Size(shape).numel()
        tensors[name] = flat[at:at + size].view(shape)
        at += size
    assert at == flat.numel()
    return tensors


def hidden(steps, causal):
    return torch.ones(steps, steps).triu(1).bool() if causal else torch.zeros(steps, steps).bool()


def split(values, heads):
    count, steps, width = values.shape
    return values.view(count, steps, heads, width // heads).transpose(1, 2)


def scores_of(kind, tensors, x, heads):
    """The scores, and the rows that values are made from."""
    if kind in (PLACED, UNPLACED):
        x = x * tensors["inp.weight"].view(-1) + tensors["inp.bias"] + tensors.get("pos", 0)
    query, key = (x @ tensors[n + ".weight"].T + tensors[n + ".bias"] for n in "qk")
    query, key = split(query, heads), split(key, heads)
    return query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, x


def forward(kind, tensors, x, heads, causal):
    scores, rows = scores_of(kind, tensors, x, heads)
    weights = torch.softmax(scores.masked_fill(hidden(x.shape[1], causal), float("-inf")), -1)
    value = rows @ tensors["v.weight"].T + tensors["v.bias"]
    context = (weights @ split(value, heads)).transpose(1, 2).reshape(value.shape)
    if kind == HEADS:
        return context @ tensors["o.weight"].T + tensors["o.bias"]
    return context.mean(1)


def gradients(kind, shape, flat, x, grad_output, dtype):
    steps, width, heads, causal = shape
    flat, x = (t.to(dtype).detach().requires_grad_() for t in (flat, x))
    output = forward(kind, unpack(kind, steps, width, flat), x, heads, causal)
    output.backward(grad_output.to(dtype).view(output.shape))
    return [t.detach().double().flatten() for t in (output, x.grad, flat.grad)]


def largest_gap_is_certain(scores, causal, size):
    steps = scores.shape[-1]
    scores = scores.masked_fill(hidden(steps, causal), float("-inf"))
    if steps == 1:
        return True
    best = scores.topk(2, -1).values
    return bool((best[..., 0] - best[..., 1]).min() > 110 + 64 * size * 2 ** -24)


def case(kind, number, shape):
    steps, width, heads, causal, deviation, spread = shape
    heads = heads if kind == HEADS else 1
    causal = causal if kind != UNPLACED else 0
    tensors = names_of(kind, width)
    count = sum(torch.Size((steps, width) if s is None else s).numel() for _, s in tensors)
    for seed in range(1000 * number, 1000 * number + 1000):
        torch.manual_seed(seed)
        flat = torch.empty(count).normal_(0, deviation)
        x = torch.empty(2 * steps * (width if kind in (HEADS, POOLED) else 1)).normal_(0, spread)
        grad_output = torch.empty(2 * (steps * width if kind == HEADS else width)).normal_(0, 1)
        x = x.view(2, steps, -1)
        parts = unpack(kind, steps, width, flat.double())
        sizes, _ = scores_of(kind, {n: t.abs() for n, t in parts.items()}, x.double().abs(), heads)
        size = sizes.max().item()
        certain = largest_gap_is_certain(scores_of(kind, parts, x.double(), heads)[0], causal, size)
        if certain or size * 2 ** -24 < 3e-4:
            break
    else:
        raise SystemExit("no seed fits %s %s" % (kind, shape))
    truth, single = (gradients(kind, (steps, width, heads, causal), flat, x, grad_output, dtype)
                     for dtype in (torch.float64, torch.float32))
    worst = 0
    for exact, rounded in zip(truth, single):
        bound = (ROUNDINGS + (0 if certain else size)) * 2 ** -24 * exact.abs().max().item()
        worst = max(worst, (exact - rounded).abs().max().item() / max(bound, 1e-38))
    if certain:
        grad = unpack(kind, steps, width, single[2])
        assert not any(grad[n + part].any() for n in "qk" for part in (".weight", ".bias"))
    assert worst <= 1, (kind, shape, worst)
    print("%s %s seed %d: S %.3g certain %d float32 %.2f" % (kind, shape, seed, size, certain, worst), file=sys.stderr)
    row = "%s, %d, %d, %d, %d, %d, %r, %r, %.9g, %d" % (
        kind, seed, steps, width, heads, causal, float(deviation), float(spread),
        0 if certain else size, certain)
    return row, torch.cat(truth)


def main():
    torch.set_num_threads(1)
    print("/* Made by tests/reference/make_saturated_golden.py with torch %s. */" % torch.__version__)
    print("// clang-format off")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_SATURATED_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_SATURATED_H\n")
    print("enum saturated_kind { HEADS, POOLED, PLACED, UNPLACED };")
    print("/* The bound is (SATURATED_ROUNDINGS + score_size) 2^-24, relative to the largest value. */\n"
          "enum { SATURATED_ROUNDINGS = %d };\n" % ROUNDINGS)
    rows, values, number = [], [], 0
    for kind in (HEADS, POOLED, PLACED, UNPLACED):
        for shape in SHAPES:
            number += 1
            row, truth = case(kind, number, shape)
            rows.append("{%s, %d}" % (row, sum(v.numel() for v in values)))
            values.append(truth)
    print("/* `first` is the place of the case's output in the values; the gradients of the input and of the\n"
          " * parameters follow. score_size is 0 where the weights are certain. */")
    print("static const struct {\n    enum saturated_kind kind;\n    unsigned seed, steps, width, heads, is_causal;\n"
          "    double deviation, spread, score_size;\n    unsigned is_certain, first;\n} saturated_cases[] = {")
    print("\n".join("    %s," % row for row in rows) + "\n};\n")
    text = ["%.8g" % v for v in torch.cat(values).tolist()]
    print("static const double saturated_values[] = {")
    for i in range(0, len(text), 12):
        print("    " + ", ".join(text[i:i + 12]) + ",")
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
