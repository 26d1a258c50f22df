/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The entry of the SA: receives requests from the transaction table, refuses invalid ones, calls
 * the handler of the row in the dispatch table, and sends the answer. Other files of this folder
 * make the records.
 *
 * There are two kinds of refusal. An invalid request gets a status. A request gets no answer if the
 * client should try again, or must not learn anything. This applies if the SM_Key is wrong, this
 * manager is not MASTER, or too many requests wait. It also applies if the LID of the requester is
 * unknown, because it may be in the next view. The kernel handles any status as a failure and gives
 * up, so BUSY is optional (sa_busy_reply). Both kinds are counted, and a remote node cannot cause
 * more than a few log lines. Loop thread only.
 */
#include "sa/sa.h"

#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sa/admission.h"
#include "sa/alias.h"
#include "sa/answer.h"
#include "sa/counts.h"
#include "sa/forget.h"
#include "sa/groups.h"
#include "sa/late.h"
#include "sa/lease.h"
#include "sa/mlids.h"
#include "sa/report.h"
#include "sa/request.h"

enum {
	BASE_VERSION = 1,
	SA_CLASS_VERSION = 2, /* chapter 15.2.1: since release 1.1 of the specification */
	/* A request that walks over more end ports or pairs waits for work. */
	UNITS_AT_ONCE = 16,
	EFFORT_CANDIDATES =
		4, /* a value that the lookup computes costs as much as so many candidates */
};

/*
 * The dispatch table. A record and method without a row gets UNSUP_METHOD_ATTR. by_mask: the
 * component mask applies, as it does for records, but not for attributes of every class.
 */
