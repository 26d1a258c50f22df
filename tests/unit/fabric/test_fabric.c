/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The live model: nodes, cables, the tree of directed routes, LIDs, reports; and freezing it. */
#include <assert.h>
#include <errno.h>

#include "fabric/freeze.h"
#include "fabric/no_transit.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/ring_net.h"
#include "tests/unit/fixtures/unit.h"

/* host-0 - sw-0 - sw-1 - ... ; a host at each end. */
static struct net *line_of(unsigned switches)
{
	struct net *net = net_new();

	for (unsigned s = 0; s < switches; s++)
		net_put(net, NODE_SWITCH, "sw", s, 4);
	net_put_hosts(net, 0, 1);
	for (unsigned s = 0; s + 1 < switches; s++)
		net_cable(net, (int)s, (int)s + 1);
	net_put_hosts(net, (int)switches - 1, 1);
	return net;
}

static void test_routes_up_to_63_hops(void)
{
	for (unsigned switches = 60; switches <= 66; switches++) {
		struct net *net = line_of(switches);
		struct route_path path, beyond;
		struct model model;

		model_init(&model);
		model_fill(&model, net, 0, 1, switches, 1);
		for (unsigned s = 0; s < switches; s++) {
			struct port *port = model_port(&model, net, s, 0);
			bool reached = s + 1 <= HOPS_MAX;

			CU_ASSERT_EQUAL(port_route(model.fabric, port, &path), reached);
			CU_ASSERT_EQUAL(fabric_reaches(model.fabric, port->node), reached);
			if (!reached)
				continue;
			CU_ASSERT_EQUAL(path.hops, s + 1);
			CU_ASSERT_EQUAL(path.port[1], 1);
			for (unsigned hop = 2; hop <= path.hops; hop++)
				CU_ASSERT_EQUAL(path.port[hop], 2);
			CU_ASSERT_EQUAL(port_route_beyond(model.fabric, port + 3, 0, &beyond),
					s + 2 <= HOPS_MAX);
		}
		/* The last host is one hop further. */
		CU_ASSERT_EQUAL(
			port_route(model.fabric, model_port(&model, net, switches + 1, 1), &path),
			switches + 1 <= HOPS_MAX);
		CU_ASSERT_TRUE(port_route(model.fabric, model.fabric->sm_port, &path));
		CU_ASSERT_EQUAL(path.hops, 0);
		model_done(&model);
		net_free(net);
	}
}

/* Each route leads where it should, and none is longer than it must be. */
static void test_tree_is_breadth_first(void)
{
	struct net *net;
	struct model model;
	char *error;
	unsigned far = 0;

	CU_ASSERT_EQUAL_FATAL(spec_build("torus:dims=4x4x4,hosts=1", &net, &error), 0);
	model_init(&model);
	model_fill(&model, net, 5, 3, 0, 1);
	for (unsigned n = 0; n < net->count; n++) {
		unsigned at = 0;
		struct route_path path;
		struct port *port =
			model_port(&model, net, n, net->nodes[n].type == NODE_SWITCH ? 0 : 1);

		CU_ASSERT_TRUE_FATAL(port_route(model.fabric, port, &path));
		for (unsigned hop = 1; hop <= path.hops; hop++)
			at = (unsigned)net->nodes[at].port[path.port[hop]].peer;
		CU_ASSERT_EQUAL(at, n);
		far = path.hops > far ? path.hops : far;
	}
	CU_ASSERT_EQUAL(far, 8); /* 2 in each of 3 dimensions, and the two hosts' cables */
	model_done(&model);
	net_free(net);
}

static unsigned end_of(const struct net *net, unsigned from, const struct route_path *path)
{
	for (unsigned hop = 1; hop <= path->hops; hop++)
		from = (unsigned)net->nodes[from].port[path->port[hop]].peer;
	return from;
}

/* The cables between switches that both routes use. Each is identified by its outgoing port. */
static unsigned shared_cables(const struct net *net, unsigned sm_node, const struct route_path *a,
			      const struct route_path *b)
{
	unsigned at_a = sm_node, shared = 0;

	for (unsigned i = 1; i <= a->hops; i++) {
		unsigned at_b = sm_node;

		for (unsigned j = 1; j <= b->hops; j++) {
			shared += net->nodes[at_a].type == NODE_SWITCH && at_a == at_b &&
				  a->port[i] == b->port[j];
			at_b = (unsigned)net->nodes[at_b].port[b->port[j]].peer;
		}
		at_a = (unsigned)net->nodes[at_a].port[a->port[i]].peer;
	}
	return shared;
}

/* Every attempt leads to the right switch. The second is not the first, and the fourth shares no
 * cable with it, since in each of these there is such a way; the third is the first again. */
