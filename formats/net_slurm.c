/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A net as topology.conf(5) of SLURM's topology/tree (net_export.h). A fabric is no tree, as its
 * leaves have many spines, so it is read as nested parts. Each switch with hosts is a part. From
 * the lowest level up, the parts that the cables of a level join become one part: a switch of the
 * file, with these parts as children. Cables between leaves count last. A part that joined no other
 * part is left out.
 */
#include "formats/net_export.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { NAME_SIZE = 64 };

#define FAR UINT32_MAX

/* Names are printed as hostlists: "host-[0001-0004,0007]". */
struct name {
	char prefix[NAME_SIZE]; /* without the digits at its end */
	unsigned digits;	/* number of digits; 0: no number */
	unsigned long number;
};

struct nesting {
	const struct net *net;
	uint32_t *level;     /* by node: switches to the nearest switch with hosts; FAR: none */
	uint32_t levels;     /* the highest value plus 1 */
	uint32_t *part;	     /* by node: union-find parent */
	uint32_t *printed;   /* by root of a part: the node it is named after; FAR: no leaf in it */
	const bool *doubles; /* by node: an earlier switch has its name */
};

/* Names */

static struct name slurm_name(const struct net_node *node)
{
	struct name name = {.digits = 0};
	size_t size = 0;

	for (const char *at = node->description; *at && *at != ' ' && size < NAME_SIZE - 1; at++) {
		bool plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
			     (*at >= 'A' && *at <= 'Z') || strchr("-_.", *at);

		name.prefix[size++] = plain ? *at : '_';
	}
	while (name.digits < 9 && size > name.digits &&
	       name.prefix[size - name.digits - 1] >= '0' &&
	       name.prefix[size - name.digits - 1] <= '9')
		name.digits++;
	name.number = strtoul(name.prefix + size - name.digits, NULL, 10);
	name.prefix[size - name.digits] = '\0';
	return name;
}

static int slurm_name_order(const void *left, const void *right)
{
	const struct name *a = left, *b = right;
	int order = strcmp(a->prefix, b->prefix);

	if (!order)
		order = (a->digits > b->digits) - (a->digits < b->digits);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

static void slurm_print_name(FILE *stream, const struct name *name)
{
	fputs(name->prefix, stream);
	if (name->digits)
		fprintf(stream, "%0*lu", (int)name->digits, name->number);
}

struct host {
	struct name name;
	uint32_t index;
};

static int slurm_host_order(const void *left, const void *right)
{
	const struct host *a = left, *b = right;
	int order = slurm_name_order(&a->name, &b->name);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* By node: true for all but the first node of this type with its name. SLURM's hosts have one place
 * each. */
static bool *find_doubles(const struct net *net, enum node_type type)
{
	struct host *hosts = mem_array(net->count + 1u, sizeof(*hosts));
	bool *doubles = mem_array(net->count + 1u, sizeof(*doubles));
	size_t count = 0;

	for (uint32_t n = 0; n < net->count; n++)
		if (net->nodes[n].type == type)
			hosts[count++] = (struct host){slurm_name(&net->nodes[n]), n};
	qsort(hosts, count, sizeof(*hosts), slurm_host_order);
	for (size_t i = 1; i < count; i++)
		doubles[hosts[i].index] = !slurm_name_order(&hosts[i - 1].name, &hosts[i].name);
	free(hosts);
	return doubles;
}

/* The number of names from here on that differ only in their number. */
static size_t alike(const struct name *names, size_t count)
{
	size_t size = 1;

	while (size < count && names[0].digits && names[size].digits == names[0].digits &&
	       !strcmp(names[size].prefix, names[0].prefix))
		size++;
	return size;
}

static void print_ranges(FILE *stream, const struct name *names, size_t count)
{
	int digits = (int)names[0].digits;

	fprintf(stream, "%s[", names[0].prefix);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && names[end].number == names[end - 1].number + 1;)
			end++;
		fprintf(stream, "%s%0*lu", i ? "," : "", digits, names[i].number);
		if (end > i + 1)
			fprintf(stream, "-%0*lu", digits, names[end - 1].number);
	}
	putc(']', stream);
}

