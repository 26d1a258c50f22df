/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric of software agents with time. MADs travel hop by hop through switches' own tables, links
 * take time and fail, management agents have a service time and a small VL15 buffer. It owns no
 * clock: the caller asks for the time of the next event and supplies the time. So the same world
 * runs in virtual time (tests/sim) or in real time. All randomness comes from the seed. One thread.
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
	unsigned smp_transit_us; /* a switch's time for a passing directed SMP; 0: none */
	unsigned vl15_depth;	 /* SMPs that wait at one node; 0: no limit */
	unsigned send_us;	 /* the time of a program's port to send a MAD; 0: none */
	unsigned training_us;	 /* a link's time from down to INIT */
};

/* Rates of the random faults, in parts per million of the MADs that arrive at an agent or
 * client. */
struct world_faults {
	unsigned drop_ppm, duplicate_ppm, delay_ppm;
	unsigned garble_ppm; /* answers with one changed byte in their header */
	unsigned delay_us;   /* upper limit; delays cause reordering */
};

enum { WORLD_ATTRS = ATTR_SM_INFO + 1 };

/* Counters since the start or the last reset. */
struct world_stats {
	uint64_t smps, gmps, traps; /* delivered to an agent, client or virtual HCA */
	uint64_t data;		    /* other packets, to virtual HCAs */
	uint64_t dropped_by_fault, dropped_vl15, dropped_no_route, dropped_link_down,
		dropped_hop_limit, dropped_no_client, dropped_malformed, duplicated, delayed,
		garbled;
	uint64_t dropped_silent;   /* at silent agents */
	uint64_t dropped_mismatch; /* data, on links whose ends differ in MTU or VLs */
	/* By end ports, and by switches that enforce P_Keys. */
	uint64_t dropped_p_key, dropped_q_key;
	uint64_t dropped_circle; /* multicast that entered a switch by one port again */
	/* Data at the port by which it should leave. */
	uint64_t dropped_vl;	 /* its VL is not operational */
	uint64_t dropped_mtu;	 /* it is longer than NeighborMTU */
	uint64_t dropped_no_qp;	 /* data at a port without a virtual HCA */
	uint64_t dropped_unread; /* a virtual HCA has no room for it */
	uint64_t dropped_copies; /* multicast copies; a virtual HCA has too many under way */
	/* SMPs at agents by attribute; the last row has attributes of WORLD_ATTRS and more. */
	uint64_t gets[WORLD_ATTRS + 1], sets[WORLD_ATTRS + 1];
};

/* The net is copied. Returns 0, or -EINVAL with one line in error if it cannot be built. */
int world_new(const struct net *net, const struct world_options *options, struct world **out,
	      char *error, size_t error_size);
/* Also frees all clients. NULL is harmless. */
void world_free(struct world *world);

/* The time of the next event; UINT64_MAX: none. */
uint64_t world_next_us(const struct world *world);
/* Runs all events that are due until now_us, and sets the time. */
void world_advance(struct world *world, uint64_t now_us);
/* The time of the last world_advance(). */
uint64_t world_now_us(const struct world *world);

/* Attaches a program to a port: received() gets the MADs that no agent consumes there, also answers
 * to its own MADs. Addresses are as in mad/transport.h. port 0 of a switch, else 1 and up. All
 * programs of a port get the same MADs: answers, which they recognize by their TIDs, and GMPs. Only
 * programs with IsSM get SMInfo and traps; without such a program the agent refuses SMInfo. A
 * program may send, attach and detach from received(); its MADs leave later, never within
 * world_send(). */
struct world_client *world_attach(struct world *world, struct device *device, uint8_t port,
				  void (*received)(void *ctx, const struct mad_addr *from,
						   const uint8_t *mad, size_t size),
				  void *ctx);
/* Ends the callbacks; the client is freed at the end of the event. NULL is harmless. */
void world_detach(struct world_client *client);
/* Sends a MAD of at most 256 bytes by the client's port, also SMPs for the port's own agent.
 * Returns 0, or -EINVAL for a wrong size or a detached client. */
int world_send(struct world_client *client, const struct mad_addr *to, const uint8_t *mad,
	       size_t size);
/* Sets the Q_Key of the GMPs that the client sends from now on; the default is the Q_Key of QP1. */
void world_set_q_key(struct world_client *client, uint32_t q_key);
/* Sets or clears IsSM for this client; the port shows it while any client has it. */
void world_set_issm(struct world_client *client, bool on);
/* The client gets SMInfo and traps with and without IsSM, and answers those that it does not
 * handle. */
void world_hear_all(struct world_client *client);

/* A device by the name (description or node id) of the net file; NULL: none. */
struct device *world_device(const struct world *world, const char *name);
/* A device by its node GUID; NULL: none. */
struct device *world_device_by_guid(const struct world *world, guid_t node_guid);
/* All devices, in the order of the net; borrowed. Returns their number. */
size_t world_devices(const struct world *world, struct device *const **list);

/* Changes of the fabric. world_link() and world_recable() return 0, or -EINVAL: no such external
 * port; -ENOTCONN: no cable. */
int world_link(struct world *world, struct device *device, uint8_t port,
	       bool up); /* pulls out, or puts back */
int world_recable(struct world *world, struct device *a, uint8_t port_a, struct device *b,
		  uint8_t port_b); /* both ends are freed first */
void world_node(struct world *world, struct device *device, bool up); /* all its links */
void world_reboot(struct world *world,
		  struct device *device); /* links go down, state is reset, links train */
void world_set_faults(struct world *world, struct device *only /* NULL: all devices */,
		      const struct world_faults *faults);
/* The faults of a device, or those of all other devices if it is NULL. */
const struct world_faults *world_faults(const struct world *world, const struct device *device);
/* From now on this port drops all packets that it sends, though its link is up: one port at a time,
 * NULL: none. */
void world_eat(struct world *world, const struct device_port *port);
/* Borrowed; always current. */
const struct world_stats *world_stats(const struct world *world);
/* Sets all counters to 0, also those of agents and their reregistrations. */
void world_reset_stats(struct world *world);
/* SMPs that a device's agent has answered since the last reset. */
uint64_t world_agent_smps(const struct device *device);

/* Calls fn after each Set() that any agent applied, for checks of invariants. */
void world_on_set(struct world *world,
		  void (*fn)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
			     uint32_t attr_mod),
		  void *ctx);

/* The MAD that an agent is handling, for callbacks from there. */
const uint8_t *world_serving(const struct world *world);

/* Calls fn when the state of a port, logical or physical, changed for any reason. */
void world_on_port(struct world *world, void (*fn)(void *ctx, struct device *device, uint8_t port),
		   void *ctx);

/* Follows the switches' own tables from an active port to a LID, as a data packet: every link on
 * the way must be ACTIVE. Returns the number of switches passed (0: to itself or back to back),
 * -ELOOP, or -EHOSTUNREACH. A switch is passed if its table sends the packet out again. */
int world_walk(const struct world *world, const struct device *from, uint8_t port, lid_t dlid);

/* The same for a multicast packet: receives() is called for every end port on each arrival. P_Keys
 * are not checked. */
struct world_spread {
	unsigned receivers; /* end ports */
	unsigned again;	    /* arrivals at ports that had received it before */
	unsigned circles;   /* arrivals at a switch by a port by which it had entered before */
};
/* Returns 0, or -EHOSTUNREACH: the port has no ACTIVE link. */
int world_multicast(const struct world *world, const struct device *from, uint8_t port, lid_t mlid,
		    void (*receives)(void *ctx, const struct device_port *port), void *ctx,
		    struct world_spread *out);

#endif
