/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of `weftsim do` that show the state of agents and counters. They only read, except
 * that `stats reset` clears the counters. On the server's thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/mem.h"
#include "sim/capture.h"
#include "sim/do.h"
#include "sim/find.h"
#include "sim/hca.h"

static int show_find_node(struct do_call *call, struct device **out)
{
	char error[FIND_ERROR_SIZE];

	return find_node(call->world, call->words[0], out, error) ? do_fail(call, "%s", error) : 0;
}

static int named_switch(struct do_call *call, struct device **out)
{
	struct device *device;
	int r = show_find_node(call, &device);

	if (r)
		return r;
	if (!device_is_switch(device))
		return do_fail(call, "%s is no switch and has no forwarding table",
			       find_name(device));
	*out = device;
	return 0;
}

static const char *show_value_name(const char *const *names, size_t count, unsigned value)
{
	return value < count && names[value] ? names[value] : "?";
}

/* A node */

static void do_print_port(FILE *out, const struct device_port *port)
{
	static const char *const states[] = {"?", "Down", "Init", "Armed", "Active"};
	static const char *const physical[] = {"?",	   "Sleep",  "Polling",	     "Disabled",
					       "Training", "LinkUp", "ErrorRecovery"};
	const struct port_info *info = &port->info;
	bool up = info->port_physical_state == PHYS_LINK_UP && port->num;
	char speed[24] = "-", lid[16] = "-";

	if (up)
		port_speed_text(info, &port->ext, speed);
	if (device_port_is_end(port))
		snprintf(lid, sizeof(lid), "%u", info->lid);
	fprintf(out, "%4u  %-6s  %-8s  %-8s  %5s  %5u  ", port->num,
		show_value_name(states, ARRAY_SIZE(states), info->port_state),
		port->num
			? show_value_name(physical, ARRAY_SIZE(physical), info->port_physical_state)
			: "-",
		speed, lid, mtu_bytes(info->neighbor_mtu));
	if (port->peer)
		fprintf(out, "%s %u%s\n", find_name(port->peer->device), port->peer->num,
			port->pulled ? " (pulled)" : "");
	else
		fprintf(out, "-\n");
}

