/* Prints a result for people at a terminal: each scalar on a line, lists of objects and matrices as
 * tables. */
#ifndef ATTNLAB_SERVER_FORMATS_READABLE_H
#define ATTNLAB_SERVER_FORMATS_READABLE_H

#include <jansson.h>
#include <stdio.h>

void readable_print(FILE *file, const json_t *result);

#endif
