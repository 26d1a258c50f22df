/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the files of the software agent: requests, the functions in the table of attributes in
 * agent.c, and the calls between the state of links and the traps.
 */
#ifndef SMA_AGENT_PARTS_H
#define SMA_AGENT_PARTS_H

#include "mad/mad.h"
#include "mad/notice.h"
#include "sma/agent.h"

/* A Get() or Set() under way. */
struct agent_request {
	struct device *device;
	/* The port through which it arrived; at an adapter, modifier 0 means this port. */
	struct device_port *in;
	uint32_t attr_mod;
	uint8_t *data;	  /* SMP_DATA_SIZE bytes; of a performance MAD PERF_DATA_SIZE */
	uint8_t about;	  /* the port that a Set() changes, for the owner */
	bool hides_m_key; /* from this requester: agent_m_key.c */
};

/*
 * Get() fills the data, which are all zero; Set() applies them, all or nothing. Both return a
 * status word. After a Set() that was applied, the answer is that of a Get().
 */
typedef uint16_t agent_fn(struct agent_request *request);

agent_fn notice_get;
agent_fn port_info_get, port_info_set;
agent_fn switch_info_get, switch_info_set;
agent_fn lft_get, lft_set;
agent_fn mft_get, mft_set;
agent_fn p_key_get, p_key_set;
agent_fn guid_info_get, guid_info_set;
agent_fn sl_to_vl_get, sl_to_vl_set;
agent_fn vl_arbitration_get, vl_arbitration_set;
agent_fn ext_port_info_get, ext_port_info_set;

/* Handles a Get() or Set() of class 4 and replaces its data by the answer's; returns a status
 * word. */
uint16_t perf_answer(uint16_t attr_id, bool is_set, struct agent_request *request);

/* The number of blocks of a table. */
static inline unsigned table_blocks(unsigned entries, unsigned per_block)
{
	return (entries + per_block - 1) / per_block;
}

/* A time of device_tick() that is not known yet: it begins at the next tick. */
#define STARTS_NOW UINT64_C(1)

/* State of the port as after a reset; values in ROM stay. */
void port_reset(struct device_port *port);
/* SwitchInfo and forwarding tables as after a reset; only for switches. */
void switch_reset(struct device *device);
/* P_Keys, GUIDs, SLtoVL and VL arbitration as after a reset. */
void tables_reset(struct device_port *port);
/* ExtendedPortInfo as after a reset. */
void ext_port_info_reset(struct device_port *port);
/* Frees the traps that wait or repeat. */
void traps_reset(struct device_port *port);

/* agent_m_key.c: whether this SMP may be handled. If not, it is dropped, and the violation is
 * counted. Sets hides_m_key. */
bool m_key_admits(struct agent_request *request, const struct mad_header *header,
		  const uint8_t *mad);
/* Ends a lease that runs; the key itself is reset with the port. */
void m_key_reset(struct device_port *port);
/* As device_next_us(), of one end port. */
uint64_t m_key_next_us(const struct device_port *port);
/* As device_tick(), of one end port. */
void m_key_tick(struct device_port *port, uint64_t now_us);

/* Whether a Set() may change PortState and PortPhysicalState to these values now; 0: no change. */
bool link_may_step(const struct device_port *port, uint8_t state, uint8_t physical);
/* Makes a step that link_may_step() allowed; no effect at port 0. */
void link_step(struct device_port *port, uint8_t state, uint8_t physical);
/* As device_next_us(), of all links. */
uint64_t link_next_us(const struct device *device);
/* As device_tick(), of all links. */
void link_tick(struct device *device, uint64_t now_us);
/* Takes both ends down, without a Set(). They poll, but no training begins. */
void link_drop(struct device_port *port);
/* Begins the training if both ends are ready for it. */
void link_try(struct device_port *port);

/* Events for the port's SM; dropped while no SM is known. */
enum trap_kind {
	TRAP_KIND_LINK_STATE,
	TRAP_KIND_LOCAL_CHANGES,
	TRAP_KIND_SYSTEM_IMAGE,
	TRAP_KIND_LINK_INTEGRITY,
	TRAP_KIND_BUFFER_OVERRUN,
	TRAP_KIND_FLOW_CONTROL,
	TRAP_KIND_BAD_M_KEY,
	TRAP_KIND_BAD_P_KEY,
	TRAP_KIND_BAD_Q_KEY,
	TRAP_KIND_SWITCH_BAD_P_KEY,
	TRAP_KINDS
};
/* Sends the trap of this kind, or queues it behind the last. local_changes: enum local_change, for
 * TRAP_KIND_LOCAL_CHANGES. */
void trap_raise(struct device_port *port, enum trap_kind kind, uint16_t local_changes);
/* The last four kinds, with the trap's details of the packet. */
void trap_bad_key(struct device_port *port, enum trap_kind kind,
		  const union notice_details *details);
/* A TrapRepress() arrived through a port of device; ends the trap with its TID. */
void trap_repressed(struct device *device, struct device_port *in, const uint8_t *mad);

#endif
