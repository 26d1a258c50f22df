/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The other subnet managers, and this one's role among them: the election, polling of the master in
 * STANDBY, and handing over. The only writer of the role. Loop thread only.
 */
#ifndef SM_ELECTION_PEERS_H
#define SM_ELECTION_PEERS_H

#include "fabric/fabric.h"
#include "fabric/view.h"
#include "lib/loop.h"
#include "mad/txn.h"
#include "mad/window.h"
#include "sm/election/poll.h"
#include "sm/election/role.h"
#include "sm/options.h"

struct peers;

/* A handover by command. The next survey calls choose() for the target: a manager of the list,
 * or none (0). done() reports the result: error 0 and status 0: complete. */
struct peers_handover {
	guid_t (*choose)(void *ctx, const struct peer *list, size_t count);
	void (*done)(void *ctx, int error, uint16_t status);
	void *ctx;
};

/* Calls changed(ctx, reason) after each change of role, and noticed(ctx, reason) when another
 * manager differs from the last survey, so that a survey should follow soon. Everything is
 * borrowed. */
struct peers *peers_new(struct loop *loop, struct txn_table *txns, struct transport *transport,
			struct fabric *fabric, const struct sm_options *options,
			void (*changed)(void *ctx, const char *reason),
			void (*noticed)(void *ctx, const char *reason), void *ctx);
/* Frees the peers; call peers_stop() first. */
void peers_free(struct peers *peers);
/* Calls ready() before a handover is accepted; false answers BUSY, and the other manager repeats
 * its offer. NULL: always ready. */
void peers_ask_first(struct peers *peers, bool (*ready)(void *ctx));
/* Sets IsSM (unless standby_only) and begins in DISCOVERING. Returns 0, or -errno if IsSM cannot
 * be set. */
int peers_start(struct peers *peers);
/* Leaves the election: a MASTER offers mastership to the highest STANDBY. Clears IsSM and stops
 * polling. */
void peers_stop(struct peers *peers);

/* The present role of this manager. */
enum sm_state peers_role(const struct peers *peers);
/* The link of the local port is down, or was; reason says which. */
void peers_port_down(struct peers *peers, const char *reason);
/* Sets IsSM again if the local port does not show it although it should. */
void peers_show(struct peers *peers);
/* Whether the last survey found another MASTER that ranks lower and has not handed over yet:
 * until it has, weftd writes nothing. */
bool peers_contested(const struct peers *peers);
/* Why this MASTER may not know the values of devices, until peers_settle_doubt() or a change of the
 * role. */
enum peers_doubt {
	PEERS_NO_DOUBT,
	PEERS_MAY_HAVE_WRITTEN, /* a manager is new, or sends from an unknown place */
	PEERS_HAVE_WRITTEN,	/* a manager has stopped being MASTER beside this one */
};
enum peers_doubt peers_doubt(const struct peers *peers);
/* A heavy sweep that reads everything was requested. */
void peers_settle_doubt(struct peers *peers);
/* Queries the SMInfo of each port with IsSM, changes the role if necessary, hands over to a
 * manager that ranks higher, and calls done(arg), deferred. The role may change before that. */
void peers_survey(struct peers *peers, loop_fn *done, void *arg);

/* The managers that the last survey found, with their latest answers; during a survey also those
 * of the survey before. */
size_t peers_list(const struct peers *peers, const struct peer **list);
/* In STANDBY the manager that is polled, which is MASTER or about to become it; otherwise a
 * MASTER of the list. NULL: none. */
const struct peer *peers_master(const struct peers *peers);
/* The SMInfo of this manager, with sm_key 0. */
void peers_own_info(const struct peers *peers, struct sm_info *info);
/* Handles a Set(SMInfo) from a LID (LID_PERMISSIVE: by a directed route) and from the port with
 * that GUID (0: unknown). Returns the status for the answer; the role may change. */
enum mad_status peers_control(struct peers *peers, uint32_t control, const struct sm_info *sender,
			      lid_t from, guid_t from_guid);
/* Hands over by command, one at a time; handover is copied. While the other manager is MASTER,
 * the priority of this manager is 0, and a weftd takes the rank of this manager, so that
 * mastership does not return. */
void peers_request_handover(struct peers *peers, const struct peers_handover *handover);
/* Cancels a requested handover without a call of done(). */
void peers_cancel_handover(struct peers *peers);
/* Sends Get(SMInfo), or Set(SMInfo) with a control packet, to the port of another manager, and
 * calls done as the window does. False: there is no such port. */
bool peers_request(struct peers *peers, guid_t guid, uint8_t method, uint32_t control,
		   void (*done)(void *owner, void *subject, const struct smp_request *request,
				const struct smp_answer *answer),
		   void *owner);
/* The master may have another LID: surveys look for it until the role changes. The polls of a
 * STANDBY do not notice the change, because they also use a directed route. */
void peers_doubt_lid(struct peers *peers, guid_t guid);
/* A connection with the master was closed, so it may have ended: polls it at once, and one
 * interval without an answer is enough. */
void peers_master_closed(struct peers *peers);

#endif