static const struct sa_row {
	uint16_t attr_id;
	uint8_t method;
	bool by_mask;
	const struct format *format; /* of the request */
	sa_begin *begin;
	sa_step *step;
	const struct format *given; /* of the answer's records if they differ, else NULL */
} sa_rows[] = {
	{ATTR_CLASS_PORT_INFO, METHOD_GET, false, &class_port_info_format, begin_one,
	 step_class_port_info, NULL},
	{RECORD_NODE, METHOD_GET, true, &node_record_format, begin_nodes, step_node, NULL},
	{RECORD_NODE, METHOD_GET_TABLE, true, &node_record_format, begin_nodes, step_node, NULL},
	{RECORD_PORT_INFO, METHOD_GET, true, &port_info_record_format, begin_port_infos,
	 step_port_infos, NULL},
	{RECORD_PORT_INFO, METHOD_GET_TABLE, true, &port_info_record_format, begin_port_infos,
	 step_port_infos, NULL},
	{RECORD_SL_TO_VL, METHOD_GET, true, &sl_to_vl_record_format, begin_by_lid, step_sl_to_vl,
	 NULL},
	{RECORD_SL_TO_VL, METHOD_GET_TABLE, true, &sl_to_vl_record_format, begin_by_lid,
	 step_sl_to_vl, NULL},
	{RECORD_SWITCH_INFO, METHOD_GET, true, &switch_info_record_format, begin_by_lid,
	 step_switch_info, NULL},
	{RECORD_SWITCH_INFO, METHOD_GET_TABLE, true, &switch_info_record_format, begin_by_lid,
	 step_switch_info, NULL},
	{RECORD_LFT, METHOD_GET, true, &lft_record_format, begin_lfts, step_lft, NULL},
	{RECORD_LFT, METHOD_GET_TABLE, true, &lft_record_format, begin_lfts, step_lft, NULL},
	{RECORD_MFT, METHOD_GET, true, &mft_record_format, begin_by_lid, step_mft, NULL},
	{RECORD_MFT, METHOD_GET_TABLE, true, &mft_record_format, begin_by_lid, step_mft, NULL},
	{RECORD_SM_INFO, METHOD_GET, true, &sm_info_record_format, begin_sms, step_sm, NULL},
	{RECORD_SM_INFO, METHOD_GET_TABLE, true, &sm_info_record_format, begin_sms, step_sm, NULL},
	{RECORD_LINK, METHOD_GET, true, &link_record_format, begin_links, step_links, NULL},
	{RECORD_LINK, METHOD_GET_TABLE, true, &link_record_format, begin_links, step_links, NULL},
	{RECORD_GUID_INFO, METHOD_GET, true, &guid_info_record_format, begin_by_lid, step_guid_info,
	 NULL},
	{RECORD_GUID_INFO, METHOD_GET_TABLE, true, &guid_info_record_format, begin_by_lid,
	 step_guid_info, NULL},
	{RECORD_GUID_INFO, METHOD_SET, true, &guid_info_record_format, begin_set_guids, NULL, NULL},
	{RECORD_GUID_INFO, METHOD_DELETE, true, &guid_info_record_format, begin_delete_guids, NULL,
	 NULL},
	{RECORD_PKEY_TABLE, METHOD_GET, true, &p_key_table_record_format, begin_p_keys, step_p_keys,
	 NULL},
	{RECORD_PKEY_TABLE, METHOD_GET_TABLE, true, &p_key_table_record_format, begin_p_keys,
	 step_p_keys, NULL},
	{RECORD_PATH, METHOD_GET, true, &path_record_format, begin_paths, step_paths, NULL},
	{RECORD_PATH, METHOD_GET_TABLE, true, &path_record_format, begin_paths, step_paths, NULL},
	{RECORD_VL_ARBITRATION, METHOD_GET, true, &vl_arbitration_record_format, begin_by_lid,
	 step_vl_arbitration, NULL},
	{RECORD_VL_ARBITRATION, METHOD_GET_TABLE, true, &vl_arbitration_record_format, begin_by_lid,
	 step_vl_arbitration, NULL},
	{RECORD_MC_MEMBER, METHOD_GET, true, &mc_member_record_format, begin_mc_members,
	 step_mc_member, NULL},
	{RECORD_MC_MEMBER, METHOD_GET_TABLE, true, &mc_member_record_format, begin_mc_members,
	 step_mc_member, NULL},
	{RECORD_MC_MEMBER, METHOD_SET, true, &mc_member_record_format, begin_join, NULL, NULL},
	{RECORD_MC_MEMBER, METHOD_DELETE, true, &mc_member_record_format, begin_leave, NULL, NULL},
	{RECORD_SERVICE, METHOD_GET, true, &service_record_format, begin_services, step_service,
	 NULL},
	{RECORD_SERVICE, METHOD_GET_TABLE, true, &service_record_format, begin_services,
	 step_service, NULL},
	{RECORD_SERVICE, METHOD_SET, true, &service_record_format, begin_service_set, NULL, NULL},
	{RECORD_SERVICE, METHOD_DELETE, true, &service_record_format, begin_service_delete, NULL,
	 NULL},
	{ATTR_INFORM_INFO, METHOD_SET, false, &inform_info_format, begin_inform_info, NULL, NULL},
	{RECORD_INFORM_INFO, METHOD_GET, true, &inform_info_record_format, begin_inform_records,
	 step_inform_record, NULL},
	{RECORD_INFORM_INFO, METHOD_GET_TABLE, true, &inform_info_record_format,
	 begin_inform_records, step_inform_record, NULL},
	{RECORD_MULTI_PATH, METHOD_GET_MULTI, true, &multi_path_record_format, begin_multi_paths,
	 step_multi_path, &path_record_format},
};

/* Chapter 15.2.2: the methods of requests to the SA. This class does not have any other method,
 * except responses. */
static const uint8_t sa_methods[] = {METHOD_GET, METHOD_SET, METHOD_GET_TABLE, METHOD_GET_MULTI,
				     METHOD_DELETE};

struct sa {
	struct txn_table *txns;
	struct registry *registry;
	struct event_reader reader;
	struct view *const *view;
	struct sa_options options;
	struct lookup *lookup; /* of the present view; NULL before the first one */
	struct admission *admission;
	bool (*coming)(const void *ctx); /* whether a view will follow; NULL: not known */
	const void *coming_ctx;
	sa_mft *held_mft; /* NULL: not known */
	const void *held_ctx;
	sa_wanted *wanted_keys; /* NULL: only the view decides */
	void *wanted_ctx;
	struct counts *counts;
	struct groups *groups;
	struct services *services;
	struct reporter *reporter;
	struct forget forget;
	struct aliases aliases;
	struct arena *scratch;			  /* of one request */
	uint64_t components[ARRAY_SIZE(sa_rows)]; /* components of a row that its mask may have */
	struct sa_stats stats;
	struct sa_count row_counts[ARRAY_SIZE(sa_rows)];
	struct log_limit send_limit, size_limit, registration_limit, join_limit;
};

