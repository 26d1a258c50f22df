/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Points in time that a user writes, as for journalctl --since. Pure, except for the time zone. */
#ifndef LIB_WHEN_H
#define LIB_WHEN_H

#include <stdbool.h>
#include <time.h>

/* Understands "2026-11-27", "2026-11-27 10:30", "10:30" (today), "today", "yesterday", and a time
 * before now: "90s", "30m", "2h", "3d", with or without " ago". A T may stand between date and
 * time, and seconds may follow. Local time. now: the present time. False: none of these. */
bool when_parse(const char *text, time_t now, time_t *when);

/* The value of events --since for a request: the number of an event as it is, a time as "@SECONDS"
 * since 1970-01-01. For free(); NULL: neither. */
char *when_since(const char *text);

#endif
