/* Crashes, damage: with any part of the database damaged at random, the store opens (what cannot be used is
 * set aside), and everything that can be asked for is answered, with JSON or with an error.
 *
 * ATTNLAB_DAMAGES is the number of damages, ATTNLAB_DAMAGE_SEED the first seed; if that is set, the seed of
 * each is printed, so that one that ends the program can be found. */
#include "server/formats/json_check.h"
#include "tests/unit/main.h"
#include "tests/unit/server/runs/runs_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { DAMAGES = 80, LARGE_DAMAGES = 22, PAGE = 8192, LARGE_CACHE = 33 * 1024 * 1024 };

static const char *const file_names[] = {"attnlab.sqlite3", "attnlab.sqlite3-wal", "attnlab.sqlite3-shm"};
enum { FILES = 3 };

/* Nothing here outlives a power cut, so waiting for the disk would only take time. */
int fsync(int file) {
    (void)file;
    return 0;
}

int fdatasync(int file) {
    (void)file;
    return 0;
}

struct image {
    unsigned char *bytes;
    size_t size;
};

static uint64_t random_state;

static uint64_t draw(uint64_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void file_path(size_t file, char path[128]) {
    snprintf(path, 128, "%s/%s", fixture_directory, file_names[file]);
}

static void read_images(struct image images[FILES]) {
    char path[128];
    struct stat status;
    for (size_t i = 0; i < FILES; i++) {
        images[i] = (struct image){0};
        file_path(i, path);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        ck_assert_int_eq(fstat(file, &status), 0);
        images[i].size = (size_t)status.st_size;
        images[i].bytes = malloc(images[i].size + 1);
        ck_assert_int_eq(read(file, images[i].bytes, images[i].size), status.st_size);
        close(file);
    }
}

static void write_images(const struct image images[FILES]) {
    char path[128];
    for (size_t i = 0; i < FILES; i++) {
        if (images[i].bytes == NULL)
            continue;
        file_path(i, path);
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(write(file, images[i].bytes, images[i].size), (ssize_t)images[i].size);
        close(file);
    }
}

static void free_images(struct image images[FILES]) {
    for (size_t i = 0; i < FILES; i++)
        free(images[i].bytes);
}

static void copy_images(struct image copies[FILES], const struct image images[FILES]) {
    for (size_t i = 0; i < FILES; i++) {
        copies[i] = (struct image){malloc(images[i].size + 1), images[i].size};
        if (images[i].bytes == NULL) {
            free(copies[i].bytes);
            copies[i].bytes = NULL;
        } else {
            memcpy(copies[i].bytes, images[i].bytes, images[i].size);
        }
    }
}

/* Ended runs and waiting ones, a comparison, a data set, epochs, events, settings. */
static void fill(void) {
    char id[ID_SIZE];
    const char *labels[] = {"first", "second"};
    const int64_t seeds[] = {0, 1};
    struct parameter_set sets[4];
    struct comparison_view view;
    struct dataset_record record;
    const char text[] = "text,label\ngood,1\nbad,0\n";
    open_all((struct runs_options){.worker_count = 1}, true);
    for (int i = 0; i < 6; i++) {
        create_run(i == 5 ? SETTINGS("fail=true") : SETTINGS("epochs=6"), id);
        assert_ends(id, i == 5 ? RUN_FAILED : RUN_SUCCEEDED);
    }
    for (size_t i = 0; i < 4; i++)
        counting_prepare(&sets[i], NULL);
    struct comparison_request request = {.experiment = &counting_experiment,
                                         .labels = labels,
                                         .variant_count = 2,
                                         .seeds = seeds,
                                         .seed_count = 2,
                                         .parameters = sets};
    ck_assert_msg(runs_create_comparison(runs, &request, &view, &error), "%s", error.message);
    for (size_t i = 0; i < 4; i++)
        assert_ends(view.run_ids[i], RUN_SUCCEEDED);
    for (size_t i = 0; i < 4; i++)
        parameter_set_free(&sets[i]);
    atomic_store(&counting_hold_epoch, 1); /* one keeps running, one waits */
    create_run(SETTINGS("epochs=9"), id);
    create_run(SETTINGS("epochs=9"), id);
    comparison_view_clear(&view);
    ck_assert(datasets_add(datasets, "mine", FORMAT_CSV, text, sizeof text - 1, "", &record, &error));
    dataset_record_clear(&record);
    ck_assert(store->write_setting(store, "sessions", "0123 99999999999999", &error));
    runs_stop(runs);
}

static void damage_bits(struct image *image) {
    for (uint64_t count = 1 + draw(4); count > 0; count--)
        image->bytes[draw(image->size)] ^= (unsigned char)(1u << draw(8));
}

static void damage_range(struct image *image, size_t from, size_t length, bool is_zeroed) {
    for (size_t i = from; i < from + length && i < image->size; i++)
        image->bytes[i] = is_zeroed ? 0 : (unsigned char)draw(256);
}

/* Damages one file in one of several ways. */
static void damage(struct image images[FILES]) {
    struct image *image = &images[draw(4) == 0 ? 1 + draw(2) : 0];
    if (image->bytes == NULL || image->size == 0)
        image = &images[0];
    size_t pages = image->size / PAGE + 1;
    switch (draw(6)) {
    case 0:
    case 1:
        damage_bits(image);
        break;
    case 2:
        damage_range(image, draw(pages) * PAGE, PAGE, false);
        break;
    case 3:
        damage_range(image, draw(pages) * PAGE, PAGE, true);
        break;
    case 4:
        damage_range(image, draw(image->size), 1 + draw(100), draw(2) == 0);
        break;
    default:
        image->size = draw(image->size);
    }
}

static void assert_json(struct text *text) {
    ck_assert(!text->failed);
    ck_assert_msg(json_check(text->bytes) == JSON_KIND_OBJECT, "not JSON: %s", text->bytes);
    text_free(text);
}

static void read_run_everywhere(const struct run_record *run) {
    struct epoch_metrics *rows = NULL;
    struct text text = {0};
    size_t count = 0, *epochs = NULL, size = 0, found = 0, cursor_steps = 0;
    float *weights = NULL;
    void *bytes = NULL;
    char *result = NULL;
    uint64_t cursor = 0;
    run_write_json(&text, NULL, run, NULL);
    assert_json(&text);
    if (store->read_metrics(store, run->id, &rows, &count, NULL))
        free(rows);
    if (store->list_epochs_kept(store, run->id, &epochs, &count, NULL))
        free(epochs);
    if (store->read_weights(store, run->id, STORE_LAST_EPOCH, &found, &weights, &count, NULL))
        free(weights);
    if (store->read_checkpoint(store, run->id, &bytes, &size, NULL))
        free(bytes);
    if (store->read_result(store, run->id, &result, NULL))
        free(result);
    do {
        struct event *events[64];
        ck_assert_uint_lt(cursor_steps++, 1000);
        if (!event_log_read(log_, run->id, &cursor, 64, events, &count, NULL))
            break;
        for (size_t i = 0; i < count; i++) {
            ck_assert(json_check(events[i]->payload) == JSON_KIND_OBJECT);
            event_release(events[i]);
        }
    } while (count > 0);
}

static void read_comparisons(void) {
    struct comparison_view *views = NULL;
    size_t count = 0;
    if (!runs_list_comparisons(runs, NULL, 100, &views, &count, NULL))
        return;
    for (size_t i = 0; i < count; i++) {
        struct text text = {0};
        comparison_write_json(&text, NULL, &views[i], false);
        assert_json(&text);
        comparison_view_clear(&views[i]);
    }
    free(views);
}

static void read_datasets(void) {
    struct dataset_record *list = NULL;
    size_t count = 0;
    char *value = NULL;
    if (datasets_list(datasets, NULL, 100, &list, &count, NULL)) {
        for (size_t i = 0; i < count; i++) {
            struct data_source source = datasets_source(datasets);
            const struct dataset *found = source.find_dataset(source.owner, list[i].name, NULL);
            if (found != NULL)
                source.release_dataset(source.owner, found);
            dataset_record_clear(&list[i]);
        }
        free(list);
    }
    if (store->read_setting(store, "sessions", &value, NULL))
        free(value);
}

/* Opens whatever is in the directory and reads all of it. */
static void open_and_read(void) {
    char warning[512];
    struct run_record *list = NULL;
    struct runs_options options = {.worker_count = 1, .find_experiment = counting_find};
    size_t count = 0;
    error = (struct error){0};
    store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    if (store == NULL && error.code == ERROR_CONFLICT)
        return; /* the version or the owner in its header: a newer attnlab's database, or another program's */
    ck_assert_msg(store != NULL, "%s", error.message);
    log_ = event_log_open(store, run_to_brief_json, &error);
    datasets = datasets_open(store, fixture_directory, &error);
    runs = runs_open(&options, store, log_, datasets, &error);
    ck_assert_msg(runs != NULL, "%s", error.message);
    struct run_filter filter = {.state = -1, .limit = 100};
    if (runs_list(runs, &filter, &list, &count, &error)) {
        for (size_t i = 0; i < count; i++)
            read_run_everywhere(&list[i]);
        run_records_free(list, count);
    } else {
        ck_assert_msg(error.code == ERROR_DAMAGED, "%s", error.message);
    }
    read_comparisons();
    read_datasets();
    close_all();
}

static unsigned long setting(const char *name, unsigned long otherwise) {
    const char *value = getenv(name);
    return value != NULL ? strtoul(value, NULL, 10) : otherwise;
}

static void clear_directory(void) {
    char command[160];
    snprintf(command, sizeof command, "rm -f '%s'/attnlab.*", fixture_directory);
    ck_assert_int_eq(system(command), 0);
}

/* With the log as it is while the service runs, or moved into the database as after a clean end. */
START_TEST(crashes_and_damage_anywhere_leave_a_store_that_opens) {
    struct image images[FILES], copies[FILES];
    unsigned long first = setting("ATTNLAB_DAMAGE_SEED", 1), count = setting("ATTNLAB_DAMAGES", DAMAGES);
    fill();
    if (_i == 0)
        read_images(images);
    close_all();
    if (_i == 1)
        read_images(images);
    for (unsigned long seed = first; seed < first + count; seed++) {
        random_state = seed * 0x9e3779b97f4a7c15u;
        if (getenv("ATTNLAB_DAMAGE_SEED") != NULL)
            fprintf(stderr, "seed %lu\n", seed);
        copy_images(copies, images);
        damage(copies);
        clear_directory();
        write_images(copies);
        free_images(copies);
        open_and_read();
    }
    free_images(images);
}
END_TEST

/* The pages of a large database are not all checked at the start. */
START_TEST(damage_to_an_early_page_of_a_large_database_leaves_a_store_that_opens) {
    struct image images[FILES], copies[FILES];
    void *filling = calloc(1, LARGE_CACHE);
    fill();
    store->put_cache(store, "filling", filling, LARGE_CACHE);
    free(filling);
    close_all();
    read_images(images);
    ck_assert_uint_gt(images[0].size, LARGE_CACHE);
    for (size_t page = 0; page < LARGE_DAMAGES; page++) {
        random_state = page + 1;
        copy_images(copies, images);
        damage_range(&copies[0], page * PAGE, PAGE, false);
        clear_directory();
        write_images(copies);
        free_images(copies);
        open_and_read();
    }
    free_images(images);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 3000);
    tcase_add_loop_test(tests, crashes_and_damage_anywhere_leave_a_store_that_opens, 0, 2);
    tcase_add_test(tests, damage_to_an_early_page_of_a_large_database_leaves_a_store_that_opens);
}
