/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The SA's front: takes requests from the transactions' table, refuses what is no good, lets the
 * row of the dispatch table answer, and sends the answer back the way the request came. What the
 * records say is written in the room's other files.
 *
 * There are two ways to say no. A status tells a client that asks wrongly; silence is for those who
 * should ask again or should not learn anything: for a requester whose LID nobody has (it may come
 * with the next view), for a wrong SM_Key, while this manager is not MASTER, and when too many wait
 * already. The kernel takes any status for a failure and gives up, so BUSY is only for who wants it
 * (sa_busy_reply). Both are counted, and nothing that a remote node can cause writes more than a
 * few lines into the log. Loop thread only.
 */
#include "sa/sa.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "sa/admission.h"
#include "sa/alias.h"
#include "sa/forget.h"
#include "sa/groups.h"
#include "sa/late.h"
#include "sa/limits.h"
#include "sa/pending.h"
#include "sa/queue.h"
#include "sa/report.h"
#include "sa/request.h"
#include "sa/service.h"

enum {
	BASE_VERSION = 1,
	SA_CLASS_VERSION = 2, /* chapter 15.2.1: since release 1.1 of the specification */
	ATTR_OFFSET_UNIT = 8, /* bytes */
	/* What walks over more end ports, or pairs of them, is queued. */
	UNITS_AT_ONCE = 16,
};

/*
 * What is answered. A record and method without a row gets UNSUP_METHOD_ATTR; by_mask tells that
 * the component mask counts, which it does for records, but not for attributes of every class.
 */
