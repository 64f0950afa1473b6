/* The data source of the command line: files of a directory, and data sets that are files given by their
 * path. */
#ifndef ATTNLAB_SERVER_FORMATS_FILE_SOURCE_H
#define ATTNLAB_SERVER_FORMATS_FILE_SOURCE_H

#include "core/tasks/data_source.h"

/* `directory` is borrowed; it is the folder with the weights and images. */
struct data_source file_source(const char *directory);

#endif
