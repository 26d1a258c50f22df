/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the three sources of the reader of net files. Other code includes formats/net.h.
 */
#ifndef FORMATS_NET_PARSE_H
#define FORMATS_NET_PARSE_H

#include "formats/cursor.h"
#include "formats/net.h"

/* ibsim's counters of node GUIDs, one for each type: a GUID in the file numbers the following nodes
 * of that type. Nodes before it have no GUID. */
struct net_guid_counter {
	guid_t base;
	guid_t next;
	bool given;
};

/* A port's line, kept until all nodes are known. */
struct net_link_line {
	int node;
	unsigned port;
	unsigned line;
	struct piece peer;
	unsigned peer_port;
	guid_t peer_guid;
	lid_t peer_lid;
};

struct net_parser {
	const char *name;
	struct net_error *error;
	unsigned line;
	struct net *net;
	int node; /* the node whose record is being read, or -1 */
	struct net_guid_counter guids[NODE_ROUTER + 1];
	guid_t switch_port_guid; /* these four are for the next node */
	guid_t system_guid;
	uint32_t vendor_id;
	uint32_t device_id;
	struct net_link_line *links;
	size_t link_count, link_capacity;
};

/* Writes the parser's error, for this line, and returns code. net_fail() is for the present line,
 * with -EINVAL. */
int net_fail_at(struct net_parser *parser, unsigned line, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* As net_fail(), and appends the text at the cursor to the message. */
int net_fail_here(struct net_parser *parser, const struct cursor *c, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define net_fail(parser, ...) net_fail_at(parser, (parser)->line, -EINVAL, __VA_ARGS__)

/* The facts in the words of a comment. */
struct net_facts {
	lid_t lids[2]; /* a port's own and its peer's, in this order */
	unsigned lid_count;
	bool lmc_given;
	uint8_t lmc;
	bool enhanced_port0;
	bool rate_given;
	struct net_rate rate;
};

/* Adds the facts of these words to *facts. Returns 0, or -EINVAL and the parser's error. */
int net_read_facts(struct net_parser *parser, struct cursor c, struct net_facts *facts);
/* Splits a comment around its quoted description. The description may contain quotes, so it ends at
 * the last quote. False if there is none: then *before is the whole comment. */
bool net_split_comment(struct cursor comment, struct cursor *before, struct piece *quoted,
		       struct cursor *after);

/* "(GUID)", hexadecimal. False if the parenthesis has no GUID; *guid is unchanged without a
 * parenthesis. */
bool net_take_guid(struct cursor *c, guid_t *guid);
/* A mask of widths, speeds or extended speeds. */
enum net_mask { NET_MASK_WIDTH, NET_MASK_SPEED, NET_MASK_SPEED_EXT };
/* Parses a decimal mask and sets it in *rate. Returns 0, or -EINVAL and the parser's error. */
int net_read_mask(struct net_parser *parser, struct cursor *c, enum net_mask mask,
		  struct net_rate *rate);
/* Parses a port line of the present node and keeps its link for net_join_links(). Returns as
 * above. */
int net_read_port(struct net_parser *parser, struct cursor *c);
/* Cables all links after the last line; both ends of a link must agree. Returns as above. */
int net_join_links(struct net_parser *parser);

#endif
