/* What runs and data sets take on the disk. */
#ifndef ATTNLAB_SERVER_API_STORAGE_H
#define ATTNLAB_SERVER_API_STORAGE_H

#include "server/api/api.h"

/* Appends gauges of the disk, the database and the limits. */
void storage_write_prometheus(const struct service *service, struct text *text);

#endif
