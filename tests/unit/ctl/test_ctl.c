/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftctl: how words become requests or are refused, and the exact output of the printers for
 * literal JSON. The JSON may lack everything, or come from a malicious node.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/commands.h"
#include "ctl/handlers.h"
#include "ctl/reference.h"
#include "ctl/text.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

/* Splits text at blanks, in place. */
static int split(char *text, char **words, int room)
{
	int count = 0;

	for (char *word = strtok(text, " "); word && count < room; word = strtok(NULL, " "))
		words[count++] = word;
	return count;
}

#define P_KEY "a P_Key, 0x0001 to 0x7fff (the membership bit does not count)"

static const struct {
	const char *line, *request; /* as compact JSON; NULL: refused */
	const char *error;
} calls[] = {
	{"status", "{\"command\":\"status\"}", ""},
	{"health", "{\"command\":\"health\"}", ""},
	{"health accept", "{\"command\":\"health accept\"}", ""},
	{"health acept", NULL, "unexpected \"acept\": weftctl health"},
	{"sweep", "{\"command\":\"sweep\"}", ""},
	{"sweep light", "{\"command\":\"sweep\",\"kind\":\"light\"}", ""},
	{"sweep heavy", "{\"command\":\"sweep\",\"kind\":\"heavy\"}", ""},
	{"sweep full", "{\"command\":\"sweep\",\"kind\":\"heavy\"}", ""},
	{"node list", "{\"command\":\"node list\"}", ""},
	{"link list", "{\"command\":\"link list\"}", ""},
	{"node show leaf", "{\"command\":\"node show\",\"node\":\"leaf\"}", ""},
	{"port list", "{\"command\":\"port list\"}", ""},
	{"port list leaf", "{\"command\":\"port list\",\"node\":\"leaf\"}", ""},
	{"port show leaf 3", "{\"command\":\"port show\",\"node\":\"leaf\",\"port\":\"3\"}", ""},
	{"port disable leaf 3 --force",
	 "{\"command\":\"port disable\",\"force\":true,\"node\":\"leaf\",\"port\":\"3\"}", ""},
	{"port enable leaf 3", "{\"command\":\"port enable\",\"node\":\"leaf\",\"port\":\"3\"}",
	 ""},
	{"port enable leaf 0", NULL, "\"0\" is not a port: a number from 1 to 254"},
	{"port enable leaf 3 --force", NULL,
	 "unexpected \"--force\": weftctl port enable NODE PORT"},
	{"port disable leaf", NULL, "PORT is missing: weftctl port disable NODE PORT [--force]"},
	{"events --since 17 --follow", "{\"command\":\"events\",\"follow\":true,\"since\":\"17\"}",
	 ""},
	{"capture a.pcap --seconds 5",
	 "{\"command\":\"capture\",\"file\":\"a.pcap\",\"seconds\":\"5\"}", ""},
	{"capture a.pcap --seconds 0", NULL,
	 "\"0\" is not a time: a number of seconds from 1 to 86400"},
	{"capture", NULL, "FILE|- is missing: weftctl capture FILE|- [--seconds N]"},
	{"events --since -1", NULL,
	 "\"-1\" is not the number of an event, or a time: \"2026-11-27 10:30\", \"10:30\", "
	 "\"today\", \"2h\""},
	{"events --kind link,node --node leaf --lines 3",
	 "{\"command\":\"events\",\"kind\":\"link,node\",\"lines\":\"3\",\"node\":\"leaf\"}", ""},
	{"events --lines 0", NULL, "\"0\" is not a number from 1 to 1000000"},
	{"service list", "{\"command\":\"service list\"}", ""},
	{"alias list", "{\"command\":\"alias list\"}", ""},
	{"alias list leaf", "{\"command\":\"alias list\",\"node\":\"leaf\"}", ""},
	{"alias list leaf 1", "{\"command\":\"alias list\",\"node\":\"leaf\",\"port\":\"1\"}", ""},
	{"alias list leaf one", NULL, "\"one\" is not a port: a number from 0 to 254"},
	{"alias set leaf 1", NULL, "GUID is missing: weftctl alias set NODE PORT GUID"},
	{"inform list", "{\"command\":\"inform list\"}", ""},
	{"multicast list", "{\"command\":\"multicast list\"}", ""},
	{"multicast show ff12::1", "{\"command\":\"multicast show\",\"mgid\":\"ff12::1\"}", ""},
	{"route show h1 0x0002c90300fed671",
	 "{\"command\":\"route show\",\"dst\":\"0x0002c90300fed671\",\"src\":\"h1\"}", ""},

	{"route show h1 h2 --sl 3",
	 "{\"command\":\"route show\",\"dst\":\"h2\",\"sl\":\"3\",\"src\":\"h1\"}", ""},
	{"route show --sl 3 h1 h2",
	 "{\"command\":\"route show\",\"dst\":\"h2\",\"sl\":\"3\",\"src\":\"h1\"}", ""},
	{"route check", "{\"command\":\"route check\"}", ""},
	{"log level debug", "{\"command\":\"log level\",\"level\":\"debug\"}", ""},
	{"log level sm debug",
	 "{\"command\":\"log level\",\"component\":\"sm\",\"level\":\"debug\"}", ""},
	{"log level", "{\"command\":\"log level\"}", ""},
	{"log level sm", NULL,
	 "\"sm\" is not a level: emerg, alert, crit, err, warning, notice, info, "
	 "debug, or default"},
	{"log level sm loud", NULL,
	 "\"loud\" is not a level: emerg, alert, crit, err, warning, notice, info, debug, or "
	 "default"},
	{"log level sm debug now", NULL,
	 "unexpected \"now\": weftctl log level [COMPONENT] [LEVEL]"},
	{"save a.json", "{\"command\":\"save\",\"file\":\"a.json\"}", ""},
	{"restore -", "{\"command\":\"restore\",\"file\":\"-\"}", ""},
	{"route quality", "{\"command\":\"route quality\"}", ""},
	{"route plan --engine ftree", "{\"command\":\"route plan\",\"engine\":\"ftree\"}", ""},
	{"route engine ftree,updn", "{\"command\":\"route engine\",\"engines\":\"ftree,updn\"}",
	 ""},
	{"route dump --format opensm /tmp/x",
	 "{\"command\":\"route dump\",\"dir\":\"/tmp/x\",\"format\":\"opensm\"}", ""},
	{"topology export --format dot", "{\"command\":\"topology export\",\"format\":\"dot\"}",
	 ""},
	{"port show leaf-01/5", "{\"command\":\"port show\",\"node\":\"leaf-01\",\"port\":\"5\"}",
	 ""},
	{"perf show a/b/7", "{\"command\":\"perf show\",\"node\":\"a/b\",\"port\":\"7\"}", ""},
	{"port show leaf-01/5 3",
	 "{\"command\":\"port show\",\"node\":\"leaf-01/5\",\"port\":\"3\"}", ""},
	{"port show leaf-01/x", NULL, "PORT is missing: weftctl port show NODE PORT"},
	{"port show leaf-01/0", NULL, "PORT is missing: weftctl port show NODE PORT"},
	{"port show /5", NULL, "PORT is missing: weftctl port show NODE PORT"},
	{"perf clear leaf-01/5", "{\"command\":\"perf clear\",\"node\":\"leaf-01/5\"}", ""},
	{"topology check plan.net", "{\"command\":\"topology export\",\"file\":\"plan.net\"}", ""},

	{"", NULL, "no command given; --help lists the commands"},
	{"stauts", NULL, "unknown command \"stauts\"; did you mean \"status\"?"},
	{"nodes list", NULL, "unknown command \"nodes list\"; did you mean \"node list\"?"},
	{"swep heavy", NULL, "unknown command \"swep heavy\"; did you mean \"sweep\"?"},
	{"node", NULL, "unknown command \"node\"; choose from \"node list\", \"node show\""},
	{"topology", NULL,
	 "unknown command \"topology\"; choose from \"topology export\", \"topology check\""},
	{"route dumb x", NULL, "unknown command \"route dumb x\"; did you mean \"route dump\"?"},
	{"partition member ad", NULL,
	 "unknown command \"partition member ad\"; did you mean \"partition member add\"?"},
	{"partition membr add 5 6", NULL,
	 "unknown command \"partition membr add\"; did you mean \"partition member add\"?"},
	{"partition member", NULL,
	 "unknown command \"partition member\"; choose from \"partition member add\", "
	 "\"partition member remove\""},
	{"partition", NULL,
	 "unknown command \"partition\"; choose from \"partition list\", \"partition show\", "
	 "\"partition add\", \"partition remove\", \"partition set\", \"partition rename\", "
	 "\"partition member add\", \"partition member remove\", \"partition apply\", \"partition "
	 "check\", \"partition "
	 "accept\""},
	{"partition make", NULL,
	 "unknown command \"partition make\"; choose from \"partition list\", \"partition show\", "
	 "\"partition add\", \"partition remove\", \"partition set\", \"partition rename\", "
	 "\"partition member add\", \"partition member remove\", \"partition apply\", \"partition "
	 "check\", \"partition "
	 "accept\""},
	{"partition create 0x8001 blue",
	 "{\"command\":\"partition add\",\"name\":\"blue\",\"p_key\":\"0x8001\"}", ""},
	{"partition delete blue --force",
	 "{\"command\":\"partition remove\",\"force\":true,\"p_key\":\"blue\"}", ""},
	{"partition members blue", "{\"command\":\"partition show\",\"p_key\":\"blue\"}", ""},
	{"partition set blue --mtu 4096 --no-ipoib",
	 "{\"command\":\"partition set\",\"mtu\":\"4096\",\"no-ipoib\":true,\"p_key\":\"blue\"}",
	 ""},
	{"partition rename blue", NULL, "NAME is missing: weftctl partition rename PARTITION NAME"},
	{"config set lmc=1", NULL,
	 "unknown command \"config set lmc=1\"; choose from \"config show\", \"config check\", "
	 "\"config reload\""},
	{"nothing of this", NULL, "unknown command \"nothing of this\"; --help lists the commands"},
	{"reboot", NULL, "unknown command \"reboot\"; --help lists the commands"},
	{"list node", NULL, "unknown command \"list node\"; did you mean \"node list\"?"},
	{"show node leaf-01", NULL,
	 "unknown command \"show node leaf-01\"; did you mean \"node show\"?"},
	{"list partitons", NULL,
	 "unknown command \"list partitons\"; did you mean \"partition list\"?"},
	{"add partition 5", NULL,
	 "unknown command \"add partition 5\"; did you mean \"partition add\"?"},
	{"add partition member 5", NULL,
	 "unknown command \"add partition member\"; did you mean \"partition member add\"?"},
	{"partitons list", NULL,
	 "unknown command \"partitons list\"; did you mean \"partition list\"?"},
	{"nodse", NULL, "unknown command \"nodse\"; choose from \"node list\", \"node show\""},
	{"toplogy now", NULL,
	 "unknown command \"toplogy now\"; choose from \"topology export\", \"topology check\""},
	{"member partition add", NULL,
	 "unknown command \"member partition add\"; --help lists the commands"},
	{"show", NULL, "unknown command \"show\"; --help lists the commands"},
	{"multicast show", NULL, "MGID is missing: weftctl multicast show MGID"},
	{"status now", NULL, "unexpected \"now\": weftctl status"},
	{"sweep ful", NULL, "\"ful\" is not light|heavy: weftctl sweep [light|heavy]"},
	{"sweep heavy now", NULL, "unexpected \"now\": weftctl sweep [light|heavy]"},
	{"partition show 0x7fff", "{\"command\":\"partition show\",\"p_key\":\"0x7fff\"}", ""},
	{"partition show 32773", "{\"command\":\"partition show\",\"p_key\":\"32773\"}", ""},
	{"partition add 0 zero", NULL, "\"0\" is not " P_KEY},
	{"partition add 0x8000", NULL, "\"0x8000\" is not " P_KEY},
	{"partition add 0xffff", NULL, "\"0xffff\" is not " P_KEY "; did you mean 0x7fff?"},
	{"partition add 0x10005", NULL, "\"0x10005\" is not " P_KEY},
	{"partition add -5", NULL, "\"-5\" is not " P_KEY},
	{"partition add 0100", NULL, "\"0100\" is not " P_KEY "; did you mean 0x0100?"},
	{"partition add 80a5 blue", NULL, "\"80a5\" is not " P_KEY "; did you mean 0x00a5?"},
	{"partition member add 5 a b --limited",
	 "{\"command\":\"partition member "
	 "add\",\"limited\":true,\"members\":[\"a\",\"b\"],\"p_key\":\"5\"}",
	 ""},
	{"partition member remove", NULL,
	 "PARTITION is missing: weftctl partition member remove PARTITION [MEMBER...] [--file "
	 "FILE] "
	 "[--force]"},
	{"route show", NULL, "SRC is missing: weftctl route show SRC DST [--sl N]"},
	{"route show h1", NULL, "DST is missing: weftctl route show SRC DST [--sl N]"},
	{"route show h1 h2 h3", NULL, "unexpected \"h3\": weftctl route show SRC DST [--sl N]"},
	{"route show h\xff h2", NULL, "SRC is not UTF-8"},
	{"route show h1 h2 --sl", NULL, "--sl needs a value: weftctl route show SRC DST [--sl N]"},
	{"partition set x --name y", NULL,
	 "unexpected \"--name\"; weftctl partition rename changes the name: weftctl partition set "
	 "PARTITION [--ipoib] [--no-ipoib] [--indx0] [--no-indx0] [--mtu N] [--rate N] [--scope N] "
	 "[--q_key N]"},
	{"route show h1 h2 --sl 3 --sl 4", NULL,
	 "--sl is given twice: weftctl route show SRC DST [--sl N]"},
	{"route check --sl 3", NULL, "unexpected \"--sl\": weftctl route check"},
	{"route plan", NULL, "--engine is missing: weftctl route plan --engine NAME"},
	{"route engine", NULL,
	 "NAME[,NAME...]|default is missing: weftctl route engine NAME[,NAME...]|default "
	 "[--force]"},
	{"route dump /tmp/x", NULL, "--format is missing: weftctl route dump --format opensm DIR"},
	{"route dump --format xml /tmp/x", NULL,
	 "\"xml\" is not opensm: weftctl route dump --format opensm DIR"},
	{"topology export --format xml", NULL,
	 "\"xml\" is not net|json|dot|slurm: weftctl topology export --format "
	 "net|json|dot|slurm"},
};

