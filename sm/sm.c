/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One subnet manager: creates, connects and frees its parts. */
#include "sm/sm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/table_cache.h"
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sm/context.h"
#include "sm/partition/losses.h"
#include "sm/traps.h"
#include "store/save.h"

static struct window_limits sm_window_limits(const struct sm_options *options)
{
	return (struct window_limits){
		.total = options->smp_window,
		.timeout_min_ms = options->smp_timeout_min_ms,
		.timeout_ms = options->smp_timeout_ms,
		.attempts = options->smp_attempts,
		.fixed = options->smp_window_fixed,
	};
}

/* If sm_lid moves with mastership, hosts see no other manager, and the registrations are
 * complete if durability was "standby" and this standby was in sync. */
static bool clients_know_us(const struct sm *sm)
{
	const struct port *port = sm->fabric->sm_port;

	return port && port_state_of(port) == PORT_ACTIVE && sm->options.sm_lid &&
	       port_info(port)->master_sm_lid == sm->options.sm_lid && replica_has_all(sm->replica);
}

/* Each manager uses its own sm_lid when it is MASTER, so a difference is logged. */
static void compare_sm_lid(const struct sm *sm)
{
	const struct peer *master = peers_master(sm->peers);

	if (peers_role(sm->peers) == SM_STANDBY && sm->options.sm_lid && master &&
	    master->info.state == SM_MASTER && master->lid != sm->options.sm_lid)
		log_about(LOG_WARNING, &(struct log_subject){.message_id = MESSAGE_SM_LID},
			  "the master is at LID %u, but sm_lid is %u here: set the same sm_lid on "
			  "all managers, or hosts get another MasterSMLID after a failover",
			  master->lid, sm->options.sm_lid);
}

static void role_changed(void *ctx, const char *reason)
{
	struct sm *sm = ctx;
	enum sm_state role = peers_role(sm->peers);

	if (role != SM_MASTER) {
		policy_set_live(&sm->policy, false);
		sm->unmanaged_pkeys.told = false;
		sm->keys.accepted = sm->keys.held_back = false;
		mcast_leave_off(sm->mcast);
		program_stop(sm->program);
	}
	if (role == SM_MASTER) { /* another master may have written since we last did */
		fabric_forget_tables(sm->fabric);
		fabric_forget_asked_links(sm->fabric); /* the registry has the valid values */
		/* If two subnets were joined, this subnet keeps its LIDs where they collide. */
		if (!sm->was_master)
			fabric_forget_lids(sm->fabric);
		if (clients_know_us(sm))
			fabric_mark_reregistered(sm->fabric);
		else
			fabric_new_rereg_epoch(sm->fabric);
		mcast_begin_anew(sm->mcast);
	} else {
		publish_nothing(sm);
		compare_sm_lid(sm);
	}
	sm->was_master = role == SM_MASTER;
	replica_role(sm->replica, sm->cache);
	/* A sweep continues after a decision of its own election. A handover comes from outside:
	 * the data of a running sweep may be older than the last writes of the other master. */
	if (!sweep_is_electing(sm) && (role == SM_MASTER || role == SM_DISCOVERING))
		trigger_heavy(&sm->trigger, reason);
}

bool sm_search_stranger(struct sm *sm, const char *reason)
{
	return trigger_heavy_paced(&sm->trigger, &sm->stranger_rate, loop_now_us(sm->loop), reason);
}

/* Each sweep queries all managers. */
static void managers_noticed(void *ctx, const char *reason)
{
	struct sm *sm = ctx;

	if (peers_role(sm->peers) == SM_MASTER)
		trigger_light(&sm->trigger, reason);
	else
		trigger_heavy(&sm->trigger, reason);
}

/* Between two sweeps: the next sweep tries again. */
static void pkeys_failed(void *arg)
{
	struct sm *sm = arg;

	trigger_light(&sm->trigger, "P_Keys were not written");
}

/* Present ports keep their LIDs, which are stored in the registry. Their hosts must repeat the
 * registrations that they made after the document was saved. */
static void restored(void *arg)
{
	struct sm *sm = arg;

	sm->fabric->topology++;
	sm->drain.number = registry_number(sm->registry);
	fabric_new_rereg_epoch(sm->fabric);
	trigger_heavy(&sm->trigger, "the registry was restored");
}

