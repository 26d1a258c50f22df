/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fat trees of two to four levels from switches of one radix k: half of the ports of a switch go
 * down and half go up. All ports of a top switch go down. A tree of n levels consists of pods with
 * n - 1 levels, which the top switches join. In two levels a pod is a single leaf.
 *
 * Inside a pod a switch is a number of n - 2 digits of base k/2. A switch of level l is cabled to
 * the switches of level l + 1 whose digits are the same except digit l. Its own digit l is the port
 * that it uses there, and theirs is the port that they use here. A top switch is a switch of the
 * pods' highest level and one of its up ports, and its port p belongs to pod p.
 *
 * oversubscription=r gives leaves r ports down for each port up; digit 0 above the leaves then has
 * as many values as a leaf has ports up. With fewer pods or leaves than k the top has unused ports.
 */
#include "sim/spec_family.h"

#include <inttypes.h>
#include <stdio.h>

struct shape {
	unsigned levels;
	unsigned pods;
	unsigned half;		 /* k/2 */
	unsigned down, up;	 /* a leaf's ports */
	unsigned pod_leaves;	 /* switches of level 0 in a pod */
	unsigned pod_inner;	 /* switches of each other level in a pod */
	unsigned top_per_switch; /* up ports of the pods' highest level */
	unsigned top;
};

static unsigned power(unsigned base, unsigned exponent)
{
	unsigned result = 1;

	while (exponent--)
		result *= base;
	return result;
}

/* All products stay below 254 * 127^3. */
static struct shape get_shape(const struct spec *spec)
{
	unsigned radix = spec->number[KEY_RADIX];
	unsigned ratio = spec->number[KEY_OVERSUBSCRIPTION];
	struct shape s = {.levels = spec->number[KEY_LEVELS], .half = radix / 2};
	enum spec_key pods = s.levels == 2 ? KEY_LEAVES : KEY_PODS;

	s.pods = spec->given[pods] ? spec->number[pods] : radix;
	s.up = radix / (ratio + 1);
	s.down = radix - s.up;
	s.pod_leaves = power(s.half, s.levels - 2);
	s.pod_inner = s.levels == 2 ? 0 : s.up * power(s.half, s.levels - 3);
	s.top_per_switch = s.levels == 2 ? s.up : s.half;
	s.top = s.levels == 2 ? s.up : s.pod_inner * s.half;
	return s;
}

int fattree_plan(struct spec *spec)
{
	unsigned radix = spec->number[KEY_RADIX];
	unsigned ratio = spec->number[KEY_OVERSUBSCRIPTION];
	unsigned levels = spec->number[KEY_LEVELS];
	struct shape s = get_shape(spec);

	if (radix % 2)
		return spec_fail(spec, "radix=%u is odd, but half of the ports go down, half up",
				 radix);
	if (spec->given[KEY_PODS] && levels == 2)
		return spec_fail(spec, "pods= is for levels=3 and 4; with levels=2 use leaves=");
	if (spec->given[KEY_LEAVES] && levels > 2)
		return spec_fail(spec, "leaves= is for levels=2; with levels=%u use pods=", levels);
	if (s.pods > radix)
		return spec_fail(spec, "%s=%u, but a top switch has only radix=%u ports, one each",
				 levels == 2 ? "leaves" : "pods", s.pods, radix);
	if (radix % (ratio + 1))
		return spec_fail(spec,
				 "oversubscription=%u: the %u ports of a leaf are no multiple of "
				 "%u + 1",
				 ratio, radix, ratio);
	spec->host_switches = (uint64_t)s.pods * s.pod_leaves;
	spec->hosts_each = s.down;
	spec->switches =
		spec->host_switches + s.top + (uint64_t)s.pods * s.pod_inner * (s.levels - 2);
	spec->switch_ports = radix;
	return 0;
}

/* The index of a level's first switch; pod after pod within a level, and the top at the end. */
static unsigned level_start(const struct shape *s, unsigned level)
{
	return level == 0 ? 0 : s->pods * (s->pod_leaves + (level - 1) * s->pod_inner);
}

static unsigned pod_size(const struct shape *s, unsigned level)
{
	return level == 0 ? s->pod_leaves : s->pod_inner;
}

void fattree_name(const struct spec *spec, unsigned index, char *name, size_t size)
{
	static const char *const inner[][2] = {{"", ""}, {"agg", ""}, {"agg1", "agg2"}};
	struct shape s = get_shape(spec);
	unsigned level = 0, rest, in_pod;

	while (level < s.levels - 1 && index >= level_start(&s, level + 1))
		level++;
	rest = index - level_start(&s, level);
	if (level == s.levels - 1) {
		snprintf(name, size, "%s-%0*u", s.levels == 2 ? "spine" : "core",
			 spec_digits(s.top), rest + 1);
		return;
	}
	if (s.levels == 2) {
		snprintf(name, size, "leaf-%0*u", spec_digits(s.pods), rest + 1);
		return;
	}
	in_pod = pod_size(&s, level);
	snprintf(name, size, "%s-p%0*u-%0*u", level ? inner[s.levels - 2][level - 1] : "leaf",
		 spec_digits(s.pods), rest / in_pod + 1, spec_digits(in_pod), rest % in_pod + 1);
}

/* All cables from one level of a pod to the next level. Digit 0 changes fastest. */
static void wire_levels(struct spec *spec, const struct shape *s, unsigned pod, unsigned level)
{
	unsigned lower = level_start(s, level) + pod * pod_size(s, level);
	unsigned upper = level_start(s, level + 1) + pod * pod_size(s, level + 1);
	unsigned below = level == 0 ? 1 : s->up * power(s->half, level - 1);
	unsigned ups = level == 0 ? s->up : s->half;
	unsigned downs = level == 0 ? s->down : s->half;

	for (unsigned i = 0; i < pod_size(s, level); i++) {
		unsigned low_digits = i % below, digit = i / below % s->half;
		unsigned high_digits = i / below / s->half;

		for (unsigned up = 0; up < ups; up++)
			spec_cable(spec, lower + i, downs + up + 1,
				   upper + low_digits + below * (up + ups * high_digits),
				   digit + 1);
	}
}

static void wire_top(struct spec *spec, const struct shape *s, unsigned pod)
{
	unsigned level = s->levels - 2;
	unsigned lower = level_start(s, level) + pod * pod_size(s, level);
	unsigned top = level_start(s, level + 1);
	unsigned downs = level == 0 ? s->down : s->half;

	for (unsigned i = 0; i < pod_size(s, level); i++)
		for (unsigned up = 0; up < s->top_per_switch; up++)
			spec_cable(spec, lower + i, downs + up + 1,
				   top + i * s->top_per_switch + up, pod + 1);
}

void fattree_wire(struct spec *spec)
{
	struct shape s = get_shape(spec);

	for (unsigned pod = 0; pod < s.pods; pod++) {
		for (unsigned level = 0; level + 2 < s.levels; level++)
			wire_levels(spec, &s, pod, level);
		wire_top(spec, &s, pod);
	}
}
