/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Net files: accepted and refused input, with line and text of the error. Printing and reading are
 * inverse. The tests also cover the limits, and mutations of a good file, which must do no harm
 * (AddressSanitizer shows this best).
 */
#include "formats/net.h"

#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

/* Everything that the grammar has, in one file. */
static const char everything[] =
	"# a comment\n"
	"vendid=0x2c9\n"
	"devid=0xb924\n"
	"sysimgguid=0x1000\t\t# Chassis 1\n"
	"switchguid=0x1001(1002)\t# Spine 3\n"
	"Switch\t8 \"S-1001\"\t\t# \"core = \"one\"\" enhanced port 0 lid 3 lmc 1\n"
	"[1](0)\t\"H-2001\"[1](2002) \t\t# \"host one\" lid 8 12xHDR\n"
	"# a comment inside a record\n"
	"[2][ext 7]\t\"H-2101\"[1][ext 9] w=8 s=7 e=3\n"
	"[3] \"H-2101\" [2]\n"
	"[4]\t\"R1\"[1](5001)\t\t# \"a router\" lid 16 4xFDR10\n"
	"[5]\t\"S-1001\"[6]\t\t# \"a loop\" lid 3 1xFDR\n"
	"[7]\t\"S-1001\"[7]\t\t# \"a plug\" lid 3 2xNDR\r\n"
	"\n"
	"Chassis 1 (guid 0x10)\n"
	"do Unlink \"S-1001\"[5]\n"
	"module=\"m\"\n"
	"pdebug=1\n"
	"caguid=0x2001\n"
	"Ca\t1 \"H-2001\"\t\t# \"host one\"\n"
	"[1](2002) \t\"S-1001\"[1]\t\t# lid 8 lmc 3 \"core one\" lid 3 12xHDR\n"
	"\n"
	"caguid+0x100\n"
	"Hca \t2 \"H-2101\"\t# host two\n"
	"[2](2103) \"S-1001\"[3]\t# lid 65535 lmc 0 \"core\" lid 3 4xEDR\n"
	"   \t\n"
	"width=3\n"
	"speed = 0\n"
	"extspeed=1\n"
	"Hca 4 \"H-no-guid-line\"\n"
	"\n"
	"rtguid=0x5000\n"
	"Rt\t2 \"R1\"\t# \"a router\"\n"
	"[1](5001) \t\"S-1001\"[4]\t# lid 16 lmc 0 \"core\" lid 3 4xFDR10";

static struct net *parse(const char *text)
{
	struct net_error error = {0};
	struct net *net = NULL;

	if (net_parse("test", text, strlen(text), &net, &error)) {
		fprintf(stderr, "%s\n", error.text);
		CU_FAIL_FATAL("a good text is refused");
	}
	return net;
}

static char *print(const struct net *net)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	net_print(stream, net);
	fclose(stream);
	return text;
}

static const struct net_node *world_node_of(const struct net *net, const char *id)
{
	int index = net_find(net, id);

	CU_ASSERT_FATAL(index >= 0);
	return &net->nodes[index];
}

