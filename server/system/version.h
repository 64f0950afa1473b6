/* The version that --version and GET /api/health show. */
#ifndef ATTNLAB_SERVER_SYSTEM_VERSION_H
#define ATTNLAB_SERVER_SYSTEM_VERSION_H

#define ATTNLAB_VERSION "0.2.0"

#endif
