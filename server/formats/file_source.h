/* The data source of the command line: files in a directory, and data sets given as paths of files. */
#ifndef ATTNLAB_SERVER_FORMATS_FILE_SOURCE_H
#define ATTNLAB_SERVER_FORMATS_FILE_SOURCE_H

#include "core/tasks/data_source.h"

/* `directory` is borrowed; it contains the weights and images. */
struct data_source file_source(const char *directory);

#endif