static void test_everything(void)
{
	struct net *net = parse(everything);
	const struct net_node *s = world_node_of(net, "S-1001"),
			      *one = world_node_of(net, "H-2001");
	const struct net_node *two = world_node_of(net, "H-2101"), *r = world_node_of(net, "R1");
	const struct net_node *bare = world_node_of(net, "H-no-guid-line");
	struct net_counts counts;

	net_count(net, &counts);
	CU_ASSERT(counts.switches == 1 && counts.adapters == 3 && counts.routers == 1);
	CU_ASSERT(counts.links == 6 && counts.switch_links == 2);
	CU_ASSERT(counts.table_ports == 9 + 1 + 2 + 4 + 2);
	CU_ASSERT_EQUAL(net->ignored, 4);

	CU_ASSERT(s->vendor_id == 0x2c9 && s->device_id == 0xb924 && s->system_guid == 0x1000);
	CU_ASSERT(s->guid == 0x1001 && s->port[0].guid == 0x1002 && s->enhanced_port0);
	CU_ASSERT(s->port[0].lid == 3 && s->port[0].lmc == 1);
	CU_ASSERT_STRING_EQUAL(s->description, "core = 'one'");
	CU_ASSERT(one->vendor_id == 0 && one->system_guid == 0);
	CU_ASSERT(one->guid == 0x2001 && one->port[1].guid == 0x2002);
	CU_ASSERT(one->port[1].lid == 8 && one->port[1].lmc == 3 && one->port[0].lid == 0);
	CU_ASSERT(one->port[1].rate.width == 11 && one->port[1].rate.speed_ext == 7);
	CU_ASSERT_STRING_EQUAL(two->description, "host two");
	CU_ASSERT(two->guid == 0x2101 && bare->guid == 0x2104 && r->guid == 0x5000);
	CU_ASSERT_STRING_EQUAL(bare->description, "H-no-guid-line");
	CU_ASSERT(r->type == NODE_ROUTER && r->port[1].rate.fdr10);

	/* Port 1 of two is listed by the switch only; port 2's LID is none yet. */
	CU_ASSERT(two->port[1].peer == net_find(net, "S-1001") && two->port[1].peer_port == 2);
	CU_ASSERT(two->port[1].rate.width == 8 && two->port[1].rate.speed_ext == 3);
	CU_ASSERT(two->port[2].peer_port == 3 && two->port[2].lid == LID_NONE);
	/* Without a word about it 4x SDR, and behind the defaults those: speed 0 is QDR. */
	CU_ASSERT(s->port[3].rate.width == 3 && s->port[3].rate.speed == 1);
	CU_ASSERT(bare->port[1].rate.speed == 4 && bare->port[1].rate.speed_ext == 1);
	CU_ASSERT(s->port[7].peer == net_find(net, "S-1001") && s->port[7].peer_port == 7);
	CU_ASSERT(s->port[8].peer == NET_NO_PEER);
	net_free(net);
}

static void check_fixed_point(const struct net *net)
{
	char *first = print(net), *second;
	struct net *again = parse(first);

	second = print(again);
	CU_ASSERT_STRING_EQUAL(first, second);
	free(second);
	net_free(again);
	free(first);
}

/* But for whether the rate was given, which a text always does. */
static bool is_same_port(const struct net_port *a, const struct net_port *b)
{
	return a->guid == b->guid && a->peer == b->peer && a->peer_port == b->peer_port &&
	       a->lmc == b->lmc && a->lid == b->lid && !memcmp(&a->rate, &b->rate, sizeof(a->rate));
}

static void test_round_trip(void)
{
	struct net *net = parse(everything), *again;
	const struct net_node *s;
	char *text;

	check_fixed_point(net);
	text = print(net);
	again = parse(text);
	CU_ASSERT_EQUAL(again->count, net->count);
	for (unsigned n = 0; n < net->count; n++) {
		const struct net_node *a = &net->nodes[n], *b = &again->nodes[n];

		CU_ASSERT_STRING_EQUAL(a->id, b->id);
		CU_ASSERT_STRING_EQUAL(a->description, b->description);
		CU_ASSERT(a->guid == b->guid && a->system_guid == b->system_guid);
		CU_ASSERT(a->vendor_id == b->vendor_id && a->device_id == b->device_id);
		for (unsigned p = 1; p <= a->ports; p++) {
			CU_ASSERT_EQUAL(a->port[p].peer, b->port[p].peer);
			if (a->port[p].peer != NET_NO_PEER)
				CU_ASSERT(is_same_port(&a->port[p], &b->port[p]));
		}
	}
	/* ibsim takes a = behind the peer's id for an option. */
	s = world_node_of(net, "S-1001");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "# \"core = 'one'\" enhanced port 0 lid 3 lmc 1\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"S-1001\"[6]\t\t# \"core - 'one'\" lid 3 1xFDR\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "w=8 s=7 e=3"));
	CU_ASSERT(s->port[2].rate.width == 8);
	free(text);
	net_free(again);
	net_free(net);
}

