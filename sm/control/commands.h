/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files with the commands of the manager: how they write nodes, and how they wait
 * for a sweep. Private to sm/control/ and sm/sm.c. Loop thread only.
 */
#ifndef SM_CONTROL_COMMANDS_H
#define SM_CONTROL_COMMANDS_H

#include "fabric/named.h"
#include "lib/guid.h"
#include "sm/context.h"
#include "sm/control/control.h"
#include "sm/control/upload.h"

/* Requests that wait, of the commands that take time. */
struct sm_commands {
	struct list partition_changes; /* partition.c: not durable, or not written yet */
	struct list port_changes;      /* port.c: not durable yet */
	struct list port_listings;     /* port.c: a worker finds their nodes */
	struct list drains;	/* drain.c: commands that are not durable yet, or under way */
	struct list judgements; /* judge.c: the first judgement is being computed */
	struct list dumps;	/* route.c: under way */
	struct list whys;	/* why_command.c: agents have not answered yet */
	struct partition_check *partition_check; /* partition_check.c */
	struct upload apply_upload;		 /* partition_apply.c */
	struct list applications;		 /* partition_apply.c: in their order */
	struct ha_commands *ha;			 /* ha.c */
};

enum {
	NUM_PORT_COMMANDS = 5,
	NUM_ROUTE_COMMANDS = 3,
	NUM_JUDGE_COMMANDS = 3,
	NUM_PARTITION_COMMANDS = 11,
	NUM_KEYS_COMMANDS = 2,
	NUM_HA_COMMANDS = 4,
	NUM_ALIAS_COMMANDS = 3,
	NUM_COMPLETE_COMMANDS = 5,
	NUM_HEALTH_COMMANDS = 1,
	NUM_WHY_COMMANDS = 1,
	NUM_DRAIN_COMMANDS = 2,
};

extern const struct control_command port_commands[NUM_PORT_COMMANDS];	      /* port.c */
extern const struct control_command route_commands[NUM_ROUTE_COMMANDS];	      /* route.c */
extern const struct control_command judge_commands[NUM_JUDGE_COMMANDS];	      /* judge.c */
extern const struct control_command keys_commands[NUM_KEYS_COMMANDS];	      /* keys.c */
extern const struct control_command ha_commands[NUM_HA_COMMANDS];	      /* ha.c */
extern const struct control_command alias_commands[NUM_ALIAS_COMMANDS];	      /* alias.c */
extern const struct control_command complete_commands[NUM_COMPLETE_COMMANDS]; /* complete.c */
extern const struct control_command why_commands[NUM_WHY_COMMANDS];	      /* why_command.c */
extern const struct control_command drain_commands[NUM_DRAIN_COMMANDS];	      /* drain.c */
extern const struct control_command partition_commands[NUM_PARTITION_COMMANDS];
extern const struct control_command health_commands[NUM_HEALTH_COMMANDS]; /* health.c */

/* health.c: adds the members that only weftctl health needs to the status. */
void health_add_status(const struct sm *sm, json_t *status);
/* Whether a command or the policy took this link, or a node at its ends, out of service. */
bool health_is_by_command(const struct sm *sm, const struct lost_link *lost);
/* planned.c: the comparison with the planned topology, a new reference; NULL: there is no plan. */
json_t *planned_links_json(const struct sm *sm);

/* Handler of partition check, which streams the changes that a file would cause. */
void command_partition_check(void *ctx, struct control_request *request, const json_t *args);
/* Allocates its part of sm->commands; so do the init functions below. */
void partition_check_init(struct sm *sm);
/* Answers the request that waits; so do the stop functions below. */
void partition_check_stop(struct sm_commands *commands);
/* Frees everything. The done functions below are called after the end of the worker pool. */
void partition_check_done(struct sm_commands *commands);