static void test_other_ways(void)
{
	static const char *const specs[] = {"torus:dims=4x4x4,hosts=1", "ring:switches=9,hosts=1",
					    "fattree:radix=8,levels=3", "hypercube:dim=4,hosts=1"};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct net *net;
		struct model model;
		char *error;
		unsigned sm_node = 0;

		CU_ASSERT_EQUAL_FATAL(spec_build(specs[i], &net, &error), 0);
		while (net->nodes[sm_node].type == NODE_SWITCH)
			sm_node++;
		model_init(&model);
		model_fill(&model, net, 0, 1, sm_node, 1);
		for (unsigned n = 0; n < net->count; n++) {
			struct port *port = model_port(&model, net, n, 0);
			struct route_path path[6];

			if (net->nodes[n].type != NODE_SWITCH)
				continue;
			for (unsigned attempt = 0; attempt < ARRAY_SIZE(path); attempt++) {
				CU_ASSERT_TRUE_FATAL(fabric_way(model.fabric, port->node, attempt,
								&path[attempt]));
				CU_ASSERT_EQUAL(end_of(net, sm_node, &path[attempt]), n);
			}
			CU_ASSERT_TRUE(path[0].hops == 1 ||
				       shared_cables(net, sm_node, &path[0], &path[1]) <
					       path[0].hops - 1u);
			CU_ASSERT_EQUAL(shared_cables(net, sm_node, &path[0], &path[3]), 0);
			CU_ASSERT_EQUAL(shared_cables(net, sm_node, &path[0], &path[2]),
					path[0].hops - 1u);
			/* No other cable has been verified yet. */
			model.fabric->trusted_pass = 1;
			CU_ASSERT_TRUE(fabric_way(model.fabric, port->node, 1, &path[1]));
			CU_ASSERT_EQUAL(shared_cables(net, sm_node, &path[0], &path[1]),
					path[0].hops - 1u);
			model.fabric->trusted_pass = 0;
		}
		model_done(&model);
		net_free(net);
	}
}

/* A cable of the tree is cut, and the tree is not built again: nodes behind it are reached over
 * other cables at once. If there is only one route, every attempt takes it. */
static void test_way_round_a_cut(void)
{
	struct net *net;
	struct model model;
	struct route_path path;
	char *error;
	struct port *port = NULL;
	unsigned sm_node = 0;

	CU_ASSERT_EQUAL_FATAL(spec_build("ring:switches=8,hosts=1", &net, &error), 0);
	while (net->nodes[sm_node].type == NODE_SWITCH)
		sm_node++;
	model_init(&model);
	model_fill(&model, net, 0, 1, sm_node, 1);
	for (unsigned n = 0; n < net->count; n++) {
		port = model_port(&model, net, n, 0);
		if (net->nodes[n].type == NODE_SWITCH && port->node->hops == 3)
			break;
	}
	assert(port);
	fabric_unlink(model.fabric, port->node->uplink);
	CU_ASSERT_FALSE(port_route(model.fabric, port, &path));
	CU_ASSERT_TRUE(fabric_way(model.fabric, port->node, 0, &path));
	CU_ASSERT_EQUAL(path.hops, 7);
	CU_ASSERT_TRUE(port_route_beyond(model.fabric, port + 1, 1, &path));
	CU_ASSERT_EQUAL(path.hops, 8);
	CU_ASSERT_EQUAL(path.port[8], 1);
	CU_ASSERT_EQUAL(fabric_subtree(model.fabric, &path), path.port[2]);
	fabric_unlink(model.fabric, model.fabric->sm_port);
	CU_ASSERT_FALSE(fabric_way(model.fabric, port->node, 0, &path));
	model_done(&model);
	net_free(net);

	net = line_of(5);
	model_init(&model);
	model_fill(&model, net, 0, 1, 5, 1);
	port = model_port(&model, net, 4, 0);
	for (unsigned attempt = 0; attempt < 4; attempt++) {
		CU_ASSERT_TRUE(fabric_way(model.fabric, port->node, attempt, &path));
		CU_ASSERT_EQUAL(path.hops, 5);
	}
	model_done(&model);
	net_free(net);
}

/* A route is doubtful if it leaves the tree by a cable of a switch that has reported changed links,
 * until the port was read; or if it leads elsewhere. */
static void test_doubtful_ways(void)
{
	enum { FAR = HOSTS + 1 }; /* the manager is at switch 0 of the ring */
	struct net *net = ring_net();
	struct route_path tree, other, unknown = {.hops = 2, .port = {0, 1, 9}};
	struct model model;
	struct port *far, *near;

	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	far = model_port(&model, net, FAR, NEXT);
	near = far->peer;
	CU_ASSERT_TRUE(fabric_way(model.fabric, far->node, 0, &tree));
	CU_ASSERT_TRUE(fabric_way(model.fabric, far->node, 1, &other));
	CU_ASSERT_EQUAL(fabric_way_ends(model.fabric, &other), far);
	CU_ASSERT_FALSE(fabric_way_is_doubtful(model.fabric, &tree, far->node));
	CU_ASSERT_FALSE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &unknown, far->node));

	/* It reported changes; then it is read; then the port is read. */
	far->node->sw->links_changed = true;
	CU_ASSERT_FALSE(fabric_way_is_doubtful(model.fabric, &tree, far->node));
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	far->node->sw->links_changed = false;
	far->node->sw->changed_pass = far->node->pass = 3;
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	far->discovery.read_pass = 3;
	CU_ASSERT_FALSE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	/* A later pass reads the switch, and not the port. */
	far->node->pass = 4;
	far->discovery.read_pass = 2;
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	far->discovery.read_pass = 3;
	CU_ASSERT_FALSE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	/* The switch at the other end. */
	near->node->sw->links_changed = true;
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	near->node->sw->links_changed = false;
	near->discovery.link = LINK_LOST;
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	near->discovery.link = LINK_VERIFIED;
	CU_ASSERT_FALSE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	/* The route leads to another node. */
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, near->node));
	/* The cable is cut. */
	fabric_unlink(model.fabric, far);
	CU_ASSERT_TRUE(fabric_way_is_doubtful(model.fabric, &other, far->node));
	model_done(&model);
	net_free(net);
}

