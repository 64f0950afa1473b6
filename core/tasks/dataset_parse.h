/* Data sets from the user's CSV and TSV files. */
#ifndef ATTNLAB_CORE_TASKS_DATASET_PARSE_H
#define ATTNLAB_CORE_TASKS_DATASET_PARSE_H

#include "core/tasks/dataset.h"

/* Parses `size` bytes of CSV (RFC 4180: a header `text,label`, or numbers with a `label` column) or TSV
 * (`label<TAB>text` or `text<TAB>label`; a header line with these names is skipped). The bytes are UTF-8. A
 * byte order mark and CRLF are accepted, and empty lines skipped. A bad row is an ERROR_INVALID that names
 * its line. There must be at least two rows and two classes. Classes are numbered in numeric order if all are
 * whole numbers, else in byte order. Free with dataset_free.
 *
 * The whole file decides which column of a TSV file holds the labels. A column with more than
 * DATASET_CLASS_LIMIT distinct values, or with a value longer than DATASET_LABEL_BYTES, cannot. If both can,
 * it is the one with whole numbers, else the one with fewer distinct values, else the one with fewer bytes,
 * else the first. */
struct dataset *dataset_parse_csv(const char *bytes, size_t size, struct error *error);
struct dataset *dataset_parse_tsv(const char *bytes, size_t size, struct error *error);

#endif
