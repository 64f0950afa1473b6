/* The page's files: inside the program, or from the folder given with --web. */
#ifndef ATTNLAB_SERVER_HTTP_ASSETS_H
#define ATTNLAB_SERVER_HTTP_ASSETS_H

#include "server/http/response.h"

/* One file inside the program; the table is made by server/http/embed_assets.sh at build time. */
struct asset {
    const char *path; /* "/index.html" */
    const unsigned char *begin, *end;
    const char *etag; /* of the contents, in quotes */
};
extern const struct asset embedded_assets[];
extern const size_t embedded_asset_count;

/* Whether there is such a file. `folder` NULL: only inside the program. "/" is the index. */
bool assets_find(const char *folder, const char *path);
/* Answers with the file, or with 304 where `if_none_match` names its ETag; false where there is no such file.
 */
bool assets_answer(const char *folder, const char *path, const char *if_none_match,
                   struct response *response);

#endif
