/* The findings of the retrieval experiment, and the shape of its result.
 *
 * {"queries", "database", "splits", "size", "image_count", "parameter_count", "embedded", "seconds",
 *  "rows": [{"space": "mobilenet_v2" | "raw_pixels", "dimensions", "top1", "spread", "standard_error",
 *            "top1_by_split": [...]}],
 *  "chance", "agreement": {"both", "only_mobilenet_v2", "only_raw_pixels", "neither"},
 *  "class_names": [a name for every label], "image_rows", "image_columns",
 *  "neighbours": [{"query": {"index", "label"},
 *                  "mobilenet_v2": [{"index", "database_index", "label", "similarity", "right"}, ...],
 *                  "raw_pixels": [the same]}],
 *  "images": [{"index", "label", "pixels": [rows * columns whole numbers, 0 to 255]}]}
 *
 * `neighbours` are those of the first split's first queries, nearest first. `index` counts in the image file,
 * `database_index` in the split's database. `images` holds each image that `neighbours` names once.
 * `top1` is the mean over the splits, `spread` their standard deviation (null for one split).
 * `standard_error` is the sampling error of one split with that many queries: sqrt(top1 (1 - top1) /
 * queries). `agreement` counts queries over all splits. `embedded` counts the images that the network
 * embedded in this run; the other embeddings came from the cache. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_RETRIEVAL_REPORT_H
#define ATTNLAB_CORE_EXPERIMENTS_RETRIEVAL_REPORT_H

#include "core/experiments/image_embeddings.h"
#include "core/pretrained/nearest.h"

enum { RETRIEVAL_NEIGHBOURS = 5 };

enum retrieval_space { SPACE_MOBILENET, SPACE_PIXELS, SPACES };

struct retrieval_findings {
    size_t queries, database, splits, size;
    size_t dimensions[SPACES];
    double *top1[SPACES];   /* [splits] */
    size_t agreement[2][2]; /* queries by whether MobileNetV2 and raw pixels were right (1) or wrong (0) */
    size_t examples;        /* queries of the first split whose neighbours are shown */
    size_t kept;            /* neighbours of each: at most RETRIEVAL_NEIGHBOURS */
    size_t *images;         /* [queries + database]: the first split's, queries first, counted in the file */
    struct neighbour *neighbours[SPACES]; /* [examples][kept] */
    double seconds;
};

/* Writes the whole result. False with ERROR_MEMORY. */
bool retrieval_report_write(const struct retrieval_findings *findings, const struct image_files *files,
                            const struct image_embeddings *embeddings, const struct result_sink *sink,
                            struct error *error);

#endif
