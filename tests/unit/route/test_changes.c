/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Routing after a fault with the results from before it: tables and reports equal those of a full
 * computation. Random histories of cut, swapped and repaired cables are followed step by step. Good
 * tables get some spoiled entries.
 */
#include <string.h>

#include "route/changes.h"
#include "route/engine.h"
#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

static const char *const specs[] = {"fattree:radix=8,levels=3", "fattree:radix=6,levels=3",
				    "fattree:radix=8,levels=2", "ring:switches=6,hosts=2"};

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

static void expect_same(const struct route_report *a, const struct route_report *b)
{
	CU_ASSERT_EQUAL(a->pairs, b->pairs);
	CU_ASSERT_EQUAL(a->unreached, b->unreached);
	CU_ASSERT_EQUAL(a->looping, b->looping);
	CU_ASSERT_EQUAL(a->disconnected, b->disconnected);
	CU_ASSERT_EQUAL(a->unreached_example.lid, b->unreached_example.lid);
	CU_ASSERT_EQUAL(a->unreached_example.sw, b->unreached_example.sw);
	CU_ASSERT_EQUAL(a->looping_example.lid, b->looping_example.lid);
	CU_ASSERT_EQUAL(a->looping_example.sw, b->looping_example.sw);
}

static void expect_same_credit(const struct credit_report *a, const struct credit_report *b)
{
	CU_ASSERT_EQUAL(a->channels, b->channels);
	CU_ASSERT_EQUAL(a->loops, b->loops);
	CU_ASSERT_EQUAL(a->length, b->length);
	CU_ASSERT_EQUAL(a->vl, b->vl);
	for (unsigned i = 0; i < a->length && i < CREDIT_EXAMPLE_MAX; i++) {
		CU_ASSERT_EQUAL(a->example[i].sw, b->example[i].sw);
		CU_ASSERT_EQUAL(a->example[i].port, b->example[i].port);
	}
}

/* Each step of each path goes forward in the order that should prove it. */
static bool is_proof(const struct snapshot *snapshot, const struct routes *routes)
{
	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		for (uint32_t lid = 1; lid <= snapshot->lid_top; lid++) {
			uint8_t port = lft_port(routes->lft[s], (lid_t)lid), next;
			const struct snap_switch *sw = &snapshot->switches[s];
			int32_t to = port && port <= sw->num_ports
					     ? snap_link(snapshot, s, port)->sw
					     : -1;

			if (to < 0)
				continue;
			next = lft_port(routes->lft[to], (lid_t)lid);
			if (!next || next > snapshot->switches[to].num_ports ||
			    snap_link(snapshot, (uint32_t)to, next)->sw < 0)
				continue;
			if (routes->order[sw->first_link + port] >=
			    routes->order[snapshot->switches[to].first_link + next])
				return false;
		}
	}
	return true;
}

/* Some cables between switches, cut, and of two the far ends exchanged. */
static struct snapshot *faulty(const char *spec, const uint32_t *cuts, unsigned count,
			       uint32_t swap)
{
	struct snapshot *snapshot = snapshot_from_spec(spec, 0);

	for (unsigned i = 0; i < count; i++) {
		uint32_t s = cuts[i] >> 8;

		if (snap_link(snapshot, s, (uint8_t)cuts[i])->sw >= 0)
			snapshot_cut(snapshot, s, cuts[i] & 0xFF);
	}
	for (uint32_t l = swap; swap && l + 1 < snapshot->num_links; l++) {
		struct snap_link *a = &snapshot->links[l], *b = &snapshot->links[l + 1];
		struct snap_link near = *a, next = *b;
		struct snap_link *far, *beyond;

		if (near.sw < 0 || next.sw < 0)
			continue;
		far = &snapshot->links[snapshot->switches[near.sw].first_link + near.port];
		beyond = &snapshot->links[snapshot->switches[next.sw].first_link + next.port];
		if (far->sw != beyond->sw || far == b || beyond == a)
			continue;
		*a = next;
		*b = near;
		near = *far;
		*far = *beyond;
		*beyond = near;
		break;
	}
	snapshot_index(snapshot);
	return snapshot;
}

/* How many steps of a history were proved by the order of the step before. */
static unsigned follow(const char *spec, const char *engine, unsigned steps)
{
	enum { CUTS = 4 };
	struct route_judged before = {snapshot_from_spec(spec, 0), NULL, {0}};
	struct snapshot *plain = before.snapshot;
	struct route_result result;
	uint32_t cut[CUTS];
	unsigned count = 0, carried = 0;

	CU_ASSERT_EQUAL(route_run(plain, &engine, 1, NULL, NULL, &result), 0);
	before.routes = result.routes;
	before.report = result.report;
	snapshot_ref(plain);
	for (unsigned i = 0; i < steps; i++) {
		uint32_t s = draw(plain->num_switches),
			 swap = draw(4) ? 0 : 1 + draw(plain->num_links);
		struct snapshot *next;
		struct route_result whole, beside;

		if (count < CUTS && draw(3))
			cut[count++] = s << 8 | (1 + draw(plain->switches[s].num_ports));
		else if (count)
			cut[draw(count)] = cut[count - 1], count--;
		next = faulty(spec, cut, count, swap);
		CU_ASSERT_EQUAL(route_run(next, &engine, 1, &before, NULL, &beside),
				route_run(next, &engine, 1, NULL, NULL, &whole));
		CU_ASSERT_STRING_EQUAL(beside.attempt[0].why, whole.attempt[0].why);
		CU_ASSERT_EQUAL(!beside.routes, !whole.routes);
		if (beside.routes) {
			CU_ASSERT_EQUAL(routes_that_differ(next, beside.routes, whole.routes), 0);
			expect_same(&beside.report, &whole.report);
			expect_same_credit(&beside.credit, &whole.credit);
			CU_ASSERT(!beside.routes->order || is_proof(next, beside.routes));
			carried += before.routes->order && beside.routes->order &&
				   !memcmp(before.routes->order, beside.routes->order,
					   next->num_links * sizeof(uint32_t));
			routes_unref(before.routes);
			snapshot_unref(before.snapshot);
			before = (struct route_judged){snapshot_ref(next), beside.routes,
						       beside.report};
		}
		routes_unref(whole.routes);
		snapshot_unref(next);
	}
	routes_unref(before.routes);
	snapshot_unref(before.snapshot);
	snapshot_unref(plain);
	return carried;
}

