#!/usr/bin/python3
"""PyTorch's numbers for the lab's transformer on a small data set: python3 make_text_golden.py > golden_text.h

Draws 160 lines `label<TAB>text` with one decisive word each, and trains the lab sheet's TinyTransformer on 128 of them.
Writes for each case the first losses, the accuracy, the logits of three test lines, the attention of the first, and
the number of test lines whose most attended word is the decisive one. Needs python3-torch.
"""
import random

import torch
from torch import nn

from models import Transformer

ROWS, TRAIN, LENGTH, EPOCHS, BATCH, RATE = 160, 128, 12, 6, 16, 0.003
POSITIVE, NEGATIVE = "superb lovely great".split(), "dull awful bad".split()
OTHERS = "we saw the old film and one short play here today with friends from town".split()
# name, seed, position, heads, feed-forward width, layers
CASES = [("lab", 0, True, 4, 64, 1), ("no_position", 1, False, 4, 64, 1), ("stacked", 42, True, 2, 24, 2)]


def draw_lines():
    stream = random.Random(7)
    for row in range(ROWS):
        words = [stream.choice(OTHERS) for _ in range(stream.randint(3, 9))]
        label = stream.randrange(2)
        words.insert(stream.randrange(len(words) + 1), stream.choice(POSITIVE if label else NEGATIVE))
        yield label, words


def train(model, x, y, seed):
    torch.manual_seed(seed)
    optimizer, loss_of, losses = torch.optim.Adam(model.parameters(), lr=RATE), nn.CrossEntropyLoss(), []
    for _ in range(EPOCHS):
        order = torch.randperm(TRAIN)
        for start in range(0, TRAIN, BATCH):
            batch = order[start : start + BATCH]
            optimizer.zero_grad()
            loss = loss_of(model(x[batch]), y[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def count_hits(model, x, lines):
    hits = 0
    for row in range(TRAIN, ROWS):
        model(x[row : row + 1])
        words = lines[row][1]
        attention = model.blocks[0].attn.weights[0, :, : len(words), : len(words)].mean((0, 1))
        hits += words[int(attention.argmax())] in POSITIVE + NEGATIVE
    return hits


def write(name, values):
    print(f"static const double {name}[] = {{{', '.join(f'{float(v):#.9g}' for v in values)}}};")


def main():
    torch.set_num_threads(1)
    lines = list(draw_lines())
    vocabulary = {}
    for _, words in lines[:TRAIN]:
        for word in words:
            vocabulary.setdefault(word, len(vocabulary) + 2)
    ids = [[vocabulary.get(w, 1) for w in words] + [0] * (LENGTH - len(words)) for _, words in lines]
    x, y = torch.tensor(ids), torch.tensor([label for label, _ in lines])
    print("/* Made by tests/reference/make_text_golden.py with torch " + torch.__version__ + ". */")
    print("// clang-format off")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_TEXT_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_TEXT_H\n")
    print(f"enum {{ TEXT_GOLDEN_TRAIN = {TRAIN}, TEXT_GOLDEN_TEST = {ROWS - TRAIN}, TEXT_GOLDEN_LENGTH = {LENGTH},"
          f" TEXT_GOLDEN_EPOCHS = {EPOCHS}, TEXT_GOLDEN_BATCH = {BATCH}, TEXT_GOLDEN_VOCABULARY = {len(vocabulary)} }};")
    print(f"static const double text_golden_learning_rate = {RATE};")
    print("static const char *const text_golden_lines[] = {")
    print("\n".join(f'    "{label}\\t{" ".join(words)}",' for label, words in lines) + "\n};\n")
    for name, seed, position, heads, hidden, layers in CASES:
        torch.manual_seed(seed)
        model = Transformer(len(vocabulary) + 2, LENGTH, heads, hidden, layers, position)
        print(f"enum {{ {name}_parameters = {sum(p.numel() for p in model.parameters())} }};")
        write(f"{name}_losses", train(model, x, y, seed))
        with torch.no_grad():
            logits = model(x[TRAIN:])
            correct = int((logits.argmax(1) == y[TRAIN:]).sum())
            print(f"enum {{ {name}_correct = {correct} }};")
            print(f"enum {{ {name}_hits = {count_hits(model, x, lines)} }};")
            write(f"{name}_logits", logits[:3].reshape(-1))
            model(x[TRAIN : TRAIN + 1])
            length = len(lines[TRAIN][1])
            write(f"{name}_attention", model.blocks[-1].attn.weights[0, :, :length, :length].reshape(-1))
        print()
    print("#endif")


if __name__ == "__main__":
    main()
