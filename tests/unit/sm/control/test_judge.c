/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * route check, quality, plan and engine inside the manager. They judge the tables that the switches
 * are known to hold, not the tables that they should hold. The number of judgements is limited, and
 * clients that leave and a daemon that stops end them. Clients use a real control socket in the
 * same thread.
 */
#include <errno.h>
#include <semaphore.h>

#include "sm/control/commands.h"
#include "tests/unit/fixtures/control_world.h"

/* A job that holds the only worker until it is let go. */
static struct {
	struct work_job job;
	sem_t go;
} brake;

static void brake_run(struct work_job *job)
{
	(void)job;
	sem_wait(&brake.go);
}

static void brake_done(struct work_job *job)
{
	(void)job;
}

static void pull_brake(struct world *world)
{
	sem_init(&brake.go, 0, 0);
	brake.job = (struct work_job){.name = "brake", .run = brake_run, .done = brake_done};
	list_init(&brake.job.link);
	work_submit(world->pool, &brake.job);
}

static unsigned judgements(const struct world *world)
{
	unsigned number = 0;

	list_for_each (link, &world->sm->commands->judgements)
		number++;
	return number;
}

static bool one_waits(const struct world *world)
{
	return judgements(world) == 1;
}

static bool two_wait(const struct world *world)
{
	return judgements(world) == 2;
}

static bool four_wait(const struct world *world)
{
	return judgements(world) == 4;
}

static bool last_answered(const struct world *world)
{
	(void)world;
	return control_answered(CLIENTS - 1);
}

static struct switch_state *state(const struct world *world, const char *id)
{
	return fabric_find_node(world->sm->fabric, sm_world_node(world, id)->info.node_guid)->sw;
}

static const char check[] = "{\"command\":\"route check\"}\n";

static void test_held_tables(void)
{
	struct world *world = control_start("fattree:radix=4,levels=2");
	struct switch_state *sw = state(world, "leaf-01");
	lid_t lid = sm_world_node(world, "host-0008")->port[1].info.lid;
	uint16_t block = lid / LFT_BLOCK_LIDS;
	uint8_t entries[LFT_BLOCK_LIDS];

	control_ask(world, check);
	CU_ASSERT(control_has(0, "\"good\":true") && control_has(0, "\"pairs\":84"));
	CU_ASSERT(control_has(0, "\"progress\":{\"step\":\"tables\""));
	CU_ASSERT(control_has(0, "\"unknown_blocks\":0"));

	memcpy(entries, lft_block(sw->lft.want, block), sizeof(entries));
	entries[lid % LFT_BLOCK_LIDS] = 1; /* a host of its own */
	sw->lft.settled = false;
	lft_have_learn(&sw->lft.have, block, sw->lft.want->blocks, entries);
	control_ask(world, check);
	CU_ASSERT(control_has(0, "\"good\":false") && control_has(0, "\"unknown_blocks\":0"));
	CU_ASSERT(control_has(0, "\"unreached\":1") &&
		  control_has(0, "\"description\":\"leaf-01\""));
	control_ask(world, "{\"command\":\"route plan\",\"engine\":\"updn\"}\n");
	CU_ASSERT(control_has(0,
			      "\"churn\":{\"entries\":1,\"blocks\":1,\"switches\":1,\"paths\":1}"));

	lft_have_doubt(&sw->lft.have, block);
	control_ask(world, check);
	CU_ASSERT(control_has(0, "\"good\":false") && control_has(0, "\"unknown_blocks\":1"));
	control_end(world);
}

static void test_bound(void)
{
	struct world *world = control_start("fattree:radix=4,levels=2");

	pull_brake(world);
	for (int i = 0; i < CLIENTS - 1; i++)
		control_say(i, check);
	sm_world_run(world, four_wait); /* none can end: the worker is held */
	control_say(CLIENTS - 1, check);
	sm_world_run(world, last_answered);
	CU_ASSERT(control_has(CLIENTS - 1, "4 route check, quality and plan commands are running"));
	client_hang_up(&control_bed.clients[1]); /* one of those that wait */
	sem_post(&brake.go);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"good\":true") && control_has(2, "\"good\":true") &&
		  control_has(3, "\"good\":true"));
	for (int i = 0; i < CLIENTS; i++)
		client_hang_up(&control_bed.clients[i]);
	control_ask(world, check);
	CU_ASSERT(control_has(0, "\"good\":true"));
	CU_ASSERT_EQUAL(judgements(world), 0);
	control_end(world);
	sem_destroy(&brake.go);
}