/* Prepares the commands that wait until P_Keys are written. */
void partition_commands_init(struct sm *sm);
/* Answers the commands that wait for P_Keys. */
void partition_commands_stop(struct sm_commands *commands);
/* Prepares partition apply. */
void partition_apply_init(struct sm *sm);
/* Answers the commands that run, completes changes that have begun, and drops the text. */
void partition_apply_stop(struct sm_commands *commands);
/* Frees them. */
void partition_apply_done(struct sm_commands *commands);
/* Prepares ha handover, disable, enable and discover; one of them runs at a time. */
void ha_commands_init(struct sm *sm);
/* Cancels a handover and answers its request. */
void ha_commands_stop(struct sm_commands *commands);
/* Frees the state of these commands. */
void ha_commands_done(struct sm_commands *commands);
/* Answers the port disable and enable commands that wait for a sweep. */
void port_changes_stop(struct sm_commands *commands);
/* Answers the port list commands whose nodes a worker finds. */
void port_listings_stop(struct sm_commands *commands);
/* Frees them. */
void port_listings_done(struct sm_commands *commands);
/* Answers the drain and undrain commands that wait. */
void drains_stop(struct sm_commands *commands);
/* Answers the route check, quality and plan commands that run. */
void judge_stop(struct sm_commands *commands);
/* Frees their state and their snapshots. */
void judge_done(struct sm_commands *commands);
/* Computes the routes that these engines would give the fabric with these input files (NULL: none),
 * and checks them for credit loops. options is not kept longer than the judgement.
 * The result comes in this turn or later, once: the danger (NULL: there is none, or this manager
 * has no fabric to check them on); or error: why they could not be checked. */
enum { JUDGE_DANGER_SIZE = 240 };
typedef void engines_judged_fn(void *ctx, const char *danger, const char *error);
void judge_engines(struct sm *sm, const char engines[SM_ENGINES_MAX][SM_ENGINE_NAME],
		   struct route_options *options, engines_judged_fn *judged, void *ctx);
/* Answers the why commands that wait for agents. */
void why_stop(struct sm_commands *commands);
/* Frees them. */
void why_done(struct sm_commands *commands);
/* Frees the route dump commands that run. */
void dumps_done(struct sm_commands *commands);

/* The object partitions of status; a new reference. */
json_t *partitions_json(const struct sm *sm);

/* Answers the request at the end of the next sweep. also: further members of the answer, whose
 * reference it takes; NULL: none. */
void wait_for_sweep(struct sm *sm, struct control_request *request, json_t *also);
/* As wait_for_sweep(); the tried routing engines stay in force if that sweep has routes. */
void wait_for_engines(struct sm *sm, struct control_request *request);

/* The member "port" of a request, a number or its text, from 0 to PORT_MAX. -1: missing or
 * invalid. */
int port_argument(const json_t *args);

/* Splits NODE/PORT: writes the part before the slash to node, and returns the port. -1: the text
 * has another form. */
int split_node_port(const char *name, char node[NODE_DESC_SIZE + 1]);

/* Whether an adapter of several ports has a lower place (fabric/named.h), where lists show it. */
bool place_is_listed_before(const struct snapshot *snapshot, uint32_t place);
/* Adds the members of a row of node list to an open object: for the node at a place
 * (fabric/named.h). */
void node_members(const struct snapshot *snapshot, uint32_t place, struct buffer *out);

/* One end of a cable: a node, its port, its LID. */
void link_end_row(const struct node_facts *facts, uint8_t port, lid_t lid, const char *name,
		  struct buffer *out);
/* As link_end_row(), for an end port of the snapshot. */
void host_end_row(const struct snapshot *snapshot, int32_t index, const char *name,
		  struct buffer *out);
/* As link_end_row(), for the port at the other end of a switch's link, if there is one. */
void link_peer_row(const struct snapshot *snapshot, const struct snap_link *link, const char *name,
		   struct buffer *out);
/* Such as "ACTIVE"; static text. */
const char *port_state_text(const struct port_info *info);

#endif
