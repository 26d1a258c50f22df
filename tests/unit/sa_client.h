/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An SA under test and its client, from the wire to the wire: requests go in at a transport that is
 * this file, answers are what it was told to send. The fabric is that of two_switches.h. A test
 * begins with begin() and ends with end().
 */
#ifndef TESTS_UNIT_SA_CLIENT_H
#define TESTS_UNIT_SA_CLIENT_H

#include <string.h>

#include "lib/be.h"
#include "sa/endport.h"
#include "sa/record.h"
#include "sa/sa.h"
#include "tests/unit/two_switches.h"
#include "tests/unit/unit.h"

#define SA_KEY UINT64_C(0x0123456789ABCDEF)
#define TID UINT64_C(0xFEEDFACE00C0FFEE)

static const struct sa_options options = {
	.sa_key = SA_KEY,
	.subnet_prefix = UINT64_C(0xFEC0000000000001),
	.packet_life_time = 18,
	.max_rate_enum = 63,
	.subnet_timeout = 19,
	.ipv6_snm_mlids = 1024,
	.registrations_per_port = 1024,
	.groups_per_port = 128,
};

/* The SA under test, and the last thing that it sent. */
static struct {
	struct loop *loop;
	struct transport transport;
	struct registry *registry;
	struct event_hub events;
	struct txn_table *txns;
	struct view *view;
	struct sa *server;
	int send_error;
	unsigned sent;
	struct mad_addr to;
	struct mad_header header;
	struct sa_header sa_header;
	uint8_t *mad;
	size_t size;
} sa;

static inline int capture(struct transport *transport, const struct mad_addr *to,
			  const uint8_t *mad, size_t size, unsigned timeout_ms)
{
	CU_ASSERT_PTR_EQUAL(transport, &sa.transport);
	CU_ASSERT_EQUAL(timeout_ms, 0);
	if (sa.send_error)
		return sa.send_error;
	sa.sent++;
	sa.to = *to;
	sa.mad = mem_resize(sa.mad, size, 1);
	sa.size = size;
	memcpy(sa.mad, mad, size);
	header_decode(mad, &sa.header);
	sa_header_decode(mad, &sa.sa_header);
	return 0;
}

static const struct transport_ops capture_ops = {.send = capture};

/* Of the default partition, as without a partition file. */
static const struct group_entry default_group = {
	.mgid = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF},
	.q_key = 0x0b1b,
	.mtu = 4,
	.p_key = PKEY_DEFAULT_FULL,
	.rate = 3,
	.scope = 2,
	.permanent = 1,
};

static inline void begin(void)
{
	memset(&sa, 0, sizeof(sa));
	sa.loop = loop_new();
	sa.transport.ops = &capture_ops;
	sa.txns = txn_table_new(sa.loop, &sa.transport);
	sa.view = two_switches_view();
	sa.registry = registry_new();
	event_hub_init(&sa.events);
	sa.server = sa_new(sa.loop, sa.txns, &sa.view, sa.registry, &sa.events, &options);
	sa_set_groups(sa.server, &default_group, 1);
	event_raise(&sa.events, &(struct event){.kind = EVENT_MASTER});
}

static inline void end(void)
{
	sa_free(sa.server);
	registry_free(sa.registry);
	txn_table_free(sa.txns);
	view_publish(&sa.view, NULL);
	loop_free(sa.loop);
	free(sa.mad);
}

/* A request; what is 0 here is the usual: from A's base LID, right versions, one MAD. */
struct ask {
	lid_t from;
	uint8_t method, class_version;
	uint16_t attr_id;
	uint16_t pkey_index;
	uint32_t attr_mod;
	uint64_t sm_key, mask;
	const struct format *format;
	const void *record;
	const uint8_t *gids; /* behind the record */
	size_t num_gids;
	size_t size;
};

static inline void turn_over(void *arg)
{
	(void)arg;
	loop_stop(sa.loop, 0);
}

/* One turn of the loop, in which long answers are worked at. */
static inline void turn(void)
{
	struct loop_timer timer;

	loop_timer_init(&timer, sa.loop, "a turn of the test", turn_over, NULL);
	loop_timer_arm(&timer, 0);
	loop_run(sa.loop);
}

/* Sends it; a long answer is not there yet when this returns. */
static inline void ask_only(const struct ask *ask, uint64_t tid)
{
	const struct mad_header header = {
		.base_version = 1,
		.mgmt_class = CLASS_SUBN_ADM,
		.class_version = ask->class_version ? ask->class_version : 2,
		.method = ask->method,
		.tid = tid,
		.attr_id = ask->attr_id,
		.attr_mod = ask->attr_mod,
	};
	const struct sa_header sa_header = {
		.sm_key = ask->sm_key, .attr_offset = 5, .component_mask = ask->mask};
	const struct mad_addr from = {
		.lid = ask->from ? ask->from : 16, .qpn = 1, .pkey_index = ask->pkey_index};
	uint8_t mad[2 * MAD_SIZE] = {0};

	header_encode(&header, mad);
	sa_header_encode(&sa_header, mad);
	if (ask->record)
		format_encode(ask->format, ask->record, mad + SUBN_ADM_HEADER_SIZE);
	if (ask->gids)
		memcpy(mad + SUBN_ADM_HEADER_SIZE + ask->format->wire_size, ask->gids,
		       ask->num_gids * (size_t)GID_SIZE);
	sa.transport.user.received(sa.transport.user.ctx, &from, mad,
				   ask->size ? ask->size : (size_t)MAD_SIZE);
}

/* Sends it and returns the answer's status, or -1 when there was none. */
static inline int ask(const struct ask *ask)
{
	unsigned before = sa.sent;

	ask_only(ask, TID);
	while (sa_waiting(sa.server))
		turn();
	CU_ASSERT_TRUE(sa.sent - before <= 1);
	return sa.sent > before ? sa.header.status : -1;
}

/* GetTable of what record has in mask: the number of records, after looking at their frame. */
static inline int trusted_table(uint64_t sm_key, uint16_t attr_id, const struct format *format,
				uint64_t mask, const void *record)
{
	size_t bytes;

	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET_TABLE,
					  .attr_id = attr_id,
					  .sm_key = sm_key,
					  .mask = mask,
					  .format = format,
					  .record = record}),
			STATUS_OK);
	bytes = sa.size - SUBN_ADM_HEADER_SIZE;
	CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_TABLE_RESP);
	CU_ASSERT_EQUAL(sa.mad[26] & RMPP_ACTIVE, RMPP_ACTIVE);
	CU_ASSERT_EQUAL(bytes % format->wire_size, 0);
	CU_ASSERT_EQUAL(sa.sa_header.attr_offset, bytes ? format->wire_size / 8 : 0);
	return (int)(bytes / format->wire_size);
}

static inline int table(uint16_t attr_id, const struct format *format, uint64_t mask,
			const void *record)
{
	return trusted_table(0, attr_id, format, mask, record);
}

static inline void answered(const struct format *format, unsigned index, void *record)
{
	format_decode(format, sa.mad + SUBN_ADM_HEADER_SIZE + index * format->wire_size, record);
}

static inline int ask_path(uint8_t method, uint64_t mask, const struct path_record *wanted)
{
	return ask(&(struct ask){.method = method,
				 .attr_id = RECORD_PATH,
				 .mask = mask,
				 .format = &path_record_format,
				 .record = wanted});
}

#endif
