/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands by which a MASTER hands over, and sends control packets to other managers (chapter
 * 14.4.1). DISABLE sets a manager to NOTACTIVE, STANDBY sets it back, and DISCOVER makes a standby
 * discover again. A handover happens in a sweep, after the survey of all managers and before the
 * sweep writes anything. One command runs at a time. Loop thread only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/context.h"
#include "sm/control/commands.h"

enum { AGAIN_US = 500000, TRIES_MAX = 20, ORDERS_MAX = 3, NAMES_SIZE = 256 };

static const struct order {
	const char *command;
	uint32_t control;
	enum role_event event; /* the event at the manager that receives it */
	const char *needs;     /* the state that the receiver must have */
} orders[] = {
	{"ha disable", SM_CONTROL_DISABLE, ROLE_CONTROL_DISABLE, "in STANDBY"},
	{"ha enable", SM_CONTROL_STANDBY, ROLE_CONTROL_STANDBY, "in NOTACTIVE"},
	{"ha discover", SM_CONTROL_DISCOVER, ROLE_CONTROL_DISCOVER, "in STANDBY"},
};

struct ha_commands {
	struct sm *sm;
	struct control_request *request; /* NULL: no command runs, or its client has disconnected */
	bool busy;
	const struct order *order; /* NULL: the subnet is given away */
	bool ordered;		   /* the state was queried after the control packet; its result: */
	int error;
	uint16_t status;
	guid_t guid; /* the target; 0: the manager that ranks highest */
	bool force;  /* also if it lacks registrations */
	unsigned tries;
	struct loop_timer again;
};

/* Answering */

static void ha_command_fail(struct ha_commands *ha, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void ha_command_fail(struct ha_commands *ha, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (ha->request)
		control_fail(ha->request, "%s", text);
	ha->request = NULL;
	ha->busy = false;
}

static void ha_command_answer(struct ha_commands *ha, const char *state)
{
	char guid[GUID_TEXT];

	if (ha->request)
		control_reply(ha->request, json_pack("{s:s,s:s}", "guid", guid_text(ha->guid, guid),
						     "state", state));
	ha->request = NULL;
	ha->busy = false;
}

/* The target */

static void name_peers(const struct peer *list, size_t count, char names[NAMES_SIZE])
{
	size_t length = (size_t)snprintf(names, NAMES_SIZE, "%s", count ? "" : "none");

	for (size_t i = 0; i < count && length < NAMES_SIZE; i++)
		length += (size_t)snprintf(names + length, NAMES_SIZE - length,
					   "%s0x%016" PRIx64 " (%s)", i ? ", " : "",
					   list[i].info.guid, sm_state_name(list[i].info.state));
}

static const struct peer *ha_find_peer(const struct peer *list, size_t count, guid_t guid)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].info.guid == guid)
			return &list[i];
	return NULL;
}

/* The port GUID of the manager on a node, which is given as in all commands; 0: the request has
 * ended. */
static guid_t manager_on(struct sm *sm, struct control_request *request, const char *name)
{
	const struct snapshot *topology = sm->view ? sm->view->topology : NULL;
	struct snap_named named = {.place = -1};
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);
	char names[NAMES_SIZE];
	unsigned found = 0;
	guid_t guid = 0;

	if (!topology) {
		control_fail(request,
			     "\"%.40s\": this manager has no view of the fabric yet, so it accepts "
			     "only port GUIDs",
			     name);
		return 0;
	}
	named = snapshot_find_named(topology, name);
	if (named.place < 0) {
		control_fail(request, "%s", named.error);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		const struct port *port = policy_port(&sm->policy, list[i].info.guid);

		if (!port ||
		    port->node->guid != facts_at(topology, (uint32_t)named.place)->info.node_guid)
			continue;
		guid = list[i].info.guid;
		found++;
	}
	if (found == 1)
		return guid;
	name_peers(list, count, names);
	control_fail(request, "%s subnet manager on \"%.40s\": use a port GUID; found: %s",
		     found ? "more than one" : "no", name, names);
	return 0;
}

