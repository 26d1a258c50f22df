/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of options. A new option is a field in struct conf (or in the options of the room that
 * it belongs to), a row here, and its paragraph in etc/weftd.conf and man/weftd.conf.5; the unit
 * test holds those two to this table. Nothing else knows what an option is called, but the command
 * line for those that have a letter of their own.
 */
#include "lib/log.h"
#include "weftd/conf.h"

#define AT(member) \
	.offset = offsetof(struct conf, member), .size = sizeof(((struct conf *)NULL)->member)
#define COPY(member) .copy = offsetof(struct conf, member)

/* Kinds of options: (name, field, least, most, default). */
#define NUMBER(name_, member, least, most, preset_) \
	.name = name_, .type = CONF_NUMBER, AT(member), .min = least, .max = most, .preset = preset_
#define HEX(name_, member, least, most, preset_) \
	.name = name_, .type = CONF_HEX, AT(member), .min = least, .max = most, .preset = preset_
#define TEXT(name_, member, least, preset_)                         \
	.name = name_, .type = CONF_TEXT, AT(member), .min = least, \
	.max = sizeof(((struct conf *)NULL)->member) - 1, .preset = preset_
#define CHOICE(name_, member, choices_, preset_) \
	.name = name_, .type = CONF_CHOICE, AT(member), .choices = choices_, .preset = preset_
#define BOOL(name_, member, preset_) .name = name_, .type = CONF_BOOL, AT(member), .preset = preset_
/* A time as the specification encodes it: n stands for 4.096 us * 2^n. */
#define EXPONENT(name_, member, least, preset_) \
	NUMBER(name_, member, least, 31, preset_), .unit = "(n: 4.096 us * 2^n)"

static const char *const roles[] = {"normal", "standby-only", NULL}; /* sm_options.standby_only */
static const char *const m_key_modes[] = {"none", "subnet", "port", NULL}; /* enum m_key_mode */
static const char *const durabilities[] = {"local", "standby", NULL};	   /* enum durability */
static const char *const babble_policies[] = {"note", "disable", NULL};
static const char *const former_babble_policies[] = {"quarantine", NULL};
/* The values that OpenSM takes (osm_subnet.c, osm_subn_verify_config()). Before 1.2.1 the
 * specification reserved 2, 4 and 6 for LinkSpeedEnabled; agents take these: Linux's qib_mad.c. */
static const struct conf_span link_widths[] = {{0, 31}, {LINK_WIDTH_ALL, LINK_WIDTH_ALL}};
static const struct conf_span link_speeds[] = {{0, 7}, {LINK_SPEED_ALL, LINK_SPEED_ALL}};
static const struct conf_span link_speeds_ext[] = {{0, 15},
						   {LINK_SPEED_EXT_NONE, LINK_SPEED_EXT_ALL}};
static const char *const enforcements[] = {"both", "in", "out", "off", NULL};

