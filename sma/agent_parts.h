/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Between the files of the software agent: what a request is to them, the functions that stand in
 * the table of attributes in agent.c, and what the state of links and the traps ask of each other.
 */
#ifndef SMA_AGENT_PARTS_H
#define SMA_AGENT_PARTS_H

#include "mad/mad.h"
#include "mad/notice.h"
#include "sma/agent.h"

/* A Get() or Set() under way. */
struct agent_request {
	struct device *device;
	struct device_port
		*in; /* where it came in: also whom a modifier of 0 means at an adapter */
	uint32_t attr_mod;
	uint8_t *data;	  /* SMP_DATA_SIZE bytes, of a performance MAD PERF_DATA_SIZE */
	uint8_t about;	  /* the port that a Set() was about, for the owner */
	bool hides_m_key; /* from who has asked: agent_m_key.c */
};

/*
 * Get() fills the data, which is all zero; Set() applies it, all or nothing. Both return a status
 * word. After a Set() that was applied, the answer is what a Get() says then.
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

/* A Get() or Set() of class 4, whose data is replaced by the answer's; returns a status word. */
uint16_t perf_answer(uint16_t attr_id, bool is_set, struct agent_request *request);

/* How many blocks a table is asked and set in. */
static inline unsigned table_blocks(unsigned entries, unsigned per_block)
{
	return (entries + per_block - 1) / per_block;
}

/* A time of device_tick() that is not known yet: at the next tick it begins. */
#define STARTS_NOW UINT64_C(1)

/* After a reset; what is in ROM stays. */
void port_reset(struct device_port *port);
void switch_reset(struct device *device);
void tables_reset(struct device_port *port);
void ext_port_info_reset(struct device_port *port);
void traps_reset(struct device_port *port);

/* agent_m_key.c: may this SMP be acted on, whatever it asks for? If not it is as if it had never
 * come, but for the violation that was counted. Sets hides_m_key. */
bool m_key_admits(struct agent_request *request, const struct mad_header *header,
		  const uint8_t *mad);
void m_key_reset(struct device_port *port);
/* As device_next_us() and device_tick(), of one end port. */
uint64_t m_key_next_us(const struct device_port *port);
void m_key_tick(struct device_port *port, uint64_t now_us);

/* Is this step of PortState and PortPhysicalState, as a Set() has them, allowed now? */
bool link_may_step(const struct device_port *port, uint8_t state, uint8_t physical);
void link_step(struct device_port *port, uint8_t state, uint8_t physical);
/* As device_next_us() and device_tick(), of all links. */
uint64_t link_next_us(const struct device *device);
void link_tick(struct device *device, uint64_t now_us);
/* Down at both ends, by no Set(). They poll, but nothing begins to train. */
void link_drop(struct device_port *port);
/* Begins training when both ends are ready for it. */
void link_try(struct device_port *port);

/* Something that the port's SM should know; told nobody while no SM is known. */
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
void trap_raise(struct device_port *port, enum trap_kind kind, uint16_t local_changes);
/* The last four kinds, with what their trap tells of the packet. */
void trap_bad_key(struct device_port *port, enum trap_kind kind,
		  const union notice_details *details);
/* A TrapRepress() came in through a port of device. */
void trap_repressed(struct device *device, struct device_port *in, const uint8_t *mad);

#endif
