/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The window: how many SMPs are under way, to one target and in total. VL15 has no flow control and
 * small buffers, so every SMP that expects an answer goes through here: a target (one node, or one
 * unknown thing behind a port) has few under way, and targets take turns. A target that does not
 * answer holds its own few places and nothing else. Retries are here, each along the route that the
 * target has at that moment. The window knows no fabric: a target brings its route along.
 * Loop thread only.
 *
 * How many are under way in all follows from what comes back: the number rises with answers, and is
 * halved when many targets lose requests at the same time. How fast they follow each other follows
 * from how long switches need to pass them on (mad/pace.h), and how long an answer may take from
 * how long it took over as many hops.
 *
 * The kernel drops an answer that comes after its time-out, so a slow target is never heard by who
 * does not wait for it. Where a request was given up the next one waits twice as long, up to some
 * seconds; a target that is slow, or may be, has one request under way.
 */
#ifndef MAD_WINDOW_H
#define MAD_WINDOW_H

#include "lib/list.h"
#include "lib/loop.h"
#include "mad/mad.h"
#include "mad/txn.h"

struct window;
struct window_target;

/* Where an SMP goes: by directed route, or to a LID when directed is false. */
struct smp_route {
	bool directed;
	struct route_path path;
	lid_t lid;
	uint8_t subtree; /* behind which port of the first switch; 0: none */
};

/* So many of its targets' requests may be on the wire at once. Those beyond wait. */
struct window_gate {
	unsigned limit, passed;
	struct list waiting; /* targets */
};

/* One request. The done function gets error 0 with the answer's status and data, or an errno:
 * -ETIMEDOUT after the last attempt, -EHOSTUNREACH when the target had no route, -ECANCELED. */
struct smp_answer {
	int error;
	uint16_t status; /* without the D bit; STATUS_OK when all is well */
	uint8_t data[SMP_DATA_SIZE];
};

struct smp_request {
	uint8_t method; /* METHOD_GET or METHOD_SET */
	uint16_t attr_id;
	uint32_t attr_mod;
	uint64_t m_key;		     /* that the last attempt carried: the target's */
	uint8_t data[SMP_DATA_SIZE]; /* of a Set() */
	unsigned attempts;	     /* in all; 0: as the window's limits say */
	unsigned tried;		     /* attempts before this request, which the asker made itself */
	unsigned way; /* added to an attempt's number it says which route that takes */
	bool once;    /* no further attempt follows: the asker sees to that */
	/* Told before each further attempt, which has this number; may be NULL. It must not end the
	 * target. */
	void (*again)(void *owner, void *subject, unsigned attempt);
	/* Asked when a further attempt is about to be sent; false: it is not sent, and the request
	 * completes with -ETIMEDOUT. May be NULL. */
	bool (*may_repeat)(void *owner, void *subject);
	/* owner and subject are the asker's: who asked, about what. */
	void (*done)(void *owner, void *subject, const struct smp_request *request,
		     const struct smp_answer *answer);
	void *owner, *subject;
};

/* Embedded in what it stands for. */
struct window_target {
	struct window *window;
	struct list ready; /* link: in the window's round of targets that may send, or at a gate */
	struct list queue; /* requests that were submitted, in order */
	struct list flights; /* requests under way */
	unsigned limit;	     /* under way at once */
	unsigned under_way;
	unsigned patience_ms; /* a first attempt waits this long; 0: as long as for others */
	bool answered;	      /* it has, at some time */
	uint32_t lost_in;     /* round of the window in which it last lost a request, from 1 */
	struct window_gate *woken_by; /* since then it has not had its turn */
	struct window_gate *gate;     /* shared with other targets; NULL: none */
	/* Where to send attempt number 0, 1, ...; false: nowhere now. */
	bool (*route)(const struct window_target *target, unsigned attempt, struct smp_route *out);
	/* The M_Key that this attempt carries; NULL: 0. */
	uint64_t (*key)(const struct window_target *target, unsigned attempt);
	/* Asked for the next request when the queue is empty; false: nothing more (until
	 * window_wake). NULL: there is no such source. */
	bool (*next)(void *owner, struct window_target *target, struct smp_request *out);
	void *next_owner;
};

struct window_limits {
	unsigned total; /* on the wire in all, at the most; with what is overdue never above 128 */
	unsigned timeout_min_ms; /* of a first attempt, however fast answers come */
	unsigned timeout_ms;	 /* of one over a route of unknown speed, and of the last one */
	unsigned attempts;	 /* in all, at least 1 */
	bool fixed;		 /* the window is as wide as total and keeps no pace */
};

struct window *window_new(struct loop *loop, struct txn_table *table,
			  const struct window_limits *limits);
void window_free(struct window *window); /* all targets must be done */
void window_set_limits(struct window *window, const struct window_limits *limits);

void window_target_init(struct window_target *target, struct window *window, unsigned limit,
			bool (*route)(const struct window_target *, unsigned, struct smp_route *));
/* What is queued or under way completes with -ECANCELED, now, before this returns. */
void window_target_done(struct window_target *target);
/* The same of what this owner has asked of the target, which goes on. */
void window_target_drop(struct window_target *target, const void *owner);

/* Queues a copy of request. Its done function is called once, never from within this call (but see
 * window_target_done). */
void window_submit(struct window_target *target, const struct smp_request *request);
/* The target's next() has something to give again. */
void window_wake(struct window_target *target);

/* Called (deferred) each time the last request under way or queued has completed. */
void window_on_idle(struct window *window, loop_fn *fn, void *arg);

/* How many attempts a request to the target has now: fewer where each one waits long. For who makes
 * them itself, with once. */
unsigned window_attempts(const struct window_target *target);

void window_gate_init(struct window_gate *gate, unsigned limit);

struct window_stats {
	uint64_t requests, completed, retries;
	uint64_t failed;    /* given up after the last attempt */
	uint64_t recovered; /* answered after the first attempt: so it was lost, not refused */
	uint64_t shrinks;   /* how often the window was halved */
	unsigned under_way, under_way_max;
	unsigned size; /* of the window now */
};
const struct window_stats *window_stats(const struct window *window);

#endif
