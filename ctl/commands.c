/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of commands: the only place that has the words, the arguments and the texts of a
 * command. `make generated` writes the reference in man/weftctl.8 from it.
 */
#include "ctl/commands.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/arguments.h"
#include "ctl/handlers.h"
#include "lib/when.h"

static const char *const sweep_kinds[] = {"light", "heavy", NULL};
static const char *const top_kinds[] = {"data", "wait", NULL};
static const char *const metric_names[] = {"weft", "treydock", "guilbaults", NULL};
static const char *const export_formats[] = {"net", "json", "dot", "slurm", NULL};
static const char *const secret_records[] = {"keys", NULL};
static const char *const shells[] = {"bash", "zsh", NULL};
static const char *const dump_formats[] = {"opensm", NULL};

const struct ctl_command ctl_commands[] = {
	{.words = "status",
	 .section = "Status and sweeps",
	 .print = print_status,
	 .summary = "Show the manager, the last sweep, routing, peers and the store.",
	 .details = "Problems that an administrator must solve come first. Then come the role and "
		    "the priority, the state of the subnet, the last sweep with its figures, and "
		    "counts of nodes and links. The routing engine is shown with the reasons why "
		    "other engines were not used. Then follow settings made at run time, unrouted "
		    "switches, disabled and drained ports, other managers, partitions and the "
		    "store."},
	{.words = "health",
	 .print = print_health,
	 .exit_status = health_exit_status,
	 .summary = "Show in one screen whether the subnet is healthy, worst first.",
	 .details =
		 "The exit status is that of the worst check: 0 (healthy), 4 (degraded) or 5 "
		 "(broken). Each bad check has the reason, and a command or an action that "
		 "helps.\nThe checks of the manager are `subnet` (role and last sweep), `standby`, "
		 "`partitions`, `config` and `store`. The checks of the fabric are `routes`, "
		 "`credit_loops`, `switches` that are not fully usable, `devices` that do not "
		 "answer, and `guids` of two devices. Further checks are `links` that are down, "
		 "`slow_links`, and `errors` (counters above a threshold). The last are `settings` "
		 "that devices refuse, suppressed `traps`, and wrong M_Keys (`keys`). A manager "
		 "that is not MASTER omits the checks of the fabric.\nA lost link counts as down "
		 "until it returns, or until `health accept`. This is also true after a restart of "
		 "weftd, and after a failover if the standby copies more than registrations. If "
		 "links were lost while no weftd was MASTER, only links of hosts count; `topology "
		 "check` finds the others. Links that `port "
		 "disable` took down and cables that were moved do not count. Traps and wrong "
		 "keys count for ten minutes.\nWith the option `planned_topology` there is also "
		 "the "
		 "check `planned_links`: planned nodes that are absent, and planned links that are "
		 "absent or lead elsewhere. A lost link that is planned is shown there only."},
	{.words = "health accept",
	 .print = print_health_accepted,
	 .summary = "Accept the present links as the state with which `health` compares.",
	 .details = "Use this command after hosts, switches or cables were removed for good. It "
		    "does not change the plan of `planned_topology`."},
	{.words = "sweep",
	 .arguments = {{.member = "kind",
			.label = "light|heavy",
			.choices = sweep_kinds,
			.former = "full",
			.now = "heavy",
			.optional = true}},
	 .print = print_sweep,
	 .summary = "Sweep now, wait for the end, and show what changed.",
	 .details = "A heavy sweep, the default, discovers the whole fabric again. A light sweep "
		    "reads the switches that report a change. On a standby a sweep writes nothing. "
		    "The answer says whether the fabric changed, and how many blocks of forwarding "
		    "tables were written on how many switches."},
	{.words = "reroute",
	 .print = print_sweep,
	 .summary = "Compute the routes again, write the differences, and show what changed."},

	{.words = "node list",
	 .section = "Nodes, ports and links",
	 .list = "nodes",
	 .columns = node_columns,
	 .summary = "List switches, adapters and routers."},
	{.words = "node show",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"}},
	 .document = true,
	 .object = "node",
	 .lists = {"ports"},
	 .print = print_node,
	 .summary = "Show a node and its ports.",
	 .details = "For an adapter the table has the port GUIDs, which `partition member add` "
		    "takes."},
	{.words = "why",
	 .arguments = {{.member = "from", .label = "A", .completes = "node"},
		       {.member = "to", .label = "B", .completes = "node", .optional = true}},
	 .perform = why_perform,
	 .print = print_why,
	 .failed = why_failed,
	 .summary = "Show why A does not reach B, or what is wrong with A.",
	 .details = "A and B are nodes, NODE/PORT, port GUIDs or LIDs, also of nodes that are no "
		    "longer in the fabric. The answer has the links, LIDs, routes in both "
		    "directions, path, common partitions and groups, and the last events of both. "
		    "It ends with the first obstacle, from the physical layer up, and its remedy, "
		    "or with `No obstacle found`. The agents of both are queried for the answer. "
		    "Routes are those that the switches are known to hold. If there is an "
		    "obstacle, the exit status is 1."},
	{.words = "port list",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node", .optional = true}},
	 .list = "ports",
	 .columns = port_columns,
	 .summary = "List the ports of all nodes or of one node, with their peers.",
	 .details = "NODE may be a hostlist, such as `leaf-[01-04]`. Adapter ports without a link "
		    "are omitted. The GUID of a port of an adapter is "
		    "its port GUID. The GUID of a port of a switch is the GUID of the switch."},
	{.words = "port show",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"}, PORT_ARGUMENT},
	 .print = print_port,
	 .summary = "Show one port: states, speed, MTU, VLs, enforcement of P_Keys, violations, "
		    "peer.",
	 .details = "You can also write NODE/PORT. The same applies to `port disable`, `port "
		    "enable` and `perf show`."},
	{.words = "port disable",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"},
		       PORT_ARGUMENT,
		       FLAG("force")},
	 .print = print_port_change,
	 .summary = "Take down the link of a switch's port until `port enable`.",
	 .details =
		 "The command waits for the sweep that takes the link down. The next sweep "
		 "routes around the link. Until then, packets that are routed over it are lost, "
		 "and `route check` may report pairs that are not reached.\nThe port stays "
		 "disabled after a restart of weftd or of the switch; `status` lists such "
		 "ports. The command refuses ports of adapters, because a request to enable "
		 "such a port could not reach the adapter. `--force` is necessary if the link is "
		 "the only way to the switch, or a cable between switches without which hosts "
		 "are cut off. weftd never disables the port that leads to its own host."},
	{.words = "port enable",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"}, PORT_ARGUMENT},
	 .print = print_port_change,
	 .summary =
		 "Enable a port that `port disable`, `babble_policy` or another program disabled.",
	 .details = "If the switch is not present, give its GUID. If the port is enabled already, "
		    "nothing is written."},
	{.words = "drain",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"},
		       ANY_PORT_ARGUMENT(.optional = true, .last = true),
		       FLAG("force")},
	 .print = print_drained,
	 .summary = "Move routes away from a node or a port, then disable the ports that lead to "
		    "it, until `undrain`.",
	 .details =
		 "No packet is lost: weftd disables the ports after all switches have "
		 "acknowledged tables that avoid them. To drain a switch, it disables the ports of "
		 "its neighbours; to drain a host, the port of its switch. To drain a cable "
		 "between switches, it disables the end that is nearer to the manager. The command "
		 "waits for this, at most 15 s. After this time, weftd continues by itself.\nIf "
		 "ports of other adapters would lose their only path, the command refuses without "
		 "`--force`, and reports their number. A host that you name itself does not count. "
		 "weftd never drains its own host, nor the switch of this host. With `--force`, "
		 "weftd waits at most 10 s for the tables. So it can also drain a cable to a "
		 "switch that does not answer. If a drain waits, you can repeat the command with "
		 "`--force`.\nIf the other paths of an adapter are lost before the ports are "
		 "disabled, the state is `held: last path`. Routes use the links again, and the "
		 "drain continues when there is another path. If a switch loses its other links "
		 "after the ports are disabled, weftd does not end the drain, but `health` names "
		 "the switch.\nThe state survives restarts. It survives a failover if the standby "
		 "copies more than registrations (`ha status`). `health`, `status`, `port list` "
		 "and `node show` show it. A drained link is not a lost link."},
	{.words = "undrain",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node", .optional = true},
		       ANY_PORT_ARGUMENT(.optional = true, .last = true),
		       FLAG("all"),
		       FLAG("policy")},
	 .print = print_undrained,
	 .summary = "End `drain`: enable the ports again, and let routes return.",
	 .details = "NODE is a name or a GUID, as in `status`. For a cable, give either end. "
		    "`--policy` undrains all ports that weftd isolated by policy, and `--all` "
		    "undrains all nodes and ports. The command waits at most 15 s until the links "
		    "are up."},
	{.words = "link list",
	 .list = "links",
	 .columns = link_columns,
	 .summary = "List each link once, with both ends, state, speed and MTU."},

	{.words = "multicast list",
	 .section = "Registrations with the SA",
	 .list = "groups",
	 .columns = group_columns,
	 .summary = "List the multicast groups.",
	 .details =
		 "A permanent group stays when its last member leaves. If the manager is not "
		 "MASTER, `multicast list`, `multicast show`, `service list`, `inform list`, "
		 "`alias list`, `partition list` and `partition show` begin with a line that says "
		 "so and names the MASTER, because their contents may be old. "
		 "With `--json` this line goes to standard error."},
	{.words = "multicast show",
	 .arguments = {{.member = "mgid",
			.label = "MGID",
			.good = argument_is_mgid,
			.what = "an MGID, such as ff12:401b:ffff::ffff:ffff"}},
	 .document = true,
	 .object = "group",
	 .lists = {"members", "switches"},
	 .print = print_group,
	 .summary = "Show a multicast group, its members and its tree.",
	 .details = "The MGID has the form of an IPv6 address. Members with JOIN-STATE `full` or "
		    "`non-member` receive packets of the group. Members with `send-only` or "
		    "`send-only-full` only send. A group that is not permanent ends when no member "
		    "with `full` or `send-only-full` is left. A member with `proxy` was joined by "
		    "another port. For the tree, the answer has the switch at the root, and each "
		    "switch that forwards packets of the group, with the ports to which it "
		    "forwards them. Port 0 is the switch itself."},
	{.words = "service list",
	 .list = "services",
	 .columns = service_columns,
	 .summary = "List the services that ports have registered (ServiceRecord).",
	 .details =
		 "The column KEY says whether the service has a key. The key itself is not shown."},
	{.words = "inform list",
	 .list = "subscriptions",
	 .columns = subscription_columns,
	 .summary = "List the subscriptions to traps and notices (InformInfo).",
	 .details = "A subscriber without the SA key (TRUSTED is no) gets no traps about security "
		    "(256-259). Traps 64 and 65 report ports that appear and disappear. Traps 66 "
		    "and 67 report multicast groups that appear and disappear. A subscription ends "
		    "when five reports in a row had no answer, and the first of these was sent at "
		    "least a minute ago."},

	{.words = "partition list",
	 .section = "Partitions and alias GUIDs",
	 .arguments = {FLAG("members")},
	 .perform = partition_list,
	 .columns = partition_columns,
	 .detail = "ports",
	 .print = print_partitions,
	 .summary = "List the partitions of the file and those made at run time.",
	 .details = "FILE-RULES is the number of rules in the file. RUN-TIME-MEMBERS is the number "
		    "of members that were added at run time. If a partition is defined in the file "
		    "and also at run time, its name and the parameters of its groups are those of "
		    "the file. With `--members`, each partition is shown with its members, as "
		    "`partition show` shows them."},
	{.words = "partition show",
	 .alias = "partition members",
	 .arguments = {PARTITION_ARGUMENT},
	 .document = true,
	 .object = "partition",
	 .print = print_partition,
	 .summary = "Show a partition, its ports, and the status of each port.",
	 .details = "`wanted`: weftd will write the P_Key. `written`: the write is not "
		    "acknowledged yet. `acknowledged`: the port has the P_Key. `failed`: the write "
		    "had no answer, and weftd tries again. `refused`: the device refused the "
		    "P_Key. `no room`: the P_Key table of the port is full. `absent`: the port is "
		    "not present, and its membership is kept."},
	{.words = "partition add",
	 .alias = "partition create",
	 .arguments = {P_KEY_ARGUMENT,
		       {.member = "name", .label = "NAME", .optional = true},
		       OPTION("members", "MEMBERS", .completes = "node"),
		       OPTION("file", "FILE"),
		       FLAG("full"),
		       FLAG("limited"),
		       FLAG("both"),
		       FLAG("ipoib"),
		       FLAG("indx0"),
		       PARTITION_OPTIONS,
		       FLAG("force")},
	 .perform = members_perform,
	 .print = print_partition_added,
	 .failed = partition_change_failed,
	 .summary = "Make a partition, with or without members.",
	 .details = "`--ipoib` also makes the broadcast group of IPoIB with the given parameters. "
		    "The MTU is a number of bytes, or a code as in a partition file. The rate is a "
		    "code, or from 25 a number of Gb/s, such as 100. If there is no free MLID for "
		    "the group, a warning says so and the exit status is 1. The partition exists, "
		    "but IPoIB does not work in it until the group exists. For the members and "
		    "their membership see `partition member add`.\nIf the partition exists with "
		    "the same parameters, the command succeeds, and only adds members. If you make "
		    "0x7fff, the default partition, each port that you do not add to it becomes a "
		    "limited member. If this takes full membership from ports, the command shows "
		    "how many, and needs `--force`."},
	{.words = "partition remove",
	 .alias = "partition delete",
	 .arguments = {PARTITION_ARGUMENT, FLAG("force")},
	 .print = print_partition_removed,
	 .failed = partition_change_failed,
	 .summary = "Remove a partition that was made at run time, with its members.",
	 .details = "If the file also defines the partition, its definition there stays in force. "
		    "If ports that are present would lose the partition, the command shows how "
		    "many, and needs `--force`. If there is no such partition, the command "
		    "succeeds."},
	{.words = "partition set",
	 .arguments = {PARTITION_ARGUMENT, FLAG("ipoib"), FLAG("no-ipoib"), FLAG("indx0"),
		       FLAG("no-indx0"), PARTITION_OPTIONS},
	 .print = print_partition_set,
	 .failed = partition_change_failed,
	 .summary = "Change the parameters of a partition that was made at run time.",
	 .details = "Parameters without an option stay as they are. See `partition add`."},
	{.words = "partition rename",
	 .arguments = {PARTITION_ARGUMENT, {.member = "name", .label = "NAME"}},
	 .print = print_partition_set,
	 .failed = partition_change_failed,
	 .summary = "Change the name of a partition that was made at run time."},
	{.words = "partition member add",
	 .arguments = {PARTITION_ARGUMENT,
		       {.member = "members",
			.label = "MEMBER",
			.completes = "node",
			.many = true,
			.optional = true},
		       OPTION("file", "FILE"),
		       FLAG("full"),
		       FLAG("limited"),
		       FLAG("both"),
		       FLAG("force")},
	 .perform = members_perform,
	 .print = print_members_changed,
	 .failed = partition_change_failed,
	 .summary = "Add members to a partition, or change their membership.",
	 .details = "MEMBER is one of the following. `host-0003`: the node with this "
		    "description, if it has one port. `host-0003/2`: port 2 of this node. "
		    "`host-[0003-0040,50]`: a hostlist, by the rules of Slurm. A port GUID, "
		    "with or without 0x. A range of GUIDs. `ALL`, `ALL_CAS`, `ALL_SWITCHES` or "
		    "`ALL_ROUTERS`: the ports that are present. A node GUID stands for the "
		    "port of a node that has one port. `=full`, `=limited` or `=both` may "
		    "follow. FILE has members, separated by blanks or line ends; `#` begins a "
		    "comment, and `-` is standard input. Members are full members if neither "
		    "the member nor an option says otherwise. A name counts for the ports that "
		    "have it now: the partition gets their GUIDs, which the answer shows. A "
		    "GUID may be that of an absent port.\nThe change takes effect at once, "
		    "affects only these ports, and survives a restart. The answer comes when "
		    "three steps are complete: the change is durable, the SA uses it, and no "
		    "present port is pending. A port is pending until it has acknowledged or "
		    "refused the change, or has failed. After 10 seconds the answer comes "
		    "anyway and says which steps are not complete; these steps continue. The "
		    "exit status is then 1. It is also 1 if a port does not take its P_Keys. "
		    "If all members have this membership already, nothing changes, and the "
		    "command succeeds. If no full member would be left, the command shows how "
		    "many limited members are cut off, and needs `--force`."},
	{.words = "partition member remove",
	 .arguments = {PARTITION_ARGUMENT,
		       {.member = "members",
			.label = "MEMBER",
			.completes = "node",
			.many = true,
			.optional = true},
		       OPTION("file", "FILE"),
		       FLAG("force")},
	 .perform = members_perform,
	 .print = print_members_changed,
	 .failed = partition_change_failed,
	 .summary = "Remove members that were added at run time.",
	 .details = "Members are named as for `partition member add`, and the answer comes in the "
		    "same way. Ports that are not members count as removed. Members of the "
		    "partition file are refused. `--force` is necessary if no full member would "
		    "be left."},
	{.words = "partition apply",
	 .arguments = {{.member = "file", .label = "FILE"},
		       OPTION("owner", "OWNER", .good = argument_is_owner,
			      .what = "an owner: admin, site or gateway:NAME (letters, digits "
				      "and .-_)"),
		       FLAG("dry-run"),
		       OPTION("if-state", "STATE"),
		       FLAG("force")},
	 .perform = partition_apply,
	 .print = print_partition_applied,
	 .summary = "Make the run-time members of an owner match a file.",
	 .details =
		 "FILE has the format of `weft-partitions.conf(5)`; - is standard input. Members "
		 "are GUIDs and ranges of GUIDs. OWNER is `admin` (the default), `site` or "
		 "`gateway:NAME`. The command creates missing partitions of the file, "
		 "and adds, changes and removes members of this owner until they match. Partitions "
		 "of this owner that the file does not have are removed, except for the default "
		 "partition and partitions with members of other owners. It changes no members and "
		 "no partitions of other owners, among them the partition file, and lists their "
		 "entries that differ. All changes are made together or not at all. If the members "
		 "already match the file, the answer is `unchanged`. `--dry-run` shows the "
		 "differences and changes nothing. The "
		 "answer ends with a state. `--if-state` refuses the changes if partitions were "
		 "changed since the answer with this state. `--force` is necessary if more "
		 "memberships than `partition_confirm_ports` are taken from ports that are "
		 "present, or if limited members remain without a full member. A member that "
		 "`partition member` changes belongs to `admin` from then on."},
	{.words = "partition check",
	 .arguments = {{.member = "file", .label = "FILE"}},
	 .perform = partition_check,
	 .print = print_partition_check,
	 .summary = "Check a partition file and show the changes that it would make.",
	 .details = "The answer has the errors of the file with their lines. If the file has no "
		    "errors, the answer has the P_Keys that ports would gain and lose. If no weftd "
		    "answers, weftctl checks only the text of the file, and accepts `both`. If "
		    "FILE is -, weftctl reads standard input. See `weft-partitions.conf(5)`."},
	{.words = "partition accept",
	 .print = print_partitions_accepted,
	 .summary = "Put the remaining partitions in force after a loss of records.",
	 .details = "If the store has lost records, `status` begins with this problem, and ports "
		    "keep the P_Keys that they hold. New ports become limited members of the "
		    "default partition. The commands `partition` and `alias` then change the "
		    "store, but no port. First check the output of `partition list`, `partition "
		    "show` and `alias list`. Correct the partitions and members, and grant lost "
		    "aliases again. Then accept. As an alternative, `restore` a saved document, "
		    "which also ends this state."},
	{.words = "alias list",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node", .optional = true},
		       ANY_PORT_ARGUMENT(.optional = true, .last = true)},
	 .list = "aliases",
	 .columns = alias_columns,
	 .summary = "List the alias GUIDs of all ports, of a node, or of a port.",
	 .details = "INDEX is the index in the port's GUIDInfo. GRANTED-BY is `administrator`, "
		    "`SA_Key`, `alias_guids`, or `none` if the host registered the alias without a "
		    "grant. Only a granted alias counts in partitions."},
	{.words = "alias set",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"},
		       ANY_PORT_ARGUMENT(),
		       {.member = "guid", .label = "GUID"}},
	 .print = print_alias_set,
	 .summary = "Give a port an alias GUID at the first free index, or grant an alias that it "
		    "has.",
	 .details = "The port then is a member of the partitions that name the GUID. If another "
		    "port has the alias without a grant, that port loses it. The command refuses "
		    "the GUID of a port or a node, and an alias that was granted to another port. "
		    "The port number of a switch is 0. Only the MASTER accepts this command."},
	{.words = "alias remove",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"},
		       ANY_PORT_ARGUMENT(),
		       {.member = "guid", .label = "GUID"}},
	 .print = print_alias_removed,
	 .summary = "Remove an alias GUID from a port, with all registrations under it.",
	 .details = "If the port is not present, give its port GUID as NODE."},

	{.words = "topology export",
	 .section = "Topology",
	 .arguments = {{.member = "format",
			.label = "net|json|dot|slurm",
			.choices = export_formats,
			.option = true}},
	 .document = true,
	 .digest = topology_export,
	 .print = print_text,
	 .summary = "Print the present fabric for other programs.",
	 .details = "`net` is the format that ibnetdiscover prints, and that ibsim and weftsim "
		    "read. `json` is an object with `nodes` and `links`. `dot` is a graph for "
		    "Graphviz. `slurm` is topology.conf for the plugin topology/tree of Slurm. "
		    "This plugin needs a tree. In this tree each switch with hosts is a leaf, with "
		    "a list of its hosts. The name of a switch or a host is the first word of its "
		    "description. Switches that connect the same parts of the fabric appear as a "
		    "single switch, with the name of the first of them."},
	{.words = "topology check",
	 .arguments = {{.member = "file", .label = "FILE"}},
	 .ask = "topology export",
	 .document = true,
	 .digest = topology_check,
	 .print = print_differences,
	 .failed = differences_found,
	 .summary = "Show the differences from a planned net file.",
	 .details = "The command reports nodes that are missing, replaced, renamed or not planned. "
		    "It also reports links that are missing, lead elsewhere, are not planned, or "
		    "have a width or speed that differs from the plan. Nodes match by GUID, "
		    "otherwise by name. A plan without GUIDs or rates is sufficient. If there is a "
		    "difference, the exit status is 1."},

	{.words = "route show",
	 .section = "Routing",
	 .arguments = {{.member = "src", .label = "SRC", .completes = "node"},
		       {.member = "dst", .label = "DST", .completes = "node"},
		       OPTION("sl", "N", .most = 15,
			      .what = "a service level: a number from 0 to 15")},
	 .print = print_route,
	 .summary = "Show the programmed path between two nodes, hop by hop.",
	 .details = "Each hop has the ports through which the path enters and leaves, and the VL "
		    "on which it leaves, for the given SL or the SL of the path."},
	{.words = "route check",
	 .print = print_route_check,
	 .failed = route_check_failed,
	 .summary = "Check the programmed routes for unreached LIDs, loops and credit loops.",
	 .details = "The checks use the tables that the switches are known to hold. The answer "
		    "counts pairs of switch and LID that are not reached although links lead "
		    "there, and pairs whose path is a loop. It also counts channels in credit "
		    "loops, and blocks with unknown contents. A channel is one direction of a "
		    "link, on one VL. If one of these numbers is not 0, the exit status is 1. The "
		    "answer also lists the parts of the fabric that have no link between them."},
	{.words = "route quality",
	 .print = print_route_quality,
	 .summary = "Show how evenly the programmed routes load the links between switches.",
	 .details =
		 "All to all: every host sends to every other host. The figures are the number of "
		 "paths over the link with the highest load, and the mean number of paths over a "
		 "link, for all links and by level. The congestion risk of a link is the number "
		 "of hosts that send over the link, or the number of hosts that receive over it, "
		 "whichever is lower. The answer has the highest risk of all links.\nShifts: each "
		 "host sends to the host that is a fixed number of places further on. The command "
		 "tries up to 512 such numbers. Random: 100 random permutations, in which each "
		 "host sends to one host and receives from one host. Each shift and each "
		 "permutation has one number: the flows on the link with the highest load. The "
		 "figures are the worst and the median of these numbers. For permutations, the "
		 "95th percentile is also shown.\nBisection: the share of a link that a flow gets "
		 "on average when one half of the hosts sends to the other half."},
	{.words = "route plan",
	 .arguments =
		 {{.member = "engine", .label = "NAME", .completes = "engine", .option = true}},
	 .print = print_route_plan,
	 .summary = "Compare the routes of an engine with the programmed routes; change nothing.",
	 .details = "The answer has the results of the checks, the quality beside that of the "
		    "programmed routes, and the number of entries, blocks and switches that a "
		    "change would write.\n`route check`, `route quality` and `route plan` compute "
		    "in the background. One of these commands runs at a time, and three more may "
		    "wait. Further ones are refused."},
	{.words = "route engine",
	 .arguments = {{.member = "engines",
			.label = "NAME[,NAME...]|default",
			.completes = "engine"},
		       FLAG("force")},
	 .print = print_route_engine,
	 .summary = "Use these engines, in this order, now and after a restart.",
	 .details = "The engines replace the option `routing` of `weftd.conf(5)` and are kept in "
		    "the store. `default` returns to that option. If every engine refuses the "
		    "fabric, engines and tables do not change. If the routes of the engine would "
		    "have credit loops, as `route plan` shows them, the command shows how many "
		    "channels they concern, and needs `--force`."},
	{.words = "route dump",
	 .arguments =
		 {{.member = "format", .label = "opensm", .choices = dump_formats, .option = true},
		  {.member = "dir", .label = "DIR"}},
	 .sink = &dump_sink,
	 .print = print_dump,
	 .summary = "Write opensm-subnet.lst, opensm.fdbs and opensm.mcfdbs into a directory.",
	 .details = "The files are those that OpenSM writes and ibdmchk reads, all from one state "
		    "of the fabric. The directory is made if it is missing. Files of these names "
		    "are replaced when all three are complete."},

	{.words = "perf top",
	 .section = "Port counters",
	 .arguments = {OPTION("by", "data|wait", .choices = top_kinds)},
	 .rows = "ports",
	 .columns = top_columns,
	 .summary = "List the ports with the highest load, or with the longest wait for credits.",
	 .details = "The load is that of the busier direction. Rates are those between the last "
		    "two reads of the counters. weftd reads them at the interval `perf_interval` "
		    "of `weftd.conf(5)`, and for `perf sweep`."},
	{.words = "perf errors",
	 .arguments = {OPTION("threshold", "N", .least = 1, .most = 1000000000,
			      .what = "a number of errors, from 1")},
	 .document = true,
	 .lists = {"ports", "links"},
	 .print = print_errors,
	 .summary = "List ports with errors, and links that are slower or narrower than possible.",
	 .details = "Ports whose counters rose at the last read come first. Totals continue when "
		    "counters are reset. A + marks a counter that is full: the real number is "
		    "higher. BER is the symbol bit error rate between the last two reads. With "
		    "`--threshold` only ports are shown of which a counter has at least N errors. "
		    "The list of links does not depend on a read."},
	{.words = "perf show",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node"},
		       ANY_PORT_ARGUMENT()},
	 .print = print_counters,
	 .summary = "Read the counters of a port now and show them.",
	 .details = "The answer has PortCounters and, if the device has them, "
		    "PortCountersExtended, as `perfquery(8)` shows them. It also has the totals of "
		    "weftd, the symbol bit error rate, the changes since the last read of all "
		    "ports, and the last 10 reads of this port. weftd keeps reads of ports whose "
		    "error counters rose, and of ports that `perf show` named, for at most 4,096 "
		    "ports."},
	{.words = "perf clear",
	 .arguments = {{.member = "node", .label = "NODE", .completes = "node", .optional = true},
		       ANY_PORT_ARGUMENT(.optional = true, .last = true)},
	 .print = print_perf_clear,
	 .summary = "Reset the counters of all ports, of a node, or of a port.",
	 .details = "The command resets PortCounters and PortCountersExtended in the devices, also "
		    "of ports without a link. weftd reads each port before and after, so its "
		    "totals continue. The answer has the number of ports. weftd resets no counters "
		    "by itself unless `perf_reset` is set. The command is logged with the user."},
	{.words = "perf metrics",
	 .arguments = {OPTION("names", "weft|treydock|guilbaults", .choices = metric_names)},
	 .text = true,
	 .print = print_text,
	 .summary = "Print figures of the manager, the SA and the ports as Prometheus text.",
	 .details = "Each port has SymbolErrorCounter, LinkErrorRecoveryCounter, "
		    "LinkDownedCounter and PortRcvErrors from the first read on. Other error "
		    "counters are printed if they are not 0. The text does not change with "
		    "`--json`. `weft-metrics.timer` writes it to a file for node_exporter.\nWith "
		    "`--names` the figures of ports have the names and labels of "
		    "another exporter: `treydock` (infiniband_exporter) or `guilbaults` "
		    "(infiniband-exporter). With one of these two, only figures of ports are "
		    "printed."},
	{.words = "perf sweep",
	 .print = print_perf_sweep,
	 .summary = "Read the counters of all ports now and wait for the end.",
	 .details = "This also works if `perf_interval` is 0."},

	{.words = "events",
	 .section = "Events, log and capture",
	 .arguments = {FLAG("follow"),
		       OPTION("since", "N|TIME", .form = when_since,
			      .what = "the number of an event, or a time: \"2026-11-27 10:30\", "
				      "\"10:30\", \"today\", \"2h\""),
		       OPTION("kind", "KIND[,KIND...]", .completes = "event",
			      .good = argument_is_event_kinds,
			      .what = "a kind of event, or several with commas: role, standby, "
				      "sweep, link, node, port, trap, partition, multicast, "
				      "routing, setting, store, keys, alias, command, other"),
		       OPTION("node", "NODE", .completes = "node"),
		       OPTION("lines", "N", .least = 1, .most = 1000000,
			      .what = "a number from 1 to 1000000")},
	 .list = "events",
	 .each = print_event,
	 .summary = "List events: links, nodes, ports, roles, partitions and others.",
	 .details =
		 "Each line has the number of the event, its time, its kind, its text and the node "
		 "or port. The kinds are `role`, `standby`, `sweep`, `link`, `node`, `port`, "
		 "`trap`, `partition`, `multicast`, `routing`, `setting`, `store`, `keys`, "
		 "`alias`, `command`, and `other` for other lines that have a MESSAGE_ID in the "
		 "journal.\n`--follow` shows new events until it is interrupted. A client that "
		 "does not read for a minute is dropped.\n`--since N` shows the events after the "
		 "event with this number, so that a client can continue where it stopped. `--since "
		 "TIME` shows the events from that time on: a date and a time, a time of today, "
		 "`today`, `yesterday`, or a duration before now, such as `30m`, `2h` or `3d`. "
		 "`--kind` selects kinds, and `--node` a node by its name, its GUID or a port "
		 "GUID, also if it is no longer in the fabric. An event of a registration has the "
		 "name of the node only if the port was present. `-n N` (`--lines`) shows the last "
		 "N "
		 "of the selected events.\nweftd "
		 "keeps the last 10,000 events of each kind in memory. If events are missing, the "
		 "list has a line of kind `gap` with the first and the last number. No number is "
		 "used twice. If a restart loses events, the list has a gap there. After weftd was "
		 "killed, some numbers are not used. Numbers begin at 1 again only if the state "
		 "directory cannot be written or was lost. If N is higher than the latest event, "
		 "weftd sends a gap with the latest number (`newest`), then all stored "
		 "events.\nWith `--json` each event is an object on a line of its own, with "
		 "`number`, `time_s` (seconds since 1970), `kind`, `level` (as in the log) and "
		 "`text`. If the event has a node or a port, there are also `node`, `node_guid`, "
		 "`port_guid`, `port` and `lid`. A gap has `first` and `last`."},
	{.words = "log level",
	 .arguments = {{.member = "component",
			.label = "COMPONENT",
			.completes = "component",
			.optional = true},
		       {.member = "level",
			.label = "LEVEL",
			.optional = true,
			.good = argument_is_level,
			.what = "a level: emerg, alert, crit, err, warning, notice, info, debug, "
				"or default"}},
	 .rows = "components",
	 .columns = log_columns,
	 .summary = "Show the log levels, or change the level of all components or of one.",
	 .details = "Levels are those of `journalctl -p`. WEFT_COMPONENT in the journal names the "
		    "component of a line. The level replaces the option `log_level` and is kept in "
		    "the store. `default` as LEVEL returns to that option."},
	{.words = "capture",
	 .arguments = {{.member = "file", .label = "FILE|-"},
		       OPTION("seconds", "N", .least = 1, .most = 86400,
			      .what = "a time: a number of seconds from 1 to 86400")},
	 .sink = &capture_sink,
	 .print = print_capture,
	 .summary = "Write the MADs of weftd to a file that Wireshark and tshark read.",
	 .details = "The file (- is standard output) gets the MADs that weftd sends and receives "
		    "from now on, for the given time or until the command is interrupted. The "
		    "format is pcap with ERF records of type InfiniBand. M_Keys, SM_Keys, the SA "
		    "key and keys of services are replaced by 0.\nweftd does not know some fields "
		    "of a packet: the PSN, the CRCs and the P_Key (0xffff) have default values. "
		    "Both ends of a directed route have the permissive LID. An RMPP message is "
		    "recorded once, with its first 256 bytes.\nAt most 16,384 packets wait to be "
		    "read. Further packets are lost, and the end of the output says how many. "
		    "There are at most four captures at a time. Only the owner can read the file. "
		    "The file is complete even if the command is interrupted."},

	{.words = "config show",
	 .section = "Configuration",
	 .list = "options",
	 .columns = option_columns,
	 .summary = "List every option with its value, its default, and how a change is applied.",
	 .details = "APPLIED-BY is `reload`, or `restart` if only a restart of weftd applies a "
		    "change. DEFAULT is = if the value is the default. Keys are not shown. See "
		    "`weftd.conf(5)`."},
	{.words = "config check",
	 .print = print_would_change,
	 .summary = "Show the errors in the configuration, or what a reload would change.",
	 .details = "weftd reads the files that a reload would read, with its own arguments and "
		    "rights. Nothing changes."},
	{.words = "config reload",
	 .arguments = {FLAG("force")},
	 .print = print_reloaded,
	 .summary = "Read the configuration and the partition file again, as SIGHUP does.",
	 .details =
		 "The answer lists the options that changed, those that take effect after a "
		 "restart, and whether the partition file and the keys in key files changed. It "
		 "warns about names that `node_name_map_name` gives to several nodes. Three "
		 "changes need `--force`, and SIGHUP refuses them. The first is a partition file "
		 "that takes P_Keys from more ports than `partition_confirm_ports`. The second is "
		 "an engine, or its files, whose routes would have credit loops. The third is "
		 "M_Keys that a standby would not get. A refusal lists all such changes, and the "
		 "answer to `--force` lists the changes that it accepted."},
	{.words = "keys status",
	 .print = print_keys,
	 .summary = "Show the protection of ports by M_Keys, and the ports that sent wrong keys.",
	 .details =
		 "The answer has the mode, the number of ports that hold their key, and the number "
		 "of ports that may hold an earlier key. SMPs with wrong keys (trap 256) include "
		 "those that this manager itself sent while it tried keys. Keys are not shown. "
		 "`Held back` means that ports do not get their first key, because a standby would "
		 "not get the keys: see `config reload`."},
	{.words = "keys rotate",
	 .perform = keys_rotate_perform,
	 .print = print_sweep,
	 .summary = "Read the secrets again and give the ports their new keys.",
	 .details = "First, on all managers of the subnet, write the new secret on the line before "
		    "the present secret. The command reads the configuration and the secrets as "
		    "SIGHUP does, and waits for the sweep that writes the keys. When `keys status` "
		    "shows no port that may hold an earlier key, remove the old line."},
	{.words = "keys import",
	 .arguments = {{.member = "file", .label = "FILE"}},
	 .perform = keys_import_perform,
	 .print = print_imported,
	 .summary = "Read the M_Keys of ports from the file guid2mkey of OpenSM.",
	 .details = "Use this command, and then `sweep`, if ports do not answer after this manager "
		    "has taken over from OpenSM. weftd tries these keys at ports whose key is not "
		    "known."},

	{.words = "ha status",
	 .section = "High availability",
	 .print = print_ha,
	 .summary = "Show the standbys that follow this manager, or the master that it follows.",
	 .details = "A MASTER shows the role of each standby, and the number of changes that the "
		    "standby has not acknowledged. Only a manager with the role STANDBY takes "
		    "over. `Durability` is the option `durability` of `weftd.conf(5)`. It says "
		    "when a client gets its answer: after this manager has stored the "
		    "registration, or after the standbys have stored it, too. A standby shows the "
		    "master that it follows, how "
		    "many changes it is behind, whether its partition file differs, and why it "
		    "does not follow other managers.\n`Refused` counts refusals since the start. "
		    "It counts connections to `ha_listen` that had no valid key, or that came "
		    "while too many handshakes were under way. It also counts standbys and masters "
		    "that have a valid key, but sent a message that was refused."},
	{.words = "ha handover",
	 .arguments =
		 {{.member = "guid", .label = "MANAGER", .completes = "manager", .optional = true},
		  FLAG("force")},
	 .print = print_handover,
	 .summary = "Give the subnet to this standby, or to the standby of the highest rank.",
	 .details =
		 "Only the MASTER accepts this command. With `ha_listen` (see `weftd.conf(5)`) the "
		 "standby must be in sync, unless `--force` is given. It must also have a copy of "
		 "the partitions that commands made. A busy standby is queried again for some "
		 "seconds. This manager does not become MASTER again by itself. As "
		 "long as the new master is MASTER, the priority of this manager is 0. A new "
		 "master that runs weft raises its own priority (at most to 15), so that it ranks "
		 "above this manager even after this manager has restarted. A new master that runs "
		 "OpenSM with priority 1 or more stays MASTER until this weftd restarts."},
	{.words = "ha disable",
	 .arguments = {{.member = "guid", .label = "MANAGER", .completes = "manager"}},
	 .print = print_ordered,
	 .summary = "Make a standby NOTACTIVE: it does not take over, even if the MASTER fails.",
	 .details = "The state lasts until `ha enable` or a restart of that manager. The manager "
		    "still copies the registrations of the MASTER. Only the MASTER accepts `ha "
		    "disable`, `ha enable` and "
		    "`ha discover`. These commands send a control packet to another manager and "
		    "show the state of that manager. MANAGER is the port GUID of that manager, "
		    "which Peers in `status` shows, or its node."},
	{.words = "ha enable",
	 .arguments = {{.member = "guid", .label = "MANAGER", .completes = "manager"}},
	 .print = print_ordered,
	 .summary = "Make a NOTACTIVE manager a standby again."},
	{.words = "ha discover",
	 .arguments = {{.member = "guid", .label = "MANAGER", .completes = "manager"}},
	 .print = print_ordered,
	 .summary = "Return a standby to the state DISCOVERING.",
	 .details = "The standby looks for managers and starts the election again."},

	{.words = "save",
	 .section = "Save, restore and import",
	 .arguments = {{.member = "file", .label = "FILE|-"},
		       OPTION("with", "keys", .choices = secret_records)},
	 .sink = &save_sink,
	 .print = print_saved,
	 .summary = "Write the records of the store as one JSON document.",
	 .details =
		 "The document, `{\"version\":1,\"records\":[...]}`, goes to a file of mode 0600 "
		 "or to standard output (-). It has LIDs, multicast groups and members, services, "
		 "subscriptions, alias GUIDs and settings. A record has its `kind` and the fields "
		 "of the specification. Byte strings and 64-bit numbers are text: 0x and "
		 "hexadecimal digits. Names are text, too. The document may hold keys of services, "
		 "so protect it as you protect these keys. M_Keys are in it only with `--with "
		 "keys`. A registration that arrives during the command may be missing."},
	{.words = "restore",
	 .arguments = {{.member = "file", .label = "FILE|-"}, FLAG("force")},
	 .perform = restore_perform,
	 .print = print_restored,
	 .summary = "Replace the records of the store by those of a saved document.",
	 .details =
		 "The document comes from a file or from standard input (-). weftd checks the "
		 "whole document before anything changes. The error names the first wrong record. "
		 "A group must come before its members. If the document lacks the broadcast group "
		 "of the default partition, weftd makes it. Ports that are present keep their "
		 "LIDs. M_Keys do not change if the document has none. Only a MASTER accepts this "
		 "command. When it ends, the records are on the disk. With `--force` it accepts "
		 "a document that takes P_Keys from many ports (`partition_confirm_ports`), or "
		 "whose drained ports cut off hosts. These drains are then held, as `drain` "
		 "describes, unless the document has them as drains with `--force`. Drains and "
		 "disabled ports that are not in the document end, as with `undrain` and `port "
		 "enable`."},
	{.words = "import opensm",
	 .arguments = {{.member = "dir", .label = "DIR", .optional = true},
		       OPTION("cache", "DIR"),
		       OPTION("to", "DIR"),
		       OPTION("root", "DIR"),
		       FLAG("strict")},
	 .perform = import_opensm,
	 .print = print_opensm,
	 .failed = import_failed,
	 .summary = "Make weft's files from those of OpenSM, and list what is lost.",
	 .details =
		 "The command reads OpenSM's configuration and partition file in DIR, and its "
		 "LIDs in a cache (`--cache`, default /var/cache/opensm). Without DIR it reads "
		 "/etc/opensm or /etc/rdma, and the settings of the service in "
		 "/etc/sysconfig/opensm and /etc/default/opensm. With `--root` all these paths "
		 "are below another directory, such as a backup.\nIt writes a weftd.conf, a "
		 "partition file and a document for `restore` into a directory (`--to`, default "
		 "weft-import). If root runs the command and there is a group `weft`, this "
		 "group can read the files. Otherwise only the caller can read them.\nThe answer "
		 "has three lists: settings that are lost (with the consequence), settings that "
		 "were taken over, and settings that weft does not need. The exit status is 1 if "
		 "no file of OpenSM was found or if the partition file has errors. With `--strict` "
		 "it is also 1 if a setting is lost.\nThe command needs no daemon, "
		 "changes no file of OpenSM, and overwrites no file."},
	{.words = "export opensm",
	 .arguments = {{.member = "dir", .label = "DIR"}},
	 .perform = export_opensm,
	 .print = print_exported,
	 .summary = "Write files with which OpenSM continues with the same LIDs and partitions.",
	 .details =
		 "The directory gets three files. opensm.conf has the options that have an "
		 "equivalent in OpenSM. partitions.conf has the partition file in force, and the "
		 "partitions and members that commands added. guid2lid has the LID of each port. "
		 "The answer lists the options that could not be exported. Keys are not "
		 "exported.\nOptions "
		 "that have weft's default are not exported, except for the routing engines. No "
		 "file is overwritten. To return to OpenSM, keep a copy of its present files, stop "
		 "weftd, "
		 "copy the new files to /etc/opensm and /var/cache/opensm, and start OpenSM."},
	{.words = "takeover preview",
	 .section = "Takeover",
	 .arguments = {FLAG("list"), OPTION("config", "FILE")},
	 .perform = takeover_preview,
	 .print = print_preview,
	 .failed = preview_failed,
	 .summary = "Show everything that weftd would write if it became MASTER now.",
	 .details = "The command writes nothing to the fabric. Run it before the first takeover "
		    "from another subnet manager. It runs `weftd --preview` with your rights, "
		    "which reads the whole fabric: see `weftd(8)`. It works beside a MASTER, "
		    "also on the same port. The summary counts the Sets that change a value, "
		    "LIDs, entries of forwarding tables, P_Keys and other members, and names the "
		    "links that would bounce. With `--list` a line for each changed value has "
		    "the value before and after.\nWith `--config` the preview uses this "
		    "configuration. Otherwise it uses /etc/weft/weftd.conf, and the options of a "
		    "weftd that runs here; their keys are not shown, so they come from the file. "
		    "The exit status is 1 if the fabric could not be read in full."},
	{.words = "completion",
	 .section = "Shell completion",
	 .arguments = {{.member = "shell", .label = "bash|zsh", .choices = shells}},
	 .perform = completion_perform,
	 .digest = completion_digest,
	 .print = print_text,
	 .summary = "Print a script that completes the command line of weftctl.",
	 .details = "If the script is not installed, use `source <(weftctl completion bash)`. In "
		    "bash, "
		    "names of nodes, ports, partitions, routing engines, log components, kinds of "
		    "events and other managers come from weftd. If weftd does not answer within a "
		    "second, they are not offered."},
	COMPLETE("node", ),
	COMPLETE("port", {.member = "node", .label = "NODE"}, ),
	COMPLETE("partition", ),
	COMPLETE("engine", ),
	COMPLETE("manager", ),
	COMPLETE("component", ),
	COMPLETE("event", ),
	{.words = NULL},
};