static void restore_is_judged(void *arg, char *danger)
{
	struct sm *sm = arg;

	sm->restoring.comparison = NULL;
	if (!danger)
		danger = drain_judge_document(sm, sm->restoring.document);
	sm->restoring.judged(sm->restoring.ctx, danger);
}

/* Only the MASTER changes the registrations of a standby. */
static const char *restore_forbidden(void *arg)
{
	const struct sm *sm = arg;

	return sm_is_master(sm) ? NULL : sm_state_name(peers_role(sm->peers));
}

/* Judges P_Keys by the rule for a partition file, and drained ports by the rule of weftctl
 * drain. */
static void restore_judge(void *arg, struct registry *document, save_judged_fn *judged, void *ctx)
{
	struct sm *sm = arg;

	sm->restoring = (struct restore_judgement){
		.document = document,
		.judged = judged,
		.ctx = ctx,
		.comparison = policy_judge_records(&sm->policy, document,
						   sm->options.partition_confirm_ports,
						   restore_is_judged, sm),
	};
}

static void restore_complete(void *arg, struct registry *document)
{
	drain_complete_document(arg, document);
}

static void restore_judge_cancel(void *arg)
{
	struct sm *sm = arg;

	policy_judge_cancel(sm->restoring.comparison);
	sm->restoring.comparison = NULL;
}

static void sm_pkeys_changed(void *ctx, struct port *port)
{
	struct sm *sm = ctx;

	program_look_at_port(sm->program, port);
}

static struct mcast_base mcast_base(const void *ctx)
{
	const struct sm *sm = ctx;

	return (struct mcast_base){sm->routes.routes, sm->routed};
}

static bool is_published(const void *ctx)
{
	return ((const struct sm *)ctx)->view;
}

static bool sm_is_between_sweeps(const void *ctx)
{
	const struct sm *sm = ctx;

	return !sm->sweep.running && !sm->stopped && peers_role(sm->peers) == SM_MASTER;
}

static void mcast_written(void *ctx, bool failed)
{
	struct sm *sm = ctx;

	table_cache_touch_mft(sm->cache);
	replica_touch_mft(sm->replica);
	if (program_report(sm->program)->not_as_read)
		trigger_heavy(&sm->trigger, "a device no longer has the values that were read");
	else if (failed)
		trigger_light(&sm->trigger, "a switch did not accept its multicast table");
}

/* A standby that would not get the M_Keys; 0: there is none. */
static guid_t standby_without_m_keys(const struct sm *sm)
{
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);

	for (size_t i = 0; i < count; i++)
		if (list[i].info.state == SM_STANDBY &&
		    !replica_copies_all(sm->replica, list[i].info.guid))
			return list[i].info.guid;
	return 0;
}

/* Without the replication, an administrator keeps the settings of the managers equal. */
static bool m_keys_may_begin(const void *ctx)
{
	const struct sm *sm = ctx;

	return !replica_serves(sm->replica) || !standby_without_m_keys(sm);
}

