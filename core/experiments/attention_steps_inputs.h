/* What attention-steps begins with: the input h, the maps W_q, W_k and W_v, and the Q, K and V that they make
 * of it, drawn as PyTorch's modules draw them or given by the user.
 *
 * One head: nn.Linear without bias, as in the lecture notes and the notebook. Several heads: the lab's
 * MultiHeadAttention, whose maps have biases and whose output goes through a fourth map. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_ATTENTION_STEPS_INPUTS_H
#define ATTNLAB_CORE_EXPERIMENTS_ATTENTION_STEPS_INPUTS_H

#include "core/experiments/attention_head_steps.h"
#include "core/parameters/set.h"
#include "core/random/torch_random.h"

enum { ATTENTION_STEPS_MAXIMUM_HEADS = 16 };

enum attention_steps_preset { PRESET_DRAWN, PRESET_WORKED, PRESET_CAUSAL_HEAD, PRESET_GIVEN };
extern const char *const attention_steps_presets[];
enum attention_steps_preset attention_steps_preset_of(const struct parameter_set *set);

/* The sizes that the preset and the parameters determine. */
struct attention_steps_sizes {
    size_t batch, queries,
        keys;     /* one example's tokens; the keys are the queries' unless attention crosses */
    size_t width; /* of a token of h; 0: Q, K and V are given */
    size_t heads, head_size, value_width; /* head_size is d_k; value_width is that of one head */
    bool is_cross;                        /* keys and values come from a second sequence */
};
struct attention_steps_sizes attention_steps_sizes_of(const struct parameter_set *set);

enum attention_steps_map { MAP_QUERY, MAP_KEY, MAP_VALUE, MAP_OUTPUT, MAP_COUNT };

struct attention_steps {
    struct attention_steps_sizes sizes;
    float *input;             /* [batch][queries][width]; NULL without maps */
    float *context;           /* [batch][keys][width]; the input itself unless attention crosses */
    float *maps[MAP_COUNT];   /* W: [heads * head_size][width], the output's [width][heads * head_size] */
    float *biases[MAP_COUNT]; /* NULL with one head */
    float *q, *k, *v;         /* of the example: [tokens][heads * head_size], the heads side by side */
    struct head_steps heads[ATTENTION_STEPS_MAXIMUM_HEADS];
    float *concatenated; /* [queries][heads * value_width] */
    float *output;       /* [queries][width] with several heads; else the head's */
};

/* Takes all matrices from `arena`, which may be a measuring arena; `sizes` is set. */
void attention_steps_lay_out(struct attention_steps *steps, struct arena *arena);

/* Fills in everything up to each head's q, k and v. The generator is where the drawing left it. */
void attention_steps_fill(struct attention_steps *steps, const struct parameter_set *set,
                          struct torch_generator *generator);

/* Puts the heads' outputs side by side and maps them to the output. */
void attention_steps_concatenate(struct attention_steps *steps);

#endif
