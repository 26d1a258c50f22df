/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys: which one each end port should have (none, one for the subnet, or one of its own that is
 * derived from a secret), and which it may have. The registry holds both, and is durable before a
 * port is told anything: a key that is lost could not be asked for again. So what a Set(PortInfo)
 * carries is the registry's (sm/program/want.c), and a change of policy, or of the secret, is first
 * one of the registry, here, in a walk that each sweep of a MASTER begins when something has
 * changed.
 *
 * While a key is changed the one before it is kept and tried, until the port has shown that it has
 * the new one. A port that is gone keeps its record, as its LID.
 *
 * Who uses a wrong key is counted, and named in the log. No key is. Loop thread only.
 */
#ifndef SM_PARTITION_M_KEYS_H
#define SM_PARTITION_M_KEYS_H

#include "fabric/fabric.h"
#include "lib/control.h"
#include "lib/log.h"
#include "lib/slices.h"
#include "mad/notice.h"
#include "sm/options.h"
#include "store/registry.h"

enum { OFFENDERS_MAX = 64 };

/* Who sent SMPs with wrong keys; guid 0: nobody could tell. */
struct offender {
	guid_t guid; /* of its end port */
	lid_t lid;
	uint64_t count;
	uint64_t last_s; /* wall clock */
	guid_t at;	 /* the end port that refused the last one */
	uint16_t attr_id;
	uint8_t method;
};

struct keys {
	struct loop *loop;
	struct registry *registry;
	struct fabric *fabric;
	const struct sm_options *options;
	struct m_key_source source;
	struct slices walk;
	loop_fn *done;
	void *done_arg;
	uint64_t topology;
	bool walked;	    /* with the options as they are */
	unsigned recorded;  /* of what the walk changed: it must be durable first */
	unsigned unsettled; /* ports that have not shown the key that they should: looked at again
			     */
	unsigned changing;  /* ports that may hold an earlier key */
	unsigned protected; /* ports that hold the key that they should */
	struct offender offenders[OFFENDERS_MAX];
	unsigned num_offenders;
	uint64_t violations;	 /* all, */
	uint64_t own_violations; /* and those by SMPs from this manager's own port */
	struct log_limit limit;
};

/* All but loop are borrowed and outlive it. The fabric asks it for keys from now on. */
void keys_init(struct keys *keys, struct loop *loop, struct registry *registry,
	       struct fabric *fabric, const struct sm_options *options);
void keys_done(struct keys *keys);

/* Begins the walk, where anything has changed: done(arg) is called when the registry says what each
 * port should have, maybe at once. Then keys->recorded says whether that must become durable. */
void keys_settle(struct keys *keys, loop_fn *done, void *arg);
void keys_changed(struct keys *keys); /* options were set */

/* A trap 256 came from this port: counts and names the offender. */
void keys_violation(struct keys *keys, struct port *port, const struct notice_bad_m_key *bad);

/* How often this end port did. */
uint64_t keys_violations_of(const struct keys *keys, guid_t guid);

/* For weftctl keys status; a new reference, without any key. */
json_t *keys_status(const struct keys *keys);
/* Keys of another manager's ports, as OpenSM keeps them: what is not known of a port yet is tried.
 * Rows are [GUID, key], as text. -EINVAL and the reason, and then none of them was taken; *taken:
 * how many were new. */
int keys_import(struct keys *keys, const json_t *rows, unsigned *taken, const char **why);

#endif