static void test_stop(void)
{
	struct world *world = control_start("ring:switches=3,hosts=1");

	pull_brake(world);
	for (int i = 0; i < 2; i++)
		control_say(i, check);
	sm_world_run(world, two_wait);
	sm_world_stop(world);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "the daemon is stopping") &&
		  control_has(1, "the daemon is stopping"));
	sem_post(&brake.go);
	control_end(world);
	sem_destroy(&brake.go);
}

static unsigned dumps(const struct world *world)
{
	unsigned number = 0;

	list_for_each (link, &world->sm->commands->dumps)
		number++;
	return number;
}

static bool two_are_dumped(const struct world *world)
{
	return dumps(world) == 2;
}

static bool one_is_dumped(const struct world *world)
{
	return dumps(world) == 1;
}

static bool none_is_dumped(const struct world *world)
{
	return dumps(world) == 0;
}

static const char dump[] = "{\"command\":\"route dump\"}\n";

/* A dump runs as a sequence of jobs. If the client leaves during a job, it is forgotten when the
 * job ends. */
static void test_dump(void)
{
	struct world *world = control_start("fattree:radix=4,levels=2");

	pull_brake(world);
	control_say(0, dump);
	control_say(1, dump);
	sm_world_run(world, two_are_dumped);
	close(control_bed.clients[0].fd);
	control_bed.clients[0].fd = -1;
	sem_post(&brake.go);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(1, "\"file\":\"opensm-subnet.lst\",\"text\":\"{ SW Ports:"));
	CU_ASSERT(
		control_has(1, "\"file\":\"opensm.fdbs\",\"text\":\"dump_ucast_routes: Switch 0x"));
	CU_ASSERT(control_has(1, "\\n0x0001 : 0") && control_has(1, "\"file\":\"opensm.mcfdbs\""));
	CU_ASSERT(control_has(1, "\"ok\":true"));
	sm_world_run(world, none_is_dumped);
	control_end(world);
	sem_destroy(&brake.go);
}

/* A job that the pool never runs is freed with the manager. */
static void test_dump_and_stop(void)
{
	struct world *world = control_start("ring:switches=3,hosts=1");

	pull_brake(world);
	control_say(0, dump);
	sm_world_run(world, one_is_dumped);
	sem_post(&brake.go);
	control_end(world);
	sem_destroy(&brake.go);
}

static void test_refusals(void)
{
	static const struct {
		const char *request, *words;
	} rows[] = {
		{"{\"command\":\"route plan\"}\n",
		 "no routing engine \\\"\\\"; the engines are minhop, updn, dnup, ftree, file"},
		{"{\"command\":\"route plan\",\"engine\":5}\n", "no routing engine \\\"\\\""},
		{"{\"command\":\"route plan\",\"engine\":\"mihnop\"}\n", "did you mean"},
		{"{\"command\":\"route plan\",\"engine\":\"file\"}\n", "refused the fabric: "},
		{"{\"command\":\"route engine\"}\n", "needs one or more names"},
		{"{\"command\":\"route engine\",\"engines\":\"minhop,\"}\n", "no routing engine"},
		{"{\"command\":\"route engine\",\"engines\":\"file\"}\n", "the sweep failed: "},
		{"{\"command\":\"route engine\",\"engines\":\"default,minhop\"}\n",
		 "no routing engine \\\"default\\\""},
		{"{\"command\":\"route dump\",\"format\":\"x\"}\n", "unknown format \\\"x\\\""},
	};
	struct world *world = control_start("fattree:radix=4,levels=2");
	char before[SM_ENGINES_MAX][SM_ENGINE_NAME];

	memcpy(before, world->sm->options.engines, sizeof(before));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		control_ask(world, rows[i].request);
		CU_ASSERT(control_has(0, "\"ok\":false") && control_has(0, rows[i].words));
	}
	CU_ASSERT_EQUAL(memcmp(before, world->sm->options.engines, sizeof(before)), 0);
	control_end(world);
}

static bool in_force(const struct world *world, const char *engine)
{
	return !strcmp(world->sm->options.engines[0], engine) &&
	       !strcmp(world->sm->routes.routes->engine, engine);
}

static const char *kept(const struct world *world)
{
	const char *text = setting_get(world->registry, "routing");

	return text ? text : "";
}

static bool minhop_in_force(const struct world *world)
{
	return sm_world_is_quiet(world) && in_force(world, "minhop");
}

static bool updn_in_force(const struct world *world)
{
	return sm_world_is_quiet(world) && in_force(world, "updn");
}

/* Engines that were chosen at run time are kept, stand before the configuration, also when that is
 * read again, and end with a command. Those that give no routes change nothing of it. */
