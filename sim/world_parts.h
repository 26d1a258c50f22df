/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of a world: sim/world.c builds and changes it, sim/client.c has the programs,
 * sim/hca.c the virtual HCAs, sim/packet.c and sim/arrival.c move and end packets, sim/multicast.c
 * has multicast. A packet belongs to exactly one of: the event that moves it, the queue of an
 * agent, the list of spare packets.
 */
#ifndef SIM_WORLD_PARTS_H
#define SIM_WORLD_PARTS_H

#include "lib/list.h"
#include "lib/map.h"
#include "sim/events.h"
#include "sim/ib_packet.h"
#include "sim/world.h"

/* A multicast packet with all its copies: the ports by which it entered switches. */
struct flight {
	struct list link;
	unsigned copies;
	struct map entered; /* ports, by their address */
};

/* The part of a data packet behind LRH and GRH. It is constant, and all copies of the packet share
 * it. */
struct payload {
	unsigned holders;
	uint16_t size; /* from the BTH to the padding */
	uint16_t data; /* bytes that the MTU limits */
	uint8_t bytes[];
};

struct packet {
	struct packet *next;	 /* in a queue or in the list of spare packets */
	struct device_port *at;	 /* the port at which it arrived, or begins */
	bool begins;		 /* its part by LID begins here */
	bool is_smp;		 /* VL15: only physical links are needed */
	bool outruns;		 /* an answer: it leaves before its Set() takes the link down */
	bool came;		 /* it arrived here over a link */
	bool by_smi;		 /* it arrived here on its directed route, so the SMI sends it on */
	struct device_port *out; /* the port by which it leaves after the SMI has served it */
	unsigned service_us;	 /* service time at the SMI */
	void (*served)(struct world *world, struct packet *packet);
	lid_t slid, dlid; /* permissive while it is on a directed route */
	uint8_t sl;
	uint8_t vl;	     /* of the last link; an SMP has VL15 everywhere */
	uint8_t hop_pointer; /* of a directed SMP, as it arrived here */
	uint16_t pkey_index; /* of a GMP: of the sender, then of the present holder */
	pkey_t p_key;	     /* of all but SMPs */
	uint32_t q_key;
	uint32_t src_qp, dst_qp;   /* 0 of SMPs */
	struct payload *payload;   /* NULL: it is a MAD, which is below */
	struct world_node *sender; /* a virtual HCA, also of an answer to it; NULL: no such */
	uint16_t words;		   /* of 4 bytes, from the LRH to the ICRC */
	unsigned hops;		   /* switches whose table it passed */
	struct flight *flight;	   /* NULL: it was not multiplied yet */
	bool has_grh;
	struct mad_grh grh;
	uint8_t mad[MAD_SIZE];
};

/* A device in the world; device->owner. */
struct world_node {
	struct world *world;
	struct device *device;
	const char *id;
	struct list clients;
	struct hca *hca; /* NULL: the adapter is no virtual HCA */
	/* Packets of its virtual HCA under way, with copies and answers of agents. */
	unsigned mads, data;
	struct world_faults *faults; /* its own; NULL: those of the world */
	uint64_t tick_ns;	     /* when device_tick() is planned; UINT64_MAX: not planned */
	uint64_t smps;		     /* answered */
	/* VL15: the SMI serves an SMP, and these wait. */
	bool busy;
	unsigned waiting;
	struct packet *first, *last;
};

struct world_client {
	struct list link;
	struct world *world;
	struct device_port *port;
	void (*received)(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size);
	void *ctx;
	bool hears_all;
	uint32_t q_key;	  /* of the GMPs that it sends */
	uint64_t free_ns; /* when its port has sent all of its MADs */
	bool is_sm, gone; /* gone: detached, and freed after the event */
};

struct packets; /* a slab of them */

struct world {
	struct world_options options;
	struct world_faults faults;
	struct world_stats stats;
	struct device_events device_events;
	struct events events;
	uint64_t now_ns;
	uint64_t random;
	const struct device_port *eater; /* drops all packets that would leave by it */
	bool building;			 /* links train at once */
	bool clients_gone;		 /* detached clients are to be freed */
	unsigned num_switches;
	size_t count;
	struct world_node *nodes;
	struct device **devices; /* in the order of the net */
	struct map by_guid;
	struct arena *names;
	struct packet *spare;
	struct packets *slabs;
	struct list flights;
	struct world_capture *capture; /* NULL: packets are not captured */
	const uint8_t *serving;	       /* the MAD that an agent is handling */
	void (*on_set)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
		       uint32_t attr_mod);
	void *on_set_ctx;
	void (*on_port)(void *ctx, struct device *device, uint8_t port);
	void *on_port_ctx;
};