struct sm *sm_new(struct loop *loop, struct work_pool *pool, struct transport *transport,
		  struct txn_table *txns, struct registry *registry, struct event_hub *events,
		  const struct sm_options *options)
{
	struct sm *sm = mem_zalloc(sizeof(*sm));
	struct window_limits limits = sm_window_limits(options);

	sm->loop = loop;
	sm->pool = pool;
	sm->transport = transport;
	sm->txns = txns;
	sm->registry = registry;
	sm->events = events;
	sm->options = *options;
	sm->window = window_new(loop, txns, &limits);
	sm->fabric = fabric_new(sm->window, options->smp_per_switch, options->smp_per_adapter);
	sm->fabric->registry = registry;
	sm->discover = discover_new(loop, sm->window, sm->fabric, &sm->options);
	sm->program = program_new(loop, sm->window, sm->fabric, &sm->options);
	sm->peers = peers_new(loop, txns, transport, sm->fabric, &sm->options, role_changed,
			      managers_noticed, sm);
	trigger_init(&sm->trigger, loop, sweep_begin, sm);
	hold_init(&sm->hold, loop, sm->fabric, &sm->trigger, &sm->options);
	drain_init(sm);
	snapshot_request_init(&sm->snapshot_request, loop, sm->fabric);
	sweep_init(sm);
	readback_init(sm);
	guids_init(&sm->guids, registry, sm->fabric, &sm->trigger, &sm->options);
	program_set_guids(sm->program, &sm->guids);
	sm->fabric->own_guid = transport->port.port_guid;
	keys_init(&sm->keys, loop, registry, sm->fabric, &sm->options);
	keys_ask_first(&sm->keys, m_keys_may_begin, sm);
	policy_init(&sm->policy, loop, registry, events, sm->fabric, sm_pkeys_changed, sm,
		    &sm->options);
	unmanaged_pkeys_init(&sm->unmanaged_pkeys, loop, sm->fabric, &sm->policy);
	program_set_policy(sm->program, &sm->policy, pkeys_failed, sm);
	publish_init(sm);
	sm->mcast = mcast_new(loop, pool, registry, sm->fabric, sm->program,
			      &(struct mcast_owner){mcast_base, is_published, sm_is_between_sweeps,
						    mcast_written, sm});
	program_set_mcast(sm->program, sm->mcast);
	local_port_init(sm);
	port_events_init(&sm->port_events, loop, events, registry, &sm->options);
	traps_init(sm);
	sm_rx_init(sm);
	engines_init(sm);
	sm->save = save_new(loop, registry,
			    &(struct save_owner){restore_forbidden, restore_judge, restore_complete,
						 restore_judge_cancel, restored, sm});
	return sm;
}

void sm_free(struct sm *sm)
{
	if (!sm)
		return;
	snapshot_request_stop(&sm->snapshot_request); /* its waiters are freed before it */
	sweep_done(sm);
	engines_done(sm);
	save_free(sm->save);
	replica_free(sm->replica);
	table_cache_free(sm->cache);
	publish_done(sm);
	snapshot_request_done(&sm->snapshot_request);
	hold_done(&sm->hold);
	drain_done(sm);
	readback_done(sm);
	local_port_done(sm);
	txn_handle(sm->txns, CLASS_SUBN_LID, NULL, NULL);
	txn_handle(sm->txns, CLASS_SUBN_DIRECTED, NULL, NULL);
	traps_done(sm);
	trigger_done(&sm->trigger);
	port_events_done(&sm->port_events);
	view_publish(&sm->view, NULL);
	/* Frees the parts with requests under way first, because each request completes into a part
	 * that is freed later. */
	fabric_free(sm->fabric);
	mcast_free(sm->mcast);
	discover_free(sm->discover);
	peers_free(sm->peers);
	program_free(sm->program);
	guids_done(&sm->guids);
	keys_done(&sm->keys);
	unmanaged_pkeys_done(&sm->unmanaged_pkeys);
	policy_done(&sm->policy);
	window_free(sm->window);
	routes_unref(sm->routes.routes);
	snapshot_unref(sm->routed);
	credit_watch_done(sm);
	planned_links_done(sm);
	route_job_free(sm->routing); /* the pool was stopped before, so no worker runs it */
	free(sm->absent);
	free(sm);
}

void sm_start(struct sm *sm)
{
	int error = peers_start(sm->peers);

	if (error)
		log_warning("cannot set IsSM on %s port %u (%s): other managers will not find this "
			    "manager",
			    sm->transport->port.ca, sm->transport->port.port,
			    error == -EBUSY ? "another program holds it" : strerror(-error));
	trigger_heavy(&sm->trigger, "start");
	readback_start(sm);
	local_port_start(sm);
}

void sm_stop(struct sm *sm)
{
	sm->stopped = true;
	loop_timer_disarm(&sm->readback.timer);
	local_port_done(sm);
	sweep_stop(sm);
	save_stop(sm->save);
	replica_stop(sm->replica);
	publish_stop(sm);
	snapshot_request_stop(&sm->snapshot_request);
	peers_stop(sm->peers);
}

void sm_keep_tables(struct sm *sm, struct work_pool *pool, const char *dir)
{
	sm->cache = table_cache_new(sm->loop, pool, dir, sm->fabric);
	program_use_table_cache(sm->program, sm->cache);
}

