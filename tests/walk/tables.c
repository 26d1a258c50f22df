/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads unicast forwarding tables in the formats of OpenSM (opensm.fdbs) and the diagnostics
 * (dump_lfts, ibroute). Both have a headline with the GUID of a switch, and then lines that begin
 * with a LID. A port follows, after a colon or not. Other lines are comments and are ignored.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/walk/fabric.h"

enum { LINE_SIZE = 512, DECIMAL = 10, HEXADECIMAL = 16 };

struct reader {
	struct walk_fabric *fabric;
	struct walk_node *at; /* the switch of the present entries; NULL: none, or multicast */
	unsigned switches;
	const char *why;
};

/* The GUID after the first occurrence of mark. */
static bool guid_behind(const char *line, const char *mark, guid_t *guid)
{
	const char *found = strstr(line, mark);
	char *end;

	if (!found)
		return false;
	found += strlen(mark);
	*guid = strtoull(found, &end, HEXADECIMAL);
	return end > found;
}

static int begin_switch(struct reader *reader, const char *line, const char *mark)
{
	guid_t guid;

	if (!guid_behind(line, mark, &guid)) {
		reader->why = "no GUID names the switch";
		return -EINVAL;
	}
	reader->at = walk_node_by_guid(reader->fabric, guid);
	reader->switches++;
	if (reader->at && reader->at->is_switch)
		return 0;
	reader->why = "the fabric has no switch of this GUID";
	return -EINVAL;
}

static void make_room(struct walk_node *node, unsigned lid)
{
	unsigned size = (lid / LFT_BLOCK_LIDS + 1) * LFT_BLOCK_LIDS;

	if (size <= node->lft_size)
		return;
	node->lft = mem_resize(node->lft, size, 1);
	memset(node->lft + node->lft_size, LFT_NO_PORT, size - node->lft_size);
	node->lft_size = size;
}

/* "0x0001 : 003  : 02 : yes", "0x0001 003 : (...)"; "0x0001 : UNREACHABLE" has no port. */
static int take_entry(struct reader *reader, const char *line)
{
	char *end;
	unsigned long lid = strtoul(line, &end, HEXADECIMAL), port;
	const char *number;

	reader->why = "an entry is no LID and port";
	if (lid < LID_UNICAST_MIN || lid > LID_UNICAST_MAX || (*end != ' ' && *end != '\t'))
		return -EINVAL;
	number = end + strspn(end, " \t:");
	port = strtoul(number, &end, DECIMAL);
	if (end == number)
		port = LFT_NO_PORT;
	if (port > LFT_NO_PORT)
		return -EINVAL;
	make_room(reader->at, lid);
	reader->why = "this LID had another port before";
	if (reader->at->lft[lid] != LFT_NO_PORT && reader->at->lft[lid] != port)
		return -EINVAL;
	reader->at->lft[lid] = port;
	return 0;
}

static int take_line(struct reader *reader, const char *line)
{
	static const char unicast[] = "Unicast lids ", routes[] = "dump_ucast_routes: ";
	static const char multicast[] = "Multicast mlids ";

	if (!strncmp(line, unicast, strlen(unicast)))
		return begin_switch(reader, line, " guid 0x");
	if (!strncmp(line, routes, strlen(routes)))
		return begin_switch(reader, line, "Switch 0x");
	if (!strncmp(line, multicast, strlen(multicast)))
		reader->at = NULL;
	return reader->at && !strncmp(line, "0x", 2) ? take_entry(reader, line) : 0;
}

int walk_read_tables(struct walk_fabric *fabric, const char *name, const char *text, size_t length,
		     char error[WALK_ERROR_SIZE])
{
	struct reader reader = {.fabric = fabric};
	const char *end = text + length;
	unsigned number = 1;

	for (const char *at = text; at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);
		char line[LINE_SIZE];
		size_t kept = size < sizeof(line) ? size : sizeof(line) - 1;

		memcpy(line, at, kept);
		line[kept] = '\0';
		if (take_line(&reader, line)) {
			snprintf(error, WALK_ERROR_SIZE, "%s:%u: %s", name, number, reader.why);
			return -EINVAL;
		}
		at += size + 1;
	}
	if (reader.switches)
		return 0;
	snprintf(error, WALK_ERROR_SIZE, "%s: contains no table of a switch", name);
	return -EINVAL;
}
