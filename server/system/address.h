/* Addresses to listen on, as users write them. */
#ifndef ATTNLAB_SERVER_SYSTEM_ADDRESS_H
#define ATTNLAB_SERVER_SYSTEM_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Splits "address:port" or "[address]:port"; false if the text does not have that form. */
bool address_split(const char *text, char *host, size_t host_size, char *port, size_t port_size);

#endif
