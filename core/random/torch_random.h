/* PyTorch's CPU random stream, to the bit.
 *
 * A torch_generator has the state of torch.Generator: a Mersenne Twister (Matsumoto and Nishimura 1998,
 * mt19937) and one kept normal value. With the same seed, every function here consumes the same outputs and
 * gives the same bits as PyTorch 1.13 on an x86-64 processor with AVX2, whatever this program is compiled
 * for. The struct is flat and has no padding: copying it saves and restores a stream.
 *
 * This folder holds PyTorch's and numpy's streams and what is drawn from them. May call nothing but core's
 * errors. Called by layers (initial values), tasks, training and experiments. */
#ifndef ATTNLAB_CORE_RANDOM_TORCH_RANDOM_H
#define ATTNLAB_CORE_RANDOM_TORCH_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TORCH_STATE_WORDS = 624 };

struct torch_generator {
    uint32_t state[TORCH_STATE_WORDS];
    uint32_t index; /* of the next word of `state`; TORCH_STATE_WORDS: `state` must be regenerated first */
    uint32_t has_next_normal; /* 1 if next_normal holds a value that has not been used yet */
    double next_normal;
};

/* torch.manual_seed and torch.Generator().manual_seed. As in PyTorch only the low 32 bits of the seed count.
 * PyTorch takes a negative seed s as s + 2^64, as the conversion to uint64_t does here. */
void torch_generator_seed(struct torch_generator *generator, uint64_t seed);

/* Whether a generator can be in this state. For states that come from outside, such as a checkpoint. */
bool torch_generator_is_valid(const struct torch_generator *generator);

/* The next output; the next two, of which the first is the high half; and a draw of tensor.random_() for
 * int64. */
uint32_t torch_random_uint32(struct torch_generator *generator);
uint64_t torch_random_uint64(struct torch_generator *generator);
int64_t torch_random_int63(struct torch_generator *generator);

/* Uniform in [0, 1): from 24 bits of one output, or 53 bits of two. */
float torch_random_float(struct torch_generator *generator);
double torch_random_double(struct torch_generator *generator);

/* tensor.uniform_(low, high) on a float32 tensor of `count` elements. torch.rand is low 0 and high 1. */
void torch_uniform(struct torch_generator *generator, float *values, size_t count, double low, double high);

/* tensor.normal_(mean, deviation) on a contiguous float32 tensor of `count` elements; torch.randn is mean 0
 * and deviation 1. `count` must be that of the whole tensor: PyTorch draws fewer than 16 values one by one,
 * using the kept value, and 16 or more in blocks, which gives a different stream. */
void torch_normal(struct torch_generator *generator, float *values, size_t count, double mean,
                  double deviation);

/* torch.randint(low, high, (count,)): low <= value < high. */
void torch_randint(struct torch_generator *generator, int64_t *values, size_t count, int64_t low,
                   int64_t high);

/* torch.randperm(count): a permutation of 0 .. count - 1. */
void torch_randperm(struct torch_generator *generator, size_t *permutation, size_t count);

#endif
