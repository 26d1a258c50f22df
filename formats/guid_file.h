/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * OpenSM's files for routing engines: lists of GUIDs (root_guid_file, cn_guid_file, io_guid_file,
 * guid_routing_order_file), and GUIDs with numbers (hop_weights_file, port_search_ordering_file,
 * port_prof_ignore_file). Also its dumps of forwarding tables (lfts_file, opensm.fdbs), the routers
 * of other subnets (prefix_routes_file), its M_Keys (guid2mkey), and names of nodes
 * (node_name_map_name).
 *
 * Texts in, arrays out; no knowledge of a fabric. A line that cannot be parsed is an error with its
 * number: if a mistyped root were ignored, other routes would follow without a warning.
 */
#ifndef FORMATS_GUID_FILE_H
#define FORMATS_GUID_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/cursor.h"
#include "include/iba.h"

/* One GUID a line, hexadecimal with or without 0x; empty lines and comments after # are ignored. On
 * success the caller frees the array. -EINVAL: *error is "name:line: reason", for free(). */
int guid_file_parse(const char *name, const char *text, size_t length, guid_t **guids,
		    uint32_t *count, char **error);

/* A line of a GUID and small numbers, such as ports. */
struct guid_row {
	guid_t guid;
	uint8_t count;
	uint8_t number[UINT8_MAX];
};

/* Lines of a GUID and from least to most numbers, decimal, 1 to 254; wanted describes the line in
 * an error. Otherwise as above; rows are in the order of the file. */
int guid_rows_parse(const char *name, const char *text, size_t length, unsigned least,
		    unsigned most, const char *wanted, struct guid_row **rows, uint32_t *count,
		    char **error);

/* A line of prefix_routes_file: the router for packets to subnets with this prefix. */
struct prefix_row {
	uint64_t prefix;
	guid_t router; /* PortGUID */
	bool any_prefix, any_router;
};

/* Lines of a subnet prefix and the GUID of a router's port, hexadecimal, or * for any. Otherwise as
 * above. */
int prefix_rows_parse(const char *name, const char *text, size_t length, struct prefix_row **rows,
		      uint32_t *count, char **error);

/* A line of a node-name map. */
struct name_row {
	guid_t guid; /* of the node */
	struct piece name;
};

/* Lines of a GUID and a name, in quotes or up to the end or a #; names are pieces of the text,
 * NODE_DESC_SIZE bytes at most, without control characters. Otherwise as above. */
int name_rows_parse(const char *name, const char *text, size_t length, struct name_row **rows,
		    uint32_t *count, char **error);

/* A line of guid2mkey, in which OpenSM keeps the M_Keys of ports. */
struct key_row {
	guid_t guid; /* of the port */
	uint64_t key;
};

/* Lines of a GUID and a key, hexadecimal. As above, but an error contains none of the text, because
 * keys are secret. */
int key_rows_parse(const char *name, const char *text, size_t length, struct key_row **rows,
		   uint32_t *count, char **error);

/* A table of a dump: the entries of LIDs 0 to lids - 1; LFT_NO_PORT: no entry. */
struct dump_table {
	guid_t sw;
	uint32_t lids;
	uint8_t *port;
};

/* Takes both forms: "Unicast lids ... of switch ... guid 0x..." with lines "0x0001 005 ...", and
 * "...Switch 0x..." with lines "0x0001 : 005 ...". As above; free with dump_free(). */
int dump_parse(const char *name, const char *text, size_t length, struct dump_table **tables,
	       uint32_t *count, char **error);
/* Frees the array and the tables in it. */
void dump_free(struct dump_table *tables, uint32_t count);

#endif
