/* CSV fields and rows, and .npy: see csv.h. */
#include "server/formats/csv.h"

#include "server/formats/json_writer.h"

#include <math.h>
#include <string.h>

void csv_append_field(struct text *text, const char *field) {
    bool is_number = strspn(field, "+-") == 1 && field[1] && !field[1 + strspn(field + 1, "0123456789.")];
    bool is_formula = *field && strchr("=+-@\t\r", *field) && !is_number;
    if (!is_formula && !field[strcspn(field, ",\"\r\n")]) {
        text_append_string(text, field);
        return;
    }
    text_append_string(text, is_formula ? "\"'" : "\"");
    for (; *field; field++) {
        text_append(text, field, 1);
        if (*field == '"')
            text_append(text, field, 1);
    }
    text_append_string(text, "\"");
}

void csv_append_number(struct text *text, double value) {
    if (isfinite(value))
        text_append_number(text, value);
}

void csv_append_real(struct text *text, float value) {
    if (isfinite(value))
        text_append_real(text, value);
}

void csv_next_field(struct text *text) {
    text_append_string(text, ",");
}

void csv_end_row(struct text *text) {
    text_append_string(text, "\r\n");
}

void npy_append_matrix(struct text *text, const float *values, size_t rows, size_t columns) {
    enum { PREAMBLE = 10, ALIGNMENT = 64 };
    struct text header = {0};
    text_append_format(&header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows,
                       columns);
    while ((PREAMBLE + header.length + 1) % ALIGNMENT != 0 && !header.failed)
        text_append(&header, " ", 1);
    text_append(&header, "\n", 1);
    const unsigned char preamble[PREAMBLE] = {0x93,
                                              'N',
                                              'U',
                                              'M',
                                              'P',
                                              'Y',
                                              1,
                                              0,
                                              (unsigned char)(header.length & 255),
                                              (unsigned char)(header.length >> 8)};
    text_append(text, preamble, sizeof preamble);
    text_append(text, header.bytes ? header.bytes : "", header.length);
    text_append(text, values, rows * columns * sizeof *values);
    text->failed |= header.failed;
    text_free(&header);
}
