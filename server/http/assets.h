/* The page's files: built into the program, or read from the folder given with --web. */
#ifndef ATTNLAB_SERVER_HTTP_ASSETS_H
#define ATTNLAB_SERVER_HTTP_ASSETS_H

#include "server/http/response.h"

/* One built-in file. server/http/embed_assets.sh makes the table at build time. */
struct asset {
    const char *path; /* "/index.html" */
    const unsigned char *begin, *end;
    const char *etag; /* of the contents, with its quotes */
};
extern const struct asset embedded_assets[];
extern const size_t embedded_asset_count;

/* Whether the file exists. If `folder` is NULL, looks only at the built-in files. "/" is the index. */
bool assets_find(const char *folder, const char *path);
/* Answers with the file. Returns false if there is no such file. */
bool assets_answer(const char *folder, const char *path, struct response *response);

#endif
