#!/usr/bin/python3
"""The modules and parameters of the models as PyTorch's classes have them: python3 make_modules_golden.py > golden_modules.h

For every model, for numbers and for text, at the documents' sizes and at odd ones: the leaves of named_modules() with the
call that creates each and the shape of its output for one example, and the names and shapes of named_parameters(). Needs
python3-torch.
"""
import torch
from torch import nn

import models

RECURRENT = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


class TextRecurrent(nn.Module):
    def __init__(self, kind, vocabulary_size):
        super().__init__()
        self.embed = nn.Embedding(vocabulary_size, models.WIDTH, padding_idx=0)
        self.rnn = kind(models.WIDTH, models.WIDTH, batch_first=True)
        self.fc = nn.Linear(models.WIDTH, 2)

    def forward(self, tokens):
        return self.fc(self.rnn(self.embed(tokens))[0][:, -1])


class TextAttention(models.Attention):
    """The class with an embedding in the place of its input projection, which reads numbers."""

    def __init__(self, position, steps, vocabulary_size):
        super().__init__(position, steps)
        self.inp = None
        self.embed = nn.Embedding(vocabulary_size, models.WIDTH, padding_idx=0)

    def forward(self, tokens):
        self.inp = self.embed
        output = super().forward(tokens)
        self.inp = None
        return output


class Transformer(models.Transformer):
    """Over numbers if the vocabulary is empty: the class with a linear layer in the place of its embedding."""

    def __init__(self, vocabulary_size, activation, heads, **sizes):
        super().__init__(max(vocabulary_size, 1), heads=heads, **sizes)
        for block in self.blocks:
            block.ff[1] = ACTIVATIONS[activation]()
        self.reads_tokens = vocabulary_size > 0
        if not self.reads_tokens:
            del self.embed
            self.inp = nn.Linear(1, models.WIDTH)

    def forward(self, x):
        if self.reads_tokens:
            return super().forward(x)
        x = self.inp(x) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def call(module):
    """The Python that creates the module; creating it so gives the same module again."""
    if isinstance(module, nn.Linear):
        text = f"nn.Linear({module.in_features}, {module.out_features})"
    elif isinstance(module, nn.Embedding):
        text = f"nn.Embedding({module.num_embeddings}, {module.embedding_dim}, padding_idx={module.padding_idx})"
    elif isinstance(module, nn.LayerNorm):
        text = f"nn.LayerNorm({module.normalized_shape[0]})"
    elif isinstance(module, nn.RNNBase):
        text = f"nn.{type(module).__name__}({module.input_size}, {module.hidden_size}, batch_first=True)"
    else:
        text = f"nn.{type(module).__name__}()"
    assert repr(eval(text)) == repr(module), text
    return text


def build(case):
    models.WIDTH = case["width"]
    words, steps, name = case["words"], case["steps"], case["model"]
    if name in RECURRENT:
        if words:
            return TextRecurrent(RECURRENT[name], words)
        module = models.Recurrent(RECURRENT[name])
        return module
    if name == "attention":
        position = "learned" if case["position"] == "learned" else None
        return TextAttention(position, steps, words) if words else models.Attention(position, steps)
    return Transformer(words, case["activation"], case["heads"], steps=steps, layers=case["layers"],
                       feedforward_width=case["feedforward"], norm_first=case["norm"] == "first")


def case(model, words=0, steps=60, width=32, position="learned", heads=4, layers=1, feedforward=64, norm="last",
         activation="relu"):
    return dict(locals())


CASES = [case(model, words, steps, width) for model in (*RECURRENT, "attention")
         for words, steps, width in ((0, 60, 32), (0, 7, 13), (57, 20, 32), (11, 5, 9))]
CASES += [case("attention", position="none"), case("attention", steps=7, width=13, position="none"),
          case("attention", words=11, steps=5, width=9, position="none")]
CASES += [case("transformer", 57, 20), case("transformer"), case("transformer", 57, 20, norm="first"),
          case("transformer", 57, 20, position="none"),
          case("transformer", 11, 5, 15, heads=3, layers=2, feedforward=7, activation="gelu"),
          case("transformer", 0, 9, 14, heads=7, layers=3, feedforward=5, norm="first", activation="gelu")]


def list_case(options):
    module = build(options)
    shapes, leaves = {}, [(name, one) for name, one in module.named_modules() if name and not list(one.children())]
    for name, one in leaves:
        keep = lambda _, __, output, name=name: shapes.update({name: (output[0] if isinstance(output, tuple) else output).shape})
        one.register_forward_hook(keep)
    words, steps = options["words"], options["steps"]
    with torch.no_grad():
        module(torch.ones(1, steps, dtype=torch.long) if words else torch.zeros(1, steps, 1))
    # A layer after the mean has no axis for the steps.
    rows = [(name, type(one).__name__, call(one), ([1] + list(shapes[name])[1:])[-2:]) for name, one in leaves]
    return rows, [(name, list(one.shape)) for name, one in module.named_parameters()]


def numbers(values, count):
    return "{" + ", ".join(str(value) for value in values + [0] * (count - len(values))) + "}"


print(f"/* Made by tests/reference/make_modules_golden.py with torch {torch.__version__}. */")
print("""// clang-format off
#ifndef ATTNLAB_TESTS_REFERENCE_GOLDEN_MODULES_H
#define ATTNLAB_TESTS_REFERENCE_GOLDEN_MODULES_H

#include <stddef.h>

struct golden_module {
    const char *name, *type, *call;
    size_t shape[2];
};
struct golden_parameter {
    const char *name;
    size_t rank, shape[3];
};
struct golden_case {
    const char *model, *position, *norm, *activation;
    size_t words, steps, width, heads, layers, feedforward;
    size_t module_count, parameter_count;
    const struct golden_module *modules;
    const struct golden_parameter *parameters;
};
""")
listed = [(options, *list_case(options)) for options in CASES]
for index, (_, rows, parameters) in enumerate(listed):
    print(f"static const struct golden_module golden_modules_{index}[] = {{")
    for name, kind, text, shape in rows:
        print(f'    {{"{name}", "{kind}", "{text}", {numbers(shape, 2)}}},')
    print("};")
    print(f"static const struct golden_parameter golden_parameters_{index}[] = {{")
    for name, shape in parameters:
        print(f'    {{"{name}", {len(shape)}, {numbers(shape, 3)}}},')
    print("};")
print("static const struct golden_case golden_cases[] = {")
for index, (options, rows, parameters) in enumerate(listed):
    text = ", ".join(f'"{options[name]}"' for name in ("model", "position", "norm", "activation"))
    sizes = ", ".join(str(options[name]) for name in ("words", "steps", "width", "heads", "layers", "feedforward"))
    print(f"    {{{text}, {sizes}, {len(rows)}, {len(parameters)}, golden_modules_{index}, golden_parameters_{index}}},")
print("};\n\n#endif")