/* Responses are not requests, and Send, Trap, Report and TrapRepress request nothing of the SA. */
static bool method_asks(uint8_t method)
{
	return !(method & METHOD_RESPONSE) && method != METHOD_SEND && method != METHOD_TRAP &&
	       method != METHOD_REPORT && method != METHOD_TRAP_REPRESS;
}

/* An answer to one of these methods promises a registration. */
static bool method_changes(uint8_t method)
{
	return method == METHOD_SET || method == METHOD_DELETE;
}

static const struct sa_row *sa_row_find(uint16_t attr_id, uint8_t method)
{
	for (size_t i = 0; i < ARRAY_SIZE(sa_rows); i++)
		if (sa_rows[i].attr_id == attr_id && sa_rows[i].method == method)
			return &sa_rows[i];
	return NULL;
}

/* Chapter 13.4.7, table 113, and 15.2.3: STATUS_OK, or the status of an invalid request. */
static uint16_t exchange_check(const struct exchange *exchange, size_t size)
{
	const struct mad_header *header = &exchange->admitted.header;
	const struct sa_row *row = exchange->row;

	if (header->base_version != BASE_VERSION || header->class_version != SA_CLASS_VERSION)
		return STATUS_BAD_VERSION;
	if (!memchr(sa_methods, header->method, sizeof(sa_methods)))
		return STATUS_UNSUP_METHOD;
	if (!row)
		return STATUS_UNSUP_METHOD_ATTR;
	/* Every request but MultiPathRecord fits into one MAD, so a longer one is invalid. */
	if ((size > MAD_SIZE && header->method != METHOD_GET_MULTI) ||
	    size < (size_t)SUBN_ADM_HEADER_SIZE + row->format->wire_size)
		return SA_REQ_INVALID;
	return STATUS_OK;
}

static void refused_registration(struct sa *sa, const struct exchange *exchange)
{
	const struct log_subject subject = request_subject(&exchange->request, MESSAGE_SA_LIMIT);

	sa->stats.over_limit[exchange->request.limit]++;
	if (exchange->request.logged)
		return;
	log_limited(&sa->registration_limit, LOG_NOTICE, &subject,
		    "LID %u wants to register more %ss than one port may have "
		    "(registrations_per_port = %u), or there is no room left; refused",
		    exchange->admitted.from.lid, exchange->row->format->name,
		    sa->options.registrations_per_port);
}

/* Runs the first half of the handler. */
static uint16_t exchange_begin(struct sa *sa, struct exchange *exchange, const uint8_t *data,
			       size_t size)
{
	struct sa_request *request = &exchange->request;
	const struct sa_row *row = exchange->row;
	void *wanted = arena_alloc(sa->scratch, row->format->struct_size);
	uint16_t status;

	format_decode(row->format, data, wanted);
	request->table = row->method == METHOD_GET_TABLE || row->method == METHOD_GET_MULTI;
	request->attr_mod = exchange->admitted.header.attr_mod;
	request->format = row->given ? row->given : row->format;
	/* Unknown components are ignored, as in OpenSM: a later release of the specification may
	 * define them. */
	request->mask =
		row->by_mask ? exchange->sa.component_mask & sa->components[row - sa_rows] : 0;
	request->wanted = wanted;
	request->data = data;
	request->data_size = size;
	request->arena = sa->scratch;
	request->step = row->step;
	status = row->begin(request);
	return status ? status : answer_expect(request);
}

