/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A master and its standbys over pipes, without a fabric: what the one registers the others have,
 * whatever happens to the pipes; resumption, lag, durability, and what is not believed.
 */
// LINK: sm/replica*.o sm/image.o sm/role.o sm/store.o sm/store_db.o
// LINK: fabric/*.o
// LINK: mad/window.o mad/rtt.o mad/txn.o mad/mad.o mad/field.o sma/*.o
// LINK: tests/sim/loop_virtual.o tests/sim/work_inline.o tests/sim/pipe.o
// LINK: lib/timers.o lib/slices.o lib/mem.o lib/map.o lib/log.o lib/control.o lib/suggest.o
// LINK: lib/guid.o lib/row.o lib/replace.o formats/*.o sim/spec*.o
// LIBS: -lsystemd -ljansson -lsqlite3
#include "sm/replica.h"

#include <string.h>

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
	bool holds;	 /* its disk takes nothing */
	bool locked_out; /* it knows no M_Key */
	unsigned lost;	 /* how often its master was */
	struct registry_reader reader;
	struct loop_timer disk;
};

static struct bed {
	struct model model;
	struct pipe_net *net;
	struct manager manager[MANAGERS];
	unsigned master; /* whom the election names: 1, 2, ...; 0: nobody */
	uint64_t random;
} bed;

static const char *const addresses[MANAGERS] = {"one", "two", "three"};

static struct loop *bed_loop(void)
{
	return bed.model.loop;
}

static void pass(uint64_t us)
{
	uint64_t end_us = loop_now_us(bed_loop()) + us, next_us;

	while ((next_us = loop_next_us(bed_loop())) <= end_us)
		loop_step(bed_loop(),
			  next_us > loop_now_us(bed_loop()) ? next_us : loop_now_us(bed_loop()));
	loop_set_now(bed_loop(), end_us);
}

static uint64_t draw(uint64_t bound)
{
	bed.random = bed.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (bed.random >> 33) % bound;
}

/* A disk that has each change after a millisecond. */
static void disk_has(void *arg)
{
	struct manager *manager = arg;

	if (!manager->holds)
		registry_kept(manager->registry, KEPT_BY_STORE, registry_number(manager->registry));
}

static void disk_gets(void *ctx, const struct registry_change *change)
{
	struct manager *manager = ctx;

	(void)change;
	if (!loop_timer_armed(&manager->disk))
		loop_timer_arm(&manager->disk, MS);
}

static enum sm_state role_of(void *ctx)
{
	return ((struct manager *)ctx)->role;
}

static guid_t guid_of(unsigned number)
{
	return number ? 0x1000 + number : 0;
}

static guid_t master_of(void *ctx)
{
	(void)ctx;
	return guid_of(bed.master);
}

static bool locked_out(void *ctx)
{
	return ((struct manager *)ctx)->locked_out;
}

static void lost(void *ctx)
{
	((struct manager *)ctx)->lost++;
}

static void unlocked(void *ctx)
{
	((struct manager *)ctx)->locked_out = false;
}

static bool unlike(void *ctx)
{
	(void)ctx;
	return false;
}

static const char *elected_as(void *ctx, guid_t guid)
{
	(void)ctx;
	(void)guid;
	return NULL;
}

