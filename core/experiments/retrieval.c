/* retrieval: uses a pretrained network without any training (the lab's experiment 11).
 *
 * MobileNetV2 turns every image into 1,280 numbers. A query's nearest neighbour by cosine is right if it has
 * the query's class. Raw pixels and chance are the baselines. One split takes the file's first images;
 * several are drawn from a pool, one after the other, by numpy's permutation. */
#include "core/experiments/experiments.h"
#include "core/experiments/retrieval_report.h"
#include "core/pretrained/mobilenet.h"
#include "core/random/numpy_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most floats that the raw pixels of all images of a run may take: 128 MB. */
enum { PIXELS_LIMIT = 1 << 25 };

enum { NAME_LENGTH = 128, POOL_DEFAULT = 2000, IMAGES_LIMIT = 10000 };

static const struct parameter_declaration declarations[] = {
    {.name = "weights",
     .type = PARAMETER_TEXT,
     .title = "Weight file",
     .meaning = "MobileNetV2's weights: a file in the data directory as Keras publishes it (HDF5).",
     .length_maximum = NAME_LENGTH,
     .default_text = IMAGE_FILES_WEIGHTS},
    {.name = "images",
     .type = PARAMETER_TEXT,
     .title = "Image file",
     .meaning = "Images: a file in the data directory in the IDX format, plain or gzip'd.",
     .length_maximum = NAME_LENGTH,
     .default_text = IMAGE_FILES_IMAGES},
    {.name = "labels",
     .type = PARAMETER_TEXT,
     .title = "Label file",
     .meaning = "The images' labels: a file in the data directory in the IDX format, plain or gzip'd.",
     .length_maximum = NAME_LENGTH,
     .default_text = IMAGE_FILES_LABELS},
    {.name = "queries",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Queries",
     .meaning = "How many query images.",
     .minimum = 1,
     .maximum = 1000,
     .default_number = 200},
    {.name = "database",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Database",
     .meaning = "How many images the queries are compared with.",
     .minimum = 1,
     .maximum = 9000,
     .default_number = 1000},
    {.name = "database_first",
     .type = PARAMETER_BOOLEAN,
     .title = "Database first",
     .meaning = "With one split: take the database from the file's first images and the queries after it, "
                "instead of the other way round.",
     .default_number = 0},
    {.name = "splits",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Splits",
     .meaning = "1: the first images are the queries, the next ones the database. More: that many random "
                "splits, with mean and spread.",
     .minimum = 1,
     .maximum = 100,
     .default_number = 1},
    {.name = "pool",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Pool",
     .meaning =
         "With several splits: the number of images, from the start of the file, that they are drawn from.",
     .minimum = 2,
     .maximum = IMAGES_LIMIT,
     .default_number = POOL_DEFAULT,
     .default_depends = true,
     .default_note = "queries and database together, if that is more"},
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "With several splits: the seed of numpy's stream that draws them.",
     .maximum = SEED_MAXIMUM,
     .default_number = 0},
    {.name = "size",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Size",
     .meaning = "Rows and columns that every image is resized to.",
     .minimum = 32,
     .maximum = 224,
     .default_number = 96},
    {.name = "examples",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EXAMPLES,
     .title = "Examples",
     .meaning = "How many of the first queries come with their pictures and neighbours.",
     .maximum = 50,
     .default_number = 20},
};

static size_t size_parameter(const struct parameter_set *set, const char *name) {
    return (size_t)parameter_integer(set, name);
}

static bool complete(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error) {
    (void)memory_limit_bytes;
    (void)data;
    (void)error;
    if (parameter_is_set(set, "pool"))
        return true;
    int64_t used = parameter_integer(set, "queries") + parameter_integer(set, "database");
    parameter_set_integer(set, (size_t)parameter_find(set, "pool"), used > POOL_DEFAULT ? used : POOL_DEFAULT,
                          faults);
    return true;
}

