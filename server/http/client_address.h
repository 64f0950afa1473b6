/* The address that a request comes from: that of the connection, or behind a proxy the one the proxy saw. */
#ifndef ATTNLAB_SERVER_HTTP_CLIENT_ADDRESS_H
#define ATTNLAB_SERVER_HTTP_CLIENT_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

struct MHD_Connection;

/* Writes "unknown" if the address cannot be determined. */
void client_address_write(struct MHD_Connection *connection, bool is_behind_proxy,
                          char address[INET6_ADDRSTRLEN]);
/* Reduces an address to the part that one client cannot easily change. For IPv6 that is the first 64 bits,
 * because a network gives each of its machines a whole range of that size. An IPv4 address stays whole, even
 * when it is written as an IPv6 address. */
void client_address_cut(char address[INET6_ADDRSTRLEN]);

#endif
