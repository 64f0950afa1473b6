/* Splits an address from its port: see address.h. */
#include "server/system/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool address_split(const char *text, char *host, size_t host_size, char *port, size_t port_size) {
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text)
        return false;
    char *end;
    long number = strtol(colon + 1, &end, 10);
    bool is_bracketed = *text == '[' && colon[-1] == ']';
    size_t length = (size_t)(colon - text) - (is_bracketed ? 2 : 0);
    if (end == colon + 1 || *end || number < 0 || number > 65535 || length == 0 || length >= host_size ||
        (!is_bracketed && memchr(text, ':', length)))
        return false;
    snprintf(host, host_size, "%.*s", (int)length, text + (is_bracketed ? 1 : 0));
    snprintf(port, port_size, "%ld", number);
    return true;
}