/* Counts the memory that the parameters determine, and that of the published files. The network's work is
 * that of a run that finds no embeddings in the cache. */
static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { NUMBERS_OF_EXAMPLE = 2 * RETRIEVAL_NEIGHBOURS * 6 + 4 };
    (void)data;
    bool random = parameter_integer(set, "splits") > 1;
    size_t used = size_parameter(set, "queries") + size_parameter(set, "database");
    size_t images = random ? size_parameter(set, "pool") : used;
    unsigned long long bytes = 0;
    struct run_cost cost = {.memory_bytes = 0};
    if (!image_embeddings_measure(images, size_parameter(set, "size"), &bytes, &cost.work[WORK_ARITHMETIC],
                                  NULL))
        return (struct run_cost){.is_unknown = true};
    bytes += IMAGE_FILES_BYTES;
    bytes += (unsigned long long)(images + used) * IMAGE_FILES_PIXELS * sizeof(float);
    bytes += (unsigned long long)used * mobilenet_v2_shape.output_channels * sizeof(float);
    bytes += (unsigned long long)NEAREST_BATCH * used * sizeof(float);
    double examples = (double)size_parameter(set, "examples");
    double shown = fmin(examples * (1 + 2 * RETRIEVAL_NEIGHBOURS), (double)used);
    cost.work[WORK_ARITHMETIC] += (double)size_parameter(set, "splits") *
                                  (double)size_parameter(set, "queries") *
                                  (double)size_parameter(set, "database") * 2 *
                                  (double)(IMAGE_FILES_PIXELS + mobilenet_v2_shape.output_channels);
    run_cost_add_memory(&cost, (double)bytes);
    run_cost_add_result(&cost, examples * NUMBERS_OF_EXAMPLE + shown * IMAGE_FILES_PIXELS +
                                   2 * (double)size_parameter(set, "splits") + 100);
    return cost;
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    size_t used = size_parameter(set, "queries") + size_parameter(set, "database");
    bool random = parameter_integer(set, "splits") > 1;
    if (random && size_parameter(set, "pool") < used)
        parameter_faults_add(faults, "pool", "must be at least queries and database together, %zu; got %zu",
                             used, size_parameter(set, "pool"));
    if (random && parameter_boolean(set, "database_first"))
        parameter_faults_add(faults, "database_first", "applies only to one split; got %zu splits",
                             size_parameter(set, "splits"));
    image_files_validate(set, data, faults);
}

/* One space: a normalized row for every image of the run, and room for one split's rows. */
struct space {
    size_t dimensions;
    float *rows;                  /* [images][dimensions] */
    float *chosen;                /* [queries + database][dimensions] */
    struct neighbour *neighbours; /* [queries][kept] */
};

struct retrieval {
    struct image_files files;
    struct image_embeddings embeddings;
    size_t image_count; /* the run uses this many images from the start of the file */
    struct space spaces[SPACES];
    size_t *images;      /* [image_count]: the current split's, queries first, then the database */
    float *similarities; /* nearest_find's workspace */
    struct retrieval_findings findings;
};

static void *allocate(size_t count, size_t size, bool *good, struct error *error) {
    void *block = calloc(count > 0 ? count : 1, size);
    if (block == NULL)
        *good = error_set_memory(error, (unsigned long long)count * size);
    return block;
}

static bool prepare_space(struct space *space, const struct retrieval_findings *findings, size_t dimensions,
                          struct error *error) {
    bool good = true;
    space->dimensions = dimensions;
    space->chosen =
        allocate((findings->queries + findings->database) * dimensions, sizeof(float), &good, error);
    space->neighbours = allocate(findings->queries * findings->kept, sizeof(struct neighbour), &good, error);
    return good;
}

