/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Values of ports by kind: enhanced and base ports 0 in one fabric, a router, links that must
 * restart for an MTU that this manager did not set, and FDR10.
 */
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "tests/sim/sim.h"

/* Switches of both kinds, and a router. */
static const char kinds[] =
	"Switch 4 \"e1\" # \"e1\" enhanced port 0\n[1] \"b1\"[1]\n[2] \"h1\"[1]\n\n"
	"Switch 4 \"b1\" # \"b1\" base port 0\n[1] \"e1\"[1]\n[2] \"e2\"[1]\n"
	"[3] \"h2\"[1]\n\n"
	"Switch 4 \"e2\" # \"e2\" enhanced port 0\n[1] \"b1\"[2]\n[2] \"h3\"[1] # 4xEDR\n"
	"[3] \"r1\"[1]\n\n"
	"Hca 1 \"h1\"\n[1] \"e1\"[2]\n\n"
	"Hca 1 \"h2\"\n[1] \"b1\"[3]\n\n"
	"Hca 1 \"h3\"\n[1] \"e2\"[2] # 4xEDR\n\n"
	"Rt 1 \"r1\"\n[1] \"e2\"[3]\n";

enum { MTU_256 = 1, MTU_2048 = 4, LEAF_HOQ = 9, LMC = 2 };

/* Agents begin with NeighborMTU 256 at port 0, as real agents do. invariants.c compares it with the
 * MTU of path records for port 0. A base port 0 has neither NeighborMTU nor LMC. */
static void ports0(struct sim *sim)
{
	static const char *const enhanced[] = {"e1", "e2"};
	const struct port_info *base = &sim_port(sim, "b1", 0)->info;

	sim_start(sim, "h1", "lmc=2 lmc_esp0=true leaf_hoq_life=9");
	for (unsigned i = 0; i < ARRAY_SIZE(enhanced); i++)
		sim_expect(sim, sim_port(sim, enhanced[i], 0)->info.neighbor_mtu == MTU_256);
	sim_settle_and_check(sim);
	for (unsigned i = 0; i < ARRAY_SIZE(enhanced); i++) {
		const struct port_info *info = &sim_port(sim, enhanced[i], 0)->info;

		sim_expect(sim, info->neighbor_mtu == info->mtu_cap);
		sim_expect(sim, info->lmc == LMC && info->lid && info->lid % (1 << LMC) == 0);
	}
	sim_expect(sim, base->lid && !base->lmc);
	sim_expect(sim, sim_port(sim, "r1", 1)->info.hoq_life == LEAF_HOQ);
	sim_expect(sim, sim_port(sim, "h2", 1)->info.hoq_life == 0);
}

/* The same without the option: one LID each. */
static void ports0_with_one_lid(struct sim *sim)
{
	sim_start(sim, "h1", "lmc=2");
	sim_settle_and_check(sim);
	sim_expect(sim, !sim_port(sim, "e1", 0)->info.lmc && !sim_port(sim, "e2", 0)->info.lmc);
	sim_expect(sim, sim_port(sim, "h3", 1)->info.lmc == LMC);
}

static void put_link(struct device_port *port, uint8_t state, uint8_t mtu)
{
	struct device_port *ends[] = {port, port->peer};

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		ends[i]->info.port_state = state;
		ends[i]->info.neighbor_mtu = mtu;
	}
}

/* A previous manager left links of hosts ARMED, or ACTIVE without an address, with an MTU below the
 * best. The manager takes each link down once, and it comes up with the best MTU of both ends. */