static void test_cables(void)
{
	struct net *net = line_of(3);
	struct model model;
	struct port *a, *b, *c;
	struct route_path path;
	uint64_t before;

	model_init(&model);
	model_fill(&model, net, 0, 1, 3, 1);
	a = model_port(&model, net, 0, 2);
	b = model_port(&model, net, 1, 1);
	c = model_port(&model, net, 2, 1);
	before = model.fabric->topology;
	fabric_link(model.fabric, a, b); /* as it is */
	fabric_unlink(model.fabric, model_port(&model, net, 0, 4));
	CU_ASSERT_EQUAL(model.fabric->topology, before);
	fabric_link(model.fabric, a, c); /* cuts both earlier ones */
	CU_ASSERT_TRUE(model.fabric->topology > before);
	CU_ASSERT_PTR_EQUAL(a->peer, c);
	CU_ASSERT_PTR_EQUAL(c->peer, a);
	CU_ASSERT_PTR_NULL(b->peer);
	CU_ASSERT_PTR_NULL(model_port(&model, net, 1, 2)->peer);
	/* Nodes behind a cut cable have no route until the tree is built. */
	CU_ASSERT_FALSE(port_route(model.fabric, b, &path));
	CU_ASSERT_FALSE(port_route(model.fabric, c, &path));
	fabric_build_tree(model.fabric);
	CU_ASSERT_TRUE(port_route(model.fabric, c, &path));
	CU_ASSERT_EQUAL(path.hops, 2);
	CU_ASSERT_FALSE(port_route(model.fabric, b, &path));
	model_done(&model);
	net_free(net);
}

/* Uplinks that form a loop must not be followed forever. */
static void test_circle_of_uplinks(void)
{
	struct net *net = line_of(4);
	struct model model;
	struct route_path path;

	model_init(&model);
	model_fill(&model, net, 0, 1, 4, 1);
	model_port(&model, net, 1, 0)->node->uplink = model_port(&model, net, 2, 1);
	model_port(&model, net, 2, 0)->node->uplink = model_port(&model, net, 1, 2);
	CU_ASSERT_FALSE(port_route(model.fabric, model_port(&model, net, 2, 0), &path));
	CU_ASSERT_FALSE(port_route_beyond(model.fabric, model_port(&model, net, 3, 1), 0, &path));
	model_done(&model);
	net_free(net);
}

/* Clean-up of a dropped node */

static unsigned cancelled;
static void was_cancelled(void *owner, void *subject, const struct smp_request *request,
			  const struct smp_answer *answer)
{
	(void)owner;
	(void)request;
	/* The port is still there. */
	CU_ASSERT_EQUAL(((struct port *)subject)->num, 0);
	cancelled += answer->error == -ECANCELED;
}

static void test_drop(void)
{
	struct net *net = line_of(3);
	struct model model;
	struct port *port;
	struct smp_request request = {
		.method = METHOD_GET, .attr_id = ATTR_SWITCH_INFO, .done = was_cancelled};

	model_init(&model);
	model_fill(&model, net, 0, 1, 3, 1);
	port = model_port(&model, net, 1, 0);
	port_set_lid(model.fabric, port, 64, 2);
	request.subject = port;
	window_submit(&port->agent->target, &request);
	window_submit(&port->agent->target, &request);
	cancelled = 0;
	fabric_drop_node(model.fabric, port->node);
	CU_ASSERT_EQUAL(cancelled, 2);
	CU_ASSERT_PTR_NULL(fabric_find_node(model.fabric, net_node_guid(net, 1)));
	CU_ASSERT_PTR_NULL(map_get(&model.fabric->ports, net_node_guid(net, 1)));
	CU_ASSERT_PTR_NULL(model_port(&model, net, 0, 2)->peer);
	CU_ASSERT_PTR_NULL(model_port(&model, net, 2, 1)->peer);
	CU_ASSERT_PTR_NULL(model_port(&model, net, 2, 0)->node->uplink);
	for (lid_t lid = 64; lid < 68; lid++)
		CU_ASSERT_PTR_NULL(model.fabric->lids[lid]);
	CU_ASSERT_EQUAL(model.fabric->num_switches, 2);
	CU_ASSERT_EQUAL(model.fabric->num_adapters, 2);
	fabric_drop_node(model.fabric, model.fabric->sm_port->node);
	CU_ASSERT_PTR_NULL(model.fabric->sm_port);
	fabric_build_tree(model.fabric);
	CU_ASSERT_FALSE(fabric_reaches(model.fabric, model_port(&model, net, 0, 0)->node));
	model_done(&model);
	net_free(net);
}

