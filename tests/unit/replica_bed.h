/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Up to three managers' replicas over pipes, without a fabric, on one virtual clock: for the unit
 * test of the replica and for the harness that plays a hostile peer. Each manager has a registry
 * and a disk of its own, which takes a millisecond unless the test makes it slower.
 */
#ifndef TESTS_UNIT_REPLICA_BED_H
#define TESTS_UNIT_REPLICA_BED_H

#include <string.h>

#include "ha/replica.h"
#include "tests/sim/loop_virtual.h"
#include "tests/sim/pipe.h"
#include "tests/unit/model.h"
#include "tests/unit/unit.h"

enum { MANAGERS = 3, MS = 1000, S = 1000000 };

struct manager {
	unsigned number;
	guid_t guid;
	enum sm_state role;
	struct registry *registry;
	struct stream_carrier *carrier;
	struct replica *replica; /* NULL: it does not run */
	struct replica_options options;
	bool holds;	  /* its disk takes nothing */
	uint64_t disk_us; /* that its disk takes */
	bool locked_out;  /* it knows no M_Key */
	unsigned lost;	  /* how often its master was */
	struct registry_reader reader;
	struct loop_timer disk;
};

static struct bed {
	struct model model;
	struct pipe_net *net;
	struct manager manager[MANAGERS];
	unsigned master; /* whom the election names: 1, 2, ...; 0: nobody */
	uint64_t random;
} replica_bed;

static const char *const addresses[MANAGERS] = {"one", "two", "three"};

static inline struct loop *replica_bed_loop(void)
{
	return replica_bed.model.loop;
}

static inline void replica_bed_pass(uint64_t us)
{
	uint64_t end_us = loop_now_us(replica_bed_loop()) + us, next_us;

	while ((next_us = loop_next_us(replica_bed_loop())) <= end_us)
		loop_step(replica_bed_loop(), next_us > loop_now_us(replica_bed_loop())
						      ? next_us
						      : loop_now_us(replica_bed_loop()));
	loop_set_now(replica_bed_loop(), end_us);
}

static inline uint64_t replica_bed_draw(uint64_t bound)
{
	replica_bed.random =
		replica_bed.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (replica_bed.random >> 33) % bound;
}

static inline void disk_has(void *arg)
{
	struct manager *manager = arg;

	if (!manager->holds)
		registry_kept(manager->registry, KEPT_BY_STORE, registry_number(manager->registry));
}

static inline void disk_gets(void *ctx, const struct registry_change *change)
{
	struct manager *manager = ctx;

	(void)change;
	if (!loop_timer_armed(&manager->disk))
		loop_timer_arm(&manager->disk, manager->disk_us);
}

static inline enum sm_state role_of(void *ctx)
{
	return ((struct manager *)ctx)->role;
}

static inline guid_t replica_bed_guid(unsigned number)
{
	return number ? 0x1000 + number : 0;
}

static inline guid_t master_of(void *ctx)
{
	(void)ctx;
	return replica_bed_guid(replica_bed.master);
}

static inline bool locked_out(void *ctx)
{
	return ((struct manager *)ctx)->locked_out;
}

static inline void lost(void *ctx)
{
	((struct manager *)ctx)->lost++;
}

static inline void unlocked(void *ctx)
{
	((struct manager *)ctx)->locked_out = false;
}

static inline bool unlike(void *ctx)
{
	(void)ctx;
	return false;
}

static inline const char *elected_as(void *ctx, guid_t guid)
{
	(void)ctx;
	(void)guid;
	return NULL;
}

