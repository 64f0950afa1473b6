/* Tables as CSV (RFC 4180) and matrices as .npy. */
#ifndef ATTNLAB_SERVER_FORMATS_CSV_H
#define ATTNLAB_SERVER_FORMATS_CSV_H

#include "server/formats/text.h"

/* Appends a field, quoted if necessary. A text that a spreadsheet would take for a formula, and that is not a
 * number, gets a single quote before it. */
void csv_append_field(struct text *text, const char *field);
/* Appends a number, or an empty field if it is not finite. */
void csv_append_number(struct text *text, double value);
void csv_append_real(struct text *text, float value);
/* Ends the row. */
void csv_end_row(struct text *text);
/* Appends the comma between two fields. */
void csv_next_field(struct text *text);

/* NumPy's format, version 1.0: float32, C order, [rows][columns]. */
void npy_append_matrix(struct text *text, const float *values, size_t rows, size_t columns);

#endif
