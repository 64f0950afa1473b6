#!/usr/bin/python3
"""PyTorch's results for the chapter's four models: python3 make_training_golden.py > golden_training.h

Needs python3-torch. Writes the losses of the first 64 steps with seeds 0, 1 and 2, and for seed 0 the loss, the logits
and all gradients of the first 16 training examples, in order, before any step.
"""
import textwrap

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from models import BATCH, LENGTH, MODELS, first_element

torch.set_num_threads(1)

# The order in which the classes create their parameters; named_parameters() returns another.
ORDER = "inp.weight inp.bias pos q.weight q.bias k.weight k.bias v.weight v.bias fc.weight fc.bias".split()


def parameters_in_order(model):
    named = dict(model.named_parameters())
    return [(name, named[name]) for name in (ORDER if "q.weight" in named else named) if name in named]


def first_losses(make, seed):
    torch.manual_seed(seed)
    x, y = first_element(2000, LENGTH, 1)
    model = make()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True, generator=generator)
    losses = []
    while len(losses) < 64:
        for xb, yb in loader:
            optimiser.zero_grad()
            loss = nn.CrossEntropyLoss()(model(xb), yb)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return losses[:64]


def first_gradient(make):
    torch.manual_seed(0)
    x, y = first_element(2000, LENGTH, 1)
    model = make()
    logits = model(x[:16])
    loss = nn.CrossEntropyLoss()(logits, y[:16])
    loss.backward()
    gradient = torch.cat([p.grad.flatten() for _, p in parameters_in_order(model)])
    return logits.detach().flatten(), loss.item(), gradient


def numbers(values):
    return textwrap.fill(", ".join(f"{float(v):.8g}" for v in values), 118)


def main():
    print("/* Made by tests/reference/make_training_golden.py with torch %s. */" % torch.__version__)
    print("#include <stddef.h>\n")
    print("static const struct golden_model {")
    print("    const char *model, *position;")
    print("    double losses[3][64], logits[32], loss;")
    print("    const double *gradient;")
    print("    size_t parameter_count;")
    print("} golden_models[] = {")
    for name, make in MODELS.items():
        model, *without = name.split(maxsplit=1)
        print(f'{{"{model}", "{"none" if without else "learned"}", {{')
        for seed in range(3):
            print("{" + numbers(first_losses(make, seed)) + "},")
        logits, loss, gradient = first_gradient(make)
        print("}, {" + numbers(logits) + f"}}, {loss:.9g}, (const double[]){{" + numbers(gradient) + "},")
        print(f"{len(gradient)}}},")
    print("};")


if __name__ == "__main__":
    main()
