/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the two files of partition apply: partition_differences.c compares a text with the
 * members of its owner, partition_apply.c has the command, the changes and the answers. Private to
 * these. Loop thread only, but for apply_parse().
 */
#ifndef SM_CONTROL_PARTITION_APPLY_H
#define SM_CONTROL_PARTITION_APPLY_H

#include "lib/slices.h"
#include "sm/control/partition.h"

enum {
	APPLY_PIECE = 32,	 /* records, wishes or differences in a piece of a slice */
	APPLY_COST = 8,		 /* of each of them, in units of slices */
	APPLY_WHOLE_TURN = 1000, /* the cost of a piece that walks over all ports, or waits */
};

/* A member that the text names. */
struct wish {
	pkey_t p_key;
	uint8_t membership;
	guid_t guid;
	uint32_t order;
};

enum difference_kind {
	PARTITION_MADE,
	PARTITION_CHANGED,
	PARTITION_REMOVED,
	MEMBER_ADDED,
	MEMBER_CHANGED,
	MEMBER_REMOVED,
	OF_OTHER_OWNER, /* the text wants another membership, or other parameters: not changed */
	DIFFERENCE_KINDS,
};

struct difference {
	uint8_t kind; /* enum difference_kind */
	pkey_t p_key;
	guid_t guid;	       /* 0: the partition */
	uint8_t before, after; /* memberships */
	bool takes;	       /* a membership, from a port that is present */
	uint32_t partition;    /* in the text, of PARTITION_MADE and PARTITION_CHANGED */
};

enum application_phase { WAITS, PARSES, COMPARES, CHANGES, IS_DONE };

struct application {
	struct list link; /* in commands->applications */
	struct sm *sm;
	struct control_request *request; /* NULL: has been answered */
	enum application_phase phase;
	struct work_job parsing;
	struct slices slices;		/* of the comparison, then of the changes */
	struct registry_reader reader;	/* while it compares and changes */
	struct registry_cursor cursor;	/* while is_walking */
	struct registry_waiter durable; /* at the end */
	bool is_walking, is_stale;
	/* The request */
	char *name, *source, *owner, *expected;
	size_t source_length;
	bool dry_run, force, allow_both;
	/* Results */
	char *error; /* NULL: none */
	struct partitions *text;
	struct wish *wishes; /* by P_Key and GUID */
	size_t num_wishes;
	struct difference *differences;
	size_t num_differences;
	uint64_t counts[DIFFERENCE_KINDS];
	uint64_t policy_state, state; /* state: of all that commands made */
	uint64_t taken;		      /* memberships */
	pkey_t last;		      /* partition whose effect was computed */
	char *danger;
	json_t *answer;
};

/* Keeps the first error, with its remedy. Returns false. */
bool apply_refuse(struct application *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Parses the text and gathers its wishes; on a worker. Errors are in error. */
void apply_parse(struct application *a);
/* The partition as a record. The group of IPoIB has the parameters. */
struct partition_entry apply_entry_of(const struct partition *partition);
/* Fills differences, danger and state, or error. It begins again after each change of partitions:
 * apply_read() is to be the reader of the registry. */
extern const struct slice_plan apply_comparison_plan;
/* A change of the registry, during the comparison or the changes. ctx: struct application. */
void apply_read(void *ctx, const struct registry_change *change);
/* Ends a walk of the comparison over records; harmless without one. */
void apply_walk_end(struct application *a);

#endif
