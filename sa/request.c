/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Functions for handlers: checks on a request, and walks over units. */
#include "sa/request.h"

#include "lib/mem.h"
#include "sa/answer.h"
#include "sa/counts.h"

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

void request_walk_end(struct sa_request *request)
{
	if (request->walk)
		registry_walk_end(request->walk);
	request->walk = NULL;
}

bool request_may_register(const struct sa_request *request, guid_t port_guid)
{
	return counts_of(request->counts, COUNT_REGISTRATIONS, &port_guid) <
	       request->options->registrations_per_port;
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