static void test_engines_kept(void)
{
	struct world *world = control_start("fattree:radix=4,levels=2");
	struct sm_options options = world->options;

	CU_ASSERT_STRING_EQUAL(kept(world), "");
	control_ask(
		world,
		"{\"command\":\"route engine\",\"engines\":\" minhop , dnup\",\"force\":true}\n");
	CU_ASSERT(control_has(0, "\"ok\":true") && control_has(0, "\"at_run_time\":true"));
	CU_ASSERT_STRING_EQUAL(kept(world), "minhop,dnup");
	CU_ASSERT(in_force(world, "minhop"));

	strcpy(options.engines[0], "ftree");
	sm_set_options(world->sm, &options);
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT(in_force(world, "minhop"));

	control_ask(world, "{\"command\":\"route engine\",\"engines\":\"file\"}\n");
	CU_ASSERT(control_has(0, "\"ok\":false"));
	CU_ASSERT_STRING_EQUAL(kept(world), "minhop,dnup");
	sm_world_run(world, minhop_in_force);

	control_ask(world, "{\"command\":\"route engine\",\"engines\":\"default\"}\n");
	CU_ASSERT(control_has(0, "\"ok\":true") && control_has(0, "\"at_run_time\":false"));
	CU_ASSERT_STRING_EQUAL(kept(world), "");
	CU_ASSERT(in_force(world, "ftree"));
	control_end(world);
}

/* minhop has credit loops in a ring of six switches: it is refused unless it is forced. */
static void test_engine_with_loops(void)
{
	struct world *world = control_start("ring:switches=6,hosts=1");
	char before[SM_ENGINES_MAX][SM_ENGINE_NAME];

	memcpy(before, world->sm->options.engines, sizeof(before));
	control_ask(world, "{\"command\":\"route engine\",\"engines\":\"minhop\"}\n");
	CU_ASSERT(control_has(0, "\"ok\":false") && control_has(0, "of 12 channels wait for"));
	CU_ASSERT(control_has(0, "the routes of minhop have credit loops") &&
		  control_has(0, "add --force; nothing was changed"));
	CU_ASSERT_EQUAL(memcmp(before, world->sm->options.engines, sizeof(before)), 0);
	CU_ASSERT_STRING_EQUAL(kept(world), "");

	control_ask(world,
		    "{\"command\":\"route engine\",\"engines\":\"minhop\",\"force\":true}\n");
	CU_ASSERT(control_has(0, "\"ok\":true") && in_force(world, "minhop"));
	control_ask(world, "{\"command\":\"route engine\",\"engines\":\"updn\"}\n");
	CU_ASSERT(control_has(0, "\"ok\":true") && in_force(world, "updn"));
	control_end(world);
}

static struct {
	unsigned count;
	char danger[JUDGE_DANGER_SIZE];
} verdict;

static void take_verdict(void *ctx, const char *danger, const char *error)
{
	(void)ctx;
	CU_ASSERT_PTR_NULL(error);
	verdict.count++;
	snprintf(verdict.danger, sizeof(verdict.danger), "%s", danger ? danger : "");
}

static bool has_verdict(const struct world *world)
{
	(void)world;
	return verdict.count;
}

/* The danger of a reload with these engines and files; "": none. */
static const char *danger_of(struct world *world, const char *engine, struct route_options *files)
{
	struct sm_options options = world->sm->options;

	memset(options.engines, 0, sizeof(options.engines));
	strcpy(options.engines[0], engine);
	memset(&verdict, 0, sizeof(verdict));
	sm_judge_options(world->sm, &options, files, take_verdict, NULL);
	sm_world_run(world, has_verdict);
	CU_ASSERT_EQUAL(verdict.count, 1);
	return verdict.danger;
}

/* The present tables as a file. */
static struct route_options *tables_as_file(const struct world *world)
{
	const struct snapshot *topology = world->sm->view->topology;
	struct route_options *files = route_options_new();
	lid_t top = topology->lid_top;

	files->num_tables = topology->num_switches;
	files->tables = mem_array(topology->num_switches, sizeof(*files->tables));
	for (uint32_t s = 0; s < topology->num_switches; s++) {
		struct given_table *table = &files->tables[s];

		*table = (struct given_table){topology->switches[s].guid, top + 1u,
					      mem_array(top + 1u, 1)};
		for (uint32_t lid = 0; lid <= top; lid++)
			table->port[lid] = world->sm->routes.routes->lft[s]->port[lid];
	}
	return files;
}

