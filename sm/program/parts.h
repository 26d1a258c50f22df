/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Interfaces between the files of programming. program.c controls runs, ports.c writes ports,
 * switch.c SwitchInfo and forwarding tables, mft.c multicast tables, pkeys.c P_Keys. order.c
 * decides which Sets are safe now, verify.c checks the identity of a switch before Sets. refused.c
 * pauses Sets to switches that refuse their tables, and reregister.c paces notifications of hosts.
 * fdr10.c enables that speed. cached.c checks tables of the table cache.
 * Private to these files.
 */
#ifndef SM_PROGRAM_PARTS_H
#define SM_PROGRAM_PARTS_H

#include "fabric/table_cache.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/slices.h"
#include "sm/program/program.h"

/* An SMP arrives within this time or is lost, because VL15 has no flow control. */
enum { PACKET_LIFE_US = 10000 };

/* Delay before a port state that lags behind the answer to its Set() is read again. */
enum { STATE_LAG_US = 25000 };

/* The means of a run. A run without progress continues with the next means. */
enum effort {
	WHOLE_BLOCKS, /* write a block only if all its entries may be written */
	PIECEMEAL,    /* write single entries, because blocks wait for each other in a circle */
	AT_A_LOSS,    /* write entries although packets may be lost */
};

/* The scope of a run. */
enum program_part { PROGRAM_ALL, PROGRAM_MULTICAST, PROGRAM_READ_MULTICAST };

struct program {
	struct loop *loop;
	struct window *window;
	struct fabric *fabric;
	struct table_cache *cache; /* NULL: no cache */
	const struct sm_options *options;
	struct guids *guids;   /* NULL: aliases are not written */
	struct policy *policy; /* NULL: P_Keys are not written */
	loop_fn *pkeys_failed; /* called when P_Keys were not written between runs; may be NULL */
	void *pkeys_failed_arg;
	bool announcing;	/* ports that waited for the SA are released */
	unsigned rereg_credits; /* notifications left at rereg_credited_us: reregister.c */
	uint64_t rereg_credited_us;
	/* Lists of ports, linked by port->program.waiting: */
	struct list lagging;	 /* ports whose state is read once more */
	struct list rereg_queue; /* ports that wait for credit to be notified */
	struct loop_timer rereg_timer;
	bool lid_was_led_to;	  /* the local port was up and had our LID before this sweep */
	const struct agent *only; /* the only agent that gets requests; NULL: all */
	loop_fn *done;
	void *done_arg;
	struct program_report report;
	uint64_t reports; /* number of reports begun */
	uint64_t refused_values;
	enum effort effort;
	unsigned progress; /* acknowledged table Sets at the last idle window */
	unsigned stale;	   /* switches where entries of an earlier table may still forward */
	uint64_t epoch, sweep_epoch; /* number of change reports: now, and at the last heavy sweep;
					from 1 */
	bool epoch_used;	     /* a switch was verified up to this epoch */
	uint64_t began_us;	     /* begin of the sweep */
	bool stopped;		     /* no more Sets in this sweep */
	bool pausing;		     /* wait until the last Set() of a block has expired */
	struct loop_timer pause;
	struct slices walk; /* walks at the begin and at the end of a run */
	/* At the begin of a run: borrowed; or NULL. */
	const struct snapshot *snapshot;
	const struct routes *routes;
	bool taking; /* the wanted tables are not complete: nothing is sent */
	struct log_limit limit;
	struct mcast *mcast;	/* NULL: no multicast */
	enum program_part part; /* scope of the run */
	struct node **flood;	/* queue of searches: mft.c */
	size_t flood_room;
	uint32_t mft_searches;
	bool mft_was_read; /* multicast tables were read since the last run: keep them */
};

/* program.c: processes the port now, or when the window has room. */
void program_look_at(struct program *program, struct port *port);
/* Whether this failure was logged already. *failure is the last logged failure of the port or
 * switch. A broken device fails in each sweep, so a failure is logged only when it is new or
 * different. Above the rate limit, the next sweep logs it. */
bool program_is_logged(struct program *program, uint32_t *failure, const char *what);
/* A switch reported changed links: no new routes use it until it has been read. */
void program_note_switch(struct program *program, struct node *node);
/* The fabric differs from the model. The run sends nothing more, not even what is queued at a gate
 * of the window. All tables count as unread, and a heavy sweep follows. */
void program_not_as_read(struct program *program);
/* An answer shows this state of a port. A link that was down in between is a change. */
void program_note_state(struct program *program, const struct port *port, uint8_t state);

/* ports.c */

