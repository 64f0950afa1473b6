/* Answers a request with the handler's result, in the format that the path or the Accept header chose. */
#ifndef ATTNLAB_SERVER_HTTP_ANSWER_H
#define ATTNLAB_SERVER_HTTP_ANSWER_H

#include "server/http/request.h"

/* Returns false if writing failed; the response is then an error. */
bool answer_export(struct request *request, const void *shown);

#endif