void sm_flush_tables(struct sm *sm)
{
	table_cache_end(sm->cache);
}

static enum sm_state own_role(void *ctx)
{
	return peers_role(((struct sm *)ctx)->peers);
}

static guid_t named_master(void *ctx)
{
	const struct peer *master = peers_master(((struct sm *)ctx)->peers);

	return master ? master->info.guid : 0;
}

static void master_lost(void *ctx)
{
	peers_master_closed(((struct sm *)ctx)->peers);
}

static bool locked_out(void *ctx)
{
	const struct sm *sm = ctx;

	return sm->sweep.last.error == -EACCES;
}

/* The device at the other end of the cable is first tried with the keys recorded for it. */
static void unlocked(void *ctx)
{
	struct sm *sm = ctx;

	sm->fabric->sm_port->discovery.m_key_turn = 0;
	trigger_heavy(&sm->trigger, "the M_Keys of the master have arrived");
}

static bool unlike(void *ctx)
{
	return policy_is_unlike(&((struct sm *)ctx)->policy);
}

static const char *role_of(void *ctx, guid_t guid)
{
	const struct peer *list;
	size_t count = peers_list(((struct sm *)ctx)->peers, &list);

	for (size_t i = 0; i < count; i++)
		if (list[i].info.guid == guid)
			return sm_state_name(list[i].info.state);
	return NULL;
}

static bool is_allowed(const struct sm *sm, guid_t guid)
{
	for (unsigned i = 0; i < SM_GUIDS_MAX && sm->options.allowed_sm_guids[i]; i++)
		if (sm->options.allowed_sm_guids[i] == guid)
			return true;
	return false;
}

static bool listed(void *ctx, guid_t guid)
{
	const struct sm *sm = ctx;

	return is_allowed(sm, guid) && is_allowed(sm, sm->transport->port.port_guid);
}

static bool shown(void *ctx, guid_t standby, guid_t port)
{
	return policy_share_default(&((struct sm *)ctx)->policy, standby, port);
}

static bool may_take_over(void *ctx)
{
	return replica_ready(((struct sm *)ctx)->replica);
}

/* The LID of a manager; for the MASTER, the LID that is polled. LID_NONE: unknown. */
static lid_t lid_of_manager(const struct sm *sm, guid_t guid)
{
	const struct peer *list, *found = peers_master(sm->peers);
	size_t count = peers_list(sm->peers, &list);

	if (found && found->info.guid != guid)
		found = NULL;
	for (size_t i = 0; i < count && !found; i++)
		if (list[i].info.guid == guid)
			found = &list[i];
	return found && found->lid != LID_PERMISSIVE ? found->lid : LID_NONE;
}

bool sm_find_manager(struct sm *sm, guid_t guid, struct mad_addr *out)
{
	const struct port *port = sm->fabric->sm_port;
	lid_t lid = lid_of_manager(sm, guid);

	if (lid) {
		const struct pkey_list *keys = port ? port_facts(port)->pkeys : NULL;

		/* The other manager need not be in another partition. */
		*out = (struct mad_addr){
			.lid = lid,
			.qpn = 1,
			.sl = port ? port_info(port)->master_sm_sl : 0,
			.pkey_index = (uint16_t)pkey_list_index(keys, PKEY_DEFAULT_LIMITED)};
		return true;
	}
	/* If both start at the same time, the survey may be older than the LIDs. */
	sm_search_stranger(sm, "the LID of another manager is not known");
	return false;
}

/* A MASTER that never answers causes one sweep. */
void sm_doubt_manager(struct sm *sm, guid_t guid)
{
	lid_t lid = lid_of_manager(sm, guid);

	if (sm->doubted.guid == guid && sm->doubted.lid == lid)
		return;
	if (sm_search_stranger(sm, "another manager does not answer at its LID")) {
		peers_doubt_lid(sm->peers, guid);
		sm->doubted.guid = guid;
		sm->doubted.lid = lid;
	}
}

void sm_believe_manager(struct sm *sm, guid_t guid)
{
	if (sm->doubted.guid == guid)
		sm->doubted.guid = 0;
}

