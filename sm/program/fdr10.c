/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * FDR10 of Mellanox devices: ExtendedPortInfo (0xFF90), with the values of OpenSM's option
 * (osm_link_mgr.c). The Set() has StateChangeEnable 1, and LinkSpeedEnabled with or without FDR10.
 * Newer devices have more vendor fields in the attribute, so it is read immediately before and
 * these fields are sent back unchanged. A link takes the speed at its next training. The run does
 * not wait for it.
 */
#include "sm/program/parts.h"

#include <errno.h>
#include <string.h>

static uint8_t fdr10_wanted(const struct program *program, const struct ext_port_info *held)
{
	return program->options->fdr10 == FDR10_ENABLE ? held->link_speed_enabled | MLNX_FDR10
						       : held->link_speed_enabled & ~MLNX_FDR10;
}

bool fdr10_differs(const struct program *program, const struct port *port)
{
	const struct ext_port_info *held = &port_facts(port)->ext;

	return program->options->fdr10 != FDR10_NOT_USED && port_facts(port)->ext_known &&
	       held->link_speed_supported & MLNX_FDR10 &&
	       !(port->refuses & PORT_REFUSES_SET_EXT_INFO) &&
	       held->link_speed_enabled != fdr10_wanted(program, held);
}

/* A device that refuses it, or stores another value, gets no more such requests before it passes
 * INIT. */
static void note_refusal(struct program *program, struct port *port)
{
	port->refuses |= PORT_REFUSES_SET_EXT_INFO;
	program_note_refusal(program, port);
}

static void was_set(void *owner, void *subject, const struct smp_request *request,
		    const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct ext_port_info held;

	(void)request;
	port->program.busy = false;
	if (answer->error == -ECANCELED)
		return;
	if (answer->error || status_is_busy(answer->status)) {
		program->report.failed++; /* the next sweep retries */
		return;
	}
	if (answer->status) {
		note_refusal(program, port);
	} else {
		attr_decode(&ext_port_info_format, answer->data, &held);
		port_set_ext_info(program->fabric, port, &held);
		if (fdr10_differs(program, port))
			note_refusal(program, port);
	}
	program_look_at(program, port);
}

static void fdr10_was_read(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct smp_request set = {.method = METHOD_SET,
				  .attr_id = ATTR_MLNX_EXT_PORT_INFO,
				  .attr_mod = port->num,
				  .done = was_set,
				  .owner = program,
				  .subject = port};
	struct ext_port_info held;

	if (answer->error || answer->status) {
		was_set(owner, subject, request, answer);
		return;
	}
	attr_decode(&ext_port_info_format, answer->data, &held);
	port_set_ext_info(program->fabric, port, &held);
	if (!fdr10_differs(program, port) || program->stopped) {
		port->program.busy = false;
		program_look_at(program, port);
		return;
	}
	held.state_change_enable = 1;
	held.link_speed_enabled = fdr10_wanted(program, &held);
	memcpy(set.data, answer->data, sizeof(set.data));
	format_encode(&ext_port_info_format, &held, set.data);
	window_submit(&port_agent(port)->target, &set);
}

bool fdr10_request(struct program *program, struct port *port, struct smp_request *out)
{
	if (!fdr10_differs(program, port))
		return false;
	*out = (struct smp_request){.method = METHOD_GET,
				    .attr_id = ATTR_MLNX_EXT_PORT_INFO,
				    .attr_mod = port->num,
				    .done = fdr10_was_read,
				    .owner = program,
				    .subject = port};
	port->program.busy = true;
	return true;
}
