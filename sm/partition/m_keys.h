/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * M_Keys: the key that each end port should have (none, one for the subnet, or its own, derived
 * from a secret), and the keys that it may have. The registry holds both, and is durable before a
 * port receives a key, because a lost key could not be recovered. So Set(PortInfo) carries the key
 * of the registry (sm/program/want.c). A change of policy or secret first changes the registry,
 * here, in a walk that a sweep of a MASTER begins after a change.
 *
 * While a key is being changed, the former key is kept and tried, until the port has shown the new
 * key. An absent port keeps its record, as it keeps its LID.
 *
 * Wrong keys are counted for their sender, and logged without the key. Loop thread only.
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

/* The sender of SMPs with wrong keys; guid 0: unknown. */
struct offender {
	guid_t guid; /* of its end port */
	lid_t lid;
	uint64_t count;
	uint64_t last_s; /* wall clock */
	guid_t at;	 /* the end port that refused the last SMP */
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
	/* Whether ports may receive their first M_Keys, because each known standby would get the
	 * keys, too. NULL: always. */
	bool (*may_begin)(const void *ctx);
	const void *may_begin_ctx;
	bool accepted;	    /* an administrator has accepted that a standby would not get them */
	bool held_back;	    /* ports may not receive their first M_Keys */
	bool walked;	    /* with the present options */
	unsigned recorded;  /* records that the walk changed: they must be durable first */
	unsigned unsettled; /* ports that have not shown their key yet: checked again later */
	unsigned changing;  /* ports that may hold an earlier key */
	unsigned protected; /* ports that hold the right key */
	struct offender offenders[OFFENDERS_MAX];
	unsigned num_offenders;
	uint64_t violations;	 /* all, */
	uint64_t own_violations; /* and those by SMPs from this manager's own port */
	uint64_t violated_us;	 /* of the last by another sender; 0: none */
	guid_t violated_guid;	 /* its port; 0: unknown */
	struct log_limit limit;
};

/* Everything but loop is borrowed and must outlive it. The fabric gets M_Keys from it from now
 * on. */
void keys_init(struct keys *keys, struct loop *loop, struct registry *registry,
	       struct fabric *fabric, const struct sm_options *options);
/* Calls may_begin(ctx) before the first port receives an M_Key. */
void keys_ask_first(struct keys *keys, bool (*may_begin)(const void *ctx), const void *ctx);
/* Frees everything; the registry keeps the keys. */
void keys_done(struct keys *keys);

/* Decides the M_Key of each port, if anything has changed. Calls done(arg) when the registry has
 * all keys, possibly at once. keys->recorded then says whether the registry must become durable
 * first. */
void keys_settle(struct keys *keys, loop_fn *done, void *arg);
/* The options have changed. accepted: the first M_Keys may now be set, even if a standby would not
 * get them. */
void keys_changed(struct keys *keys, bool accepted);

/* Trap 256 arrived from this port: counts the violation for its sender, and logs it. */
void keys_violation(struct keys *keys, struct port *port, const struct notice_bad_m_key *bad);

/* Number of violations by this end port. */
uint64_t keys_violations_of(const struct keys *keys, guid_t guid);

/* For weftctl keys status; a new reference, without any key. */
json_t *keys_status(const struct keys *keys);
/* Takes rows [GUID, key], as text, of ports that had another manager, as OpenSM stores them.
 * weftd tries these keys on ports whose key is not known. *taken: number of new keys. -EINVAL,
 * with the reason in *why: no row was taken. */
int keys_import(struct keys *keys, const json_t *rows, unsigned *taken, const char **why);

#endif
