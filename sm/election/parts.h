/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the election: peers.c has surveys and roles, control_packets.c the
 * control packets of other managers. Private to these two. Loop thread only.
 */
#ifndef SM_ELECTION_PARTS_H
#define SM_ELECTION_PARTS_H

#include "lib/log.h"
#include "lib/rate.h"
#include "lib/slices.h"
#include "mad/window.h"
#include "sm/election/peers.h"
#include "sm/election/poll.h"
#include "sm/election/trust.h"

/* The last control packet of a manager that was obeyed. */
struct peer_order {
	guid_t guid; /* its manager's; 0: none */
	uint32_t act_count;
	uint64_t at_us;
};

enum { PEER_ORDERS = 16 };

struct peers {
	struct loop *loop;
	struct txn_table *txns;
	struct transport *transport;
	struct fabric *fabric;
	const struct sm_options *options;
	enum sm_state role;
	uint64_t role_us; /* since when */
	void (*changed)(void *ctx, const char *reason);
	void (*noticed)(void *ctx, const char *reason);
	bool (*ready)(void *ctx); /* NULL: always */
	void *ctx;

	struct peer *list; /* with their latest answers to a survey or a poll */
	size_t count;
	struct peer *mute; /* ports that this survey does not wait for: their LID and GUID */
	size_t num_mute;
	unsigned surveys;
	size_t pending; /* answers of the survey still to come */
	struct slices asking;
	struct loop_deferred surveyed;
	loop_fn *done;
	void *done_arg;

	struct peer master; /* the polled master in STANDBY; guid 0: none */
	unsigned waited;    /* polls that found it alive, but no MASTER yet */
	enum peers_doubt doubt;
	bool contested;		  /* the last survey found another MASTER, which ranks lower */
	guid_t handover_target;	  /* the manager that gets the role; 0: none */
	int handover_error;	  /* of the offer, while the SMInfo of the target is read */
	uint16_t handover_status; /* the same */
	struct peers_handover handover; /* choose NULL: no handover is requested */
	bool giving;			/* the handover was requested by command */
	bool yields;		/* another manager is MASTER by command, or will be: rank last */
	uint8_t inherited;	/* priority while MASTER, taken from a manager that handed over by
				   command */
	guid_t lid_doubted;	/* peers_doubt_lid(); 0: none */
	guid_t previous_master; /* that manager, until a survey has found it; 0: none */
	uint32_t previous_act_count; /* its ActCount when it handed over */
	struct poll poll;	     /* of the master */
	struct poll **watched;	     /* of a MASTER: polls of all others in the list */
	size_t num_watched;
	struct trust trust;
	struct log_limit limit;
	struct rate handovers; /* limit of surveys that control packets cause */
	struct peer_order orders[PEER_ORDERS];
	unsigned num_orders; /* since the start: the next element replaces the oldest */
};

/* The only function that writes the role. No change of role, or MASTER for a standby-only
 * manager, is ignored. */
void peers_set_role(struct peers *peers, enum role_event event, const char *reason);
/* A manager has answered a query. If its ActCount is lower than in its last control packet, it was
 * restarted, and its control packets count from the start again. */
void peers_answered(struct peers *peers, const struct sm_info *info);
/* A manager that this MASTER did not know may have been MASTER elsewhere. */
void peers_doubt_newcomer(struct peers *peers);
/* The handover target has accepted. */
void peers_handover_complete(struct peers *peers);

#endif
