/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes what weftd sees of MADs to a file as it comes, as Wireshark reads it (formats/pcap.h). */
#ifndef CTL_CAPTURE_H
#define CTL_CAPTURE_H

#include "ctl/commands.h"

extern const struct ctl_sink capture_sink;
void print_capture(const json_t *data, FILE *out);

#endif
