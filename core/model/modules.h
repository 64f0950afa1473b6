/* A model as its PyTorch class reads: the modules that its constructor creates, with the steps of its forward
 * function between them, in the order in which an example passes through.
 *
 * A layer here may be several modules there, as one layer of attention over numbers replaces five. Which ones
 * they are is in the table of modules.c, which has an entry for every type of layer that a model is built
 * from. */
#ifndef ATTNLAB_CORE_MODEL_MODULES_H
#define ATTNLAB_CORE_MODEL_MODULES_H

#include "core/model/model.h"

enum { MODULE_NAME_SIZE = 64, MODULE_CODE_SIZE = 128, MODEL_MAXIMUM_MODULES = 288 };

struct module {
    char name[MODULE_NAME_SIZE];       /* as in the class: "block.attn.q"; "" for a step of forward */
    const char *type;                  /* "Linear"; for a step what it does, "mean"; static */
    char code[MODULE_CODE_SIZE];       /* the Python that creates it or is the step: "nn.Linear(1, 32)" */
    size_t rank, shape[3];             /* what it yields for one example: {60, 32} */
    size_t first_tensor, tensor_count; /* among those that model_tensors lists */
    size_t parameter_count;
};

struct module_list {
    struct module modules[MODEL_MAXIMUM_MODULES];
    size_t count;
    struct tensor tensors[MODEL_MAXIMUM_TENSORS]; /* of the model, in the order of model_tensors */
    size_t tensor_count;
};

/* Fills in the list. Every tensor of the model belongs to exactly one module. */
void model_list_modules(const struct model *model, struct module_list *list);

/* Whether the table has an entry for this type; without one, a layer is one module named after its type. */
bool module_is_known(const struct layer_type *type);

#endif
