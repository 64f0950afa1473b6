/* What the routes share that answer from the weights which a run kept: the argument `epoch` and the list of
 * epochs. */
#ifndef ATTNLAB_SERVER_API_SNAPSHOTS_H
#define ATTNLAB_SERVER_API_SNAPSHOTS_H

#include "server/api/api.h"

/* Reads a whole number, or `word`, which stands for `word_value`. Returns false with a fault otherwise. */
bool api_read_number_or_word(const struct parameter_set *query, const char *name, const char *word,
                             size_t word_value, size_t *value, struct parameter_faults *faults);

/* Writes the member epochs_kept, a list of at most API_EPOCHS_BYTES. */
enum { API_EPOCHS_BYTES = 64 << 10 };
bool api_write_epochs_kept(struct service *service, struct text *text, const char *run_id,
                           struct error *error);

#endif
