/* Chooses the format of an answer: see export.h. */
#include "server/http/export.h"

#include "server/http/accept.h"

#include <string.h>

const struct export export_json[] = {{.format = FORMAT_JSON}, {0}};

const struct export *export_find(const struct export *list, const char *suffix) {
    for (const struct export *one = list; one->format != FORMAT_NONE; one++)
        if (strcmp(format_table[one->format].suffix, suffix) == 0)
            return one;
    return NULL;
}

const struct export *export_choose(const struct export *list, const struct export *usual,
                                   const char *accept) {
    const struct export *chosen = usual;
    for (const struct export *one = list; one->format != FORMAT_NONE; one++) {
        const struct format_kind *kind = &format_table[one->format];
        if (one != usual && kind->is_negotiable &&
            accept_prefers(accept, kind->media_type, format_table[chosen->format].media_type))
            chosen = one;
    }
    return chosen;
}