/* The next request of a port, in a run over ports; false: nothing now. */
bool ports_request(struct program *program, struct port *port, struct smp_request *out);
/* The same between runs: only P_Keys with their prerequisites, and ClientReregister. */
bool ports_request_between_runs(struct program *program, struct port *port,
				struct smp_request *out);
/* Whether a port is up and nothing is to be written, as for nearly all ports in most sweeps.
 * This test is cheaper than a queued turn, because the port is in the processor cache. False for
 * port 0, which has the turn of its switch. */
bool ports_is_good(const struct program *program, struct port *port);
/* Whether the state of the port allows Sets. */
bool ports_take_sets(const struct port *port);
/* Whether the cable of a port is not changed, because no route uses a switch at one of its
 * ends. */
bool ports_left_alone(const struct fabric *fabric, const struct port *port);
/* Reads the ports whose state was read too early. */
void ports_read_lagging(struct program *program);
/* Clears the list of these ports at the end of a run. */
void ports_forget_lagging(struct program *program);
/* Logs that the link of a port uses less than both ends support. */
void ports_warn_of_mismatch(struct program *program, const struct port *port);

/* reregister.c */

/* Sets up the queue. */
void reregister_init(struct program *program);
/* Stops the timer. */
void reregister_done(struct program *program);
/* Whether the MasterSMLID of the port is ours. */
bool reregister_knows_us(const struct port *port, const struct port_info *want);
/* Whether a port has to be notified of its manager or to re-register, and nothing is more
 * urgent. */
bool reregister_is_due(const struct program *program, const struct port *port,
		       const struct port_info *want);
/* Whether the rate permits the notification now; otherwise the port is queued. True counts as
 * one notification. */
bool reregister_may_send(struct program *program, struct port *port, const struct port_info *want);

/* fdr10.c */

/* Whether FDR10 of the port must be enabled or disabled, and the port accepts this. */
bool fdr10_differs(const struct program *program, const struct port *port);
/* The next FDR10 request; false: none. The port is busy until it is done. */
bool fdr10_request(struct program *program, struct port *port, struct smp_request *out);

/* switch.c */

/* The next request for the tables and SwitchInfo of a switch; false: none now. */
bool switch_request(struct program *program, struct node *node, struct smp_request *out);
/* Processes some of the ports that waited for a settled switch; false: there are none. */
bool switch_wake_ports(struct program *program, struct node *node);
/* Sets the wanted table of the switch from its row of routes; both NULL: it stays. */
void switch_take_routes(struct program *program, struct node *node, const struct snapshot *snapshot,
			const struct routes *routes);
/* Whether blocks of its table, or its LinearFDBTop, are still to be written. */
bool switch_is_unfinished(const struct node *node);
/* Processes the switches and ports that wait for an entry or a cable of this switch. */
void switch_wake_waiters(struct program *program, struct node *node);

/* Whether a block has to be written. */
static inline bool block_is_dirty(const struct switch_state *sw, uint16_t block)
{
	return sw->lft.dirty[block / 64] >> block % 64 & 1;
}

/* Counts and logs a failure of the switch. */
void switch_failed(struct program *program, struct node *node, const char *what);

/* Whether packets may pass the switch: one of its ports is ACTIVE. */
bool switch_forwards(const struct node *node);

/* Builds a Set(SwitchInfo) with this MulticastFDBTop; always true. */
bool switch_raise_mft_top(struct program *program, struct node *node, lid_t top,
			  struct smp_request *out);

/* mft.c */

/* The next cell of its multicast table to read or write; false: nothing now. */
bool mft_request(struct program *program, struct node *node, struct smp_request *out);
/* The next cell to read; false: none now. */
bool mft_read_request(struct program *program, struct node *node, struct smp_request *out);
/* Whether cells are still to be read or written. */
bool mft_has_work(const struct node *node);
/* Prepares a run; lost: the switch may have lost its tables. */
void mft_begin(struct program *program, struct node *node, bool lost);
/* MulticastFDBTop for a Set(SwitchInfo) that does not raise it. */
lid_t mft_top(const struct node *node);
/* The switch to wait for before a cable between two switches may pass packets; NULL: none. */
struct node *mft_cable_blocker(struct program *program, struct port *port);

/* cached.c */

/* Look up the cached table of a switch whose table is unknown. Until its check is complete, only
 * samples of the table are read. */
void lft_cache_begin(struct program *program, struct node *node);
void mft_cache_begin(struct program *program, struct node *node);
/* The next sample; false: none now. If the check is complete, sw->cache.row or mft->cached is then
 * NULL. */
