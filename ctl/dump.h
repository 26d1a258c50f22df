/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * route dump: the daemon gives the text of files piece by piece, and they are written here, with
 * the user's rights, into a folder that the user names.
 */
#ifndef CTL_DUMP_H
#define CTL_DUMP_H

#include "ctl/commands.h"

extern const struct ctl_sink dump_sink;

void print_dump(const json_t *data, FILE *out); /* which files there are */

#endif
