/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The option table: the only place that knows the name and the texts of an option, except for the
 * options that have a letter on the command line. A new option is a field in struct conf (or in the
 * options of its folder) and a row here; `make generated` then writes the pages.
 */
#include "lib/log.h"
#include "weftd/conf.h"

#define AT(member) \
	.offset = offsetof(struct conf, member), .size = sizeof(((struct conf *)NULL)->member)
#define COPY(member) .copy = offsetof(struct conf, member)

/* Types of options: (name, field, least, most, default). */
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
/* A time as the specification encodes it: n means 4.096 us * 2^n. */
#define EXPONENT(name_, member, least, preset_) \
	NUMBER(name_, member, least, 31, preset_), .unit = "(n: 4.096 us * 2^n)"

static const char *const roles[] = {"normal", "standby-only", NULL}; /* sm_options.standby_only */
static const char *const m_key_modes[] = {"none", "subnet", "port", NULL}; /* enum m_key_mode */
static const char *const durabilities[] = {"local", "standby", NULL};	   /* enum durability */
static const char *const babble_policies[] = {"note", "disable", NULL};
static const char *const former_babble_policies[] = {"quarantine", NULL};
/* The values that OpenSM accepts (osm_subnet.c, osm_subn_verify_config()). Before 1.2.1 the
 * specification reserved 2, 4 and 6 of LinkSpeedEnabled; agents accept them (Linux's qib_mad.c). */
static const struct conf_span link_widths[] = {{0, 31}, {LINK_WIDTH_ALL, LINK_WIDTH_ALL}};
static const struct conf_span link_speeds[] = {{0, 7}, {LINK_SPEED_ALL, LINK_SPEED_ALL}};
static const struct conf_span link_speeds_ext[] = {{0, 15},
						   {LINK_SPEED_EXT_NONE, LINK_SPEED_EXT_ALL}};
/* Of isolate_ber. A link with a rate above 1e-6 carries hardly anything. */
static const struct conf_span isolate_bers[] = {{0, 0}, {6, 15}};
static const char *const enforcements[] = {"both", "in", "out", "off", NULL};

