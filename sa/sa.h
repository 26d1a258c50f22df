/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet administrator: answers SubnAdm requests (class 3, chapter 15) from the published view.
 * It reads whatever view the slot points to. While there is none (the slot is NULL) requests wait
 * if one is coming, because this manager has become MASTER, and are dropped and counted if not:
 * silence makes clients ask again, where a status would make them give up. Short answers leave at
 * once, long ones are made over several turns of the loop, from the view of their request. Loop
 * thread only. No symbol may be called sa_call or sa_rpc_call: those are libibmad's.
 */
#ifndef SA_SA_H
#define SA_SA_H

#include <stdint.h>

#include "fabric/event.h"
#include "fabric/view.h"
#include "lib/loop.h"
#include "mad/txn.h"
#include "store/registry.h"

enum { SA_KEY_DEFAULT = 1 }; /* OpenSM's, so that anybody knows it */

struct sa_options {
	uint64_t sa_key;	/* who gives it in SM_Key is trusted; never logged. For alias GUIDs
				   SA_KEY_DEFAULT is no key */
	uint64_t subnet_prefix; /* of the GIDs */
	uint8_t packet_life_time; /* PathRecord:PacketLifeTime, 4.096 us * 2^n; default 18, never
				     below 16 */
	uint8_t max_rate_enum;	 /* PathRecord:Rate has no higher encoding; default 63, above all */
	uint8_t subnet_timeout;	 /* gives ClassPortInfo:RespTimeValue */
	uint32_t ipv6_snm_mlids; /* see sa/mlids.h; default 1024, 0: groups do not share */
	uint32_t registrations_per_port; /* memberships, services and the like; default 1024 */
	uint32_t groups_per_port;	 /* multicast groups that one port made; default 512 */
	uint32_t request_rate; /* so many a second of one port are answered before those of others
				  who have waited; default 10000; 0: any number */
	uint8_t busy_reply;    /* requests that find no place to wait in get BUSY, not silence */
};

struct sa;
struct report_stats;

/* view: the slot that the manager publishes to. registry and events are the manager's, and outlive
 * it. options are copied. */
struct sa *sa_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
		  struct registry *registry, struct event_hub *events,
		  const struct sa_options *options);
void sa_free(struct sa *sa);
/* While there is no view, coming(ctx) tells whether requests shall wait for one: this manager is
 * MASTER. Without it they do not. */
void sa_expect(struct sa *sa, bool (*coming)(const void *ctx), const void *ctx);
/* held(ctx, guid) tells what the switch of this NodeGUID holds of multicast; NULL: nothing is
 * known. Read at once. Without it no switch has such records. */
struct mft;
typedef const struct mft *sa_mft(const void *ctx, guid_t guid);
void sa_set_mft(struct sa *sa, sa_mft *held, const void *ctx);
/* wanted(ctx, port_guid, p_key) tells whether the partitions in force give this port a key of this
 * partition: a change counts before the port's table, and so the view, shows it, and nobody
 * registers with a key that is being taken from him. Without it the view alone decides. */
typedef bool sa_wanted(void *ctx, guid_t port_guid, pkey_t p_key);
void sa_set_wanted(struct sa *sa, sa_wanted *wanted, void *ctx);
/* claim(ctx, port_guid, guid) tells what speaks for or against a GUID as an alias of a port.
 * Without it nothing does. */
typedef enum alias_claim sa_alias_claim(const void *ctx, guid_t port_guid, guid_t guid);
void sa_set_alias_claim(struct sa *sa, sa_alias_claim *claim, const void *ctx);
/* The groups that partitions have; see groups_configure(). */
void sa_set_groups(struct sa *sa, const struct group_entry *list, size_t count);
void sa_set_options(struct sa *sa, const struct sa_options *options);
/* For store_on_late(): late_fits(). */
bool sa_late(struct sa *sa, enum registry_kind kind, void *record, bool known);

struct sa_count { /* a row for each record and method that has a handler */
	const char *record, *method;
	uint64_t requests, refused;
};

enum sa_limit { SA_LIMIT_REGISTRATIONS, SA_LIMIT_GROUPS, SA_LIMIT_MLIDS, SA_LIMITS };

struct sa_stats {
	uint64_t received, answered, refused /* with a status */, dropped /* without an answer */;
	uint64_t send_failed;
	uint64_t repeated; /* of dropped: asked again while the answer was being made */
	uint64_t overload; /* dropped, or refused with BUSY: too many were waiting */
	uint64_t waited;   /* at admission: for a view, or behind others */
	uint64_t expired;  /* of dropped: they waited there for too long */
	/* Refused registrations, by the limit that is reached: of one port's registrations, of the
	 * groups that it made, of the MLIDs for groups of clients. */
	uint64_t over_limit[SA_LIMITS];
	uint64_t aliases_refused; /* alias GUIDs that a request may not set or delete */
};
const struct sa_stats *sa_stats(const struct sa *sa);
/* The seconds that a service still has: services_lease(). */
uint32_t sa_lease(const struct sa *sa, const struct service_entry *entry);
/* How many members the group with this MGID has. */
uint32_t adm_members(const struct sa *sa, const uint8_t mgid[GID_SIZE]);
/* Counters of the reports (sa/report.h), and how many subscriptions are to be looked after now. */
const struct report_stats *sa_report_stats(const struct sa *sa);
size_t sa_reports(const struct sa *sa);
size_t sa_waiting(const struct sa *sa); /* requests at admission, and whose answer is being made
					 */
size_t sa_pending(const struct sa *sa); /* changes that are made and not yet durable */
size_t sa_counts(const struct sa *sa, const struct sa_count **rows);

#endif