/* Values of options that a command line refuses, with exit status 2. */
static void test_values(void)
{
	static const struct {
		const char *command, *option, *good, *bad; /* values, with blanks */
	} rows[] = {
		{"partition add 5", "mtu", "1 4 5 256 512 1024 2048 4096 0x5",
		 "0 6 9 9000 4k -1 2048x"},
		{"partition set x", "mtu", "4096", "9"},
		{"partition add 5", "rate", "2 3 24 25 100 1200", "0 1 26 99 99999 fast"},
		{"partition add 5", "scope", "1 15 0xf", "0 16 link"},
		{"partition add 5", "q_key", "0 0xffffffff 4294967295", "0x100000000 -1 key"},
		{"partition apply f", "owner", "admin site gateway:a gateway:A.b_c-1",
		 "root gateway: gateway:a/b file"},
		{"route show a b", "sl", "0 15", "16 -1 x"},
		{"perf top", "by", "data wait", "nothing"},
		{"perf metrics", "names", "weft treydock guilbaults", "mine"},
		{"events", "kind", "link link,node other,role", "links link, ,link link,,node"},
		{"events", "lines", "1 1000000", "0 1000001 -1 x"},
		{"events", "since", "0 17 today 2h", "soon"},
		{"capture f", "seconds", "1 86400", "0 86401 1h"},
		{"save f", "with", "keys", "all"},
		{"topology export", "format", "net json dot slurm", "xml"},
	};
	char error[CTL_ERROR_SIZE], line[128], *words[8];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (int bad = 0; bad < 2; bad++) {
			char *list = mem_strdup(bad ? rows[i].bad : rows[i].good), *rest = list;
			const char *value;

			while ((value = strsep(&rest, " "))) {
				const struct ctl_command *command = NULL;
				json_t *request = NULL;
				int result;

				snprintf(line, sizeof(line), "%s --%s %s", rows[i].command,
					 rows[i].option, value);
				result = ctl_parse(split(line, words, 8), words, &command, &request,
						   error);
				CU_ASSERT_EQUAL(result, bad ? -EINVAL : 0);
				if (result != (bad ? -EINVAL : 0))
					printf("\n%s --%s %s", rows[i].command, rows[i].option,
					       value);
				json_decref(request);
			}
			free(list);
		}
	}
}