static void test_lids_and_guids(void)
{
	struct net *net = line_of(2);
	struct model model;
	struct port *port;
	uint64_t before;

	model_init(&model);
	model_fill(&model, net, 0, 1, 2, 1);
	port = model.fabric->sm_port;
	port_set_lid(model.fabric, port, 8, 3);
	for (lid_t lid = 8; lid < 16; lid++)
		CU_ASSERT_PTR_EQUAL(model.fabric->lids[lid], port);
	before = model.fabric->topology;
	port_set_lid(model.fabric, port, 8, 3);
	CU_ASSERT_EQUAL(model.fabric->topology, before);
	port_set_lid(model.fabric, port, 12, 0);
	for (lid_t lid = 8; lid < 16; lid++)
		CU_ASSERT_PTR_EQUAL(model.fabric->lids[lid], lid == 12 ? port : NULL);
	port_set_lid(model.fabric, port, LID_UNICAST_MAX - 127, 7);
	CU_ASSERT_PTR_EQUAL(model.fabric->lids[LID_UNICAST_MAX], port);
	port_set_lid(model.fabric, port, LID_NONE, 0);
	CU_ASSERT_PTR_NULL(model.fabric->lids[LID_UNICAST_MAX]);
	/* Another PortGUID for the same port. */
	fabric_add_agent(model.fabric, port, 0x4711);
	CU_ASSERT_PTR_EQUAL(map_get(&model.fabric->ports, 0x4711), port);
	CU_ASSERT_PTR_NULL(map_get(&model.fabric->ports, net_port_guid(net, 2, 1)));
	model_done(&model);
	net_free(net);
}

/* A port that passes INIT or goes down loses its known data. */
static void test_reports(void)
{
	static const struct {
		uint8_t from, to;
		bool forgets, topology;
	} rows[] = {
		{PORT_INIT, PORT_INIT, false, false},	 {PORT_INIT, PORT_ARMED, false, false},
		{PORT_ARMED, PORT_ACTIVE, false, false}, {PORT_ACTIVE, PORT_INIT, true, false},
		{PORT_ARMED, PORT_INIT, true, false},	 {PORT_ACTIVE, PORT_DOWN, true, true},
		{PORT_INIT, PORT_DOWN, true, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct net *net = line_of(1);
		struct port_info info;
		struct model model;
		struct port *port;
		uint64_t topology, facts;

		model_init(&model);
		model_fill(&model, net, 0, 1, 1, 1);
		port = model.fabric->sm_port;
		info = *port_info(port);
		info.port_state = rows[i].from;
		port_set_info(model.fabric, port, &info);
		port->program.echo = mem_zalloc(sizeof(*port->program.echo));
		port_set_pkeys(model.fabric, port, pkey_list_new(32));
		topology = model.fabric->topology;
		facts = model.fabric->facts;
		port_set_info(model.fabric, port, &info); /* nothing new */
		CU_ASSERT_EQUAL(model.fabric->facts, facts);
		info.port_state = rows[i].to;
		port_set_info(model.fabric, port, &info);
		CU_ASSERT_EQUAL(model.fabric->facts > facts, rows[i].from != rows[i].to);
		CU_ASSERT_EQUAL(model.fabric->topology > topology, rows[i].topology);
		/* From INIT to DOWN and up again another device may be there. */
		CU_ASSERT_EQUAL(port->program.echo == NULL, rows[i].forgets);
		CU_ASSERT_EQUAL(port_facts(port)->pkeys == NULL, rows[i].forgets);
		model_done(&model);
		net_free(net);
	}
}

/* Only a port that was known before and shows INIT had its link down in between. */
static void test_first_report(void)
{
	static const uint8_t states[] = {PORT_DOWN, PORT_INIT, PORT_ARMED, PORT_ACTIVE};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct port_info info = {.port_state = states[i]};
		struct net *net = line_of(1);
		struct model model;
		struct port *port;

		model_init(&model);
		model_fill(&model, net, 0, 1, 1, 1);
		port = model.fabric->sm_port;
		facts_own(&port->node->facts)->port[port->num] = (struct port_facts){0};
		port->discovery.link = LINK_VERIFIED;
		port_set_info(model.fabric, port, &info);
		CU_ASSERT_EQUAL(port->discovery.link, LINK_VERIFIED);
		info.port_state = PORT_ACTIVE;
		port_set_info(model.fabric, port, &info);
		CU_ASSERT_EQUAL(port->discovery.link, LINK_VERIFIED);
		info.port_state = PORT_INIT;
		port_set_info(model.fabric, port, &info);
		CU_ASSERT_EQUAL(port->discovery.link, LINK_LOST);
		model_done(&model);
		net_free(net);
	}
}