/* A host can report any LID as its own. So the LID is that of the port to which it was given, if
 * there is one. */
guid_t sm_admits(const struct sm *sm, lid_t lid)
{
	const struct port *owner = lid <= LID_UNICAST_MAX ? sm->fabric->lids[lid] : NULL;
	const struct peer *list;
	size_t count = peers_list(sm->peers, &list);

	for (size_t i = 0; i < count && peers_role(sm->peers) == SM_MASTER; i++)
		if ((owner ? list[i].info.guid == port_facts(owner)->guid : list[i].lid == lid) &&
		    list[i].info.state != SM_MASTER)
			return list[i].info.guid;
	return 0;
}

char *sm_m_keys_danger(const struct sm *sm, const struct sm_options *options)
{
	guid_t standby = standby_without_m_keys(sm);

	if (peers_role(sm->peers) != SM_MASTER || !standby || options->m_key_mode == M_KEY_NONE ||
	    (sm->options.m_key_mode != M_KEY_NONE && !sm->keys.held_back))
		return NULL;
	return mem_printf("m_key_mode: standby 0x%016" PRIx64
			  " would not get the M_Keys, and could not manage the fabric after a "
			  "failover: set the same ha_psk_file on all managers, restart them, and "
			  "wait until weftctl ha status shows COPIES all",
			  standby);
}

int sm_replicate(struct sm *sm, struct stream_carrier *carrier, const struct store *store,
		 const struct replica_options *options, char why[STREAM_WHY_SIZE])
{
	struct replica_owner owner = {own_role, named_master, master_lost, locked_out, unlocked,
				      unlike,	role_of,      listed,	   shown,      sm};

	peers_ask_first(sm->peers, may_take_over);
	sm->replica = replica_new(sm->loop, carrier, sm->registry, sm->fabric, store,
				  &sm->transport->port.port_guid, options, &owner, why);
	return sm->replica ? 0 : -EADDRNOTAVAIL;
}

const struct node_facts *sm_port_node(const struct sm *sm, guid_t port_guid, unsigned *port)
{
	const struct port *found = policy_port(&sm->policy, port_guid);
	const struct node *node = found ? NULL : fabric_find_node(sm->fabric, port_guid);

	*port = 0;
	if (!found)
		return node ? node->facts : NULL;
	*port = found->num;
	return found->node->facts;
}

void sm_set_peers(struct sm *sm, const char *peers)
{
	replica_set_peers(sm->replica, peers);
}

void sm_set_options(struct sm *sm, const struct sm_options *options)
{
	struct window_limits limits = sm_window_limits(options);

	sm->options = *options;
	replica_reconsider(sm->replica);
	keys_changed(&sm->keys, sm_is_master(sm)); /* a danger was refused, or accepted */
	engines_configured(sm);
	fabric_set_limits(sm->fabric, options->smp_per_switch, options->smp_per_adapter);
	window_set_limits(sm->window, &limits);
	readback_start(sm);
	policy_options_changed(&sm->policy);
	sm->fabric->topology++; /* engines may have changed */
	trigger_heavy(&sm->trigger, "configuration reloaded");
}

void sm_set_route_options(struct sm *sm, struct route_options *options)
{
	route_options_ref(options);
	route_options_unref(sm->fabric->route_options);
	sm->fabric->route_options = options;
	sm->fabric->topology++; /* routes must be computed again */
}

void sm_set_node_names(struct sm *sm, struct map *names)
{
	fabric_set_names(sm->fabric, names);
}

void sm_set_plan(struct sm *sm, struct net *plan, const char *path)
{
	planned_links_set(sm, plan, path);
}

bool sm_set_partitions(struct sm *sm, enum partition_source source, struct partitions *partitions)
{
	return policy_set_file(&sm->policy, source, partitions);
}

static bool set_rejected_partitions(struct sm *sm, enum partition_source source,
				    const char *problem)
{
	if (!partition_kept_mark(sm->registry))
		return false;
	policy_set_problem(&sm->policy, problem);
	policy_set_file(&sm->policy, source, NULL);
	return true;
}

bool sm_set_bad_partitions(struct sm *sm, const char *problem)
{
	return set_rejected_partitions(sm, PARTITIONS_BAD_FILE, problem);
}

