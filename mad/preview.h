/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport that writes nothing: it wraps another transport, and shows a manager the fabric as if
 * its Sets were in force. Used by `weftd --preview`. Loop thread only.
 *
 * - A directed Get() passes. The answer is changed to show what earlier Sets would have written.
 * - A directed Set() is sent as a Get() of the same attribute. So its answer has the present data
 * of the device itself: the record keeps these data and the data that the Set() would leave. The
 *   manager gets the latter as the answer to its Set().
 * - Nothing else is sent: no Set(SMInfo), no trap, no TrapRepress, no SMP by LID (LIDs may be those
 *   of the preview), no general MAD. IsSM is not set.
 *
 * If a Set() would change the M_Key of a port, later SMPs to this port still carry the present key:
 * a wrong key would start its lease timer.
 */
#ifndef MAD_PREVIEW_H
#define MAD_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"
#include "mad/transport.h"

struct preview;

/* A switch, or one port of an adapter or router: a management agent. */
struct preview_target {
	guid_t node_guid, port_guid;
	uint8_t type;			      /* enum node_type; 0: not known yet */
	uint8_t num_ports;		      /* of the node */
	uint8_t port;			      /* of an adapter or router; 0: a switch */
	char description[NODE_DESC_SIZE + 1]; /* printable; empty: unknown */
};

/* What all Sets of one attribute with one modifier to one target would do. */
struct preview_record {
	const struct preview_target *target;
	uint16_t attr_id;
	uint32_t attr_mod; /* of PortInfo without bit 31 */
	/* Wire format, as read before the first Set(), and as the last Set() would leave it. */
	uint8_t before[SMP_DATA_SIZE], after[SMP_DATA_SIZE];
	unsigned sets;	    /* answered */
	unsigned unchanged; /* of these: changed nothing, and were no command */
	/* Commands of PortInfo. */
	unsigned reregistrations; /* ClientReregister */
	unsigned bounces;	  /* take a link down that is up */
};

struct preview_counts {
	uint64_t gets;	   /* sent for a Get() */
	uint64_t sets;	   /* sent as Get() for a Set() */
	uint64_t refused;  /* of these: answered with a status, so the Set() has no record */
	uint64_t withheld; /* MADs that were not sent */
};

/* Takes over real, also its user. The transport of the preview is to be used instead. */
struct preview *preview_new(struct transport *real);
/* The transport for the manager. transport_close() frees the preview and closes the real one. */
struct transport *preview_transport(struct preview *preview);

/* Calls fn for each record, in the order of the first Sets. */
void preview_each(const struct preview *preview,
		  void (*fn)(void *ctx, const struct preview_record *record), void *ctx);
/* The targets that answered, in the order in which they were found. Borrowed elements. */
size_t preview_targets(const struct preview *preview, struct preview_target *const **targets);
const struct preview_counts *preview_counts(const struct preview *preview);

#endif
