/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The subnet administrator: answers SubnAdm requests (class 3, chapter 15) from the view that the
 * slot points to. Without a view (the slot is NULL), requests wait if this manager has become
 * MASTER and a view will follow. Otherwise they are dropped and counted: without an answer clients
 * try again, after a status they would give up. Short answers are sent at once; long ones are made
 * over several turns of the loop, from the view of their request. Loop thread only. No symbol may
 * be called sa_call or sa_rpc_call, because libibmad has these names.
 */
#ifndef SA_SA_H
#define SA_SA_H

#include <stdint.h>

#include "fabric/event.h"
#include "fabric/view.h"
#include "lib/loop.h"
#include "mad/txn.h"
#include "store/registry.h"

enum { SA_KEY_DEFAULT = 1 }; /* OpenSM's default, so it is no secret */

struct sa_options {
	uint64_t sa_key; /* a request with this SM_Key is trusted; never logged. For alias GUIDs
			    SA_KEY_DEFAULT is no key */
	uint64_t subnet_prefix;	  /* of the GIDs */
	uint8_t packet_life_time; /* PathRecord:PacketLifeTime, 4.096 us * 2^n; default 18, never
				     below 16 */
	uint8_t max_rate_enum;	  /* highest encoding of PathRecord:Rate; default 63, no limit */
	uint8_t subnet_timeout;	  /* for ClassPortInfo:RespTimeValue */
	uint32_t ipv6_snm_mlids;  /* see sa/mlids.h; default 1024, 0: groups do not share */
	uint32_t registrations_per_port; /* memberships, services and the like; default 1024 */
	uint32_t groups_per_port;	 /* multicast groups that one port made; default 512 */
	uint32_t request_rate; /* requests per second of one port that go before waiting requests of
				  other ports; default 10000; 0: any number */
	uint8_t busy_reply; /* a request without a place in the queue gets BUSY instead of no answer
			     */
};

struct sa;
struct report_stats;

/* view is the slot to which the manager publishes. registry and events must outlive the SA;
 * options are copied. */
struct sa *sa_new(struct loop *loop, struct txn_table *txns, struct view *const *view,
		  struct registry *registry, struct event_hub *events,
		  const struct sa_options *options);
void sa_free(struct sa *sa); /* open requests get no answer */
/* Sets the function that tells whether requests shall wait while there is no view: coming(ctx)
 * is true if this manager is MASTER. By default they do not wait. */
void sa_expect(struct sa *sa, bool (*coming)(const void *ctx), const void *ctx);
/* Sets the source of multicast tables: held(ctx, guid) returns the table of the switch with this
 * NodeGUID, or NULL if it is not known. The result is used at once. By default there are no such
 * records. */
struct mft;
typedef const struct mft *sa_mft(const void *ctx, guid_t guid);
void sa_set_mft(struct sa *sa, sa_mft *held, const void *ctx);
/* Sets the source of the partitions in force: wanted(ctx, port_guid, p_key) is true if they give
 * the port this P_Key. So a change counts before the view shows it, and no port can register
 * with a P_Key that is being removed. By default only the view decides. */
typedef bool sa_wanted(void *ctx, guid_t port_guid, pkey_t p_key);
void sa_set_wanted(struct sa *sa, sa_wanted *wanted, void *ctx);
/* Sets the function that decides whether a GUID may be an alias of a port. By default there are
 * no claims. */
typedef enum alias_claim sa_alias_claim(const void *ctx, guid_t port_guid, guid_t guid);
void sa_set_alias_claim(struct sa *sa, sa_alias_claim *claim, const void *ctx);
/* Sets the groups of partitions; see groups_configure(). */
void sa_set_groups(struct sa *sa, const struct group_entry *list, size_t count);
/* Applies new options; they are copied. */
void sa_set_options(struct sa *sa, const struct sa_options *options);
/* For store_on_late(): late_fits(). */
bool sa_late(struct sa *sa, enum registry_kind kind, void *record, bool known);

struct sa_count { /* a row for each record and method with a handler */
	const char *record, *method;
	uint64_t requests, refused;
};

enum sa_limit { SA_LIMIT_REGISTRATIONS, SA_LIMIT_GROUPS, SA_LIMIT_MLIDS, SA_LIMITS };

struct sa_stats {
	uint64_t received, answered, refused /* with a status */, dropped /* without an answer */;
	uint64_t send_failed;
	uint64_t repeated; /* of dropped: repeated while the answer was being made */
	uint64_t overload; /* dropped, or refused with BUSY, because too many requests waited */
	uint64_t waited;   /* at admission: for a view, or behind other requests */
	uint64_t expired;  /* of dropped: waited too long */
	/* Refused registrations, by the limit: registrations of one port, groups that one port
	 * made, MLIDs for groups of clients. */
	uint64_t over_limit[SA_LIMITS];
	uint64_t aliases_refused; /* alias GUIDs that a request may not set or delete */
};
/* Counters since the start. */
const struct sa_stats *sa_stats(const struct sa *sa);
/* The remaining lease of a service in seconds: services_lease(). */
uint32_t sa_lease(const struct sa *sa, const struct service_entry *entry);
/* The number of members of the group with this MGID. */
uint32_t sa_group_members(const struct sa *sa, const uint8_t mgid[GID_SIZE]);
/* Counters of the reports (sa/report.h). */
const struct report_stats *sa_report_stats(const struct sa *sa);
/* The subscriptions that are not idle: reporter_waiting(). */
size_t sa_reports(const struct sa *sa);
size_t sa_waiting(
	const struct sa *sa); /* requests at admission, and requests whose answer is being made */
size_t sa_pending(const struct sa *sa); /* changes that are not durable yet */
unsigned sa_mlids(const struct sa *sa); /* MLIDs of groups */
/* The requests for each record and method; rows are borrowed until the next request. */
size_t sa_counts(const struct sa *sa, const struct sa_count **rows);

#endif