static inline struct world_node *world_node_of(const struct device *device)
{
	return device->owner;
}

/* The port with the LID, the agent's notices and the programs of this node. */
static inline struct device_port *world_end_port(struct device_port *at)
{
	return device_is_switch(at->device) ? &at->device->port[0] : at;
}

static inline bool port_link_is_up(const struct device_port *port)
{
	return port->peer && port->info.port_physical_state == PHYS_LINK_UP;
}

static inline bool packet_is_multicast(const struct packet *packet)
{
	return packet->dlid >= LID_MULTICAST_MIN && packet->dlid <= LID_MULTICAST_MAX;
}

/* The words of a packet with LRH, GRH if there is one, and a transport part of this size. */
static inline uint16_t packet_words(bool has_grh, size_t transport_size)
{
	return (uint16_t)((IB_LRH_SIZE + (has_grh ? IB_GRH_SIZE : 0) + transport_size +
			   IB_ICRC_SIZE) /
			  4);
}

/* A virtual HCA's packets of its kind that are under way. Only if it has a sender. */
static inline unsigned *packets_under_way(const struct packet *packet)
{
	return packet->payload ? &packet->sender->data : &packet->sender->mads;
}

/* Limits of packets_under_way(). An agent that needs time for each SMP has a long queue of the MADs
 * of one HCA at most. A multicast packet may have a copy for each port of a large fabric. */
enum { HCA_MADS_MAX = 1024, HCA_DATA_MAX = 32768 };

enum { MAD_TRANSPORT_SIZE = IB_BTH_SIZE + IB_DETH_SIZE + MAD_SIZE };

/* All zero, except the words, which are those of a MAD without a GRH, and the MAD, which is not
 * cleared. */
struct packet *packet_new(struct world *world);
/* A copy with the same flight; counted in it. */
struct packet *packet_copy(struct world *world, const struct packet *packet);
/* A packet that a virtual HCA sends by its port. */
struct packet *packet_read(struct world *world, struct device_port *port,
			   const struct ib_packet *read);
/* Writes the packet as it is on the last link, or was there; returns its size. */
size_t packet_write(const struct packet *packet, uint8_t out[IB_PACKET_MAX]);
/* Ends the packet, also in its flight. */
void packet_free(struct world *world, struct packet *packet);
void packets_done(struct world *world); /* also those under way */
void packet_drop(struct world *world, struct packet *packet, uint64_t *counter);
/* The fields of the packet for key checks; borrows its GIDs. */
struct device_packet packet_keys(const struct packet *packet);
/* The packet begins its way at its port, now. */
void packet_start(struct world *world, struct packet *packet);
/* The same as an event at at_ns. */
void packet_start_at(struct world *world, struct packet *packet, uint64_t at_ns);
/* The packet leaves by packet->out as it is, in an event of its own now. */
void packet_emit(struct world *world, struct packet *packet);

/* The packet leaves by this port, and there is a capture. */
void world_capture_packet(struct world *world, const struct packet *packet,
			  const struct device_port *out);

/* A packet that the SMI held leaves by packet->out. */
void packet_pass_on(struct world *world, struct packet *packet);

/* The SMI of the packet's node serves the SMP for service_us, after those that wait there, and
 * passes it to served(); or drops it if its buffer is full. */
void smi_give(struct world *world, struct packet *packet, unsigned service_us,
	      void (*served)(struct world *world, struct packet *packet));

/* A packet for the driver of the node's virtual HCA, at the end of its way. */
void hca_receive(struct world *world, struct packet *packet);
/* After a reset of the device: sets the capabilities that the driver had set. */
void hca_restore(struct hca *hca);

/* The packet has arrived at the end of its way. */
void packet_arrive(struct world *world, struct packet *packet);

/* A multicast packet entered the switch where it is; false if a copy of it entered there before by
 * the same port. */
bool flight_enter(struct world *world, struct packet *packet);
void flight_leave(struct packet *packet); /* the packet ends, or becomes an answer */
void flights_done(struct world *world);

/* Frees detached clients; not from within received(). */
void clients_free_gone(struct world *world);

/* The port by which a switch sends to dlid; 0: to itself; -EHOSTUNREACH. */
int switch_out_port(const struct device *device, lid_t dlid);

#endif