static void start(struct manager *manager)
{
	struct replica_owner owner = {role_of,	master_of, lost,       locked_out,
				      unlocked, unlike,	   elected_as, manager};
	char why[STREAM_WHY_SIZE];

	manager->registry = registry_new();
	manager->reader = (struct registry_reader){.changed = disk_gets, .ctx = manager};
	registry_read(manager->registry, &manager->reader);
	registry_keep(manager->registry, KEPT_BY_STORE, true);
	loop_timer_init(&manager->disk, bed_loop(), "disk", disk_has, manager);
	manager->carrier = pipe_open(bed.net, addresses[manager->number - 1]);
	manager->role = SM_DISCOVERING;
	manager->guid = guid_of(manager->number);
	manager->replica =
		replica_new(bed_loop(), manager->carrier, manager->registry, bed.model.fabric, NULL,
			    &manager->guid, &manager->options, &owner, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(manager->replica);
}

/* As when the process is killed. */
static void kill(struct manager *manager)
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

static void becomes(struct manager *manager, enum sm_state role)
{
	manager->role = role;
	if (role == SM_MASTER)
		bed.master = manager->number;
	replica_role(manager->replica, NULL);
}

static void bed_begin(unsigned managers, enum durability durability)
{
	memset(&bed, 0, sizeof(bed));
	model_init(&bed.model);
	bed.net = pipe_net_new(bed_loop(), 7);
	bed.random = 1;
	for (unsigned i = 0; i < managers; i++) {
		struct manager *manager = &bed.manager[i];

		manager->number = i + 1;
		manager->options = (struct replica_options){.durability = durability};
		snprintf(manager->options.listen, sizeof(manager->options.listen), "%s",
			 addresses[i]);
		snprintf(manager->options.peers, sizeof(manager->options.peers), "one, two,three");
		snprintf(manager->options.config, sizeof(manager->options.config),
			 "!lmc = 0;\nrouting = [\"ftree\"];\n");
		start(manager);
	}
	becomes(&bed.manager[0], SM_MASTER);
	for (unsigned i = 1; i < managers; i++)
		becomes(&bed.manager[i], SM_STANDBY);
}

static void bed_end(void)
{
	for (unsigned i = 0; i < MANAGERS; i++)
		kill(&bed.manager[i]);
	pipe_net_free(bed.net);
	model_done(&bed.model);
}

static void put_lid(struct manager *manager, guid_t guid, lid_t lid)
{
	struct lid_entry entry = {.guid = guid, .lid = lid};

	registry_put(manager->registry, REGISTRY_LID, &entry);
}

/* A change of any kind, of keys so few that many change what is there. */
static void change_something(struct manager *manager)
{
	static const enum registry_kind kinds[] = {REGISTRY_LID, REGISTRY_GROUP, REGISTRY_SERVICE,
						   REGISTRY_SETTING};
	struct lid_entry lid = {.guid = 1 + draw(50), .lid = (lid_t)(1 + draw(1000))};
	struct group_entry group = {.mlid = (lid_t)(0xC000 + draw(100)), .permanent = 1};
	struct service_entry service = {.service_id = 1 + draw(20), .gid_guid = 7};
	struct setting_entry setting = {.value = {(uint8_t)draw(9)}};
	const void *records[] = {&lid, &group, &service, &setting};
	unsigned kind = (unsigned)draw(4);

	group.mgid[0] = 0xFF;
	group.mgid[15] = (uint8_t)draw(20);
	service.data[3] = (uint8_t)draw(200);
	setting.name[0] = (uint8_t)('a' + draw(20));
	if (draw(4))
		registry_put(manager->registry, kinds[kind], records[kind]);
	else
		registry_drop(manager->registry, kinds[kind], records[kind]);
}

static void change_much(struct manager *manager, unsigned changes)
{
	while (changes--)
		change_something(manager);
}

static bool same(const struct manager *a, const struct manager *b)
{
	for (unsigned kind = REGISTRY_LID; kind < REGISTRY_KINDS; kind++) {
		const void *record = registry_first(a->registry, kind, -1, NULL), *other;
		const struct format *format = registry_tables[kind].format;

		if (registry_count(a->registry, kind) != registry_count(b->registry, kind))
			return false;
		for (; record; record = registry_next(a->registry, kind, -1, record)) {
			other = registry_find(b->registry, kind, record);
			if (!other)
				return false;
			for (unsigned i = 0; i < format->count; i++)
				if (!field_equal(&format->fields[i], record, other))
					return false;
		}
	}
	return true;
}

/* A member of a part of the status, or of the first of an array. */
static json_t *figure_of(json_t *status, const char *of, const char *name)
{
	json_t *part = json_object_get(status, of);

	if (json_is_array(part))
		part = json_array_get(part, 0);
	return name ? json_object_get(part, name) : part;
}

static json_int_t figure(const struct manager *manager, const char *of, const char *name)
{
	json_t *status = replica_status(manager->replica), *found = figure_of(status, of, name);
	json_int_t value = found ? json_integer_value(found) : -1;

	json_decref(status);
	return value;
}

static bool says(const struct manager *manager, const char *of, const char *name, const char *text)
{
	json_t *status = replica_status(manager->replica);
	const char *value = json_string_value(figure_of(status, of, name));
	bool is = value && strstr(value, text);

	json_decref(status);
	return is;
}

/* All there is, then what comes. */
static void test_follows(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	change_much(one, 3000);
	put_lid(two, 0xBAD, 77); /* what a standby had before goes */
	pass(2 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(says(one, "standbys", "state", "in step"));
	CU_ASSERT_TRUE(says(two, "master", "state", "follows"));
	CU_ASSERT_TRUE(registry_follows(two->registry));
	for (unsigned i = 0; i < 50; i++) {
		change_much(one, (unsigned)draw(100));
		pass(draw(20 * MS));
	}
	pass(100 * MS);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_EQUAL(figure(one, "standbys", "lag"), 0);
	CU_ASSERT_EQUAL(figure(two, "master", "lag"), 0);
	/* It starts from it as from its own. */
	kill(one);
	becomes(two, SM_MASTER);
	CU_ASSERT_FALSE(registry_follows(two->registry));
	put_lid(two, 0x123, 5);
	pass(S);
	bed_end();
}

/* Where the history is known, only what is missing is sent; a new MASTER begins a new one. */
static void test_resumes(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];
	uint64_t before, all;

	bed_begin(2, DURABILITY_LOCAL);
	change_much(one, 5000);
	pass(2 * S);
	all = pipe_delivered(bed.net);
	pipe_cut(bed.net, true);
	change_much(one, 10);
	pass(100 * MS);
	CU_ASSERT_FALSE(same(one, two));
	CU_ASSERT(figure(one, "standbys", "lag") > 0);
	pipe_reset(bed.net);
	pipe_cut(bed.net, false);
	before = pipe_delivered(bed.net);
	pass(2 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT(pipe_delivered(bed.net) - before < all / 3);
	/* The same manager, MASTER again: numbers begin anew, and what it has meanwhile is right.
	 */
	becomes(one, SM_DISCOVERING);
	pass(100 * MS);
	becomes(one, SM_MASTER);
	change_much(one, 100);
	pass(2 * S);
	CU_ASSERT_TRUE(same(one, two));
	bed_end();
}

/* A journal that is too short for who was away, and a batch that is too long for one turn. */
static void test_left_behind(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	pass(2 * S);
	pipe_cut(bed.net, true);
	change_much(one, 400000);
	pass(S);
	pipe_cut(bed.net, false);
	pass(3 * S);
	CU_ASSERT_TRUE(same(one, two));
	for (unsigned i = 0; i < 300; i++) { /* what belongs together, over many turns */
		registry_together(one->registry, true);
		for (unsigned n = 0; n < 3; n++) {
			change_much(one, 30);
			pass(draw(500));
		}
		registry_together(one->registry, false);
		pass(draw(500));
	}
	pass(S);
	CU_ASSERT_TRUE(same(one, two));
	bed_end();
}

struct waits {
	struct registry_waiter waiter;
	unsigned told;
};

static void told(void *ctx)
{
	((struct waits *)ctx)->told++;
}

static void wait_for(struct manager *manager, struct waits *waits)
{
	if (waits->waiter.link.next)
		registry_wait_cancel(&waits->waiter);
	*waits = (struct waits){.waiter = {.durable = told, .ctx = waits}};
	list_init(&waits->waiter.link);
	put_lid(manager, 1 + draw(1000000), 9);
	registry_wait(manager->registry, &waits->waiter);
}

/* Whoever is told that something is registered finds it at the standby. */
static void test_durable(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];
	struct waits waits = {0};

	bed_begin(2, DURABILITY_STANDBY);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	wait_for(one, &waits); /* nobody is there yet */
	pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	pass(2 * S);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));

	two->holds = true;
	wait_for(one, &waits);
	pass(500 * MS);
	CU_ASSERT_EQUAL(waits.told, 0);
	two->holds = false;
	disk_has(two);
	pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(same(one, two));

	/* A disk that takes nothing any more: after a while nobody waits for it. */
	two->holds = true;
	wait_for(one, &waits);
	pass(S);
	CU_ASSERT_EQUAL(waits.told, 0);
	pass(3 * S / 2);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	CU_ASSERT_TRUE(says(one, "standbys", "state", "behind"));
	wait_for(one, &waits);
	pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	two->holds = false;
	disk_has(two);
	pass(40 * S);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
	registry_wait_cancel(&waits.waiter);
	bed_end();
}