/* The member "guid" of a request: a port GUID, or a node with one manager. *out 0: it is missing.
 * Returns false if the request has ended. */
static bool manager_argument(struct sm *sm, struct control_request *request, const json_t *args,
			     guid_t *out)
{
	const json_t *value = json_object_get(args, "guid");
	const char *text = json_string_value(value);
	const struct node *node;

	*out = 0;
	if (!value)
		return true;
	if (guid_read(text, out)) {
		node = fabric_find_node(sm->fabric, *out);
		if (!node || map_get(&sm->fabric->ports, *out))
			return true;
	}
	if (text)
		*out = manager_on(sm, request, text);
	else
		control_fail(request, "expected a manager: a port GUID, or the name of its node");
	return *out;
}

static bool ha_command_may_begin(struct sm *sm, struct control_request *request)
{
	if (!sm_at_master(sm, request, "run this command"))
		return false;
	if (sm->commands->ha->busy)
		control_fail(request, "another ha command is running: try again when it has ended");
	return !sm->commands->ha->busy;
}

static struct ha_commands *ha_command_begin(struct sm *sm, struct control_request *request,
					    guid_t guid)
{
	struct ha_commands *ha = sm->commands->ha;

	ha->request = request;
	ha->busy = true;
	ha->order = NULL;
	ha->ordered = ha->force = false;
	ha->error = ha->status = 0;
	ha->guid = guid;
	ha->tries = 0;
	return ha;
}

/* Giving the subnet away */

/* Whether this manager as MASTER would remove P_Keys that ports have by commands here. */
static bool would_lose_partitions(const struct sm *sm, guid_t guid)
{
	return (registry_count(sm->registry, REGISTRY_PARTITION) ||
		registry_count(sm->registry, REGISTRY_PARTITION_MEMBER)) &&
	       !replica_copies_kind(sm->replica, guid, REGISTRY_PARTITION);
}

static void refuse_without_partitions(struct ha_commands *ha, guid_t guid)
{
	size_t partitions = registry_count(ha->sm->registry, REGISTRY_PARTITION),
	       members = registry_count(ha->sm->registry, REGISTRY_PARTITION_MEMBER);

	ha_command_fail(ha,
			"0x%016" PRIx64 " has no copy of the %zu partition%s and %zu member%s that "
			"commands made here, and would remove their P_Keys: set the same "
			"ha_psk_file on both managers and restart them (--force hands over all the "
			"same)",
			guid, partitions, partitions == 1 ? "" : "s", members,
			members == 1 ? "" : "s");
}

/* A manager without the partitions comes after all that have them. */
static bool is_better_target(const struct sm *sm, const struct sm_info *one,
			     const struct sm_info *other)
{
	bool one_loses = would_lose_partitions(sm, one->guid),
	     other_loses = would_lose_partitions(sm, other->guid);

	return one_loses != other_loses ? other_loses : role_outranks(one, other);
}

static guid_t best_standby(const struct ha_commands *ha, const struct peer *list, size_t count)
{
	const struct peer *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (list[i].info.state == SM_STANDBY &&
		    (ha->force || !replica_lacks(ha->sm->replica, list[i].info.guid)) &&
		    (!best || is_better_target(ha->sm, &list[i].info, &best->info)))
			best = &list[i];
	return best ? best->info.guid : 0;
}

static guid_t ha_choose_target(void *ctx, const struct peer *list, size_t count)
{
	struct ha_commands *ha = ctx;
	guid_t guid = ha->guid ? ha->guid : best_standby(ha, list, count);
	const struct peer *peer = ha_find_peer(list, count, guid);
	char names[NAMES_SIZE];

	name_peers(list, count, names);
	if (!peer && ha->guid) {
		ha_command_fail(ha, "no subnet manager with GUID 0x%016" PRIx64 " found; found: %s",
				guid, names);
	} else if (!peer) {
		ha_command_fail(ha, "no manager is in STANDBY%s; found: %s",
				replica_lacks(ha->sm->replica, 0) && !ha->force
					? " and in sync (see ha status; --force also takes a "
					  "standby that is out of sync)"
					: "",
				names);
	} else if (peer->info.state != SM_STANDBY) {
		ha_command_fail(ha, "0x%016" PRIx64 " is %s: only a STANDBY can become MASTER",
				guid, sm_state_name(peer->info.state));
	} else if (!ha->force && replica_lacks(ha->sm->replica, guid)) {
		ha_command_fail(ha,
				"0x%016" PRIx64 " is out of sync and lacks registrations (see ha "
				"status; --force hands over all the same)",
				guid);
	} else if (!ha->force && would_lose_partitions(ha->sm, guid)) {
		refuse_without_partitions(ha, guid);
	} else {
		return ha->guid = guid;
	}
	return 0;
}