const struct conf_row conf_rows[] = {
	/* The daemon */
	{TEXT("ca", ca, 0, "\"\""), .fixed = true,
	 .text = "The adapter to run on, such as mlx5_0. Empty: any; ports whose link is up are "
		 "taken first."},
	{NUMBER("port", port, 0, PORT_MAX, "0"), .fixed = true,
	 .text = "The port of that adapter. 0: any."},
	{HEX("port_guid", port_guid, 0, UINT64_MAX, "0x0"), .fixed = true,
	 .text = "The port to run on, by its GUID. 0: any."},
	{.name = "failover_ports",
	 .type = CONF_GUIDS,
	 AT(failover_ports),
	 .max = UMAD_OTHERS_MAX,
	 .preset = "[]",
	 .fixed = true,
	 .text = "The GUIDs of ports of this machine that take the place of that port when its "
		 "device has gone or its link stays down for two seconds: the first of them whose "
		 "link is up. Other managers have to allow these GUIDs, too. None: it is waited "
		 "for."},
	{TEXT("state_dir", state_dir, 1, "\"/var/lib/weft\""), .fixed = true,
	 .text = "Where the daemon keeps what outlives it. systemd's STATE_DIRECTORY replaces the "
		 "default."},
	{TEXT("runtime_dir", runtime_dir, 1, "\"/run/weft\""), .fixed = true,
	 .text = "Where the control socket is; made when it is missing. systemd's "
		 "RUNTIME_DIRECTORY replaces the default."},
	{TEXT("readonly_socket", readonly_socket, 0, "\"" CONF_READONLY_GROUP "\""), .fixed = true,
	 .text = "The group whose members may use a second socket, control-ro.sock next to the "
		 "first. It accepts only commands that change nothing. *: all users. If the text "
		 "is empty, or the default group does not exist, there is no such socket."},
	{NUMBER("workers", workers, 0, 256, "0"), .fixed = true, .unit = "threads",
	 .text = "Threads that compute routes. 0: one for each processor. The routes do not depend "
		 "on it."},
	{CHOICE("log_level", log_level, log_level_words, "\"info\""),
	 .text = "The least important lines that are logged, in the words of journalctl -p. Each "
		 "-v on the command line adds one level."},

	/* Identity and election */
	{NUMBER("sm_priority", sm.priority, 0, 15, "0"),
	 .text = "Priority in the election of the master. The higher wins; of equals, the lower "
		 "port GUID."},
	{NUMBER("master_priority", sm.master_priority, 0, 15, "0"), .agree = AGREE_SHOULD,
	 .text = "Priority while this manager is master, where that is more than sm_priority: with "
		 "14 at all managers, a master that comes back after a failover stands by, and the "
		 "subnet does not change hands a second time. 0: sm_priority alone counts, as with "
		 "OpenSM."},
	{CHOICE("role", sm.standby_only, roles, "\"normal\""), .fixed = true,
	 .text = "With standby-only the daemon never becomes master: the way to try it beside "
		 "another manager."},
	{HEX("sm_key", sm.sm_key, 0, UINT64_MAX, "0x1"), .secret = true,
	 .text = "Managers with another key take no part in the election: all managers of a subnet "
		 "share it. 1 is OpenSM's default too."},
	{.name = "allowed_sm_guids",
	 .type = CONF_GUIDS,
	 AT(sm.allowed_sm_guids),
	 .max = SM_GUIDS_MAX,
	 .preset = "[]",
	 .text = "The port GUIDs of those that may be managers, as in [0x2c9030000e0b72]. Another "
		 "one takes no part in the election and is obeyed in nothing, and the log names it "
		 "once. None: any may."},
	{.name = "alias_guids",
	 .type = CONF_ALIASES,
	 AT(sm.alias_guids),
	 .max = ALIAS_RANGES_MAX,
	 .preset = "[]",
	 .agree = AGREE_SHOULD,
	 .text = "Which ports may have which alias GUIDs, as in [\"0x2c903000e0b72: "
		 "0x2c903000e1000-0x2c903000e107f\"]: a port GUID or a range, then a GUID or a "
		 "range. These aliases are granted: they count in partitions. weftctl alias set "
		 "and requests with an sa_key other than the default also grant aliases. An alias "
		 "without a grant brings no P_Key, and only full members of the default partition "
		 "may register one."},
	{HEX("sa_key", adm.sa_key, 0, UINT64_MAX, "0x1"), .secret = true,
	 .text = "A client that gives this key is trusted by the subnet administrator. 1 is "
		 "OpenSM's default too."},
	{NUMBER("poll_interval", sm.poll_interval_ms, 10, 60000, "300"), .unit = "ms",
	 .text = "In standby, the time between two questions to the master whether it is alive; as "
		 "master, between two to each other manager what it is."},
	{NUMBER("poll_misses", sm.poll_misses, 1, 100, "3"),
	 .text = "In standby, after how many such times without an answer the master counts as "
		 "dead. "
		 "One whose port answers that no manager is there any more is asked once again, "
		 "and "
		 "not waited for."},

	/* The standby, and whom it follows */
	{TEXT("ha_listen", replica.listen, 0, "\"\""), .fixed = true,
	 .text = "The address at which standbys find this manager while it is "
		 "master, such as 10.0.0.1 or [fd00::1]:15725, on a network that is "
		 "not IPoIB of this fabric. Empty: it keeps no standby."},
	{TEXT("ha_peers", replica.peers, 0, "\"\""), .fixed = true,
	 .text = "The ha_listen addresses of the other managers of this subnet, with commas "
		 "between them. In standby the daemon follows the one that is master, and keeps "
		 "what is registered there. Connections from these addresses have reserved places "
		 "at ha_listen. Empty: it follows no manager."},
	{TEXT("ha_psk_file", ha_psk_file, 0, "\"\""), .fixed = true,
	 .text = "The file with the keys of the managers. A key is 32 to 128 hexadecimal digits, "
		 "as openssl rand -hex 32 makes them. A line with a key alone is the key of all "
		 "managers. A line IDENTITY KEY [ADDRESS] is the key of two managers: both files "
		 "have it, each with the address of the other manager. A reload reads the file "
		 "and ends connections whose key is gone. The file belongs to the user that runs "
		 "weftd (weft under systemd), and no other user may read it. ha_listen and "
		 "ha_peers need it."},
	{CHOICE("durability", replica.durability, durabilities, "\"local\""), .fixed = true,
	 .agree = AGREE_SHOULD,
	 .text = "When a client is told that it is registered. local: when this "
		 "manager's disk has it. standby: when the disks of all standbys in "
		 "step have it, too; while none is, as local."},

	/* The subnet */
	{HEX("subnet_prefix", sm.subnet_prefix, 1, UINT64_C(0xFEFFFFFFFFFFFFFF),
	     "0xfe80000000000000"),
	 COPY(adm.subnet_prefix), .agree = AGREE_MUST,
	 .text = "The upper half of every GID of the subnet. Prefixes from 0xff00000000000000 on "
		 "belong to multicast."},
	{NUMBER("lmc", sm.lmc, 0, LMC_MAX, "0"), .fixed = true, .agree = AGREE_MUST,
	 .text = "Each adapter port gets 2^lmc LIDs. A subnet has 49151 of them in all."},
	{BOOL("lmc_esp0", sm.lmc_esp0, "false"), .fixed = true, .agree = AGREE_MUST,
	 .text = "The enhanced port 0 of a switch gets 2^lmc LIDs too, not one. A base port 0 "
		 "always has one."},
	{NUMBER("sm_lid", sm.sm_lid, 0, LID_UNICAST_MAX, "0"), .agree = AGREE_SHOULD,
	 .text = "The LID of whichever manager is master, a multiple of 2^lmc: it moves with "
		 "mastership, so that no host is told of another manager. Give it to managers "
		 "whose adapter ports serve nothing else, for their LIDs change then, and the same "
		 "to all of them. 0: a manager keeps the LID of its port."},
	{.name = "routing",
	 .type = CONF_ENGINES,
	 AT(sm.engines),
	 .min = 1,
	 .max = SM_ENGINES_MAX,
	 .preset = "[\"ftree\", \"updn\", \"minhop\"]",
	 .agree = AGREE_SHOULD,
	 .text = "Routing engines in the order in which they are tried. When one refuses the "
		 "fabric, or its tables fail the check, the next one follows. Known: minhop "
		 "(fewest hops), updn (up to a root and down again, in any topology without credit "
		 "loops), dnup (the same, ranked from the hosts), ftree (fat trees, whole or "
		 "broken), file (tables from a dump)."},
	{NUMBER("sweep_interval", sm.sweep_interval_s, 0, 86400, "10"), .unit = "s",
	 .text = "Time between light sweeps, which find what no trap told. 0: none."},

	{NUMBER("readback_interval", sm.readback_s, 0, 86400, "1800"), .unit = "s",
	 .was = "readback",
	 .text = "All that devices hold is read again, one request at a time, once within this "
		 "time. What is not as it was is named in the log and mended. 0: nothing is, nor "
		 "are the "
		 "tables that only queries ask for: GUIDs, SLtoVL, VL arbitration."},

	/* Devices that come and go, or make trouble */
	{NUMBER("registration_grace", sm.grace_s, 0, 86400, "600"), .unit = "s",
	 .text = "A port that is gone keeps for so long what it has registered. Its LIDs it keeps "
		 "longer: until no others are left."},
	{NUMBER("rereg_rate", sm.rereg_rate, 0, 100000, "1000"),
	 .text = "Who becomes master, also after a restart, need not know all that ports have "
		 "registered: they are told to register anew (ClientReregister), so many in a "
		 "second, and so is each whose link was lost. 0: only those are who know another "
		 "master."},
	{NUMBER("flap_hold_max", sm.flap_hold_max_s, 0, 3600, "16"), .unit = "s",
	 .text = "A link that was lost more than three times, with less than a minute in between, "
		 "is not brought up again at once, but after 1, 2, 4 s and so on, at the most "
		 "this. 0: it is."},
	{CHOICE("babble_policy", sm.babble_policy, babble_policies, "\"note\""),
	 .former = former_babble_policies,
	 .text = "What weftd does about a port that babbles. note: it logs the port. disable: it "
		 "also disables a switch port that leads to a host, but never a port of a cable "
		 "between switches. weftd acts only on complaints of the device that has the "
		 "port, and only after it has read the port."},
	{NUMBER("babble_threshold", sm.babble_threshold, 1, 100000, "10"),
	 .text = "A port babbles when so many traps 129, 130, 131 or 259 complain of it within a "
		 "minute."},

	/* Who may configure ports */
	{CHOICE("m_key_mode", sm.m_key_mode, m_key_modes, "\"none\""), .agree = AGREE_SHOULD,
	 .text = "Which M_Key ports get, without which nobody configures them. none: none. subnet: "
		 "one for all, m_key. port: each its own, derived from the secret of "
		 "m_key_secret_file."},
	{HEX("m_key", sm.m_key, 0, UINT64_MAX, "0x0"), .secret = true,
	 .text = "The M_Key of the subnet, when m_key_mode is subnet. 0: it is derived from the "
		 "secret. To change it, give another one: the one before is kept until all ports "
		 "have changed."},
	{TEXT("m_key_secret_file", m_key_secret_file, 0, "\"\""),
	 .text = "A file that only its owner may read, with a secret of at least 16 bytes. It "
		 "belongs to "
		 "the user that runs weftd (weft under systemd). All managers of the subnet need "
		 "the same. To change keys, put another secret on the "
		 "line before: the first counts, the others are tried. Empty: none."},
	{NUMBER("m_key_protection_level", sm.m_key_protection_level, 0, 3, "2"),
	 .text = "PortInfo:M_KeyProtectBits. 0: whoever asks is told the key. 1: the key is "
		 "hidden. "
		 "2 and 3: who has not the key is told nothing, not even what the port is."},
	{NUMBER("m_key_lease_period", sm.m_key_lease_s, 0, 65535, "0"), .unit = "s",
	 .text = "PortInfo:M_KeyLeasePeriod. After somebody has used a wrong key, and nobody the "
		 "right one for so long, a port tells its key. 0: never, so that a port whose key "
		 "is "
		 "lost has to be reset."},

	/* Files for routing engines, in OpenSM's formats and with its names */
	{TEXT("root_guid_file", route_files.roots, 0, "\"\""),
	 .text = "For ftree and updn: the node GUIDs of the switches at the top of the tree, one a "
		 "line. Levels are counted from them. Empty, as for all these files: none."},
	{TEXT("cn_guid_file", route_files.compute, 0, "\"\""),
	 .text = "For ftree, updn and dnup: the GUIDs of compute nodes, of their ports or nodes, "
		 "one "
		 "a line. They are balanced among themselves, other hosts apart from them."},
	{TEXT("io_guid_file", route_files.io, 0, "\"\""),
	 .text = "The same for I/O nodes, which are balanced apart from both."},
	{TEXT("guid_routing_order_file", route_files.order, 0, "\"\""),
	 .text = "For ftree, updn and dnup: GUIDs of hosts, one a line, in the order in which "
		 "places "
		 "in the tree are given. Hosts that are not named come after them."},
	{TEXT("hop_weights_file", route_files.weights, 0, "\"\""),
	 .text = "For minhop: lines of a switch's node GUID, a port, and how many hops sending by "
		 "that port counts as. A path has less than 255 in all. Ports that are not named "
		 "count as 1."},
	{TEXT("port_search_ordering_file", route_files.ports, 0, "\"\""),
	 .text = "For minhop: lines of a switch's node GUID and ports, in the order in which paths "
		 "are spread over them. Ports that are not named come after them."},
	{TEXT("port_prof_ignore_file", route_files.ignored, 0, "\"\""),
	 .text = "For ftree, updn and dnup: lines of a node GUID and a port. The host at that "
		 "port, "
		 "or behind that port of a switch, is balanced apart from the others."},
	{TEXT("lfts_file", route_files.tables, 0, "\"\""),
	 .text = "For file: the forwarding tables, as OpenSM (opensm.fdbs, opensm-lfts.dump) or "
		 "dump_lfts write them."},

	{TEXT("prefix_routes_file", route_files.prefixes, 0, "\"\""),
	 .text = "Routers to other subnets, for path records: lines of a subnet prefix and the "
		 "port "
		 "GUID of the router that leads there, or * for any of them. The first line that "
		 "fits counts."},

	{TEXT("node_name_map_name", node_name_map, 0, "\"\""),
	 .text = "Names of nodes, in place of the NodeDescriptions that they report, in all that "
		 "weft "
		 "shows, logs and is asked for: lines of a node GUID and a name, as ibnetdiscover "
		 "reads them. "
		 "The SA tells what nodes report."},

	/* Partitions */
	{TEXT("partition_config_file", partition_file, 0, "\"/etc/weft/partitions.conf\""),
	 .text = "The file of the partitions and their members, in OpenSM's form. Read at the "
		 "start, on SIGHUP and for weftctl config reload. Without a file and without "
		 "partitions made by weftctl partition, every port is a full member of the "
		 "default partition. If the file is bad, or is missing and was in force before, "
		 "the last good file stays in force. If the store has no last good file, weftd "
		 "does not start with a bad file, and with a missing file ports keep the P_Keys "
		 "that they hold. Empty: no file is used."},
	{CHOICE("part_enforce", sm.part_enforce, enforcements, "\"both\""),
	 .text = "Switch ports in front of hosts drop packets whose P_Key the host does not have: "
		 "on "
		 "their way in, out, both or neither. Nothing is dropped while there are no "
		 "partitions but the default one, with everybody in it."},
	{BOOL("allow_both_pkeys", sm.allow_both, "false"),
	 .text = "A port may be a full and a limited member of a partition at the same time: "
		 "\"both\". Each then takes a place of its P_Key table."},

	/* Subnet management packets (SMPs) under way */
	{NUMBER("smp_window", sm.smp_window, 1, 128, "128"),
	 .text = "The most SMPs under way in the whole fabric. weftd sends fewer while many "
		 "devices lose SMPs, and where switches need time to pass them on. 128 is the "
		 "kernel's own bound."},
	{NUMBER("smp_per_switch", sm.smp_per_switch, 1, 32, "2"),
	 .text = "SMPs under way to one switch. VL15 has no flow control and its buffers are "
		 "small: what is lost costs a timeout."},
	{NUMBER("smp_per_adapter", sm.smp_per_adapter, 1, 32, "1"),
	 .text = "SMPs under way to one adapter port."},
	{NUMBER("smp_timeout", sm.smp_timeout_ms, 10, 10000, "200"), .unit = "ms",
	 .text = "The longest that an attempt to send an SMP waits for its answer: the last one. "
		 "The first waits for an eighth of it while it is not known how long answers "
		 "take."},
	{NUMBER("smp_timeout_min", sm.smp_timeout_min_ms, 1, 10000, "8"), .unit = "ms",
	 .text = "The shortest time-out. The first attempt waits twice as long as answers over as "
		 "many hops take, but at least this long. The wait doubles after every second "
		 "attempt. Kernels count in ticks of up to 10 ms, so a lower value may time out "
		 "answers that are on their way."},
	{NUMBER("smp_attempts", sm.smp_attempts, 1, 16, "8"),
	 .text = "How often an SMP is sent before its target counts as not answering."},

	/* Counters of ports: the performance manager */
	{NUMBER("perf_interval", pm.interval_s, 0, 86400, "0"), .unit = "s",
	 .text = "Time between two reads of the counters of all ports, while this manager is "
		 "master. 0: they are read only by weftctl perf sweep."},
	{NUMBER("perf_window", pm.window, 1, 2000, "500"),
	 .text = "Requests for counters under way in the whole fabric. One agent has one."},
	{BOOL("perf_reset", pm.reset, "true"),
	 .text = "Counters of 32 bits and fewer stay at their largest value when they are full. So "
		 "one that is more than half full is reset, once; its total goes on here. 64-bit "
		 "counters never are."},
	{NUMBER("perf_symbol_errors", pm.threshold[ERROR_SYMBOL], 0, 65535, "10"),
	 .text = "A port whose SymbolErrorCounter (bit errors of the link) rises by so many or "
		 "more from one read to the next is named in the log. 0: never."},
	{NUMBER("perf_link_recoveries", pm.threshold[ERROR_LINK_RECOVERY], 0, 65535, "1"),
	 .text = "A port whose LinkErrorRecoveryCounter (times that the link recovered by itself) "
		 "rises by so many or more from one read to the next is named in the log. 0: "
		 "never."},
	{NUMBER("perf_link_downed", pm.threshold[ERROR_LINK_DOWNED], 0, 65535, "1"),
	 .text = "A port whose LinkDownedCounter (times that the link went down) rises by so many "
		 "or more from one read to the next is named in the log. 0: never."},
	{NUMBER("perf_rcv_errors", pm.threshold[ERROR_RCV], 0, 65535, "10"),
	 .text = "A port whose PortRcvErrors (packets received with an error) rises by so many or "
		 "more from one read to the next is named in the log. 0: never."},
	{NUMBER("perf_xmit_discards", pm.threshold[ERROR_XMIT_DISCARD], 0, 65535, "100"),
	 .text = "A port whose PortXmitDiscards (packets dropped since the port was down or "
		 "congested) rises by so many or more from one read to the next is named in the "
		 "log. 0: never."},
	{NUMBER("perf_link_integrity", pm.threshold[ERROR_LOCAL_LINK_INTEGRITY], 0, 65535, "1"),
	 .text = "A port whose LocalLinkIntegrityErrors (times that local errors passed the "
		 "threshold of the port) rises by so many or more from one read to the next is "
		 "named in the log. 0: never."},
	{NUMBER("perf_buffer_overruns", pm.threshold[ERROR_BUFFER_OVERRUN], 0, 65535, "1"),
	 .text = "A port whose ExcessiveBufferOverrunErrors (times that buffers overflowed for "
		 "long) rises by so many or more from one read to the next is named in the log. 0: "
		 "never."},
	{NUMBER("perf_vl15_dropped", pm.threshold[ERROR_VL15_DROPPED], 0, 65535, "100"),
	 .text = "A port whose VL15Dropped (SMPs dropped for want of a buffer) rises by so many or "
		 "more from one read to the next is named in the log. 0: never."},
	{NUMBER("perf_xmit_wait", pm.threshold[SELECT_XMIT_WAIT], 0, UINT32_MAX, "0"),
	 .text = "The same of PortXmitWait, the ticks in which a port had something to send and no "
		 "credits. 0: never."},

	/* Port and switch parameters, as the specification encodes them */
	{EXPONENT("subnet_timeout", sm.subnet_timeout, 0, "18"), COPY(adm.subnet_timeout),
	 .agree = AGREE_SHOULD,
	 .text = "PortInfo:SubnetTimeOut. A port sends traps no faster than this, so a shorter one "
		 "shows faults sooner; 18 is 1.07 s."},
	{EXPONENT("path_packet_life_time", adm.packet_life_time, 16, "18"),
	 .was = "packet_life_time", .agree = AGREE_SHOULD,
	 .text = "PathRecord:PacketLifeTime. Hosts derive the ACK timeout of a connection from it: "
		 "below 16 (0.27 s) its seven retries would end before a fabric has been rerouted, "
		 "so less is refused."},
	{NUMBER("max_path_rate", adm.max_rate_enum, 2, 63, "63"), .was = "max_rate_enum",
	 .agree = AGREE_SHOULD,
	 .text = "PathRecord:Rate is never told in an encoding above this. 10 is the last that "
		 "clients before FDR "
		 "know (up to 120 Gb/s), 18 the last of those of FDR and EDR; a faster path is "
		 "then told as "
		 "the next slower rate."},
	{NUMBER("ipv6_snm_mlids", adm.ipv6_snm_mlids, 0, 16383, "1024"), .agree = AGREE_SHOULD,
	 .text = "Each IPv6 address of a host joins a solicited-node multicast group, and switches "
		 "have entries for a few thousand multicast LIDs. So many MLIDs are shared by all "
		 "such groups of a partition; hosts drop what is for others. 0 gives each group an "
		 "MLID of its own."},
	{NUMBER("registrations_per_port", adm.registrations_per_port, 1, 1000000, "1024"),
	 .agree = AGREE_SHOULD,
	 .text = "How much one port may register with the SA: memberships of multicast groups, "
		 "services, subscriptions and alias GUIDs together. More is refused. The virtual "
		 "functions of an adapter that share the LID of its port count as this port, and "
		 "each takes some ten for each of its partitions: raise it where that is more."},
	{NUMBER("groups_per_port", adm.groups_per_port, 1, 16383, "512"), .agree = AGREE_SHOULD,
	 .text = "How many multicast groups may exist at a time that one port created and that "
		 "it, or a port that it has joined, is still a member of. IPoIB creates some ten "
		 "groups in each partition, and one for each IPv6 address; the first host "
		 "creates the groups that all hosts join. Virtual functions that share the LID "
		 "of a port count as this port. The SA refuses more, so that no host takes all "
		 "multicast LIDs. Beyond a quarter of the limit, a port gets a group only while "
		 "half of the multicast LIDs are free."},
	{NUMBER("sa_request_rate", adm.request_rate, 0, 10000000, "10000"),
	 .unit = "requests a second",
	 .text = "So many requests of one port, from all its LIDs together, the SA answers as they "
		 "come. What is beyond waits behind the requests of others. 0: nobody waits."},
	{BOOL("sa_busy_reply", adm.busy_reply, "false"),
	 .text = "What finds no place to wait in, since too many requests wait already, is "
		 "answered "
		 "with BUSY. Else it gets no answer: Linux takes any status for a failure and "
		 "gives "
		 "up, where silence makes it ask again."},
	{EXPONENT("hoq_life", sm.hoq_life, 0, "18"), .agree = AGREE_SHOULD,
	 .text = "PortInfo:HOQLife of links between switches: how long a packet may wait at the "
		 "head of a queue before it is dropped. From 20 on: for ever."},
	{EXPONENT("leaf_hoq_life", sm.leaf_hoq_life, 0, "16"), .agree = AGREE_SHOULD,
	 .text = "PortInfo:HOQLife of switch ports that lead to a host, and of ports of routers. "
		 "Shorter than hoq_life, so that a stuck host does not stop the fabric."},
	{NUMBER("vl_stall_count", sm.vl_stall_count, 0, 7, "7"), .agree = AGREE_SHOULD,
	 .text = "PortInfo:VLStallCount of links between switches: after so many packets in a row "
		 "were dropped for their HOQLife, the VL is stalled."},
	{NUMBER("leaf_vl_stall_count", sm.leaf_vl_stall_count, 0, 7, "7"), .agree = AGREE_SHOULD,
	 .text = "PortInfo:VLStallCount of switch ports that lead to a host."},
	{EXPONENT("switch_life_time", sm.switch_life_time, 0, "18"), .agree = AGREE_SHOULD,
	 .text = "SwitchInfo:LifeTimeValue: how long a packet may live in a switch. From 20 on: "
		 "for ever."},
	{NUMBER("phy_errors_threshold", sm.phy_errors_threshold, 0, 15, "8"), .agree = AGREE_SHOULD,
	 .text = "PortInfo:LocalPhyErrors: how many errors of the link in a short time make a port "
		 "send trap 129."},
	{NUMBER("overrun_errors_threshold", sm.overrun_errors_threshold, 0, 15, "8"),
	 .agree = AGREE_SHOULD,
	 .text = "PortInfo:OverrunErrors: how many overflows of the receive buffer make a port "
		 "send trap 130."},
	{NUMBER("max_op_vls", sm.max_op_vls, 1, 5, "5"), .agree = AGREE_SHOULD,
	 .text = "The most data VLs that a link is given: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, "
		 "5 VL0-14. A link gets no more than both of its ends have."},
	{NUMBER("force_link_width", sm.force_link_width, 0, LINK_WIDTH_ALL, "0"),
	 .spans = link_widths, .agree = AGREE_SHOULD,
	 .text = "LinkWidthEnabled (PortInfo) of all ports with a link, as the sum of 1 (1x), 2 "
		 "(4x), 4 (8x), 8 (12x) and 16 (2x). weftd leaves out widths that a port does not "
		 "support. 255: all that it supports. 0: weftd does not change the value. A link "
		 "takes another width when it trains next."},
	{NUMBER("force_link_speed", sm.force_link_speed, 0, LINK_SPEED_ALL, "0"),
	 .spans = link_speeds, .agree = AGREE_SHOULD,
	 .text = "LinkSpeedEnabled (PortInfo) of all ports with a link, as the sum of 1 (SDR), 2 "
		 "(DDR) and 4 (QDR). weftd leaves out speeds that a port does not support. 15: "
		 "all that it supports. 0: weftd does not change the value. A link takes another "
		 "speed when it trains next."},
	{NUMBER("force_link_speed_ext", sm.force_link_speed_ext, 0, LINK_SPEED_EXT_ALL, "0"),
	 .spans = link_speeds_ext, .agree = AGREE_SHOULD,
	 .text = "LinkSpeedExtEnabled (PortInfo) of links whose two ends support speeds above "
		 "QDR, as the sum of 1 (FDR), 2 (EDR), 4 (HDR) and 8 (NDR). weftd leaves out "
		 "speeds that a port does not support. 30: none of these speeds. 31: all that a "
		 "port supports. 0: weftd does not change the value. A link takes another speed "
		 "when it trains next."},
	{NUMBER("fdr10", sm.fdr10, 0, 2, "0"), .agree = AGREE_SHOULD,
	 .text = "FDR10 is a speed of Mellanox devices from SwitchX and ConnectX-3 on, which "
		 "PortInfo does not show. 0: weftd sends no vendor SMPs, and an FDR10 link shows "
		 "as QDR. 1: weftd reads ExtendedPortInfo (0xFF90) of these devices, shows FDR10, "
		 "and enables it where a port supports it. 2: weftd reads it, and disables FDR10. "
		 "A link takes another speed when it trains next."},
	{.name = NULL},
};