/* One that comes back in time is waited for; one that does not is not. */
static void test_away(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];
	struct waits waits = {0};

	bed_begin(2, DURABILITY_STANDBY);
	pass(2 * S);
	pipe_reset(bed.net);
	wait_for(one, &waits);
	CU_ASSERT_EQUAL(waits.told, 0);
	pass(S + S / 2);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
	kill(two);
	wait_for(one, &waits);
	pass(S);
	CU_ASSERT_EQUAL(waits.told, 0);
	pass(3 * S / 2);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	registry_wait_cancel(&waits.waiter);
	bed_end();
}

/* Two standbys: what is acknowledged both have. */
static void test_two_standbys(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1], *three = &bed.manager[2];
	struct waits waits = {0};

	bed_begin(3, DURABILITY_STANDBY);
	pass(5 * S);
	change_much(one, 500);
	wait_for(one, &waits);
	while (!waits.told)
		pass(100);
	CU_ASSERT_TRUE(same(one, two) && same(one, three));
	three->holds = true;
	wait_for(one, &waits);
	pass(5 * S);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "standby"));
	CU_ASSERT_TRUE(same(one, two));
	/* The heir's standby is the other one. */
	registry_wait_cancel(&waits.waiter);
	kill(one);
	three->holds = false;
	becomes(two, SM_MASTER);
	becomes(three, SM_STANDBY);
	change_much(two, 300);
	pass(10 * S);
	CU_ASSERT_TRUE(same(two, three));
	CU_ASSERT_TRUE(says(two, "acknowledged_by", NULL, "standby"));
	bed_end();
}