static void reply(struct sa *sa, struct exchange *exchange, uint16_t status)
{
	size_t size;
	int error = answer_send(exchange, sa->txns, status, &size);

	if (error) {
		sa->stats.send_failed++;
		log_limited(
			&sa->send_limit, LOG_WARNING,
			(&(struct log_subject){.lid = exchange->admitted.from.lid}),
			"an SA answer to LID %u could not be sent: %s; the client will try again",
			exchange->admitted.from.lid, strerror(-error));
	} else if (status) {
		sa->stats.refused++;
	} else {
		sa->stats.answered++;
	}
	if (!error && size > MAD_SIZE)
		admission_charge_bytes(sa->admission, exchange_port(exchange), size);
}

/* Counts the result and sends the answer. */
static void exchange_end(struct sa *sa, struct exchange *exchange, uint16_t status)
{
	if (status == SA_NO_RESOURCES && exchange->request.table)
		log_limited(
			&sa->size_limit, LOG_NOTICE,
			(&(struct log_subject){.lid = exchange->admitted.from.lid}),
			"LID %u requested more %ss than one answer may have (%d MB); refused: the "
			"client must request less at a time",
			exchange->admitted.from.lid, exchange->row->format->name,
			(exchange->request.most == UINT64_MAX ? TABLE_BYTES_MAX
							      : TABLE_BYTES_LARGE) >>
				20);
	if (exchange->row) {
		struct sa_count *count = &sa->row_counts[exchange->row - sa_rows];

		count->requests++;
		count->refused += status != STATUS_OK;
	}
	reply(sa, exchange, status);
}

/* Handles a request for which there is no place in the queue. */
static void turn_away(struct sa *sa, struct exchange *exchange)
{
	sa->stats.overload++;
	if (sa->options.busy_reply)
		reply(sa, exchange, STATUS_BUSY);
	else
		sa->stats.dropped++;
}

/* Processes units until the answer is complete or that many candidates are examined. True: it is
 * complete. */
static bool exchange_work(struct exchange *exchange, uint64_t candidates)
{
	struct sa_request *request = &exchange->request;
	uint64_t until = exchange->answer.work + candidates;

	while (request->unit < request->end && request_open(request)) {
		uint64_t effort = lookup_effort(request->lookup);

		if (exchange->answer.work >= until)
			return false;
		exchange->answer.work++;
		request->step(request, request->unit++);
		exchange->answer.work +=
			EFFORT_CANDIDATES * (lookup_effort(request->lookup) - effort);
	}
	return true;
}

/* Moves the exchange from the stack into the queue, with the memory that its first half
 * allocated. */
static void exchange_wait_for_work(struct sa *sa, struct exchange *exchange)
{
	struct exchange *waits;

	if (!admission_has_place(sa->admission, exchange_port(exchange), ADMISSION_WORK)) {
		turn_away(sa, exchange);
		return;
	}
	waits = mem_alloc(sizeof(*waits));
	*waits = *exchange;
	exchange->request.walk = NULL;
	waits->lookup = lookup_ref(sa->lookup);
	waits->options = sa->options;
	waits->request.options = &waits->options;
	waits->request.answer = &waits->answer;
	waits->admitted.bytes = answer_bytes(&waits->request);
	waits->admitted.is_large = waits->answer.limit == ANSWER_LARGE;
	sa->scratch = arena_new();
	admission_enter(sa->admission, exchange_port(waits), ADMISSION_WORK, &waits->admitted);
}

/* The same for a complete answer that must wait; it needs only its own memory. */
static void exchange_wait_for_store(struct sa *sa, const struct exchange *exchange)
{
	struct exchange *waits = mem_alloc(sizeof(*waits));

	*waits = *exchange;
	waits->request.answer = &waits->answer;
	waits->request.arena = NULL;
	waits->request.walk = NULL;
	waits->lookup = NULL;
	admission_enter(sa->admission, exchange_port(waits), ADMISSION_STORE, &waits->admitted);
}

static bool admitted_work(void *ctx, struct admitted *admitted, uint64_t candidates)
{
	struct exchange *exchange = container_of(admitted, struct exchange, admitted);
	const struct sa *sa = ctx;

	if (!exchange_work(exchange, candidates))
		return false;
	admission_charge_work(sa->admission, exchange_port(exchange), exchange->answer.work);
	return true;
}