static const struct sa_row {
	uint16_t attr_id;
	uint8_t method;
	bool by_mask;
	const struct format *format; /* of the request */
	sa_begin *begin;
	sa_step *step;
	const struct format *given; /* of the answer's records where they are others, else NULL */
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

/* Chapter 15.2.2: what asks the SA for something. What is neither here nor a response is a method
 * that this class does not have. */
static const uint8_t sa_methods[] = {METHOD_GET, METHOD_SET, METHOD_GET_TABLE, METHOD_GET_MULTI,
				     METHOD_DELETE};

struct sa {
	struct txn_table *txns;
	struct registry *registry;
	struct event_reader reader;
	struct view *const *view;
	struct sa_options options;
	struct lookup *lookup; /* of the view of now; NULL before there was one */
	struct admission *admission;
	bool (*coming)(const void *ctx); /* a view is; NULL: not known */
	const void *coming_ctx;
	sa_mft *held_mft; /* NULL: nobody can tell */
	const void *held_ctx;
	sa_wanted *wanted_keys; /* NULL: the view decides */
	void *wanted_ctx;
	struct queue *queue;
	struct pending *pending;
	struct limits *limits;
	struct groups *groups;
	struct services *services;
	struct reporter *reporter;
	struct forget forget;
	struct aliases aliases;
	struct arena *scratch;			  /* of one request */
	uint64_t components[ARRAY_SIZE(sa_rows)]; /* that its mask may have and that count */
	struct sa_stats stats;
	struct sa_count counts[ARRAY_SIZE(sa_rows)];
	struct log_limit send_limit, size_limit, registration_limit, join_limit;
};

/* A place for so many bytes at the end, NULL when the table would be too large. */
static uint8_t *answer_extend(struct answer *answer, size_t bytes)
{
	uint8_t *place;

	size_t limit = answer->large ? TABLE_BYTES_LARGE : TABLE_BYTES_MAX;

	if (answer->size + bytes > SUBN_ADM_HEADER_SIZE + limit) {
		answer->too_large = true;
		return NULL;
	}
	if (answer->size + bytes > answer->room) {
		bool first = !answer->grown;

		/* To copy what was too small would take a large one milliseconds; what is not
		 * written to costs nothing. */
		answer->room *= 2;
		if (answer->room < answer->most_bytes)
			answer->room = answer->most_bytes;
		answer->grown = mem_resize(answer->grown, answer->room, 1);
		if (first)
			memcpy(answer->grown, answer->small, answer->size);
	}
	place = answer_message(answer) + answer->size;
	answer->size += bytes;
	answer->count++;
	return place;
}

uint8_t *request_place(struct sa_request *request)
{
	request->answer->work++;
	return request_open(request) ? answer_extend(request->answer, request->format->wire_size)
				     : NULL;
}

void request_offer(struct sa_request *request, uint64_t mask, const void *record)
{
	uint8_t *place;

	request->answer->work++;
	if (!request_open(request) ||
	    !record_matches(request->format, mask, request->wanted, record))
		return;
	place = answer_extend(request->answer, request->format->wire_size);
	if (place)
		format_encode(request->format, record, place);
}

void request_give(struct sa_request *request, const void *record)
{
	uint8_t *place = request_place(request);

	assert(place);
	format_encode(request->format, record, place);
}

void request_walk(struct sa_request *request, enum registry_kind kind, int index, const void *key)
{
	request->walk = arena_alloc(request->arena, sizeof(*request->walk));
	registry_walk(request->registry, kind, index, key, request->walk);
	request->end = registry_count(request->registry, kind);
	if (request->end <= TABLE_BYTES_MAX / request->format->wire_size)
		request->most = request->end;
	else
		request->most = request->mask ? UINT64_MAX : request->end;
}

const void *request_walk_next(struct sa_request *request)
{
	const void *record = registry_walk_next(request->walk);

	if (!record)
		request->end = request->unit;
	return record;
}

static void request_walk_end(struct sa_request *request)
{
	if (request->walk)
		registry_walk_end(request->walk);
	request->walk = NULL;
}

bool request_may_register(const struct sa_request *request, guid_t port_guid)
{
	return limits_count(request->limits, port_guid) < request->options->registrations_per_port;
}

struct log_subject request_subject(const struct sa_request *request, const char *message_id)
{
	const struct endport *requester = &request->requester;
	struct log_subject subject = {.message_id = message_id, .lid = request->from->lid};

	if (requester->facts) {
		subject.node_guid = requester->facts->info.node_guid;
		subject.node_desc = requester->facts->description;
		subject.port = requester->num;
	}
	return subject;
}

bool request_open(const struct sa_request *request)
{
	return !request->answer->too_large && (request->table || request->answer->count < 2);
}

bool request_may_see(const struct sa_request *request, const struct endport *subject)
{
	return endport_same(&request->requester, subject) ||
	       lookup_shared(request->lookup, &request->requester, subject);
}

bool request_keeps_key(const struct sa_request *request, const struct endport *port, pkey_t p_key)
{
	return !request->wanted_keys ||
	       request->wanted_keys(request->wanted_ctx, port->guid, p_key);
}

bool request_both_in(const struct sa_request *request, const struct endport *port, pkey_t p_key)
{
	const struct endport *requester = &request->requester;

	return endport_in_partition(port, p_key) && endport_in_partition(requester, p_key) &&
	       request_keeps_key(request, port, p_key) &&
	       (endport_same(port, requester) || request_keeps_key(request, requester, p_key));
}

bool request_endport(const struct sa_request *request, uint64_t number, struct endport *out)
{
	*out = endport_at(request->topology, (uint32_t)number);
	return out->lid != LID_NONE && request_may_see(request, out);
}

void request_by_lid(struct sa_request *request, unsigned component, lid_t lid)
{
	struct endport port;

	if (!request_has(request, component)) {
		request->end = endport_count(request->topology);
	} else if (endport_by_lid(request->topology, lid, &port)) {
		request->unit = endport_number(request->topology, &port);
		request->end = request->unit + 1;
	}
	request->most =
		request->mask & ~COMPONENT(component) ? UINT64_MAX : request->end - request->unit;
}

/* Responses are nobody's request, and Send, Trap, Report and TrapRepress ask for nothing that is
 * ours to answer. */
static bool method_asks(uint8_t method)
{
	return !(method & METHOD_RESPONSE) && method != METHOD_SEND && method != METHOD_TRAP &&
	       method != METHOD_REPORT && method != METHOD_TRAP_REPRESS;
}

/* Such an answer promises that something was registered. */
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

/* Chapter 13.4.7, table 113, and 15.2.3: STATUS_OK, or what is wrong with the request as such. */
static uint16_t exchange_check(const struct exchange *exchange, size_t size)
{
	const struct mad_header *header = &exchange->header;
	const struct sa_row *row = exchange->row;

	if (header->base_version != BASE_VERSION || header->class_version != SA_CLASS_VERSION)
		return STATUS_BAD_VERSION;
	if (!memchr(sa_methods, header->method, sizeof(sa_methods)))
		return STATUS_UNSUP_METHOD;
	if (!row)
		return STATUS_UNSUP_METHOD_ATTR;
	/* One MAD holds any request but MultiPathRecord's: a longer one is not what it seems. */
	if ((size > MAD_SIZE && header->method != METHOD_GET_MULTI) ||
	    size < (size_t)SUBN_ADM_HEADER_SIZE + row->format->wire_size)
		return SA_REQ_INVALID;
	return STATUS_OK;
}

/* What the number of records means, as clients know it from OpenSM (osm_sa_respond). An empty table
 * is an answer as any other. */
static uint16_t answer_status(const struct sa_request *request)
{
	if (request->answer->too_large)
		return SA_NO_RESOURCES;
	if (request->table || request->answer->count == 1)
		return STATUS_OK;
	return request->answer->count ? SA_TOO_MANY_RECORDS : SA_NO_RECORDS;
}

static void refused_registration(struct sa *sa, const struct exchange *exchange)
{
	const struct log_subject subject = request_subject(&exchange->request, MESSAGE_SA_LIMIT);

	sa->stats.over_limit[exchange->request.limit]++;
	if (exchange->request.logged)
		return;
	log_limited(&sa->registration_limit, LOG_NOTICE, &subject,
		    "LID %u wants to register more %ss than one port may have "
		    "(registrations_per_port = %u) or than there is room for; refused",
		    exchange->from.lid, exchange->row->format->name,
		    sa->options.registrations_per_port);
}

/* The first half of an answer. */
static uint16_t exchange_begin(struct sa *sa, struct exchange *exchange, const uint8_t *data,
			       size_t size)
{
	struct sa_request *request = &exchange->request;
	const struct sa_row *row = exchange->row;
	void *wanted = arena_alloc(sa->scratch, row->format->struct_size);
	uint16_t status;

	format_decode(row->format, data, wanted);
	request->table = row->method == METHOD_GET_TABLE || row->method == METHOD_GET_MULTI;
	request->attr_mod = exchange->header.attr_mod;
	request->format = row->given ? row->given : row->format;
	/* Components that no format knows are ignored, as OpenSM ignores them: a later release of
	 * the specification may define them for later clients. */
	request->mask =
		row->by_mask ? exchange->sa.component_mask & sa->components[row - sa_rows] : 0;
	request->wanted = wanted;
	request->data = data;
	request->data_size = size;
	request->arena = sa->scratch;
	request->step = row->step;
	status = row->begin(request);
	if (!status && request->table && request->most != UINT64_MAX) {
		exchange->answer.large =
			request->most > TABLE_BYTES_MAX / request->format->wire_size;
		if (request->most > TABLE_BYTES_LARGE / request->format->wire_size)
			return SA_NO_RESOURCES;
		exchange->answer.most_bytes =
			SUBN_ADM_HEADER_SIZE + (size_t)request->most * request->format->wire_size;
	}
	return status;
}

/* Chapter 15.2.1: SM_Key is never told, the rest of the header is the request's. A table goes as an
 * RMPP message, which the kernel cuts into segments; a refusal is a single MAD without records. */
static void reply(struct sa *sa, struct exchange *exchange, uint16_t status)
{
	struct answer *answer = &exchange->answer;
	uint8_t *message = answer_message(answer);
	struct mad_header header = exchange->header;
	struct sa_header sa_header = {.component_mask = exchange->sa.component_mask};
	bool table = status == STATUS_OK && exchange->request.table;
	uint8_t response = method_response(header.method);
	size_t size = table ? answer->size : (size_t)MAD_SIZE;
	int error;

	header.method = response ? response : header.method | METHOD_RESPONSE;
	/* o15-0.2.7: paths are PathRecords, whatever asked for them. OpenSM's osm_sa_respond() and
	 * osm_sa_send_error() name them so in a refusal, too. */
	if (header.attr_id == RECORD_MULTI_PATH)
		header.attr_id = RECORD_PATH;
	header.status = status;
	if (status)
		answer->size = SUBN_ADM_HEADER_SIZE;
	else if (answer->count)
		sa_header.attr_offset = exchange->request.format->wire_size / ATTR_OFFSET_UNIT;
	if (answer->size < size)
		memset(message + answer->size, 0, size - answer->size);
	header_encode(&header, message);
	rmpp_header_encode(message, table);
	sa_header_encode(&sa_header, message);

	if (table && answer->grown)
		error = txn_give(sa->txns, &exchange->from, answer->grown, size);
	else
		error = txn_send(sa->txns, &exchange->from, message, size);
	if (table)
		answer->grown = NULL;
	if (error) {
		sa->stats.send_failed++;
		log_limited(
			&sa->send_limit, LOG_WARNING,
			(&(struct log_subject){.lid = exchange->from.lid}),
			"an SA answer to LID %u could not be sent: %s; its client will ask again",
			exchange->from.lid, strerror(-error));
	} else if (status) {
		sa->stats.refused++;
	} else {
		sa->stats.answered++;
	}
	if (!error && size > MAD_SIZE)
		queue_handed_over(sa->queue, exchange_port(exchange), size);
}

/* Counts and sends what has been decided, and frees what the answer took. */
static void exchange_end(struct sa *sa, struct exchange *exchange, uint16_t status)
{
	if (status == SA_NO_RESOURCES && exchange->request.table)
		log_limited(
			&sa->size_limit, LOG_NOTICE,
			(&(struct log_subject){.lid = exchange->from.lid}),
			"LID %u asked for more %ss than one answer may have (%d MB); refused: it "
			"should ask for less at a time",
			exchange->from.lid, exchange->row->format->name,
			(exchange->request.most == UINT64_MAX ? TABLE_BYTES_MAX
							      : TABLE_BYTES_LARGE) >>
				20);
	if (exchange->row) {
		struct sa_count *count = &sa->counts[exchange->row - sa_rows];

		count->requests++;
		count->refused += status != STATUS_OK;
	}
	reply(sa, exchange, status);
	free(exchange->answer.grown);
}

static void queued_free(struct exchange *exchange)
{
	request_walk_end(&exchange->request);
	arena_free(exchange->request.arena);
	lookup_unref(exchange->lookup);
	free(exchange);
}

/* An answer that is complete after its request's turn. */
static void late_end(struct sa *sa, struct exchange *exchange)
{
	if (*sa->view) {
		exchange_end(sa, exchange, answer_status(&exchange->request));
	} else { /* this manager's word counts no more */
		sa->stats.dropped++;
		free(exchange->answer.grown);
	}
}

static void queued_done(void *ctx, struct exchange *exchange)
{
	late_end(ctx, exchange);
	queued_free(exchange);
}

static void pending_done(void *ctx, struct exchange *exchange)
{
	late_end(ctx, exchange);
	free(exchange);
}

/* There is no place for the request to wait in. */
static void turn_away(struct sa *sa, struct exchange *exchange)
{
	sa->stats.overload++;
	if (sa->options.busy_reply)
		reply(sa, exchange, STATUS_BUSY);
	else
		sa->stats.dropped++;
}

/* False when the request is not to be answered (now), which is counted. */
static bool verdict_take(struct sa *sa, struct exchange *exchange, enum verdict verdict)
{
	if (verdict == VERDICT_PASSES || verdict == VERDICT_WAITS)
		return true;
	if (verdict == VERDICT_FULL) {
		turn_away(sa, exchange);
	} else {
		sa->stats.dropped++;
		sa->stats.repeated++;
	}
	return false;
}

/* Moves the exchange from the stack to the heap, and with it the memory that its begin took. */
static void exchange_queue(struct sa *sa, struct exchange *exchange)
{
	struct exchange *queued;

	if (!verdict_take(sa, exchange, queue_judge(sa->queue, exchange)))
		return;
	queued = mem_alloc(sizeof(*queued));
	*queued = *exchange;
	exchange->request.walk = NULL;
	queued->lookup = lookup_ref(sa->lookup);
	queued->options = sa->options;
	queued->request.options = &queued->options;
	queued->request.answer = &queued->answer;
	sa->scratch = arena_new();
	queue_add(sa->queue, queued);
}

/* The same for an answer that is complete and not to be told yet: it needs no more than itself. */
static void exchange_hold(struct sa *sa, const struct exchange *exchange)
{
	struct exchange *held = mem_alloc(sizeof(*held));

	*held = *exchange;
	held->request.answer = &held->answer;
	pending_add(sa->pending, held);
}

/* A short table is made at once, but one unit of it may be a whole switch: hence it waits as well
 * while its requester owes for those before. */
static bool takes_turns(const struct sa *sa, const struct exchange *exchange)
{
	const struct sa_request *request = &exchange->request;
	uint64_t units = request->end - request->unit;

	return units > UNITS_AT_ONCE ||
	       (units && request->table && queue_owes(sa->queue, exchange_port(exchange)));
}

static void exchange_run(struct sa *sa, struct exchange *exchange, const uint8_t *mad, size_t size)
{
	struct sa_request *request = &exchange->request;
	bool changes = method_changes(exchange->header.method);
	uint16_t status;

	exchange->row = sa_row_find(exchange->header.attr_id, exchange->header.method);
	status = exchange_check(exchange, size);
	if (!status && changes && !verdict_take(sa, exchange, pending_judge(sa->pending, exchange)))
		return;
	if (!status)
		status = exchange_begin(sa, exchange, mad + SUBN_ADM_HEADER_SIZE,
					size - SUBN_ADM_HEADER_SIZE);
	if (!status && takes_turns(sa, exchange)) {
		exchange_queue(sa, exchange);
		return;
	}
	if (!status) {
		exchange_work(exchange, UINT64_MAX);
		status = answer_status(request);
	}
	if (!status && request->table)
		queue_charge(sa->queue, exchange_port(exchange), exchange->answer.work);
	if (!status && changes && !registry_durable(sa->registry, registry_number(sa->registry))) {
		exchange_hold(sa, exchange);
		return;
	}
	if (status == SA_NO_RESOURCES && changes)
		refused_registration(sa, exchange);
	exchange_end(sa, exchange, status);
}

/* What is kept of a view ends with it, unless a long answer is being made from it. */
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

/* Who asks what, as far as it can be known now; false when he gets no answer. Without a view only
 * his key can be judged. */
static bool exchange_init(struct sa *sa, struct exchange *exchange, const struct mad_addr *from,
			  const struct mad_header *header, const uint8_t *mad)
{
	struct sa_request *request = &exchange->request;
	uint64_t sm_key;

	lookup_renew(sa);
	sa_header_decode(mad, &exchange->sa);
	sm_key = exchange->sa.sm_key;
	exchange->from = *from;
	exchange->header = *header;
	exchange->row = NULL;
	*request = (struct sa_request){
		.view = *sa->view,
		.topology = *sa->view ? (*sa->view)->topology : NULL,
		.lookup = sa->lookup,
		.registry = sa->registry,
		.groups = sa->groups,
		.limits = sa->limits,
		.services = sa->services,
		.held_mft = sa->held_mft,
		.held_ctx = sa->held_ctx,
		.wanted_keys = sa->wanted_keys,
		.wanted_ctx = sa->wanted_ctx,
		.aliases = &sa->aliases,
		.from = &exchange->from,
		.requester = {.lid = from->lid}, /* as far as no view tells of its port */
		.options = &sa->options,
		.trusted = sm_key && sm_key == sa->options.sa_key,
		.is_administrator =
			sm_key && sm_key == sa->options.sa_key && sm_key != SA_KEY_DEFAULT,
		.answer = &exchange->answer,
		.refusals = &sa->join_limit,
	};
	exchange->answer.grown = NULL;
	exchange->answer.size = SUBN_ADM_HEADER_SIZE;
	exchange->answer.room = sizeof(exchange->answer.small);
	exchange->answer.most_bytes = 0;
	exchange->answer.count = 0;
	exchange->answer.too_large = exchange->answer.large = false;
	exchange->answer.work = 0;
	return (!sm_key || request->trusted) &&
	       (!request->topology ||
		endport_by_lid(request->topology, from->lid, &request->requester));
}

/* There is a view, or one will come. */
static bool is_answering(const struct sa *sa)
{
	return *sa->view || (sa->coming && sa->coming(sa->coming_ctx));
}

/* Where no view comes any more the requests go through, to be dropped like others. */
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

/* A request that has waited: meanwhile its requester may be gone, or this manager MASTER no more.
 */
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
	request_walk_end(&exchange.request);
	arena_reset(sa->scratch);
}