static void test_parse(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct ctl_command *command = NULL;
		char *line = mem_strdup(calls[i].line), *words[8], *text;
		char error[CTL_ERROR_SIZE] = "";
		json_t *request = NULL;
		int result = ctl_parse(split(line, words, 8), words, &command, &request, error);

		CU_ASSERT_STRING_EQUAL(error, calls[i].error);
		if (calls[i].request) {
			CU_ASSERT_EQUAL(result, 0);
			CU_ASSERT_PTR_NOT_NULL(command);
			text = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);
			CU_ASSERT_STRING_EQUAL(text, calls[i].request);
			free(text);
		} else {
			CU_ASSERT_EQUAL(result, -EINVAL);
			CU_ASSERT_PTR_NULL(command);
			CU_ASSERT_PTR_NULL(request);
		}
		json_decref(request);
		free(line);
	}
}

/* The exit status of a change. */
static void test_change_failed(void)
{
	static const struct {
		const char *data;
		bool failed;
	} rows[] = {
		{"{\"durable\":true,\"shown\":true,\"waiting\":0,\"counts\":{\"absent\":1}}",
		 false},
		{"{\"durable\":false,\"shown\":true,\"waiting\":0,\"counts\":{}}", true},
		{"{\"durable\":true,\"shown\":false,\"waiting\":0,\"counts\":{}}", true},
		{"{\"durable\":true,\"shown\":true,\"waiting\":1,\"counts\":{\"written\":1}}",
		 true},
		{"{\"durable\":true,\"shown\":true,\"waiting\":0,\"counts\":{\"failed\":1}}", true},
		{"{\"durable\":true,\"shown\":true,\"waiting\":0,\"counts\":{\"no room\":1}}",
		 true},
		{"{\"durable\":true,\"shown\":true,\"waiting\":0,\"counts\":{},\"warnings\":[]}",
		 false},
		{"{\"durable\":true,\"shown\":true,\"waiting\":0,\"counts\":{},\"warnings\":[\"a\"]"
		 "}",
		 true},
		{"{}", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *data = json_loads(rows[i].data, 0, NULL);

		CU_ASSERT_EQUAL(partition_change_failed(data), rows[i].failed);
		json_decref(data);
	}
}

/* The output of a printer, or of a table with these columns, for data; to be freed. */
static char *printed(void (*print)(const json_t *, FILE *), const struct column *columns,
		     const struct column_choice *choice, const char *data)
{
	json_t *json = json_loads(data, JSON_DECODE_ANY, NULL);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	text_make_printable(json);
	if (columns)
		columns_print(columns, choice, json, out);
	else
		print(json, out);
	fclose(out);
	json_decref(json);
	return text;
}

/* The first line of status. */
static void print_worst_only(const json_t *data, FILE *out)
{
	size_t size;
	char *text;
	FILE *whole = text_stream(&text, &size);

	print_status(data, whole);
	fclose(whole);
	fprintf(out, "%.*s\n", (int)strcspn(text, "\n"), text);
	free(text);
}

/* The exit status of weftctl health. */
static void test_health_status(void)
{
	static const struct {
		const char *data;
		int status;
	} rows[] = {
		{"{\"level\":\"healthy\"}", 0},
		{"{\"level\":\"degraded\"}", 4},
		{"{\"level\":\"broken\"}", 5},
		{"{}", 5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_t *data = json_loads(rows[i].data, 0, NULL);

		CU_ASSERT_EQUAL(health_exit_status(data), rows[i].status);
		json_decref(data);
	}
}

static const struct {
	const char *name;
	void (*print)(const json_t *, FILE *);
	const char *data, *text;
} answers[] = {
	{"health", print_health,
	 "{\"level\":\"degraded\",\"checks\":[{\"check\":\"links\",\"level\":\"degraded\","
	 "\"text\":\"1 link down\",\"remedy\":\"check it\"},{\"check\":\"subnet\","
	 "\"level\":\"healthy\",\"text\":\"MASTER\"}]}",
	 "degraded  links         1 link down\n"
	 "                        remedy: check it\n"
	 "healthy   subnet        MASTER\n"},
	{"accepted", print_health_accepted, "{\"forgotten\":1,\"links\":16}",
	 "1 lost link forgotten; 16 links are the state to compare with\n"},
	{"status of a daemon that is degraded", print_worst_only,
	 "{\"health\":{\"check\":\"links\",\"level\":\"degraded\",\"text\":\"1 link down\","
	 "\"remedy\":\"check it\"}}",
	 "Health      degraded: links: 1 link down (check it); see weftctl health\n"},
	{"status with a problem that has the remedy", print_worst_only,
	 "{\"health\":{\"check\":\"partitions\",\"level\":\"degraded\",\"text\":\"p.conf:1: bad\","
	 "\"remedy\":\"correct it\"},\"problems\":[\"p.conf:1: bad: correct it\"]}",
	 "Health      degraded: partitions: see the problem below, and weftctl health\n"},
	{"status with a problem that is another", print_worst_only,
	 "{\"health\":{\"check\":\"links\",\"level\":\"degraded\",\"text\":\"1 link down\","
	 "\"remedy\":\"check it\"},\"problems\":[\"p.conf:1: bad: correct it\"]}",
	 "Health      degraded: links: 1 link down (check it); see weftctl health\n"},
	{"errors before a read", print_errors,
	 "{\"ports\":[],\"links\":[],\"note\":{\"text\":\"never read\"}}",
	 "\nLinks that are slower or narrower than both ends support:\nnone\n"},
	{"status", print_status,
	 "{\"role\":\"MASTER\",\"priority\":3,\"guid\":\"0x0002c90300000001\",\"lid\":1,"
	 "\"state\":\"subnet up\",\"ca\":\"mlx5_0\",\"port\":1,"
	 "\"sweep\":{\"number\":3,\"kind\":\"heavy\",\"reason\":\"start\",\"started_s\":1767323045,"
	 "\"duration_us\":1234567,\"phases\":[{\"name\":\"discover\",\"us\":400},"
	 "{\"name\":\"routing\",\"us\":52300}],\"smps\":8123,\"sets\":400,\"retries\":1,"
	 "\"failed\":2},"
	 "\"counts\":{\"switches\":1,\"adapters\":648,\"ports\":2600,\"links\":1296,"
	 "\"active_ports\":2592,\"lid_top\":700},"
	 "\"routing\":{\"engine\":\"minhop\",\"tried\":[{\"engine\":\"ftree\",\"why\":\"no tree\"},"
	 "{\"engine\":\"minhop\",\"why\":\"\"}],\"unreached\":0,\"looping\":0},"
	 "\"peers\":[{\"guid\":\"0x0002c90300000002\",\"lid\":5,\"priority\":3,"
	 "\"state\":\"STANDBY\",\"last_seen_ms\":20},{\"guid\":\"0x0002c90300000003\",\"lid\":6,"
	 "\"priority\":0,\"state\":\"NOTACTIVE\",\"last_seen_ms\":1500}],"
	 "\"smps\":[{\"method\":\"Get\",\"attribute\":\"NodeInfo\",\"sent\":1000,"
	 "\"received\":999,\"timed_out\":1},{\"method\":\"Set\","
	 "\"attribute\":\"LinearForwardingTable\",\"sent\":40,\"received\":40,\"timed_out\":0}],"
	 "\"mads\":{\"sent\":1,\"received\":2,\"timed_out\":3,\"unmatched\":4,\"malformed\":5,"
	 "\"send_failed\":6,\"unhandled\":7},\"window\":{\"under_way_max\":64,\"retries\":2,"
	 "\"failed\":1},"
	 "\"sa\":{\"received\":10,\"answered\":8,\"refused\":1,\"dropped\":1},"
	 "\"traps\":{\"received\":3,\"repressed\":3,\"mismatched\":2,\"not_forwarded\":1},"
	 "\"anomalies\":{\"duplicate_guids\":0,\"self_links\":1,\"lid_conflicts\":0,"
	 "\"unresponsive\":2,\"refused_values\":0},\"log\":{\"lines\":5},\"new\":[{}]}",
	 "Manager     MASTER, priority 3, on mlx5_0 port 1\n"
	 "            GUID 0x0002c90300000001, LID 1\n"
	 "Subnet      subnet up\n"
	 "Last sweep  number 3, heavy (start), at 2026-01-02 03:04:05, took 1.23 s\n"
	 "            8123 SMPs, 400 of them Set(), 1 retry, 2 failed\n"
	 "Fabric      1 switch, 648 adapters, 1296 links\n"
	 "            2592 of 2600 ports active, highest LID 700\n"
	 "Routing     minhop; every switch reaches every LID\n"
	 "            not ftree: no tree\n"
	 "Peers       0x0002c90300000002, LID 5, priority 3, STANDBY, last seen 20.0 ms ago\n"
	 "            0x0002c90300000003, LID 6, priority 0, NOTACTIVE, last seen 1.50 s ago\n"
	 "Anomalies   1 ports cabled to themselves, 2 without a response; since the start of "
	 "weftd\n"
	 "Traps       3 received, 3 repressed, 2 from another port than the trap names, "
	 "1 not forwarded, above the rate of one port\n"
	 "SA requests 10 received, 8 answered, 1 refused, 1 dropped\n"
	 "Window      64 SMPs under way at most, 2 sent again, 1 failed\n"
	 "MADs        1 sent, 2 received, 3 timed out, 4 late or unmatched, 5 malformed, "
	 "6 not sent, 7 without a handler\n"
	 "Phases      discover 400 us, routing 52.3 ms\n"
	 "\n"
	 "MAD                        SENT RECEIVED TIMED-OUT\n"
	 "Get(NodeInfo)              1000      999         1\n"
	 "Set(LinearForwardingTable)   40       40         0\n"},
	{"status of a standby", print_status,
	 "{\"role\":\"STANDBY\",\"priority\":0,\"guid\":\"0x1\",\"lid\":4,\"state\":\"standby\","
	 "\"ca\":\"mlx5_0\",\"port\":1,\"sweep\":{\"number\":0},\"routing\":{},\"peers\":[],"
	 "\"store\":{\"path\":\"/s/weft.db\",\"state\":\"degraded\",\"reason\":\"disk "
	 "full\",\"bytes\":5,"
	 "\"records\":{\"lid\":2,\"group\":1}},"
	 "\"anomalies\":{\"self_links\":0},\"smps\":[]}",
	 "Manager     STANDBY, priority 0, on mlx5_0 port 1\n"
	 "            GUID 0x1, LID 4\n"
	 "Subnet      standby\n"
	 "Last sweep  none yet\n"
	 "Routing     none yet\n"
	 "Peers       none\n"
	 "Store       degraded: disk full\n"
	 "            /s/weft.db, 3 records, 5 bytes, last commit -\n"
	 "Anomalies   none\n"},
	{"a master without standbys", print_ha,
	 "{\"role\":\"MASTER\",\"listen\":\"\",\"durability\":\"local\",\"acknowledged_by\":"
	 "\"local\",\"carrier\":\"none\",\"copies\":\"all\",\"master\":null,\"peers\":[],"
	 "\"standbys\":[]}",
	 "Role        MASTER\n"
	 "Replicates  no\n"
	 "Listens     no: standbys cannot follow this manager\n"
	 "Durability  local\n"
	 "Standbys    none\n"},
	{"a standby over the fabric", print_ha,
	 "{\"role\":\"STANDBY\",\"listen\":\"\",\"durability\":\"local\",\"acknowledged_by\":"
	 "\"local\",\"carrier\":\"fabric\",\"copies\":\"no secrets\",\"master\":{\"state\":"
	 "\"looks for the master\"},\"peers\":[{\"address\":\"0x1\",\"why\":\"no answer\"}],"
	 "\"standbys\":[]}",
	 "Role        STANDBY\n"
	 "Replicates  over the fabric (allowed_sm_guids): all but M_Keys and service keys\n"
	 "Durability  local\n"
	 "Master      looks for the master\n"
	 "Peers       0x1: no answer\n"},
	{"a master whose standby is NOTACTIVE", print_ha,
	 "{\"role\":\"MASTER\",\"carrier\":\"tcp\",\"copies\":\"all\",\"listen\":"
	 "\"10.0.0.1\",\"durability\":\"local\","
	 "\"acknowledged_by\":\"local\",\"refused\":{\"connections\":7,\"standbys\":0,"
	 "\"masters\":1},\"master\":null,\"peers\":[],\"standbys\":[{\"guid\":"
	 "\"0x0002c90300000003\",\"address\":\"10.0.0.2:9\",\"role\":\"NOTACTIVE\",\"state\":"
	 "\"in "
	 "sync\",\"copies\":\"all\",\"lag\":0,\"tables\":2,\"last_seen_ms\":2,\"store\":\"ok\"}]}",
	 "Role        MASTER\n"
	 "Replicates  over TCP: all records\n"
	 "Listens     10.0.0.1\n"
	 "Durability  local\n"
	 "Refused     7 connections, 0 standbys, 1 masters\n"
	 "\n"
	 "STANDBY            ADDRESS    ROLE      STATE   COPIES LAG TABLES  LAST-SEEN STORE\n"
	 "0x0002c90300000003 10.0.0.2:9 NOTACTIVE in sync all      0      2 2.0 ms ago ok\n"},
	{"status of partitions", print_status,
	 "{\"partitions\":{\"source\":\"no file\",\"in_file\":0,\"at_run_time\":1,"
	 "\"unmanaged_ports\":1,\"unmanaged_p_keys\":2}}",
	 "Manager     -, priority 0, on - port 0\n"
	 "            GUID -, LID 0\n"
	 "Subnet      -\n"
	 "Partitions  no file; 0 in the file, 1 made at run time\n"
	 "            1 port lost 2 P_Keys that the configuration does not assign: see "
	 "docs/partitions.md\n"},
	{"status with many phases", print_status,
	 "{\"sweep\":{\"number\":1,\"phases\":[{\"name\":\"discover\",\"us\":1000},"
	 "{\"name\":\"check\",\"us\":80},{\"name\":\"elect\",\"us\":30},"
	 "{\"name\":\"role\",\"us\":15},{\"name\":\"lids\",\"us\":1},"
	 "{\"name\":\"routes\",\"us\":81},{\"name\":\"program\",\"us\":2000000}]}}",
	 "Manager     -, priority 0, on - port 0\n"
	 "            GUID -, LID 0\n"
	 "Subnet      -\n"
	 "Last sweep  number 1, - (-), at -, took 0 us\n"
	 "            0 SMPs, 0 of them Set(), 0 retries, 0 failed\n"
	 "Phases      discover 1.0 ms, check 80 us, elect 30 us, role 15 us, lids 1 us, "
	 "routes 81 us, program 2.00 s\n"},
	{"status with bad routes", print_status,
	 "{\"routing\":{\"engine\":\"minhop\",\"unreached\":4,\"looping\":2}}",
	 "Manager     -, priority 0, on - port 0\n"
	 "            GUID -, LID 0\n"
	 "Subnet      -\n"
	 "Routing     minhop; 4 pairs of switch and LID are not reached, 2 loop\n"},
	{"status with settings", print_status,
	 "{\"settings\":[{\"name\":\"routing\",\"value\":\"updn\",\"clear\":\"route engine "
	 "default\"},"
	 "{\"name\":\"x\",\"value\":\"y\",\"clear\":\"z\",\"ignored\":\"no such y\"}]}",
	 "Manager     -, priority 0, on - port 0\n"
	 "            GUID -, LID 0\n"
	 "Subnet      -\n"
	 "Run time    routing = updn, set at run time; weftctl route engine default returns to the "
	 "configuration\n"
	 "            x = y, set at run time, is ignored: no such y\n"},
	{"status with a switch left out", print_status,
	 "{\"unrouted\":[{\"guid\":\"0x1\",\"description\":\"S 1\",\"why\":\"because\"}]}",
	 "Manager     -, priority 0, on - port 0\n"
	 "            GUID -, LID 0\n"
	 "Subnet      -\n"
	 "Unrouted    0x1 \"S 1\": because\n"},
	{"a partition that is made", print_partition_added,
	 "{\"p_key\":5,\"changed\":true,\"durable\":true,\"waiting\":0,\"shown\":true,\"counts\":{}"
	 ",\"ports\":[]}",
	 "0x0005 is made; it has no members yet\n"},
	{"the default partition that is made", print_partition_added,
	 "{\"p_key\":32767,\"changed\":true,\"durable\":true,\"waiting\":0,\"shown\":true,"
	 "\"counts\":{},"
	 "\"ports\":[]}",
	 "0x7fff is made; a port that it does not name is a limited member\n"},
	{"a partition that had members before", print_partition_added,
	 "{\"p_key\":5,\"changed\":true,\"durable\":true,\"waiting\":0,\"shown\":true,\"counts\":{"
	 "\"absent\":1},"
	 "\"ports\":[]}",
	 "0x0005 is made: 1 absent\n"},
	{"a partition that is removed", print_partition_removed,
	 "{\"p_key\":5,\"changed\":true,\"durable\":true,\"waiting\":0,\"shown\":true,\"counts\":{}"
	 ",\"ports\":[]}",
	 "0x0005, made at run time, is removed\n"},
	{"a partition that is removed with its members", print_partition_removed,
	 "{\"p_key\":5,\"changed\":true,\"durable\":true,\"waiting\":0,\"shown\":true,"
	 "\"counts\":{\"absent\":1,\"acknowledged\":2},\"ports\":[]}",
	 "0x0005, made at run time, is removed: 1 absent, 2 acknowledged\n"},
	{"a change that is not all done", print_members_changed,
	 "{\"p_key\":5,\"changed\":true,\"durable\":false,\"waiting\":2,\"shown\":false,\"counts\":"
	 "{\"wanted\":2},"
	 "\"ports\":[{\"guid\":\"0x1\",\"membership\":\"full\",\"by\":\"run time\","
	 "\"status\":\"wanted\",\"port\":1,\"description\":\"h1\"}]}",
	 "0x0005 is changed: 2 wanted\n"
	 "  not durable yet: the store has not confirmed it, and a restart may undo it; see "
	 "weftctl "
	 "status\n"
	 "  2 ports have not acknowledged it yet; weftd tries again; see weftctl partition "
	 "show 0x0005\n"
	 "  the SA does not use it yet\n"
	 "GUID MEMBERSHIP SOURCE   OWNER STATUS PORT NODE\n"
	 "0x1  full       run time -     wanted    1 h1\n"},
	{"sweep that found something", print_sweep,
	 "{\"kind\":\"light\",\"fabric_changed\":true,\"duration_us\":12345,\"smps\":1,\"sets\":0,"
	 "\"summary\":\"subnet up\"}",
	 "light sweep in 12.3 ms: 1 SMP, 0 of them Set(); the fabric changed\n"
	 "subnet up\n"},
	{"sweep that wrote tables", print_sweep,
	 "{\"kind\":\"light\",\"changed\":true,\"fabric_changed\":false,\"duration_us\":999,"
	 "\"smps\":30,\"sets\":3,\"blocks_set\":3,\"switches_set\":1}",
	 "light sweep in 999 us: 30 SMPs, 3 of them Set(); 3 blocks of forwarding tables written "
	 "on "
	 "1 switch\n"},
	{"sweep that found and wrote", print_sweep,
	 "{\"kind\":\"heavy\",\"fabric_changed\":true,\"duration_us\":999,\"smps\":30,\"sets\":3,"
	 "\"blocks_set\":1,\"switches_set\":2}",
	 "heavy sweep in 999 us: 30 SMPs, 3 of them Set(); the fabric changed; 1 block of "
	 "forwarding "
	 "tables written on 2 switches\n"},
	{"sweep that found nothing", print_sweep,
	 "{\"kind\":\"heavy\",\"changed\":false,\"duration_us\":999,\"smps\":300,\"sets\":0}",
	 "heavy sweep in 999 us: 300 SMPs, 0 of them Set(); nothing changed\n"},
	{"a route to itself", print_route,
	 "{\"src\":{\"description\":\"a\",\"lid\":5,\"guid\":\"0x1\"},"
	 "\"dst\":{\"description\":\"a\",\"lid\":5,\"guid\":\"0x1\"},\"hops\":[]}",
	 "from a (LID 5) to a (LID 5)\n"
	 "source and destination are the same node\n"},
	{"route", print_route,
	 "{\"src\":{\"guid\":\"0x1\",\"description\":\"h1\",\"lid\":1},"
	 "\"dst\":{\"guid\":\"0x2\",\"description\":\"h2\",\"lid\":2},\"hops\":["
	 "{\"guid\":\"0x1\",\"description\":\"h1\",\"lid\":1,\"out_port\":1},"
	 "{\"guid\":\"0xa\",\"description\":\"Leaf\",\"lid\":30,\"in_port\":5,\"out_port\":11,"
	 "\"vl\":3},"
	 "{\"guid\":\"0x2\",\"description\":\"h2\",\"lid\":2,\"in_port\":1,\"out_port\":null}]}",
	 "from h1 (LID 1) to h2 (LID 2)\n"
	 "HOP IN OUT VL LID GUID NODE\n"
	 "  0  -   1  -   1 0x1  h1\n"
	 "  1  5  11  3  30 0xa  Leaf\n"
	 "  2  1   -  -   2 0x2  h2\n"},
	{"good routes", print_route_check,
	 "{\"engine\":\"ftree\",\"switches\":6,\"end_ports\":8,\"pairs\":84,\"unreached\":0,"
	 "\"looping\":0,\"disconnected\":0,\"unknown_blocks\":0,\"num_islands\":1,"
	 "\"islands\":[{}],\"credit\":{\"channels\":16,\"loops\":0},\"good\":true}",
	 "Routes of ftree on 6 switches, 8 end ports\n"
	 "Reached: 84 of 84 pairs of switch and LID\n"
	 "Credit loops: none, of 16 channels\n"},
	{"faulty routes", print_route_check,
	 "{\"engine\":\"minhop\",\"switches\":6,\"end_ports\":8,\"pairs\":84,\"unreached\":2,"
	 "\"unreached_example\":{\"lid\":7,\"from\":{\"guid\":\"0x1\",\"description\":\"a\"}},"
	 "\"looping\":3,\"looping_example\":{\"lid\":9,\"from\":{\"guid\":\"0x2\"}},"
	 "\"disconnected\":10,\"unknown_blocks\":1,\"num_islands\":3,"
	 "\"islands\":[{\"first\":{\"description\":\"a\"},\"switches\":5,\"hosts\":8}],"
	 "\"credit\":{\"channels\":16,\"loops\":6,\"vl\":2,\"length\":6,"
	 "\"loop\":[{\"description\":\"a\",\"port\":3},{\"description\":\"b\",\"port\":4}]}}",
	 "Routes of minhop on 6 switches, 8 end ports\n"
	 "Unknown contents of 1 block of tables: a write is in progress, or the switch did not "
	 "answer\n"
	 "Reached: 69 of 84 pairs of switch and LID\n"
	 "Not reached although linked: 2, for example LID 7 from a\n"
	 "In a loop: 3, for example LID 9 from 0x2\n"
	 "Islands: the fabric has 3 parts without a link between them; 10 pairs of switch and "
	 "LID cannot reach each other\n"
	 "  part with a: 5 switches, 8 ports of hosts\n"
	 "  and 2 more\n"
	 "Credit loops: 6 of 16 channels are in a loop; example with 6 channels on VL 2:\n"
	 "  a port 3\n"
	 "  b port 4\n"
	 "  ...\n"},
	{"plan", print_route_plan,
	 "{\"engine\":\"minhop\",\"switches\":6,\"end_ports\":8,\"why\":null,"
	 "\"now\":{\"all_to_all\":{\"most\":14,\"mean\":7.25,\"risk\":2},\"bisection\":0.5},"
	 "\"planned\":{\"engine\":\"ftree\",\"pairs\":84,\"unreached\":0,\"looping\":0,"
	 "\"credit\":{\"channels\":16,\"loops\":0},\"all_to_all\":{\"most\":8,\"mean\":7.25,"
	 "\"risk\":1},\"shifts\":{\"worst\":1,\"median\":1,\"patterns\":7},"
	 "\"bisection\":1.0},"
	 "\"churn\":{\"entries\":5,\"blocks\":4,\"switches\":3,\"paths\":2}}",
	 "Routes of minhop on 6 switches, 8 end ports\n"
	 "Planned: ftree; nothing is programmed\n"
	 "Reached: 84 of 84 pairs of switch and LID\n"
	 "Credit loops: none, of 16 channels\n"
	 "Changes: 5 entries in 4 blocks of 3 switches; 2 paths from a switch with hosts to "
	 "a LID differ\n"
	 "\n"
	 "QUALITY                                   NOW PLANNED\n"
	 "all to all: paths over the fullest link    14       8\n"
	 "            paths over a link, mean     7.250   7.250\n"
	 "            congestion risk                 2       1\n"
	 "            links without a path            0       0\n"
	 "            pairs of hosts not reached      0       0\n"
	 "shifts:     fullest link, worst             0       1\n"
	 "            fullest link, median            0       1\n"
	 "            shifts tried                    0       7\n"
	 "random:     fullest link, worst             0       0\n"
	 "            fullest link, 95 of 100         0       0\n"
	 "            fullest link, median            0       0\n"
	 "bisection:  share of a link, mean       0.500   1.000\n"
	 "length:     paths longer than necessary     0       0\n"},
	{"other engines", print_route_engine,
	 "{\"kind\":\"light\",\"duration_us\":2000,\"smps\":30,\"sets\":4,\"changed\":false,"
	 "\"summary\":\"subnet "
	 "up\",\"at_run_time\":true,\"routing\":{\"engine\":\"updn\",\"tried\":["
	 "{\"engine\":\"ftree\",\"why\":\"no tree\"}]}}",
	 "light sweep in 2.0 ms: 30 SMPs, 4 of them Set(); no forwarding table changed\n"
	 "subnet up\n"
	 "Routing     updn; every switch reaches every LID\n"
	 "            not ftree: no tree\n"
	 "This setting survives a restart. weftctl route engine default ends it.\n"},
	{"engines of the configuration", print_route_engine,
	 "{\"kind\":\"light\",\"duration_us\":2000,\"smps\":30,\"sets\":0,\"changed\":false,"
	 "\"summary\":\"subnet up\",\"at_run_time\":false}",
	 "light sweep in 2.0 ms: 30 SMPs, 0 of them Set(); nothing changed\n"
	 "subnet up\n"
	 "These are the engines of the configuration.\n"},
	{"a reload", print_reloaded,
	 "{\"changes\":[{\"name\":\"lmc\",\"now\":\"0\",\"next\":\"1\",\"effect\":\"restart\"},"
	 "{\"name\":\"sm_priority\",\"now\":\"0\",\"next\":\"5\",\"effect\":\"reload\"}]}",
	 "configuration read again, and in force\n"
	 "  lmc: 0 -> 1 (takes effect after a restart of weftd)\n"
	 "  sm_priority: 0 -> 5\n"},
	{"a reload of the same", print_reloaded, "{\"changes\":[],\"partitions_changed\":false}",
	 "configuration read again; no option changed, nor did the partition file\n"},
	{"a reload with other partitions", print_reloaded,
	 "{\"changes\":[],\"partitions_changed\":true}",
	 "configuration read again; no option changed\n"
	 "  the partition file changed: see weftctl events\n"},
	{"a reload with keys and warnings", print_reloaded,
	 "{\"changes\":[],\"partitions_changed\":false,\"key_files\":[{\"option\":\"ha_psk_file\","
	 "\"changed\":true},{\"option\":\"m_key_secret_file\",\"changed\":false}],"
	 "\"warnings\":[\"two nodes\"]}",
	 "configuration read again; no option changed, nor did the partition file\n"
	 "  ha_psk_file was read again: its keys changed\n"
	 "  m_key_secret_file was read again: its keys did not change\n"
	 "  warning: two nodes\n"},
	{"a reload with dangers", print_reloaded,
	 "{\"changes\":[],\"partitions_changed\":true,\"accepted\":[\"p.conf: takes P_Keys\","
	 "\"routing: loops\"]}",
	 "configuration read again; no option changed\n"
	 "  the partition file changed: see weftctl events\n"
	 "  accepted: p.conf: takes P_Keys\n"
	 "  accepted: routing: loops\n"},
	{"a port that is enabled already", print_port_change,
	 "{\"node\":\"leaf\",\"port\":3,\"unchanged\":true,\"disabled\":false}",
	 "leaf port 3 is enabled already: nothing was written\n"},
	{"a port that is disabled", print_port_change,
	 "{\"node\":\"leaf\",\"port\":3,\"peer\":\"spine\",\"peer_port\":2,\"disabled\":true,"
	 "\"ports_lost\":0,\"pairs_lost\":0,\"summary\":\"subnet up\"}",
	 "leaf port 3 (to spine port 2): disabled; no port of an adapter is cut off\nsubnet up\n"},
	{"a port whose peer is cut off", print_port_change,
	 "{\"node\":\"leaf\",\"port\":3,\"peer\":\"host\",\"peer_port\":1,\"disabled\":true,"
	 "\"ports_lost\":1,\"pairs_lost\":31,\"summary\":\"subnet up\"}",
	 "leaf port 3 (to host port 1): disabled; 1 port of adapters is cut off, 31 pairs of ports "
	 "lost their path\nsubnet "
	 "up\n"},
	{"a drain by force", print_drained,
	 "{\"node\":\"leaf\",\"drained\":true,\"ports\":2,\"isolated\":2,\"ports_lost\":2,"
	 "\"pairs_lost\":12,\"forced_after_s\":10}",
	 "leaf: drained; no route uses it, and 2 ports are disabled\n2 ports of other adapters are "
	 "cut off, 12 pairs of ports lost their path\nby force: weftd waits at most 10 s for "
	 "switches to acknowledge their tables\n"},
	{"a port that is enabled", print_port_change,
	 "{\"node\":\"leaf\",\"port\":3,\"disabled\":false,\"ports_lost\":0,\"pairs_lost\":0,"
	 "\"summary\":\"subnet up\"}",
	 "leaf port 3: enabled; if a cable is connected, the link comes up within seconds\nsubnet "
	 "up\n"},
	{"nothing to reload", print_would_change, "{\"changes\":[]}",
	 "configuration ok; a reload would change no option\n"},
	{"as planned", print_differences,
	 "{\"differences\":[],\"planned\":{\"switches\":2,\"adapters\":3,\"links\":4}}",
	 "as planned: 2 switches, 3 adapters, 4 links\n"},
	{"not as planned", print_differences,
	 "{\"differences\":[{\"kind\":\"missing node\",\"text\":\"switch a is not there\"}]}",
	 "missing node: switch a is not there\n1 difference\n"},
	{"dump", print_dump, "{\"dir\":\"d\",\"files\":[{\"file\":\"opensm.fdbs\",\"bytes\":7}]}",
	 "d/opensm.fdbs: 7 bytes\n"},
	{"a node", print_node,
	 "{\"node\":{\"description\":\"leaf\",\"type\":\"switch\",\"guid\":\"0x1\",\"lid\":2,"
	 "\"system_guid\":\"0x3\",\"vendor\":713,\"device\":5,\"revision\":160,\"lft_cap\":49152,"
	 "\"lft_top\":7,\"mft_cap\":1024,\"enhanced_port0\":false},"
	 "\"ports\":[{\"port\":1,\"state\":\"ACTIVE\",\"width_speed\":\"4x HDR\",\"mtu\":4096,"
	 "\"peer\":{\"description\":\"h1\",\"port\":2}},"
	 "{\"port\":12,\"state\":\"DOWN\",\"physical\":\"Disabled\",\"disabled\":true},"
	 "{\"port\":13,\"state\":\"DOWN\",\"physical\":\"Disabled\"}]}",
	 "leaf, switch, GUID 0x1, LID 2\n"
	 "SystemImageGUID 0x3, vendor 0x0002c9, device 5, revision 0xa0\n"
	 "LinearFDBCap 49152, LinearFDBTop 7, MulticastFDBCap 1024, base port 0\n"
	 "\n"
	 "PORT STATE                     SPEED   MTU LID PEER PEER-PORT\n"
	 "   1 ACTIVE                    4x HDR 4096   - h1           2\n"
	 "  12 DOWN (disabled)           -         -   - -            -\n"
	 "  13 DOWN (disabled by others) -         -   - -            -\n"},
	{"an adapter", print_node,
	 "{\"node\":{\"description\":\"h1\",\"type\":\"adapter\",\"guid\":\"0x10\",\"lid\":2,"
	 "\"system_guid\":\"0x10\",\"vendor\":713,\"device\":5,\"revision\":160},"
	 "\"ports\":[{\"port\":1,\"port_guid\":\"0x11\",\"lid\":2,\"state\":\"ACTIVE\","
	 "\"width_speed\":\"4x HDR\",\"mtu\":4096,\"peer\":{\"description\":\"leaf\",\"port\":1}},"
	 "{\"port\":2,\"port_guid\":\"0x12\",\"lid\":3,\"state\":\"INIT\"}]}",
	 "h1, adapter, GUID 0x10, LID 2\n"
	 "SystemImageGUID 0x10, vendor 0x0002c9, device 5, revision 0xa0\n"
	 "\n"
	 "PORT-GUID PORT STATE  SPEED   MTU LID PEER PEER-PORT\n"
	 "0x11         1 ACTIVE 4x HDR 4096   2 leaf         1\n"
	 "0x12         2 INIT   -         -   3 -            -\n"},
	{"a port", print_port,
	 "{\"description\":\"leaf\",\"port\":3,\"state\":\"DOWN\",\"physical\":\"Disabled\","
	 "\"disabled\":true,\"mtu_cap\":4096,\"enforces_in\":true,\"enforces_out\":true,"
	 "\"peer\":{\"description\":\"h1\",\"guid\":\"0x9\",\"port\":2}}",
	 "leaf port 3: DOWN, Disabled, disabled by command\n"
	 "  leads to          h1 port 2 (0x9)\n"
	 "  MTUCap            4096\n"
	 "  enforces P_Keys   in and out\n"},
	{"a port of a switch that is away", print_port_change, "{\"absent\":true}",
	 "the switch is not in the fabric; weftd does not disable the port when the switch "
	 "returns\n"},
	{"an event", print_event,
	 "{\"number\":17,\"time_s\":1767323045,\"kind\":\"link\",\"text\":\"link down\","
	 "\"node\":\"leaf\\u001b\",\"node_guid\":\"0x1\",\"port\":3,\"port_guid\":\"0x2\","
	 "\"lid\":5}",
	 "     17  2026-01-02 03:04:05  link       link down [leaf? port 3, port GUID 0x2, LID "
	 "5]\n"},
	{"an event of a node without a name", print_event,
	 "{\"number\":1234567,\"time_s\":0,\"kind\":\"partition\",\"text\":\"it\","
	 "\"node_guid\":\"0x1\"}",
	 "1234567  1970-01-01 00:00:00  partition  it [0x1]\n"},
	{"a gap", print_event, "{\"kind\":\"gap\",\"text\":\"events 1 to 2 are gone\"}",
	 "         events 1 to 2 are gone\n"},
};

static const struct {
	const char *name;
	const struct column *columns;
	const char *data, *text;
} tables[] = {
	{"nodes", node_columns,
	 "[{\"guid\":\"0x0002c90200000001\",\"type\":\"switch\",\"description\":\"Leaf 1\","
	 "\"lid\":9,\"ports\":36,\"active\":20},"
	 "{\"guid\":\"0x0002c90300000001\",\"type\":\"adapter\",\"description\":\"h\\u00f6st\","
	 "\"lid\":49151,\"ports\":1,\"active\":1}]",
	 "GUID               TYPE      LID PORTS ACTIVE DESCRIPTION\n"
	 "0x0002c90200000001 switch      9    36     20 Leaf 1\n"
	 "0x0002c90300000001 adapter 49151     1      1 h\xc3\xb6st\n"},
	{"no nodes", node_columns, "[]", "none\n"},
	{"links", link_columns,
	 "[{\"from\":{\"guid\":\"0x1\",\"description\":\"Leaf \\u00e9\",\"port\":1,\"lid\":2},"
	 "\"to\":{\"guid\":\"0x22\",\"description\":\"\",\"port\":12,\"lid\":300},"
	 "\"state\":\"ACTIVE\",\"width_speed\":\"4x EDR\",\"mtu\":4096},"
	 "{\"from\":{\"guid\":\"0x1\",\"description\":\"Leaf \\u00e9\",\"port\":2},\"to\":{},"
	 "\"state\":\"INIT\"}]",
	 "FROM-GUID FROM   FROM-LID FROM-PORT TO-GUID TO   TO-LID TO-PORT STATE  SPEED   MTU\n"
	 "0x1       Leaf \xc3\xa9        2         1 0x22    0x22    300      12 ACTIVE 4x EDR "
	 "4096\n"
	 "0x1       Leaf \xc3\xa9        -         2 -       -         -       - INIT   -         "
	 "-\n"},
	{"options", option_columns,
	 "[{\"name\":\"lmc\",\"value\":\"1\",\"default\":\"0\",\"is_default\":false,"
	 "\"effect\":\"restart\"},"
	 "{\"name\":\"role\",\"value\":\"\\\"normal\\\"\",\"is_default\":true,"
	 "\"effect\":\"reload\"}]",
	 "OPTION APPLIED-BY VALUE    DEFAULT\n"
	 "lmc    restart    1        0\n"
	 "role   reload     \"normal\" =\n"},
	{"ports of nodes", port_columns,
	 "[{\"guid\":\"0x1\",\"description\":\"leaf\",\"port\":1,\"state\":\"DOWN\"},"
	 "{\"guid\":\"0x10\",\"port_guid\":\"0x11\",\"description\":\"h1\",\"port\":1,"
	 "\"lid\":2,\"state\":\"ACTIVE\",\"width_speed\":\"4x HDR\",\"mtu\":4096,"
	 "\"peer\":{\"description\":\"leaf\",\"port\":1}}]",
	 "GUID NODE PORT STATE  SPEED   MTU LID PEER PEER-PORT\n"
	 "0x1  leaf    1 DOWN   -         -   - -            -\n"
	 "0x11 h1      1 ACTIVE 4x HDR 4096   2 leaf         1\n"},
	{"hostile names", node_columns,
	 "[{\"guid\":\"0x1\",\"description\":\"a\\u001b[2Jb\\nGUID\\u009b31m\\u007f\\u00a0.\"}]",
	 "GUID TYPE LID PORTS ACTIVE DESCRIPTION\n"
	 "0x1  -      -     -      - a?[2Jb?GUID?31m?\xc2\xa0.\n"},
};

static void test_print(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		char *text = printed(answers[i].print, NULL, NULL, answers[i].data);

		if (strcmp(text, answers[i].text))
			printf("\n%s: expected\n%s\ngot\n%s", answers[i].name, answers[i].text,
			       text);
		CU_ASSERT_STRING_EQUAL(text, answers[i].text);
		free(text);
	}
}

static void test_tables(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		char *text = printed(NULL, tables[i].columns, NULL, tables[i].data);

		if (strcmp(text, tables[i].text))
			printf("\n%s: expected\n%s\ngot\n%s", tables[i].name, tables[i].text, text);
		CU_ASSERT_STRING_EQUAL(text, tables[i].text);
		free(text);
	}
}

