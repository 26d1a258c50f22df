/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The list of lost links (fabric/lost_links.h) and the list of ports with a fault
 * (fabric/port_notes.h): what enters them and what leaves them again.
 */
#include "fabric/lost_links.h"

#include <string.h>

#include "fabric/fabric.h"
#include "fabric/port_notes.h"
#include "store/registry.h"
#include "tests/unit/fixtures/unit.h"

enum { SWITCHES = 4, PORTS = 4 };

struct bed {
	struct fabric *fabric;
	struct node *node[SWITCHES];
};

static struct port *port_of(struct bed *bed, unsigned sw, unsigned num)
{
	return &bed->node[sw]->port[num];
}

static void bed_cable(struct bed *bed, unsigned a, unsigned a_num, unsigned b, unsigned b_num)
{
	fabric_link(bed->fabric, port_of(bed, a, a_num), port_of(bed, b, b_num));
}

static void bed_pull(struct bed *bed, unsigned sw, unsigned num)
{
	fabric_unlink(bed->fabric, port_of(bed, sw, num));
}

/* A line of switches: port 1 of each is cabled to port 2 of the next. */
static void bed_begin(struct bed *bed)
{
	bed->fabric = fabric_new(NULL, 1, 1);
	for (unsigned i = 0; i < SWITCHES; i++) {
		const struct node_info info = {.node_type = NODE_SWITCH,
					       .num_ports = PORTS,
					       .node_guid = 0x100 + i,
					       .port_guid = 0x100 + i};

		bed->node[i] = fabric_add_node(bed->fabric, &info);
	}
	for (unsigned i = 0; i + 1 < SWITCHES; i++)
		bed_cable(bed, i, 1, i + 1, 2);
}

static size_t lost(const struct bed *bed)
{
	return bed->fabric->lost_links.lost.count;
}

static const struct lost_link *first_lost(const struct bed *bed)
{
	size_t position = 0;

	return map_next(&bed->fabric->lost_links.lost, &position);
}

/* The changes of a bring-up are no losses. */
static void test_before_the_first_sweep(void)
{
	struct bed bed;

	bed_begin(&bed);
	bed_pull(&bed, 0, 1);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	lost_links_settle(bed.fabric, 10);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	fabric_free(bed.fabric);
}

static void test_lost_and_back(void)
{
	struct bed bed;

	bed_begin(&bed);
	lost_links_settle(bed.fabric, 10);
	bed_pull(&bed, 1, 2); /* from its far end: the order of the ends stays */
	CU_ASSERT_EQUAL_FATAL(lost(&bed), 1);
	CU_ASSERT_EQUAL(first_lost(&bed)->since_s, 0);
	CU_ASSERT_EQUAL(first_lost(&bed)->end[0].guid, 0x100);
	CU_ASSERT_EQUAL(first_lost(&bed)->end[0].num, 1);
	CU_ASSERT_EQUAL(first_lost(&bed)->end[1].guid, 0x101);
	CU_ASSERT_EQUAL(first_lost(&bed)->end[1].num, 2);
	lost_links_settle(bed.fabric, 20);
	lost_links_settle(bed.fabric, 30);
	CU_ASSERT_EQUAL(first_lost(&bed)->since_s, 20);
	bed_cable(&bed, 1, 2, 0, 1);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	fabric_free(bed.fabric);
}

/* The links of a node that is gone stay lost. */
static void test_dropped_node(void)
{
	struct bed bed;

	bed_begin(&bed);
	lost_links_settle(bed.fabric, 10);
	fabric_drop_node(bed.fabric, bed.node[1]);
	lost_links_settle(bed.fabric, 20);
	CU_ASSERT_EQUAL(lost(&bed), 2);
	lost_links_accept(bed.fabric);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	bed_pull(&bed, 2, 1); /* recording goes on */
	CU_ASSERT_EQUAL(lost(&bed), 1);
	lost_links_end(&bed.fabric->lost_links);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	fabric_free(bed.fabric);
}

/* Another manager with the same records: after a restart, or a failover. */
static void bed_restart(struct bed *bed, struct registry *registry)
{
	if (bed->fabric)
		fabric_free(bed->fabric);
	bed_begin(bed);
	bed->fabric->registry = registry;
}

