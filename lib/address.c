/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses by getaddrinfo(), with flags that forbid it to resolve a name. */
#include "lib/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "lib/be.h"

enum { PORT_TEXT = 8, MAPPED = 12, SITE = 8 };

/* Prefix of an IPv4 address in its mapped form: RFC 4291, section 2.5.5.2. */
static const uint8_t mapped_prefix[MAPPED] = {[10] = 0xFF, [11] = 0xFF};

/* Splits "10.0.0.1:1", "[::1]:1", "10.0.0.1", "::1". */
static bool address_split(const char *text, char host[STREAM_PEER_SIZE], char port[PORT_TEXT])
{
	const char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');
	size_t length = strlen(text);

	if (text[0] == '[') {
		if (!bracket || (bracket[1] && bracket[1] != ':'))
			return false;
		colon = bracket[1] ? bracket + 1 : NULL;
		length = (size_t)(bracket - text) - 1;
		text++;
	} else if (colon && strchr(text, ':') == colon) {
		length = (size_t)(colon - text);
	} else {
		colon = NULL; /* no colon, or several: the whole text is the host */
	}
	if (length >= STREAM_PEER_SIZE || (colon && (!colon[1] || strlen(colon + 1) >= PORT_TEXT)))
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	if (colon)
		snprintf(port, PORT_TEXT, "%s", colon + 1);
	return true;
}

int address_resolve(const char *text, uint16_t port, bool passive, struct addrinfo **out,
		    char why[STREAM_WHY_SIZE])
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV |
					     (passive ? AI_PASSIVE : 0)};
	char host_text[STREAM_PEER_SIZE], port_text[PORT_TEXT];

	snprintf(port_text, sizeof(port_text), "%u", port);
	if (address_split(text, host_text, port_text) &&
	    !getaddrinfo(host_text, port_text, &hints, out))
		return 0;
	snprintf(why, STREAM_WHY_SIZE,
		 "\"%.80s\" is no numeric address, such as 10.0.0.1:%u or [fd00::1]:%u", text, port,
		 port);
	return -EINVAL;
}

bool address_is_numeric(const char *text, char why[STREAM_WHY_SIZE])
{
	struct addrinfo *found;

	if (address_resolve(text, 1, false, &found, why))
		return false;
	freeaddrinfo(found);
	return true;
}

void address_describe(const struct sockaddr *address, socklen_t size, char text[STREAM_PEER_SIZE])
{
	char host[48] = "?", port[PORT_TEXT] = "?";

	getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, STREAM_PEER_SIZE, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* Hosts */

struct host host_of(const struct sockaddr *address)
{
	struct host host = {{0}};

	if (address->sa_family == AF_INET6) {
		memcpy(host.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
		       sizeof(host.bytes));
	} else if (address->sa_family == AF_INET) {
		memcpy(host.bytes, mapped_prefix, MAPPED);
		memcpy(host.bytes + MAPPED,
		       &((const struct sockaddr_in *)(const void *)address)->sin_addr,
		       sizeof(struct in_addr));
	}
	return host;
}

bool host_parse(const char *text, struct host *out)
{
	char why[STREAM_WHY_SIZE];
	struct addrinfo *found;

	if (address_resolve(text, 1, false, &found, why))
		return false;
	*out = host_of(found->ai_addr);
	freeaddrinfo(found);
	return true;
}

static bool is_mapped(const struct host *host)
{
	return memcmp(host->bytes, mapped_prefix, MAPPED) == 0;
}

bool host_same(const struct host *a, const struct host *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool host_same_site(const struct host *a, const struct host *b)
{
	return is_mapped(a) ? host_same(a, b)
			    : !is_mapped(b) && memcmp(a->bytes, b->bytes, SITE) == 0;
}

bool host_is_loopback(const struct host *host)
{
	static const uint8_t six[sizeof(host->bytes)] = {[15] = 1};

	return is_mapped(host) ? host->bytes[MAPPED] == 127
			       : memcmp(host->bytes, six, sizeof(six)) == 0;
}

bool host_is_any(const struct host *host)
{
	static const uint8_t zero[sizeof(host->bytes)];
	size_t from = is_mapped(host) ? MAPPED : 0;

	return memcmp(host->bytes + from, zero, sizeof(zero) - from) == 0;
}

struct host host_of_guid(uint64_t guid)
{
	struct host host = {.bytes = {0xFF}};

	be64_store(host.bytes + 8, guid);
	return host;
}

bool host_is_port(const struct host *host)
{
	const struct host none = host_of_guid(0);

	return !memcmp(host->bytes, none.bytes, 8);
}