/* Compares the running counts with a walk. */
static void check_counts(struct fabric *fabric)
{
	const struct roster *roster = fabric_roster(fabric);
	unsigned ports = 0, ends = 0, active = 0, switches = 0;
	lid_t top = LID_NONE;

	CU_ASSERT_EQUAL(roster->num_nodes, fabric->nodes.count);
	CU_ASSERT_EQUAL(roster->num_ends, fabric->ports.count);
	CU_ASSERT_EQUAL(roster->num_switches, fabric->num_switches);
	for (size_t n = 0; n < roster->num_nodes; n++) {
		const struct node *node = roster->nodes[n];

		CU_ASSERT_TRUE(!n || roster->nodes[n - 1]->guid < node->guid);
		if (node->type == NODE_SWITCH)
			CU_ASSERT_PTR_EQUAL(roster->switches[switches++], node);
		for (unsigned p = 0; p <= node->num_ports; p++) {
			const struct port *port = &node->port[p];

			ports += p && (node->type == NODE_SWITCH || port->agent);
			ends += port->peer != NULL;
			active += p && port_info(port)->port_state == PORT_ACTIVE;
			if (port->lid > top)
				top = port->lid;
		}
	}
	CU_ASSERT_EQUAL(fabric->num_ports, ports);
	CU_ASSERT_EQUAL(2 * fabric->num_links, ends);
	CU_ASSERT_EQUAL(fabric->num_active, active);
	CU_ASSERT_EQUAL(fabric_lid_top(fabric), top);
	list_for_each (link, &fabric->switches) {
		CU_ASSERT_PTR_NOT_NULL(fabric_find_node(
			fabric, container_of(link, struct switch_state, link)->node->guid));
		switches--;
	}
	CU_ASSERT_EQUAL(switches, 0);
}

/* Data that a new MASTER no longer trusts, everywhere in the model. */
static void test_forget(void)
{
	enum { LEAF_PORT = 2, MASTER_TIMES = 2 };
	struct net *net;
	struct model model;
	struct port *port, *host;
	size_t position;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=4,levels=2", &net, &error), 0);
	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	host = model.fabric->sm_port;
	for (unsigned i = 0; i < MASTER_TIMES; i++) {
		port = &host->peer->node->port[LEAF_PORT];
		port_set_pkeys(model.fabric, port, pkey_list_new(32));
		port_ask_link(port, PHYS_DISABLED);
		host->rereg_epoch = model.fabric->rereg_epoch;
		port_set_lid(model.fabric, host, 44, 2);
		port_set_lid(model.fabric, &port->node->port[0], 7, 0);
		fabric_forget_tables(model.fabric);
		fabric_forget_asked_links(model.fabric);
		fabric_forget_lids(model.fabric);
		fabric_new_rereg_epoch(model.fabric);
		CU_ASSERT_TRUE(port->node->sw->lost);
		CU_ASSERT_PTR_NULL(port_facts(port)->pkeys);
		CU_ASSERT_EQUAL(port->program.link_asked, 0);
		CU_ASSERT_EQUAL(fabric_lid_top(model.fabric), LID_NONE);
		CU_ASSERT_TRUE(port_needs_rereg(model.fabric, host));
		position = 0;
		while ((port = map_next(&model.fabric->ports, &position)))
			CU_ASSERT_EQUAL(port->lid, LID_NONE);
	}
	model_done(&model);
	net_free(net);
}

static void test_counts(void)
{
	struct port_info info = {.port_state = PORT_ACTIVE, .lid = 77};
	struct net *net;
	struct model model;
	struct port *port;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=4,levels=2", &net, &error), 0);
	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	check_counts(model.fabric);
	port = model.fabric->sm_port;
	for (unsigned state = PORT_DOWN; state <= PORT_ACTIVE; state++) {
		info.port_state = (uint8_t)state;
		port_set_info(model.fabric, port, &info);
		port_set_info(model.fabric, port->peer, &info);
		port_set_info(model.fabric, &port->peer->node->port[0], &info);
		check_counts(model.fabric);
	}
	CU_ASSERT_EQUAL(fabric_lid_top(model.fabric), LID_NONE); /* found, and not given */
	port_set_lid(model.fabric, port, 900, 2);
	check_counts(model.fabric);
	CU_ASSERT_EQUAL(fabric_lid_top(model.fabric), 900);
	port_set_lid(model.fabric, port->peer->node->port, 700, 0);
	port_set_lid(model.fabric, port, 5, 1);
	check_counts(model.fabric);
	CU_ASSERT_EQUAL(fabric_lid_top(model.fabric), 700);
	port_set_lid(model.fabric, port->peer->node->port, LID_NONE, 0);
	CU_ASSERT_EQUAL(fabric_lid_top(model.fabric), 5);
	fabric_link(model.fabric, port, &port->peer->node->port[2]); /* cuts two */
	check_counts(model.fabric);
	fabric_unlink(model.fabric, port);
	check_counts(model.fabric);
	fabric_drop_node(model.fabric, port->node);
	check_counts(model.fabric);
	model_done(&model);
	net_free(net);
}

/* Freezing */

