/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Limits by the kind of doubt, so that newcomers do not delay the end of a contest: sm/contest.h.
 */
#include "sm/contest.h"

#include <inttypes.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"

void contest_init(struct sm *sm)
{
	for (size_t i = 0; i < ARRAY_SIZE(sm->peer_rate); i++)
		sm->peer_rate[i] =
			(struct rate){.burst = 4, .interval_us = CONTEST_RATE_S * 1000000};
}

/* The specification sets no time limit for the handover, and some managers never hand over. Until
 * it is done no manager repairs faults, so an administrator must act. Logged once. */
void contest_tell(struct sm *sm)
{
	enum { PATIENCE_US = 30000000 };
	struct sweep *sweep = &sm->sweep;
	uint64_t now_us = loop_now_us(sm->loop);
	const struct peer *other = peers_master(sm->peers);
	struct log_subject subject = {.message_id = MESSAGE_TWO_MASTERS};

	if (!sweep->contested_us) {
		sweep->contested_us = now_us;
		sweep->contested_told = false;
	}
	if (!other || sweep->contested_told || now_us - sweep->contested_us < PATIENCE_US)
		return;
	sweep->contested_told = true;
	subject.lid = other->lid;
	log_about(LOG_WARNING, &subject,
		  "manager 0x%016" PRIx64
		  " at LID %u (priority %u) is MASTER, ranks lower, and has not handed over for %u "
		  "s: weftd programs nothing until it does (stop that manager, or set "
		  "allowed_sm_guids to a list without it)",
		  other->info.guid, other->lid, other->info.priority, PATIENCE_US / 1000000);
}

/* Another manager may have cleared PortStateChange, which leaves no sign in a light sweep. Its last
 * writes may have reached devices after this sweep had read them. So another heavy sweep follows.
 * Any host can claim to be a manager that comes and goes, so such sweeps are limited, and the doubt
 * remains until the next is allowed. Returns true if everything is read again. */
bool contest_read_again(struct sm *sm)
{
	if (!trigger_heavy_paced(&sm->trigger, &sm->peer_rate[peers_doubt(sm->peers)],
				 loop_now_us(sm->loop), "another manager may have been MASTER"))
		return false;
	peers_settle_doubt(sm->peers);
	fabric_forget_tables(sm->fabric);
	return true;
}

/* The time until a doubt about other managers can be settled. 0: there is none, or never. */
uint64_t contest_wait_us(const struct sm *sm)
{
	enum peers_doubt doubt = peers_doubt(sm->peers);
	uint64_t wait_us = rate_wait_us(&sm->peer_rate[doubt], loop_now_us(sm->loop));

	if (peers_role(sm->peers) != SM_MASTER || doubt == PEERS_NO_DOUBT ||
	    peers_contested(sm->peers) || wait_us == UINT64_MAX)
		return 0;
	return wait_us + 1;
}
