/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a partition file would take from ports if it replaced the partitions in force. A mistake in
 * a file, such as a line that was deleted, can cut off a whole fabric. So weftd refuses a file that
 * takes P_Keys from many ports, unless the administrator confirms it. Loop thread only.
 */
#ifndef SM_PARTITION_LOSSES_H
#define SM_PARTITION_LOSSES_H

#include "sm/partition/partitions.h"

struct policy_losses {
	uint64_t ports; /* that lose a P_Key */
	/* The partition that most ports lose, as a full member or at all; their number; and the
	 * pairs of ports that can no longer exchange packets in it. */
	pkey_t p_key;
	uint64_t ports_of_p_key, pairs;
};

/* partitions: the file that would replace the one in force; borrowed. NULL: no file. present: only
 * ports that are in the fabric count; else all ports that have, or had, a LID. */
struct policy_losses policy_losses(struct policy *policy, struct partitions *partitions,
				   bool present);

/* Whether the file that would be in force needs a confirmation: it takes P_Keys from more than
 * limit ports. If so, the reason, with the numbers, for free(); else NULL. A MASTER counts the
 * ports that are present, any other manager the ports that it knows. A standby needs no
 * confirmation for the file that is in force on its master. */
char *policy_needs_confirmation(struct policy *policy, struct partitions *partitions,
				unsigned limit);

/* The same in slices: 40,000 ports with many partitions take some 0.3 s. judged gets the reason,
 * for free(), or NULL, in a later turn, once; then the returned object has ended. partitions is
 * borrowed until then. After a change of the partitions in force, the comparison begins again. */
struct policy_comparison;
typedef void policy_judged_fn(void *ctx, char *danger);
struct policy_comparison *policy_judge_file(struct policy *policy, struct partitions *partitions,
					    unsigned limit, policy_judged_fn *judged, void *ctx);
/* The same for the records that would replace all partitions, members and aliases of run time. The
 * registry with them is borrowed, and does not change until then. The reason begins with "takes".
 */
struct policy_comparison *policy_judge_records(struct policy *policy, struct registry *records,
					       unsigned limit, policy_judged_fn *judged, void *ctx);
/* Ends it; judged is not called. NULL is harmless. */
void policy_judge_cancel(struct policy_comparison *comparison);

#endif
