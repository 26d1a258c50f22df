/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes the trace of a simulation to stdout. */
#include "tests/sim/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "mad/mad.h"

enum { SECOND_US = 1000000, D_BIT = 0x8000 };

static void begin(uint64_t now_us, uint64_t event)
{
	printf("%6" PRIu64 ".%06" PRIu64 " #%-7" PRIu64 " ", now_us / SECOND_US, now_us % SECOND_US,
	       event);
}

void trace_line(uint64_t now_us, uint64_t event, const char *format, ...)
{
	va_list arguments;

	begin(now_us, event);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

/* "1,4,2": the exit ports of a directed SMP. */
static void print_path(const uint8_t *mad, unsigned hops)
{
	for (unsigned i = 1; i <= hops && i <= HOPS_MAX; i++)
		printf("%s%u", i > 1 ? "," : "", mad[SMP_INITIAL_PATH_OFFSET + i]);
}

void trace_mad(uint64_t now_us, uint64_t event, const char *node, bool sent,
	       const struct mad_addr *peer, const uint8_t *mad)
{
	struct mad_header header;

	header_decode(mad, &header);
	begin(now_us, event);
	printf("%s %s %s(%s) %u", node, sent ? ">" : "<",
	       method_name(header.mgmt_class, header.method),
	       attr_name(header.mgmt_class, header.attr_id), header.attr_mod);
	if (header.mgmt_class == CLASS_SUBN_DIRECTED) {
		printf(" [");
		print_path(mad, header.hop_count);
		printf("]");
	} else {
		printf(" LID %u", peer->lid);
	}
	if (header.status & ~D_BIT)
		printf(" status 0x%04x", header.status & ~D_BIT);
	putchar('\n');
}