static void print_hostlist(FILE *stream, struct name *names, size_t count)
{
	qsort(names, count, sizeof(*names), slurm_name_order);
	for (size_t i = 0, size; i < count; i += size) {
		size = alike(names + i, count - i);
		if (i)
			putc(',', stream);
		if (size == 1)
			slurm_print_name(stream, &names[i]);
		else
			print_ranges(stream, names + i, size);
	}
}

/* Parts */

static bool slurm_is_host(const struct net *net, int node)
{
	return node >= 0 && net->nodes[node].type == NODE_CA;
}

static bool has_hosts(const struct net *net, uint32_t n)
{
	for (unsigned p = 1; p <= net->nodes[n].ports; p++)
		if (slurm_is_host(net, net->nodes[n].port[p].peer))
			return true;
	return false;
}

static void find_levels(struct nesting *nesting)
{
	const struct net *net = nesting->net;
	uint32_t *queue = mem_array(net->count + 1, sizeof(*queue)), tail = 0;

	for (uint32_t n = 0; n < net->count; n++) {
		nesting->level[n] = FAR;
		if (net->nodes[n].type == NODE_SWITCH && has_hosts(net, n))
			nesting->level[queue[tail++] = n] = 0;
	}
	for (uint32_t head = 0; head < tail; head++) {
		const struct net_node *node = &net->nodes[queue[head]];

		nesting->levels = nesting->level[queue[head]] + 1;
		for (unsigned p = 1; p <= node->ports; p++) {
			int peer = node->port[p].peer;

			if (peer < 0 || net->nodes[peer].type != NODE_SWITCH ||
			    nesting->level[peer] != FAR)
				continue;
			nesting->level[peer] = nesting->level[queue[head]] + 1;
			queue[tail++] = (uint32_t)peer;
		}
	}
	free(queue);
}

static uint32_t root_of(uint32_t *part, uint32_t n)
{
	while (part[n] != n)
		n = part[n] = part[part[n]];
	return n;
}

/* The step at which a cable joins parts: the level of its higher end, or after all others. */
static uint32_t step_of(const struct nesting *nesting, uint32_t a, uint32_t b)
{
	uint32_t high =
		nesting->level[a] > nesting->level[b] ? nesting->level[a] : nesting->level[b];

	return high ? high : nesting->levels;
}

static void slurm_join(struct nesting *nesting, uint32_t step)
{
	const struct net *net = nesting->net;

	for (uint32_t n = 0; n < net->count; n++) {
		if (net->nodes[n].type != NODE_SWITCH || nesting->level[n] == FAR)
			continue;
		for (unsigned p = 1; p <= net->nodes[n].ports; p++) {
			int peer = net->nodes[n].port[p].peer;

			if (peer < 0 || net->nodes[peer].type != NODE_SWITCH ||
			    step_of(nesting, n, (uint32_t)peer) != step)
				continue;
			nesting->part[root_of(nesting->part, n)] =
				root_of(nesting->part, (uint32_t)peer);
		}
	}
}

/* Printing */

/* Names of switches must differ: the GUID is appended to all but the first of a name. */
static struct name switch_name(const struct nesting *nesting, uint32_t n)
{
	const struct net_node *node = &nesting->net->nodes[n];
	struct name name = slurm_name(node);
	unsigned long long suffix = node->guid ? node->guid : n;
	char digits[16] = "";
	size_t size;

	if (!nesting->doubles[n])
		return name;
	if (name.digits)
		snprintf(digits, sizeof(digits), "%0*lu", (int)name.digits, name.number);
	name.digits = 0;
	size = strlen(name.prefix);
	size = size < NAME_SIZE - 34u ? size : NAME_SIZE - 34u;
	snprintf(name.prefix + size, sizeof(name.prefix) - size, "%s-%016llx", digits, suffix);
	return name;
}

/* listed: by node, whether a line has it already. */
static void print_leaf(FILE *stream, const struct nesting *nesting, uint32_t n, bool *listed)
{
	const struct net *net = nesting->net;
	const struct net_node *node = &net->nodes[n];
	struct name *hosts = mem_array(node->ports, sizeof(*hosts)), self = switch_name(nesting, n);
	size_t count = 0;

	for (unsigned p = 1; p <= node->ports; p++) {
		int peer = node->port[p].peer;

		if (!slurm_is_host(net, peer) || listed[peer])
			continue;
		listed[peer] = true;
		hosts[count++] = slurm_name(&net->nodes[peer]);
	}
	fputs("SwitchName=", stream);
	slurm_print_name(stream, &self);
	if (count) {
		fputs(" Nodes=", stream);
		print_hostlist(stream, hosts, count);
	}
	putc('\n', stream);
	free(hosts);
}

