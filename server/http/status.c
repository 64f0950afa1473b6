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
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {500, "Internal Server Error"},
};

size_t status_find(unsigned code) {
    size_t index = 0;
    while (index < STATUS_COUNT - 1 && status_table[index].code != code)
        index++;
    return index;
}
