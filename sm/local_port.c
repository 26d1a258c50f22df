/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A link that was ACTIVE and has another state now has been down, even if it has trained again. In
 * between other managers may have elected another MASTER, and the first switch may have been reset.
 * Then this manager gives up its role at once, as a sweep would, but without waiting for
 * unreachable devices. If the link of a manager that is not MASTER returns, a sweep begins at once,
 * without the delay that grows with each failed sweep. Another LID or MasterSMLID of the local port
 * is the sign of another manager, and a sweep finds it. During a sweep nothing is read here, and a
 * STANDBY notices changes by polling its master.
 *
 * If the link stays down or the device disappears, weftd changes to a port of failover_ports whose
 * link is up. Without a device nothing is swept, and the live model stays as it is. With a device,
 * or on the other port, everything begins with DISCOVERING.
 */
#include "sm/local_port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "sm/context.h"

enum { LOOK_US = 500000, DOWNS_MAX = 4 };

static const struct log_subject device_subject = {.message_id = MESSAGE_DEVICE};

static void link_was_lost(struct sm *sm, const struct port *port, bool down)
{
	struct log_subject subject = port_subject(port, NULL);
	const char *reason =
		down ? "the link of the local port is down" : "the link of the local port was down";

	log_about(LOG_WARNING, &subject, "%s port %u: %s", sm->transport->port.ca,
		  sm->transport->port.port, reason);
	if (peers_role(sm->peers) == SM_MASTER)
		peers_port_down(sm->peers, reason);
	else
		trigger_heavy(&sm->trigger, reason);
}

static bool may_look(const struct sm *sm)
{
	enum sm_state role = peers_role(sm->peers);

	return (role == SM_MASTER || role == SM_DISCOVERING) && !sm->sweep.running &&
	       !sm->trigger.wanted && !sm->stopped && !sm->transport->gone;
}

static void local_port_answered(void *owner, void *subject, const struct smp_request *request,
				const struct smp_answer *answer)
{
	struct sm *sm = owner;
	struct port *port = subject;
	uint8_t before = port_state_of(port);
	struct port_info info;

	(void)request;
	sm->local_port.under_way = false;
	if (answer->error || answer->status || port != sm->fabric->sm_port || !may_look(sm) ||
	    sm->sweep.last.number != sm->local_port.sweep)
		return;
	attr_decode(&port_info_format, answer->data, &info);
	sm->local_port.downs = info.port_state < PORT_INIT ? sm->local_port.downs + 1 : 0;
	if (sm->local_port.downs >= DOWNS_MAX && transport_move(sm->transport))
		return;
	if (info.port_state < PORT_INIT && before >= PORT_INIT)
		link_was_lost(sm, port, true);
	else if (info.port_state == PORT_INIT && before > PORT_INIT)
		link_was_lost(sm, port, false);
	else if (info.port_state >= PORT_INIT && before < PORT_INIT)
		trigger_heavy(&sm->trigger, "the link of the local port came up");
	else if (info.lid != port_info(port)->lid ||
		 info.master_sm_lid != port_info(port)->master_sm_lid)
		trigger_heavy(&sm->trigger, "the local port has another LID or MasterSMLID");
}

/* A switch's port 0 has no link. */
static void local_port_read(void *arg)
{
	struct sm *sm = arg;
	struct port *port = sm->fabric->sm_port;
	struct smp_request request = {.method = METHOD_GET,
				      .attr_id = ATTR_PORT_INFO,
				      .attempts = 1,
				      .done = local_port_answered,
				      .owner = sm,
				      .subject = port};

	loop_timer_arm(&sm->local_port.timer, LOOK_US);
	if (!port || !port->num || !port_facts(port)->known || sm->local_port.under_way ||
	    !may_look(sm))
		return;
	request.attr_mod = port_info_modifier(port);
	sm->local_port.under_way = true;
	sm->local_port.sweep = sm->sweep.last.number;
	window_submit(&port_agent(port)->target, &request);
}

static void local_port_device_gone(void *ctx, int error)
{
	struct sm *sm = ctx;
	char text[SWEEP_TEXT_SIZE];

	if (error == -ENETDOWN)
		snprintf(text, sizeof(text),
			 "the link of %s port %u stays down: changing to another local port",
			 sm->transport->port.ca, sm->transport->port.port);
	else
		snprintf(text, sizeof(text),
			 "the device of %s port %u has disappeared (%s): waiting until it returns",
			 sm->transport->port.ca, sm->transport->port.port, strerror(abs(error)));
	log_about(LOG_ERR, &device_subject, "%s", text);
	peers_port_down(sm->peers, "the local port has disappeared");
	if (sm->report)
		sm->report(sm->report_ctx, error, false, text);
}

static void device_back(void *ctx)
{
	struct sm *sm = ctx;
	const struct transport_port *port = &sm->transport->port;

	log_about(LOG_NOTICE, &device_subject,
		  "the manager now runs on %s port %u, GUID 0x%016" PRIx64, port->ca, port->port,
		  port->port_guid);
	sm->local_port.downs = 0;
	sm->fabric->own_guid = port->port_guid;
	trigger_heavy(&sm->trigger, "the local port has returned");
}

void local_port_init(struct sm *sm)
{
	txn_on_gone(sm->txns, local_port_device_gone, device_back, sm);
	loop_timer_init(&sm->local_port.timer, sm->loop, "local port", local_port_read, sm);
}

void local_port_start(struct sm *sm)
{
	loop_timer_arm(&sm->local_port.timer, LOOK_US);
}

void local_port_done(struct sm *sm)
{
	txn_on_gone(sm->txns, NULL, NULL, NULL);
	loop_timer_disarm(&sm->local_port.timer);
}