bool lft_cache_request(struct program *program, struct node *node, struct smp_request *out);
bool mft_cache_request(struct program *program, struct node *node, struct smp_request *out);
void lft_cache_drop(struct switch_state *sw); /* harmless without a cached table */

/* verify.c */

/* Prepares the check at the begin of a run. */
void verify_begin(struct program *program, struct node *node);
/* The next identity request to a switch; false: a request is under way, or it failed. */
bool verify_request(struct program *program, struct node *node, struct smp_request *out);
/* Whether the switch is verified. Otherwise the request is sent in its turn, and its answer
 * wakes the objects that wait for the switch. */
bool verify_switch(struct program *program, struct node *node);
/* Whether Sets to a switch must use its verified route, and are not repeated before another check.
 * This is so if the switch forwards, or if there was a change since the begin of the sweep. */
bool verify_is_needed(const struct program *program, const struct node *node);
/* Builds a request for SwitchInfo or a block of a table, on the verified route. A Get() has one
 * attempt, because the block of another switch is of no use. An unanswered Set() is repeated on its
 * route only if no change has come since, because cables may have moved and the route may lead to
 * a switch that forwards. The caller fills in the data of a Set(). */
void verify_table_request(struct program *program, struct node *node, uint8_t method,
			  uint16_t attr_id, uint32_t attr_mod, smp_done_fn *done,
			  struct smp_request *out);

enum table_answer {
	TABLE_CANCELED,
	TABLE_AGAIN,  /* no answer: the request is due again after the switch has been verified */
	TABLE_FAILED, /* no answer to the last attempt, or a status */
	TABLE_GOOD,
};
/* Counts the answer to such a request. */
enum table_answer verify_table_answer(struct node *node, const struct smp_request *request,
				      const struct smp_answer *answer);

/* program.c: counts a setting that the port refused or changed, and notes the port. */
void program_note_refusal(struct program *program, const struct port *port);

/* refused.c */

/* Whether the switch currently gets no Sets, only Gets. */
bool refused_rests(const struct program *program, const struct node *node);
/* Whether Sets of its ports had no answer. It gets none before it has answered a Get(). */
bool refused_is_mute(const struct node *node);
void refused_port_set(struct node *node, int error); /* result of a Set() of a port */
void refused_hears(struct node *node); /* clears the mute state: it answered, or a run begins */
/* It refused a Set() with status, or answered no attempt (0) although it answers other
 * requests. */
void refused_note(struct program *program, struct node *node, uint16_t attr_id, uint16_t status);
/* The switch has accepted all its tables. */
void refused_took_all(struct program *program, struct node *node);

/* pkeys.c */

enum pkeys_state {
	PKEYS_GOOD,	  /* the tables at the port's cable are complete */
	PKEYS_REQUEST,	  /* send the request */
	PKEYS_WAIT,	  /* a request is under way, or the other end is next */
	PKEYS_UNANSWERED, /* a request had no answer */
};

/* Whether the cable is known to be PKEYS_GOOD; false: call program_pkeys(). */
bool program_pkeys_good(const struct program *program, struct port *port);
/* The next request for the P_Key tables at the cable of a port, if it is this port's turn. */
enum pkeys_state program_pkeys(struct program *program, struct port *port, struct smp_request *out);

/* order.c: the switch to wait for before a Set(); NULL: the Set() is safe now. */

/* Writing the wanted entry for lid. lossless: a working entry is replaced, so no packet may be
 * lost; otherwise only loops are forbidden. */
struct node *order_entry_blocker(struct node *node, lid_t lid, bool lossless);
/* Raising LinearFDBTop to the wanted value, after the table below it was written. */
struct node *order_top_blocker(struct node *node);
/* Setting a cable between two switches ACTIVE. */
struct node *order_cable_blocker(struct port *port);
/* Whether the order of Sets matters. It does not if all new tables together cause no loop and
 * all cables are as they were read. */
bool order_matters(const struct program *program);
/* Whether an entry drops packets, as LFT_NO_PORT does. */
bool order_ends(struct node *node, uint8_t out);
/* Whether packets for lid that leave the switch by this port return to it, according to the known
 * tables of all switches on the route, and to the cables as they were read. */
bool order_comes_back(struct node *node, uint8_t out, lid_t lid);
/* Whether the switch may forward above the LinearFDBTop and MulticastFDBTop that were read:
 * another manager has been MASTER since then, and the switch does not answer. */
bool order_tops_unknown(const struct node *node);
/* Whether a switch may send packets by a port: its link is up, or its state is unknown. The state
 * is unknown at a silent switch, too, because a cable may have been moved to the port since. */
bool order_may_send(const struct port *port);

#endif
