/* Reads a list of entity tags: see conditional.h. */
#include "server/http/conditional.h"

#include <string.h>

bool conditional_matches(const char *if_none_match, const char *etag) {
    const char *at = if_none_match + strspn(if_none_match, " \t");
    if (*at == '*')
        return at[1 + strspn(at + 1, " \t")] == '\0';
    while (etag) {
        at += strspn(at, ", \t");
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (*at != '"')
            return false;
        size_t length = strcspn(at + 1, "\"") + 2;
        if (length == strlen(etag) && strncmp(at, etag, length) == 0)
            return true;
        if (strlen(at) < length)
            return false;
        at += length;
    }
    return false;
}