static void some_trouble(void)
{
	if (!draw(12))
		pipe_cut(bed.net, true);
	if (!draw(6))
		pipe_cut(bed.net, false);
	if (!draw(30))
		pipe_reset(bed.net);
}

/* Cuts, resets and kills at random: what was acknowledged while a standby was in step is there. */
static unsigned play_round(struct manager *master, struct manager *standby)
{
	unsigned acknowledged = 0;

	for (unsigned left = (unsigned)draw(40); left; left--) {
		struct waits waits = {0};

		change_much(master, (unsigned)draw(30));
		wait_for(master, &waits);
		pass(draw(3 * MS));
		some_trouble();
		registry_wait_cancel(&waits.waiter);
		if (!waits.told || !registry_keeps(master->registry, KEPT_BY_STANDBY))
			continue;
		acknowledged++;
		if (!same(master, standby))
			CU_FAIL_FATAL("an acknowledged change is not at the standby");
	}
	return acknowledged;
}

static void test_random(void)
{
	enum { ROUNDS = 60 };
	unsigned acknowledged = 0;

	bed_begin(2, DURABILITY_STANDBY);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct manager *master = &bed.manager[bed.master - 1];
		struct manager *standby = &bed.manager[2 - bed.master];

		pass(3 * S);
		CU_ASSERT_TRUE_FATAL(same(master, standby));
		CU_ASSERT_TRUE_FATAL(says(master, "acknowledged_by", NULL, "standby"));
		acknowledged += play_round(master, standby);
		pipe_cut(bed.net, false);
		kill(master);
		becomes(standby, SM_MASTER);
		start(master);
		becomes(master, SM_STANDBY);
	}
	CU_ASSERT(acknowledged > 2 * ROUNDS);
	bed_end();
}

/* Peers that cannot be */

static void test_configuration(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	kill(two);
	strcpy(two->options.config, "!lmc = 2;\nrouting = [\"ftree\"];\n");
	start(two);
	becomes(two, SM_STANDBY);
	put_lid(one, 5, 5);
	pass(5 * S);
	CU_ASSERT_FALSE(same(one, two));
	CU_ASSERT_TRUE(says(two, "peers", "why", "lmc = 0"));
	kill(two);
	strcpy(two->options.config, "!lmc = 0;\nrouting = [\"updn\"];\n"); /* told, and works */
	start(two);
	becomes(two, SM_STANDBY);
	pass(5 * S);
	CU_ASSERT_TRUE(same(one, two));
	CU_ASSERT_TRUE(says(two, "peers", "why", "updn"));
	bed_end();
}

/* Somebody with the key who is MASTER of nothing. */
static void test_false_master(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1], *three = &bed.manager[2];

	bed_begin(3, DURABILITY_LOCAL);
	put_lid(one, 5, 5);
	pass(5 * S);
	CU_ASSERT_TRUE(same(one, three));
	becomes(two, SM_MASTER);
	put_lid(two, 6, 6);
	bed.master = 1;
	pass(20 * S);
	CU_ASSERT_TRUE(same(one, three));
	/* The election names another one: that one is followed. */
	bed.master = 2;
	pass(20 * S);
	CU_ASSERT_TRUE(same(two, three));
	bed_end();
}

