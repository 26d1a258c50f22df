/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A simulation: a world of software agents, managers on some of its nodes, one virtual clock, and
 * faults. A scenario is a function that starts managers, lets time pass, causes faults, and checks.
 * Everything follows from the seed: the same scenario and seed give the same events at the same
 * times. Each event has a number, so that a run can be replayed up to a failure.
 *
 * The first failure ends the run. It is recorded in failure, and from then on every function here
 * returns at once, so that a scenario need not check for it.
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "lib/loop.h"
#include "sim/world.h"
#include "tests/sim/circles.h"
#include "tests/sim/forest.h"
#include "weftd/conf.h"
#include "weftd/manager.h"

enum { SIM_MANAGERS_MAX = 4, SIM_TEXT_SIZE = 512 };

#define SIM_MS UINT64_C(1000)
#define SIM_S UINT64_C(1000000)

struct sim;

struct sim_manager {
	struct sim *sim;
	struct device_port *port; /* on which it runs: port 1 of an adapter, port 0 of a switch */
	struct conf conf;
	const char *partitions;	     /* the text of its partition file; NULL: none */
	struct transport *transport; /* NULL: it does not run */
	struct work_pool *pool;
	char *store_dir;		/* made and removed by the simulation; NULL: no store */
	struct store *store;		/* NULL: it does not run, or has no store */
	struct stream_carrier *carrier; /* NULL: it does not run, or has no replication */
	struct manager *manager;
	uint64_t mads_sent;		   /* SMPs that leave its node */
	uint64_t sets_sent, lft_sets_sent; /* Set(SMInfo) is not counted */
	uint64_t lft_gets_sent, mft_sets_sent, mft_gets_sent;
	uint64_t downs_sent; /* Set(PortInfo) with PortState Down */
	uint64_t refused;    /* answers to SMPs with a status */
	uint64_t reports;
	int error;		     /* of the last report */
	char report[SIM_TEXT_SIZE];  /* its text */
	uint8_t state;		     /* sim_state()'s: from the answer to a Get(SMInfo) */
	uint8_t sa_answer[MAD_SIZE]; /* the last answer of its SA */
};

/* Options of a run, from the command line. */
struct sim_run {
	uint64_t seed;
	uint64_t until;	  /* stop after this event; 0: at the end */
	uint64_t fail_at; /* fail at this event, to show the form of a failure; 0: no */
	bool trace;	  /* print every event */
};

struct sim {
	struct sim_run run;
	struct loop *loop;
	struct world *world;
	struct pipe_net *pipes; /* beside the fabric: pipe.h */
	struct known *known;
	struct circles *circles;
	struct forest *forest;
	struct sim_manager managers[SIM_MANAGERS_MAX];
	unsigned num_managers;
	uint64_t random;
	uint64_t events;	  /* MADs at the managers, applied Sets, events of the scenario */
	uint64_t digest;	  /* of all events, with their times */
	uint64_t last_set_us;	  /* when a manager last sent a Set() */
	uint64_t circles_excused; /* LIDs and MLIDs; see circles.h and forest.h */
	uint64_t circles_due_us;  /* when these must be gone */
	bool rebooted;		  /* a device was */
	bool recabled;		  /* cables were swapped */
	bool tenants;		  /* ports joined groups: tenants.h */
	uint64_t tenant_tid;	  /* the last TID of a tenant */
	bool failed, stopped;
	char failure[SIM_TEXT_SIZE];
};

/* The agents of scenarios without options of their own. */
extern const struct world_options sim_usual_world;

/* topology is a SPEC or the text of a net file. If it cannot be built, prints a failure and returns
 * NULL. */
struct sim *sim_new(const char *topology, const struct world_options *options,
		    const struct sim_run *run);