static void admitted_drop(void *ctx, struct admitted *admitted)
{
	struct exchange *exchange = container_of(admitted, struct exchange, admitted);

	(void)ctx;
	answer_drop(&exchange->answer);
	request_walk_end(&exchange->request);
	arena_free(exchange->request.arena);
	lookup_unref(exchange->lookup);
	free(exchange);
}

static void admitted_done(void *ctx, struct admitted *admitted)
{
	struct exchange *exchange = container_of(admitted, struct exchange, admitted);
	struct sa *sa = ctx;

	if (*sa->view)
		exchange_end(sa, exchange, answer_status(&exchange->request));
	else /* this manager may not answer any more */
		sa->stats.dropped++;
	admitted_drop(sa, admitted);
}

/* A short table is made at once, unless its requester owes for earlier answers: one unit may be
 * a whole switch. */
static bool takes_turns(const struct sa *sa, const struct exchange *exchange)
{
	const struct sa_request *request = &exchange->request;
	uint64_t units = request->end - request->unit;

	return units > UNITS_AT_ONCE ||
	       (units && request->table && admission_owes(sa->admission, exchange_port(exchange)));
}

static void exchange_answer(struct sa *sa, struct exchange *exchange, const uint8_t *mad,
			    size_t size)
{
	struct sa_request *request = &exchange->request;
	bool changes = method_changes(exchange->admitted.header.method);
	uint16_t status;

	exchange->row =
		sa_row_find(exchange->admitted.header.attr_id, exchange->admitted.header.method);
	status = exchange_check(exchange, size);
	if (!status && changes &&
	    !admission_has_place(sa->admission, exchange_port(exchange), ADMISSION_STORE)) {
		turn_away(sa, exchange);
		return;
	}
	if (!status)
		status = exchange_begin(sa, exchange, mad + SUBN_ADM_HEADER_SIZE,
					size - SUBN_ADM_HEADER_SIZE);
	if (!status && takes_turns(sa, exchange)) {
		exchange_wait_for_work(sa, exchange);
		return;
	}
	if (!status) {
		exchange_work(exchange, UINT64_MAX);
		status = answer_status(request);
	}
	if (!status && request->table)
		admission_charge_work(sa->admission, exchange_port(exchange),
				      exchange->answer.work);
	if (!status && changes && !registry_durable(sa->registry, registry_number(sa->registry))) {
		exchange_wait_for_store(sa, exchange);
		return;
	}
	if (status == SA_NO_RESOURCES && changes)
		refused_registration(sa, exchange);
	exchange_end(sa, exchange, status);
}

static void exchange_run(struct sa *sa, struct exchange *exchange, const uint8_t *mad, size_t size)
{
	exchange_answer(sa, exchange, mad, size);
	request_walk_end(&exchange->request);
	arena_reset(sa->scratch);
}

/* Frees the values kept for the last view, unless a long answer still uses them. */
static void lookup_renew(struct sa *sa)
{
	if (sa->lookup && lookup_view(sa->lookup) == *sa->view)
		return;
	lookup_unref(sa->lookup);
	sa->lookup = *sa->view ? lookup_new(*sa->view, sa->registry) : NULL;
	if (*sa->view)
		groups_view(sa->groups, (*sa->view)->topology);
}

static struct lookup *lookup_now(void *ctx)
{
	struct sa *sa = ctx;

	lookup_renew(sa);
	return sa->lookup;
}

static enum requester_trust trust_of(const struct sa *sa, uint64_t sm_key)
{
	if (!sm_key || sm_key != sa->options.sa_key)
		return REQUESTER_UNTRUSTED;
	return sm_key == SA_KEY_DEFAULT ? REQUESTER_TRUSTED : REQUESTER_ADMINISTRATOR;
}

/* Identifies the requester and the request; false if there will be no answer. Without a view
 * only the SM_Key can be checked. */