static inline void replica_bed_start(struct manager *manager)
{
	struct replica_owner owner = {role_of,	master_of, lost,       locked_out,
				      unlocked, unlike,	   elected_as, manager};
	char why[STREAM_WHY_SIZE];

	manager->registry = registry_new();
	manager->reader = (struct registry_reader){.changed = disk_gets, .ctx = manager};
	registry_read(manager->registry, &manager->reader);
	registry_keep(manager->registry, KEPT_BY_STORE, true);
	loop_timer_init(&manager->disk, replica_bed_loop(), "disk", disk_has, manager);
	manager->carrier = pipe_open(replica_bed.net, addresses[manager->number - 1]);
	manager->role = SM_DISCOVERING;
	manager->guid = replica_bed_guid(manager->number);
	manager->replica = replica_new(replica_bed_loop(), manager->carrier, manager->registry,
				       replica_bed.model.fabric, NULL, &manager->guid,
				       &manager->options, &owner, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(manager->replica);
}

/* As when the process is killed. */
static inline void replica_bed_kill(struct manager *manager)
{
	if (!manager->replica)
		return;
	replica_free(manager->replica);
	manager->carrier->ops->free(manager->carrier);
	loop_timer_disarm(&manager->disk);
	registry_free(manager->registry);
	manager->replica = NULL;
	manager->role = SM_NOTACTIVE;
}

static inline void replica_bed_becomes(struct manager *manager, enum sm_state role)
{
	manager->role = role;
	if (role == SM_MASTER)
		replica_bed.master = manager->number;
	replica_role(manager->replica, NULL);
}

static inline void replica_bed_begin(unsigned managers, enum durability durability)
{
	memset(&replica_bed, 0, sizeof(replica_bed));
	model_init(&replica_bed.model);
	replica_bed.net = pipe_net_new(replica_bed_loop(), 7);
	replica_bed.random = 1;
	for (unsigned i = 0; i < managers; i++) {
		struct manager *manager = &replica_bed.manager[i];

		manager->number = i + 1;
		manager->disk_us = MS;
		manager->options = (struct replica_options){.durability = durability};
		snprintf(manager->options.listen, sizeof(manager->options.listen), "%s",
			 addresses[i]);
		snprintf(manager->options.peers, sizeof(manager->options.peers), "one, two,three");
		snprintf(manager->options.config, sizeof(manager->options.config),
			 "!lmc = 0;\nrouting = [\"ftree\"];\n");
		replica_bed_start(manager);
	}
	replica_bed_becomes(&replica_bed.manager[0], SM_MASTER);
	for (unsigned i = 1; i < managers; i++)
		replica_bed_becomes(&replica_bed.manager[i], SM_STANDBY);
}

static inline void replica_bed_end(void)
{
	for (unsigned i = 0; i < MANAGERS; i++)
		replica_bed_kill(&replica_bed.manager[i]);
	pipe_net_free(replica_bed.net);
	model_done(&replica_bed.model);
}

static inline void replica_bed_put_lid(struct manager *manager, guid_t guid, lid_t lid)
{
	struct lid_entry entry = {.guid = guid, .lid = lid};

	registry_put(manager->registry, REGISTRY_LID, &entry);
}

/* A change of any kind, of keys so few that many change what is there. */
static inline void change_something(struct manager *manager)
{
	static const enum registry_kind kinds[] = {REGISTRY_LID, REGISTRY_GROUP, REGISTRY_SERVICE,
						   REGISTRY_SETTING};
	struct lid_entry lid = {.guid = 1 + replica_bed_draw(50),
				.lid = (lid_t)(1 + replica_bed_draw(1000))};
	struct group_entry group = {.mlid = (lid_t)(0xC000 + replica_bed_draw(100)),
				    .permanent = 1};
	struct service_entry service = {.service_id = 1 + replica_bed_draw(20), .gid_guid = 7};
	struct setting_entry setting = {.value = {(uint8_t)replica_bed_draw(9)}};
	const void *records[] = {&lid, &group, &service, &setting};
	unsigned kind = (unsigned)replica_bed_draw(4);

	group.mgid[0] = 0xFF;
	group.mgid[15] = (uint8_t)replica_bed_draw(20);
	service.data[3] = (uint8_t)replica_bed_draw(200);
	setting.name[0] = (uint8_t)('a' + replica_bed_draw(20));
	if (replica_bed_draw(4))
		registry_put(manager->registry, kinds[kind], records[kind]);
	else
		registry_drop(manager->registry, kinds[kind], records[kind]);
}

static inline void replica_bed_change(struct manager *manager, unsigned changes)
{
	while (changes--)
		change_something(manager);
}

#endif
