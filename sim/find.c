/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Names of nodes and ports. A name in the net file takes precedence over other meanings, so that a
 * node called "12" or "a:1" can be named. Used for the words of users, not for packets.
 */
#include "sim/find.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suggest.h"
#include "sim/hca.h"
#include "sim/world_parts.h"

enum { NAME_MAX_SIZE = 128 };

/* A text of digits only, for strtoul() without sign and blanks. */
static bool find_number(const char *text, int base, uint64_t most, uint64_t *out)
{
	char *end;
	uint64_t value;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, base);
	if (*end || errno || value > most)
		return false;
	*out = value;
	return true;
}

const char *find_name(const struct device *device)
{
	return world_node_of(device)->id;
}

static struct device *by_lid(const struct world *world, lid_t lid)
{
	for (size_t i = 0; i < world->count; i++) {
		struct device *device = world->devices[i];

		for (unsigned p = 0; p <= device->num_ports; p++)
			if (device_port(device, p) && device_port_is_end(&device->port[p]) &&
			    device_port_has_lid(&device->port[p], lid))
				return device;
	}
	return NULL;
}

/* An adapter's port GUID also gives the port; other names leave *port unchanged. */
static struct device *find_by_guid(const struct world *world, guid_t guid, int *port)
{
	struct device *device = world_device_by_guid(world, guid);

	for (size_t i = 0; i < world->count && !device; i++) {
		for (unsigned p = 1; p <= world->devices[i]->num_ports && !device; p++) {
			const struct device_port *end = &world->devices[i]->port[p];

			if (device_port_is_end(end) && end->guid == guid) {
				device = world->devices[i];
				*port = (int)p;
			}
		}
	}
	return device;
}

static struct device *node_by(const struct world *world, const char *text, int *port)
{
	struct device *device = world_device(world, text);
	uint64_t number;

	if (device)
		return device;
	if (!strncmp(text, "0x", 2) && find_number(text + 2, 16, UINT64_MAX, &number))
		return find_by_guid(world, number, port);
	return find_number(text, 10, LID_UNICAST_MAX, &number) && number ? by_lid(world, number)
									 : NULL;
}

/* The number of nodes with this description. */
static unsigned described(const struct world *world, const char *text)
{
	unsigned count = 0;

	for (size_t i = 0; i < world->count; i++)
		count += !strncmp((const char *)hca_description(world->devices[i])->text, text,
				  NODE_DESC_SIZE);
	return count;
}

/* Ids of the file are unique; a description may belong to several nodes. */
static int only_one(const struct world *world, const struct device *device, const char *text,
		    char *error)
{
	unsigned count = strcmp(find_name(device), text) ? described(world, text) : 1;

	if (count <= 1)
		return 0;
	snprintf(
		error, FIND_ERROR_SIZE,
		"%u nodes have the name \"%.80s\"; say which by its GUID, or as the net file calls "
		"it, such as %.80s",
		count, text, find_name(device));
	return -ENOENT;
}

static int find_device(const struct world *world, const char *text, struct device **out, int *port,
		       char *error)
{
	struct suggest suggest = suggest_for(text);
	struct device *device = node_by(world, text, port);
	int r;

	if (device) {
		r = only_one(world, device, text, error);
		if (!r)
			*out = device;
		return r;
	}
	for (size_t i = 0; i < world->count; i++)
		suggest_try(&suggest, world->nodes[i].id);
	snprintf(error, FIND_ERROR_SIZE,
		 suggest.best ? "no node has the name, GUID or LID \"%.80s\"; did you mean %s?"
			      : "no node has the name, GUID or LID \"%.80s\"",
		 text, suggest.best);
	return -ENOENT;
}

int find_node(const struct world *world, const char *text, struct device **out,
	      char error[FIND_ERROR_SIZE])
{
	int port;

	return find_device(world, text, out, &port, error);
}

static struct device *first_adapter(const struct world *world)
{
	for (size_t i = 0; i < world->count; i++) {
		if (!device_is_switch(world->devices[i]))
			return world->devices[i];
	}
	return NULL;
}

int find_port(struct device *device, const char *text, struct device_port **out,
	      char error[FIND_ERROR_SIZE])
{
	unsigned first = device_is_switch(device) ? 0 : 1;
	uint64_t number;

	if (find_number(text, 10, device->num_ports, &number) && number >= first) {
		*out = &device->port[number];
		return 0;
	}
	snprintf(error, FIND_ERROR_SIZE, "%s has no port \"%.20s\"; its ports are %u to %u",
		 find_name(device), text, first, device->num_ports);
	return -ENOENT;
}

/* The part after the last colon is a port, unless the whole text is a name. */
int find_place(const struct world *world, const char *text, struct device **out, int *port,
	       char error[FIND_ERROR_SIZE])
{
	const char *colon = strrchr(text, ':');
	char name[NAME_MAX_SIZE];
	struct device_port *end;
	struct device *device = *text ? NULL : first_adapter(world);
	int r = 0, number = -1;

	if (!colon || (size_t)(colon - text) >= sizeof(name) || node_by(world, text, &number)) {
		if (!device)
			r = find_device(world, text, &device, &number, error);
		if (!r) {
			*out = device;
			*port = number;
		}
		return r;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	r = find_node(world, name, &device, error);
	if (!r)
		r = find_port(device, colon + 1, &end, error);
	if (r)
		return r;
	if (!device_port_is_end(end)) {
		snprintf(error, FIND_ERROR_SIZE,
			 "port %u of %s is a switch's external port, at which nothing sits; name "
			 "the switch alone",
			 end->num, name);
		return -ENOENT;
	}
	*out = device;
	*port = end->num;
	return 0;
}

int find_end_port(const struct world *world, const char *text, struct device_port **out,
		  char error[FIND_ERROR_SIZE])
{
	struct device *device;
	int port;
	int r = find_place(world, text, &device, &port, error);

	if (r)
		return r;
	if (port < 0)
		port = device_is_switch(device) ? 0 : 1;
	*out = &device->port[port];
	return 0;
}