static const struct refusal {
	const char *text;
	unsigned line;
	const char *words;
} refusals[] = {
	{"", 0, "describes no node"},
	{"# nothing\n\n", 0, "describes no node"},
	{"Switch 8 \"a\"\n\nswich 8 \"b\"\n", 3, "no keyword"},
	{" Switch 8 \"a\"\n", 1, "no keyword"},
	{"Switch\n", 1, "1 to 254"},
	{"Switch \"a\"\n", 1, "1 to 254"},
	{"Switch 0 \"a\"\n", 1, "1 to 254: \"0"},
	{"Switch 255 \"a\"\n", 1, "1 to 254"},
	{"Switch 99999999999999999999 \"a\"\n", 1, "1 to 254"},
	{"Switch 8 a\n", 1, "id in quotes"},
	{"Switch 8 \"a\n", 1, "id in quotes"},
	{"Switch 8 \"\"\n", 1, "cannot be an id"},
	{"Switch 8 \"a#b\"\n", 1, "cannot be an id"},
	{"Switch 8 \"a@b\"\n", 1, "cannot be an id"},
	{"Ca 1 \"0123456789012345678901234567890123456789012345678901234567890123X\"\n", 1,
	 "cannot be an id"},
	{"Switch 8 \"a\" x\n", 1, "unexpected"},
	{"Switch 8 \"a\"\n\nCa 1 \"a\"\n", 3, "second time"},
	{"Switch 8 \"a\" # \"a\" base port 0 lid 49152 lmc 0\n", 1, "LID 49152"},
	{"Switch 8 \"a\" # \"a\" base port 0 lid 1 lmc 8\n", 1, "LMC 8"},
	{"Switch 8 \"a\" # \"01234567890123456789012345678901234567890123456789012345678901234\"\n",
	 1, "65 bytes"},
	{"[1] \"a\"[1]\n", 1, "outside"},
	{"Switch 8 \"a\"\n\n[1] \"a\"[2]\n", 3, "outside"},
	{"Switch 8 \"a\"\n[0] \"a\"[2]\n", 2, "ports 1 to 8"},
	{"Switch 8 \"a\"\n[9] \"a\"[2]\n", 2, "ports 1 to 8"},
	{"Switch 8 \"a\"\n[-1] \"a\"[2]\n", 2, "ports 1 to 8"},
	{"Switch 8 \"a\"\n[1 \"a\"[2]\n", 2, "ports 1 to 8"},
	{"Switch 8 \"a\"\n[1](xyz) \"a\"[2]\n", 2, "hexadecimal"},
	{"Switch 8 \"a\"\n[1](12345678901234567) \"a\"[2]\n", 2, "hexadecimal"},
	{"Switch 8 \"a\"\n[1] a[2]\n", 2, "peer's id"},
	{"Switch 8 \"a\"\n[1] \"a\"[0]\n", 2, "1 to 254"},
	{"Switch 8 \"a\"\n[1] \"a\"[2\n", 2, "1 to 254"},
	{"Switch 8 \"a\"\n[1] \"a\"[2](\n", 2, "hexadecimal"},
	{"Switch 8 \"a\"\n[1] \"a\"[2] w=0\n", 2, "width needs"},
	{"Switch 8 \"a\"\n[1] \"a\"[2] s=8\n", 2, "speed needs"},
	{"Switch 8 \"a\"\n[1] \"a\"[2] e=16\n", 2, "extspeed needs"},
	{"Switch 8 \"a\"\n[1] \"a\"[2] q=1\n", 2, "unexpected"},
	{"Switch 8 \"a\"\n[1] \"a\"[2]\n[1] \"a\"[3]\n", 3, "second time"},
	{"Ca 1 \"a\"\n[1] \"b\"[1] # lid 50000 lmc 0 \"b\" lid 1 4xEDR\n", 2, "LID 50000"},
	{"Switch 8 \"a\"\n[1] \"b\"[1]\n", 2, "described nowhere"},
	{"Switch 8 \"a\"\n[1] \"b\"[2]\n\nCa 1 \"b\"\n", 2, "whose ports are 1 to 1"},
	{"Switch 8 \"a\"\n[1] \"b\"[1]\n\nCa 1 \"b\"\n[1] \"a\"[2]\n", 2,
	 "which is linked to port 2"},
	{"Switch 8 \"a\"\n[1] \"b\"[1]\n[2] \"b\"[1]\n\nCa 1 \"b\"\n", 3,
	 "which is linked to port 1"},
	{"Switch 8 \"a\"\n[1] \"b\"[1](7)\n\nCa 1 \"b\"\n[1](8) \"a\"[1]\n", 2, "the GUID 7 here"},
	{"Switch 8 \"a\"\n@[1] \"alias\"\n", 2, "aliases"},
	{"Switch 8 \"a\"\ninclude \"other\"\n", 2, "include is not supported"},
	{"switchguid 5\n", 1, "= and a value"},
	{"switchguid=\n", 1, "the line ends"},
	{"switchguid=0x1ffffffffffffffff\n", 1, "number up to"},
	{"switchguid=5(zz)\n", 1, "hexadecimal"},
	{"caguid=5 6\n", 1, "unexpected"},
	{"vendid=0x1000000\n", 1, "0xffffff"},
	{"devid=0x10000\n", 1, "0xffff"},
	{"width=32\n", 1, "width needs a mask of 1 to 31"},
	{"speed=fast\n", 1, "speed needs"},
	{"Switch 8 \"a\"\n\x01\n", 2, "control character 0x01"},
	{"Switch 8 \"a\"\rSwitch 8 \"b\"\n", 1, "control character 0x0d"},
};