static void test_restart(void)
{
	struct registry *registry = registry_new();
	const struct lost_link_entry *record;
	struct bed bed = {.fabric = NULL};

	bed_restart(&bed, registry);
	memcpy(bed.node[1]->facts->description, "leaf", sizeof("leaf"));
	lost_links_settle(bed.fabric, 10);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 0);
	bed_pull(&bed, 0, 1);
	bed_pull(&bed, 2, 1);
	lost_links_settle(bed.fabric, 20);
	CU_ASSERT_EQUAL_FATAL(registry_count(registry, REGISTRY_LOST_LINK), 2);
	/* The second link returns while no manager runs. */
	bed_restart(&bed, registry);
	bed_pull(&bed, 0, 1);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	lost_links_settle(bed.fabric, 30);
	CU_ASSERT_EQUAL_FATAL(lost(&bed), 1);
	CU_ASSERT_EQUAL(first_lost(&bed)->since_s, 20);
	CU_ASSERT_STRING_EQUAL(first_lost(&bed)->end[1].name, "leaf");
	record = registry_first(registry, REGISTRY_LOST_LINK, -1, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(record);
	CU_ASSERT_EQUAL(record->node_guid, 0x100);
	CU_ASSERT_PTR_NULL(registry_next(registry, REGISTRY_LOST_LINK, -1, record));
	/* If the manager loses its role, the records stay. The return of the link drops them, and
	 * so does a command. */
	lost_links_end(&bed.fabric->lost_links);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 1);
	lost_links_settle(bed.fabric, 40);
	CU_ASSERT_EQUAL(lost(&bed), 1);
	bed_cable(&bed, 0, 1, 1, 2);
	lost_links_settle(bed.fabric, 50);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 0);
	bed_pull(&bed, 0, 1);
	lost_links_settle(bed.fabric, 60);
	lost_links_accept(bed.fabric);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 0);
	fabric_free(bed.fabric);
	registry_free(registry);
}

/* A registry that was copied or restored may have any number of records. */
static void test_too_many_records(void)
{
	struct registry *registry = registry_new();
	struct bed bed = {.fabric = NULL};

	for (unsigned i = 0; i < LOST_LINKS_MAX + 7; i++) {
		const struct lost_link_entry entry = {.node_guid = 0x1000 + i,
						      .port = 1,
						      .peer_guid = 0x900000 + i,
						      .peer_port = 1,
						      .since_s = 1};

		registry_put(registry, REGISTRY_LOST_LINK, &entry);
	}
	bed_restart(&bed, registry);
	lost_links_settle(bed.fabric, 10);
	CU_ASSERT_EQUAL(lost(&bed), LOST_LINKS_MAX);
	CU_ASSERT_EQUAL(bed.fabric->lost_links.more, 7);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), LOST_LINKS_MAX);
	fabric_free(bed.fabric);
	registry_free(registry);
}

/* A host that left while no manager ran: its LID record names the switch port. */
static void test_missing_host(void)
{
	const struct node_info host = {
		.node_type = NODE_CA, .num_ports = 1, .node_guid = 0x900, .port_guid = 0x901};
	const struct lid_entry entry = {.guid = 0x901, .node_guid = 0x102, .port = 4};
	const struct lid_entry unplaced = {.guid = 0x902};
	struct registry *registry = registry_new();
	struct bed bed = {.fabric = NULL};
	struct node *node;

	bed_restart(&bed, registry);
	lost_links_missing(bed.fabric, &entry);
	lost_links_missing(bed.fabric, &entry); /* once */
	lost_links_missing(bed.fabric, &unplaced);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 1);
	lost_links_settle(bed.fabric, 10);
	CU_ASSERT_EQUAL_FATAL(lost(&bed), 1);
	CU_ASSERT_EQUAL(first_lost(&bed)->since_s, 10);
	CU_ASSERT_EQUAL(first_lost(&bed)->end[0].num, 4);
	CU_ASSERT_STRING_EQUAL(first_lost(&bed)->end[1].name, "port GUID 0x0000000000000901");
	/* From now on lost links are seen. */
	lost_links_missing(bed.fabric,
			   &(struct lid_entry){.guid = 3, .node_guid = 0x103, .port = 4});
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 1);
	/* It returns, at the same port. */
	node = fabric_add_node(bed.fabric, &host);
	map_put(&bed.fabric->ports, host.port_guid, &node->port[1]);
	fabric_link(bed.fabric, port_of(&bed, 2, 4), &node->port[1]);
	lost_links_settle(bed.fabric, 20);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	CU_ASSERT_EQUAL(registry_count(registry, REGISTRY_LOST_LINK), 0);
	fabric_free(bed.fabric);
	registry_free(registry);
}

