/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The log: a line of text and its subject go to the journal as typed fields, or to stderr as
 *
 *	WARNING sm: link is flapping [node 0x0002c90300000001 "leaf 3" port 3 lid 5]
 *
 * Every component calls it, on the loop thread. It owns the levels of the components. Node
 * descriptions are bytes that a remote node chose, and they reach both the text and the fields.
 * Bytes that are not printable UTF-8 are written as \xNN, so no node can forge a line or control a
 * terminal.
 */
#include "lib/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#define SD_JOURNAL_SUPPRESS_LOCATION /* no CODE_FILE etc.: the component is enough */
#include <systemd/sd-journal.h>

#include "lib/mem.h"
#include "lib/rate.h"
#include "lib/utf8.h"

enum {
	TEXT_BYTES = 1024, /* longer lines are cut */
	LINE_BYTES = 4096,
	FIELD_BYTES = 320, /* an escaped node description */
	FIELDS_MAX = 13,
};

static const char *const components[] = {"lib",	  "formats", "mad",  "sma", "store", "fabric",
					 "route", "ha",	     "sm",   "pm",  "sa",    "weftd",
					 "sim",	  "ctl",     "test", NULL};
#define COMPONENT_TEST (ARRAY_SIZE(components) - 2)
static int levels[COMPONENT_TEST + 1] = {
	[0 ... COMPONENT_TEST - 1] = LOG_INFO, [COMPONENT_TEST] = LOG_NOTICE};

const char *const log_level_words[] = {"emerg",	 "alert", "crit",  "err", "warning",
				       "notice", "info",  "debug", NULL};
static const char *const level_names[] = {"EMERGENCY", "ALERT",	 "CRITICAL", "ERROR",
					  "WARNING",   "NOTICE", "INFO",     "DEBUG"};

static bool to_journal;
static uint64_t suppressed; /* from log_allowed(); the next line shows it */

static char last_error[LINE_BYTES];

static log_heard_fn *heard;
static void *heard_ctx;

void log_watch(log_heard_fn *fn, void *ctx)
{
	heard = fn;
	heard_ctx = ctx;
}

static uint64_t monotonic_us(void *ctx)
{
	struct timespec time;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static uint64_t (*limit_clock)(void *ctx) = monotonic_us;
static void *limit_clock_ctx;

void log_set_clock(uint64_t (*now_us)(void *ctx), void *ctx)
{
	limit_clock = now_us ? now_us : monotonic_us;
	limit_clock_ctx = ctx;
}

/* libsystemd reports success without a journal and drops the line: check its socket first. */
static bool journal_answers(void)
{
	const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/systemd/journal/socket",
	};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool answers;

	if (fd < 0)
		return false;
	answers = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return answers;
}

/* JOURNAL_STREAM names the device and inode of the stream that systemd made our stderr; a child
 * whose stderr was redirected inherits the variable, but not the stream (systemd.exec(5)). */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uint64_t device, inode;
	struct stat status;

	return stream && sscanf(stream, "%" SCNu64 ":%" SCNu64, &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &status) && status.st_dev == device && status.st_ino == inode;
}

void log_open(void)
{
	to_journal = stderr_is_journal() && journal_answers();
}

/* The component's place in components[], -ENOENT when there is none of that name. */
static int component_find(const char *name)
{
	for (int i = 0; components[i]; i++) {
		if (!strcmp(components[i], name))
			return i;
	}
	return -ENOENT;
}

int log_set_level(const char *room, int level)
{
	int found;

	if (level < LOG_EMERG || level > LOG_DEBUG)
		return -EINVAL;
	if (!room) {
		for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
			levels[i] = level;
		return 0;
	}
	found = component_find(room);
	if (found < 0)
		return found;
	levels[found] = level;
	return 0;
}

int log_level(const char *room)
{
	int found = component_find(room);

	return found < 0 ? found : levels[found];
}

const char *const *log_components(void)
{
	return components;
}

/* Copies from to to. Unprintable bytes, and the characters of also, become \xNN. Cut to the size of
 * to. */
static void escape(char *to, size_t size, const char *from, const char *also)
{
	const char *end = to + size - 1;

	while (*from) {
		size_t length = strchr(also, *from)
					? 0
					: utf8_printable((const unsigned char *)from, SIZE_MAX);

		if (end - to < 4)
			break;
		if (length) {
			memcpy(to, from, length);
			to += length;
			from += length;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)*from++);
		}
	}
	*to = '\0';
}

/* A journal field "NAME=value". The line of text shows it as word and value; word NULL hides it,
 * an empty word puts the value in quotes. */
struct field {
	const char *word;
	const char *value; /* within text */
	char text[FIELD_BYTES];
};

struct fields {
	size_t count;
	struct field all[FIELDS_MAX];
};