bool sm_set_unconfirmed_partitions(struct sm *sm, const char *problem)
{
	return set_rejected_partitions(sm, PARTITIONS_UNCONFIRMED, problem);
}

char *sm_partitions_danger(struct sm *sm, struct partitions *partitions, unsigned limit)
{
	return policy_needs_confirmation(&sm->policy, partitions, limit);
}

struct policy_comparison *sm_judge_partitions(struct sm *sm, struct partitions *partitions,
					      unsigned limit, policy_judged_fn *judged, void *ctx)
{
	return policy_judge_file(&sm->policy, partitions, limit, judged, ctx);
}

bool sm_has_last_partitions(const struct sm *sm)
{
	return sm->policy.file && partition_kept_mark(sm->registry);
}

bool sm_knows_partition_file(const struct sm *sm)
{
	return sm->policy.given == PARTITIONS_FILE || policy_former_file(&sm->policy);
}

bool sm_partitions_frozen(const struct sm *sm)
{
	return policy_is_frozen(&sm->policy);
}

char *sm_partition_problem(const struct sm *sm)
{
	return policy_problem(&sm->policy);
}

char *sm_partition_problem_alone(const struct sm *sm, const char **remedy)
{
	return policy_problem_alone(&sm->policy, remedy);
}

void sm_on_groups(struct sm *sm, loop_fn *fn, void *ctx)
{
	sm->policy.groups_changed = fn;
	sm->policy.groups_ctx = ctx;
}

size_t sm_groups(const struct sm *sm, struct group_entry **out)
{
	return policy_groups(&sm->policy, out);
}

const struct fabric *sm_fabric(const struct sm *sm)
{
	return sm->fabric;
}

struct view *const *sm_view(const struct sm *sm)
{
	return &sm->view;
}

lid_t sm_lid(const struct sm *sm)
{
	return sm->fabric->sm_port ? port_info(sm->fabric->sm_port)->lid : LID_NONE;
}

bool sm_is_master(const struct sm *sm)
{
	return peers_role(sm->peers) == SM_MASTER;
}

bool sm_tree(const struct sm *sm, lid_t mlid, struct mcast_tree *out, struct snapshot **snapshot)
{
	struct snapshot *of;
	const struct mcast_tree *tree = mcast_tree(sm->mcast, mlid, &of);

	if (!tree)
		return false;
	*out = *tree;
	out->masks = mem_array(tree->num_masks, sizeof(*out->masks));
	memcpy(out->masks, tree->masks, tree->num_masks * sizeof(*out->masks));
	*snapshot = snapshot_ref(of);
	return true;
}

bool sm_wants_key(struct sm *sm, guid_t port_guid, pkey_t p_key)
{
	return policy_wants(&sm->policy, port_guid, p_key);
}

enum alias_claim sm_alias_claim(const struct sm *sm, guid_t port_guid, guid_t guid)
{
	const struct lid_entry remembered = {.guid = guid};

	if (alias_is_listed(sm->options.alias_guids, port_guid, guid))
		return ALIAS_LISTED;
	return map_get(&sm->fabric->ports, guid) || fabric_find_node(sm->fabric, guid) ||
			       registry_find(sm->registry, REGISTRY_LID, &remembered) ||
			       policy_names(&sm->policy, guid)
		       ? ALIAS_CLAIMED
		       : ALIAS_UNCLAIMED;
}

enum alias_grant sm_alias_grant(const struct sm *sm, const struct alias_entry *alias)
{
	return alias_granted(sm->options.alias_guids, alias);
}

const struct mft *sm_mft(const struct sm *sm, guid_t guid)
{
	const struct node *node = fabric_find_node(sm->fabric, guid);

	return node && node->sw ? node->sw->mft : NULL;
}

uint64_t sm_m_key_violations(const struct sm *sm, guid_t port_guid)
{
	return keys_violations_of(&sm->keys, port_guid);
}

void sm_on_report(struct sm *sm, void (*fn)(void *ctx, int error, bool again, const char *text),
		  void *ctx)
{
	sm->report = fn;
	sm->report_ctx = ctx;
}