static void test_histories(void)
{
	static const char *const engines[] = {"ftree", "updn", "dnup", "minhop"};
	enum { STEPS = 60 };

	state = 1;
	for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
		unsigned carried = 0;

		for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
			if (e > 0 || i < 3) /* a ring is no fat tree */
				carried += follow(specs[i], engines[e], STEPS);
		/* Only engines that promise freedom from credit loops must prove it. */
		CU_ASSERT_EQUAL(carried > STEPS, route_engine_find(engines[e])->acyclic);
	}
}

static struct routes *copy_of(const struct snapshot *snapshot, const struct routes *from)
{
	struct routes *routes = routes_new(2, snapshot->num_switches, from->engine);

	for (uint32_t s = 0; s < snapshot->num_switches; s++) {
		routes->lft[s] = lft_new(snapshot->lid_top);
		memcpy(routes->lft[s]->port, from->lft[s]->port, snapshot->lid_top + 1u);
	}
	return routes;
}

/* Any tables on any fabric with the same switches, compared with good tables. 1 if a packet does
 * not arrive, plus 2 for a credit loop. */
static unsigned judge_both_ways(const struct snapshot *snapshot, struct routes *routes,
				const struct route_judged *before)
{
	struct route_report whole, beside;
	struct credit_report all, proved;

	route_check(snapshot, routes, NULL, NULL, &whole);
	route_check(snapshot, routes, before, NULL, &beside);
	expect_same(&beside, &whole);
	credit_check(snapshot, routes, NULL, &all);
	credit_prove(snapshot, routes, before, NULL, &proved);
	expect_same_credit(&proved, &all);
	CU_ASSERT_EQUAL(!routes->order, all.loops > 0);
	CU_ASSERT(!routes->order || is_proof(snapshot, routes));
	/* As a chain does after its engine. */
	credit_prove(snapshot, routes, before, NULL, &proved);
	expect_same_credit(&proved, &all);
	return (whole.unreached + whole.looping > 0) + 2u * (all.loops > 0);
}

/* Good tables, some entries of which lead anywhere, or some cables. */
static void test_spoiled(void)
{
	enum { ROUNDS = 1500 };
	unsigned found[4] = {0};

	state = 2;
	for (size_t i = 0; i + 1 < ARRAY_SIZE(specs); i++) {
		struct snapshot *sound = snapshot_from_spec(specs[i], 0);
		const char *engine = "ftree";
		struct route_result good;
		struct route_judged before;

		CU_ASSERT_EQUAL(route_run(sound, &engine, 1, NULL, NULL, &good), 0);
		before = (struct route_judged){sound, good.routes, good.report};
		for (unsigned round = 0; round < ROUNDS; round++) {
			uint32_t swap = draw(4) ? 0 : 1 + draw(sound->num_links);
			struct snapshot *snapshot = faulty(specs[i], NULL, 0, swap);
			struct routes *routes = copy_of(sound, good.routes);

			for (unsigned n = draw(4); n > 0; n--) {
				uint32_t s = draw(sound->num_switches);

				routes->lft[s]->port[1 + draw(sound->lid_top)] =
					(uint8_t)draw(sound->switches[s].num_ports + 2u);
			}
			found[judge_both_ways(snapshot, routes, &before)]++;
			routes_unref(routes);
			snapshot_unref(snapshot);
		}
		routes_unref(good.routes);
		snapshot_unref(sound);
	}
	for (size_t i = 0; i < ARRAY_SIZE(found); i++)
		CU_ASSERT(found[i] > ROUNDS / 50);
}

/* Snapshots that cannot be compared, and too many changes. */
static void test_limits(void)
{
	struct snapshot *a = snapshot_from_spec(specs[0], 0), *b = snapshot_from_spec(specs[1], 0);
	const char *engine = "ftree";
	struct route_result of_a, of_b;
	struct route_changes changes = {0};
	struct routes *none;

	CU_ASSERT_EQUAL(route_run(a, &engine, 1, NULL, NULL, &of_a), 0);
	CU_ASSERT_EQUAL(route_run(b, &engine, 1, NULL, NULL, &of_b), 0);
	CU_ASSERT(!route_changes_find(b, of_b.routes, a, of_a.routes, &changes));
	CU_ASSERT(route_changes_find(a, of_a.routes, a, of_a.routes, &changes));
	CU_ASSERT_EQUAL(changes.count, 0);
	free(changes.list);
	none = routes_new(2, a->num_switches, "none");
	CU_ASSERT(!route_changes_find(a, of_a.routes, a, none, &changes));
	routes_unref(none);
	routes_unref(of_b.routes);
	routes_unref(of_a.routes);
	snapshot_unref(b);
	snapshot_unref(a);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"histories of faults", test_histories},
		{"spoiled entries", test_spoiled},
		{"snapshots that cannot be compared", test_limits},
		CU_TEST_INFO_NULL,
	};

	return unit_main("changes", tests);
}
