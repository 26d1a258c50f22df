/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A switch and three hosts whose links are ACTIVE, a kernel at each host, and programs that open
 * files there, write MADs and keep what they could read: for the tests of sim/kernel.h. Time is
 * virtual and goes from event to event.
 */
#ifndef TESTS_UNIT_KERNEL_BED_H
#define TESTS_UNIT_KERNEL_BED_H

#include <rdma/ib_user_mad.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sim/kernel.h"
#include "tests/unit/unit.h"

enum { HOSTS = 3, HOST_LID = 10 }; /* of the first; two LIDs each */

struct bed {
	struct world *world;
	struct kernel *kernel;
	struct device *host[HOSTS], *sw;
	struct kernel_port *port[HOSTS];
};

/* An open file. What came last is kept whole; deaf ones take nothing. */
struct program {
	struct bed *bed;
	struct kernel_file *file;
	unsigned heard;
	uint64_t at_us;
	struct ib_user_mad_hdr header;
	uint8_t *mad;
	size_t size;
	bool deaf;
	struct program *closes;			 /* from within */
	void (*answer)(struct program *program); /* from within */
	uint32_t order[512];			 /* the lower halves of the TIDs that came */
};

static inline bool bed_readable(void *ctx, const uint8_t *umad, size_t size)
{
	struct program *program = ctx;

	CU_ASSERT(size >= KERNEL_HEADER_SIZE + MAD_HEADER_SIZE);
	if (program->deaf)
		return false;
	program->at_us = world_now_us(program->bed->world);
	memcpy(&program->header, umad, sizeof(program->header));
	free(program->mad);
	program->size = size - KERNEL_HEADER_SIZE;
	program->mad = mem_alloc(program->size);
	memcpy(program->mad, umad + KERNEL_HEADER_SIZE, program->size);
	program->order[program->heard++ % ARRAY_SIZE(program->order)] =
		be32_load(program->mad + 12);
	if (program->answer)
		program->answer(program);
	if (program->closes) {
		struct program *other = program->closes;

		program->closes = NULL;
		kernel_file_close(other->file);
		other->file = NULL;
	}
	return true;
}

static inline void program_open(struct program *program, struct bed *bed, unsigned host)
{
	*program = (struct program){.bed = bed};
	program->file = kernel_file_open(bed->port[host], bed_readable, program);
}

static inline void program_close(struct program *program)
{
	kernel_file_close(program->file);
	free(program->mad);
	*program = (struct program){0};
}

static inline int program_register(struct program *program, unsigned mgmt_class, unsigned version,
				   unsigned rmpp_version, uint64_t methods, uint32_t *agent)
{
	bool is_smp = mgmt_class == CLASS_SUBN_LID || mgmt_class == CLASS_SUBN_DIRECTED;
	const struct kernel_agent_request request = {
		.qpn = is_smp ? 0 : 1,
		.mgmt_class = mgmt_class,
		.mgmt_class_version = version,
		.rmpp_version = rmpp_version,
		.oui = mgmt_class >= 0x30 && mgmt_class <= 0x4F ? 0x001405 : 0,
		.method_mask = {methods},
	};

	return kernel_file_register(program->file, &request, agent);
}

static inline uint32_t program_must_register(struct program *program, unsigned mgmt_class,
					     unsigned version, unsigned rmpp_version,
					     uint64_t methods)
{
	uint32_t agent = UINT32_MAX;

	CU_ASSERT_EQUAL_FATAL(
		program_register(program, mgmt_class, version, rmpp_version, methods, &agent), 0);
	return agent;
}

static inline int program_write(struct program *program, const struct ib_user_mad_hdr *header,
				const uint8_t *mad, size_t size)
{
	uint8_t *umad = mem_alloc(KERNEL_HEADER_SIZE + size);
	int status;

	memcpy(umad, header, sizeof(*header));
	memcpy(umad + KERNEL_HEADER_SIZE, mad, size);
	status = kernel_file_write(program->file, umad, KERNEL_HEADER_SIZE + size);
	free(umad);
	return status;
}

/* To a LID: SMPs to QP0. */
static inline struct ib_user_mad_hdr header_to(uint32_t agent, const uint8_t *mad, lid_t lid,
					       uint32_t timeout_ms, uint32_t retries)
{
	bool is_smp = mad[1] == CLASS_SUBN_LID || mad[1] == CLASS_SUBN_DIRECTED;

	return (struct ib_user_mad_hdr){
		.id = agent,
		.timeout_ms = timeout_ms,
		.retries = retries,
		.lid = htobe16(lid),
		.qpn = htobe32(is_smp ? 0 : 1),
	};
}

