/* The tasks that are drawn rather than given by a user. */
#ifndef ATTNLAB_SERVER_API_DATASETS_H
#define ATTNLAB_SERVER_API_DATASETS_H

struct drawn_dataset {
    const char *name, *kind, *summary;
};
extern const struct drawn_dataset drawn_datasets[]; /* ends with a NULL name */

#endif