static void __attribute__((format(printf, 4, 5)))
field_add(struct fields *fields, const char *word, const char *name, const char *format, ...)
{
	struct field *field = &fields->all[fields->count++];
	int length = snprintf(field->text, sizeof(field->text), "%s=", name);
	va_list args;

	field->word = word;
	field->value = field->text + length;
	va_start(args, format);
	vsnprintf(field->text + length, sizeof(field->text) - (size_t)length, format, args);
	va_end(args);
}

static void subject_fields(struct fields *fields, const struct log_subject *subject)
{
	char desc[FIELD_BYTES - sizeof("IB_NODE_DESC=")];

	if (subject->message_id)
		field_add(fields, NULL, "MESSAGE_ID", "%s", subject->message_id);
	if (subject->node_guid)
		field_add(fields, "node", "IB_NODE_GUID", "0x%016" PRIx64, subject->node_guid);
	if (subject->node_desc) {
		escape(desc, sizeof(desc), subject->node_desc, "\"\\");
		field_add(fields, "", "IB_NODE_DESC", "%s", desc);
	}
	if (subject->node_guid && subject->port > 0)
		field_add(fields, "port", "IB_PORT", "%d", subject->port);
	if (subject->lid)
		field_add(fields, "lid", "IB_LID", "%u", subject->lid);
	if (subject->role)
		field_add(fields, "role", "SM_ROLE", "%s", subject->role);
	if (subject->sweep)
		field_add(fields, "sweep", "SM_SWEEP", "%" PRIu64, subject->sweep);
	if (subject->phase)
		field_add(fields, "phase", "SM_PHASE", "%s", subject->phase);
}

struct line {
	size_t length;
	char text[LINE_BYTES];
};

static void __attribute__((format(printf, 2, 3)))
line_add(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->length;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line->text + line->length, room, format, args);
	va_end(args);
	line->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* The text, then the number of suppressed lines, then the subject in brackets. */
static void compose(struct line *line, const char *text, uint64_t held_back,
		    const struct fields *fields)
{
	const char *before = " [";

	line_add(line, "%s", text);
	if (held_back)
		line_add(line, " (%" PRIu64 " similar lines were suppressed)", held_back);
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->all[i];

		if (!field->word)
			continue;
		line_add(line, *field->word ? "%s%s %s" : "%s%s\"%s\"", before, field->word,
			 field->value);
		before = " ";
	}
	if (!strcmp(before, " "))
		line_add(line, "]");
}

static int journal_send(int level, const char *room, const char *line, struct fields *fields)
{
	char message[LINE_BYTES + sizeof("MESSAGE=")];
	struct iovec vector[FIELDS_MAX + 1] = {{.iov_base = message}};

	vector[0].iov_len = (size_t)snprintf(message, sizeof(message), "MESSAGE=%s", line);
	field_add(fields, NULL, "PRIORITY", "%d", level);
	field_add(fields, NULL, "SYSLOG_IDENTIFIER", "%s", program_invocation_short_name);
	field_add(fields, NULL, "WEFT_COMPONENT", "%s", room);
	field_add(fields, NULL, "WEFT_ROOM", "%s", room); /* its former name, for one release */
	for (size_t i = 0; i < fields->count; i++) {
		vector[i + 1].iov_base = fields->all[i].text;
		vector[i + 1].iov_len = strlen(fields->all[i].text);
	}
	return sd_journal_sendv(vector, (int)fields->count + 1);
}

static void line_write(int level, const char *room, const struct log_subject *subject,
		       const char *text, uint64_t held_back)
{
	char safe[2 * TEXT_BYTES];
	struct fields fields;
	struct line line;
	int saved_errno = errno;

	escape(safe, sizeof(safe), text, "");
	fields.count = 0;
	if (subject)
		subject_fields(&fields, subject);
	line.length = 0;
	compose(&line, safe, held_back, &fields);
	if (level <= LOG_ERR)
		strcpy(last_error, line.text);
	if (!to_journal || journal_send(level, room, line.text, &fields) < 0)
		fprintf(stderr, "%s %s: %s\n", level_names[level & LOG_PRIMASK], room, line.text);
	errno = saved_errno;
}

void log_write(int level, const char *room, const struct log_subject *subject, const char *format,
	       ...)
{
	int found = component_find(room);
	bool shown = level <= (found < 0 ? LOG_INFO : levels[found]);
	bool watched = heard && subject && subject->message_id;
	uint64_t held_back = suppressed;
	char text[TEXT_BYTES];
	va_list args;

	suppressed = 0;
	if (!shown && !watched)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (shown)
		line_write(level, room, subject, text, held_back);
	if (watched)
		heard(heard_ctx, level, subject, text);
}

const char *log_last_error(void)
{
	return last_error;
}

bool log_allowed(struct log_limit *limit)
{
	struct rate rate = {limit->burst, limit->interval_us, limit->used, limit->last_us};
	bool allowed = rate_allows(&rate, limit_clock(limit_clock_ctx));

	limit->used = rate.used;
	limit->last_us = rate.last_us;
	if (!allowed) {
		limit->suppressed++;
		return false;
	}
	suppressed = limit->suppressed;
	limit->suppressed = 0;
	return true;
}
