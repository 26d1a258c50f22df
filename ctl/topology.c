/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Exports the fabric in several formats, and compares it with a plan. */
#include "ctl/handlers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/net_compare.h"
#include "formats/net_export.h"
#include "lib/mem.h"

static guid_t guid_member(const json_t *object, const char *name)
{
	return strtoull(text_member(object, name), NULL, 16);
}

static lid_t lid_member(const json_t *object)
{
	long long lid = number_member(object, "lid");

	return lid > 0 && lid <= LID_UNICAST_MAX ? (lid_t)lid : LID_NONE;
}

static uint8_t lmc_member(const json_t *object)
{
	long long lmc = number_member(object, "lmc");

	return lmc > 0 && lmc <= LMC_MAX ? (uint8_t)lmc : 0;
}

/* The ids as ibnetdiscover prints them. */
static const struct {
	const char *name;
	enum node_type type;
	char letter;
} types[] = {{"switch", NODE_SWITCH, 'S'}, {"adapter", NODE_CA, 'H'}, {"router", NODE_ROUTER, 'R'}};

static void add_end_ports(struct net_node *node, const json_t *ports)
{
	const json_t *port;
	size_t i;

	json_array_foreach (ports, i, port) {
		long long number = number_member(port, "port");

		if (number < 1 || number > node->ports)
			continue;
		node->port[number].guid = guid_member(port, "guid");
		node->port[number].lid = lid_member(port);
		node->port[number].lmc = lmc_member(port);
	}
}

/* by_guid has indexes in the net, plus 1. */
static void topology_add_node(struct net *net, struct map *by_guid, const json_t *node)
{
	const char *type = text_member(node, "type");
	guid_t guid = guid_member(node, "guid");
	long long ports = number_member(node, "ports");
	struct net_node *added;
	char id[32];
	size_t t = 0;
	int index;

	while (t < ARRAY_SIZE(types) && strcmp(types[t].name, type) != 0)
		t++;
	if (t == ARRAY_SIZE(types) || !guid || ports < 1 || ports > PORT_MAX)
		return;
	snprintf(id, sizeof(id), "%c-%016" PRIx64, types[t].letter, guid);
	index = net_add_node(net, types[t].type, id, text_name(node), (unsigned)ports);
	if (index < 0)
		return;
	map_put(by_guid, guid, (void *)(uintptr_t)(index + 1));
	added = &net->nodes[index];
	added->guid = guid;
	added->system_guid = guid_member(node, "system_guid");
	added->vendor_id = (uint32_t)number_member(node, "vendor");
	added->device_id = (uint32_t)number_member(node, "device");
	added->enhanced_port0 = flag_member(node, "enhanced_port0");
	if (added->type == NODE_SWITCH) {
		added->port[0].guid = guid_member(node, "port_guid");
		added->port[0].lid = lid_member(node);
		added->port[0].lmc = lmc_member(node);
	}
	add_end_ports(added, json_object_get(node, "end_ports"));
}

/* "4x EDR" is 4xEDR in net files. */
static void rate_port(struct net_port *port, const char *text)
{
	const char *blank = strchr(text, ' ');
	char name[16];

	if (!blank)
		return;
	snprintf(name, sizeof(name), "%.*s%s", (int)(blank - text), text, blank + 1);
	port->rated = net_rate_parse(name, strlen(name), &port->rate);
}

static void topology_add_link(struct net *net, const struct map *by_guid, const json_t *link)
{
	const json_t *from = json_object_get(link, "from"), *to = json_object_get(link, "to");
	int near = (int)(uintptr_t)map_get(by_guid, guid_member(from, "guid")) - 1;
	int far = (int)(uintptr_t)map_get(by_guid, guid_member(to, "guid")) - 1;
	long long near_port = number_member(from, "port"), far_port = number_member(to, "port");

	if (near_port < 1 || near_port > PORT_MAX || far_port < 1 || far_port > PORT_MAX ||
	    net_connect(net, near, (unsigned)near_port, far, (unsigned)far_port))
		return;
	rate_port(&net->nodes[near].port[near_port], text_member(link, "width_speed"));
	rate_port(&net->nodes[far].port[far_port], text_member(link, "width_speed"));
}

