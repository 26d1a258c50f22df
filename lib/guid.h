/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs and GIDs as text, as logs and the control socket show them. Pure; any thread. */
#ifndef LIB_GUID_H
#define LIB_GUID_H

#include <stdbool.h>

#include "include/iba.h"

enum { GUID_TEXT = sizeof("0x0123456789abcdef"), GID_TEXT = 46 /* INET6_ADDRSTRLEN */ };

/* "0x" and 16 digits; returns text. */
const char *guid_text(guid_t guid, char text[GUID_TEXT]);
/* Reads "0x" and hexadecimal digits at the beginning of text. Returns what follows them; NULL, with
 * out untouched: they are missing, are 0, or do not fit into 64 bits. */
const char *guid_scan(const char *text, guid_t *out);
/* The same of the whole text, which may be NULL. False: it is no GUID. */
bool guid_parse(const char *text, guid_t *out);
/* Reads a text of exactly 16 hexadecimal digits without 0x, as many tools print GUIDs. False, with
 * out untouched: it is no such text, or 0. */
bool guid_parse_digits(const char *text, guid_t *out);
/* Reads a GUID as users give it: as guid_parse(), or as guid_parse_digits(). text may be NULL. */
bool guid_read(const char *text, guid_t *out);
/* As an IPv6 address is written; returns text. */
const char *gid_text(const uint8_t gid[GID_SIZE], char text[GID_TEXT]);

#endif
