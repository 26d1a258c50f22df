/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Admission before the SA: who is answered at once, and who waits. Requests wait while it is shut
 * (there is no view yet) and when their port has asked more than its share of late; those that wait
 * have their turn one requester after the other, so that one who asks a million times is in
 * nobody's way, and is answered as fast as nobody else wants to be. How many wait is bounded, for
 * each requester and in all; the rest is the caller's to refuse. A requester is a port, named by
 * its base LID: with an LMC it asks from up to 128 LIDs, and has one share. Knows addresses and
 * bytes, no records. Used by sa.c alone; loop thread only.
 */
#ifndef SA_ADMISSION_H
#define SA_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/loop.h"
#include "sa/verdict.h"

enum {
	ADMISSION_LENGTH_MAX = 8192,	/* requests that wait, in all */
	ADMISSION_PER_PORT_MAX = 256,	/* of these, one requester's */
	ADMISSION_WAIT_US = 10000000,	/* what has waited for so long nobody waits for any more */
	ADMISSION_BYTES_MAX = 16 << 20, /* of all that wait */
	ADMISSION_PER_PORT_BYTES_MAX = ADMISSION_BYTES_MAX / 64, /* the longest request has 8 KB */
};

struct admission_owner {
	/* A request that waited has its turn. */
	void (*pass)(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size);
	/* One has waited for ADMISSION_WAIT_US and is dropped. */
	void (*expired)(void *ctx);
	/* Whether nobody may pass now; asked 100 times a second as long as somebody waits. */
	bool (*shut)(void *ctx);
	void *ctx;
};

struct admission;
struct admission *admission_new(struct loop *loop, const struct admission_owner *owner);
void admission_free(struct admission *admission); /* what waits is dropped */

/* rate: so many requests a second of one port pass without waiting; 0: any number. base_lid: of the
 * port that from belongs to; where the port is not known, the LID of from. Of a request that waits
 * a copy was taken. */
enum verdict admission_judge(struct admission *admission, uint32_t rate, lid_t base_lid,
			     const struct mad_addr *from, const struct mad_header *header,
			     const uint8_t *mad, size_t size);
size_t admission_length(const struct admission *admission);

#endif
