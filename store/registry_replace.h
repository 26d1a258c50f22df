/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Replaces the contents of a registry by those of another: a restored document, or a master's
 * registry at its standby. First it drops the records that the new one lacks, then it puts the
 * others, some records in each call. All changes form one unit (registry_together()). Equal
 * records are no change. Loop thread only.
 */
#ifndef STORE_REGISTRY_REPLACE_H
#define STORE_REGISTRY_REPLACE_H

#include "store/registry.h"

struct registry_replace { /* embedded in who does it */
	struct registry *to, *from;
	struct registry_cursor cursor;
	enum registry_kind kind;
	uint64_t spared; /* kinds, as bits */
	bool dropping, runs;
	size_t changed; /* records that were put or dropped, */
	size_t dropped; /* and those of them that were dropped */
};

/* Both live until it is over; from is not changed meanwhile. spared: kinds, as bits, of which those
 * that are there stay if from has none at all. */
void registry_replace_begin(struct registry_replace *replace, struct registry *to,
			    struct registry *from, uint64_t spared);
/* Looks at so many records. False when all is done. */
bool registry_replace_some(struct registry_replace *replace, unsigned records);
/* What is still to be done, at once; harmless when it does not run. */
void registry_replace_end(struct registry_replace *replace);

#endif