static void test_refusals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *c = &refusals[i];
		struct net_error error = {.line = 77};
		struct net *net = (struct net *)&error;
		int r = net_parse("some.net", c->text, strlen(c->text), &net, &error);
		char place[32];

		snprintf(place, sizeof(place), c->line ? "some.net:%u: " : "some.net: ", c->line);
		CU_ASSERT_EQUAL(r, -EINVAL);
		CU_ASSERT_PTR_EQUAL(net, &error);
		if (r != -EINVAL || error.line != c->line || !strstr(error.text, c->words) ||
		    strncmp(error.text, place, strlen(place)) != 0) {
			fprintf(stderr, "case %zu: %s\n", i, error.text);
			CU_FAIL("another error was expected");
		}
	}
}

/* A NUL does not end the text, and no text at all is no crash. */
static void test_length_counts(void)
{
	static const char text[] = "Switch 1 \"a\"\0\n";
	struct net_error error;
	struct net *net = NULL;

	CU_ASSERT_EQUAL(net_parse("t", text, sizeof(text) - 1, &net, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "control character 0x00"));
	CU_ASSERT_EQUAL(net_parse("t", NULL, 0, &net, &error), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(net_parse("t", text, 12, &net, &error), 0);
	net_free(net);
}

/* Writes the output of printf count times, with the number of the round as argument. */
static char *repeat(const char *format, unsigned count)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	for (unsigned i = 0; i < count; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(stream, format, i);
#pragma GCC diagnostic pop
	}
	fclose(stream);
	return text;
}

static void check_limit(const char *format, unsigned fits, unsigned line, int code)
{
	char *text = repeat(format, fits), *more = repeat(format, fits + 1);
	struct net_error error;
	struct net *net = NULL;

	net_free(parse(text));
	CU_ASSERT_EQUAL(net_parse("t", more, strlen(more), &net, &error), code);
	CU_ASSERT_EQUAL(error.line, line);
	CU_ASSERT_PTR_NULL(net);
	free(more);
	free(text);
}

static void test_limits(void)
{
	char *line = mem_printf("Ca 1 \"a\"\n#%*s", NET_LINE_MAX - 1, "");
	char *longer = mem_printf("%s ", line);
	struct net_error error;
	struct net *net = NULL;

	net_free(parse(line));
	CU_ASSERT_EQUAL(net_parse("t", longer, strlen(longer), &net, &error), -EINVAL);
	CU_ASSERT(error.line == 2 && strstr(error.text, "513 bytes"));
	free(longer);
	free(line);
	check_limit("Ca 1 \"%u\"\n", NET_NODES_MAX, NET_NODES_MAX + 1, -E2BIG);
	check_limit("Switch 254 \"%u\"\n", NET_PORTS_MAX / 255, NET_PORTS_MAX / 255 + 1, -E2BIG);
}