/* A request of a class that is nobody's business but the test's. */
static inline void fill_mad(uint8_t mad[MAD_SIZE], uint8_t mgmt_class, uint8_t version,
			    uint8_t method, uint32_t tid)
{
	memset(mad, 0, MAD_SIZE);
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = version;
	mad[3] = method;
	be32_store(mad + 12, tid);
	if (mgmt_class >= 0x30 && mgmt_class <= 0x4F)
		be32_store(mad + 36, 0x001405); /* the OUI, behind a reserved byte */
}

/* The fabric */

static inline void kernel_bed_set(struct device *device, uint16_t attr_id, uint32_t attr_mod,
				  void *object)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};

	format_encode(attr_format(attr_id), object, data);
	subn_build(mad, METHOD_SET, attr_id, attr_mod, 0, NULL, data);
	CU_ASSERT_FATAL(device_handle(device, 1, mad));
	CU_ASSERT_EQUAL_FATAL(be16_load(mad + 4), STATUS_OK);
}

static inline void kernel_bed_set_port(struct device *device, uint8_t port, lid_t lid,
				       uint8_t state)
{
	struct port_info info = device->port[port].info;

	info.port_state = state;
	info.port_physical_state = 0;
	info.lid = lid;
	info.lmc = lid ? 1 : 0;
	info.master_sm_lid = lid ? HOST_LID : 0;
	kernel_bed_set(device, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | port, &info);
}

static inline void kernel_bed_bring_up(struct bed *bed)
{
	struct linear_forwarding_table lft;
	struct switch_info sw = bed->sw->sw;

	memset(lft.port, LFT_NO_PORT, sizeof(lft.port));
	for (unsigned i = 0; i < 2 * HOSTS; i++)
		lft.port[HOST_LID + i] = i / 2 + 1;
	kernel_bed_set(bed->sw, ATTR_LINEAR_FORWARDING_TABLE, 0, &lft);
	sw.linear_fdb_top = LFT_BLOCK_LIDS - 1;
	kernel_bed_set(bed->sw, ATTR_SWITCH_INFO, 0, &sw);
	for (uint8_t state = PORT_ARMED; state <= PORT_ACTIVE; state++) {
		for (unsigned i = 0; i < HOSTS; i++) {
			kernel_bed_set_port(bed->host[i], 1, HOST_LID + 2 * i, state);
			kernel_bed_set_port(bed->sw, i + 1, 0, state);
		}
	}
}

static inline void kernel_bed_open_with(struct bed *bed, const struct world_options *options)
{
	struct net *net = net_new();
	char name[16], error[256];

	*bed = (struct bed){0};
	net_add_node(net, NODE_SWITCH, "switch", NULL, HOSTS);
	for (unsigned i = 0; i < HOSTS; i++) {
		snprintf(name, sizeof(name), "host-%u", i);
		net_add_node(net, NODE_CA, name, NULL, 1);
		net_connect(net, 0, i + 1, i + 1, 1);
	}
	CU_ASSERT_EQUAL_FATAL(world_new(net, options, &bed->world, error, sizeof(error)), 0);
	net_free(net);
	bed->sw = world_device(bed->world, "switch");
	bed->kernel = kernel_new(bed->world);
	for (unsigned i = 0; i < HOSTS; i++) {
		snprintf(name, sizeof(name), "host-%u", i);
		bed->host[i] = world_device(bed->world, name);
		bed->port[i] = kernel_port_get(bed->kernel, bed->host[i], 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(bed->port[i]);
	}
	kernel_bed_bring_up(bed);
}

static inline void kernel_bed_open(struct bed *bed)
{
	kernel_bed_open_with(bed, &(struct world_options){.seed = 1});
}

static inline void kernel_bed_close(struct bed *bed)
{
	kernel_free(bed->kernel);
	world_free(bed->world);
}

/* From event to event, as a server does it. */
static inline void kernel_bed_run(struct bed *bed, uint64_t us)
{
	uint64_t end_us = world_now_us(bed->world) + us;

	for (;;) {
		uint64_t world_us = world_next_us(bed->world);
		uint64_t next_us = kernel_next_us(bed->kernel);

		if (world_us < next_us)
			next_us = world_us;
		if (next_us > end_us)
			break;
		if (next_us < world_now_us(bed->world))
			next_us = world_now_us(bed->world);
		world_advance(bed->world, next_us);
		kernel_advance(bed->kernel, next_us);
	}
	world_advance(bed->world, end_us);
	kernel_advance(bed->kernel, end_us);
}

static inline const struct kernel_stats *kernel_bed_stats(const struct bed *bed, unsigned host)
{
	return kernel_port_stats(bed->port[host]);
}

#endif
