/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What becomes of a request that asks for a place to wait in, be it at admission, for its turn or
 * for the store, and when two of them are one that came again. Pure functions, any thread.
 */
#ifndef SA_VERDICT_H
#define SA_VERDICT_H

#include <stdbool.h>

#include "mad/mad.h"
#include "mad/transport.h"

enum verdict {
	VERDICT_PASSES,	  /* it need not wait */
	VERDICT_WAITS,	  /* there is a place for it */
	VERDICT_REPEATED, /* it waits already */
	VERDICT_FULL,
};

/* Whether both are the same request: the same of one client, with the same TID. */
static inline bool same_request(const struct mad_addr *from_a, const struct mad_header *a,
				const struct mad_addr *from_b, const struct mad_header *b)
{
	return from_a->lid == from_b->lid && from_a->qpn == from_b->qpn && a->tid == b->tid &&
	       a->method == b->method && a->attr_id == b->attr_id;
}

#endif
