/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps of a directed route. A route has up to three parts. The first is by LID to the switch
 * where the directed part begins (DrSLID is not permissive), the second port by port along the
 * initial path. The third is by LID from its end to the agent (DrDLID is not permissive). The hop
 * pointer is the position in the directed part: 0 before it, hop count + 1 behind it. The answer
 * takes the same way back, along the return path, with the pointer going down.
 */
#include "sim/route_smp.h"

#include "lib/be.h"
#include "mad/mad.h"

enum { STATUS_OFFSET = 4, HOP_POINTER_OFFSET = 6, HOP_COUNT_OFFSET = 7, DIRECTION_BIT = 0x80 };

/* The part by LID, if there is one. Only a switch can convert a packet that arrived by port into a
 * packet by LID; without hops the node is the source. */
static enum smp_way leave_route(const uint8_t *mad, unsigned lid_offset, bool at_switch, lid_t *lid)
{
	lid_t to = be16_load(mad + lid_offset);

	if (to == LID_PERMISSIVE)
		return SMP_HERE;
	if (!at_switch && mad[HOP_COUNT_OFFSET])
		return SMP_BAD;
	*lid = to;
	return SMP_BY_LID;
}

static enum smp_way step_forward(uint8_t *mad, bool at_switch, uint8_t in_port, uint8_t *out_port,
				 lid_t *lid)
{
	uint8_t *pointer = mad + HOP_POINTER_OFFSET;
	uint8_t count = mad[HOP_COUNT_OFFSET];

	if (*pointer == count + 1)
		return SMP_HERE;
	if (*pointer > count || (*pointer && *pointer < count && !at_switch))
		return SMP_BAD;
	if (*pointer)
		mad[SMP_RETURN_PATH_OFFSET + *pointer] = in_port;
	++*pointer;
	if (*pointer > count)
		return leave_route(mad, SMP_DR_DLID_OFFSET, at_switch, lid);
	*out_port = mad[SMP_INITIAL_PATH_OFFSET + *pointer];
	/* An adapter does not forward: it sends by its own port. */
	return at_switch || *out_port == in_port ? SMP_OUT_PORT : SMP_BAD;
}

static enum smp_way step_back(uint8_t *mad, bool at_switch, uint8_t in_port, uint8_t *out_port,
			      lid_t *lid)
{
	uint8_t *pointer = mad + HOP_POINTER_OFFSET;
	uint8_t count = mad[HOP_COUNT_OFFSET];
	bool begins = *pointer == count + 1;

	if (!*pointer)
		return SMP_HERE;
	if (*pointer > count + 1 || (*pointer > 1 && !begins && !at_switch))
		return SMP_BAD;
	--*pointer;
	if (!*pointer)
		return leave_route(mad, SMP_DR_SLID_OFFSET, at_switch, lid);
	*out_port = mad[SMP_RETURN_PATH_OFFSET + *pointer];
	return at_switch || *out_port == in_port ? SMP_OUT_PORT : SMP_BAD;
}

enum smp_way directed_step(uint8_t mad[MAD_SIZE], bool at_switch, uint8_t in_port,
			   uint8_t *out_port, lid_t *lid)
{
	if (mad[HOP_COUNT_OFFSET] > HOPS_MAX)
		return SMP_BAD;
	if (mad[STATUS_OFFSET] & DIRECTION_BIT)
		return step_back(mad, at_switch, in_port, out_port, lid);
	return step_forward(mad, at_switch, in_port, out_port, lid);
}