static void sa_request_received(void *ctx, const struct mad_addr *from,
				const struct mad_header *header, const uint8_t *mad, size_t size)
{
	struct sa *sa = ctx;
	struct exchange exchange;
	enum verdict verdict;

	sa->stats.received++;
	if (!is_answering(sa) || !method_asks(header->method) || size < SUBN_ADM_HEADER_SIZE ||
	    !exchange_init(sa, &exchange, from, header, mad)) {
		sa->stats.dropped++;
		return;
	}
	verdict = admission_judge(sa->admission, sa->options.request_rate, exchange_port(&exchange),
				  from, header, mad, size);
	if (!verdict_take(sa, &exchange, verdict))
		return;
	if (verdict == VERDICT_WAITS) {
		sa->stats.waited++;
		return;
	}
	exchange_run(sa, &exchange, mad, size);
	request_walk_end(&exchange.request);
	arena_reset(sa->scratch);
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
	sa->admission = admission_new(
		loop, &(struct admission_owner){passed, sa_request_expired, is_shut, sa});
	sa->queue = queue_new(loop, queued_done, sa);
	sa->pending = pending_new(loop, registry, pending_done, sa);
	sa->limits = limits_new(registry);
	sa->groups = groups_new(loop, registry, options);
	sa->services = services_new(loop, registry);
	sa->reporter = reporter_new(loop, txns, view, registry, events, options->subnet_prefix,
				    lookup_now, sa);
	forget_begin(&sa->forget, registry, sa->groups, events);
	aliases_begin(&sa->aliases, loop, registry, events, view, &sa->stats);
	sa->send_limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	sa->size_limit = sa->registration_limit = sa->join_limit = sa->send_limit;
	for (size_t i = 0; i < ARRAY_SIZE(sa_rows); i++) {
		sa->components[i] = record_components(sa_rows[i].format);
		sa->counts[i].record = sa_rows[i].format->name;
		sa->counts[i].method = method_name(CLASS_SUBN_ADM, sa_rows[i].method);
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
	struct exchange *exchange;

	if (!sa)
		return;
	txn_handle(sa->txns, CLASS_SUBN_ADM, NULL, NULL);
	event_unread(&sa->reader);
	while ((exchange = queue_take(sa->queue))) {
		free(exchange->answer.grown);
		queued_free(exchange);
	}
	while ((exchange = pending_take(sa->pending))) {
		free(exchange->answer.grown);
		free(exchange);
	}
	admission_free(sa->admission);
	queue_free(sa->queue);
	pending_free(sa->pending);
	forget_end(&sa->forget);
	aliases_end(&sa->aliases);
	reporter_free(sa->reporter);
	services_free(sa->services);
	limits_free(sa->limits);
	groups_free(sa->groups);
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
	return queue_length(sa->queue) + admission_length(sa->admission);
}

size_t sa_pending(const struct sa *sa)
{
	return pending_length(sa->pending);
}

size_t sa_counts(const struct sa *sa, const struct sa_count **rows)
{
	*rows = sa->counts;
	return ARRAY_SIZE(sa->counts);
}
