/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the parts of partitions share: partitions.c computes what each port should have and follows
 * changes, partition_source.c decides which file is in force and whether partitions are frozen.
 * Private to these. Loop thread only.
 */
#ifndef SM_PARTITIONS_PARTS_H
#define SM_PARTITIONS_PARTS_H

#include "sm/partitions.h"

/* Takes over partitions (NULL: none), in place of the file before. */
void policy_put_file(struct policy *policy, struct partitions *partitions);
/* Sets policy->source, and the file where the kept one counts. True: another one is in force. */
bool policy_find_source(struct policy *policy);
/* Sets policy->frozen. True: it has changed. */
bool policy_find_frozen(struct policy *policy);
/* Both of these, with lines in the log. True: ports may have to get other P_Keys. */
bool policy_judge_source(struct policy *policy);
void policy_log_problem(const struct policy *policy);
/* A MASTER puts the file and its digest into the registry; a standby compares the digests. */
void policy_keep_source(struct policy *policy);

#endif
