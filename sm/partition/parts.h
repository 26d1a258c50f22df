/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the two parts of partitions. partitions.c computes the P_Keys of each port and follows
 * changes. source.c decides which file is in force and whether partitions are frozen.
 * Private to these files. Loop thread only.
 */
#ifndef SM_PARTITION_PARTS_H
#define SM_PARTITION_PARTS_H

#include "sm/partition/partitions.h"

/* Takes over partitions (NULL: none), which replace the earlier file. */
void policy_put_file(struct policy *policy, struct partitions *partitions);
/* Sets policy->source, and the file if the kept text is in force. True: the file in force changed.
 */
bool policy_find_source(struct policy *policy);
/* Sets policy->frozen. True: it changed. */
bool policy_find_frozen(struct policy *policy);
/* Does both, and logs the result. True: P_Keys of ports may have to change. */
bool policy_judge_source(struct policy *policy);
/* Logs policy_problem(), if there is one. */
void policy_log_problem(const struct policy *policy);
/* A MASTER puts the file and its digest into the registry; a standby compares the digests. */
void policy_keep_source(struct policy *policy);

#endif