static void test_frozen_facts_do_not_change(void)
{
	struct net *net = line_of(2);
	struct snapshot *first, *second;
	struct port_info info;
	struct model model;

	model_init(&model);
	model_fill(&model, net, 0, 1, 2, 1);
	first = fabric_freeze(model.fabric, false);
	info = *port_info(model.fabric->sm_port);
	info.lid = 99;
	port_set_info(model.fabric, model.fabric->sm_port, &info);
	node_set_description(model.fabric, model.fabric->sm_port->node, "new");
	second = fabric_freeze(model.fabric, false);
	CU_ASSERT_TRUE(second->generation > first->generation);
	CU_ASSERT_EQUAL(first->ends[first->sm_end].facts->port[1].info.lid, 0);
	CU_ASSERT_STRING_EQUAL(first->ends[first->sm_end].facts->description, "");
	CU_ASSERT_EQUAL(second->ends[second->sm_end].facts->port[1].info.lid, 99);
	CU_ASSERT_STRING_EQUAL(second->ends[second->sm_end].facts->description, "new");
	model_done(&model);
	snapshot_unref(first); /* outlives the model */
	snapshot_unref(second);
	net_free(net);
}

static void test_same_picture_in_any_order(void)
{
	struct snapshot *pictures[3];
	struct net *net;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=4,levels=2", &net, &error), 0);
	for (unsigned i = 0; i < 3; i++) {
		static const unsigned steps[] = {1, 5, 7};
		struct model model;

		while (net->count % steps[i] == 0 && i)
			net_put(net, NODE_CA, "spare", net->count, 1);
		model_init(&model);
		model_fill(&model, net, i * 3, steps[i], 0, 1);
		pictures[i] = fabric_freeze(model.fabric, false);
		model_done(&model);
	}
	for (unsigned i = 1; i < 3; i++) {
		const struct snapshot *a = pictures[0], *b = pictures[i];

		CU_ASSERT_EQUAL_FATAL(a->num_switches, b->num_switches);
		CU_ASSERT_EQUAL_FATAL(a->num_ends, b->num_ends);
		CU_ASSERT_EQUAL_FATAL(a->num_links, b->num_links);
		for (uint32_t s = 0; s < a->num_switches; s++)
			CU_ASSERT_EQUAL(a->switches[s].guid, b->switches[s].guid);
		for (uint32_t e = 0; e < a->num_ends; e++)
			CU_ASSERT_TRUE(a->ends[e].guid == b->ends[e].guid &&
				       a->ends[e].sw == b->ends[e].sw &&
				       a->ends[e].sw_port == b->ends[e].sw_port);
		CU_ASSERT_EQUAL(memcmp(a->links, b->links, a->num_links * sizeof(*a->links)), 0);
		CU_ASSERT_EQUAL(a->sm_end, b->sm_end);
	}
	for (unsigned i = 0; i < 3; i++)
		snapshot_unref(pictures[i]);
	net_free(net);
}

/* Not in the snapshot: cables with one end down or unread, unreachable nodes, and a switch without
 * a table. */
static void test_left_out(void)
{
	struct net *net = line_of(4);
	struct port_info down = {.port_state = PORT_DOWN};
	struct switch_info none = {0};
	struct snapshot *snapshot;
	struct model model;
	int32_t first;

	model_init(&model);
	model_fill(&model, net, 0, 1, 4, 1);
	snapshot = fabric_freeze(model.fabric, false);
	CU_ASSERT_EQUAL(snapshot->num_switches, 4);
	CU_ASSERT_EQUAL(snapshot->num_ends, 2);
	CU_ASSERT_EQUAL(snapshot->ends[snapshot->sm_end].guid, net_port_guid(net, 4, 1));
	CU_ASSERT_EQUAL(snapshot->sm_switch, -1);
	snapshot_unref(snapshot);

	port_set_info(model.fabric, model_port(&model, net, 1, 1), &down);
	node_set_switch_info(model.fabric, model_port(&model, net, 3, 0)->node, &none);
	snapshot = fabric_freeze(model.fabric, false);
	CU_ASSERT_EQUAL(snapshot->num_switches, 3);
	first = snapshot_find_switch(snapshot, net_node_guid(net, 0));
	CU_ASSERT_TRUE_FATAL(first >= 0);
	CU_ASSERT_EQUAL(snap_link(snapshot, (uint32_t)first, 2)->sw, -1);
	CU_ASSERT_EQUAL(snap_link(snapshot, (uint32_t)first, 2)->end, -1);
	CU_ASSERT_EQUAL(model_port(&model, net, 3, 0)->node->index, -1);
	snapshot_unref(snapshot);

	fabric_unlink(model.fabric, model_port(&model, net, 1, 2));
	fabric_build_tree(model.fabric);
	snapshot = fabric_freeze(model.fabric, false);
	CU_ASSERT_EQUAL(snapshot->num_switches, 2);
	CU_ASSERT_EQUAL(snapshot->num_ends, 1);
	snapshot_unref(snapshot);
	model_done(&model);
	net_free(net);
}

static unsigned passed_round(struct fabric *fabric)
{
	struct no_transit_choice choice;
	size_t at = 0;

	while (no_transit_step(fabric, &choice, &at))
		;
	return choice.count;
}

/* On a ring of four, a no-transit switch is avoided, except if the other way leads over a switch
 * without a table. */
