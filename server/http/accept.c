/* Reads an Accept header range by range: see accept.h. */
#include "server/http/accept.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MATCH_NONE, MATCH_ANY, MATCH_SUBTYPES, MATCH_EXACT };

/* How much the client wants a media type, according to the range that matches it most exactly. */
struct wish {
    int match;
    double weight;
    const char *place; /* the position of that range in the header */
};

/* How exactly the range, of `length` bytes and without parameters, matches the type. */
static int match_range(const char *range, size_t length, const char *type) {
    size_t family = strcspn(type, "/") + 1;
    if (length == strlen(type) && strncasecmp(range, type, length) == 0)
        return MATCH_EXACT;
    if (length == family + 1 && range[family] == '*' && strncasecmp(range, type, family) == 0)
        return MATCH_SUBTYPES;
    return length == strlen("*/*") && strncmp(range, "*/*", length) == 0 ? MATCH_ANY : MATCH_NONE;
}

/* The weight in a range's parameters, ";q=0.5"; 1 if there is none. */
static double read_weight(const char *parameters, size_t length) {
    const char *end = parameters + length;
    for (const char *at = parameters; at < end; at++) {
        if (*at != ';')
            continue;
        const char *name = at + 1 + strspn(at + 1, " \t");
        if (strncasecmp(name, "q=", 2) == 0)
            return strtod(name + 2, NULL);
    }
    return 1;
}

static struct wish find_wish(const char *accept, const char *type) {
    struct wish wish = {0};
    for (const char *range = accept; *range;) {
        range += strspn(range, ", \t");
        size_t size = strcspn(range, ",");
        size_t length = strcspn(range, ",; \t");
        int match = match_range(range, length, type);
        if (match > wish.match)
            wish = (struct wish){match, read_weight(range + length, size - length), range};
        range += size;
    }
    return wish;
}

bool accept_prefers(const char *accept, const char *type, const char *usual) {
    if (!accept)
        return false;
    struct wish wish = find_wish(accept, type), other = find_wish(accept, usual);
    if (wish.match == MATCH_NONE || !(wish.weight > 0) || wish.weight < other.weight)
        return false;
    if (wish.weight > other.weight)
        return true;
    return wish.match > other.match || (wish.match == other.match && wish.place < other.place);
}
