/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Net files: a fabric as a text, as ibnetdiscover prints it and ibsim reads it. A struct net is
 * this text as a graph: nodes, their ports, and the cables between ports. Simulations build their
 * agents from it, generators fill it, and a planned net file is compared through it.
 *
 * A net is plain data with one owner; it is not shared between threads. It may be an invalid fabric
 * (duplicate GUIDs or LIDs, a port cabled to itself): tests run managers on such fabrics. So
 * reading it is no error, and net_validate() reports the faults.
 *
 * Intended differences from ibsim's own reader:
 * - A line that ibsim ignores silently (a mistyped keyword) is an error here.
 * - A link may be listed at one end only; if both ends list it, they must agree.
 * - include is refused, because a net is one text here; so are port aliases (@), which belong to
 * modules.
 * - module, do and pdebug lines are counted in struct net.ignored and have no effect.
 * - devid= applies to the next node only, as vendid= and sysimgguid= do.
 */
#ifndef FORMATS_NET_H
#define FORMATS_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "include/iba.h"
#include "lib/map.h"

enum {
	NET_NODES_MAX = 65535,
	NET_PORTS_MAX = 1 << 22, /* in total, port 0 of switches counted */
	NET_ID_MAX = 64,	 /* bytes of a node's id, as in ibsim */
	NET_LINE_MAX = 512,	 /* bytes of a line; ibsim itself reads 254 */
	NET_NO_PEER = -1,
};

/* The enabled rates of a port, in PortInfo's bits. Width and speed are never 0. */
struct net_rate {
	uint8_t width;	   /* LinkWidthEnabled: 1 1x, 2 4x, 4 8x, 8 12x, 16 2x */
	uint8_t speed;	   /* LinkSpeedEnabled: 1 SDR, 2 DDR, 4 QDR */
	uint8_t speed_ext; /* LinkSpeedExtEnabled: 1 FDR, 2 EDR, 4 HDR, 8 NDR */
	bool fdr10;	   /* the vendor's 10 Gb/s with 64b/66b */
};

struct net_port {
	guid_t guid;  /* 0: not given */
	int32_t peer; /* index of the node at the other end, or NET_NO_PEER */
	uint8_t peer_port;
	uint8_t lmc;
	lid_t lid;  /* LID_NONE: not given */
	bool rated; /* the file has the rate */
	struct net_rate rate;
};

struct net_node {
	enum node_type type;
	bool enhanced_port0;	 /* switches only */
	uint8_t ports;		 /* external ports: 1..PORT_MAX */
	const char *id;		 /* the quoted name that links refer to; unique in the net */
	const char *description; /* NodeDescription; the id where the file gives none */
	guid_t guid;		 /* these three 0: not given */
	guid_t system_guid;
	uint32_t vendor_id;
	uint32_t device_id;
	struct net_port *port; /* port[0..ports]; of port[0] only a switch uses guid, lid and lmc */
	int32_t next_alike;    /* the net's own: next node whose id has the same hash */
};

struct net {
	struct net_node *nodes; /* in the file's order; moves when a node is added */
	unsigned count;
	unsigned ignored;	      /* lines read that have no effect here */
	char *comment;		      /* printed in front; lines end with \n; heap, or NULL */
	struct net_rate default_rate; /* of the ports of nodes added from now on */
	struct map by_id;	      /* these four are the net's own */
	struct arena *arena;
	size_t capacity;
	size_t ports_total;
};

/* Totals of a fabric; a link from a port to itself is one link. */
struct net_counts {
	unsigned switches;
	unsigned adapters;
	unsigned routers;
	unsigned links;
	unsigned switch_links; /* between two switches */
	unsigned table_ports;  /* minimum of ibsim's option -P: ports, plus one for each switch */
};

/* Why a text was refused: "file:line: reason" without a newline. Line 0: the fault belongs to no
 * single line. */
struct net_error {
	unsigned line;
	char text[512];
};

/*
 * Reads a net file from memory. On success the caller owns *out (net_free()). -EINVAL: an error in
 * the text; -E2BIG: a limit above is exceeded; *error then has place and reason. name is the file
 * in messages. The text need not end with a NUL and is not kept.
 */
int net_parse(const char *name, const char *text, size_t length, struct net **out,
	      struct net_error *error);

/* Writes a file that net_parse(), ibsim and readers of ibnetdiscover's output accept. The caller
 * checks the stream for errors. Parsing it and printing the result gives the same text. */
void net_print(FILE *stream, const struct net *net);

/* An empty net, whose default rate is 4xSDR as in ibsim. */
struct net *net_new(void);
void net_free(struct net *net); /* NULL is fine */

/*
 * Adds a node and returns its index. The strings are copied; description NULL means the id.
 * Characters that a net file cannot have in a description (quotes, control characters) are
 * replaced, and it ends after NODE_DESC_SIZE bytes. -EINVAL: no port or more than PORT_MAX, or an
 * id that is empty, too long or has one of "#@ or a control character. -EEXIST: the id exists.
 * -E2BIG: a limit above.
 */
int net_add_node(struct net *net, enum node_type type, const char *id, const char *description,
		 unsigned ports);
/* The node's index; -ENOENT if the id is unknown. */
int net_find(const struct net *net, const char *id);
/* Cables two external ports. -EINVAL: no such node or port; -EBUSY: one of them has a cable. */
int net_connect(struct net *net, int node, unsigned port, int peer, unsigned peer_port);
/* Removes the cable; harmless if there is none. */
void net_disconnect(struct net *net, int node, unsigned port);

/* True for one of the two ends of each cable, and for a port that is cabled to itself. */
bool net_is_first_end(const struct net *net, unsigned node, unsigned port);
/* Counts all of *counts; it needs no valid net. */
void net_count(const struct net *net, struct net_counts *counts);

/* Checks that cables are reciprocal and that no node GUID, port GUID or LID occurs twice. -EINVAL
 * with the first fault in *error. */
int net_validate(const struct net *net, struct net_error *error);

/* Parses "4xEDR" or similar. Returns false and leaves *rate untouched if the text is no rate. */
bool net_rate_parse(const char *text, size_t length, struct net_rate *rate);
/* Writes the name of a rate; false if it has no name (such as 1x|12x). */
bool net_rate_name(const struct net_rate *rate, char *text, size_t size);

#endif
