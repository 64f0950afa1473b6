/* The table of statuses: see status.h. */
#include "server/http/status.h"

const struct status status_table[STATUS_COUNT] = {
    {200, "OK"},
    {201, "Created"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {503, "Service Unavailable"},
    {500, "Internal Server Error"},
};

size_t status_find(unsigned code) {
    size_t index = 0;
    while (index < STATUS_COUNT - 1 && status_table[index].code != code)
        index++;
    return index;
}