static void test_no_way_round(void)
{
	struct switch_info none = {0};
	struct net *net = line_of(4);
	struct model model;

	net_cable(net, 3, 0);
	model_init(&model);
	model_fill(&model, net, 0, 1, 4, 1);
	fabric_set_no_transit(model.fabric, model_port(&model, net, 1, 0)->node,
			      NO_TRANSIT_REFUSES);
	CU_ASSERT_EQUAL(passed_round(model.fabric), 1);
	node_set_switch_info(model.fabric, model_port(&model, net, 3, 0)->node, &none);
	CU_ASSERT_EQUAL(passed_round(model.fabric), 0);
	model_done(&model);
	net_free(net);
}

/* A manager that is not MASTER gives no LIDs: its snapshot has the LIDs that the ports hold. */
static void test_frozen_as_found(void)
{
	struct port_info info = {.port_state = PORT_ACTIVE, .lid = 77};
	struct net *net = line_of(2);
	struct model model;

	model_init(&model);
	model_fill(&model, net, 0, 1, 2, 1);
	port_set_info(model.fabric, model_port(&model, net, 0, 0), &info);
	for (int as_found = 0; as_found < 2; as_found++) {
		struct snapshot *snapshot = fabric_freeze(model.fabric, as_found);
		int32_t sw = snapshot_find_switch(snapshot, net_node_guid(net, 0));

		CU_ASSERT_TRUE_FATAL(sw >= 0);
		CU_ASSERT_EQUAL(snapshot->switches[sw].lid,
				as_found ? 77 : model_port(&model, net, 0, 0)->lid);
		snapshot_unref(snapshot);
	}
	CU_ASSERT_NOT_EQUAL(model_port(&model, net, 0, 0)->lid, 77);
	model_done(&model);
	net_free(net);
}

/* Later snapshots keep the peer of a port without a link: after its link went down, and after the
 * switch behind it has gone. A cable that is plugged elsewhere is forgotten at its previous port.
 */
static void test_cables_remembered(void)
{
	struct net *net = line_of(3);
	struct snapshot *snapshot;
	const struct snap_cable *cable;
	struct model model;
	struct port_info up = {.port_state = PORT_INIT};
	struct port *left;

	model_init(&model);
	model_fill(&model, net, 0, 1, 3, 1);
	left = model_port(&model, net, 0, 2); /* to port 1 of the second switch */
	snapshot_unref(fabric_freeze(model.fabric, false));
	for (int gone = 0; gone < 2; gone++) {
		if (gone)
			fabric_drop_node(model.fabric, model_port(&model, net, 1, 0)->node);
		else
			fabric_unlink(model.fabric, left);
		fabric_build_tree(model.fabric);
		snapshot = fabric_freeze(model.fabric, false);
		CU_ASSERT_EQUAL_FATAL(snapshot->num_switches, 1);
		CU_ASSERT_EQUAL(snap_link(snapshot, 0, 2)->sw, -1);
		cable = snap_cable(snapshot, 0, 2);
		CU_ASSERT_EQUAL(cable->kind, CABLE_SWITCH);
		CU_ASSERT_EQUAL(cable->guid, net_node_guid(net, 1));
		CU_ASSERT_EQUAL(cable->port, 1);
		CU_ASSERT_EQUAL(cable->hosts, 0);
		cable = snap_cable(snapshot, 0, 1);
		CU_ASSERT_EQUAL(cable->kind, CABLE_HOST);
		CU_ASSERT_EQUAL(cable->guid, net_port_guid(net, 3, 1));
		CU_ASSERT_EQUAL(snap_cable(snapshot, 0, 3)->kind, CABLE_NONE);
		snapshot_unref(snapshot);
	}
	port_set_info(model.fabric, model_port(&model, net, 0, 3), &up);
	port_set_info(model.fabric, model_port(&model, net, 0, 4), &up);
	fabric_link(model.fabric, model_port(&model, net, 0, 4), model_port(&model, net, 2, 1));
	fabric_build_tree(model.fabric);
	snapshot_unref(fabric_freeze(model.fabric, false));
	fabric_link(model.fabric, model_port(&model, net, 0, 3), model_port(&model, net, 2, 1));
	fabric_build_tree(model.fabric);
	snapshot = fabric_freeze(model.fabric, false);
	CU_ASSERT_EQUAL(snap_cable(snapshot, 0, 4)->kind, CABLE_NONE);
	CU_ASSERT_EQUAL(snap_cable(snapshot, 0, 3)->guid, net_node_guid(net, 2));
	CU_ASSERT_EQUAL(snap_cable(snapshot, 0, 3)->hosts, 1);
	snapshot_unref(snapshot);
	model_done(&model);
	net_free(net);
}

/* A switch has replaced a host, over a cable that no route uses yet: no LID is kept for the host at
 * that port. Otherwise packets for the host would pass the port when the cable comes up. */
