/* The data of each epoch of a training run in the SQLite store: a row of metrics, a set of weights, and the
 * newest checkpoint, all saved in one transaction.
 *
 * A run keeps the weights of at most 64 epochs or 16 MiB. Beyond that it keeps only every second, fourth, ...
 * epoch, and always the first and the last. The choice depends only on the newest epoch's number and the size
 * of the weights. */
#include "server/store/sqlite_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_EPOCHS_LIMIT = 64, KEPT_BYTES_LIMIT = 16 * 1024 * 1024 };

/* The smallest power of two such that epoch 0, its multiples and `epoch` itself are within the limits. */
static size_t kept_stride(size_t epoch, size_t weight_bytes) {
    size_t limit = KEPT_EPOCHS_LIMIT;
    if (weight_bytes > 0 && KEPT_BYTES_LIMIT / weight_bytes < limit)
        limit = KEPT_BYTES_LIMIT / weight_bytes;
    if (limit < 2)
        limit = 2;
    size_t stride = 1;
    while (epoch / stride + 1 + (epoch % stride != 0) > limit)
        stride *= 2;
    return stride;
}

static size_t kept_count(size_t epoch, size_t stride) {
    return epoch / stride + 1 + (epoch % stride != 0);
}

/* What the run takes once this epoch is stored. */
static size_t stored_size(const struct epoch_record *epoch) {
    size_t number = epoch->metrics->epoch, weights = epoch->weight_count * sizeof(float);
    return RUN_ROW_BYTES + (number + 1) * EPOCH_ROW_BYTES +
           kept_count(number, kept_stride(number, weights)) * weights + epoch->checkpoint_size;
}

/* A checkpoint has the weights and both of the optimiser's moments. It goes when the run ends; until then it
 * counts.
 */
double store_run_bytes(double snapshots, double weight_bytes, double result_bytes) {
    enum { WEIGHTS_IN_CHECKPOINT = 3, CHECKPOINT_HEADER = 4096 };
    double most = fmax(2 * weight_bytes, KEPT_BYTES_LIMIT);
    double weights = fmin(fmin(snapshots, KEPT_EPOCHS_LIMIT) * weight_bytes, most);
    double checkpoint = snapshots > 0 ? WEIGHTS_IN_CHECKPOINT * weight_bytes + CHECKPOINT_HEADER : 0;
    return RUN_ROW_BYTES + result_bytes + snapshots * EPOCH_ROW_BYTES + weights + checkpoint;
}

static bool save_weights(struct connection *writer, const char *run_id, const struct epoch_record *epoch,
                         struct error *error) {
    size_t number = epoch->metrics->epoch, size = epoch->weight_count * sizeof(float);
    return STATEMENT_EXECUTE(writer, error, "INSERT OR REPLACE INTO weights VALUES (?, ?, ?)", "tzb", run_id,
                             number, (const void *)epoch->weights, size) &&
           STATEMENT_EXECUTE(writer, error,
                             "DELETE FROM weights WHERE run = ? AND epoch % ? <> 0 AND epoch <> ?", "tzz",
                             run_id, kept_stride(number, size), number);
}

static bool store_save_epoch(struct store *store, const char *run_id, const struct epoch_record *epoch,
                             const struct event_record *events, size_t event_count, struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct connection *writer = &self->writer;
    const struct epoch_metrics *metrics = epoch->metrics;
    size_t bytes = EPOCH_ROW_BYTES + epoch->weight_count * sizeof(float) + epoch->checkpoint_size;
    if (!transaction_begin_storing(self, false, bytes, error))
        return false;
    bool ok = STATEMENT_EXECUTE(writer, error, "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?)",
                                "tzrrr", run_id, metrics->epoch, metrics->train_loss, metrics->test_accuracy,
                                metrics->seconds) &&
              STATEMENT_EXECUTE(
                  writer, error,
                  "UPDATE runs SET attempts = 0, progress_done = ?, progress_total = ?, size_bytes = ?"
                  " WHERE id = ?",
                  "zzzt", epoch->progress_done, epoch->progress_total, stored_size(epoch), run_id);
    if (ok && epoch->weight_count > 0)
        ok = save_weights(writer, run_id, epoch, error);
    if (ok && epoch->checkpoint_size > 0)
        ok = STATEMENT_EXECUTE(writer, error, "INSERT OR REPLACE INTO checkpoints VALUES (?, ?)", "tb",
                               run_id, epoch->checkpoint, epoch->checkpoint_size);
    ok = ok && sqlite_events_insert(writer, events, event_count, error);
    return transaction_end(self, ok, error);
}

