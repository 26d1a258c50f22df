/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The names of the series of perf metrics about ports. Besides those of weft, there are the names
 * and labels of two exporters that many sites have, so that their dashboards and alert rules work
 * without the exporter. Private to pm/. Pure.
 */
#ifndef PM_NAMES_H
#define PM_NAMES_H

#include <stdio.h>

#include "pm/context.h"

struct family;

/* A port for a family of series, which writes its lines. */
struct series {
	FILE *file;
	const struct family *family;
	const struct view *view;
	const struct pm_agent *agent;
	const struct pm_port *port;
	uint8_t num;
};

/* All series of a name. Prometheus wants their lines together, so there is a pass over all ports
 * for each family. */
struct family {
	const char *name, *type, *help;
	void (*put)(const struct series *series);
	enum { PORTS_ALL, PORTS_SWITCH, PORTS_ADAPTER } kinds;
	unsigned value; /* for put(): what it writes */
};

/* A list of names. */
struct naming {
	const char *word; /* --names */
	const struct family *families;
	size_t count;
	bool has_own; /* also figures of the manager */
};

/* The speed of a lane in Gb/s with its encoding, as infiniband-diags prints it, for the nominal
 * rate of a lane: 25.78125 for 250. Other rates are nominal. */
double naming_lane_gbps(unsigned deci_gbps);

extern const struct naming naming_weft, naming_treydock, naming_guilbaults;

#endif