static void link_restarts(struct sim *sim)
{
	static const struct {
		uint8_t state;
		lid_t lid, master_sm_lid;
	} rows[] = {
		{PORT_ARMED, 0, 0}, {PORT_ARMED, 70, 3}, {PORT_ACTIVE, 0, 0}, {PORT_ACTIVE, 71, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !sim->failed; i++) {
		struct sim_manager *manager;
		struct device_port *port = sim_port(sim, "h3", 1);

		sim_pass(sim, 5 * SIM_S); /* links train */
		put_link(port, rows[i].state, MTU_2048);
		port->info.lid = rows[i].lid;
		port->info.master_sm_lid = rows[i].master_sm_lid;
		if (!i)
			manager = sim_start(sim, "h1", NULL);
		else
			sim_restart(manager = &sim->managers[0]);
		manager->downs_sent = 0;
		sim_settle_and_check(sim);
		sim_expect(sim, manager->downs_sent == 1);
		sim_expect(sim, port->info.neighbor_mtu == port->info.mtu_cap &&
					port->info.port_state == PORT_ACTIVE);
		sim_kill(manager);
	}
}

/* Does not count the warning that the net is no fat tree. */
static void count_warning(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	unsigned *warnings = ctx;

	(void)subject;
	*warnings += level <= LOG_WARNING && !strstr(text, "fat tree");
}

/* An adapter that loses the answer with its link counts as healthy. */
static void link_restart_unanswered(struct sim *sim)
{
	struct device_port *port = sim_port(sim, "h3", 1);
	struct sim_manager *manager;
	unsigned warnings = 0;

	sim_behave(sim, port->device, "down-trains");
	sim_pass(sim, 5 * SIM_S);
	put_link(port, PORT_ARMED, MTU_2048);
	log_watch(count_warning, &warnings);
	manager = sim_start(sim, "h1", NULL);
	sim_settle_and_check(sim);
	log_watch(NULL, NULL);
	sim_expect(sim, manager->downs_sent > 0 && warnings == 0);
	sim_expect(sim, port->info.neighbor_mtu == port->info.mtu_cap &&
				port->info.port_state == PORT_ACTIVE);
}

/* A takeover of a running fabric with other wanted values: no link goes down for them. The same
 * holds after a restart of the manager, and after a failover. */
static void running_links_stay(struct sim *sim)
{
	struct sim_manager *first = sim_start(sim, "h1", "sm_priority=5"), *second;
	struct device_port *port = sim_port(sim, "h3", 1);

	sim_settle_and_check(sim);
	put_link(port, PORT_ACTIVE, MTU_2048);
	second = sim_start(sim, "h2", "max_op_vls=1");
	sim_pass(sim, 5 * SIM_S);
	sim_kill(first);
	sim_pass(sim, 60 * SIM_S);
	sim_expect(sim, sim_state(second) == SM_MASTER);
	sim_expect(sim, second->downs_sent == 0 && first->downs_sent == 0);
	sim_expect(sim, port->info.neighbor_mtu == MTU_2048);
	sim_expect(sim, port->info.port_state == PORT_ACTIVE);
}

static void set_option(struct sim_manager *manager, const char *option)
{
	char error[CONF_ERROR_SIZE];

	sim_expect(manager->sim, !conf_set(&manager->conf, option, error));
	manager_set_conf(manager->manager, &manager->conf);
}

static void force(struct sim_manager *manager, unsigned width, unsigned speed, unsigned speed_ext)
{
	manager->conf.sm.force_link_width = (uint8_t)width;
	manager->conf.sm.force_link_speed = (uint8_t)speed;
	manager->conf.sm.force_link_speed_ext = (uint8_t)speed_ext;
	manager_set_conf(manager->manager, &manager->conf);
}

/* Forced widths and speeds are set at both ends of every link, also after a reload. No link goes
 * down for them: they take effect when a link trains. 0 leaves the present setting. */
static void forced(struct sim *sim)
{
	enum { WIDTH_1X = 1, WIDTH_4X = 2, SPEED_DDR = 2, UP_TO_DDR = 3 };
	struct device_port *host = sim_port(sim, "h3", 1), *sw = host->peer;
	struct sim_manager *manager = sim_start(sim, "h1", NULL);
	uint32_t trainings = host->trainings;

	sim_settle_and_check(sim);
	sim_expect(sim, host->info.link_width_enabled == host->info.link_width_supported);
	force(manager, 1, 3, 30);
	sim_settle_and_check(sim);
	sim_expect(sim, host->info.link_width_enabled == WIDTH_1X &&
				sw->info.link_width_enabled == WIDTH_1X);
	sim_expect(sim, host->info.link_speed_enabled == UP_TO_DDR &&
				sw->info.link_speed_enabled == UP_TO_DDR);
	sim_expect(sim, host->info.link_width_active == WIDTH_4X);
	sim_expect(sim, host->trainings == trainings && manager->downs_sent == 0);
	sim_flap(sim, host, 100 * SIM_MS);
	sim_settle_and_check(sim);
	sim_expect(sim, host->info.link_width_active == WIDTH_1X);
	sim_expect(sim,
		   host->info.link_speed_active == SPEED_DDR && !host->info.link_speed_ext_active);
	force(manager, 0, 0, 0);
	sim_settle_and_check(sim);
	sim_expect(sim, host->info.link_width_enabled == WIDTH_1X);
	force(manager, 255, 15, 31);
	sim_settle_and_check(sim);
	sim_expect(sim, host->info.link_width_enabled == host->info.link_width_supported);
	sim_expect(sim, host->info.link_speed_ext_enabled == host->info.link_speed_ext_supported);
	sim_flap(sim, host, 100 * SIM_MS);
	sim_settle_and_check(sim);
	sim_expect(sim, host->info.link_width_active == WIDTH_4X);
}

/* If a port refuses a forced value, its link still comes up, and the Set() is not repeated. */
static void forced_refused(struct sim *sim)
{
	enum { UP_TO_QDR = 7, NOT_SDR = 6 };
	struct device_port *old = sim_port(sim, "h3", 1);
	struct sim_manager *manager;

	sim_behave(sim, old->device, "old-speeds");
	manager = sim_start(sim, "h1", "force_link_speed=6");
	sim_settle_and_check(sim);
	sim_expect(sim, old->info.port_state == PORT_ACTIVE);
	sim_expect(sim, old->info.link_speed_enabled == UP_TO_QDR);
	sim_expect(sim, old->peer->info.link_speed_enabled == NOT_SDR && manager->refused == 1);
	sim_check(sim);
	sim_expect(sim, manager->refused == 1);
}

/* FDR10 */

/* Devices that have ExtendedPortInfo, and "old", which has FDR10 and does not report it. */
static const char fdr10_net[] =
	"vendid=0x2c9\ndevid=0xc738\nSwitch 8 \"s1\"\n[1] \"s2\"[1] # 4xFDR10\n"
	"[2] \"h1\"[1] # 4xFDR10\n[3] \"h2\"[1] # 4xFDR10\n\n"
	"vendid=0x2c9\ndevid=0xc738\nSwitch 8 \"s2\"\n[1] \"s1\"[1] # 4xFDR10\n"
	"[2] \"h3\"[1] # 4xFDR10\n[3] \"old\"[1] # 4xFDR10\n\n"
	"vendid=0x2c9\ndevid=0x1003\nHca 1 \"h1\"\n[1] \"s1\"[2] # 4xFDR10\n\n"
	"vendid=0x2c9\ndevid=0x1003\nHca 1 \"h2\"\n[1] \"s1\"[3] # 4xFDR10\n\n"
	"vendid=0x2c9\ndevid=0x1003\nHca 1 \"h3\"\n[1] \"s2\"[2] # 4xFDR10\n\n"
	"vendid=0x2c9\ndevid=0x1002\nHca 1 \"old\"\n[1] \"s2\"[3] # 4xFDR10\n";

enum { OTHER_BYTE = 52, OTHER_VALUE = 0xA5 };

static const struct {
	const char *node;
	unsigned port;
} fdr10_ports[] = {{"s1", 1}, {"s1", 2}, {"s1", 3}, {"s2", 1}, {"s2", 2},
		   {"s2", 3}, {"h1", 1}, {"h2", 1}, {"h3", 1}};

static void put_fdr10(struct sim *sim, uint8_t enabled)
{
	for (unsigned i = 0; i < ARRAY_SIZE(fdr10_ports); i++)
		sim_port(sim, fdr10_ports[i].node, fdr10_ports[i].port)->ext.link_speed_enabled =
			enabled;
	sim_port(sim, "old", 1)->ext.link_speed_enabled = 0;
}

static void expect_fdr10(struct sim *sim, uint8_t enabled)
{
	for (unsigned i = 0; i < ARRAY_SIZE(fdr10_ports); i++)
		sim_expect(sim, sim_port(sim, fdr10_ports[i].node, fdr10_ports[i].port)
						->ext.link_speed_enabled == enabled);
	sim_expect(sim, !sim_port(sim, "old", 1)->ext.link_speed_enabled);
}

/* 1 enables FDR10 on all ports that support it, and 2 disables it, also after a reload. It takes
 * effect when a link trains. The other members of the attribute are unchanged. */
static void fdr10(struct sim *sim)
{
	struct device_port *host = sim_port(sim, "h2", 1);
	struct sim_manager *manager;

	put_fdr10(sim, 0);
	host->ext_data = mem_zalloc(SMP_DATA_SIZE);
	host->ext_data[OTHER_BYTE] = OTHER_VALUE;
	manager = sim_start(sim, "h1", "fdr10=1");
	sim_settle_and_check(sim);
	expect_fdr10(sim, MLNX_FDR10);
	sim_expect(sim, host->ext_data[OTHER_BYTE] == OTHER_VALUE);
	sim_flap(sim, host, 100 * SIM_MS);
	sim_settle_and_check(sim);
	sim_expect(sim, host->ext.link_speed_active == MLNX_FDR10);
	sim_expect(sim, host->peer->ext.link_speed_active == MLNX_FDR10);
	expect_fdr10(sim, MLNX_FDR10);
	set_option(manager, "fdr10=2");
	sim_settle_and_check(sim);
	expect_fdr10(sim, 0);
	sim_flap(sim, host, 100 * SIM_MS);
	sim_settle_and_check(sim);
	sim_expect(sim, !host->ext.link_speed_active);
}

/* Without the option no vendor SMP is sent. */
static void fdr10_not_used(struct sim *sim)
{
	put_fdr10(sim, 0);
	sim_start(sim, "h1", NULL);
	sim_settle_and_check(sim);
	expect_fdr10(sim, 0);
	sim_expect(sim, !world_stats(sim->world)->gets[WORLD_ATTRS] &&
				!world_stats(sim->world)->sets[WORLD_ATTRS]);
}

/* Devices that refuse the attribute, or do not apply the speed: the subnet comes up, and the next
 * sweep does not repeat refused requests. */
static void fdr10_refused(struct sim *sim)
{
	const struct world_stats *stats = world_stats(sim->world);
	uint64_t gets, sets;

	put_fdr10(sim, 0);
	sim_device(sim, "h2")->quirks.no_ext_port_info = true;
	sim_device(sim, "s2")->quirks.no_ext_port_info = true;
	sim_device(sim, "h3")->quirks.keeps_fdr10 = true;
	sim_start(sim, "h1", "fdr10=1");
	sim_settle_and_check(sim);
	sim_expect(sim, sim->managers[0].error == 0);
	sim_expect(sim, sim_port(sim, "h1", 1)->ext.link_speed_enabled == MLNX_FDR10);
	sim_expect(sim, !sim_port(sim, "h2", 1)->ext.link_speed_enabled);
	sim_expect(sim, !sim_port(sim, "h3", 1)->ext.link_speed_enabled);
	gets = stats->gets[WORLD_ATTRS];
	sets = stats->sets[WORLD_ATTRS];
	sim_check(sim);
	/* A heavy sweep reads the five ports that report it. */
	sim_expect(sim, stats->gets[WORLD_ATTRS] == gets + 5);
	sim_expect(sim, stats->sets[WORLD_ATTRS] == sets);
}

const struct scenario sim_ports[] = {
	{.name = "ports0", .topology = kinds, .play = ports0},
	{.name = "ports0-one-lid", .topology = kinds, .play = ports0_with_one_lid},
	{.name = "link-restarts", .topology = kinds, .play = link_restarts},
	{.name = "link-restart-unanswered", .topology = kinds, .play = link_restart_unanswered},
	{.name = "link-stays", .topology = kinds, .play = running_links_stay},
	{.name = "forced-links", .topology = kinds, .play = forced},
	{.name = "forced-refused", .topology = kinds, .play = forced_refused},
	{.name = "fdr10", .topology = fdr10_net, .play = fdr10},
	{.name = "fdr10-not-used", .topology = fdr10_net, .play = fdr10_not_used},
	{.name = "fdr10-refused", .topology = fdr10_net, .play = fdr10_refused},
	{.name = NULL},
};
