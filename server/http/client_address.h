/* Where a request comes from: the address of the connection, or behind a proxy the one that the proxy saw. */
#ifndef ATTNLAB_SERVER_HTTP_CLIENT_ADDRESS_H
#define ATTNLAB_SERVER_HTTP_CLIENT_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

struct MHD_Connection;

/* "unknown" if it cannot be learnt. */
void client_address_write(struct MHD_Connection *connection, bool is_behind_proxy,
                          char address[INET6_ADDRSTRLEN]);
/* The same for all addresses that one client can easily take: of IPv6 the first 64 bits, which a network
 * gives to each of its machines; an IPv4 address as it is, also where it is written as an IPv6 one. */
void client_address_cut(char address[INET6_ADDRSTRLEN]);

#endif
