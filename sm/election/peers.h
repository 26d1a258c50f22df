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

/* Mastership that is given away by command. The next survey asks choose() to whom: to one of the
 * list, or to nobody (0). done() tells what became of that: error 0 and status 0, it was taken. */
struct peers_handover {
	guid_t (*choose)(void *ctx, const struct peer *list, size_t count);
	void (*done)(void *ctx, int error, uint16_t status);
	void *ctx;
};

/* changed(ctx, reason) is called after each change of role; noticed(ctx, astray, reason) when
 * another manager is not what the last survey met, so that the next one should come soon. astray:
 * its port is not where it was found. */
struct peers *peers_new(struct loop *loop, struct txn_table *txns, struct transport *transport,
			struct fabric *fabric, const struct sm_options *options,
			void (*changed)(void *ctx, const char *reason),
			void (*noticed)(void *ctx, bool astray, const char *reason), void *ctx);
void peers_free(struct peers *peers);
/* Asked before mastership is taken that another one offers; NULL: it always is. The other one
 * offers it again. */
void peers_ask_first(struct peers *peers, bool (*ready)(void *ctx));
/* Shows IsSM (unless standby_only), begins in DISCOVERING. 0, or -errno when IsSM cannot be set. */
int peers_start(struct peers *peers);
/* Leaves: a MASTER offers its role to the highest STANDBY. Takes IsSM away, stops polling. */
void peers_stop(struct peers *peers);

enum sm_state peers_role(const struct peers *peers);
/* Our own port's link is down, or was: the reason says which. */
void peers_port_down(struct peers *peers, const char *reason);
/* Shows IsSM again when our port does not, although it should. */
void peers_show(struct peers *peers);
/* Whether the last survey met another MASTER, which ranks lower and has not handed over yet: until
 * it has, nothing is written. */
bool peers_contested(const struct peers *peers);
/* Whether the last survey met a manager that the one before did not. */
bool peers_met_another(const struct peers *peers);
/* Asks every port that shows IsSM for its SMInfo, draws the consequences for the role, gives
 * mastership to a manager that ranks higher, and calls done(arg), deferred. The role may change
 * meanwhile. */
void peers_survey(struct peers *peers, loop_fn *done, void *arg);

/* Whom the last survey met, each as it was heard last; while one is under way also those that the
 * one before met. */
size_t peers_list(const struct peers *peers, const struct peer **list);
/* In STANDBY the one that is polled, which is MASTER or is about to be; else one of the list that
 * is MASTER. NULL: none. */
const struct peer *peers_master(const struct peers *peers);
/* This manager's own SMInfo, sm_key zero. */
void peers_own_info(const struct peers *peers, struct sm_info *info);
/* A Set(SMInfo) came, from a LID (LID_PERMISSIVE: by a directed route) and from the port with that
 * GUID, 0 where that is not known: the status to answer with; the role may change. */
enum mad_status peers_control(struct peers *peers, uint32_t control, const struct sm_info *sender,
			      lid_t from, guid_t from_guid);
/* One at a time; copied. While the other one is MASTER this manager's priority is 0, and the other
 * one's, if it is a weftd, as high as ours was: nobody gives it back. */
void peers_request_handover(struct peers *peers, const struct peers_handover *handover);
void peers_cancel_handover(
	struct peers *peers); /* nothing is given any more; done() is not called */
/* Sends Get(SMInfo), or Set(SMInfo) with a control packet, to the port of another manager; done is
 * called as the window's, with owner. False: no such port is known. */
bool peers_request(struct peers *peers, guid_t guid, uint8_t method, uint32_t control,
		   void (*done)(void *owner, void *subject, const struct smp_request *request,
				const struct smp_answer *answer),
		   void *owner);
/* Something else than SMInfo says that the master of a STANDBY is gone, as that a connection with
 * it was closed: it is asked at once, and one interval without an answer is enough. */
void peers_master_closed(struct peers *peers);

#endif