static void test_switch_in_the_place_of_a_host(void)
{
	struct net *net = line_of(3);
	struct model model;
	struct snapshot *snapshot;
	struct port_info up = {.port_state = PORT_INIT};
	struct port *place, *spare;
	uint32_t last;

	model_init(&model);
	model_fill(&model, net, 0, 1, 3, 1);
	place = model_port(&model, net, 2, 2);
	spare = model_port(&model, net, 1, 4);
	CU_ASSERT_FATAL(place->peer && !port_of_switch(place->peer) && !spare->peer);
	fabric_unlink(model.fabric, place);
	for (int cabled = 0; cabled < 2; cabled++) {
		if (cabled) {
			port_set_info(model.fabric, spare, &up);
			fabric_link(model.fabric, place, spare);
			place->program.no_bringup = true;
		}
		fabric_build_tree(model.fabric);
		snapshot = fabric_freeze(model.fabric, false);
		last = (uint32_t)snapshot_find_switch(snapshot, net_node_guid(net, 2));
		CU_ASSERT_EQUAL(snap_link(snapshot, last, place->num)->sw, -1);
		CU_ASSERT_EQUAL(snap_cable(snapshot, last, place->num)->kind,
				cabled ? CABLE_NONE : CABLE_HOST);
		snapshot_unref(snapshot);
	}
	model_done(&model);
	net_free(net);
}

static void test_frozen_without_fabric(void)
{
	struct net *net = net_new();
	struct snapshot *snapshot;
	struct model model;

	model_init(&model);
	snapshot = fabric_freeze(model.fabric, false);
	CU_ASSERT_EQUAL(snapshot->num_switches + snapshot->num_ends, 0);
	CU_ASSERT_EQUAL(snapshot->sm_end, -1);
	snapshot_unref(snapshot);
	net_put(net, NODE_CA, "host", 0, 1);
	net_put(net, NODE_CA, "host", 1, 1);
	net_cable(net, 0, 1);
	model_fill(&model, net, 0, 1, 0, 1);
	port_set_lid(model.fabric, model.fabric->sm_port, 5, 0);
	snapshot = fabric_freeze(model.fabric, false);
	CU_ASSERT_EQUAL(snapshot->num_ends, 2);
	CU_ASSERT_EQUAL(snapshot->ends[0].peer, 1);
	CU_ASSERT_EQUAL(snapshot->ends[1].peer, 0);
	CU_ASSERT_EQUAL(snap_owner(snapshot, 5).end, snapshot->sm_end);
	snapshot_unref(snapshot);
	model_done(&model);
	net_free(net);
}

/* A roster made in pieces equals a roster made at once, also if nodes appear or disappear, or a
 * roster is requested, between two pieces. No piece visits more than one node. */
static void test_roster_in_pieces(void)
{
	struct net *net;
	struct model model;
	size_t at = 0;
	unsigned cost, pieces = 0;
	char *error;

	CU_ASSERT_EQUAL_FATAL(spec_build("fattree:radix=8,levels=2", &net, &error), 0);
	model_init(&model);
	model_fill(&model, net, 0, 1, 0, 1);
	fabric_drop_node(model.fabric, model_port(&model, net, 3, 0)->node);
	for (; (cost = fabric_roster_step(model.fabric, &at)); pieces++) {
		CU_ASSERT_TRUE(cost <= net->count);
		if (pieces == 5)
			fabric_drop_node(model.fabric, model_port(&model, net, 1, 0)->node);
	}
	CU_ASSERT_TRUE(pieces >= net->count);
	CU_ASSERT_EQUAL(model.fabric->roster.num_nodes, net->count - 2);
	check_counts(model.fabric);

	fabric_drop_node(model.fabric, model_port(&model, net, 2, 0)->node);
	at = 0;
	for (unsigned piece = 0; piece < 4; piece++)
		fabric_roster_step(model.fabric, &at);
	CU_ASSERT_EQUAL(fabric_roster(model.fabric)->num_switches, model.fabric->num_switches);
	CU_ASSERT_EQUAL(fabric_roster_step(model.fabric, &at), 0);
	check_counts(model.fabric);
	model_done(&model);
	net_free(net);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"routes up to 63 hops", test_routes_up_to_63_hops},
		{"the tree is breadth first", test_tree_is_breadth_first},
		{"other ways", test_other_ways},
		{"way round a cut", test_way_round_a_cut},
		{"doubtful ways", test_doubtful_ways},
		{"cables", test_cables},
		{"circle of uplinks", test_circle_of_uplinks},
		{"drop", test_drop},
		{"LIDs and GUIDs", test_lids_and_guids},
		{"reports", test_reports},
		{"the first report", test_first_report},
		{"frozen facts do not change", test_frozen_facts_do_not_change},
		{"same picture in any order", test_same_picture_in_any_order},
		{"left out", test_left_out},
		{"no way round", test_no_way_round},
		{"frozen as found", test_frozen_as_found},
		{"cables are remembered", test_cables_remembered},
		{"a switch in the place of a host", test_switch_in_the_place_of_a_host},
		{"frozen without fabric", test_frozen_without_fabric},
		{"counts and the roster", test_counts},
		{"forgotten data", test_forget},
		{"the roster in pieces", test_roster_in_pieces},
		CU_TEST_INFO_NULL,
	};

	return unit_main("fabric", tests);
}
