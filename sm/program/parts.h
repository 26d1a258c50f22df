/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the parts of programming share: program.c runs them, ports.c writes ports, switch.c
 * SwitchInfo and forwarding tables, mft.c multicast tables, pkeys.c P_Keys. order.c decides what
 * may be written now, verify.c asks a switch for its identity before Sets, refused.c leaves
 * switches alone that refuse their tables, reregister.c paces notifications of hosts, fdr10.c
 * enables that speed, cached_lft.c and cached_mft.c check tables of the table cache. Private to
 * these.
 */
#ifndef SM_PROGRAM_PARTS_H
#define SM_PROGRAM_PARTS_H

#include "fabric/table_cache.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/slices.h"
#include "sm/program/program.h"

/* An SMP that arrives at all arrives within this time: VL15 waits for no credits. */
enum { PACKET_LIFE_US = 10000 };

/* A port state that lags behind the answer to its Set() is read again after so long. */
enum { STATE_LAG_US = 25000 };

/* What a run may do to go on, when it came to a stand with less. */
enum effort {
	WHOLE_BLOCKS, /* a block is written when all of it may be */
	PIECEMEAL,    /* blocks wait for each other in a circle, their entries do not */
	AT_A_LOSS,    /* some packets may be lost, where entries wait for what does not come */
};

/* What a run does. */
enum program_part { PROGRAM_ALL, PROGRAM_MULTICAST, PROGRAM_READ_MULTICAST };

struct program {
	struct loop *loop;
	struct window *window;
	struct fabric *fabric;
	struct table_cache *cache; /* NULL: there is none */
	const struct sm_options *options;
	struct guids *guids;   /* NULL: aliases are not written */
	struct policy *policy; /* NULL: P_Keys are not written */
	loop_fn *pkeys_failed; /* between runs: P_Keys were not written; may be NULL */
	void *pkeys_failed_arg;
	bool announcing;	/* ports that wait for the SA are let through */
	unsigned rereg_credits; /* ports that may be told of us, as of rereg_credited_us:
				   reregister.c */
	uint64_t rereg_credited_us;
	/* By port->program.waiting: */
	struct list lagging;	 /* ports whose state is to be read once more */
	struct list rereg_queue; /* ports that wait for credit to be notified */
	struct loop_timer rereg_timer;
	bool lid_was_led_to; /* our port was up, and had our LID, before this sweep wrote to it */
	const struct agent *only; /* whose turn alone it is; NULL: everybody's */
	loop_fn *done;
	void *done_arg;
	struct program_report report;
	uint64_t reports; /* how many were begun */
	uint64_t refused_values;
	enum effort effort;
	unsigned progress; /* table Sets acknowledged when the window was idle last */
	unsigned stale;	   /* switches where entries of an earlier table may still forward */
	uint64_t epoch,
		sweep_epoch; /* reports of changes: in all, when a heavy sweep began; from 1 */
	bool epoch_used;     /* somebody was verified up to this epoch, or is taken to be */
	uint64_t began_us;   /* the sweep */
	bool stopped;	     /* nothing is sent any more in this sweep */
	bool pausing;	     /* a block is not written again before its last Set has died out */
	struct loop_timer pause;
	struct slices walk; /* over what is there, at the beginning of a run and at its end */
	/* While a run begins: the caller's; or NULL. */
	const struct snapshot *snapshot;
	const struct routes *routes;
	bool taking; /* not all switches have theirs yet: nothing is sent */
	struct log_limit limit;
	struct mcast *mcast;	/* NULL: there is no multicast */
	enum program_part part; /* of all that there is to do */
	struct node **flood;	/* of searches: mft.c */
	size_t flood_room;
	uint32_t mft_searches;
	bool mft_was_read; /* since the last run: tables of multicast need not be forgotten */
};

/* program.c: the port is to be looked at, now or when the window has room. */
void program_look_at(struct program *program, struct port *port);
/* Whether this failure was logged already; *failure is what was logged last of its port or switch.
 * A device that is broken is so for days, and fails in each sweep: it is told when it begins, and
 * again when it fails otherwise. Where the rate is used up, the next sweep tells. */
