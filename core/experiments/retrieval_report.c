/* Writes the retrieval experiment's result: its shape is in retrieval_report.h. */
#include "core/experiments/retrieval_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const space_names[SPACES] = {"mobilenet_v2", "raw_pixels"};

/* Fashion-MNIST's, in the order of its labels. */
static const char *const class_names[] = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

static double mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* The standard deviation over the splits, with count - 1. One split gives NAN, which is written as null. */
static double standard_deviation(const double *values, size_t count) {
    double centre = mean(values, count), squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - centre) * (values[i] - centre);
    return count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
}

static void write_row(const struct retrieval_findings *findings, enum retrieval_space space,
                      const struct result_sink *sink) {
    const double *top1 = findings->top1[space];
    double share = mean(top1, findings->splits);
    result_begin_object(sink, NULL);
    result_text(sink, "space", space_names[space]);
    result_integer(sink, "dimensions", (int64_t)findings->dimensions[space]);
    result_number(sink, "top1", share);
    result_number(sink, "spread", standard_deviation(top1, findings->splits));
    result_number(sink, "standard_error", sqrt(share * (1 - share) / (double)findings->queries));
    result_begin_array(sink, "top1_by_split");
    for (size_t i = 0; i < findings->splits; i++)
        result_number(sink, NULL, top1[i]);
    result_end_array(sink);
    result_end_object(sink);
}

static void write_agreement(const struct retrieval_findings *findings, const struct result_sink *sink) {
    result_begin_object(sink, "agreement");
    result_integer(sink, "both", (int64_t)findings->agreement[1][1]);
    result_integer(sink, "only_mobilenet_v2", (int64_t)findings->agreement[1][0]);
    result_integer(sink, "only_raw_pixels", (int64_t)findings->agreement[0][1]);
    result_integer(sink, "neither", (int64_t)findings->agreement[0][0]);
    result_end_object(sink);
}

static void write_neighbours(const struct retrieval_findings *findings, const struct image_files *files,
                             const struct result_sink *sink) {
    const uint8_t *labels = files->labels.values;
    const size_t *database = findings->images + findings->queries;
    result_begin_array(sink, "neighbours");
    for (size_t i = 0; i < findings->examples; i++) {
        size_t query = findings->images[i];
        result_begin_object(sink, NULL);
        result_begin_object(sink, "query");
        result_integer(sink, "index", (int64_t)query);
        result_integer(sink, "label", labels[query]);
        result_end_object(sink);
        for (size_t space = 0; space < SPACES; space++) {
            result_begin_array(sink, space_names[space]);
            for (size_t j = 0; j < findings->kept; j++) {
                struct neighbour neighbour = findings->neighbours[space][i * findings->kept + j];
                size_t image = database[neighbour.index];
                result_begin_object(sink, NULL);
                result_integer(sink, "index", (int64_t)image);
                result_integer(sink, "database_index", (int64_t)neighbour.index);
                result_integer(sink, "label", labels[image]);
                result_real(sink, "similarity", neighbour.similarity);
                result_boolean(sink, "right", labels[image] == labels[query]);
                result_end_object(sink);
            }
            result_end_array(sink);
        }
        result_end_object(sink);
    }
    result_end_array(sink);
}

/* Marks every image that write_neighbours names. */
static void mark_images(const struct retrieval_findings *findings, bool *shown) {
    const size_t *database = findings->images + findings->queries;
    for (size_t i = 0; i < findings->examples; i++) {
        shown[findings->images[i]] = true;
        for (size_t space = 0; space < SPACES; space++)
            for (size_t j = 0; j < findings->kept; j++)
                shown[database[findings->neighbours[space][i * findings->kept + j].index]] = true;
    }
}

/* A picture's pixels are bytes, row by row. */
static bool write_images(const struct image_files *files, const bool *shown, const struct result_sink *sink,
                         struct error *error) {
    bool good = true;
    size_t pixels = files->images.shape[1] * files->images.shape[2];
    result_integer(sink, "image_rows", (int64_t)files->images.shape[1]);
    result_integer(sink, "image_columns", (int64_t)files->images.shape[2]);
    result_begin_array(sink, "images");
    for (size_t i = 0; i < files->images.shape[0] && good; i++) {
        if (!shown[i])
            continue;
        result_begin_object(sink, NULL);
        result_integer(sink, "index", (int64_t)i);
        result_integer(sink, "label", files->labels.values[i]);
        good = result_bytes(sink, "pixels", files->images.values + i * pixels, pixels, error);
        result_end_object(sink);
    }
    result_end_array(sink);
    return good;
}

/* By label, from 0 to the largest. */
static void write_class_names(const struct image_files *files, const struct result_sink *sink) {
    size_t largest = 0;
    for (size_t i = 0; i < files->labels.count; i++)
        if (files->labels.values[i] > largest)
            largest = files->labels.values[i];
    result_begin_array(sink, "class_names");
    for (size_t i = 0; i <= largest; i++) {
        char number[16];
        snprintf(number, sizeof number, "class %zu", i);
        bool has_name = files->are_fashion_mnist && i < sizeof class_names / sizeof class_names[0];
        result_text(sink, NULL, has_name ? class_names[i] : number);
    }
    result_end_array(sink);
}

bool retrieval_report_write(const struct retrieval_findings *findings, const struct image_files *files,
                            const struct image_embeddings *embeddings, const struct result_sink *sink,
                            struct error *error) {
    size_t image_count = files->images.shape[0];
    bool *shown = calloc(image_count, sizeof *shown);
    if (shown == NULL)
        return error_set_memory(error, image_count);
    mark_images(findings, shown);
    result_begin_object(sink, NULL);
    result_integer(sink, "queries", (int64_t)findings->queries);
    result_integer(sink, "database", (int64_t)findings->database);
    result_integer(sink, "splits", (int64_t)findings->splits);
    result_integer(sink, "size", (int64_t)findings->size);
    result_integer(sink, "image_count", (int64_t)image_count);
    result_integer(sink, "parameter_count", (int64_t)embeddings->parameter_count);
    result_integer(sink, "embedded", (int64_t)embeddings->embedded);
    result_number(sink, "seconds", findings->seconds);
    result_begin_array(sink, "rows");
    for (size_t space = 0; space < SPACES; space++)
        write_row(findings, (enum retrieval_space)space, sink);
    result_end_array(sink);
    result_number(sink, "chance", 1.0 / (double)files->class_count);
    write_agreement(findings, sink);
    write_class_names(files, sink);
    write_neighbours(findings, files, sink);
    bool good = write_images(files, shown, sink, error);
    result_end_object(sink);
    free(shown);
    return good;
}