struct net *topology_net(const json_t *document)
{
	struct net *net = net_new();
	struct map by_guid;
	const json_t *item;
	size_t i;

	map_init(&by_guid);
	json_array_foreach (json_object_get(document, "nodes"), i, item) {
		topology_add_node(net, &by_guid, item);
	}
	json_array_foreach (json_object_get(document, "links"), i, item) {
		topology_add_link(net, &by_guid, item);
	}
	map_done(&by_guid);
	return net;
}

/* Export */

int topology_export(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE])
{
	static const struct {
		const char *format;
		void (*print)(FILE *stream, const struct net *net);
	} printers[] = {{"net", net_print}, {"dot", net_print_dot}, {"slurm", net_print_slurm}};
	const char *format = text_member(request, "format");
	char *text = NULL;
	struct net *net;
	size_t size, i = 0;
	FILE *stream;

	(void)error;
	while (i < ARRAY_SIZE(printers) && strcmp(printers[i].format, format) != 0)
		i++;
	if (i == ARRAY_SIZE(printers))
		return 0;
	net = topology_net(*data);
	stream = text_stream(&text, &size);
	printers[i].print(stream, net);
	fclose(stream);
	json_decref(*data);
	*data = json_string(text);
	free(text);
	net_free(net);
	return 0;
}

void print_text(const json_t *data, FILE *out)
{
	if (json_is_string(data)) {
		fputs(json_string_value(data), out);
		return;
	}
	json_dumpf(data, out,
		   JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
	fputc('\n', out);
}

/* Check */

static int read_plan(const char *path, struct net **plan, char error[CTL_ERROR_SIZE])
{
	struct net_error why;
	size_t size;
	char *text = file_read(path, &size);
	int result;

	if (!text) {
		result = -errno;
		snprintf(error, CTL_ERROR_SIZE, "cannot read %s: %s", path, strerror(-result));
		return result;
	}
	result = net_parse(path, text, size, plan, &why);
	if (result)
		snprintf(error, CTL_ERROR_SIZE, "%.*s", CTL_ERROR_SIZE - 1, why.text);
	free(text);
	return result;
}

static void add_difference(void *ctx, const struct net_difference *difference)
{
	json_t *list = ctx;
	char *clean = mem_strdup(difference->text); /* names from a file may have any encoding */

	text_clean(clean);
	json_array_append_new(list,
			      json_pack("{s:s,s:s}", "kind", difference->kind, "text", clean));
	free(clean);
}

static json_t *counts_json(const struct net *net)
{
	struct net_counts counts;

	net_count(net, &counts);
	return json_pack("{s:i,s:i,s:i,s:i}", "switches", counts.switches, "adapters",
			 counts.adapters, "routers", counts.routers, "links", counts.links);
}

int topology_check(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE])
{
	json_t *differences;
	struct net *planned, *found;
	int result = read_plan(text_member(request, "file"), &planned, error);

	if (result)
		return result;
	found = topology_net(*data);
	differences = json_array();
	net_compare(planned, found, add_difference, differences);
	json_decref(*data);
	*data = json_pack("{s:o,s:o,s:o}", "planned", counts_json(planned), "found",
			  counts_json(found), "differences", differences);
	net_free(found);
	net_free(planned);
	return 0;
}

void print_differences(const json_t *data, FILE *out)
{
	const json_t *differences = json_object_get(data, "differences");
	long long count = (long long)json_array_size(differences);

	text_put_list(out, differences, "{kind}: {text}\n", "");
	if (count)
		fprintf(out, "%lld difference%s\n", count, count == 1 ? "" : "s");
	else
		text_put(out, json_object_get(data, "planned"),
			 "as planned: {switches:d} switch{switches:#|es}, {adapters:d} "
			 "adapter{adapters:#|s}, {links:d} link{links:#|s}\n");
}

bool differences_found(const json_t *data)
{
	return json_array_size(json_object_get(data, "differences")) > 0;
}