static bool exchange_init(struct sa *sa, struct exchange *exchange, const struct mad_addr *from,
			  const struct mad_header *header, const uint8_t *mad)
{
	struct sa_request *request = &exchange->request;
	uint64_t sm_key;

	lookup_renew(sa);
	sa_header_decode(mad, &exchange->sa);
	sm_key = exchange->sa.sm_key;
	exchange->admitted.from = *from;
	exchange->admitted.header = *header;
	exchange->row = NULL;
	*request = (struct sa_request){
		.view = *sa->view,
		.topology = *sa->view ? (*sa->view)->topology : NULL,
		.lookup = sa->lookup,
		.registry = sa->registry,
		.groups = sa->groups,
		.counts = sa->counts,
		.services = sa->services,
		.held_mft = sa->held_mft,
		.held_ctx = sa->held_ctx,
		.wanted_keys = sa->wanted_keys,
		.wanted_ctx = sa->wanted_ctx,
		.aliases = &sa->aliases,
		.from = &exchange->admitted.from,
		.requester = {.lid = from->lid}, /* until a view has its port */
		.options = &sa->options,
		.trust = trust_of(sa, sm_key),
		.answer = &exchange->answer,
		.refusals = &sa->join_limit,
	};
	answer_begin(&exchange->answer);
	return (!sm_key || request->trust >= REQUESTER_TRUSTED) &&
	       (!request->topology ||
		endport_by_lid(request->topology, from->lid, &request->requester));
}

/* Whether there is a view or one will follow. */
static bool is_answering(const struct sa *sa)
{
	return *sa->view || (sa->coming && sa->coming(sa->coming_ctx));
}

/* If no view will follow, waiting requests pass, and are dropped like others. */
static bool is_shut(void *ctx)
{
	const struct sa *sa = ctx;

	return !*sa->view && is_answering(sa);
}

static void sa_request_expired(void *ctx)
{
	struct sa *sa = ctx;

	sa->stats.dropped++;
	sa->stats.expired++;
}

/* Processes a request that has waited. Its requester may be absent by now, or this manager may
 * not be MASTER. */
static void passed(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	struct sa *sa = ctx;
	struct exchange exchange;
	struct mad_header header;

	header_decode(mad, &header);
	if (!*sa->view || !exchange_init(sa, &exchange, from, &header, mad)) {
		sa->stats.dropped++;
		return;
	}
	exchange_run(sa, &exchange, mad, size);
}

static void sa_request_received(void *ctx, const struct mad_addr *from,
				const struct mad_header *header, const uint8_t *mad, size_t size)
{
	struct sa *sa = ctx;
	struct exchange exchange;

	sa->stats.received++;
	if (!is_answering(sa) || !method_asks(header->method) || size < SUBN_ADM_HEADER_SIZE ||
	    !exchange_init(sa, &exchange, from, header, mad)) {
		sa->stats.dropped++;
		return;
	}
	switch (admission_judge(sa->admission, sa->options.request_rate, exchange_port(&exchange),
				from, header, mad, size)) {
	case VERDICT_PASSES:
		exchange_run(sa, &exchange, mad, size);
		break;
	case VERDICT_WAITS:
		sa->stats.waited++;
		break;
	case VERDICT_REPEATED:
		sa->stats.dropped++;
		sa->stats.repeated++;
		break;
	case VERDICT_FULL:
		turn_away(sa, &exchange);
	}
}

static void sa_event(void *ctx, const struct event *event)
{
	struct sa *sa = ctx;

	if (event->kind == EVENT_NOT_MASTER)
		groups_end(sa->groups);
	if (event->kind != EVENT_MASTER)
		return;
	lookup_renew(sa);
	groups_begin(sa->groups);
}

