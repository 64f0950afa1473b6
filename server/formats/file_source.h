/* A data source without a service: files of a directory, and data sets that are files named by their path. */
#ifndef ATTNLAB_SERVER_FORMATS_FILE_SOURCE_H
#define ATTNLAB_SERVER_FORMATS_FILE_SOURCE_H

#include "core/tasks/data_source.h"

/* `directory` is borrowed, and must be where weights and images lie. */
struct data_source file_source(const char *directory);

#endif
