/* Made by tests/reference/make_modules_golden.py with torch 1.13.0a0. */
// clang-format off
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

static const struct golden_module golden_modules_0[] = {
    {"rnn", "RNN", "nn.RNN(1, 32, batch_first=True)", {60, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_0[] = {
    {"rnn.weight_ih_l0", 2, {32, 1, 0}},
    {"rnn.weight_hh_l0", 2, {32, 32, 0}},
    {"rnn.bias_ih_l0", 1, {32, 0, 0}},
    {"rnn.bias_hh_l0", 1, {32, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_1[] = {
    {"rnn", "RNN", "nn.RNN(1, 13, batch_first=True)", {7, 13}},
    {"fc", "Linear", "nn.Linear(13, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_1[] = {
    {"rnn.weight_ih_l0", 2, {13, 1, 0}},
    {"rnn.weight_hh_l0", 2, {13, 13, 0}},
    {"rnn.bias_ih_l0", 1, {13, 0, 0}},
    {"rnn.bias_hh_l0", 1, {13, 0, 0}},
    {"fc.weight", 2, {2, 13, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_2[] = {
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
    {"rnn", "RNN", "nn.RNN(32, 32, batch_first=True)", {20, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_2[] = {
    {"embed.weight", 2, {57, 32, 0}},
    {"rnn.weight_ih_l0", 2, {32, 32, 0}},
    {"rnn.weight_hh_l0", 2, {32, 32, 0}},
    {"rnn.bias_ih_l0", 1, {32, 0, 0}},
    {"rnn.bias_hh_l0", 1, {32, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_3[] = {
    {"embed", "Embedding", "nn.Embedding(11, 9, padding_idx=0)", {5, 9}},
    {"rnn", "RNN", "nn.RNN(9, 9, batch_first=True)", {5, 9}},
    {"fc", "Linear", "nn.Linear(9, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_3[] = {
    {"embed.weight", 2, {11, 9, 0}},
    {"rnn.weight_ih_l0", 2, {9, 9, 0}},
    {"rnn.weight_hh_l0", 2, {9, 9, 0}},
    {"rnn.bias_ih_l0", 1, {9, 0, 0}},
    {"rnn.bias_hh_l0", 1, {9, 0, 0}},
    {"fc.weight", 2, {2, 9, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_4[] = {
    {"rnn", "LSTM", "nn.LSTM(1, 32, batch_first=True)", {60, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_4[] = {
    {"rnn.weight_ih_l0", 2, {128, 1, 0}},
    {"rnn.weight_hh_l0", 2, {128, 32, 0}},
    {"rnn.bias_ih_l0", 1, {128, 0, 0}},
    {"rnn.bias_hh_l0", 1, {128, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_5[] = {
    {"rnn", "LSTM", "nn.LSTM(1, 13, batch_first=True)", {7, 13}},
    {"fc", "Linear", "nn.Linear(13, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_5[] = {
    {"rnn.weight_ih_l0", 2, {52, 1, 0}},
    {"rnn.weight_hh_l0", 2, {52, 13, 0}},
    {"rnn.bias_ih_l0", 1, {52, 0, 0}},
    {"rnn.bias_hh_l0", 1, {52, 0, 0}},
    {"fc.weight", 2, {2, 13, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_6[] = {
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
    {"rnn", "LSTM", "nn.LSTM(32, 32, batch_first=True)", {20, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_6[] = {
    {"embed.weight", 2, {57, 32, 0}},
    {"rnn.weight_ih_l0", 2, {128, 32, 0}},
    {"rnn.weight_hh_l0", 2, {128, 32, 0}},
    {"rnn.bias_ih_l0", 1, {128, 0, 0}},
    {"rnn.bias_hh_l0", 1, {128, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_7[] = {
    {"embed", "Embedding", "nn.Embedding(11, 9, padding_idx=0)", {5, 9}},
    {"rnn", "LSTM", "nn.LSTM(9, 9, batch_first=True)", {5, 9}},
    {"fc", "Linear", "nn.Linear(9, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_7[] = {
    {"embed.weight", 2, {11, 9, 0}},
    {"rnn.weight_ih_l0", 2, {36, 9, 0}},
    {"rnn.weight_hh_l0", 2, {36, 9, 0}},
    {"rnn.bias_ih_l0", 1, {36, 0, 0}},
    {"rnn.bias_hh_l0", 1, {36, 0, 0}},
    {"fc.weight", 2, {2, 9, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_8[] = {
    {"rnn", "GRU", "nn.GRU(1, 32, batch_first=True)", {60, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_8[] = {
    {"rnn.weight_ih_l0", 2, {96, 1, 0}},
    {"rnn.weight_hh_l0", 2, {96, 32, 0}},
    {"rnn.bias_ih_l0", 1, {96, 0, 0}},
    {"rnn.bias_hh_l0", 1, {96, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_9[] = {
    {"rnn", "GRU", "nn.GRU(1, 13, batch_first=True)", {7, 13}},
    {"fc", "Linear", "nn.Linear(13, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_9[] = {
    {"rnn.weight_ih_l0", 2, {39, 1, 0}},
    {"rnn.weight_hh_l0", 2, {39, 13, 0}},
    {"rnn.bias_ih_l0", 1, {39, 0, 0}},
    {"rnn.bias_hh_l0", 1, {39, 0, 0}},
    {"fc.weight", 2, {2, 13, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_10[] = {
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
    {"rnn", "GRU", "nn.GRU(32, 32, batch_first=True)", {20, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_10[] = {
    {"embed.weight", 2, {57, 32, 0}},
    {"rnn.weight_ih_l0", 2, {96, 32, 0}},
    {"rnn.weight_hh_l0", 2, {96, 32, 0}},
    {"rnn.bias_ih_l0", 1, {96, 0, 0}},
    {"rnn.bias_hh_l0", 1, {96, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_11[] = {
    {"embed", "Embedding", "nn.Embedding(11, 9, padding_idx=0)", {5, 9}},
    {"rnn", "GRU", "nn.GRU(9, 9, batch_first=True)", {5, 9}},
    {"fc", "Linear", "nn.Linear(9, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_11[] = {
    {"embed.weight", 2, {11, 9, 0}},
    {"rnn.weight_ih_l0", 2, {27, 9, 0}},
    {"rnn.weight_hh_l0", 2, {27, 9, 0}},
    {"rnn.bias_ih_l0", 1, {27, 0, 0}},
    {"rnn.bias_hh_l0", 1, {27, 0, 0}},
    {"fc.weight", 2, {2, 9, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_12[] = {
    {"inp", "Linear", "nn.Linear(1, 32)", {60, 32}},
    {"q", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"k", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"v", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_12[] = {
    {"pos", 3, {1, 60, 32}},
    {"inp.weight", 2, {32, 1, 0}},
    {"inp.bias", 1, {32, 0, 0}},
    {"q.weight", 2, {32, 32, 0}},
    {"q.bias", 1, {32, 0, 0}},
    {"k.weight", 2, {32, 32, 0}},
    {"k.bias", 1, {32, 0, 0}},
    {"v.weight", 2, {32, 32, 0}},
    {"v.bias", 1, {32, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_13[] = {
    {"inp", "Linear", "nn.Linear(1, 13)", {7, 13}},
    {"q", "Linear", "nn.Linear(13, 13)", {7, 13}},
    {"k", "Linear", "nn.Linear(13, 13)", {7, 13}},
    {"v", "Linear", "nn.Linear(13, 13)", {7, 13}},
    {"fc", "Linear", "nn.Linear(13, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_13[] = {
    {"pos", 3, {1, 7, 13}},
    {"inp.weight", 2, {13, 1, 0}},
    {"inp.bias", 1, {13, 0, 0}},
    {"q.weight", 2, {13, 13, 0}},
    {"q.bias", 1, {13, 0, 0}},
    {"k.weight", 2, {13, 13, 0}},
    {"k.bias", 1, {13, 0, 0}},
    {"v.weight", 2, {13, 13, 0}},
    {"v.bias", 1, {13, 0, 0}},
    {"fc.weight", 2, {2, 13, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_14[] = {
    {"q", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"k", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"v", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
};
static const struct golden_parameter golden_parameters_14[] = {
    {"pos", 3, {1, 20, 32}},
    {"q.weight", 2, {32, 32, 0}},
    {"q.bias", 1, {32, 0, 0}},
    {"k.weight", 2, {32, 32, 0}},
    {"k.bias", 1, {32, 0, 0}},
    {"v.weight", 2, {32, 32, 0}},
    {"v.bias", 1, {32, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
    {"embed.weight", 2, {57, 32, 0}},
};
static const struct golden_module golden_modules_15[] = {
    {"q", "Linear", "nn.Linear(9, 9)", {5, 9}},
    {"k", "Linear", "nn.Linear(9, 9)", {5, 9}},
    {"v", "Linear", "nn.Linear(9, 9)", {5, 9}},
    {"fc", "Linear", "nn.Linear(9, 2)", {1, 2}},
    {"embed", "Embedding", "nn.Embedding(11, 9, padding_idx=0)", {5, 9}},
};
static const struct golden_parameter golden_parameters_15[] = {
    {"pos", 3, {1, 5, 9}},
    {"q.weight", 2, {9, 9, 0}},
    {"q.bias", 1, {9, 0, 0}},
    {"k.weight", 2, {9, 9, 0}},
    {"k.bias", 1, {9, 0, 0}},
    {"v.weight", 2, {9, 9, 0}},
    {"v.bias", 1, {9, 0, 0}},
    {"fc.weight", 2, {2, 9, 0}},
    {"fc.bias", 1, {2, 0, 0}},
    {"embed.weight", 2, {11, 9, 0}},
};
static const struct golden_module golden_modules_16[] = {
    {"inp", "Linear", "nn.Linear(1, 32)", {60, 32}},
    {"q", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"k", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"v", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"fc", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_16[] = {
    {"inp.weight", 2, {32, 1, 0}},
    {"inp.bias", 1, {32, 0, 0}},
    {"q.weight", 2, {32, 32, 0}},
    {"q.bias", 1, {32, 0, 0}},
    {"k.weight", 2, {32, 32, 0}},
    {"k.bias", 1, {32, 0, 0}},
    {"v.weight", 2, {32, 32, 0}},
    {"v.bias", 1, {32, 0, 0}},
    {"fc.weight", 2, {2, 32, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_17[] = {
    {"inp", "Linear", "nn.Linear(1, 13)", {7, 13}},
    {"q", "Linear", "nn.Linear(13, 13)", {7, 13}},
    {"k", "Linear", "nn.Linear(13, 13)", {7, 13}},
    {"v", "Linear", "nn.Linear(13, 13)", {7, 13}},
    {"fc", "Linear", "nn.Linear(13, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_17[] = {
    {"inp.weight", 2, {13, 1, 0}},
    {"inp.bias", 1, {13, 0, 0}},
    {"q.weight", 2, {13, 13, 0}},
    {"q.bias", 1, {13, 0, 0}},
    {"k.weight", 2, {13, 13, 0}},
    {"k.bias", 1, {13, 0, 0}},
    {"v.weight", 2, {13, 13, 0}},
    {"v.bias", 1, {13, 0, 0}},
    {"fc.weight", 2, {2, 13, 0}},
    {"fc.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_18[] = {
    {"q", "Linear", "nn.Linear(9, 9)", {5, 9}},
    {"k", "Linear", "nn.Linear(9, 9)", {5, 9}},
    {"v", "Linear", "nn.Linear(9, 9)", {5, 9}},
    {"fc", "Linear", "nn.Linear(9, 2)", {1, 2}},
    {"embed", "Embedding", "nn.Embedding(11, 9, padding_idx=0)", {5, 9}},
};
static const struct golden_parameter golden_parameters_18[] = {
    {"q.weight", 2, {9, 9, 0}},
    {"q.bias", 1, {9, 0, 0}},
    {"k.weight", 2, {9, 9, 0}},
    {"k.bias", 1, {9, 0, 0}},
    {"v.weight", 2, {9, 9, 0}},
    {"v.bias", 1, {9, 0, 0}},
    {"fc.weight", 2, {2, 9, 0}},
    {"fc.bias", 1, {2, 0, 0}},
    {"embed.weight", 2, {11, 9, 0}},
};
static const struct golden_module golden_modules_19[] = {
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
    {"block.attn.q", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.k", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.v", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.out", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.norm1", "LayerNorm", "nn.LayerNorm(32)", {20, 32}},
    {"block.ff.0", "Linear", "nn.Linear(32, 64)", {20, 64}},
    {"block.ff.1", "ReLU", "nn.ReLU()", {20, 64}},
    {"block.ff.2", "Linear", "nn.Linear(64, 32)", {20, 32}},
    {"block.norm2", "LayerNorm", "nn.LayerNorm(32)", {20, 32}},
    {"head", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_19[] = {
    {"pos", 3, {1, 20, 32}},
    {"embed.weight", 2, {57, 32, 0}},
    {"block.attn.q.weight", 2, {32, 32, 0}},
    {"block.attn.q.bias", 1, {32, 0, 0}},
    {"block.attn.k.weight", 2, {32, 32, 0}},
    {"block.attn.k.bias", 1, {32, 0, 0}},
    {"block.attn.v.weight", 2, {32, 32, 0}},
    {"block.attn.v.bias", 1, {32, 0, 0}},
    {"block.attn.out.weight", 2, {32, 32, 0}},
    {"block.attn.out.bias", 1, {32, 0, 0}},
    {"block.norm1.weight", 1, {32, 0, 0}},
    {"block.norm1.bias", 1, {32, 0, 0}},
    {"block.ff.0.weight", 2, {64, 32, 0}},
    {"block.ff.0.bias", 1, {64, 0, 0}},
    {"block.ff.2.weight", 2, {32, 64, 0}},
    {"block.ff.2.bias", 1, {32, 0, 0}},
    {"block.norm2.weight", 1, {32, 0, 0}},
    {"block.norm2.bias", 1, {32, 0, 0}},
    {"head.weight", 2, {2, 32, 0}},
    {"head.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_20[] = {
    {"block.attn.q", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"block.attn.k", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"block.attn.v", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"block.attn.out", "Linear", "nn.Linear(32, 32)", {60, 32}},
    {"block.norm1", "LayerNorm", "nn.LayerNorm(32)", {60, 32}},
    {"block.ff.0", "Linear", "nn.Linear(32, 64)", {60, 64}},
    {"block.ff.1", "ReLU", "nn.ReLU()", {60, 64}},
    {"block.ff.2", "Linear", "nn.Linear(64, 32)", {60, 32}},
    {"block.norm2", "LayerNorm", "nn.LayerNorm(32)", {60, 32}},
    {"head", "Linear", "nn.Linear(32, 2)", {1, 2}},
    {"inp", "Linear", "nn.Linear(1, 32)", {60, 32}},
};
static const struct golden_parameter golden_parameters_20[] = {
    {"pos", 3, {1, 60, 32}},
    {"block.attn.q.weight", 2, {32, 32, 0}},
    {"block.attn.q.bias", 1, {32, 0, 0}},
    {"block.attn.k.weight", 2, {32, 32, 0}},
    {"block.attn.k.bias", 1, {32, 0, 0}},
    {"block.attn.v.weight", 2, {32, 32, 0}},
    {"block.attn.v.bias", 1, {32, 0, 0}},
    {"block.attn.out.weight", 2, {32, 32, 0}},
    {"block.attn.out.bias", 1, {32, 0, 0}},
    {"block.norm1.weight", 1, {32, 0, 0}},
    {"block.norm1.bias", 1, {32, 0, 0}},
    {"block.ff.0.weight", 2, {64, 32, 0}},
    {"block.ff.0.bias", 1, {64, 0, 0}},
    {"block.ff.2.weight", 2, {32, 64, 0}},
    {"block.ff.2.bias", 1, {32, 0, 0}},
    {"block.norm2.weight", 1, {32, 0, 0}},
    {"block.norm2.bias", 1, {32, 0, 0}},
    {"head.weight", 2, {2, 32, 0}},
    {"head.bias", 1, {2, 0, 0}},
    {"inp.weight", 2, {32, 1, 0}},
    {"inp.bias", 1, {32, 0, 0}},
};
static const struct golden_module golden_modules_21[] = {
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
    {"block.attn.q", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.k", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.v", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.out", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.norm1", "LayerNorm", "nn.LayerNorm(32)", {20, 32}},
    {"block.ff.0", "Linear", "nn.Linear(32, 64)", {20, 64}},
    {"block.ff.1", "ReLU", "nn.ReLU()", {20, 64}},
    {"block.ff.2", "Linear", "nn.Linear(64, 32)", {20, 32}},
    {"block.norm2", "LayerNorm", "nn.LayerNorm(32)", {20, 32}},
    {"head", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_21[] = {
    {"pos", 3, {1, 20, 32}},
    {"embed.weight", 2, {57, 32, 0}},
    {"block.attn.q.weight", 2, {32, 32, 0}},
    {"block.attn.q.bias", 1, {32, 0, 0}},
    {"block.attn.k.weight", 2, {32, 32, 0}},
    {"block.attn.k.bias", 1, {32, 0, 0}},
    {"block.attn.v.weight", 2, {32, 32, 0}},
    {"block.attn.v.bias", 1, {32, 0, 0}},
    {"block.attn.out.weight", 2, {32, 32, 0}},
    {"block.attn.out.bias", 1, {32, 0, 0}},
    {"block.norm1.weight", 1, {32, 0, 0}},
    {"block.norm1.bias", 1, {32, 0, 0}},
    {"block.ff.0.weight", 2, {64, 32, 0}},
    {"block.ff.0.bias", 1, {64, 0, 0}},
    {"block.ff.2.weight", 2, {32, 64, 0}},
    {"block.ff.2.bias", 1, {32, 0, 0}},
    {"block.norm2.weight", 1, {32, 0, 0}},
    {"block.norm2.bias", 1, {32, 0, 0}},
    {"head.weight", 2, {2, 32, 0}},
    {"head.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_22[] = {
    {"embed", "Embedding", "nn.Embedding(57, 32, padding_idx=0)", {20, 32}},
    {"block.attn.q", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.k", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.v", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.attn.out", "Linear", "nn.Linear(32, 32)", {20, 32}},
    {"block.norm1", "LayerNorm", "nn.LayerNorm(32)", {20, 32}},
    {"block.ff.0", "Linear", "nn.Linear(32, 64)", {20, 64}},
    {"block.ff.1", "ReLU", "nn.ReLU()", {20, 64}},
    {"block.ff.2", "Linear", "nn.Linear(64, 32)", {20, 32}},
    {"block.norm2", "LayerNorm", "nn.LayerNorm(32)", {20, 32}},
    {"head", "Linear", "nn.Linear(32, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_22[] = {
    {"pos", 3, {1, 20, 32}},
    {"embed.weight", 2, {57, 32, 0}},
    {"block.attn.q.weight", 2, {32, 32, 0}},
    {"block.attn.q.bias", 1, {32, 0, 0}},
    {"block.attn.k.weight", 2, {32, 32, 0}},
    {"block.attn.k.bias", 1, {32, 0, 0}},
    {"block.attn.v.weight", 2, {32, 32, 0}},
    {"block.attn.v.bias", 1, {32, 0, 0}},
    {"block.attn.out.weight", 2, {32, 32, 0}},
    {"block.attn.out.bias", 1, {32, 0, 0}},
    {"block.norm1.weight", 1, {32, 0, 0}},
    {"block.norm1.bias", 1, {32, 0, 0}},
    {"block.ff.0.weight", 2, {64, 32, 0}},
    {"block.ff.0.bias", 1, {64, 0, 0}},
    {"block.ff.2.weight", 2, {32, 64, 0}},
    {"block.ff.2.bias", 1, {32, 0, 0}},
    {"block.norm2.weight", 1, {32, 0, 0}},
    {"block.norm2.bias", 1, {32, 0, 0}},
    {"head.weight", 2, {2, 32, 0}},
    {"head.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_23[] = {
    {"embed", "Embedding", "nn.Embedding(11, 15, padding_idx=0)", {5, 15}},
    {"blocks.0.attn.q", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.0.attn.k", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.0.attn.v", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.0.attn.out", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.0.norm1", "LayerNorm", "nn.LayerNorm(15)", {5, 15}},
    {"blocks.0.ff.0", "Linear", "nn.Linear(15, 7)", {5, 7}},
    {"blocks.0.ff.1", "GELU", "nn.GELU()", {5, 7}},
    {"blocks.0.ff.2", "Linear", "nn.Linear(7, 15)", {5, 15}},
    {"blocks.0.norm2", "LayerNorm", "nn.LayerNorm(15)", {5, 15}},
    {"blocks.1.attn.q", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.1.attn.k", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.1.attn.v", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.1.attn.out", "Linear", "nn.Linear(15, 15)", {5, 15}},
    {"blocks.1.norm1", "LayerNorm", "nn.LayerNorm(15)", {5, 15}},
    {"blocks.1.ff.0", "Linear", "nn.Linear(15, 7)", {5, 7}},
    {"blocks.1.ff.1", "GELU", "nn.GELU()", {5, 7}},
    {"blocks.1.ff.2", "Linear", "nn.Linear(7, 15)", {5, 15}},
    {"blocks.1.norm2", "LayerNorm", "nn.LayerNorm(15)", {5, 15}},
    {"head", "Linear", "nn.Linear(15, 2)", {1, 2}},
};
static const struct golden_parameter golden_parameters_23[] = {
    {"pos", 3, {1, 5, 15}},
    {"embed.weight", 2, {11, 15, 0}},
    {"blocks.0.attn.q.weight", 2, {15, 15, 0}},
    {"blocks.0.attn.q.bias", 1, {15, 0, 0}},
    {"blocks.0.attn.k.weight", 2, {15, 15, 0}},
    {"blocks.0.attn.k.bias", 1, {15, 0, 0}},
    {"blocks.0.attn.v.weight", 2, {15, 15, 0}},
    {"blocks.0.attn.v.bias", 1, {15, 0, 0}},
    {"blocks.0.attn.out.weight", 2, {15, 15, 0}},
    {"blocks.0.attn.out.bias", 1, {15, 0, 0}},
    {"blocks.0.norm1.weight", 1, {15, 0, 0}},
    {"blocks.0.norm1.bias", 1, {15, 0, 0}},
    {"blocks.0.ff.0.weight", 2, {7, 15, 0}},
    {"blocks.0.ff.0.bias", 1, {7, 0, 0}},
    {"blocks.0.ff.2.weight", 2, {15, 7, 0}},
    {"blocks.0.ff.2.bias", 1, {15, 0, 0}},
    {"blocks.0.norm2.weight", 1, {15, 0, 0}},
    {"blocks.0.norm2.bias", 1, {15, 0, 0}},
    {"blocks.1.attn.q.weight", 2, {15, 15, 0}},
    {"blocks.1.attn.q.bias", 1, {15, 0, 0}},
    {"blocks.1.attn.k.weight", 2, {15, 15, 0}},
    {"blocks.1.attn.k.bias", 1, {15, 0, 0}},
    {"blocks.1.attn.v.weight", 2, {15, 15, 0}},
    {"blocks.1.attn.v.bias", 1, {15, 0, 0}},
    {"blocks.1.attn.out.weight", 2, {15, 15, 0}},
    {"blocks.1.attn.out.bias", 1, {15, 0, 0}},
    {"blocks.1.norm1.weight", 1, {15, 0, 0}},
    {"blocks.1.norm1.bias", 1, {15, 0, 0}},
    {"blocks.1.ff.0.weight", 2, {7, 15, 0}},
    {"blocks.1.ff.0.bias", 1, {7, 0, 0}},
    {"blocks.1.ff.2.weight", 2, {15, 7, 0}},
    {"blocks.1.ff.2.bias", 1, {15, 0, 0}},
    {"blocks.1.norm2.weight", 1, {15, 0, 0}},
    {"blocks.1.norm2.bias", 1, {15, 0, 0}},
    {"head.weight", 2, {2, 15, 0}},
    {"head.bias", 1, {2, 0, 0}},
};
static const struct golden_module golden_modules_24[] = {
    {"blocks.0.attn.q", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.0.attn.k", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.0.attn.v", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.0.attn.out", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.0.norm1", "LayerNorm", "nn.LayerNorm(14)", {9, 14}},
    {"blocks.0.ff.0", "Linear", "nn.Linear(14, 5)", {9, 5}},
    {"blocks.0.ff.1", "GELU", "nn.GELU()", {9, 5}},
    {"blocks.0.ff.2", "Linear", "nn.Linear(5, 14)", {9, 14}},
    {"blocks.0.norm2", "LayerNorm", "nn.LayerNorm(14)", {9, 14}},
    {"blocks.1.attn.q", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.1.attn.k", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.1.attn.v", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.1.attn.out", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.1.norm1", "LayerNorm", "nn.LayerNorm(14)", {9, 14}},
    {"blocks.1.ff.0", "Linear", "nn.Linear(14, 5)", {9, 5}},
    {"blocks.1.ff.1", "GELU", "nn.GELU()", {9, 5}},
    {"blocks.1.ff.2", "Linear", "nn.Linear(5, 14)", {9, 14}},
    {"blocks.1.norm2", "LayerNorm", "nn.LayerNorm(14)", {9, 14}},
    {"blocks.2.attn.q", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.2.attn.k", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.2.attn.v", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.2.attn.out", "Linear", "nn.Linear(14, 14)", {9, 14}},
    {"blocks.2.norm1", "LayerNorm", "nn.LayerNorm(14)", {9, 14}},
    {"blocks.2.ff.0", "Linear", "nn.Linear(14, 5)", {9, 5}},
    {"blocks.2.ff.1", "GELU", "nn.GELU()", {9, 5}},
    {"blocks.2.ff.2", "Linear", "nn.Linear(5, 14)", {9, 14}},
    {"blocks.2.norm2", "LayerNorm", "nn.LayerNorm(14)", {9, 14}},
    {"head", "Linear", "nn.Linear(14, 2)", {1, 2}},
    {"inp", "Linear", "nn.Linear(1, 14)", {9, 14}},
};
static const struct golden_parameter golden_parameters_24[] = {
    {"pos", 3, {1, 9, 14}},
    {"blocks.0.attn.q.weight", 2, {14, 14, 0}},
    {"blocks.0.attn.q.bias", 1, {14, 0, 0}},
    {"blocks.0.attn.k.weight", 2, {14, 14, 0}},
    {"blocks.0.attn.k.bias", 1, {14, 0, 0}},
    {"blocks.0.attn.v.weight", 2, {14, 14, 0}},
    {"blocks.0.attn.v.bias", 1, {14, 0, 0}},
    {"blocks.0.attn.out.weight", 2, {14, 14, 0}},
    {"blocks.0.attn.out.bias", 1, {14, 0, 0}},
    {"blocks.0.norm1.weight", 1, {14, 0, 0}},
    {"blocks.0.norm1.bias", 1, {14, 0, 0}},
    {"blocks.0.ff.0.weight", 2, {5, 14, 0}},
    {"blocks.0.ff.0.bias", 1, {5, 0, 0}},
    {"blocks.0.ff.2.weight", 2, {14, 5, 0}},
    {"blocks.0.ff.2.bias", 1, {14, 0, 0}},
    {"blocks.0.norm2.weight", 1, {14, 0, 0}},
    {"blocks.0.norm2.bias", 1, {14, 0, 0}},
    {"blocks.1.attn.q.weight", 2, {14, 14, 0}},
    {"blocks.1.attn.q.bias", 1, {14, 0, 0}},
    {"blocks.1.attn.k.weight", 2, {14, 14, 0}},
    {"blocks.1.attn.k.bias", 1, {14, 0, 0}},
    {"blocks.1.attn.v.weight", 2, {14, 14, 0}},
    {"blocks.1.attn.v.bias", 1, {14, 0, 0}},
    {"blocks.1.attn.out.weight", 2, {14, 14, 0}},
    {"blocks.1.attn.out.bias", 1, {14, 0, 0}},
    {"blocks.1.norm1.weight", 1, {14, 0, 0}},
    {"blocks.1.norm1.bias", 1, {14, 0, 0}},
    {"blocks.1.ff.0.weight", 2, {5, 14, 0}},
    {"blocks.1.ff.0.bias", 1, {5, 0, 0}},
    {"blocks.1.ff.2.weight", 2, {14, 5, 0}},
    {"blocks.1.ff.2.bias", 1, {14, 0, 0}},
    {"blocks.1.norm2.weight", 1, {14, 0, 0}},
    {"blocks.1.norm2.bias", 1, {14, 0, 0}},
    {"blocks.2.attn.q.weight", 2, {14, 14, 0}},
    {"blocks.2.attn.q.bias", 1, {14, 0, 0}},
    {"blocks.2.attn.k.weight", 2, {14, 14, 0}},
    {"blocks.2.attn.k.bias", 1, {14, 0, 0}},
    {"blocks.2.attn.v.weight", 2, {14, 14, 0}},
    {"blocks.2.attn.v.bias", 1, {14, 0, 0}},
    {"blocks.2.attn.out.weight", 2, {14, 14, 0}},
    {"blocks.2.attn.out.bias", 1, {14, 0, 0}},
    {"blocks.2.norm1.weight", 1, {14, 0, 0}},
    {"blocks.2.norm1.bias", 1, {14, 0, 0}},
    {"blocks.2.ff.0.weight", 2, {5, 14, 0}},
    {"blocks.2.ff.0.bias", 1, {5, 0, 0}},
    {"blocks.2.ff.2.weight", 2, {14, 5, 0}},
    {"blocks.2.ff.2.bias", 1, {14, 0, 0}},
    {"blocks.2.norm2.weight", 1, {14, 0, 0}},
    {"blocks.2.norm2.bias", 1, {14, 0, 0}},
    {"head.weight", 2, {2, 14, 0}},
    {"head.bias", 1, {2, 0, 0}},
    {"inp.weight", 2, {14, 1, 0}},
    {"inp.bias", 1, {14, 0, 0}},
};
static const struct golden_case golden_cases[] = {
    {"rnn", "learned", "last", "relu", 0, 60, 32, 4, 1, 64, 2, 6, golden_modules_0, golden_parameters_0},
    {"rnn", "learned", "last", "relu", 0, 7, 13, 4, 1, 64, 2, 6, golden_modules_1, golden_parameters_1},
    {"rnn", "learned", "last", "relu", 57, 20, 32, 4, 1, 64, 3, 7, golden_modules_2, golden_parameters_2},
    {"rnn", "learned", "last", "relu", 11, 5, 9, 4, 1, 64, 3, 7, golden_modules_3, golden_parameters_3},
    {"lstm", "learned", "last", "relu", 0, 60, 32, 4, 1, 64, 2, 6, golden_modules_4, golden_parameters_4},
    {"lstm", "learned", "last", "relu", 0, 7, 13, 4, 1, 64, 2, 6, golden_modules_5, golden_parameters_5},
    {"lstm", "learned", "last", "relu", 57, 20, 32, 4, 1, 64, 3, 7, golden_modules_6, golden_parameters_6},
    {"lstm", "learned", "last", "relu", 11, 5, 9, 4, 1, 64, 3, 7, golden_modules_7, golden_parameters_7},
    {"gru", "learned", "last", "relu", 0, 60, 32, 4, 1, 64, 2, 6, golden_modules_8, golden_parameters_8},
    {"gru", "learned", "last", "relu", 0, 7, 13, 4, 1, 64, 2, 6, golden_modules_9, golden_parameters_9},
    {"gru", "learned", "last", "relu", 57, 20, 32, 4, 1, 64, 3, 7, golden_modules_10, golden_parameters_10},
    {"gru", "learned", "last", "relu", 11, 5, 9, 4, 1, 64, 3, 7, golden_modules_11, golden_parameters_11},
    {"attention", "learned", "last", "relu", 0, 60, 32, 4, 1, 64, 5, 11, golden_modules_12, golden_parameters_12},
    {"attention", "learned", "last", "relu", 0, 7, 13, 4, 1, 64, 5, 11, golden_modules_13, golden_parameters_13},
    {"attention", "learned", "last", "relu", 57, 20, 32, 4, 1, 64, 5, 10, golden_modules_14, golden_parameters_14},
    {"attention", "learned", "last", "relu", 11, 5, 9, 4, 1, 64, 5, 10, golden_modules_15, golden_parameters_15},
    {"attention", "none", "last", "relu", 0, 60, 32, 4, 1, 64, 5, 10, golden_modules_16, golden_parameters_16},
    {"attention", "none", "last", "relu", 0, 7, 13, 4, 1, 64, 5, 10, golden_modules_17, golden_parameters_17},
    {"attention", "none", "last", "relu", 11, 5, 9, 4, 1, 64, 5, 9, golden_modules_18, golden_parameters_18},
    {"transformer", "learned", "last", "relu", 57, 20, 32, 4, 1, 64, 11, 20, golden_modules_19, golden_parameters_19},
    {"transformer", "learned", "last", "relu", 0, 60, 32, 4, 1, 64, 11, 21, golden_modules_20, golden_parameters_20},
    {"transformer", "learned", "first", "relu", 57, 20, 32, 4, 1, 64, 11, 20, golden_modules_21, golden_parameters_21},
    {"transformer", "none", "last", "relu", 57, 20, 32, 4, 1, 64, 11, 20, golden_modules_22, golden_parameters_22},
    {"transformer", "learned", "last", "gelu", 11, 5, 15, 3, 2, 7, 20, 36, golden_modules_23, golden_parameters_23},
    {"transformer", "learned", "first", "gelu", 0, 9, 14, 7, 3, 5, 29, 53, golden_modules_24, golden_parameters_24},
};

#endif
