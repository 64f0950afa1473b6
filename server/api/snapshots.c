/* The epochs that a run kept: see snapshots.h. */
#include "server/api/snapshots.h"

#include "core/parameters/parse.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>
#include <string.h>

bool api_read_number_or_word(const struct parameter_set *query, const char *name, const char *word,
                             size_t word_value, size_t *value, struct parameter_faults *faults) {
    const char *given = parameter_text(query, name);
    if (strcmp(given, word) == 0) {
        *value = word_value;
        return true;
    }
    int64_t number;
    bool is_number = parameter_parse_integer(given, &number) && number >= 0 && number <= 1000000000;
    *value = is_number ? (size_t)number : 0;
    if (!is_number) {
        parameter_faults_add(faults, name, "must be a whole number or %s; got \"%.40s\"", word, given);
        return false;
    }
    return true;
}

bool api_write_epochs_kept(struct service *service, struct text *text, const char *run_id,
                           struct error *error) {
    size_t *epochs = NULL;
    size_t count = 0;
    if (!service->store->list_epochs_kept(service->store, run_id, &epochs, &count, error))
        return false;
    json_write_begin_array(text, "epochs_kept");
    for (size_t i = 0; i < count; i++)
        json_write_integer(text, NULL, (int64_t)epochs[i]);
    json_write_end_array(text);
    free(epochs);
    return true;
}