int do_show(struct do_call *call)
{
	static const char *const types[] = {
		[NODE_CA] = "adapter", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"};
	char description[NODE_DESC_SIZE + 1];
	struct device *device;
	int r = show_find_node(call, &device);

	if (r)
		return r;
	fprintf(call->out, "%s: %s \"%s\", GUID 0x%016" PRIx64 ", %u ports, %" PRIu64 " SMPs\n",
		find_name(device), show_value_name(types, ARRAY_SIZE(types), device->type),
		description_text(&device->description, description), device->node_guid,
		device->num_ports, world_agent_smps(device));
	fprintf(call->out, "port  state   physical  speed       LID    MTU  cable to\n");
	for (unsigned p = 0; p <= device->num_ports; p++) {
		if (device_port(device, p))
			do_print_port(call->out, &device->port[p]);
	}
	return 0;
}

int do_pkeys(struct do_call *call)
{
	char error[FIND_ERROR_SIZE];
	struct device_port *port;
	struct device *device;
	int r = show_find_node(call, &device);

	if (r)
		return r;
	if (find_port(device, call->words[1], &port, error))
		return do_fail(call, "%s", error);
	for (unsigned i = 0; i < device_p_key_cap(port); i++) {
		pkey_t key = device_p_key(port, i);

		if (key)
			fprintf(call->out, "%3u  0x%04x %s\n", i, key,
				key & PKEY_FULL_MEMBER ? "full" : "limited");
	}
	return 0;
}

/* Tables of a switch */

int do_lft(struct do_call *call)
{
	struct device *device;
	int r = named_switch(call, &device);

	if (r)
		return r;
	fprintf(call->out, "# LinearFDBTop %u\n", device->sw.linear_fdb_top);
	for (unsigned lid = LID_UNICAST_MIN; lid <= LID_UNICAST_MAX; lid++) {
		uint8_t port = device_lft_port(device, lid);

		if (port != LFT_NO_PORT)
			fprintf(call->out, "%5u  %3u\n", lid, port);
	}
	return 0;
}

int do_mft(struct do_call *call)
{
	struct device *device;
	int r = named_switch(call, &device);

	if (r)
		return r;
	for (unsigned mlid = LID_MULTICAST_MIN;
	     mlid < LID_MULTICAST_MIN + (unsigned)device->sw.multicast_fdb_cap; mlid++) {
		bool any = false;

		for (unsigned p = 0; p <= device->num_ports; p++) {
			if (!device_mft_has(device, mlid, p))
				continue;
			if (!any)
				fprintf(call->out, "0x%04x ", mlid);
			any = true;
			fprintf(call->out, " %u", p);
		}
		if (any)
			fprintf(call->out, "\n");
	}
	return 0;
}

/* Clients */

int do_clients(struct do_call *call)
{
	struct {
		unsigned ports, told;
	} *of = mem_array(LID_UNICAST_MAX + 1, sizeof(*of));
	struct device *const *devices;
	size_t count = world_devices(call->world, &devices);

	for (size_t i = 0; i < count; i++) {
		for (unsigned p = 1; p <= devices[i]->num_ports; p++) {
			const struct device_port *port = &devices[i]->port[p];

			if (device_is_switch(devices[i]) || port->info.port_state != PORT_ACTIVE ||
			    port->info.master_sm_lid > LID_UNICAST_MAX)
				continue;
			of[port->info.master_sm_lid].ports++;
			of[port->info.master_sm_lid].told += port->reregistrations > 0;
		}
	}
	fprintf(call->out, "MasterSMLID  ports  ClientReregister\n");
	for (unsigned lid = 0; lid <= LID_UNICAST_MAX; lid++)
		if (of[lid].ports)
			fprintf(call->out, "%11u  %5u  %5u\n", lid, of[lid].ports, of[lid].told);
	free(of);
	return 0;
}

/* Virtual machines */

static void show_vm(FILE *out, const struct device *device, struct hca *hca)
{
	const struct hca_counts *counts = hca_counts(hca);
	const char *separator = "  refused: ";

	fprintf(out,
		"%-16s %-8s %6" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		" %9" PRIu64 "\n",
		find_name(device), hca_is_started(hca) ? "started" : "none", counts->starts,
		counts->requests, counts->sent, counts->received, counts->unread,
		counts->malformed);
	for (int refusal = HCA_ACCEPTED + 1; refusal < HCA_REFUSALS; refusal++) {
		if (!counts->refused[refusal])
			continue;
		fprintf(out, "%s%s %" PRIu64, separator, hca_refusal_name(refusal),
			counts->refused[refusal]);
		separator = ", ";
	}
	if (*separator == ',')
		fprintf(out, "\n");
}

int do_vms(struct do_call *call)
{
	struct device *const *devices;
	size_t count = world_devices(call->world, &devices);

	fprintf(call->out, "%-16s %-8s %6s %9s %9s %9s %9s %9s\n", "node", "driver", "starts",
		"requests", "sent", "received", "unread", "malformed");
	for (size_t i = 0; i < count; i++) {
		struct hca *hca = hca_of(devices[i]);

		if (hca)
			show_vm(call->out, devices[i], hca);
	}
	return 0;
}

/* A capture: Wireshark gets the time of the day. */

static uint64_t epoch_us(const struct world *world)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 - world_now_us(world);
}

static int end_capture(struct do_call *call)
{
	uint64_t packets = 0;
	int r = world_capture_end(call->world, &packets);

	if (r == -ENOENT)
		return do_fail(call, "nothing is captured");
	if (r)
		return do_fail(call, "the file could not be written: %s; it has the first packets",
			       strerror(-r));
	fprintf(call->out, "%" PRIu64 " packets\n", packets);
	return 0;
}

int do_capture(struct do_call *call)
{
	char error[FIND_ERROR_SIZE];
	struct device *device = NULL;
	int file = call->file, port = 0;

	if (!strcmp(call->words[0], "off"))
		return call->words[1] ? do_fail(call, "capture off: no NODE is needed")
				      : end_capture(call);
	if (call->words[1] && find_place(call->world, call->words[1], &device, &port, error))
		return do_fail(call, "%s", error);
	call->file = -1;
	if (world_capture_begin(call->world, file, device, port > 0 ? (uint8_t)port : 0,
				epoch_us(call->world)))
		return do_fail(call, "%.200s is no regular file", call->words[0]);
	return 0;
}

