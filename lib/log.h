/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The log: to the journal with typed fields, or to stderr when there is none. It is the only door
 * to the journal. Each line belongs to the component whose source file wrote it (LOG_COMPONENT is
 * given by the Makefile) and has a syslog level; levels are kept by component and can be changed at
 * run time. Loop thread only (jobs do not log). Keys (M_Key, SM_Key, SA_Key) are never passed to
 * it.
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG */

#include "include/iba.h"

/* What a line is about; each member that is set becomes a journal field. Zero or NULL: not set. */
struct log_subject {
	const char *message_id; /* MESSAGE_ID: 32 hex digits, for what an operator acts on */
	guid_t node_guid;	/* IB_NODE_GUID */
	const char *node_desc;	/* IB_NODE_DESC */
	int port;		/* IB_PORT, when node_guid is set and port > 0 */
	lid_t lid;		/* IB_LID */
	const char *role;	/* SM_ROLE */
	uint64_t sweep;		/* SM_SWEEP */
	const char *phase;	/* SM_PHASE */
};

/* A token bucket for what a remote node can cause: at most burst lines, refilled one per interval.
 */
struct log_limit {
	unsigned burst;
	uint64_t interval_us;
	unsigned used;
	uint64_t last_us;
	uint64_t suppressed; /* since the last line that passed; told with the next one */
};

/* Journal when stderr is connected to it (JOURNAL_STREAM) and it answers, stderr otherwise. */
void log_open(void);
/* component NULL: all of them. -ENOENT for a component that does not exist, -EINVAL for a level. */
int log_set_level(const char *component, int level);
int log_level(const char *component); /* or -ENOENT */
/* The list of components, NULL terminated. */
const char *const *log_components(void);
/* Levels in the words of journalctl -p, LOG_EMERG first, NULL terminated. */
extern const char *const log_level_words[];

void log_write(int level, const char *component, const struct log_subject *subject,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The text of the last line of LOG_ERR or worse that was written; "": there was none. */
const char *log_last_error(void);
/* Who hears each line whose subject has a message_id, whatever the levels are; fn NULL: nobody. It
 * may log nothing itself. What a limit has held back was not written, and is not heard either. */
typedef void log_heard_fn(void *ctx, int level, const struct log_subject *subject,
			  const char *text);
void log_watch(log_heard_fn *fn, void *ctx);
/* False, and counted, when the line should not be written now. Asked just before log_write(), and
 * for nothing but a line: the next one tells what this limit has held back. What else is to be
 * limited has a struct rate (lib/rate.h). */
bool log_allowed(struct log_limit *limit);
/* The clock of the limits, for a simulation; NULL: CLOCK_MONOTONIC. */
void log_set_clock(uint64_t (*now_us)(void *ctx), void *ctx);

#ifndef LOG_COMPONENT
#define LOG_COMPONENT "test"
#endif
#define log_error(...) log_write(LOG_ERR, LOG_COMPONENT, NULL, __VA_ARGS__)
#define log_warning(...) log_write(LOG_WARNING, LOG_COMPONENT, NULL, __VA_ARGS__)
#define log_notice(...) log_write(LOG_NOTICE, LOG_COMPONENT, NULL, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, LOG_COMPONENT, NULL, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, LOG_COMPONENT, NULL, __VA_ARGS__)
/* With journal fields; subject is a pointer:
 * log_about(LOG_WARNING, &(struct log_subject){.node_guid = g, .port = 3}, "text %d", n). */
#define log_about(level, subject, ...) log_write(level, LOG_COMPONENT, subject, __VA_ARGS__)
/* At most limit's rate. */
#define log_limited(limit, level, subject, ...)                                \
	do {                                                                   \
		if (log_allowed(limit))                                        \
			log_write(level, LOG_COMPONENT, subject, __VA_ARGS__); \
	} while (0)

#endif