/* The daemon's description of a fabric, printed as a net file. Read back it is the same. */
static void test_topology(void)
{
	static const char said[] =
		"{\"nodes\":[{\"guid\":\"0x0000000000000010\",\"type\":\"switch\",\"ports\":8,"
		"\"description\":\"leaf\",\"lid\":2,\"lmc\":0,\"enhanced_port0\":true,"
		"\"port_guid\":\"0x11\",\"system_guid\":\"0x12\",\"vendor\":713,\"device\":5},"
		"{\"guid\":\"0x20\",\"type\":\"adapter\",\"ports\":2,\"description\":\"h1\","
		"\"end_ports\":[{\"port\":2,\"guid\":\"0x22\",\"lid\":4,\"lmc\":1},"
		"{\"port\":3,\"guid\":\"0x23\"}]},"
		"{\"guid\":\"0x30\",\"type\":\"toaster\",\"ports\":1},"
		"{\"guid\":\"0x31\",\"type\":\"switch\",\"ports\":4000}],"
		"\"links\":[{\"from\":{\"guid\":\"0x10\",\"port\":3},"
		"\"to\":{\"guid\":\"0x20\",\"port\":2},\"width_speed\":\"4x HDR\"},"
		"{\"from\":{\"guid\":\"0x10\",\"port\":9},\"to\":{\"guid\":\"0x20\",\"port\":1}},"
		"{\"from\":{\"guid\":\"0x10\",\"port\":1},\"to\":{\"guid\":\"0x99\",\"port\":1}},"
		"{\"from\":5}, 7]}";
	static const char wanted[] =
		"\nvendid=0x2c9\ndevid=0x5\nsysimgguid=0x12\nswitchguid=0x10(11)\n"
		"Switch\t8 \"S-0000000000000010\"\t\t# \"leaf\" enhanced port 0 lid 2 lmc 0\n"
		"[3]\t\"H-0000000000000020\"[2](22) \t\t# \"h1\" lid 4 4xHDR\n"
		"\ncaguid=0x20\n"
		"Ca\t2 \"H-0000000000000020\"\t\t# \"h1\"\n"
		"[2](22) \t\"S-0000000000000010\"[3]\t\t# lid 4 lmc 1 \"leaf\" lid 2 4xHDR\n\n";
	json_t *data = json_loads(said, 0, NULL);
	json_t *request = json_pack("{s:s}", "format", "net");
	char error[CTL_ERROR_SIZE] = "";
	struct net *net = NULL;
	struct net_error why;

	CU_ASSERT_PTR_NOT_NULL_FATAL(data);
	CU_ASSERT_EQUAL(topology_export(request, &data, error), 0);
	CU_ASSERT_STRING_EQUAL_FATAL(json_string_value(data), wanted);
	CU_ASSERT_EQUAL_FATAL(net_parse("it", wanted, strlen(wanted), &net, &why), 0);
	CU_ASSERT_EQUAL(net_validate(net, &why), 0);
	net_free(net);
	json_decref(request);
	json_decref(data);
}