bool program_is_logged(struct program *program, uint32_t *failure, const char *what);
/* A switch tells of changed links: nothing is led through it until it has been read. */
void program_note_switch(struct program *program, struct node *node);
/* An answer shows this state of a port: when its link was down since the last one, that is news. */
void program_note_state(struct program *program, const struct port *port, uint8_t state);

/* ports.c */

/* The next request of a port, in a run over ports; false: nothing now. */
bool ports_request(struct program *program, struct port *port, struct smp_request *out);
/* The same between runs: only P_Keys and what goes with them, and ClientReregister. */
bool ports_request_between_runs(struct program *program, struct port *port,
				struct smp_request *out);
/* Whether a port is up and nothing is to be written, as for nearly all ports in most sweeps: to
 * test this while the port is in the processor's cache costs less than to give it a turn. False for
 * port 0, whose switch has a turn. */
bool ports_is_good(const struct program *program, struct port *port);
/* Whether the state of the port allows Sets. */
bool ports_take_sets(const struct port *port);
/* Whether the cable of a port stays as it is, because no route uses a switch at an end of it. */
bool ports_left_alone(const struct fabric *fabric, const struct port *port);
/* Reads ports again whose state was read too early; ports_forget_lagging() at the end of a run. */
void ports_read_lagging(struct program *program);
void ports_forget_lagging(struct program *program);
/* Logs that the link of a port runs with less than both ends support. */
void ports_warn_of_mismatch(struct program *program, const struct port *port);

/* reregister.c */

void reregister_init(struct program *program);
void reregister_done(struct program *program);
bool reregister_knows_us(const struct port *port, const struct port_info *want);
/* Whether a port is to be told who its manager is, or to register anew, and nothing more urgent. */
bool reregister_is_due(const struct program *program, const struct port *port,
		       const struct port_info *want);
/* Whether it may be told now; else it is looked at again when it may. True once: it is counted. */
bool reregister_may_send(struct program *program, struct port *port, const struct port_info *want);

/* fdr10.c */

/* Whether FDR10 of the port has to be enabled or disabled, and the port accepts this. */
bool fdr10_differs(const struct program *program, const struct port *port);
/* The next request for that; false: none. The port is busy until it is done. */
bool fdr10_request(struct program *program, struct port *port, struct smp_request *out);

/* switch.c */

/* The next thing to write to a switch itself; false: nothing now. */
bool switch_request(struct program *program, struct node *node, struct smp_request *out);
/* Ports that wait for a switch which has settled look again, a portion of them; false: none does.
 */
bool switch_wake_ports(struct program *program, struct node *node);
/* Takes the switch's row of routes as what it should hold; as before when both are NULL. */
void switch_take_routes(struct program *program, struct node *node, const struct snapshot *snapshot,
			const struct routes *routes);
/* Whether blocks of its table, or its top, wait to be written. */
bool switch_is_unfinished(const struct node *node);
/* Who waits for an entry of this switch, or for a cable of it, looks again. */
void switch_wake_waiters(struct program *program, struct node *node);

static inline bool block_is_dirty(const struct switch_state *sw, uint16_t block)
{
	return sw->lft.dirty[block / 64] >> block % 64 & 1;
}

void switch_failed(struct program *program, struct node *node, const char *what);

/* Whether packets may pass it now: a port of it is ACTIVE. */
bool switch_forwards(const struct node *node);

/* Set(SwitchInfo) with this MulticastFDBTop; true. */
bool switch_raise_mft_top(struct program *program, struct node *node, lid_t top,
			  struct smp_request *out);

/* mft.c */

/* The next cell of its multicast table to read or write; false: nothing now. */
bool mft_request(struct program *program, struct node *node, struct smp_request *out);
bool mft_read_request(struct program *program, struct node *node, struct smp_request *out);
bool mft_has_work(const struct node *node);
/* A run begins; lost: the switch may have lost its tables. */
void mft_begin(struct program *program, struct node *node, bool lost);
/* MulticastFDBTop for a Set(SwitchInfo) that is not there to raise it. */
lid_t mft_top(const struct node *node);
/* A cable between two switches is to pass packets: the switch to wait for, NULL when it may. */
struct node *mft_cable_blocker(struct program *program, struct port *port);

/* cached_mft.c: as cached_lft.c, of multicast. */

