/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A request while it is answered: the data that sa.c gives to a handler, and the functions with
 * which the handler adds records. A row of the dispatch table in sa.c names the two halves of a
 * handler. The first half checks the request and sets the range of units (end ports, or pairs of
 * them). The second half offers the records of one unit. The loop may do other work between units,
 * because an answer can have hundreds of thousands of records; a handler keeps its data in the
 * state of the request. Handlers do not distinguish Get and GetTable. A request, and all that it
 * refers to, lives until the answer is sent.
 *
 * For methods that change something (SubnAdmSet, SubnAdmDelete) there is only a first half: it
 * checks the request, changes the registry last, and adds the record of the answer with
 * request_give(). The answer is sent when the registry with this change is durable. Loop thread
 * only.
 */
#ifndef SA_REQUEST_H
#define SA_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/mft.h"
#include "fabric/view.h"
#include "lib/log.h"
#include "mad/mad.h"
#include "sa/endport.h"
#include "sa/lookup.h"
#include "sa/record.h"
#include "sa/sa.h"
#include "store/registry.h"

/* A larger table is refused with NO_RESOURCES as soon as its size is known, because the kernel
 * keeps the data until the client acknowledges it. If the first half knows the number of records, a
 * table may have TABLE_BYTES_LARGE, but only one such table is made at a time. All forwarding
 * tables of 11,664 hosts take 25 MB. */
enum { TABLE_BYTES_MAX = 16 << 20, TABLE_BYTES_LARGE = 40 << 20 };

struct aliases;
struct answer;
struct counts;
struct groups;
struct services;
struct sa_request;

/* The first half: returns STATUS_OK, or the status of a refusal. */
typedef uint16_t sa_begin(struct sa_request *request);
sa_begin begin_one, begin_nodes, begin_port_infos, begin_by_lid, begin_sms, begin_links,
	begin_p_keys, begin_lfts, begin_paths, begin_multi_paths, begin_mc_members, begin_join,
	begin_leave, begin_services, begin_service_set, begin_service_delete, begin_inform_info,
	begin_inform_records, begin_set_guids, begin_delete_guids;
/* The second half, called for each unit while the answer is open. */
typedef void sa_step(struct sa_request *request, uint64_t unit);
sa_step step_class_port_info, step_node, step_port_infos, step_sm, step_links, step_sl_to_vl,
	step_switch_info, step_lft, step_mft, step_guid_info, step_p_keys, step_vl_arbitration,
	step_paths, step_multi_path, step_mc_member, step_service, step_inform_record;

/* Each level includes the ones above. */
enum requester_trust {
	REQUESTER_UNTRUSTED,
	REQUESTER_TRUSTED,	 /* the request has the sa_key */
	REQUESTER_ADMINISTRATOR, /* and the sa_key is not the default, which any host knows */
};

struct sa_request {
	const struct view *view;
	const struct snapshot *topology; /* of the view */
	struct lookup *lookup;		 /* of the view */
	struct registry *registry;
	struct groups *groups;
	const struct counts *counts;
	struct services *services;
	sa_mft *held_mft; /* NULL: not known */
	const void *held_ctx;
	sa_wanted *wanted_keys; /* NULL: only the view decides */
	void *wanted_ctx;
	struct aliases *aliases;
	const struct mad_addr *from; /* only in the first half */
	const struct sa_options *options;
	struct endport requester;
	enum requester_trust trust;
	bool table; /* GetTable: all matching records, not one */
	uint32_t attr_mod;
	const struct format *format; /* of the records of the answer */
	uint64_t mask;		     /* components to compare with wanted; no reserved bits */
	const void *wanted;	     /* the decoded record of the request: struct of its format */
	const uint8_t *data;	     /* its bytes and those after it; only in the first half */
	size_t data_size;
	struct arena *arena; /* for state */
	struct answer *answer;
	struct log_limit *refusals; /* for log lines about refusals */

	/* Set by the first half: */
	bool logged;	     /* the reason of a refusal is logged, or is not worth a line */
	enum sa_limit limit; /* the limit that was reached, with SA_NO_RESOURCES */
	uint64_t unit, end;  /* the next unit, and the end; by default none */
	uint64_t most;	     /* the number of records of all units; UINT64_MAX if not known */
	void *state;
	struct registry_cursor *walk; /* NULL, or the cursor of request_walk() */

	sa_step *step;
};

/* True if the mask has this component. */
static inline bool request_has(const struct sa_request *request, unsigned component)
{
	return request->mask >> component & 1;
}

/* Adds record (struct of format) to the answer if it equals wanted in the components of mask.
 * mask may have fewer components than the request if the handler has compared some itself. */
void request_offer(struct sa_request *request, uint64_t mask, const void *record);
/* Returns the bytes for a record on the wire, which the handler must fill; the handler has done
 * the comparison itself. NULL if there is no space. */
uint8_t *request_place(struct sa_request *request);
/* Adds the record of the answer to a change. */
void request_give(struct sa_request *request, const void *record);
/* False if more records cannot change the answer. */
bool request_open(const struct sa_request *request);

/* Whether the requester may see the port: chapter 15.4.1 requires a common partition, also for
 * trusted requesters. A port may always see itself. */
bool request_may_see(const struct sa_request *request, const struct endport *subject);
/* Whether the port has this P_Key in the view and keeps it under the partitions in force. */
bool request_keeps_key(const struct sa_request *request, const struct endport *port, pkey_t p_key);
/* Whether the port and the requester are both in this partition, so that something can be
 * registered there. Both the view, which shows the tables, and the partitions in force must
 * agree. */
bool request_both_in(const struct sa_request *request, const struct endport *port, pkey_t p_key);
/* Finds the end port with this number. False if it has no LID or the requester may not see it. */
bool request_endport(const struct sa_request *request, uint64_t number, struct endport *out);

/* Makes the registry records of a kind the units, with the parameters of registry_first(). The
 * registry may change during the walk. Each unit gets its record from request_walk_next(), NULL
 * at the end. */
void request_walk(struct sa_request *request, enum registry_kind kind, int index, const void *key);
/* The next record of the walk; NULL at the end. */
const void *request_walk_next(struct sa_request *request);
void request_walk_end(struct sa_request *request); /* harmless without a walk */

/* The GUIDs of a block of a port: those that it has, and registered ones that will be written to
 * it. */
void guid_block_registered(const struct sa_request *request, const struct endport *port,
			   unsigned block, struct guid_info *out);

/* Whether a port may have one more registration; if not, the answer is SA_NO_RESOURCES. */
bool request_may_register(const struct sa_request *request, guid_t port_guid);
/* The node, port and LID of the requester, for a log line. */
struct log_subject request_subject(const struct sa_request *request, const char *message_id);

/* Makes the end ports that match a LID component the units: all without the component, else one
 * or none. */
void request_by_lid(struct sa_request *request, unsigned component, lid_t lid);

#endif