static void test_builder(void)
{
	struct net *net = net_new();
	struct net_error error;
	char id[NET_ID_MAX + 2];
	int s, h;

	s = net_add_node(net, NODE_SWITCH, "s", "with \"quotes\"\n", 4);
	h = net_add_node(net, NODE_CA, "h", NULL, 2);
	CU_ASSERT(s == 0 && h == 1 && net_find(net, "h") == 1 && net_find(net, "x") == -ENOENT);
	CU_ASSERT_STRING_EQUAL(net->nodes[s].description, "with 'quotes'?");
	CU_ASSERT_EQUAL(net_add_node(net, NODE_CA, "h", NULL, 2), -EEXIST);
	CU_ASSERT_EQUAL(net_add_node(net, NODE_CA, "x", NULL, 0), -EINVAL);
	CU_ASSERT_EQUAL(net_add_node(net, NODE_CA, "x", NULL, 255), -EINVAL);
	memset(id, 'i', sizeof(id));
	id[NET_ID_MAX + 1] = '\0';
	CU_ASSERT_EQUAL(net_add_node(net, NODE_CA, id, NULL, 1), -EINVAL);
	id[NET_ID_MAX] = '\0';
	CU_ASSERT_EQUAL(net_add_node(net, NODE_CA, id, NULL, 1), 2);

	CU_ASSERT_EQUAL(net_connect(net, s, 1, h, 3), -EINVAL);
	CU_ASSERT_EQUAL(net_connect(net, s, 0, h, 1), -EINVAL);
	CU_ASSERT_EQUAL(net_connect(net, 9, 1, h, 1), -EINVAL);
	CU_ASSERT_EQUAL(net_connect(net, -1, 1, h, 1), -EINVAL);
	CU_ASSERT_EQUAL(net_connect(net, s, 1, h, 1), 0);
	CU_ASSERT_EQUAL(net_connect(net, s, 1, h, 2), -EBUSY);
	CU_ASSERT_EQUAL(net_connect(net, s, 2, h, 1), -EBUSY);
	CU_ASSERT_EQUAL(net_connect(net, s, 3, s, 3), 0);
	CU_ASSERT_EQUAL(net_validate(net, &error), 0);
	check_fixed_point(net);
	net_disconnect(net, h, 1);
	net_disconnect(net, h, 1);
	net_disconnect(net, s, 3);
	CU_ASSERT(net->nodes[s].port[1].peer == NET_NO_PEER);
	CU_ASSERT(net->nodes[s].port[3].peer == NET_NO_PEER);
	CU_ASSERT_EQUAL(net_connect(net, s, 1, h, 2), 0);
	net_free(net);
	net_free(NULL);
}

/* Such nets can be read, because managers must be tested against them; validation reports them. */
static const struct {
	const char *text;
	const char *words; /* NULL: nothing is wrong */
} validations[] = {
	{everything, NULL},
	{"caguid=1\nCa 1 \"a\"\n\ncaguid=1\nCa 1 \"b\"\n", "node GUID 0x0000000000000001"},
	{"Ca 1 \"a\"\n[1](5) \"b\"[1]\n\nCa 1 \"b\"\n[1](5) \"a\"[1]\n",
	 "port GUID 0x0000000000000005 is given to a and to b port 1"},
	{"Ca 1 \"a\"\n[1] \"b\"[1] # lid 4 lmc 1 \"b\" lid 5 4xEDR\n\nCa 1 \"b\"\n",
	 "LID 5 is given to a and to b port 1"},
	{"Switch 1 \"a\" # \"a\" base port 0 lid 49151 lmc 1\n", "LID 49152 is above"},
	/* A switch's port 0 may have its node's GUID. */
	{"switchguid=5(5)\nSwitch 1 \"a\"\n", NULL},
};

static void test_validate(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(validations); i++) {
		struct net *net = parse(validations[i].text);
		struct net_error error = {0};
		int r = net_validate(net, &error);

		CU_ASSERT_EQUAL(r, validations[i].words ? -EINVAL : 0);
		if (r && !(validations[i].words && strstr(error.text, validations[i].words))) {
			fprintf(stderr, "case %zu: %s\n", i, error.text);
			CU_FAIL("another fault was expected");
		}
		net_free(net);
	}
}

