/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The log: to the journal with typed fields, or to stderr without a journal. This is the only file
 * pair that uses the journal's API. Each line belongs to the component whose source file wrote it
 * (the Makefile defines LOG_COMPONENT) and has a syslog level. Each component has a level, which
 * can change at run time. Loop thread only (jobs do not log). Keys (M_Key, SM_Key, SA_Key) are
 * never passed to it.
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG */

#include "include/iba.h"

/* The object of a line; each member that is set becomes a journal field. Zero or NULL: not set. */
struct log_subject {
	/* MESSAGE_ID: 32 hex digits, for lines that require an operator's action. */
	const char *message_id;
	guid_t node_guid;      /* IB_NODE_GUID */
	const char *node_desc; /* IB_NODE_DESC */
	int port;	       /* IB_PORT, when node_guid is set and port > 0 */
	lid_t lid;	       /* IB_LID */
	const char *role;      /* SM_ROLE */
	uint64_t sweep;	       /* SM_SWEEP */
	const char *phase;     /* SM_PHASE */
};

/* A token bucket for lines that a remote node can cause: at most burst lines, and one more per
 * interval. */
struct log_limit {
	unsigned burst;
	uint64_t interval_us;
	unsigned used;
	uint64_t last_us;
	uint64_t suppressed; /* since the last line that passed; the next line shows it */
};

/* Uses the journal if stderr is connected to it (JOURNAL_STREAM) and it answers, else stderr. */
void log_open(void);
/* Sets the level of a component; NULL: of all. Returns -ENOENT for an unknown component, -EINVAL
 * for a level outside LOG_EMERG to LOG_DEBUG. */
int log_set_level(const char *component, int level);
int log_level(const char *component); /* or -ENOENT */
/* The list of components, NULL terminated. */
const char *const *log_components(void);
/* Levels in the words of journalctl -p, LOG_EMERG first, NULL terminated. */
extern const char *const log_level_words[];

/* Writes one line if the component's level allows it. subject may be NULL. The text has no newline.
 * Use the macros below. */
void log_write(int level, const char *component, const struct log_subject *subject,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The text of the last line of LOG_ERR or worse; "" if there was none. */
const char *log_last_error(void);
/* Receives each line whose subject has a message_id, at any level; it must not log. It does not
 * receive lines that a limit suppressed. */
typedef void log_heard_fn(void *ctx, int level, const struct log_subject *subject,
			  const char *text);
/* Sets the only receiver; fn NULL removes it. */
void log_watch(log_heard_fn *fn, void *ctx);
/* Returns false, and counts the line as suppressed, if the limit is reached. Call it directly
 * before log_write(), and only for a line: the next line shows how many this limit suppressed. Use
 * struct rate (lib/rate.h) for limits of other things. */
bool log_allowed(struct log_limit *limit);
/* Sets the clock of the limits, for a simulation; NULL: CLOCK_MONOTONIC. */
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
