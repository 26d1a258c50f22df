/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * P_Keys that are not in the configuration, and that weftd removes. If there is neither a partition
 * file nor a definition at run time, all ports are full members of the default partition only. So
 * the first bring-up of a MASTER removes all other P_Keys. Before that, a walk over all ports
 * counts them here, logs them, and weftctl status continues to show the number. Their origin is not
 * known: another manager, or a file that the configuration of weftd no longer names. Called by
 * sm/sweep.c before anything is written, and by sm/control/partition.c. Loop thread only.
 */
#ifndef SM_PARTITION_UNMANAGED_PKEYS_H
#define SM_PARTITION_UNMANAGED_PKEYS_H

#include "fabric/pkeys.h"
#include "lib/slices.h"
#include "sm/partition/partitions.h"

struct unmanaged_pkeys {
	struct fabric *fabric;
	const struct policy *policy;
	struct slices walk;
	loop_fn *done;
	void *done_arg;
	unsigned ports, keys; /* ports with such P_Keys, and the number of different P_Keys */
	bool told;	      /* since this manager became MASTER; sm.c clears it */
	/* During the walk: the keys found so far, and the keys of the first such port as text. */
	uint64_t seen[(UINT16_MAX + 1) / 64];
	char example[PKEYS_TEXT + NODE_DESC_SIZE + 32];
};

/* fabric and policy are borrowed and outlive it. */
void unmanaged_pkeys_init(struct unmanaged_pkeys *unmanaged, struct loop *loop,
			  struct fabric *fabric, const struct policy *policy);
/* Cancels the walk. */
void unmanaged_pkeys_done(struct unmanaged_pkeys *unmanaged);

/* Before P_Keys are written for the first time: counts the ports with P_Keys that are not in the
 * configuration, and logs the result. Calls done(arg) then, or at once if there is nothing to
 * count. */
void unmanaged_pkeys_log(struct unmanaged_pkeys *unmanaged, loop_fn *done, void *arg);

#endif