/* Counters: those that are 0 are omitted, except the first. */

static void show_count(FILE *out, const char *name, uint64_t count)
{
	if (count)
		fprintf(out, "%-34s %12" PRIu64 "\n", name, count);
}

static void show_attributes(FILE *out, const struct world_stats *stats)
{
	fprintf(out, "%-34s %12s %12s\n", "SMPs at agents", "Get", "Set");
	for (unsigned id = 0; id <= WORLD_ATTRS; id++) {
		const struct format *format = attr_format(id);
		char name[16];

		if (!stats->gets[id] && !stats->sets[id])
			continue;
		snprintf(name, sizeof(name), id < WORLD_ATTRS ? "0x%04x" : "others", id);
		fprintf(out, "  %-32s %12" PRIu64 " %12" PRIu64 "\n",
			format && id < WORLD_ATTRS ? format->name : name, stats->gets[id],
			stats->sets[id]);
	}
}

static void show_world(FILE *out, const struct world_stats *stats)
{
	const struct {
		const char *name;
		uint64_t count;
	} rows[] = {
		{"traps", stats->traps},
		{"data packets delivered", stats->data},
		{"dropped by a fault", stats->dropped_by_fault},
		{"dropped: VL15 overflow", stats->dropped_vl15},
		{"dropped: no route", stats->dropped_no_route},
		{"dropped: link down", stats->dropped_link_down},
		{"dropped: hop limit", stats->dropped_hop_limit},
		{"dropped: no program there", stats->dropped_no_client},
		{"dropped: malformed", stats->dropped_malformed},
		{"dropped: agent is dead", stats->dropped_silent},
		{"dropped: MTU or VLs differ", stats->dropped_mismatch},
		{"dropped: bad P_Key", stats->dropped_p_key},
		{"dropped: bad Q_Key", stats->dropped_q_key},
		{"dropped: multicast in a circle", stats->dropped_circle},
		{"dropped: VL not operational", stats->dropped_vl},
		{"dropped: longer than the MTU", stats->dropped_mtu},
		{"dropped: no queue pair there", stats->dropped_no_qp},
		{"dropped: unread by its VM", stats->dropped_unread},
		{"dropped: too many copies", stats->dropped_copies},
		{"duplicated", stats->duplicated},
		{"delayed", stats->delayed},
	};

	fprintf(out, "%-34s %12" PRIu64 "\n%-34s %12" PRIu64 "\n", "SMPs delivered", stats->smps,
		"GMPs delivered", stats->gmps);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		show_count(out, rows[i].name, rows[i].count);
}

static void show_kernels(FILE *out, const struct kernel_stats *stats)
{
	const struct {
		const char *name;
		uint64_t count;
	} rows[] = {
		{"programs: MADs sent", stats->sent},
		{"programs: MADs received", stats->received},
		{"programs: timed out", stats->timed_out},
		{"programs: sent again", stats->retried},
		{"programs: writes refused", stats->refused},
		{"programs: answers to nothing", stats->unmatched},
		{"programs: requests without agent", stats->unclaimed},
		{"programs: dropped unread", stats->dropped_unread},
		{"RMPP messages sent", stats->rmpp_sent},
		{"RMPP messages received", stats->rmpp_received},
		{"RMPP segments sent again", stats->rmpp_resent},
		{"RMPP messages aborted", stats->rmpp_aborted},
		{"RMPP segments malformed", stats->rmpp_malformed},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		show_count(out, rows[i].name, rows[i].count);
}

int do_stats(struct do_call *call)
{
	struct kernel_stats kernels;

	if (call->words[0]) {
		if (strcmp(call->words[0], "reset"))
			return do_fail(call, "stats: \"%.40s\" is not reset, the only word here",
				       call->words[0]);
		world_reset_stats(call->world);
		kernel_reset_stats(call->kernel);
		return 0;
	}
	kernel_sum_stats(call->kernel, &kernels);
	show_world(call->out, world_stats(call->world));
	show_attributes(call->out, world_stats(call->world));
	show_kernels(call->out, &kernels);
	return 0;
}
