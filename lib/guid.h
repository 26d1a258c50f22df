/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs and GIDs as people and the control socket see them. Pure; any thread. */
#ifndef LIB_GUID_H
#define LIB_GUID_H

#include "include/iba.h"

enum { GUID_TEXT = sizeof("0x0123456789abcdef"), GID_TEXT = 46 /* INET6_ADDRSTRLEN */ };

/* "0x" and 16 digits; returns text. */
const char *guid_text(guid_t guid, char text[GUID_TEXT]);
/* As an IPv6 address is written; returns text. */
const char *gid_text(const uint8_t gid[GID_SIZE], char text[GID_TEXT]);

#endif