/* The first switch of this level in each part, by root; FAR: none. */
static uint32_t *namesakes(struct nesting *nesting, uint32_t level)
{
	uint32_t *first = mem_array(nesting->net->count + 1, sizeof(*first));

	for (uint32_t n = 0; n < nesting->net->count; n++)
		first[n] = FAR;
	for (uint32_t n = nesting->net->count; n-- > 0;)
		if (nesting->level[n] == level)
			first[root_of(nesting->part, n)] = n;
	return first;
}

struct child {
	uint32_t root; /* of the part that contains it */
	uint32_t name; /* the node it is named after */
};

static int by_root(const void *left, const void *right)
{
	const struct child *a = left, *b = right;

	if (a->root != b->root)
		return a->root > b->root ? 1 : -1;
	return (a->name > b->name) - (a->name < b->name);
}

static void slurm_part_name(const struct nesting *nesting, uint32_t node, struct name *name)
{
	if (node < nesting->net->count) {
		*name = switch_name(nesting, node);
		return;
	}
	*name = (struct name){
		.prefix = "joined-", .digits = 1, .number = node - nesting->net->count};
}

/* The parts that a step has joined: a line for each part with more than one child. */
static void print_joined(FILE *stream, struct nesting *nesting, uint32_t step,
			 struct child *children, size_t count, uint32_t *unnamed)
{
	uint32_t *first = namesakes(nesting, step);
	struct name *names = mem_array(count + 1, sizeof(*names)), self;

	for (size_t i = 0; i < count; i++)
		children[i].root = root_of(nesting->part, children[i].root);
	qsort(children, count, sizeof(*children), by_root);
	for (size_t i = 0, end; i < count; i = end) {
		uint32_t root = children[i].root, name = first[root];

		for (end = i; end < count && children[end].root == root; end++)
			slurm_part_name(nesting, children[end].name, &names[end - i]);
		nesting->printed[root] = children[i].name;
		if (end == i + 1)
			continue;
		if (name == FAR)
			name = nesting->net->count + ++*unnamed;
		nesting->printed[root] = name;
		slurm_part_name(nesting, name, &self);
		fputs("SwitchName=", stream);
		slurm_print_name(stream, &self);
		fputs(" Switches=", stream);
		print_hostlist(stream, names, end - i);
		putc('\n', stream);
	}
	free(names);
	free(first);
}

/* The parts there are now, by their roots. */
static size_t list_parts(const struct nesting *nesting, struct child *children)
{
	size_t count = 0;

	for (uint32_t n = 0; n < nesting->net->count; n++)
		if (nesting->part[n] == n && nesting->printed[n] != FAR)
			children[count++] = (struct child){n, nesting->printed[n]};
	return count;
}

void net_print_slurm(FILE *stream, const struct net *net)
{
	size_t size = net->count + 1u;
	struct nesting nesting = {
		.net = net,
		.level = mem_array(size, sizeof(uint32_t)),
		.part = mem_array(size, sizeof(uint32_t)),
		.printed = mem_array(size, sizeof(uint32_t)),
	};
	struct child *children = mem_array(size, sizeof(*children));
	bool *listed = find_doubles(net, NODE_CA), *doubles = find_doubles(net, NODE_SWITCH);
	uint32_t unnamed = 0;

	nesting.doubles = doubles;
	find_levels(&nesting);
	for (uint32_t n = 0; n < net->count; n++) {
		nesting.part[n] = n;
		nesting.printed[n] = nesting.level[n] ? FAR : n;
		if (!nesting.level[n])
			print_leaf(stream, &nesting, n, listed);
	}
	for (uint32_t step = 1; step <= nesting.levels; step++) {
		size_t count = list_parts(&nesting, children);

		slurm_join(&nesting, step);
		print_joined(stream, &nesting, step, children, count, &unnamed);
	}
	free(listed);
	free(doubles);
	free(children);
	free(nesting.printed);
	free(nesting.part);
	free(nesting.level);
}