void sim_free(struct sim *sim);
/* The first failure counts. The text is the reason; time and event are added. */
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define sim_expect(sim, condition)                                                  \
	do {                                                                        \
		if (!(condition))                                                   \
			sim_fail(sim, "line %d: not so: %s", __LINE__, #condition); \
	} while (0)

/* Managers. options: "NAME=VALUE NAME=VALUE ..." as for weftd -o, or NULL. After sim_stop() or
 * sim_kill(), sim_restart() starts the manager again. Never returns NULL. */
struct sim_manager *sim_start(struct sim *sim, const char *node, const char *options);
/* The same, but the manager does not run before sim_restart(): its conf can be changed. */
struct sim_manager *sim_prepare(struct sim *sim, const char *node, const char *options);
void sim_restart(struct sim_manager *manager);
/* The same with a store, in a folder of its own that stays over restarts. With ha_listen="NODE"
 * (its own) and ha_peers (of others) a manager keeps standbys and follows a master. */
struct sim_manager *sim_start_keeping(struct sim *sim, const char *node, const char *options);
/* Its requests that timed out, SMPs and others. */
uint64_t sim_timed_out(const struct sim_manager *manager);
void sim_pipes(struct sim *sim, bool cut); /* cuts or restores the network */
void sim_reset_pipes(struct sim *sim);	   /* closes all streams */
/* Does either of these, the first for a short time, with a chance of one in so many. False:
 * neither. */
bool sim_network_trouble(struct sim *sim, unsigned one_in);
void sim_stop(struct sim_manager *manager); /* in order, as after SIGTERM */
void sim_kill(struct sim_manager *manager); /* at once, as after SIGKILL */
/* The device on which it runs is removed and comes back. With another port the manager continues
 * there. */
void sim_remove_device(struct sim_manager *manager);
void sim_return_device(struct sim_manager *manager, struct device_port *port);
bool sim_running(const struct sim_manager *manager);
/* The state in its answer to Get(SMInfo); SM_NOTACTIVE if it does not run. */
enum sm_state sim_state(struct sim_manager *manager);
struct sim_manager *sim_master(struct sim *sim); /* a manager that is MASTER, or NULL */

/* Sets the text of its partition file, a literal; NULL: no file. */
void sim_partitions(struct sim_manager *manager, const char *text);

/* Time */
uint64_t sim_now_us(const struct sim *sim);
void sim_pass(struct sim *sim, uint64_t us);
/* Waits until no manager has sent a Set() for longer than any pause between two attempts. Fails if
 * that takes more than limit_us. Returns the time of the last Set(). */
uint64_t sim_settle(struct sim *sim, uint64_t limit_us);
/* Waits until condition(ctx) is true; fails with the text `what` after limit_us. */
void sim_until(struct sim *sim, uint64_t limit_us, const char *what, bool (*condition)(void *ctx),
	       void *ctx);

/* Faults and changes of the fabric. Nodes have the names of the topology. */
struct device *sim_device(struct sim *sim, const char *node);
struct device_port *sim_port(struct sim *sim, const char *node, unsigned port);
void sim_link(struct sim *sim, struct device_port *port, bool up);
void sim_flap(struct sim *sim, struct device_port *port, uint64_t down_us);
void sim_node(struct sim *sim, struct device *device, bool up);
void sim_reboot(struct sim *sim, struct device *device);
/* Gives the device these habits at once, and their reset habits from its next reset on. */
void sim_behave(struct sim *sim, struct device *device, const char *personality);
void sim_silence(struct sim *sim, struct device *device, bool silent);
void sim_lossy(struct sim *sim, struct device *device, unsigned drop_ppm); /* of this device */
void sim_eat(struct sim *sim, const struct device_port *port); /* loses what it sends; NULL: none */
/* Swaps the far ends of the cables of two ports, both of which are cabled. */
void sim_swap_cables(struct sim *sim, struct device_port *a, struct device_port *b);
void sim_faults(struct sim *sim, const struct world_faults *faults); /* NULL: none */
/* A number below bound, from the seed. */
uint64_t sim_random(struct sim *sim, uint64_t bound);

/* invariants.c: the invariants of a quiet fabric. Also starts a heavy sweep, which may send no
 * Set(). */
void sim_check(struct sim *sim);
/* The invariants after each applied Set(), except those of loops. */
void sim_check_set(struct sim *sim, const struct device *device, uint16_t attr_id);
/* The short form of most scenarios: settle, then check. */
void sim_settle_and_check(struct sim *sim);

/* Tables of scenarios.c, scenarios_window.c, scenarios_order.c, scenarios_trigger.c,
 * scenarios_store.c, scenarios_multicast.c, scenarios_keys.c, scenarios_failover.c, scenarios_ha.c,
 * scenarios_device.c, scenarios_habits.c, scenarios_ports.c and standard.c. A row with the name
 * NULL ends each. */
struct scenario {
	const char *name;
	const char *topology; /* as for sim_new(); NULL: from choose() */
	const char *(*choose)(uint64_t seed);
	const struct world_options *world; /* NULL: sim_usual_world */
	void (*play)(struct sim *sim);
	bool when_named; /* takes long: runs only when named */
};
extern const struct scenario sim_scenarios[], sim_window[], sim_order[], sim_trigger[], sim_store[],
	sim_multicast[], sim_keys[], sim_standard[], sim_tenants[], sim_failover[], sim_ha[],
	sim_device_scenarios[], sim_habits[], sim_ports[], sim_drain[];

/* Seeds that once failed. A row with the scenario NULL ends the table. */
struct known_seed {
	const char *scenario;
	uint64_t seed;
	const char *found;
};
extern const struct known_seed sim_known_seeds[];

#endif
