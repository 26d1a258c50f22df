/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints events: one line each, with time and number. */
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/transport.h"
#include "sma/agent.h"

/* Descriptions of simulated nodes have fewer than 64 bytes, so they are terminated. */
static inline const char *trace_name(const struct device *device)
{
	return (const char *)device->description.text;
}

void trace_line(uint64_t now_us, uint64_t event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* One MAD that node sent to, or received from, peer. */
void trace_mad(uint64_t now_us, uint64_t event, const char *node, bool sent,
	       const struct mad_addr *peer, const uint8_t *mad);

#endif