/* A duplicate cable comes and goes in each heavy pass. */
static void test_within_a_sweep(void)
{
	struct bed bed;

	bed_begin(&bed);
	lost_links_settle(bed.fabric, 10);
	bed_cable(&bed, 0, 3, 3, 3);
	bed_pull(&bed, 0, 3);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	bed_cable(&bed, 0, 3, 3, 3);
	lost_links_settle(bed.fabric, 20);
	bed_pull(&bed, 0, 3);
	CU_ASSERT_EQUAL(lost(&bed), 1);
	fabric_free(bed.fabric);
}

/* Two cables changed places: no link is down. If only one end got another cable, the link is. */
static void test_moved_cables(void)
{
	struct bed bed;

	bed_begin(&bed);
	lost_links_settle(bed.fabric, 10);
	bed_cable(&bed, 0, 1, 3, 2); /* pulls 0-1 and 2-3 */
	lost_links_settle(bed.fabric, 20);
	CU_ASSERT_EQUAL(lost(&bed), 2);
	bed_cable(&bed, 2, 1, 1, 2);
	lost_links_settle(bed.fabric, 30);
	CU_ASSERT_EQUAL(lost(&bed), 0);
	fabric_free(bed.fabric);
}

static bool is_marked(const struct port *port)
{
	return port->refuses;
}

static void test_notes(void)
{
	struct port_notes notes = {.count = 0};
	struct bed bed;

	bed_begin(&bed);
	for (unsigned i = 0; i < 2; i++) { /* each only once */
		port_notes_add(&notes, port_of(&bed, 0, 1));
		port_notes_add(&notes, port_of(&bed, 1, 0));
	}
	CU_ASSERT_EQUAL(notes.count, 2);
	port_of(&bed, 1, 0)->refuses = PORT_REFUSES_FORCED;
	port_notes_keep(&notes, bed.fabric, is_marked);
	CU_ASSERT_EQUAL_FATAL(notes.count, 1);
	CU_ASSERT_PTR_EQUAL(port_notes_port(&notes.row[0], bed.fabric), port_of(&bed, 1, 0));
	fabric_drop_node(bed.fabric, bed.node[1]);
	CU_ASSERT_PTR_NULL(port_notes_port(&notes.row[0], bed.fabric));
	port_notes_keep(&notes, bed.fabric, is_marked);
	CU_ASSERT_EQUAL(notes.count, 0);
	fabric_free(bed.fabric);
}

/* A full list says that there may be more, until it is empty again. */
static void test_full_notes(void)
{
	struct port_notes notes = {.count = PORT_NOTES_MAX};
	struct bed bed;

	bed_begin(&bed);
	port_notes_add(&notes, port_of(&bed, 0, 1));
	CU_ASSERT_EQUAL(notes.count, PORT_NOTES_MAX);
	CU_ASSERT_TRUE(notes.more);
	port_notes_keep(&notes, bed.fabric, is_marked);
	CU_ASSERT_EQUAL(notes.count, 0);
	CU_ASSERT_FALSE(notes.more);
	fabric_free(bed.fabric);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"before the first sweep", test_before_the_first_sweep},
		{"lost and back", test_lost_and_back},
		{"a node that is gone", test_dropped_node},
		{"restart", test_restart},
		{"too many records", test_too_many_records},
		{"a host that left unseen", test_missing_host},
		{"within a sweep", test_within_a_sweep},
		{"moved cables", test_moved_cables},
		{"notes of ports", test_notes},
		{"full notes", test_full_notes},
		CU_TEST_INFO_NULL,
	};

	return unit_main("lost_links", tests);
}
