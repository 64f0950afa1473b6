/* A result sink for tests: records what an experiment writes as a tree, in which tests look up paths.
 *
 * Paths read like "rows.2.gradient": keys of objects and indices of arrays. A path that leads nowhere fails
 * the test. The tree is one flat array of nodes; children follow their parent. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_EXPERIMENTS_RESULT_TREE_H
#define ATTNLAB_TESTS_UNIT_CORE_EXPERIMENTS_RESULT_TREE_H

#include "core/experiments/result.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum result_kind { RESULT_OBJECT, RESULT_ARRAY, RESULT_NUMBER, RESULT_BOOLEAN, RESULT_TEXT, RESULT_NULL };

struct result_node {
    enum result_kind kind;
    char *key; /* NULL inside an array */
    char *text;
    double number;      /* NUMBER and BOOLEAN */
    size_t parent, end; /* the node's children are between it and `end` */
};

struct result_tree {
    struct result_node *nodes;
    size_t count, capacity;
    size_t open; /* `open`: the container being filled */
};

static inline struct result_node *result_tree_add(struct result_tree *tree, const char *key,
                                                  enum result_kind kind) {
    if (tree->count == tree->capacity) {
        tree->capacity = 2 * tree->capacity + 64;
        tree->nodes = realloc(tree->nodes, tree->capacity * sizeof *tree->nodes);
        ck_assert_ptr_nonnull(tree->nodes);
    }
    /* Every passing ck_assert costs a write to a pipe, which is too much for every node. */
    if (tree->count > 0 && (key != NULL) != (tree->nodes[tree->open].kind == RESULT_OBJECT))
        ck_abort_msg("keys belong in objects, and only there");
    struct result_node *node = &tree->nodes[tree->count];
    *node = (struct result_node){
        .kind = kind, .key = key != NULL ? strdup(key) : NULL, .parent = tree->open, .end = tree->count + 1};
    if (kind == RESULT_OBJECT || kind == RESULT_ARRAY)
        tree->open = tree->count;
    tree->count++;
    return node;
}

static inline void result_tree_object(void *owner, const char *key) {
    result_tree_add(owner, key, RESULT_OBJECT);
}

static inline void result_tree_array(void *owner, const char *key) {
    result_tree_add(owner, key, RESULT_ARRAY);
}

static inline void result_tree_end(void *owner) {
    struct result_tree *tree = owner;
    tree->nodes[tree->open].end = tree->count;
    tree->open = tree->nodes[tree->open].parent;
}

static inline void result_tree_number(void *owner, const char *key, double value) {
    result_tree_add(owner, key, RESULT_NUMBER)->number = value;
}

static inline void result_tree_real(void *owner, const char *key, float value) {
    result_tree_add(owner, key, RESULT_NUMBER)->number = (double)value;
}

static inline void result_tree_integer(void *owner, const char *key, int64_t value) {
    result_tree_add(owner, key, RESULT_NUMBER)->number = (double)value;
}

static inline void result_tree_boolean(void *owner, const char *key, bool value) {
    result_tree_add(owner, key, RESULT_BOOLEAN)->number = value;
}

static inline void result_tree_text(void *owner, const char *key, const char *value) {
    result_tree_add(owner, key, RESULT_TEXT)->text = strdup(value);
}

static inline void result_tree_null(void *owner, const char *key) {
    result_tree_add(owner, key, RESULT_NULL);
}

static inline struct result_sink result_tree_sink(struct result_tree *tree) {
    return (struct result_sink){.owner = tree,
                                .begin_object = result_tree_object,
                                .end_object = result_tree_end,
                                .begin_array = result_tree_array,
                                .end_array = result_tree_end,
                                .number = result_tree_number,
                                .real = result_tree_real,
                                .integer = result_tree_integer,
                                .boolean = result_tree_boolean,
                                .text = result_tree_text,
                                .null = result_tree_null};
}

static inline void result_tree_free(struct result_tree *tree) {
    for (size_t i = 0; i < tree->count; i++) {
        free(tree->nodes[i].key);
        free(tree->nodes[i].text);
    }
    free(tree->nodes);
    *tree = (struct result_tree){0};
}

/* The child of `parent` that the first part of `path` names, or SIZE_MAX. */
static inline size_t result_tree_child(const struct result_tree *tree, size_t parent, const char *path,
                                       size_t length) {
    size_t index = 0;
    for (size_t at = parent + 1; at < tree->nodes[parent].end; at = tree->nodes[at].end, index++) {
        const char *key = tree->nodes[at].key;
        if (key != NULL ? strlen(key) == length && strncmp(key, path, length) == 0
                        : index == strtoull(path, NULL, 10))
            return at;
    }
    return SIZE_MAX;
}

/* The node's index, or SIZE_MAX if the path leads nowhere. */
static inline size_t result_tree_seek(const struct result_tree *tree, const char *path) {
    size_t at = 0;
    while (*path != '\0' && at != SIZE_MAX) {
        size_t length = strcspn(path, ".");
        at = result_tree_child(tree, at, path, length);
        path += length + (path[length] == '.');
    }
    return at;
}

static inline bool result_tree_has(const struct result_tree *tree, const char *path) {
    return tree->count > 0 && result_tree_seek(tree, path) != SIZE_MAX;
}

static inline const struct result_node *result_tree_get(const struct result_tree *tree, const char *path) {
    ck_assert_msg(result_tree_has(tree, path), "the result has no \"%s\"", path);
    return &tree->nodes[result_tree_seek(tree, path)];
}

static inline double result_tree_value(const struct result_tree *tree, const char *path) {
    const struct result_node *node = result_tree_get(tree, path);
    ck_assert_msg(node->kind == RESULT_NUMBER || node->kind == RESULT_BOOLEAN, "\"%s\" is not a number",
                  path);
    return node->number;
}

static inline size_t result_tree_length(const struct result_tree *tree, const char *path) {
    const struct result_node *node = result_tree_get(tree, path);
    size_t length = 0, at = (size_t)(node - tree->nodes) + 1;
    for (; at < node->end; at = tree->nodes[at].end)
        length++;
    return length;
}

/* All numbers below `path`, however deep, in order; `missing` stands for null. Returns their number. */
static inline size_t result_tree_numbers(const struct result_tree *tree, const char *path, double missing,
                                         double *numbers, size_t limit) {
    const struct result_node *node = result_tree_get(tree, path);
    size_t count = 0;
    for (size_t at = (size_t)(node - tree->nodes); at < node->end; at++) {
        if (tree->nodes[at].kind != RESULT_NUMBER && tree->nodes[at].kind != RESULT_NULL)
            continue;
        if (count < limit)
            numbers[count] = tree->nodes[at].kind == RESULT_NULL ? missing : tree->nodes[at].number;
        count++;
    }
    return count;
}

#endif