static void test_rates(void)
{
	static const char *const good[] = {"4xSDR", "4xEDR", "12xHDR", "1xFDR10", "2xNDR", "8xQDR"};
	static const char *const bad[] = {"",	   "x",	  "4x",	   "4xEDRx",
					  "3xEDR", "EDR", "4XEDR", "??xSDR"};
	struct net_rate rate = {.width = 9, .speed = 1};
	char name[16];

	CU_ASSERT_FALSE(net_rate_name(&rate, name, sizeof(name)));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CU_ASSERT_FALSE(net_rate_parse(bad[i], strlen(bad[i]), &rate));
	CU_ASSERT_EQUAL(rate.width, 9);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		CU_ASSERT_TRUE(net_rate_parse(good[i], strlen(good[i]), &rate));
		CU_ASSERT_TRUE(net_rate_name(&rate, name, sizeof(name)));
		CU_ASSERT_STRING_EQUAL(name, good[i]);
	}
}

/* The files that ibsim's package brings along, where documentation is installed. */
static const struct {
	const char *name;
	unsigned switches, adapters, links;
} examples[] = {
	{"net", 2, 2, 4},
	{"net.1", 1, 2, 2},
	{"net.2sw2path", 2, 2, 4},
	{"net.2sw2path4hca", 2, 4, 6},
	{"net.2sw2path4hca2port", 2, 2, 6},
};

static void check_example(FILE *file, unsigned switches, unsigned adapters, unsigned links)
{
	static char text[1 << 16];
	struct net_counts counts;
	struct net *net;

	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	net = parse(text);
	net_count(net, &counts);
	CU_ASSERT_EQUAL(counts.switches, switches);
	CU_ASSERT_EQUAL(counts.adapters, adapters);
	CU_ASSERT_EQUAL(counts.links, links);
	check_fixed_point(net);
	net_free(net);
}

static void test_examples(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		char *path =
			mem_printf("/usr/share/doc/ibsim-utils/net-examples/%s", examples[i].name);
		FILE *file = fopen(path, "r");

		if (file) {
			check_example(file, examples[i].switches, examples[i].adapters,
				      examples[i].links);
			fclose(file);
		} else {
			printf("(no %s) ", path);
		}
		free(path);
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* Some bytes are replaced, mostly by such that mean something here, or a piece is cut or doubled.
 */
static size_t mutate(char *text, size_t length, uint32_t *state)
{
	static const char meaningful[] = "\n\n\"\"[]()=+#@ \t0129xwse\xff";
	unsigned count = next_random(state) % 4 + 1;

	for (unsigned i = 0; i < count; i++) {
		size_t at = next_random(state) % length, piece = next_random(state) % 20;

		if (at + piece >= length)
			piece = 0;
		if (next_random(state) % 4 == 0)
			memmove(text + at, text + at + piece, length - at - piece);
		else if (next_random(state) % 4 == 0)
			memmove(text + at + piece, text + at, length - at - piece);
		else if (next_random(state) % 4 == 0)
			text[at] = next_random(state);
		else
			text[at] = meaningful[next_random(state) % (sizeof(meaningful) - 1)];
	}
	return next_random(state) % 8 ? length : next_random(state) % length;
}

static void test_mutations(void)
{
	enum { ROUNDS = 20000 };
	uint32_t state = 20240501;
	unsigned accepted = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		/* On the heap and of the exact length, so that a read beyond it is noticed. */
		char *text = mem_strdup(everything), *exact;
		size_t length = mutate(text, strlen(everything), &state);
		struct net_error error = {0};
		struct net *net = NULL;

		exact = mem_alloc(length ? length : 1);
		memcpy(exact, text, length);
		if (net_parse("mutation", exact, length, &net, &error) == 0) {
			accepted++;
			net_validate(net, &error);
			check_fixed_point(net);
		} else if (error.text[0] == '\0' || strchr(error.text, '\n')) {
			CU_FAIL("an error is one line that is not empty");
		}
		net_free(net);
		free(exact);
		free(text);
	}
	/* Neither all nor nothing: mutations reach beyond the first line. */
	CU_ASSERT(accepted > ROUNDS / 50 && accepted < ROUNDS / 2);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"everything of the grammar", test_everything},
		{"round trip", test_round_trip},
		{"refusals with line and reason", test_refusals},
		{"the length counts", test_length_counts},
		{"limits", test_limits},
		{"builder", test_builder},
		{"validate", test_validate},
		{"rates", test_rates},
		{"ibsim's examples", test_examples},
		{"mutations", test_mutations},
		CU_TEST_INFO_NULL,
	};

	return unit_main("net", tests);
}
