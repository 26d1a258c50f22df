/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of peers share: peers.c, the election and who is asked, and control_packets.c,
 * what others order. Private to these two. Loop thread only.
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

/* The last order of a manager that was obeyed. */
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
	void (*changed)(void *ctx, const char *reason);
	void (*noticed)(void *ctx, bool astray, const char *reason);
	bool (*ready)(void *ctx); /* NULL: always */
	void *ctx;

	struct peer *list; /* as each was heard last, be it in the survey or by a poll */
	size_t count;
	unsigned surveys;
	size_t pending; /* answers of the survey still to come */
	struct slices asking;
	struct loop_deferred surveyed;
	loop_fn *done;
	void *done_arg;

	struct peer master;	/* whom we poll in STANDBY; guid 0: nobody */
	unsigned waited;	/* polls that found it alive, but no MASTER yet */
	bool met_another;	/* the last survey, whom the one before did not meet */
	bool contested;		/* the last survey met another MASTER, which ranks lower */
	guid_t handover_target; /* who is being handed our role; 0: nobody */
	int handover_error; /* of the offer, while the handover target is asked whether it has taken
			       it */
	uint16_t handover_status;	/* the same */
	struct peers_handover handover; /* choose NULL: nothing is to be given away */
	bool giving;			/* the handover target is the one whom it chose */
	bool yields;		/* by command another one is MASTER, or about to be: we rank last */
	uint8_t inherited;	/* priority of ours while MASTER, from who gave up his by command */
	guid_t previous_master; /* who that is, until the next survey has found him there; 0: it has
				 */
	struct poll poll;	/* of the master */
	struct poll **watched;	/* a MASTER's, of all others in the list */
	size_t num_watched;
	struct trust trust;
	struct log_limit limit;
	struct rate handovers; /* how often others can make us look */
	struct peer_order orders[PEER_ORDERS];
	unsigned num_orders; /* ever: the next one takes the place of the oldest */
};

/* The only writer of the role; the same role, or MASTER for who is standby-only, changes nothing.
 */
void peers_set_role(struct peers *peers, enum role_event event, const char *reason);
/* A manager answered a question of ours: where its ActCount is lower than in its last order it has
 * begun again, and so do its orders. */
void peers_answered(struct peers *peers, const struct sm_info *info);
/* The one whom our role was offered has taken it. */
void peers_handover_complete(struct peers *peers);

#endif