static bool prepare_pixels(struct retrieval *retrieval, struct error *error) {
    const struct idx_array *images = &retrieval->files.images;
    size_t pixels = images->shape[1] * images->shape[2];
    if (pixels > PIXELS_LIMIT / retrieval->image_count)
        return error_set(error, ERROR_TOO_LARGE,
                         "%zu images of %zu x %zu pixels exceed the limit of %d pixels",
                         retrieval->image_count, images->shape[1], images->shape[2], PIXELS_LIMIT);
    bool good = true;
    float *rows = allocate(retrieval->image_count * pixels, sizeof(float), &good, error);
    retrieval->spaces[SPACE_PIXELS].rows = rows;
    if (!good)
        return false;
    for (size_t i = 0; i < retrieval->image_count * pixels; i++)
        rows[i] = (float)images->values[i] / 255;
    return prepare_space(&retrieval->spaces[SPACE_PIXELS], &retrieval->findings, pixels, error);
}

/* Reads the files and sets up everything but the embeddings. */
static bool prepare(struct retrieval *retrieval, const struct experiment_context *context,
                    struct error *error) {
    const struct parameter_set *set = context->parameters;
    struct retrieval_findings *findings = &retrieval->findings;
    *findings = (struct retrieval_findings){.queries = size_parameter(set, "queries"),
                                            .database = size_parameter(set, "database"),
                                            .splits = size_parameter(set, "splits"),
                                            .size = size_parameter(set, "size"),
                                            .examples = size_parameter(set, "examples"),
                                            .kept = RETRIEVAL_NEIGHBOURS};
    if (findings->examples > findings->queries)
        findings->examples = findings->queries;
    if (findings->kept > findings->database)
        findings->kept = findings->database;
    if (!image_files_read(&retrieval->files, set, &context->data, error))
        return false;
    size_t available = retrieval->files.images.shape[0], used = findings->queries + findings->database;
    if (used > available)
        return error_set(
            error, ERROR_INVALID,
            "queries and database together must be at most %zu, the number of images in the file; got %zu",
            available, used);
    retrieval->image_count = findings->splits > 1 ? size_parameter(set, "pool") : used;
    if (retrieval->image_count > available)
        retrieval->image_count = available;
    bool good = true;
    retrieval->images = allocate(retrieval->image_count, sizeof(size_t), &good, error);
    findings->images = allocate(used, sizeof(size_t), &good, error);
    retrieval->similarities = allocate(NEAREST_BATCH * findings->database, sizeof(float), &good, error);
    for (size_t i = 0; i < SPACES; i++) {
        findings->top1[i] = allocate(findings->splits, sizeof(double), &good, error);
        findings->neighbours[i] =
            allocate(findings->examples * findings->kept, sizeof(struct neighbour), &good, error);
    }
    return good && prepare_pixels(retrieval, error);
}

static void release(struct retrieval *retrieval) {
    for (size_t i = 0; i < SPACES; i++) {
        free(retrieval->findings.top1[i]);
        free(retrieval->findings.neighbours[i]);
        free(retrieval->spaces[i].chosen);
        free(retrieval->spaces[i].neighbours);
    }
    free(retrieval->spaces[SPACE_PIXELS].rows);
    free(retrieval->findings.images);
    free(retrieval->images);
    free(retrieval->similarities);
    image_embeddings_free(&retrieval->embeddings);
    image_files_free(&retrieval->files);
}

/* Chooses the images of a split. */
static void choose_images(struct retrieval *retrieval, const struct parameter_set *set,
                          struct numpy_generator *generator) {
    const struct retrieval_findings *findings = &retrieval->findings;
    if (findings->splits > 1) {
        numpy_permutation(generator, retrieval->images, retrieval->image_count);
        return;
    }
    bool database_first = parameter_boolean(set, "database_first");
    for (size_t i = 0; i < findings->queries; i++)
        retrieval->images[i] = database_first ? findings->database + i : i;
    for (size_t i = 0; i < findings->database; i++)
        retrieval->images[findings->queries + i] = database_first ? i : findings->queries + i;
}