static void given(void *ctx, int error, uint16_t status)
{
	struct ha_commands *ha = ctx;

	if (!error && status_is_busy(status) && ++ha->tries < TRIES_MAX) {
		loop_timer_arm(&ha->again, AGAIN_US);
	} else if (error == -EPERM) {
		ha_command_fail(ha, "this manager is no longer MASTER");
	} else if (error) {
		ha_command_fail(ha,
				"no response from 0x%016" PRIx64 " (%s): this manager stays MASTER",
				ha->guid, strerror(-error));
	} else if (status_is_busy(status)) {
		ha_command_fail(ha,
				"0x%016" PRIx64
				" is busy, probably because its copy of the registry is "
				"incomplete: this manager stays MASTER; try again later",
				ha->guid);
	} else if (status) {
		ha_command_fail(ha,
				"0x%016" PRIx64
				" refused (status 0x%04x), because it is standby-only or has "
				"another master: this manager stays MASTER",
				ha->guid, status);
	} else {
		log_notice("handover complete: manager 0x%016" PRIx64
			   " is MASTER; while it is, the priority of this manager is 0",
			   ha->guid);
		ha_command_answer(ha, "MASTER");
	}
}

/* Waits for the end of the running sweep, and begins nothing new. */
static void ha_give_subnet(void *arg)
{
	struct ha_commands *ha = arg;
	struct peers_handover handover = {ha_choose_target, given, ha};

	peers_request_handover(ha->sm->peers, &handover);
	trigger_light(&ha->sm->trigger, "handover requested");
}

static void command_handover(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct ha_commands *ha;
	guid_t guid;

	if (!manager_argument(sm, request, args, &guid) || !ha_command_may_begin(sm, request))
		return;
	ha = ha_command_begin(sm, request, guid);
	ha->force = json_is_true(json_object_get(args, "force"));
	ha_give_subnet(ha);
}

/* Control packets: reads the state, sends the packet, and reads the state again. */

static void control_packet_answered(void *owner, void *subject, const struct smp_request *request,
				    const struct smp_answer *answer);

static void ha_command_send(struct ha_commands *ha, uint8_t method, uint32_t control)
{
	if (!peers_request(ha->sm->peers, ha->guid, method, control, control_packet_answered, ha))
		ha_command_fail(ha, "no port with GUID 0x%016" PRIx64 " found", ha->guid);
}

static void obeyed(struct ha_commands *ha, enum sm_state state)
{
	log_notice("manager 0x%016" PRIx64 " accepted ha %s", ha->guid,
		   ha->order->command + strlen("ha "));
	trigger_light(&ha->sm->trigger, "another manager changed its state");
	ha_command_answer(ha, sm_state_name(state));
}

static void ha_command_refused(struct ha_commands *ha, int error, uint16_t status)
{
	if (error == -ECANCELED) /* a sweep no longer found its port */
		ha_command_fail(ha, "0x%016" PRIx64 " has disappeared", ha->guid);
	else if (error)
		ha_command_fail(ha, "no response from 0x%016" PRIx64 " (%s)", ha->guid,
				strerror(-error));
	else
		ha_command_fail(ha, "0x%016" PRIx64 " refuses (status 0x%04x)", ha->guid, status);
}

/* A repeated control packet is refused if the first was obeyed and only its answer was lost, as in
 * OpenSM (osm_sm_state_mgr_check_legality). So the state of the other manager decides. In another
 * state the packet is sent again: a DISCOVERING manager may have become STANDBY in the meantime. */
