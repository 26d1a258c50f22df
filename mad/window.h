/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The window: how many SMPs are under way, to one target and in total. VL15 has no flow control and
 * small buffers, so every SMP that expects an answer passes the window. A target (a node, or an
 * unknown device behind a port) has few under way, and targets take turns. A target that does not
 * answer uses its own few places and no others. Retries are made here, each along the route that
 * the target has at that moment. The window knows no fabric: the target supplies the route. Loop
 * thread only.
 *
 * The total follows from the answers: it rises with answers, and is halved when many targets lose
 * requests at the same time. The rate follows from the time that switches need to pass SMPs
 * (mad/pace.h), and the time-out from the earlier round trips over as many hops (mad/rtt.h).
 *
 * The kernel drops an answer after its time-out, so a slow target is never read without a longer
 * wait. After a request was given up, the next request to this target waits twice as long, up to
 * some seconds. A target that is slow, or may be, has one request under way.
 */
#ifndef MAD_WINDOW_H
#define MAD_WINDOW_H

#include "lib/list.h"
#include "lib/loop.h"
#include "mad/mad.h"
#include "mad/txn.h"

struct window;
struct window_target;

/* The way of an SMP: a directed route, or to a LID if directed is false. */
struct smp_route {
	bool directed;
	struct route_path path;
	lid_t lid;
	uint8_t subtree; /* the port of the first switch on the way; 0: none */
};

/* Limits how many requests of its targets are on the wire at once. The others wait. */
struct window_gate {
	unsigned limit, passed;
	struct list waiting; /* targets */
};

/* The result of a request: error 0 with the answer's status and data, or an errno: -ETIMEDOUT after
 * the last attempt, -EHOSTUNREACH if the target had no route, -ECANCELED. */
struct smp_answer {
	int error;
	uint16_t status; /* without the D bit; STATUS_OK: success */
	uint8_t data[SMP_DATA_SIZE];
};

struct smp_request;
typedef void smp_done_fn(void *owner, void *subject, const struct smp_request *request,
			 const struct smp_answer *answer);

struct smp_request {
	uint8_t method; /* METHOD_GET or METHOD_SET */
	uint16_t attr_id;
	uint32_t attr_mod;
	uint64_t m_key;		     /* of the last attempt, from the target */
	uint8_t data[SMP_DATA_SIZE]; /* of a Set() */
	unsigned attempts;	     /* in total; 0: the default of the limits */
	unsigned tried;		     /* attempts that the owner made before this request */
	unsigned way;		     /* added to the number of the attempt: selects its route */
	bool once;		     /* only one attempt: the owner repeats the request itself */
	bool pinned;		     /* all attempts use route, instead of the target's routes */
	struct smp_route route;	     /* of the last attempt */
	/* Called before each further attempt, with its number; may be NULL. It must not end the
	 * target. */
	void (*again)(void *owner, void *subject, unsigned attempt);
	/* Called before each further attempt; false: it is not sent, and the request completes with
	 * -ETIMEDOUT. May be NULL. */
	bool (*may_repeat)(void *owner, void *subject);
	/* Called once, with the result. owner is the module, subject the object of the request. */
	smp_done_fn *done;
	void *owner, *subject;
};

/* Embedded in the object that receives the SMPs. */
struct window_target {
	struct window *window;
	struct list ready; /* link: in the window's round of targets that may send, or at a gate */
	struct list queue; /* requests that were submitted, in order */
	struct list flights; /* requests under way */
	unsigned limit;	     /* under way at once */
	unsigned under_way;
	unsigned patience_ms; /* a first attempt waits this long; 0: as long as for others */
	bool answered;	      /* at least once */
	uint32_t lost_in;     /* round of the window in which it last lost a request, from 1 */
	struct window_gate *woken_by; /* it was woken and has not sent since */
	struct window_gate *gate;     /* shared with other targets; NULL: none */
	/* The way of attempt number 0, 1, ...; false: there is none now. */
	bool (*route)(const struct window_target *target, unsigned attempt, struct smp_route *out);
	/* The M_Key that this attempt carries; NULL: 0. */
	uint64_t (*key)(const struct window_target *target, unsigned attempt);
	/* Supplies the next request when the queue is empty; false: none (until window_wake()). May
	 * be NULL. */
	bool (*next)(void *owner, struct window_target *target, struct smp_request *out);
	void *next_owner;
};

struct window_limits {
	unsigned total;		 /* on the wire; with overdue requests never above 128 */
	unsigned timeout_min_ms; /* lower bound for a first attempt */
	unsigned timeout_ms;	 /* over a route of unknown speed, and of the last attempt */
	unsigned attempts;	 /* in all, at least 1 */
	bool fixed;		 /* the window is always as wide as total, without a pace */
};

/* Copies limits; table must outlive the window. */
struct window *window_new(struct loop *loop, struct txn_table *table,
			  const struct window_limits *limits);
void window_free(struct window *window); /* all targets must be done */
/* Copies limits; they apply from the next request on. */
void window_set_limits(struct window *window, const struct window_limits *limits);

/* limit: requests under way at once. The optional members are 0 or NULL, and may be set before the
 * first request. */
void window_target_init(struct window_target *target, struct window *window, unsigned limit,
			bool (*route)(const struct window_target *, unsigned, struct smp_route *));
/* All requests, queued or under way, complete with -ECANCELED before this returns. */
void window_target_done(struct window_target *target);
/* The same for the requests of this owner only; the target stays in use. */
void window_target_drop(struct window_target *target, const void *owner);
/* The same for its requests that are queued, for their first attempt or for another. */
void window_target_unqueue(struct window_target *target, const void *owner);

/* Queues a copy of request. Its done function is called once, never from within this call (but see
 * window_target_done). */
void window_submit(struct window_target *target, const struct smp_request *request);
/* next() has requests again. */
void window_wake(struct window_target *target);

/* Called (deferred) each time the last request under way or queued has completed. */
void window_on_idle(struct window *window, loop_fn *fn, void *arg);

/* Attempts that a request to the target has now; slow targets have fewer. For owners that repeat
 * requests themselves (once). */
unsigned window_attempts(const struct window_target *target);

/* All targets that point to the gate share limit requests on the wire. */
void window_gate_init(struct window_gate *gate, unsigned limit);

struct window_stats {
	uint64_t requests, completed, retries;
	uint64_t failed; /* given up after the last attempt */
	/* Answered after the first attempt: the request was lost, not refused. */
	uint64_t recovered;
	uint64_t shrinks; /* how often the window was halved */
	unsigned under_way, under_way_max;
	unsigned size; /* of the window now */
};
/* Since window_new(); borrowed, always current. */
const struct window_stats *window_stats(const struct window *window);

#endif
