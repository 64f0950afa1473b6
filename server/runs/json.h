/* Runs and comparisons as JSON, for the API. */
#ifndef ATTNLAB_SERVER_RUNS_JSON_H
#define ATTNLAB_SERVER_RUNS_JSON_H

#include "server/formats/text.h"
#include "server/runs/comparison_view.h"
#include "server/store/store.h"

/* Writes a run as a value inside other JSON. If the record lacks its result, the result is null and
 * "result_omitted" true. `may_delete` says whether the caller may cancel and delete the run; it is NULL in
 * events, because all readers get the same ones. */
void run_write_json(struct text *text, const char *key, const struct run_record *run, const bool *may_delete);
/* Like run_write_json, but always without a large result or large parameters ("parameters_omitted" is then
 * true); for lists. */
void run_write_brief_json(struct text *text, const char *key, const struct run_record *run,
                          const bool *may_delete);
/* Bounds, in bytes, of what run_write_json and comparison_write_json write. */
size_t run_json_size(const struct run_record *run);
size_t comparison_json_size(const struct comparison_view *view);
/* Like run_write_brief_json, but returns JSON text; for events. `length` may be NULL. Release with free(). */
char *run_to_brief_json(const struct run_record *run, size_t *length, struct error *error);

/* Writes a comparison as a value inside other JSON. */
void comparison_write_json(struct text *text, const char *key, const struct comparison_view *view,
                           bool may_delete);

#endif
