/* Runs and comparisons as the API shows them. */
#ifndef ATTNLAB_SERVER_RUNS_JSON_H
#define ATTNLAB_SERVER_RUNS_JSON_H

#include "server/formats/text.h"
#include "server/runs/comparison_view.h"
#include "server/store/store.h"

/* The run as the API shows it, as a value inside other JSON. Where the record lacks its result, that is null
 * and "result_omitted" true. `may_delete`: whether who asks may cancel and delete the run; NULL in events,
 * which all get alike. */
void run_write_json(struct text *text, const char *key, const struct run_record *run, const bool *may_delete);
/* The same, in any case without a large result: in lists. */
void run_write_brief_json(struct text *text, const char *key, const struct run_record *run,
                          const bool *may_delete);
/* The same, as JSON text: what events tell. `length` may be NULL. Release with free(). */
char *run_to_brief_json(const struct run_record *run, size_t *length, struct error *error);

/* The comparison as the API shows it, as a value inside other JSON. */
void comparison_write_json(struct text *text, const char *key, const struct comparison_view *view,
                           bool may_delete);

#endif
