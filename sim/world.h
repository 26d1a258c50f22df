/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric of software agents with time: MADs travel hop by hop through switches' own tables, links
 * take time and fail, management agents have a service time and a small VL15 buffer. It owns no
 * clock: whoever runs it asks when the next thing happens and says what time it is, so that the
 * same world runs in virtual time (tests/sim) or in real time. Everything random
 * comes from the seed. One thread.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/net.h"
#include "include/iba.h"
#include "mad/transport.h"
#include "sma/agent.h"

struct world;
struct world_client;

struct world_options {
	uint64_t seed;
	unsigned smp_us;	 /* an agent's service time for one SMP; 0: none */
	unsigned hop_ns;	 /* a link's latency */
	unsigned smp_transit_us; /* a switch's time for a directed SMP that passes; 0: none */
	unsigned vl15_depth;	 /* SMPs that wait at one node; 0: without bound */
	unsigned send_us;	 /* what a program's port takes to send one MAD; 0: nothing */
	unsigned training_us;	 /* a link's time from down to INIT */
};

/* What the random faults do; each in parts per million of the MADs that arrive at an agent or
 * client. */
struct world_faults {
	unsigned drop_ppm, duplicate_ppm, delay_ppm;
	unsigned garble_ppm; /* answers that come with one byte of their header changed */
	unsigned delay_us;   /* the most; reordering follows from it */
};

enum { WORLD_ATTRS = ATTR_SM_INFO + 1 };

/* What was counted since the start or the last reset. */
struct world_stats {
	uint64_t smps, gmps, traps; /* delivered to an agent or client */
	uint64_t dropped_by_fault, dropped_vl15, dropped_no_route, dropped_link_down,
		dropped_hop_limit, dropped_no_client, dropped_malformed, duplicated, delayed,
		garbled;
	uint64_t dropped_silent;	       /* at agents that are dead */
	uint64_t dropped_mismatch;	       /* data, on links whose ends differ in MTU or VLs */
	uint64_t dropped_p_key, dropped_q_key; /* by end ports, and by switches that enforce */
	uint64_t dropped_circle; /* multicast that came to a switch by one port again */
	/* SMPs at agents by attribute; in the last row those that are not below WORLD_ATTRS. */
	uint64_t gets[WORLD_ATTRS + 1], sets[WORLD_ATTRS + 1];
};

/* The net is copied. -EINVAL and one line in error when it cannot be built. */
int world_new(const struct net *net, const struct world_options *options, struct world **out,
	      char *error, size_t error_size);
void world_free(struct world *world);

/* Time: when something happens next (UINT64_MAX: nothing), and doing all that is due until now_us.
 */
uint64_t world_next_us(const struct world *world);
void world_advance(struct world *world, uint64_t now_us);
uint64_t world_now_us(const struct world *world);

/* A program at a port: what no agent consumes there comes to received() (also answers to what it
 * sent). Addresses are as in mad/transport.h. port 0 of a switch, else 1.. All programs of a port
 * hear the same: answers, which they tell apart by their TIDs, and GMPs. SMInfo and traps are for
 * those that set IsSM; without one the agent refuses SMInfo. A program may send, attach and detach
 * from received(); what it sends leaves later, never within world_send(). */
struct world_client *world_attach(struct world *world, struct device *device, uint8_t port,
				  void (*received)(void *ctx, const struct mad_addr *from,
						   const uint8_t *mad, size_t size),
				  void *ctx);
void world_detach(struct world_client *client);
/* Sends one MAD of at most 256 bytes as the client's port would; SMPs for the port's own agent too.
 */
int world_send(struct world_client *client, const struct mad_addr *to, const uint8_t *mad,
	       size_t size);
/* The Q_Key of the GMPs that it sends from now on, where it is not QP1's. */
void world_set_q_key(struct world_client *client, uint32_t q_key);
void world_set_issm(struct world_client *client, bool on);
/* The client hears SMInfo and traps with and without IsSM, and answers what it does not want. */
void world_hear_all(struct world_client *client);

/* Finding: by the name (description or node id) of the net file, or by GUID. NULL: none. */
struct device *world_device(const struct world *world, const char *name);
struct device *world_device_by_guid(const struct world *world, guid_t node_guid);
size_t world_devices(const struct world *world, struct device *const **list);

/* Changing. */
int world_link(struct world *world, struct device *device, uint8_t port,
	       bool up); /* pull, put back */
int world_recable(struct world *world, struct device *a, uint8_t port_a, struct device *b,
		  uint8_t port_b); /* both ends are freed first */
void world_node(struct world *world, struct device *device, bool up); /* all its links */
void world_reboot(struct world *world,
		  struct device *device); /* links drop, state is wiped, links come back */
void world_set_faults(struct world *world, struct device *only /* NULL: everywhere */,
		      const struct world_faults *faults);
/* Those that count at a device, or everywhere else when it is NULL. */
const struct world_faults *world_faults(const struct world *world, const struct device *device);
/* From now on that port sends nothing, though its link is up: one at a time, NULL: none. */
void world_eat(struct world *world, const struct device_port *port);
const struct world_stats *world_stats(const struct world *world);
void world_reset_stats(struct world *world);
/* How many SMPs a device's agent has answered since then. */
uint64_t world_agent_smps(const struct device *device);

/* Called after each Set() that was applied anywhere: the place for invariants. */
void world_on_set(struct world *world,
		  void (*fn)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
			     uint32_t attr_mod),
		  void *ctx);

/* The MAD that an agent is handling, for those who are called from there. */
const uint8_t *world_serving(const struct world *world);

/* Called when the state of a port, logical or physical, changed for whatever reason. */
void world_on_port(struct world *world, void (*fn)(void *ctx, struct device *device, uint8_t port),
		   void *ctx);

/* Walks the switches' own tables from an active port to a LID, as a data packet goes: every link on
 * the way must be ACTIVE. Returns the number of switches passed (0: itself or back to back),
 * -ELOOP, -EHOSTUNREACH. A switch is passed when its table sends the packet out again. */
int world_walk(const struct world *world, const struct device *from, uint8_t port, lid_t dlid);

/* The same of a packet for a multicast LID: every end port that it comes to is told to receives(),
 * again when it comes again. P_Keys are not looked at. */
struct world_spread {
	unsigned receivers; /* end ports */
	unsigned again;	    /* how often one of them had it already */
	unsigned circles;   /* how often it came to a switch by a port by which it had come */
};
/* -EHOSTUNREACH: the port has no ACTIVE link. */
int world_multicast(const struct world *world, const struct device *from, uint8_t port, lid_t mlid,
		    void (*receives)(void *ctx, const struct device_port *port), void *ctx,
		    struct world_spread *out);

#endif