/* Every printer copes with everything that is JSON. */
static void test_print_anything(void)
{
	static const char *const anything[] = {
		"null",
		"true",
		"5",
		"\"text\"",
		"[]",
		"{}",
		"[null, 5, \"x\", [], {}, {\"guid\": 5, \"from\": [], \"lid\": \"x\"}]",
		"{\"sweep\": 5, \"counts\": [], \"routing\": \"x\", \"peers\": {}, \"smps\": 7,"
		" \"mads\": null, \"hops\": {}, \"src\": 5, \"summary\": 5}",
		"{\"sweep\": {\"number\": 1, \"phases\": [5],"
		" \"started_s\": 9223372036854775807}, \"routing\": {\"engine\": \"\", \"tried\": "
		"[5]},"
		" \"peers\": [5, {}], \"smps\": [null], \"hops\": [5, [], {}]}",
	};

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		for (size_t i = 0; i < ARRAY_SIZE(anything); i++) {
			char *text = printed(command->each ? command->each : command->print,
					     command->columns, NULL, anything[i]);

			CU_ASSERT_PTR_NULL(strstr(text, "(null)"));
			free(text);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(anything); i++) {
		json_t *data = json_loads(anything[i], JSON_DECODE_ANY, NULL);
		struct net *net = topology_net(data);

		CU_ASSERT_EQUAL(net->count, 0);
		net_free(net);
		json_decref(data);
	}
}

