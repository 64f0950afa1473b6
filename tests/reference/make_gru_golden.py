#!/usr/bin/python3
"""PyTorch's results for the GRU: python3 make_gru_golden.py > golden_gru.h

Needs python3-torch. A single layer as in make_layer_golden.py, its parameters exact in float32 as nn.GRU draws them with
seed 1; and the losses of the first 64 steps of the chapter's SeqModel with a GRU, with seeds 0, 1 and 2.
"""
import textwrap

import torch
from torch import nn

from make_training_golden import first_losses
from models import Recurrent


def array(name, tensor):
    print(f"static const float golden_gru_{name}[] = {{")
    values = (f"{value:.9g}" for value in tensor.detach().flatten().tolist())
    print(textwrap.fill(", ".join(v + ("F" if "." in v or "e" in v else ".0F") for v in values), 118) + "};")


print("/* Made by tests/reference/make_gru_golden.py with torch %s. */" % torch.__version__)
torch.manual_seed(1)
layer = nn.GRU(3, 10, batch_first=True).double()
x = torch.randn(3, 6, 3).double().requires_grad_(True)
output = layer(x)[0][:, -1]
weights = torch.randn(output.shape).double()
(output * weights).sum().backward()
array("parameters", torch.cat([p.flatten() for p in layer.parameters()]))
array("input", x)
array("output", output)
array("weights", weights)
array("grad_input", x.grad)
array("grad_parameters", torch.cat([p.grad.flatten() for p in layer.parameters()]))
print("static const double golden_gru_losses[3][64] = {")
for seed in range(3):
    losses = first_losses(lambda: Recurrent(nn.GRU), seed)
    print("{" + textwrap.fill(", ".join(f"{loss:.8g}" for loss in losses), 118) + "},")
print("};")