static double column_real(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN
                                                                 : sqlite3_column_double(statement, column);
}

static bool read_metrics(sqlite3_stmt *row, void *record, struct error *error) {
    struct epoch_metrics *metrics = record;
    (void)error;
    metrics->epoch = (size_t)sqlite3_column_int64(row, 0);
    metrics->train_loss = column_real(row, 1);
    metrics->test_accuracy = column_real(row, 2);
    metrics->seconds = column_real(row, 3);
    return true;
}

static const struct row_kind metrics_rows = {sizeof(struct epoch_metrics), read_metrics, NULL};

static bool store_read_metrics(struct store *store, const char *run_id, struct epoch_metrics **rows,
                               size_t *count, struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->bulk_reader;
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = statement_bind(reader, error,
                                             "SELECT epoch, train_loss, test_accuracy, seconds FROM metrics"
                                             " WHERE run = ? ORDER BY epoch",
                                             "t", run_id);
    struct row_list list = statement_list(reader, statement, &metrics_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *rows = list.items;
    *count = list.count;
    return ok;
}

static bool read_epoch(sqlite3_stmt *row, void *record, struct error *error) {
    (void)error;
    *(size_t *)record = (size_t)sqlite3_column_int64(row, 0);
    return true;
}

static const struct row_kind epoch_rows = {sizeof(size_t), read_epoch, NULL};

static bool store_list_epochs_kept(struct store *store, const char *run_id, size_t **epochs, size_t *count,
                                   struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->reader;
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement =
        statement_bind(reader, error, "SELECT epoch FROM weights WHERE run = ? ORDER BY epoch", "t", run_id);
    struct row_list list = statement_list(reader, statement, &epoch_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *epochs = list.items;
    *count = list.count;
    return ok;
}

static bool store_read_weights(struct store *store, const char *run_id, size_t epoch, size_t *found,
                               float **weights, size_t *count, struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->bulk_reader;
    bool ok = true, any = epoch == STORE_LAST_EPOCH;
    void *bytes = NULL;
    size_t size = 0;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = statement_bind(reader, error,
                                             "SELECT epoch, bytes FROM weights WHERE run = ?1 AND"
                                             " (?2 OR epoch = ?3) ORDER BY epoch DESC LIMIT 1",
                                             "tii", run_id, (int64_t)any, any ? 0 : (int64_t)epoch);
    while (statement_next(reader, statement, &ok, error)) {
        *found = (size_t)sqlite3_column_int64(statement, 0);
        bytes = column_blob(statement, 1, &size, &ok, error);
    }
    pthread_mutex_unlock(&reader->mutex);
    if (ok && bytes == NULL)
        ok = any ? error_set(error, ERROR_MISSING, "this run has no stored weights")
                 : error_set(error, ERROR_MISSING, "the weights of epoch %zu are not stored", epoch);
    *weights = bytes;
    *count = size / sizeof(float);
    return ok;
}

static bool store_read_checkpoint(struct store *store, const char *run_id, void **bytes, size_t *size,
                                  struct error *error) {
    return row_read_blob(&sqlite_store_of(store)->bulk_reader, "SELECT bytes FROM checkpoints WHERE run = ?",
                         run_id, bytes, size, error);
}

void sqlite_epochs_install(struct store *store) {
    store->save_epoch = store_save_epoch;
    store->read_metrics = store_read_metrics;
    store->list_epochs_kept = store_list_epochs_kept;
    store->read_weights = store_read_weights;
    store->read_checkpoint = store_read_checkpoint;
}