static void test_clean(void)
{
	static const struct {
		const char *text, *clean;
		unsigned width;
	} cases[] = {
		{"", "", 0},
		{"plain text ~", "plain text ~", 12},
		{"\x01\x1f\x7f", "???", 3},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 3},
		{"a\xc2\x9b"
		 "b",
		 "a?b", 3}, /* C1 */
		{"a\x9b"
		 "b",
		 "a?b", 3},	  /* a lone continuation */
		{"\xc3", "?", 1}, /* cut off */
		{"\xe2\x82", "?", 1},
		{"\xe2(", "?(", 2},
		{"\xed\xa0\x80.", "?.", 2}, /* a surrogate */
		{"\xc0\x8a", "?", 1},	    /* a line end, overlong */
		{"\xff\xfe.", "??.", 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = mem_strdup(cases[i].text);

		text_clean(text);
		CU_ASSERT_STRING_EQUAL(text, cases[i].clean);
		CU_ASSERT_EQUAL(text_width(text), cases[i].width);
		free(text);
	}
}

static void test_span(void)
{
	static const struct {
		long long span_us;
		const char *text;
	} cases[] = {
		{0, "0 us"},	    {999, "999 us"},	 {1000, "1.0 ms"},
		{52300, "52.3 ms"}, {1000000, "1.00 s"}, {75000000, "75.00 s"},
	};
	char buffer[TEXT_SPAN_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_STRING_EQUAL(text_span(cases[i].span_us, buffer), cases[i].text);
}

/* The columns and the form that -o and --noheadings choose. */
static void test_columns(void)
{
	static const char rows[] = "[{\"guid\":\"0x1\",\"type\":\"switch\",\"lid\":9,"
				   "\"description\":\"leaf 1\"},"
				   "{\"guid\":\"0x12345\",\"lid\":49151}]";
	static const struct {
		const char *names, *rows;
		bool no_headings;
		const char *text; /* or of names that are refused the error */
	} cases[] = {
		{"LID,GUID", rows, false, "  LID GUID\n    9 0x1\n49151 0x12345\n"},
		{"guid,Lid", rows, false, "GUID      LID\n0x1         9\n0x12345 49151\n"},
		{"LID,LID", rows, true, "    9     9\n49151 49151\n"},
		{"DESCRIPTION", rows, true, "leaf 1\n-\n"},
		{"GUID", "[]", false, "none\n"},
		{"GUID", "[]", true, ""},
		{"GUIDS", rows, false,
		 "no column \"GUIDS\"; the columns are GUID, TYPE, LID, PORTS, ACTIVE, "
		 "DESCRIPTION"},
		{"", rows, false,
		 "no column \"\"; the columns are GUID, TYPE, LID, PORTS, ACTIVE, DESCRIPTION"},
		{"LID,", rows, false,
		 "no column \"\"; the columns are GUID, TYPE, LID, PORTS, ACTIVE, DESCRIPTION"},
		{"LID,LI", rows, false,
		 "no column \"LI\"; the columns are GUID, TYPE, LID, PORTS, ACTIVE, DESCRIPTION"},
		{"LID,LID,LID,LID,LID,LID,LID,LID,LID,LID,LID,LID,LID,LID,LID,LID", rows, false,
		 "more than 15 columns"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct column_choice choice = {.no_headings = cases[i].no_headings};
		char error[CTL_ERROR_SIZE];
		bool bad = columns_choose(node_columns, cases[i].names, &choice, error);
		char *text = bad ? mem_strdup(error)
				 : printed(NULL, node_columns, &choice, cases[i].rows);

		CU_ASSERT_STRING_EQUAL(text, cases[i].text);
		free(text);
	}
}

/* Names of columns can be typed: in upper case, without blanks, each once; and -o can choose all.
 */
static void test_column_names(void)
{
	unsigned lists = 0;

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		const struct column *columns = command->columns;

		lists += columns != NULL;
		CU_ASSERT(!columns != !command->print || command->each || command->detail);
		for (size_t i = 0; columns && columns[i].name; i++) {
			CU_ASSERT(i + 1 < COLUMNS_MAX);
			CU_ASSERT_EQUAL(strspn(columns[i].name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0_-"),
					strlen(columns[i].name));
			for (size_t j = 0; j < i; j++)
				CU_ASSERT_STRING_NOT_EQUAL(columns[i].name, columns[j].name);
		}
	}
	CU_ASSERT(lists > 9);
}

/* A text is whole sentences, and its backquotes are in pairs. */
static void check_text(const char *words, const char *text)
{
	size_t length = strlen(text), backquotes = 0;

	for (const char *at = text; *at; at++)
		backquotes += *at == '`';
	if (text[length - 1] != '.' || backquotes % 2)
		printf("\n%s: %s", words, text);
	CU_ASSERT_EQUAL(text[length - 1], '.');
	CU_ASSERT_EQUAL(backquotes % 2, 0);
}

static char *help_of(char *word)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	reference_help(1, &word, out);
	fclose(out);
	return text;
}

/* Each command has its texts, for --help and the manual. */
static void test_reference(void)
{
	static const char *const in_manual[] = {
		(".SS Routing\n.TP\n\\fBroute\\fR \\fBshow\\fR \\fISRC\\fR \\fIDST\\fR "
		 "[\\fB\\-\\-sl\\fR \\fIN\\fR]\nShow the programmed path"),
		"\n\\fBsweep\\fR [\\fBlight\\fR|\\fBheavy\\fR]\n",
		"\n.IP\nColumns: COMPONENT, LEVEL.\n",
		"\n.IP\n\\fB\\-\\-follow\\fR shows new events",
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CU_ASSERT_PTR_NOT_NULL(ctl_commands[0].section);
	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		check_text(command->words, command->summary);
		if (command->details)
			check_text(command->words, command->details);
	}
	reference_man(out);
	fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(in_manual); i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(text, in_manual[i]));
	free(text);
	text = help_of("reroute");
	CU_ASSERT_STRING_EQUAL(text, "  reroute                Compute the routes again, write the "
				     "differences, and show what changed.\n");
	free(text);
	text = help_of("restore");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "saved document.\n\n  The document comes from"));
	free(text);
	text = help_of("partition"); /* several: without details */
	CU_ASSERT_PTR_NULL(strstr(text, "\n\n"));
	free(text);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"command line", test_parse},
		{"values of options", test_values},
		{"printers", test_print},
		{"change failed", test_change_failed},
		{"topology", test_topology},
		{"printers of anything", test_print_anything},
		{"clean text", test_clean},
		{"spans", test_span},
		{"tables", test_tables},
		{"columns", test_columns},
		{"names of columns", test_column_names},
		{"reference", test_reference},
		{"exit status of health", test_health_status},
		CU_TEST_INFO_NULL,
	};

	setlocale(LC_CTYPE, "C.UTF-8"); /* as weftctl */
	return unit_main("ctl", tests);
}