static void got_state(struct ha_commands *ha, const struct sm_info *info)
{
	bool open = role_next(info->state, ha->order->event) != info->state;

	if (info->guid != ha->guid)
		ha_command_fail(ha, "0x%016" PRIx64 " answers with the GUID of another manager",
				ha->guid);
	else if (ha->ordered &&
		 ((!ha->error && !ha->status) || info->state == role_after(ha->order->event)))
		obeyed(ha, info->state);
	else if (!open && !ha->ordered)
		ha_command_fail(ha, "0x%016" PRIx64 " is %s: this command needs a manager %s",
				ha->guid, sm_state_name(info->state), ha->order->needs);
	else if (!open || ha->tries++ == ORDERS_MAX)
		ha_command_refused(ha, ha->error, ha->status);
	else
		ha_command_send(ha, METHOD_SET, ha->order->control);
}

static void got_no_state(struct ha_commands *ha, const struct smp_answer *answer)
{
	if (ha->ordered && !ha->error && !ha->status)
		obeyed(ha, role_after(ha->order->event));
	else
		ha_command_refused(ha, answer->error, answer->status);
}

static void control_packet_answered(void *owner, void *subject, const struct smp_request *request,
				    const struct smp_answer *answer)
{
	struct ha_commands *ha = owner;
	struct sm_info info;

	(void)subject;
	if (!ha->busy)
		return;
	if (answer->error == -ECANCELED) {
		ha_command_refused(ha, answer->error, answer->status);
	} else if (request->method == METHOD_SET) {
		ha->ordered = true;
		ha->error = answer->error;
		ha->status = answer->status;
		ha_command_send(ha, METHOD_GET, 0);
	} else if (answer->error || answer->status) {
		got_no_state(ha, answer);
	} else {
		attr_decode(&sm_info_format, answer->data, &info);
		got_state(ha, &info);
	}
}

static void order(struct sm *sm, struct control_request *request, const json_t *args,
		  const struct order *row)
{
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);
	char names[NAMES_SIZE];
	struct ha_commands *ha;
	guid_t guid;

	if (!manager_argument(sm, request, args, &guid) || !ha_command_may_begin(sm, request))
		return;
	if (!ha_find_peer(list, count, guid)) {
		name_peers(list, count, names);
		control_fail(request,
			     "no subnet manager with GUID 0x%016" PRIx64 " found; found: %s", guid,
			     names);
		return;
	}
	ha = ha_command_begin(sm, request, guid);
	ha->order = row;
	ha_command_send(ha, METHOD_GET, 0);
}

static void command_disable(void *ctx, struct control_request *request, const json_t *args)
{
	order(ctx, request, args, &orders[0]);
}

static void command_enable(void *ctx, struct control_request *request, const json_t *args)
{
	order(ctx, request, args, &orders[1]);
}

static void command_discover(void *ctx, struct control_request *request, const json_t *args)
{
	order(ctx, request, args, &orders[2]);
}

const struct control_command ha_commands[NUM_HA_COMMANDS] = {
	{"ha handover", command_handover, CONTROL_CHANGES},
	{"ha disable", command_disable, CONTROL_CHANGES},
	{"ha enable", command_enable, CONTROL_CHANGES},
	{"ha discover", command_discover, CONTROL_CHANGES},
};

/* Beginning and end */

void ha_commands_init(struct sm *sm)
{
	struct ha_commands *ha = mem_zalloc(sizeof(*ha));

	ha->sm = sm;
	loop_timer_init(&ha->again, sm->loop, "handover retry", ha_give_subnet, ha);
	sm->commands->ha = ha;
}

void ha_commands_stop(struct sm_commands *commands)
{
	loop_timer_disarm(&commands->ha->again);
	peers_cancel_handover(commands->ha->sm->peers);
	ha_command_fail(commands->ha, "the daemon is stopping");
}

void ha_commands_done(struct sm_commands *commands)
{
	loop_timer_disarm(&commands->ha->again);
	free(commands->ha);
}