/* Who sees no fabric follows whoever is MASTER, and nobody who merely looks around. */
static void test_locked_out(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	kill(two);
	put_lid(one, 5, 5);
	bed.master = 0;
	start(two);
	replica_seek(two->replica);
	pass(5 * S);
	CU_ASSERT_FALSE(same(one, two));
	two->locked_out = true;
	replica_seek(two->replica);
	pass(5 * S);
	CU_ASSERT_FALSE(two->locked_out);
	CU_ASSERT_TRUE(same(one, two));
	bed.master = 1;
	becomes(two, SM_STANDBY);
	put_lid(one, 6, 6);
	pass(S);
	CU_ASSERT_TRUE(same(one, two));
	bed_end();
}

static struct frame_out lie;

static void lie_of_changes(uint64_t first, lid_t lid)
{
	struct lid_entry entry = {.guid = 0xBAD, .lid = lid};

	changes_begin(&lie, FRAME_CHANGES, first);
	changes_add(&lie, &(struct wire_change){.kind = REGISTRY_LID, .record = &entry});
	changes_end(&lie, true);
}

static void lie_of_numbers(enum frame_type type, uint64_t first, uint64_t second)
{
	frame_begin(&lie, type);
	frame_number(&lie, first);
	frame_number(&lie, second);
	frame_end(&lie);
}

static void lie_of_bytes(const uint8_t *bytes, size_t size)
{
	memcpy(lie.bytes, bytes, size);
	lie.size = size;
}

enum { LIES = 8 };

/* next: the number that a change would have that is none. */
static void make_lie(unsigned number, uint64_t next)
{
	static const uint8_t garbage[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	static const uint8_t too_long[] = {0, 2, 0, 0, 0, 0, 0, FRAME_CHANGES};
	static const uint8_t no_table[] = {0, 0, 0, 4, 0, 0, 0, FRAME_TABLE, 1, 2, 3, 4};
	static const uint8_t no_word[] = {0, 0, 0, 0, 0, 0, 0, FRAME_ACK};

	switch (number) {
	case 0:
		lie_of_bytes(garbage, sizeof(garbage));
		break;
	case 1:
		lie_of_bytes(too_long, sizeof(too_long));
		break;
	case 2:
		lie_of_changes(next + 1, 3);
		break;
	case 3:
		lie_of_changes(next - 1, 3);
		break;
	case 4:
		lie_of_changes(next, 0); /* a record that cannot be */
		break;
	case 5:
		lie_of_numbers(FRAME_WHOLE, next, 0);
		break;
	case 6:
		lie_of_bytes(no_table, sizeof(no_table));
		break;
	default:
		lie_of_bytes(no_word, sizeof(no_word));
	}
}

/* Garbage, a frame that is too long, numbers that lie: the connection ends, and all is asked for
 * anew. Nothing of it gets into the registry. */
static void test_lies(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	change_much(one, 100);
	for (unsigned number = 0; number < LIES; number++) {
		pass(5 * S);
		CU_ASSERT_TRUE(same(one, two));
		CU_ASSERT_TRUE(says(two, "master", "state", "follows"));
		make_lie(number, (uint64_t)figure(two, "master", "position") + 1);
		pipe_inject(bed.net, "one", lie.bytes, lie.size);
		CU_ASSERT_FALSE(says(two, "master", "state", "follows"));
		CU_ASSERT_TRUE(same(one, two));
	}
	/* And what a standby says that no standby would. */
	pass(5 * S);
	lie_of_numbers(FRAME_ACK, UINT64_MAX, 0);
	pipe_inject(bed.net, "two", lie.bytes, lie.size);
	CU_ASSERT_EQUAL(figure(one, "standbys", "acked"), -1);
	pass(5 * S);
	make_lie(1, 0);
	pipe_inject(bed.net, "two", lie.bytes, lie.size);
	CU_ASSERT_EQUAL(figure(one, "standbys", "acked"), -1);
	pass(5 * S);
	CU_ASSERT_TRUE(same(one, two));
	bed_end();
}

/* It becomes MASTER while all there is was on its way: what it had counts, whole. */
static void test_half(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	put_lid(two, 0x77, 7);
	change_much(one, 3000);
	for (unsigned i = 0; i < 100000 && !says(two, "master", "state", "is sent all there is");
	     i++)
		pass(50);
	CU_ASSERT_TRUE(says(two, "master", "state", "is sent all there is"));
	kill(one);
	becomes(two, SM_MASTER);
	pass(S);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_LID), 1);
	CU_ASSERT_EQUAL(registry_count(two->registry, REGISTRY_SETTING), 0);
	bed_end();
}

