/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numeric addresses of TCP, as "10.0.0.1:15725" or "[fd00::1]": names would have to be resolved by
 * a server that is not trusted. No state, any thread.
 */
#ifndef LIB_ADDRESS_H
#define LIB_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/stream.h"

/* The IP address of a host, without a port: of IPv6, or of IPv4 in its mapped form. */
struct host {
	uint8_t bytes[16];
};

/* port: for a text without one. passive: to listen there. 0, and *out for freeaddrinfo(); or
 * -EINVAL, and in why what an address looks like. */
int address_resolve(const char *text, uint16_t port, bool passive, struct addrinfo **out,
		    char why[STREAM_WHY_SIZE]);
/* Whether text is an address, with or without a port; else why it is none. */
bool address_is_numeric(const char *text, char why[STREAM_WHY_SIZE]);
/* The address and the port, for people. */
void address_describe(const struct sockaddr *address, socklen_t size, char text[STREAM_PEER_SIZE]);

struct host host_of(const struct sockaddr *address);
/* False, and *out untouched: text is no address. */
bool host_parse(const char *text, struct host *out);
bool host_same(const struct host *a, const struct host *b);
/* Whether both may well be one host, which counts as one: a host of IPv6 has all of its /64 network
 * (RFC 4291, section 2.5.1; RFC 8981). */
bool host_same_site(const struct host *a, const struct host *b);
bool host_is_loopback(const struct host *host);
bool host_is_any(const struct host *host); /* 0.0.0.0 or :: */

#endif