static void search_space(struct retrieval *retrieval, struct space *space) {
    const struct retrieval_findings *findings = &retrieval->findings;
    for (size_t i = 0; i < findings->queries + findings->database; i++)
        memcpy(space->chosen + i * space->dimensions, space->rows + retrieval->images[i] * space->dimensions,
               space->dimensions * sizeof(float));
    nearest_find(space->chosen, findings->queries, space->chosen + findings->queries * space->dimensions,
                 findings->database, space->dimensions, findings->kept, retrieval->similarities,
                 space->neighbours);
}

/* Whether the nearest neighbour of a query has its label. */
static bool is_right(const struct retrieval *retrieval, const struct space *space, size_t query) {
    const struct retrieval_findings *findings = &retrieval->findings;
    const uint8_t *labels = retrieval->files.labels.values;
    size_t nearest = space->neighbours[query * findings->kept].index;
    return labels[retrieval->images[query]] == labels[retrieval->images[findings->queries + nearest]];
}

static void search_split(struct retrieval *retrieval, size_t split) {
    struct retrieval_findings *findings = &retrieval->findings;
    size_t right[SPACES] = {0};
    for (size_t i = 0; i < SPACES; i++)
        search_space(retrieval, &retrieval->spaces[i]);
    for (size_t i = 0; i < findings->queries; i++) {
        bool mobilenet = is_right(retrieval, &retrieval->spaces[SPACE_MOBILENET], i);
        bool pixels = is_right(retrieval, &retrieval->spaces[SPACE_PIXELS], i);
        right[SPACE_MOBILENET] += mobilenet;
        right[SPACE_PIXELS] += pixels;
        findings->agreement[mobilenet][pixels]++;
    }
    for (size_t i = 0; i < SPACES; i++)
        findings->top1[i][split] = (double)right[i] / (double)findings->queries;
    if (split > 0)
        return;
    memcpy(findings->images, retrieval->images, (findings->queries + findings->database) * sizeof(size_t));
    for (size_t i = 0; i < SPACES; i++)
        memcpy(findings->neighbours[i], retrieval->spaces[i].neighbours,
               findings->examples * findings->kept * sizeof(struct neighbour));
}

static bool search(struct retrieval *retrieval, const struct experiment_context *context,
                   struct error *error) {
    struct numpy_generator generator;
    numpy_generator_seed(&generator, (uint64_t)parameter_integer(context->parameters, "seed"));
    for (size_t i = 0; i < SPACES; i++) {
        struct space *space = &retrieval->spaces[i];
        retrieval->findings.dimensions[i] = space->dimensions;
        nearest_normalize_rows(space->rows, retrieval->image_count, space->dimensions);
    }
    for (size_t split = 0; split < retrieval->findings.splits; split++) {
        if (!experiment_check_cancelled(context, error))
            return false;
        choose_images(retrieval, context->parameters, &generator);
        search_split(retrieval, split);
    }
    return true;
}

static bool run(struct experiment_context *context, struct error *error) {
    double started = experiment_seconds_now(context);
    struct retrieval retrieval = {0};
    struct space *mobilenet = &retrieval.spaces[SPACE_MOBILENET];
    bool good = prepare(&retrieval, context, error) &&
                image_embeddings_compute(&retrieval.embeddings, &retrieval.files, retrieval.image_count,
                                         retrieval.findings.size, context, error) &&
                prepare_space(mobilenet, &retrieval.findings, retrieval.embeddings.dimensions, error);
    if (good) {
        mobilenet->rows = retrieval.embeddings.values;
        good = search(&retrieval, context, error);
    }
    retrieval.findings.seconds = experiment_seconds_now(context) - started;
    good = good && retrieval_report_write(&retrieval.findings, &retrieval.files, &retrieval.embeddings,
                                          &context->result, error);
    release(&retrieval);
    return good;
}

const struct experiment experiment_retrieval = {
    .name = "retrieval",
    .title = "A pretrained network, without any training",
    .summary = "Finds each image's nearest neighbour in the space of a pretrained MobileNetV2, and among raw "
               "pixels.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .complete = complete,
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