/* Every end of a connection that was followed is told, and no attempt that was none. Who was told
 * good-bye may take over at once; who lost the connection looks first whether there is another. */
static void test_master_lost(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	bed_begin(2, DURABILITY_LOCAL);
	change_much(one, 100);
	pass(2 * S);
	CU_ASSERT_TRUE(replica_ready(two->replica));
	pipe_reset(bed.net);
	pass(5 * MS);
	CU_ASSERT_EQUAL(two->lost, 1);
	CU_ASSERT_FALSE(replica_ready(two->replica));
	pass(2 * S);
	CU_ASSERT_TRUE(replica_ready(two->replica));
	replica_stop(one->replica);
	pass(5 * MS);
	CU_ASSERT_EQUAL(two->lost, 2);
	CU_ASSERT_TRUE(replica_ready(two->replica));
	kill(one);
	pass(5 * S);
	CU_ASSERT_EQUAL(two->lost, 2);
	CU_ASSERT_EQUAL(one->lost, 0);
	bed_end();
}

/* Whoever takes over after a long search has all, if he had it when the master was lost; not if the
 * master went on alone before, or is there again. */
static void test_has_all(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];

	for (unsigned alone = 0; alone < 2; alone++) {
		bed_begin(2, DURABILITY_STANDBY);
		change_much(one, 100);
		pass(2 * S);
		becomes(two, SM_STANDBY); /* told again: that is no search */
		CU_ASSERT_TRUE(replica_has_all(two->replica));
		if (alone) {
			pipe_cut(bed.net, true);
			pass(3 * S);
			CU_ASSERT_FALSE(replica_has_all(two->replica));
		}
		kill(one);
		pass(10 * MS);
		becomes(two, SM_DISCOVERING);
		pass(20 * S);
		CU_ASSERT_EQUAL(replica_has_all(two->replica), !alone);
		becomes(two, SM_STANDBY);
		CU_ASSERT_FALSE(replica_has_all(two->replica));
		becomes(two, SM_MASTER);
		CU_ASSERT_FALSE(replica_has_all(two->replica));
		bed_end();
	}
	bed_begin(2, DURABILITY_LOCAL);
	pass(2 * S);
	CU_ASSERT_FALSE(replica_has_all(two->replica));
	bed_end();
}

/* One whose disk stood still for a while is there again, and is not waited for yet: what it lacks
 * may be acknowledged. */
static void test_has_not_all(void)
{
	struct manager *one = &bed.manager[0], *two = &bed.manager[1];
	struct waits waits = {0};

	bed_begin(2, DURABILITY_STANDBY);
	pass(2 * S);
	two->holds = true;
	wait_for(one, &waits);
	pass(3 * S);
	CU_ASSERT_EQUAL(waits.told, 1);
	two->holds = false;
	disk_has(two);
	pass(5 * S);
	CU_ASSERT_TRUE(says(one, "acknowledged_by", NULL, "local"));
	pipe_cut(bed.net, true);
	wait_for(one, &waits);
	pass(10 * MS);
	CU_ASSERT_EQUAL(waits.told, 1);
	CU_ASSERT_FALSE(same(one, two));
	CU_ASSERT_FALSE(replica_has_all(two->replica));
	registry_wait_cancel(&waits.waiter);
	bed_end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a standby follows", test_follows},
		{"it goes on where it was", test_resumes},
		{"the journal leaves one behind", test_left_behind},
		{"durability by the standby", test_durable},
		{"a standby is away", test_away},
		{"two standbys", test_two_standbys},
		{"cuts and kills", test_random},
		{"another configuration", test_configuration},
		{"who is not MASTER", test_false_master},
		{"locked out", test_locked_out},
		{"lies", test_lies},
		{"half of it", test_half},
		{"the master is lost", test_master_lost},
		{"who has all", test_has_all},
		{"who has not all", test_has_not_all},
		CU_TEST_INFO_NULL,
	};

	return unit_main("replica", tests);
}