/* A reload is judged with the files that it would put in force, also if only these change. */
static void test_new_files(void)
{
	struct world *world = control_start("ring:switches=6,hosts=1");
	struct route_options *files, *same;

	control_ask(world,
		    "{\"command\":\"route engine\",\"engines\":\"minhop\",\"force\":true}\n");
	files = tables_as_file(world);
	same = tables_as_file(world);
	CU_ASSERT(route_options_are_equal(files, same) && route_options_are_equal(NULL, NULL));
	CU_ASSERT_FALSE(route_options_are_equal(files, NULL));
	same->tables[0].port[1] ^= 1;
	CU_ASSERT_FALSE(route_options_are_equal(files, same));
	control_ask(world, "{\"command\":\"route engine\",\"engines\":\"default\"}\n");
	CU_ASSERT_STRING_EQUAL(danger_of(world, "file", NULL), ""); /* it refuses */
	CU_ASSERT_PTR_NOT_NULL(strstr(danger_of(world, "file", files), "routes of file have"));

	strcpy(world->sm->engines.configured[0], "file");
	memset(world->sm->engines.configured[1], 0, SM_ENGINE_NAME);
	strcpy(world->sm->options.engines[0], "file");
	memset(world->sm->options.engines[1], 0, SM_ENGINE_NAME);
	CU_ASSERT_PTR_NOT_NULL(strstr(danger_of(world, "file", files), "routes of file have"));
	route_options_unref(files);
	route_options_unref(same);
	control_end(world);
}

/* A daemon that stops during the check reports that, and no danger of the engine. */
static void test_engine_and_stop(void)
{
	struct world *world = control_start("ring:switches=6,hosts=1");

	pull_brake(world);
	control_say(0, "{\"command\":\"route engine\",\"engines\":\"minhop\"}\n");
	sm_world_run(world, one_waits);
	sm_world_stop(world);
	sm_world_run(world, control_all_answered);
	CU_ASSERT(control_has(0, "\"error\":\"the daemon is stopping; nothing was changed\""));
	CU_ASSERT_STRING_EQUAL(kept(world), "");
	sem_post(&brake.go);
	control_end(world);
	sem_destroy(&brake.go);
}

static json_t *settings(const struct world *world)
{
	json_t *array = json_array();

	settings_status(&world->sm->engines.settings, array);
	return array;
}

/* An engine of the store or of a document takes effect. An unknown engine does not, and is shown.
 */
static void test_engines_from_the_store(void)
{
	struct world *world = control_start("fattree:radix=4,levels=2");
	json_t *shown;

	setting_put(world->registry, "routing", "minhop");
	setting_put(world->registry, "of another version", "5");
	sm_world_run(world, minhop_in_force);
	shown = settings(world);
	CU_ASSERT_EQUAL(json_array_size(shown), 1);
	CU_ASSERT_PTR_NULL(json_object_get(json_array_get(shown, 0), "ignored"));
	json_decref(shown);

	setting_put(world->registry, "routing", "minhop,mihnop");
	sm_world_run(world, updn_in_force);
	shown = settings(world);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(json_array_get(shown, 0), "ignored")),
		"no routing engine \"mihnop\"; did you mean \"minhop\"?");
	json_decref(shown);

	registry_together(world->registry, true);
	setting_put(world->registry, "routing", "minhop");
	sm_world_sweep(world, DISCOVER_HEAVY);
	CU_ASSERT(in_force(world, "updn")); /* not before all of it is there */
	registry_together(world->registry, false);
	sm_world_run(world, minhop_in_force);
	control_end(world);
}

/* Those of the store are there before the first routes are computed. */
static void test_engines_at_start(void)
{
	struct world *world = sm_world_new(net_tree2(1, 3, 1, 1), 2, 1, NULL);

	setting_put(world->registry, "routing", "updn");
	engines_done(world->sm);
	engines_init(world->sm); /* as in sm_new() with a store that has it */
	CU_ASSERT(sm_world_up(world));
	CU_ASSERT(in_force(world, "updn"));
	CU_ASSERT_EQUAL(world->sm->sweep.last.number, 1);
	sm_world_free(world);
}

/* Before the first sweep has ended there is nothing to judge. */
static void test_too_early(void)
{
	struct world *world = control_start("fattree:radix=4,levels=2");

	view_publish(&world->sm->view, NULL);
	control_ask(world, check);
	CU_ASSERT(control_has(0, "has programmed no routes"));
	control_ask(world, "{\"command\":\"route dump\"}\n");
	CU_ASSERT(control_has(0, "has programmed no routes"));
	control_end(world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"tables of switches", test_held_tables},
		{"how many", test_bound},
		{"stopping", test_stop},
		{"dumps", test_dump},
		{"stopping a dump", test_dump_and_stop},
		{"refusals", test_refusals},
		{"engines are kept", test_engines_kept},
		{"an engine with credit loops is refused", test_engine_with_loops},
		{"a reload with other files", test_new_files},
		{"stopping while an engine is judged", test_engine_and_stop},
		{"engines of the store", test_engines_from_the_store},
		{"engines at the start", test_engines_at_start},
		{"too early", test_too_early},
		CU_TEST_INFO_NULL,
	};

	return unit_main("judge", tests);
}
