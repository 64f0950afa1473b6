/* Copies and clears the records that every store returns. */
#include "server/store/store.h"

#include <stdlib.h>
#include <string.h>

size_t run_record_row_bytes(const struct run_record *record) {
    size_t length = record->parameters_json != NULL ? strlen(record->parameters_json) : 0;
    return length > RUN_ROW_BYTES ? length : RUN_ROW_BYTES;
}

bool run_record_lacks_result(const struct run_record *record) {
    return record->state == RUN_SUCCEEDED && record->result_json == NULL;
}

bool result_is_large(const char *result_json) {
    return result_json != NULL && strlen(result_json) > SMALL_RESULT_MAXIMUM;
}

bool run_record_set_state(struct run_record *record, enum run_state next, struct error *error) {
    if (!run_state_may_follow(record->state, next))
        return error_set(error, ERROR_INTERNAL, "a run that is %s cannot become %s",
                         run_state_name(record->state), run_state_name(next));
    record->state = next;
    return true;
}

void run_record_drop_large(struct run_record *record) {
    if (!result_is_large(record->parameters_json))
        return;
    free(record->parameters_json);
    record->parameters_json = NULL;
}

void run_record_clear(struct run_record *record) {
    free(record->experiment);
    free(record->name);
    free(record->parameters_json);
    free(record->dataset_digest);
    free(record->result_json);
    free(record->error);
    free(record->owner);
    *record = (struct run_record){0};
}

void run_records_free(struct run_record *records, size_t count) {
    for (size_t i = 0; i < count; i++)
        run_record_clear(&records[i]);
    free(records);
}

/* Copies a text that may be NULL; clears *ok if memory runs out. */
static char *text_copy(const char *text, bool *ok) {
    if (text == NULL)
        return NULL;
    char *copy = strdup(text);
    if (copy == NULL)
        *ok = false;
    return copy;
}

bool run_record_copy(struct run_record *copy, const struct run_record *record, struct error *error) {
    bool ok = true;
    *copy = *record;
    copy->experiment = text_copy(record->experiment, &ok);
    copy->name = text_copy(record->name, &ok);
    copy->parameters_json = text_copy(record->parameters_json, &ok);
    copy->dataset_digest = text_copy(record->dataset_digest, &ok);
    copy->result_json = text_copy(record->result_json, &ok);
    copy->error = text_copy(record->error, &ok);
    copy->owner = text_copy(record->owner, &ok);
    if (ok)
        return true;
    run_record_clear(copy);
    return error_set_memory(error, sizeof *record);
}

void comparison_record_clear(struct comparison_record *record) {
    free(record->experiment);
    free(record->name);
    free(record->labels_json);
    free(record->seeds_json);
    free(record->owner);
    *record = (struct comparison_record){0};
}

void dataset_record_clear(struct dataset_record *record) {
    free(record->owner);
    *record = (struct dataset_record){0};
}
