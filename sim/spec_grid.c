/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switches at the points of a grid. In a torus, mesh or ring a switch is cabled to its neighbours
 * in each dimension; in a hyperx or hypercube it is cabled to all others of a line.
 *
 * Ports after those of the hosts: in a torus or mesh two for each dimension, first to the higher
 * and then to the lower coordinate. In a hyperx a port for each other coordinate of a dimension, in
 * ascending order. In a dimension of size 2 a torus has one cable, not two in parallel. A hypercube
 * is a hyperx whose sizes are all 2.
 */
#include "sim/spec_family.h"

#include <inttypes.h>
#include <stdio.h>

/* Stops far beyond the limit of a subnet, long before an overflow. */
static uint64_t product_of_dims(const struct spec *spec)
{
	uint64_t product = 1;

	for (unsigned d = 0; d < spec->dim_count && product <= LID_UNICAST_MAX; d++)
		product *= spec->dims[d];
	return product;
}

static int plan_grid(struct spec *spec, uint64_t switches, unsigned links_each)
{
	unsigned hosts = spec->number[KEY_HOSTS];

	if (hosts + links_each > PORT_MAX)
		return spec_fail(spec,
				 "hosts=%u + %u links to other switches need %u ports, but a "
				 "switch has at most %d",
				 hosts, links_each, hosts + links_each, PORT_MAX);
	spec->switches = spec->host_switches = switches;
	spec->hosts_each = hosts;
	spec->switch_ports = hosts + links_each;
	return 0;
}

int torus_plan(struct spec *spec)
{
	return plan_grid(spec, product_of_dims(spec), 2 * spec->dim_count);
}

int ring_plan(struct spec *spec)
{
	spec->dims[0] = spec->number[KEY_SWITCHES];
	spec->dim_count = 1;
	return torus_plan(spec);
}

int hyperx_plan(struct spec *spec)
{
	unsigned links_each = 0;

	for (unsigned d = 0; d < spec->dim_count; d++)
		links_each += spec->dims[d] - 1;
	return plan_grid(spec, product_of_dims(spec), links_each);
}

int hypercube_plan(struct spec *spec)
{
	while (spec->dim_count < spec->number[KEY_DIM])
		spec->dims[spec->dim_count++] = 2;
	return hyperx_plan(spec);
}

/* sw-x1y2z0; coordinates are padded, so that names sort. */
void grid_name(const struct spec *spec, unsigned index, char *name, size_t size)
{
	size_t used = snprintf(name, size, "sw-");

	for (unsigned d = 0; d < spec->dim_count; d++) {
		int digits = spec->dims[d] <= 10 ? 1 : spec_digits(spec->dims[d] - 1);

		used += snprintf(name + used, size - used, "%c%0*u", "xyzuvw"[d], digits,
				 index % spec->dims[d]);
		index /= spec->dims[d];
	}
}

/* sw-0110: one digit for each dimension. */
void hypercube_name(const struct spec *spec, unsigned index, char *name, size_t size)
{
	size_t used = snprintf(name, size, "sw-");

	for (unsigned bit = spec->dim_count; bit-- > 0;)
		used += snprintf(name + used, size - used, "%u", index >> bit & 1);
}

/* The neighbours of a switch along one dimension are stride apart. */
static void wire_steps(struct spec *spec, unsigned d, unsigned stride, bool wrap)
{
	unsigned port = spec->hosts_each + 2 * d + 1, size = spec->dims[d];

	for (unsigned i = 0; i < spec->switches; i++) {
		unsigned coordinate = i / stride % size;

		if (coordinate + 1 < size)
			spec_cable(spec, i, port, i + stride, port + 1);
		else if (wrap && size > 2)
			spec_cable(spec, i, port, i - coordinate * stride, port + 1);
	}
}

static void wire_grid(struct spec *spec, bool wrap)
{
	unsigned stride = 1;

	for (unsigned d = 0; d < spec->dim_count; d++) {
		wire_steps(spec, d, stride, wrap);
		stride *= spec->dims[d];
	}
}

void torus_wire(struct spec *spec)
{
	wire_grid(spec, true);
}

void mesh_wire(struct spec *spec)
{
	wire_grid(spec, false);
}

/* Of two switches on a line, the switch with the lower coordinate has no port for its own
 * coordinate, so its number is lower by 1. */
static void wire_line(struct spec *spec, unsigned first_port, unsigned size, unsigned stride)
{
	for (unsigned i = 0; i < spec->switches; i++) {
		unsigned here = i / stride % size;

		for (unsigned there = here + 1; there < size; there++)
			spec_cable(spec, i, first_port + there - 1, i + (there - here) * stride,
				   first_port + here);
	}
}

void hyperx_wire(struct spec *spec)
{
	unsigned port = spec->hosts_each + 1, stride = 1;

	for (unsigned d = 0; d < spec->dim_count; d++) {
		wire_line(spec, port, spec->dims[d], stride);
		port += spec->dims[d] - 1;
		stride *= spec->dims[d];
	}
}