struct sa *sa_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
		  struct registry *registry, struct event_hub *events,
		  const struct sa_options *options)
{
	struct sa *sa = mem_zalloc(sizeof(*sa));

	sa->txns = txns;
	sa->view = view;
	sa->registry = registry;
	sa->options = *options;
	sa->scratch = arena_new();
	sa->admission = admission_new(loop, registry,
				      &(struct admission_owner){is_shut, passed, sa_request_expired,
								admitted_work, admitted_done,
								admitted_drop, sa});
	sa->counts = counts_new(registry, options->ipv6_snm_mlids);
	sa->groups = groups_new(loop, registry, sa->counts, options);
	sa->services = services_new(loop, registry);
	sa->reporter = reporter_new(loop, txns, view, registry, events, options->subnet_prefix,
				    lookup_now, sa);
	forget_begin(&sa->forget, registry, sa->groups, events);
	aliases_begin(&sa->aliases, loop, registry, events, view, &sa->stats);
	sa->send_limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	sa->size_limit = sa->registration_limit = sa->join_limit = sa->send_limit;
	for (size_t i = 0; i < ARRAY_SIZE(sa_rows); i++) {
		sa->components[i] = record_components(sa_rows[i].format);
		sa->row_counts[i].record = sa_rows[i].format->name;
		sa->row_counts[i].method = method_name(CLASS_SUBN_ADM, sa_rows[i].method);
	}
	sa->reader = (struct event_reader){.happened = sa_event, .ctx = sa};
	event_read(events, &sa->reader);
	txn_handle(txns, CLASS_SUBN_ADM, sa_request_received, sa);
	return sa;
}

void sa_set_mft(struct sa *sa, sa_mft *held, const void *ctx)
{
	sa->held_mft = held;
	sa->held_ctx = ctx;
}

void sa_set_wanted(struct sa *sa, sa_wanted *wanted, void *ctx)
{
	sa->wanted_keys = wanted;
	sa->wanted_ctx = ctx;
}

void sa_set_alias_claim(struct sa *sa, sa_alias_claim *claim, const void *ctx)
{
	sa->aliases.claim = claim;
	sa->aliases.claim_ctx = ctx;
}

void sa_expect(struct sa *sa, bool (*coming)(const void *ctx), const void *ctx)
{
	sa->coming = coming;
	sa->coming_ctx = ctx;
}

void sa_set_groups(struct sa *sa, const struct group_entry *list, size_t count)
{
	groups_configure(sa->groups, list, count);
}

void sa_set_options(struct sa *sa, const struct sa_options *options)
{
	sa->options = *options;
	groups_set_options(sa->groups, options);
	aliases_review(&sa->aliases);
}

bool sa_late(struct sa *sa, enum registry_kind kind, void *record, bool known)
{
	const struct late late = {sa->registry, sa->groups, sa->services, &sa->aliases};

	return late_fits(&late, kind, record, known);
}

void sa_free(struct sa *sa)
{
	if (!sa)
		return;
	txn_handle(sa->txns, CLASS_SUBN_ADM, NULL, NULL);
	event_unread(&sa->reader);
	admission_free(sa->admission);
	forget_end(&sa->forget);
	aliases_end(&sa->aliases);
	reporter_free(sa->reporter);
	services_free(sa->services);
	groups_free(sa->groups);
	counts_free(sa->counts);
	lookup_unref(sa->lookup);
	arena_free(sa->scratch);
	free(sa);
}

const struct sa_stats *sa_stats(const struct sa *sa)
{
	return &sa->stats;
}

uint32_t sa_lease(const struct sa *sa, const struct service_entry *entry)
{
	return services_lease(sa->services, entry);
}

uint32_t sa_group_members(const struct sa *sa, const uint8_t mgid[GID_SIZE])
{
	return counts_of(sa->counts, COUNT_MEMBERS, mgid);
}

const struct report_stats *sa_report_stats(const struct sa *sa)
{
	return reporter_stats(sa->reporter);
}

size_t sa_reports(const struct sa *sa)
{
	return reporter_waiting(sa->reporter);
}

size_t sa_waiting(const struct sa *sa)
{
	return admission_count(sa->admission, ADMISSION_TURN) +
	       admission_count(sa->admission, ADMISSION_WORK);
}

size_t sa_pending(const struct sa *sa)
{
	return admission_count(sa->admission, ADMISSION_STORE);
}

unsigned sa_mlids(const struct sa *sa)
{
	return mlids_used(counts_mlids(sa->counts));
}

size_t sa_counts(const struct sa *sa, const struct sa_count **rows)
{
	*rows = sa->row_counts;
	return ARRAY_SIZE(sa->row_counts);
}
