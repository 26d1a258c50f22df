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

struct registry_replace { /* embedded in the struct of the caller */
	struct registry *to, *from;
	struct registry_cursor cursor;
	enum registry_kind kind;
	uint64_t spared;						       /* kinds, as bits */
	bool (*keeps)(void *ctx, enum registry_kind kind, const void *record); /* or NULL */
	void *ctx;
	bool dropping, runs;
	size_t changed; /* records that were put or dropped, */
	size_t dropped; /* and those of them that were dropped */
};

/* Both registries must exist until the end, and from must not change. spared: kinds, as bits. If
 * from has no record of a spared kind, the records of that kind in to stay. */
void registry_replace_begin(struct registry_replace *replace, struct registry *to,
			    struct registry *from, uint64_t spared);
/* Call it directly after registry_replace_begin(). If keeps() returns true, the record of to with
 * this key stays as it is, or stays absent. */
void registry_replace_keep(struct registry_replace *replace,
			   bool (*keeps)(void *ctx, enum registry_kind kind, const void *record),
			   void *ctx);
/* Processes this number of records. Returns false at the end. */
bool registry_replace_some(struct registry_replace *replace, unsigned records);
/* Processes all remaining records at once; harmless without a replacement under way. */
void registry_replace_end(struct registry_replace *replace);

#endif
