#!/usr/bin/python3
"""PyTorch's numbers for the transformer's layers: python3 make_transformer_golden.py > golden_transformer.h

Writes for every layer the parameters that its constructor draws with seed 3; then these with 0.1 randn added (so that
norms and biases matter), an input, a gradient of the output, and the resulting output and gradients.
Needs python3-torch.
"""
import sys

import torch
from torch import nn

from models import Block, Heads, TorchHeads, masked_mean

COUNT, STEPS, WIDTH, HEADS, HIDDEN, VOCABULARY = 2, 4, 4, 2, 6, 6
LENGTHS = (4, 2)  # the two examples' lengths without padding


class MaskedMean(nn.Module):
    def forward(self, x, present):
        return masked_mean(x, present)


class Sinusoidal(nn.Module):
    def forward(self, x):
        t, i = torch.arange(STEPS).double().unsqueeze(1), torch.arange(0, WIDTH, 2).double()
        angle = t / 10000 ** (i / WIDTH)
        position = torch.zeros(STEPS, WIDTH, dtype=torch.float64)
        position[:, 0::2], position[:, 1::2] = angle.sin(), angle.cos()
        return x + position.float()


def write(name, values):
    numbers = [f"{float(v):#.9g}f" for v in values.detach().reshape(-1)]
    print(f"static const float {name}[] = {{{', '.join(numbers) or '0.0f'}}};")


def case(name, make, arguments=(), tokens=None, attends=None):
    torch.manual_seed(3)
    module = make()
    parameters = list(module.parameters())
    flat = lambda tensors: torch.cat([t.reshape(-1) for t in tensors]) if tensors else torch.zeros(0)
    write(f"{name}_drawn", flat(parameters))
    with torch.no_grad():
        for p in parameters:
            p += 0.1 * torch.randn_like(p)
    write(f"{name}_parameters", flat(parameters))
    x = tokens if tokens is not None else torch.randn(COUNT, STEPS, WIDTH).requires_grad_()
    y = module(x, *arguments)
    r = torch.randn_like(y)
    y.backward(r)
    write(f"{name}_input", x if tokens is None else torch.zeros(0))
    write(f"{name}_output", y)
    write(f"{name}_grad_output", r)
    write(f"{name}_grad_input", x.grad if tokens is None else torch.zeros(0))
    write(f"{name}_grad_parameters", flat([p.grad for p in parameters]))
    write(f"{name}_attention", attends(module).weights if attends else torch.zeros(0))
    print()


def check_norm_first(block):
    """The class of models.py is PyTorch's own layer with norm_first."""
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, 0.0, "gelu", batch_first=True, norm_first=True)
    names = {"attn.attention": "self_attn", "ff.0": "linear1", "ff.2": "linear2", "norm1": "norm1", "norm2": "norm2"}
    theirs = lambda name: next(name.replace(a, b) for a, b in names.items() if name.startswith(a))
    layer.load_state_dict({theirs(name): tensor for name, tensor in block.state_dict().items()})
    x = torch.randn(COUNT, STEPS, WIDTH)
    assert torch.allclose(layer(x), block(x), atol=1e-6)


def main():
    torch.set_num_threads(1)
    present = torch.arange(STEPS).unsqueeze(0) < torch.tensor(LENGTHS).unsqueeze(1)
    padding = ~present.view(COUNT, 1, 1, STEPS)
    causal = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)
    tokens = torch.tensor([[2, 5, 1, 2], [3, 4, 0, 0]])
    print("/* Made by tests/reference/make_transformer_golden.py with torch " + torch.__version__ + ". */")
    print("// clang-format off")
    print("#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_TRANSFORMER_H\n#define ATTNLAB_TESTS_REFERENCE_GOLDEN_TRANSFORMER_H\n")
    print(f"enum {{ GOLDEN_COUNT = {COUNT}, GOLDEN_STEPS = {STEPS}, GOLDEN_WIDTH = {WIDTH}, GOLDEN_HEADS = {HEADS},"
          f" GOLDEN_HIDDEN = {HIDDEN}, GOLDEN_VOCABULARY = {VOCABULARY} }};")
    print(f"static const int golden_lengths[] = {{{', '.join(map(str, LENGTHS))}}};")
    print(f"static const int golden_tokens[] = {{{', '.join(str(int(t)) for t in tokens.reshape(-1))}}};\n")
    case("embedding", lambda: nn.Embedding(VOCABULARY, WIDTH, padding_idx=0), tokens=tokens)
    case("layer_norm", lambda: nn.LayerNorm(WIDTH))
    case("relu", nn.ReLU)
    case("gelu", nn.GELU)
    case("feedforward", lambda: nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, WIDTH)))
    case("attention", lambda: Heads(WIDTH, HEADS), (padding,), attends=lambda m: m)
    case("causal_attention", lambda: Heads(WIDTH, HEADS), (padding | causal,), attends=lambda m: m)
    case("torch_attention", lambda: TorchHeads(WIDTH, HEADS), (causal,), attends=lambda m: m)
    case("block", lambda: Block(Heads(WIDTH, HEADS), WIDTH, HIDDEN, nn.ReLU), (padding,), attends=lambda m: m.attn)
    case("torch_block", lambda: Block(TorchHeads(WIDTH, HEADS), WIDTH, HIDDEN, nn.GELU), attends=lambda m: m.attn)
    first = lambda attention, activation: Block(attention(WIDTH, HEADS), WIDTH, HIDDEN, activation, norm_first=True)
    check_norm_first(first(TorchHeads, nn.GELU))
    case("block_first", lambda: first(Heads, nn.ReLU), (padding,), attends=lambda m: m.attn)
    case("torch_block_first", lambda: first(TorchHeads, nn.GELU), attends=lambda m: m.attn)
    case("masked_mean", MaskedMean, (present,))
    case("sinusoidal", Sinusoidal)
    print("#endif")


if __name__ == "__main__":
    sys.exit(main())