/* Looks for what the switch may hold, when nothing is known of that. */
void mft_cache_begin(struct program *program, struct node *node);
/* The next sample; false: none now, and where mft->cached is NULL the cached table is over,
 * believed or not. */
bool mft_cache_request(struct program *program, struct node *node, struct smp_request *out);

/* cached_lft.c */

/* Looks for what the switch may hold, when nothing is known of that. While there is a cached table
 * nothing but its samples is read or written of the table. */
void lft_cache_begin(struct program *program, struct node *node);
void lft_cache_drop(struct switch_state *sw); /* harmless without one */
/* Believes the cached table when all its samples were as it says. */
void lft_cache_judge(struct program *program, struct node *node);
/* The next sample; false: all were asked for. lft_cache_judge() was called before. */
bool lft_cache_request(struct program *program, struct node *node, struct smp_request *out);

/* verify.c */

void verify_begin(struct program *program, struct node *node);
/* The next request that makes sure that a switch is there; false: one is under way, or it failed.
 */
bool verify_request(struct program *program, struct node *node, struct smp_request *out);
/* Whether the switch has been verified; if not it is asked when its turn comes, and wakes
 * who waits for it. */
bool verify_switch(struct program *program, struct node *node);
/* Whether Sets to a switch take the way that was asked and no other, and are not sent again before
 * it has been asked again: it forwards, or something has changed since the sweep began. */
bool verify_is_needed(const struct program *program, const struct node *node);
/* Whether a Set() that got no answer may be sent again on its route: smp_request.may_repeat. No, if
 * something has changed since it was sent: cables may have moved, and the route may lead to a
 * switch that forwards. owner: the program; subject: the node. */
bool verify_may_repeat(void *owner, void *subject);
/* A Set() had no answer: whether it is to be sent again, when the switch has been verified. */
bool verify_try_again(struct node *node, int error);

/* refused.c */

/* It is not written now, only read. */
bool refused_rests(const struct program *program, const struct node *node);
/* It left Sets of ports without an answer, and gets none before it was asked whether it is there.
 */
bool refused_is_mute(const struct node *node);
void refused_port_set(struct node *node, int error); /* of the answer to one */
void refused_hears(struct node *node);		     /* it is not mute, or it is a new run */
/* It refused a Set() with a status, or left all attempts without an answer (0) although it answers
 * others. */
void refused_note(struct program *program, struct node *node, uint16_t attr_id, uint16_t status);
void refused_took_all(struct program *program, struct node *node);

/* pkeys.c */

enum pkeys_state {
	PKEYS_GOOD,	  /* nothing is left to write at the port's cable */
	PKEYS_REQUEST,	  /* the request is to be sent */
	PKEYS_WAIT,	  /* something is under way, or the other end's turn */
	PKEYS_UNANSWERED, /* something had no answer */
};

/* Whether that is known already; false: the next one tells. */
bool program_pkeys_good(const struct program *program, struct port *port);
/* The next thing to write to the P_Key tables at the cable of a port, if it is this port's turn. */
enum pkeys_state program_pkeys(struct program *program, struct port *port, struct smp_request *out);

/* order.c: the switch to wait for before an act, NULL when it can be done now. */

/* The wanted entry for lid is written. lossless: no packet may be lost by it, for a working entry
 * is replaced; else it only must not make a circle. */
struct node *order_entry_blocker(struct node *node, lid_t lid, bool lossless);
/* LinearFDBTop rises to the wanted one; the table below it was written. */
struct node *order_top_blocker(struct node *node);
/* A cable between two switches goes ACTIVE. */
struct node *order_cable_blocker(struct port *port);
/* Whether tables have to be looked at: all that is new together makes no circle, as long as cables
 * are where they were read. */
bool order_matters(const struct program *program);
/* Whether an entry sends packets nowhere: it may as well be LFT_NO_PORT. */
bool order_ends(struct node *node, uint8_t out);
/* Whether packets for lid that leave the switch by this port return to it, according to the known
 * tables of all switches on the route. */
bool order_comes_back(struct node *node, uint8_t out, lid_t lid);
/* Whether the switch may forward above the LinearFDBTop and MulticastFDBTop that were read: another
 * manager has been MASTER since then, and the switch does not answer. */
bool order_tops_unknown(const struct node *node);

#endif
