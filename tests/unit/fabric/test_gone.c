/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that are gone: by which names they are found, what is known of them, and how many are kept.
 */
#include "fabric/gone.h"

#include <inttypes.h>
#include <string.h>

#include "store/registry.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

enum { LEFT_S = 1790000000 };

static struct net *net;
static struct model model;
static struct registry *registry;

static void begin(void)
{
	net = net_from_spec("fattree:radix=4,levels=2");
	registry = registry_new();
	model_init(&model);
	model_fill(&model, net, 0, 1, (unsigned)net_find(net, "host-0001"), 1);
	model.fabric->registry = registry;
}

static void end(void)
{
	model_done(&model);
	registry_free(registry);
	net_free(net);
}

static struct node *node_of(const char *name)
{
	return fabric_find_node(model.fabric, net_node_guid(net, (unsigned)net_find(net, name)));
}

/* Both ends of a cable know each other, as after discovery. */
static void leave(const char *name)
{
	struct node *node = node_of(name);
	struct port *port = &node->port[1], *peer = port->peer;

	port_set_lid(model.fabric, port, 40, 0);
	node_set_description(model.fabric, node, name);
	node_set_description(model.fabric, peer->node, "its-leaf");
	port->discovery.led_to = peer->node->guid;
	peer->discovery.led_to = node->guid;
	fabric_unlink(model.fabric, port);
	CU_ASSERT_PTR_EQUAL(port_last_peer(model.fabric, port), peer);
	gone_note(model.fabric, node, LEFT_S);
	fabric_drop_node(model.fabric, node);
}

static void test_is_found(void)
{
	struct gone_node gone;
	struct snap_named named = {.place = -1, .error = "no node"};
	char guid[24], port_guid[24], text[GONE_TEXT_SIZE];
	const char *const names[] = {"host-0006", guid, guid + 2, port_guid, "40"};
	const char *const others[] = {"host-0007", "41", "0x17", "", "host-0006/1", "-1", "49152"};
	struct node *node;
	struct port *leaf;

	begin();
	node = node_of("host-0006");
	leaf = node->port[1].peer;
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, node->guid);
	snprintf(port_guid, sizeof(port_guid), "0x%016" PRIx64, port_facts(&node->port[1])->guid);
	CU_ASSERT_FALSE(gone_recall(model.fabric, "host-0006", &gone));
	leave("host-0006");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		memset(&gone, 0, sizeof(gone));
		CU_ASSERT_TRUE(gone_recall(model.fabric, names[i], &gone));
		CU_ASSERT_EQUAL(gone.gone_s, LEFT_S);
		CU_ASSERT_EQUAL(gone.lid, 40);
		CU_ASSERT_STRING_EQUAL(gone.description, "host-0006");
		CU_ASSERT_STRING_EQUAL(gone.peer, "its-leaf");
		CU_ASSERT_EQUAL(gone.peer_port, leaf->num);
		CU_ASSERT_PTR_EQUAL(gone_peer(model.fabric, &gone), leaf);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CU_ASSERT_FALSE(gone_recall(model.fabric, others[i], &gone));
	CU_ASSERT_PTR_NOT_NULL(strstr(gone_text(model.fabric, &gone, text), "is gone since 20"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "; it was at its-leaf port 2, LID 40 is reserved"));
	CU_ASSERT_PTR_NOT_NULL(strstr(gone_explain(model.fabric, &named, "host-0006", text),
				      "host-0006 is gone since 20"));
	CU_ASSERT_STRING_EQUAL(gone_explain(model.fabric, &named, "host-0007", text), "no node");
	CU_ASSERT_STRING_EQUAL(gone_explain(NULL, &named, "host-0006", text), "no node");
	named.ambiguous = true;
	CU_ASSERT_STRING_EQUAL(gone_explain(model.fabric, &named, "host-0006", text), "no node");
	port_set_lid(model.fabric, &node_of("host-0007")->port[1], 40, 0);
	CU_ASSERT_FALSE(gone_lid_is_free(model.fabric, &gone));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(gone_text(model.fabric, &gone, text), "LID 40 has another port now"));
	end();
}

/* After a restart the registry still has the LID and the place of a port. */
static void test_record(void)
{
	const struct lid_entry record = {
		.guid = 0x77, .lid = 90, .lmc = 1, .node_guid = 0x10, .port = 3};
	struct gone_node gone;
	char text[GONE_TEXT_SIZE];

	begin();
	registry_put(registry, REGISTRY_LID, &record);
	CU_ASSERT_TRUE(gone_recall(model.fabric, "0x77", &gone));
	CU_ASSERT_TRUE(gone_recall(model.fabric, "91", &gone));
	CU_ASSERT_FALSE(gone_recall(model.fabric, "92", &gone));
	CU_ASSERT_EQUAL(gone.peer_guid, 0x10);
	CU_ASSERT_EQUAL(gone.peer_port, 3);
	CU_ASSERT_PTR_NULL(gone_peer(model.fabric, &gone));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(gone_text(model.fabric, &gone, text), "is gone since before weftd started"));
	end();
}

/* The oldest are forgotten. A node that returned and left again is known once. */
static void test_limit(void)
{
	struct gone_node gone;
	char guid[24];

	begin();
	for (guid_t i = 1; i <= GONE_NODES_MAX + 2; i++) {
		guid_t number = i == 3 ? 2 : i;
		const struct node_info info = {
			.node_type = NODE_CA, .num_ports = 1, .node_guid = 0x1000 + number};
		struct node *node = fabric_add_node(model.fabric, &info);

		gone_note(model.fabric, node, LEFT_S + i);
		fabric_drop_node(model.fabric, node);
	}
	CU_ASSERT_EQUAL(model.fabric->gone.by_guid.count, GONE_NODES_MAX);
	CU_ASSERT_FALSE(gone_recall(model.fabric, "0x1001", &gone));
	CU_ASSERT_TRUE(gone_recall(model.fabric, "0x1002", &gone));
	CU_ASSERT_EQUAL(gone.gone_s, LEFT_S + 3);
	snprintf(guid, sizeof(guid), "0x%x", 0x1000 + GONE_NODES_MAX + 2);
	CU_ASSERT_TRUE(gone_recall(model.fabric, guid, &gone));
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"is found", test_is_found},
		{"record", test_record},
		{"limit", test_limit},
		CU_TEST_INFO_NULL,
	};

	return unit_main("gone", tests);
}
