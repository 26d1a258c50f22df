/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numeric TCP addresses, such as "10.0.0.1:15725" or "[fd00::1]". Names are refused, because they
 * would depend on a name server that is not trusted. No state, any thread.
 */
#ifndef LIB_ADDRESS_H
#define LIB_ADDRESS_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/stream.h"

/* The IP address of a host without the port. An IPv4 address is in its IPv4-mapped IPv6 form. */
struct host {
	uint8_t bytes[16];
};

/* Parses an address for getaddrinfo()'s callers. port applies to a text without a port; passive is
 * for an address to listen on. Returns 0, and *out for freeaddrinfo(); or -EINVAL, and why has the
 * expected form. */
int address_resolve(const char *text, uint16_t port, bool passive, struct addrinfo **out,
		    char why[STREAM_WHY_SIZE]);
/* Whether text is an address, with or without a port. If false, why has the reason. */
bool address_is_numeric(const char *text, char why[STREAM_WHY_SIZE]);
/* Writes "ADDRESS:PORT" for logs and listings. */
void address_describe(const struct sockaddr *address, socklen_t size, char text[STREAM_PEER_SIZE]);

/* The host of a socket address, without its port. All zero if the family is neither IPv4 nor
 * IPv6. */
struct host host_of(const struct sockaddr *address);
/* Returns false and leaves *out untouched if text is no address. */
bool host_parse(const char *text, struct host *out);
/* A port of the fabric in the form of a host, ff00::GUID: no host has a multicast address. */
struct host host_of_guid(uint64_t guid);
/* Whether it is a port of the fabric in this form. */
bool host_is_port(const struct host *host);
/* Compares the addresses only: an IPv4 address equals its IPv4-mapped form. */
bool host_same(const struct host *a, const struct host *b);
/* Whether both addresses count as one host: an IPv6 host may use all of its /64 network (RFC 4291,
 * section 2.5.1; RFC 8981). */
bool host_same_site(const struct host *a, const struct host *b);
/* 127.0.0.0/8 or ::1. */
bool host_is_loopback(const struct host *host);
bool host_is_any(const struct host *host); /* 0.0.0.0 or :: */

#endif