const struct conf_row conf_rows[] = {
	{TEXT("ca", ca, 0, "\"\""), .fixed = true, .section = "Adapter, directories and log",
	 .summary = "Name of the adapter (HCA) whose port weftd manages, such as `mlx5_0`.",
	 .details = "Empty: weftd takes any adapter, and prefers ports whose link is up. Set it on "
		    "a host with several adapters."},
	{NUMBER("port", port, 0, PORT_MAX, "0"), .fixed = true,
	 .summary = "Number of the port on that adapter.",
	 .details = "0: any port. Set it if the adapter has several ports."},
	{HEX("port_guid", port_guid, 0, UINT64_MAX, "0x0"), .fixed = true,
	 .summary =
		 "Port GUID of the port that weftd manages, as an alternative to `ca` and `port`.",
	 .details = "0: any port. `ibstat` shows the port GUIDs of a host."},
	{.name = "failover_ports",
	 .type = CONF_GUIDS,
	 AT(failover_ports),
	 .max = UMAD_OTHERS_MAX,
	 .preset = "[]",
	 .fixed = true,
	 .summary = "Port GUIDs of other local ports on the same subnet, which replace the managed "
		    "port when it fails.",
	 .details = "weftd changes to another port when the device disappears, or when the link is "
		    "down for two seconds. It takes the first port in the list whose link is up. "
		    "If other managers have `allowed_sm_guids`, add these GUIDs there. Empty list: "
		    "weftd waits until the port is back."},
	{TEXT("state_dir", state_dir, 1, "\"/var/lib/weft\""), .fixed = true,
	 .summary =
		 "State directory, which has the store: registrations, LIDs, M_Keys and settings.",
	 .details = "systemd's `STATE_DIRECTORY` replaces the default. Each weftd on a host needs "
		    "its own state directory."},
	{TEXT("runtime_dir", runtime_dir, 1, "\"/run/weft\""), .fixed = true,
	 .summary = "Directory of the control socket, which `weftctl` uses.",
	 .details = "weftd creates it if it is missing. systemd's `RUNTIME_DIRECTORY` replaces the "
		    "default. Each weftd on a host needs its own directory."},
	{TEXT("readonly_socket", readonly_socket, 0, "\"" CONF_READONLY_GROUP "\""), .fixed = true,
	 .summary = "Group whose members may use the read-only control socket, `control-ro.sock`.",
	 .details = "This socket accepts only commands that change nothing. `*`: all users. Empty: "
		    "weftd creates no such socket. If the value is the default and the group does "
		    "not exist, weftd does not create the socket. If the monitoring runs in "
		    "another group, set that group."},
	{NUMBER("workers", workers, 0, 256, "0"), .fixed = true, .unit = "threads",
	 .summary = "Number of threads that compute routes.",
	 .details = "0: one thread for each processor. The routes do not depend on this number. "
		    "Lower it if other programs on the host need the processors."},
	{CHOICE("log_level", log_level, log_level_words, "\"info\""),
	 .summary = "Least important level that weftd logs, in the words of `journalctl -p`.",
	 .details = "Each `-v` on the command line adds one level. `weftctl log level` changes it "
		    "for a single component."},
	{TEXT("node_name_map_name", node_name_map, 0, "\"\""),
	 .summary = "File with node names, in the form that `ibnetdiscover` and OpenSM read: a "
		    "node GUID and a name per line.",
	 .details = "weftctl, the log, events and metrics use these names in place of "
		    "NodeDescriptions. The SA still answers with the NodeDescriptions. Use it if "
		    "switches report only their model. Empty: no file."},
	{TEXT("planned_topology", planned_topology, 0, "\"\""),
	 .summary = "Net file with the planned nodes and cables, with which weftd compares the "
		    "fabric after each change.",
	 .details = "`weftctl health` shows planned nodes that are absent, and planned links that "
		    "are absent or lead elsewhere. `weftctl topology export --format net` writes "
		    "such a file, and `weftctl topology check` lists all differences. A bad file "
		    "stops a start, and a reload refuses it. Empty: no plan."},
	{NUMBER("sm_priority", sm.priority, 0, 15, "0"), .section = "Election of the master",
	 .summary = "Priority of this manager in the election of the master.",
	 .details = "The higher priority wins. If priorities are equal, the lower port GUID wins."},
	{NUMBER("master_priority", sm.master_priority, 0, 15, "0"), .agree = AGREE_SHOULD,
	 .summary = "Priority while this manager is master, if this value is higher than "
		    "`sm_priority`.",
	 .details = "With 14 on all managers, a former master that comes back becomes a standby. "
		    "So mastership does not move a second time after a failover. 0: `sm_priority` "
		    "always counts, as with OpenSM."},
	{CHOICE("role", sm.standby_only, roles, "\"normal\""), .fixed = true,
	 .summary = "Whether this manager may become master.",
	 .details = "`normal`: it may. `standby-only`: it never becomes master, and writes nothing "
		    "to the fabric. Use this value to try weft beside another manager."},
	{HEX("sm_key", sm.sm_key, 0, UINT64_MAX, "0x1"), .secret = true,
	 .summary = "SM_Key of the subnet, which must be the same on all managers.",
	 .details = "A manager with another key takes no part in the election. The default is "
		    "OpenSM's."},
	{.name = "allowed_sm_guids",
	 .type = CONF_GUIDS,
	 AT(sm.allowed_sm_guids),
	 .max = SM_GUIDS_MAX,
	 .preset = "[]",
	 .summary = "Port GUIDs of the ports on which subnet managers may run, as in "
		    "`[0x2c9030000e0b72]`.",
	 .details = "weftd ignores all other managers in the election and logs each of them once. "
		    "Use it if users can start a subnet manager on their hosts. Empty list: all "
		    "managers are allowed."},
	{NUMBER("sm_lid", sm.sm_lid, 0, LID_UNICAST_MAX, "0"), .agree = AGREE_SHOULD,
	 .summary = "LID that the port of the current master has, a multiple of 2^`lmc`.",
	 .details = "This LID moves with mastership, so that hosts keep their MasterSMLID after a "
		    "failover. Set the same value on all managers. Use this option only if the "
		    "adapter ports of the managers carry no other traffic, because the LIDs of "
		    "these ports change. 0: each manager keeps the LID of its port."},
	{NUMBER("poll_interval", sm.poll_interval_ms, 10, 60000, "300"), .unit = "ms",
	 .summary = "Time between two polls of other managers with Get(SMInfo).",
	 .details = "A standby polls the master; a master polls the other managers. A lower value "
		    "makes failover faster."},
	{NUMBER("poll_misses", sm.poll_misses, 1, 100, "3"), .unit = "polls",
	 .summary = "Number of polls without an answer after which a standby takes over.",
	 .details = "If the port of the master answers that no manager runs there, the standby "
		    "polls once more. If the answer is the same, the standby takes over. Raise the "
		    "number if a busy master is replaced too early."},
	{BOOL("ha_inband", replica.inband, "true"), .fixed = true,
	 .section = "Standby and replication",
	 .summary = "Whether a standby copies registrations from the master over the fabric, if "
		    "neither `ha_listen` nor `ha_peers` is set.",
	 .details =
		 "The managers need no other network and no further options. Without "
		 "`ha_psk_file`, only a part of the records is copied: between ports of "
		 "`allowed_sm_guids` all except secrets, otherwise only registrations that every "
		 "client may read from the SA. `false`: no replication over the fabric."},
	{TEXT("ha_listen", replica.listen, 0, "\"\""), .fixed = true,
	 .summary = "Address on which this manager accepts standbys while it is master, such as "
		    "`10.0.0.1` or `[fd00::1]:15725`.",
	 .details = "Use a network other than IPoIB on this fabric. Empty: no standby "
		    "connects over TCP."},
	{TEXT("ha_peers", replica.peers, 0, "\"\""), .with_ha = true,
	 .summary = "The `ha_listen` addresses of the other managers of this subnet, separated by "
		    "commas.",
	 .details =
		 "While this manager is a standby, it connects to the master among them and "
		 "keeps a copy of the master's registrations. `ha_listen` reserves places for "
		 "connections from these addresses. A reload adds and removes peers. If neither "
		 "`ha_listen` nor `ha_peers` was set when weftd started, it takes effect after a "
		 "restart. Empty: this manager connects to no master over TCP."},
	{TEXT("ha_psk_file", ha_psk_file, 0, "\"\""), .fixed = true,
	 .summary = "File with the keys of the replication, which `ha_listen` and `ha_peers` need, "
		    "and "
		    "the replication over the fabric can use.",
	 .details =
		 "A key has 32 to 128 hexadecimal digits; `openssl rand -hex 32` makes one. A line "
		 "with only a key holds the common key of all managers. A line `IDENTITY KEY "
		 "[ADDRESS]` holds a key that two managers share: the files of both managers have "
		 "such a line, each with the address of the other manager. Over the fabric, the "
		 "address is its port GUID. A reload reads the file again and ends connections "
		 "whose key was removed. The file must belong to the "
		 "user that runs weftd (`weft` under systemd), and no other user may read it."},
	{CHOICE("durability", replica.durability, durabilities, "\"local\""), .fixed = true,
	 .agree = AGREE_SHOULD, .summary = "When the SA acknowledges a registration to a client.",
	 .details = "`local`: after the disk of this manager has it. `standby`: after the disks of "
		    "all standbys in sync have it too. If no standby is in sync, `standby` acts as "
		    "`local`. With `standby` and a standby in sync, no acknowledged registration "
		    "is lost when the host of the master fails."},
	{HEX("subnet_prefix", sm.subnet_prefix, 1, UINT64_C(0xFEFFFFFFFFFFFFFF),
	     "0xfe80000000000000"),
	 COPY(sa.subnet_prefix), .agree = AGREE_MUST, .section = "Subnet and routing",
	 .summary = "Upper half of all GIDs of the subnet.",
	 .details = "If routers connect several subnets, give each subnet another prefix. Prefixes "
		    "from 0xff00000000000000 on belong to multicast."},
	{NUMBER("lmc", sm.lmc, 0, LMC_MAX, "0"), .fixed = true, .agree = AGREE_MUST,
	 .summary = "LID mask control: each adapter port gets 2^lmc LIDs.",
	 .details = "Set it if applications use several paths to a port. A subnet has 49151 "
		    "unicast LIDs."},
	{BOOL("lmc_esp0", sm.lmc_esp0, "false"), .fixed = true, .agree = AGREE_MUST,
	 .summary = "Whether the enhanced port 0 of a switch also gets 2^`lmc` LIDs.",
	 .details = "`false`: it gets a single LID. A base port 0 always has a single LID."},
	{.name = "routing",
	 .type = CONF_ENGINES,
	 AT(sm.engines),
	 .min = 1,
	 .max = SM_ENGINES_MAX,
	 .preset = "[\"ftree\", \"updn\", \"minhop\"]",
	 .agree = AGREE_SHOULD,
	 .summary = "Routing engines, in the order in which weftd tries them.",
	 .details = "If an engine refuses the fabric, or its tables fail the check, weftd tries "
		    "the next engine. `ftree`: fat trees, also with missing links. `updn`: paths "
		    "go up to a root and down again, without credit loops in any topology. `dnup`: "
		    "as updn, with ranks counted from the hosts. `minhop`: paths with the fewest "
		    "hops. `file`: the tables in `lfts_file`."},
	{NUMBER("sweep_interval", sm.sweep_interval_s, 0, 86400, "10"), .unit = "s",
	 .section = "Sweeps and unstable links",
	 .summary = "Time between two light sweeps, which find changes that no trap reported.",
	 .details = "0: no regular light sweeps. Lower it if switches lose traps."},
	{NUMBER("readback_interval", sm.readback_s, 0, 86400, "1800"), .unit = "s",
	 .was = "readback",
	 .summary = "Time in which weftd reads all settings and tables of all devices once.",
	 .details = "The readback reads one attribute at a time. If a value differs from the value "
		    "that weftd wrote, weftd logs and corrects it. 0: no readback. The SA then "
		    "does not answer queries about GUIDs, SLtoVL and VL arbitration, because only "
		    "the readback reads these."},
	{NUMBER("flap_hold_max", sm.flap_hold_max_s, 0, 3600, "16"), .unit = "s",
	 .summary = "Longest time that weftd keeps a flapping link down.",
	 .details = "A link flaps when it is lost for the fourth time, with less than a minute "
		    "between two losses. From then on, weftd waits after each loss before it "
		    "brings up the link: 1 s, then 2 s, 4 s and so on up to this time. 0: weftd "
		    "brings up every link at once."},
	{CHOICE("babble_policy", sm.babble_policy, babble_policies, "\"note\""),
	 .former = former_babble_policies,
	 .summary = "Action against a babbling port, which causes too many traps.",
	 .details = "`note`: weftd logs the port. `disable`: weftd also disables the switch port "
		    "of a link to a host. It never disables a link between switches. With both "
		    "values, a trap about a port counts only if the device of this port sent it. "
		    "weftd acts only after it has read the port."},
	{NUMBER("babble_threshold", sm.babble_threshold, 1, 100000, "10"), .unit = "traps",
	 .summary = "Number of traps about a port within a minute that makes it a babbling port. "
		    "Traps 129, 130, 131 and 259 count."},
	{NUMBER("isolate_flaps", sm.isolate.flaps, 0, 1000, "0"), .section = "Isolation by policy",
	 .summary = "Number of losses of a link (LinkDownedCounter) within ten minutes from which "
		    "weftd isolates the port.",
	 .details = "0: weftd isolates no port because of losses. weftd isolates a port as "
		    "`weftctl drain` does: it first moves routes away from the link. It never "
		    "isolates the last path of a host, nor its own path. It isolates at most one "
		    "port for each read of the counters, and at most `isolate_quota` ports in all. "
		    "`weftctl undrain` enables the port again. weftd enables it by itself only if "
		    "the switch at the link loses all other links."},
	{NUMBER("isolate_ber", sm.isolate.ber, 0, 15, "0"), .spans = isolate_bers,
	 .unit = "(n: 1e-n)",
	 .summary = "Symbol bit error rate within ten minutes from which weftd isolates the port.",
	 .details = "With 10, weftd isolates a port with one symbol error in 10^10 bits or more, "
		    "if there were at least 10 of these errors. A higher number is stricter. 0: "
		    "weftd isolates no port because of this rate."},
	{NUMBER("isolate_link_errors", sm.isolate.link_errors, 0, 1000000, "0"), .unit = "errors",
	 .summary = "Number of link errors within ten minutes from which weftd isolates the port.",
	 .details = "PortRcvErrors, LinkErrorRecoveryCounter and LocalLinkIntegrityErrors count. "
		    "0: weftd isolates no port because of these errors."},
	{NUMBER("isolate_quota", sm.isolate.quota, 0, 1000, "4"), .unit = "ports",
	 .summary = "Largest number of ports that are isolated by policy at one time.",
	 .details = "weftd also isolates at most 1 % of the links, but it may always isolate one "
		    "port. 0: weftd isolates no port."},
	{BOOL("isolate_hosts", sm.isolate.hosts, "false"),
	 .summary = "Whether weftd also isolates links of hosts, which cuts the host off.",
	 .details = "`false`: weftd isolates only links between switches."},
	{CHOICE("m_key_mode", sm.m_key_mode, m_key_modes, "\"none\""), .agree = AGREE_SHOULD,
	 .section = "M_Keys",
	 .summary = "M_Keys that weftd gives to ports, so that only subnet managers with the key "
		    "can configure them.",
	 .details =
		 "`none`: no keys. `subnet`: the same key for all ports, from `m_key`. `port`: "
		 "a key for each port, derived from the secret in `m_key_secret_file`. Use keys "
		 "if users are root on their hosts. Standbys need the same `ha_psk_file`. While a "
		 "standby would not get the keys, a reload refuses them, and after a restart "
		 "ports do not get their first keys."},
	{HEX("m_key", sm.m_key, 0, UINT64_MAX, "0x0"), .secret = true,
	 .summary = "M_Key of all ports if `m_key_mode` is `subnet`.",
	 .details = "0: weftd derives it from the secret in `m_key_secret_file`. To change the "
		    "key, set another value and reload; weftd remembers the earlier key until all "
		    "ports have the new key."},
	{TEXT("m_key_secret_file", m_key_secret_file, 0, "\"\""),
	 .summary = "File with the secret, of at least 16 bytes, from which weftd derives M_Keys.",
	 .details =
		 "It must belong to the user that runs weftd (`weft` under systemd), and no other "
		 "user may read it. All managers of the subnet need the same secret. To change the "
		 "keys, insert the new secret as the first line: the first line counts, and weftd "
		 "tries the others on ports that still have an earlier key. Empty: no file."},
	{NUMBER("m_key_protection_level", sm.m_key_protection_level, 0, 3, "2"),
	 .summary =
		 "M_KeyProtectBits in PortInfo: attributes that a requester without the M_Key can "
		 "read.",
	 .details = "0: all attributes, also the key. 1: all attributes, but not the key. 2 and 3: "
		    "nothing."},
	{NUMBER("m_key_lease_period", sm.m_key_lease_s, 0, 65535, "0"), .unit = "s",
	 .summary = "M_KeyLeasePeriod in PortInfo: time after which a port that received a wrong "
		    "M_Key shows its key to requesters.",
	 .details = "An SMP with the right key stops the timer. 0: the port never shows its key. "
		    "If the key is lost, you must reset the port."},
	{TEXT("root_guid_file", route_files.roots, 0, "\"\""),
	 .section = "Files of routing engines, with OpenSM's names and formats",
	 .summary = "For ftree and updn: node GUIDs of the switches at the top of the tree, one "
		    "per line.",
	 .details = "With this file, both engines count levels from these switches. Use the file "
		    "if weftd finds other roots than you want. Empty: no file. This applies to all "
		    "options of this section."},
	{TEXT("cn_guid_file", route_files.compute, 0, "\"\""),
	 .summary = "For ftree, updn and dnup: port or node GUIDs of compute nodes, one per line.",
	 .details = "These engines balance the compute nodes among themselves, and the other hosts "
		    "separately."},
	{TEXT("io_guid_file", route_files.io, 0, "\"\""),
	 .summary = "For ftree, updn and dnup: port or node GUIDs of I/O nodes, one per line.",
	 .details = "These engines balance the I/O nodes separately from the compute nodes and the "
		    "other hosts."},
	{TEXT("guid_routing_order_file", route_files.order, 0, "\"\""),
	 .summary = "For ftree, updn and dnup: GUIDs of hosts, one per line, in the order in which "
		    "they are routed.",
	 .details = "Hosts that are not in the file come last."},
	{TEXT("hop_weights_file", route_files.weights, 0, "\"\""),
	 .summary = "For minhop: weights of switch ports. Each line has a switch's node GUID, a "
		    "port, and the weight of this port in hops.",
	 .details = "A path must weigh less than 255. Ports that are not in the file weigh 1. Use "
		    "it to keep traffic off slower links."},
	{TEXT("port_search_ordering_file", route_files.ports, 0, "\"\""),
	 .summary = "For minhop: the order in which paths are spread over the ports of a switch. "
		    "Each line has a switch's node GUID and ports in this order.",
	 .details = "Ports that are not in the file come last."},
	{TEXT("port_prof_ignore_file", route_files.ignored, 0, "\"\""),
	 .summary = "For ftree, updn and dnup: ports of hosts whose routes are balanced separately "
		    "from the routes to all other hosts. Each line has a node GUID and a port.",
	 .details = "The GUID and the port are those of a host, or those of a switch port that "
		    "leads to a host."},
	{TEXT("lfts_file", route_files.tables, 0, "\"\""),
	 .summary = "For file: the forwarding tables, as OpenSM (`opensm.fdbs`, "
		    "`opensm-lfts.dump`) or `dump_lfts` writes them."},
	{TEXT("partition_config_file", partition_file, 0, "\"/etc/weft/partitions.conf\""),
	 .section = "Partitions and alias GUIDs",
	 .summary = "File of the partitions and their members, in OpenSM's format: "
		    "`weft-partitions.conf`(5).",
	 .details = "If there is neither a file nor a partition from `weftctl partition`, every "
		    "port is a full member of the default partition. If the file is bad, or if a "
		    "file was in force before and is missing, the last good file stays in force. "
		    "If the store has no last good file, there are two cases. With a bad file, "
		    "weftd does not start. With a missing file, ports keep the P_Keys that they "
		    "hold. Empty: no file."},
	{NUMBER("partition_confirm_ports", sm.partition_confirm_ports, 0, 65535, "10"),
	 .unit = "ports",
	 .summary =
		 "Most ports from which a partition file may take P_Keys without a confirmation.",
	 .details =
		 "A reload refuses a file that takes P_Keys from more ports that are present, and "
		 "the partitions do not change. `weftctl config reload --force` accepts the "
		 "file. SIGHUP cannot. At a start, weftd compares the file with the last good "
		 "file in the store, for all ports that have a LID. If the file takes P_Keys "
		 "from more ports, the last good file stays in force until `weftctl config "
		 "reload --force`. If the store has no last good file, the file is accepted. A "
		 "standby accepts the file that is in force on its master. `weftctl partition "
		 "apply` has the same limit for memberships. To accept every file, set 65535."},
	{CHOICE("part_enforce", sm.part_enforce, enforcements, "\"both\""),
	 .summary = "Direction in which a switch port drops packets with P_Keys that its host does "
		    "not have.",
	 .details = "`in`: packets from the host. `out`: packets to the host. `both`: both "
		    "directions. `off`: neither. Switches drop no packets while there is no "
		    "partition file and `weftctl partition` has added nothing."},
	{BOOL("allow_both_pkeys", sm.allow_both, "false"),
	 .summary = "Whether a port may be a full and a limited member of the same partition "
		    "(`both` in the partition file).",
	 .details = "Such a port needs two entries of its P_Key table."},
	{.name = "alias_guids",
	 .type = CONF_ALIASES,
	 AT(sm.alias_guids),
	 .max = ALIAS_RANGES_MAX,
	 .preset = "[]",
	 .agree = AGREE_SHOULD,
	 .summary = "Alias GUIDs that ports may have, as in `[\"0x2c903000e0b72: "
		    "0x2c903000e1000-0x2c903000e107f\"]`.",
	 .details = "Each text has a port GUID or a range of port GUIDs, a colon, and an alias "
		    "GUID or a range of alias GUIDs. These aliases are granted: they can be "
		    "members of partitions. `weftctl alias set`, and requests with an `sa_key` "
		    "other than the default, grant aliases too. An alias without a grant gets no "
		    "P_Key. A limited member of the default partition can register such an alias "
		    "only if it requests GUID 0, so that weftd selects the GUID."},
	{HEX("sa_key", sa.sa_key, 0, UINT64_MAX, "0x1"), .secret = true,
	 .section = "Subnet administrator (SA)",
	 .summary = "SA_Key: requests with this key are trusted.",
	 .details = "The default is OpenSM's. Set a secret value if tools send trusted requests."},
	{NUMBER("registration_grace", sm.grace_s, 0, 86400, "600"), .unit = "s",
	 .summary = "Time for which weftd keeps the registrations of a port that has disappeared.",
	 .details = "A host that reboots within this time keeps its multicast memberships, "
		    "services and subscriptions. weftd keeps the LID of the port longer, until no "
		    "other LID is free."},
	{NUMBER("rereg_rate", sm.rereg_rate, 0, 100000, "1000"), .unit = "ports per second",
	 .summary = "Rate at which a new or restarted master notifies ports to re-register "
		    "(ClientReregister).",
	 .details = "Each port whose link was lost is notified too. 0: weftd notifies only ports "
		    "whose MasterSMLID is that of another manager. Lower it if re-registration "
		    "overloads the hosts or the SA."},
	{NUMBER("registrations_per_port", sa.registrations_per_port, 1, 1000000, "1024"),
	 .agree = AGREE_SHOULD,
	 .summary = "Limit for the registrations of a port: multicast memberships, services, "
		    "subscriptions and alias GUIDs together.",
	 .details = "The SA refuses more. Virtual functions that share the LID of a port count as "
		    "this port, and each needs about ten registrations per partition. Raise the "
		    "limit if your virtual functions need more."},
	{NUMBER("groups_per_port", sa.groups_per_port, 1, 16383, "512"), .agree = AGREE_SHOULD,
	 .summary = "Limit for the multicast groups that a port has created.",
	 .details =
		 "A group counts while one of its members is its creator, or a port for which the "
		 "creator requested the join (a proxy join). Then it counts for another full "
		 "member, if the limit of that port allows this. The SA refuses more groups, so "
		 "that a single host cannot take all multicast LIDs. A port gets more than a "
		 "quarter of the "
		 "limit only while more than half of the multicast LIDs are free. IPoIB creates "
		 "about ten groups in each partition and a group for each IPv6 address. Virtual "
		 "functions that share the LID of a port count as this port."},
	{NUMBER("ipv6_snm_mlids", sa.ipv6_snm_mlids, 0, 16383, "1024"), .unit = "MLIDs",
	 .agree = AGREE_SHOULD,
	 .summary = "Number of multicast LIDs that the IPv6 solicited-node multicast groups of a "
		    "partition share.",
	 .details = "Each IPv6 address of a host is in such a group, and switches have table "
		    "entries for only a few thousand MLIDs. A host drops the packets of groups "
		    "that it has not joined. 0: each group gets its own MLID."},
	{NUMBER("sa_request_rate", sa.request_rate, 0, 10000000, "10000"),
	 .unit = "requests per second",
	 .summary = "Requests per second that the SA answers without delay for a port. All LIDs of "
		    "the port count together.",
	 .details = "Further requests wait until the requests of other ports are answered. 0: no "
		    "limit."},
	{BOOL("sa_busy_reply", sa.busy_reply, "false"),
	 .summary = "Whether the SA answers with status BUSY while too many requests wait.",
	 .details = "`false`: it drops the request, and the client repeats it. Linux takes BUSY "
		    "for a failure and gives up. Use `true` only for clients that repeat a request "
		    "after BUSY."},
	{EXPONENT("path_packet_life_time", sa.packet_life_time, 16, "18"),
	 .was = "packet_life_time", .agree = AGREE_SHOULD,
	 .summary = "PacketLifeTime in path records, from which hosts derive the ACK time-out of "
		    "connections.",
	 .details = "Lower the value to detect dead connections sooner. Values of less than 16 "
		    "(0.27 s) are refused, because the seven retries of a connection would end "
		    "before the fabric is rerouted."},
	{NUMBER("max_path_rate", sa.max_rate_enum, 2, 63, "63"), .was = "max_rate_enum",
	 .agree = AGREE_SHOULD, .summary = "Largest encoding of Rate in path records.",
	 .details =
		 "If the rate of a path has a larger encoding than this, weftd reports the next "
		 "slower rate whose encoding is within this limit. Lower the value for clients "
		 "that do not know the higher encodings. Clients before FDR know encodings up to "
		 "10 (rates up to 120 Gb/s). Clients of FDR and EDR know encodings up to 18."},
	{TEXT("prefix_routes_file", route_files.prefixes, 0, "\"\""),
	 .summary =
		 "File with the routers to other subnets, for path records. Each line has a subnet "
		 "prefix and the port GUID of a router; `*` stands for any prefix or any router.",
	 .details = "The first line that matches counts. Empty: no file."},
	{NUMBER("smp_window", sm.smp_window, 1, 128, "128"), .unit = "SMPs",
	 .section = "Subnet management packets (SMPs)",
	 .summary = "Largest number of SMPs under way in the whole fabric.",
	 .details = "weftd sends fewer while many devices lose SMPs, and if switches need time to "
		    "forward them. The kernel's limit is 128."},
	{NUMBER("smp_per_switch", sm.smp_per_switch, 1, 32, "2"), .unit = "SMPs",
	 .summary = "Largest number of SMPs under way to a switch.",
	 .details = "VL15 has no flow control and small buffers, and each lost SMP costs a "
		    "time-out. Raise it if your switches answer quickly and lose nothing."},
	{NUMBER("smp_per_adapter", sm.smp_per_adapter, 1, 32, "1"), .unit = "SMPs",
	 .summary = "Largest number of SMPs under way to an adapter port."},
	{NUMBER("smp_timeout", sm.smp_timeout_ms, 10, 10000, "200"), .unit = "ms",
	 .summary = "Longest time-out of an SMP, that of the last attempt.",
	 .details = "Until weftd has measured the response time, the first attempt waits an eighth "
		    "of `smp_timeout`. Raise the value if slow agents time out."},
	{NUMBER("smp_timeout_min", sm.smp_timeout_min_ms, 1, 10000, "8"), .unit = "ms",
	 .summary = "Shortest time-out of an SMP.",
	 .details = "The first attempt waits twice the usual response time over the same number of "
		    "hops, but at least this time. The time-out doubles after every second "
		    "attempt. Kernels count in ticks of up to 10 ms. If you set less than a tick, "
		    "a request may time out while its answer is on the way."},
	{NUMBER("smp_attempts", sm.smp_attempts, 1, 16, "8"), .unit = "attempts",
	 .summary = "Number of times that weftd sends an SMP before the target counts as not "
		    "answering."},
	{NUMBER("perf_interval", pm.interval_s, 0, 86400, "60"), .unit = "s",
	 .section = "Performance manager",
	 .summary = "Time between two reads of the counters of all ports, while this manager is "
		    "master.",
	 .details = "0: weftd reads them only for `weftctl perf sweep`."},
	{NUMBER("perf_window", pm.window, 1, 2000, "500"), .unit = "requests",
	 .summary = "Largest number of counter requests under way in the whole fabric.",
	 .details = "Each port has at most one request under way."},
	{BOOL("perf_reset", pm.reset, "false"),
	 .summary =
		 "Whether weftd resets a counter of 32 bits or fewer that is more than half full.",
	 .details = "Such counters stop at their largest value. The totals in weft continue after "
		    "a reset. weftd never resets 64-bit counters. Do not set it to `true` if "
		    "another program needs the counters."},
	{NUMBER("perf_symbol_errors", pm.threshold[ERROR_SYMBOL], 0, 65535, "10"),
	 .summary = "Threshold of SymbolErrorCounter (bit errors of the link): weftd logs a port "
		    "if the counter rises by this number or more between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_link_recoveries", pm.threshold[ERROR_LINK_RECOVERY], 0, 65535, "1"),
	 .summary =
		 "Threshold of LinkErrorRecoveryCounter (completed error recoveries of the link): "
		 "weftd logs a port if the counter rises by this number or more between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_link_downed", pm.threshold[ERROR_LINK_DOWNED], 0, 65535, "1"),
	 .summary = "Threshold of LinkDownedCounter (failed error recoveries, which take the link "
		    "down): weftd logs a port if the counter rises by this number or more between "
		    "two reads.",
	 .details = "0: never."},
	{NUMBER("perf_rcv_errors", pm.threshold[ERROR_RCV], 0, 65535, "10"),
	 .summary = "Threshold of PortRcvErrors (packets received with an error): weftd logs a "
		    "port if the counter rises by this number or more between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_xmit_discards", pm.threshold[ERROR_XMIT_DISCARD], 0, 65535, "100"),
	 .summary = "Threshold of PortXmitDiscards (packets dropped because the port was down or "
		    "congested): weftd logs a port if the counter rises by this number or more "
		    "between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_link_integrity", pm.threshold[ERROR_LOCAL_LINK_INTEGRITY], 0, 65535, "1"),
	 .summary = "Threshold of LocalLinkIntegrityErrors (times that physical errors exceeded "
		    "the threshold of the port): weftd logs a port if the counter rises by this "
		    "number or more between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_buffer_overruns", pm.threshold[ERROR_BUFFER_OVERRUN], 0, 65535, "1"),
	 .summary = "Threshold of ExcessiveBufferOverrunErrors (times that buffer overruns "
		    "continued for too long): weftd logs a port if the counter rises by this "
		    "number or more between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_vl15_dropped", pm.threshold[ERROR_VL15_DROPPED], 0, 65535, "100"),
	 .summary = "Threshold of VL15Dropped (SMPs dropped for lack of a buffer): weftd logs a "
		    "port if the counter rises by this number or more between two reads.",
	 .details = "0: never."},
	{NUMBER("perf_xmit_wait", pm.threshold[SELECT_XMIT_WAIT], 0, UINT32_MAX, "0"),
	 .summary =
		 "Threshold of PortXmitWait (ticks with data to send but without credits): weftd "
		 "logs a port if the counter rises by this number or more between two reads.",
	 .details = "0: never."},
	{EXPONENT("subnet_timeout", sm.subnet_timeout, 0, "18"), COPY(sa.subnet_timeout),
	 .agree = AGREE_SHOULD,
	 .section = "Parameters of ports and switches, as the specification encodes them",
	 .summary = "SubnetTimeOut in PortInfo: least time between two traps of a port.",
	 .details = "Set 16 (0.27 s) if agents answer quickly and you want weftd to notice "
		    "failures sooner."},
	{EXPONENT("hoq_life", sm.hoq_life, 0, "18"), .agree = AGREE_SHOULD,
	 .summary = "HOQLife in PortInfo of links between switches: time that a packet may wait at "
		    "the head of a queue before it is dropped.",
	 .details = "20 and above: no limit."},
	{EXPONENT("leaf_hoq_life", sm.leaf_hoq_life, 0, "16"), .agree = AGREE_SHOULD,
	 .summary = "HOQLife in PortInfo of switch ports that lead to a host, and of router ports.",
	 .details = "It should be shorter than `hoq_life`, so that a host that accepts no packets "
		    "does not block the fabric."},
	{NUMBER("vl_stall_count", sm.vl_stall_count, 0, 7, "7"), .unit = "packets",
	 .agree = AGREE_SHOULD,
	 .summary = "VLStallCount in PortInfo of links between switches: the VL stalls after "
		    "this number of consecutive packets dropped for HOQLife."},
	{NUMBER("leaf_vl_stall_count", sm.leaf_vl_stall_count, 0, 7, "7"), .unit = "packets",
	 .agree = AGREE_SHOULD,
	 .summary = "VLStallCount in PortInfo of switch ports that lead to a host."},
	{EXPONENT("switch_life_time", sm.switch_life_time, 0, "18"), .agree = AGREE_SHOULD,
	 .summary = "LifeTimeValue in SwitchInfo: time that a packet may stay in a switch.",
	 .details = "20 and above: no limit. OpenSM calls it `packet_life_time`."},
	{NUMBER("phy_errors_threshold", sm.phy_errors_threshold, 0, 15, "8"), .agree = AGREE_SHOULD,
	 .summary = "LocalPhyErrors in PortInfo: a port sends trap 129 when it counts more than "
		    "this number of physical errors in a short time."},
	{NUMBER("overrun_errors_threshold", sm.overrun_errors_threshold, 0, 15, "8"),
	 .agree = AGREE_SHOULD,
	 .summary = "OverrunErrors in PortInfo: a port sends trap 130 after a buffer overrun in "
		    "this number of consecutive flow control periods."},
	{NUMBER("max_op_vls", sm.max_op_vls, 1, 5, "5"), .agree = AGREE_SHOULD,
	 .summary = "Largest OperationalVLs in PortInfo, which limits the number of data VLs of a "
		    "link.",
	 .details = "1: VL0. 2: VL0-1. 3: VL0-3. 4: VL0-7. 5: VL0-14. A link never has more VLs "
		    "than both of its ends support. Fewer VLs leave more buffer to each."},
	{NUMBER("force_link_width", sm.force_link_width, 0, LINK_WIDTH_ALL, "0"),
	 .spans = link_widths, .agree = AGREE_SHOULD, .section = "Speed and width of links",
	 .summary = "LinkWidthEnabled in PortInfo of all ports with a link: the sum of 1 (1x), 2 "
		    "(4x), 4 (8x), 8 (12x) and 16 (2x).",
	 .details = "0: weftd does not change it. 255: all widths that the port supports. weftd "
		    "leaves out widths that a port does not support. A link changes its width when "
		    "it trains next."},
	{NUMBER("force_link_speed", sm.force_link_speed, 0, LINK_SPEED_ALL, "0"),
	 .spans = link_speeds, .agree = AGREE_SHOULD,
	 .summary = "LinkSpeedEnabled in PortInfo of all ports with a link: the sum of 1 (SDR), 2 "
		    "(DDR) and 4 (QDR).",
	 .details = "0: weftd does not change it. 15: all speeds that the port supports. weftd "
		    "leaves out speeds that a port does not support. A link changes its speed when "
		    "it trains next."},
	{NUMBER("force_link_speed_ext", sm.force_link_speed_ext, 0, LINK_SPEED_EXT_ALL, "0"),
	 .spans = link_speeds_ext, .agree = AGREE_SHOULD,
	 .summary = "LinkSpeedExtEnabled in PortInfo of links whose two ends support speeds above "
		    "QDR: the sum of 1 (FDR), 2 (EDR), 4 (HDR) and 8 (NDR).",
	 .details = "0: weftd does not change it. 30: none of these speeds. 31: all speeds that "
		    "the port supports. weftd leaves out speeds that a port does not support. A "
		    "link changes its speed when it trains next."},
	{NUMBER("fdr10", sm.fdr10, 0, 2, "0"), .agree = AGREE_SHOULD,
	 .summary = "FDR10, a link speed that PortInfo does not show. Mellanox devices from "
		    "SwitchX and ConnectX-3 on have it.",
	 .details = "0: weftd sends no vendor SMPs, and an FDR10 link shows as QDR. 1: weftd reads "
		    "ExtendedPortInfo (0xFF90) of these devices, shows FDR10, and enables it on "
		    "ports that support it. 2: weftd reads ExtendedPortInfo and disables FDR10. A "
		    "link changes its speed when it trains next."},
	{.name = NULL},
};
