/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * SMPs that other nodes send to this manager: traps (sm/traps.c) and SMInfo, one row each.
 * Get(SMInfo) is answered in every role. The answer has the SM_Key, because OpenSM ignores a
 * manager with another key or none. But if the local port is unreadable without its M_Key, only a
 * requester with that M_Key gets the SM_Key (chapter 14.4.1). Other requesters get the rest at any
 * protection level, because the election must not depend on M_Keys that are being changed.
 * Set(SMInfo) needs the M_Key.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "include/message_id.h"
#include "lib/be.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sm/context.h"
#include "sm/traps.h"

enum { READABLE = 1 }; /* the highest protection level at which a Get() needs no M_Key */

/* SMInfo */

/* Chapter 14.2.4. No layer below checks the M_Key, because SMInfo belongs to the manager. */
static bool has_our_m_key(const struct sm *sm, const struct smp_rx_request *request)
{
	const struct port *port = sm->fabric->sm_port;
	const struct agent *agent = port ? port_agent(port) : NULL;

	return !agent || agent_m_key_fits(agent, be64_load(request->mad + SMP_M_KEY_OFFSET));
}

/* At levels 0 and 1 a Get() needs no M_Key. So an OpenSM without the M_Key reads the whole fabric.
 * Only our SM_Key prevents it from becoming a second MASTER. */
static bool may_see_sm_key(const struct sm *sm, const struct smp_rx_request *request)
{
	const struct port *port = sm->fabric->sm_port;

	return has_our_m_key(sm, request) || port_info(port)->m_key_protect_bits <= READABLE;
}

static void answer_sm_info(struct sm *sm, const struct smp_rx_request *request,
			   enum mad_status status)
{
	struct mad_header header = *request->header;
	struct sm_info own;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, request->mad, sizeof(mad));
	header.method = METHOD_GET_RESP;
	header.status = status;
	if (header.mgmt_class == CLASS_SUBN_DIRECTED)
		header.status |= 0x8000; /* the D bit: the answer returns on the same route */
	header_encode(&header, mad);
	peers_own_info(sm->peers, &own);
	own.sm_key = may_see_sm_key(sm, request) ? sm->options.sm_key : 0;
	memset(mad + SMP_DATA_OFFSET, 0, SMP_DATA_SIZE);
	format_encode(&sm_info_format, &own, mad + SMP_DATA_OFFSET);
	txn_send(sm->txns, request->from, mad, sizeof(mad));
}

/* The route of a directed request, from this manager to its sender. */
static void way_back(const struct smp_rx_request *request, struct route_path *out)
{
	const uint8_t *came_in = request->mad + SMP_RETURN_PATH_OFFSET;

	*out = (struct route_path){.hops = request->header->hop_count};
	for (unsigned i = 1; i <= out->hops; i++)
		out->port[i] = came_in[out->hops + 1 - i];
}

static bool smp_sender_is_stranger(struct sm *sm, const struct smp_rx_request *request)
{
	struct route_path back;

	if (request->header->mgmt_class != CLASS_SUBN_DIRECTED)
		return !sender_by_lid(sm, request->from->lid);
	if (request->header->hop_count > HOPS_MAX ||
	    be16_load(request->mad + SMP_DR_SLID_OFFSET) != LID_PERMISSIVE)
		return false;
	way_back(request, &back);
	return !fabric_way_ends(sm->fabric, &back);
}

/* A manager at an unknown place has found a path that no port has shown. Another MASTER may have
 * cleared the PortStateChange for it. If that manager ranks higher, it waits until this manager
 * finds it and hands over. */
static void get_sm_info(struct sm *sm, const struct smp_rx_request *request)
{
	sm->counts.sm_info_gets++;
	if (peers_role(sm->peers) == SM_MASTER && smp_sender_is_stranger(sm, request))
		sm_search_stranger(sm, "a request from a manager at an unknown place");
	answer_sm_info(sm, request, STATUS_OK);
}

/* The port that sent a request, according to the model; 0: unknown. The sender writes the return
 * path of a directed request. So a source LID that the network has checked must be that of the same
 * port. */
static guid_t smp_sender(struct sm *sm, const struct smp_rx_request *request)
{
	const struct port *port;
	struct route_path back;

	if (request->header->mgmt_class == CLASS_SUBN_DIRECTED) {
		if (request->header->hop_count > HOPS_MAX)
			return 0;
		way_back(request, &back);
		port = fabric_way_ends(sm->fabric, &back);
		if (!port || !port_agent(port) ||
		    (request->from->lid != LID_NONE && request->from->lid != LID_PERMISSIVE &&
		     sender_by_lid(sm, request->from->lid) != port_agent(port)->port))
			return 0;
		return port_facts(port_agent(port)->port)->guid;
	}
	port = sender_by_lid(sm, request->from->lid);
	return port ? port_facts(port)->guid : 0;
}

static void set_sm_info(struct sm *sm, const struct smp_rx_request *request)
{
	struct log_subject subject = {.message_id = MESSAGE_M_KEY, .lid = request->from->lid};
	struct sm_info sender;
	uint32_t control = request->header->attr_mod;
	guid_t guid = smp_sender(sm, request);

	sm->counts.sm_info_sets++;
	if (!has_our_m_key(sm, request)) { /* a Set() needs the M_Key at any protection level */
		log_limited(
			&sm->keys.limit, LOG_WARNING, &subject,
			"dropped SMInfo control %u from LID %u: its M_Key is not that of the local "
			"port (if it is your manager, give it the same m_key or m_key_secret_file)",
			control, request->from->lid);
		return;
	}
	attr_decode(&sm_info_format, request->mad + SMP_DATA_OFFSET, &sender);
	answer_sm_info(sm, request,
		       peers_control(sm->peers, control, &sender, request->from->lid, guid));
}

static const struct {
	uint8_t method;
	uint16_t attr_id;
	void (*take)(struct sm *sm, const struct smp_rx_request *request);
} rows[] = {
	{METHOD_TRAP, ATTR_NOTICE, traps_receive},
	{METHOD_GET, ATTR_SM_INFO, get_sm_info},
	{METHOD_SET, ATTR_SM_INFO, set_sm_info},
};

static void smp_received(void *ctx, const struct mad_addr *from, const struct mad_header *header,
			 const uint8_t *mad, size_t size)
{
	struct sm *sm = ctx;
	struct smp_rx_request request = {.from = from, .header = header, .mad = mad};

	(void)size; /* at least MAD_SIZE */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].method == header->method && rows[i].attr_id == header->attr_id)
			rows[i].take(sm, &request);
	}
}

void sm_rx_init(struct sm *sm)
{
	sm->stranger_rate = (struct rate){.burst = 2, .interval_us = 60000000};
	txn_handle(sm->txns, CLASS_SUBN_LID, smp_received, sm);
	txn_handle(sm->txns, CLASS_SUBN_DIRECTED, smp_received, sm);
}
