#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The output of the standard tools about a fat tree of 648 hosts with weftd: its links and LIDs, the paths in its
# switches, and the answers of its SA.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

pairs=50 seed=2024

daemon_runs() {
	start_fabric fattree:radix=36,levels=2 && start_weftd daemon host-0001 &&
		{ wait_for 30 is_up daemon || because "$(tail -n 1 daemon.log)"; }
}

sminfo_says_master() {
	look sminfo.txt host-0648 sminfo || because "$(tail -n 1 sminfo.txt.err)" || return 1
	matches SMINFO_MASTER sminfo.txt || because "$(cat sminfo.txt)"
}

# Two different LIDs of adapters a line, always the same pairs.
choose_pairs() {
	host_lids | awk -v seed=$seed -v pairs=$pairs '{ lid[NR] = $1 }
		END { srand(seed)
			while (pairs) {
				a = lid[int(rand() * NR) + 1]; b = lid[int(rand() * NR) + 1]
				if (a != b) { print a, b; pairs-- } } }' >pairs.txt
}

# In ibnetdiscover's output the line of an adapter's cable has the port's own LID after `# lid`.
host_lids() {
	awk '/^(Switch|Ca)/ { ca = $1 == "Ca" }
		/^\[/ && ca { sub(/.*\t# lid /, ""); print $1 }' net.txt
}

every_pair_has_a_path() {
	local from to

	choose_pairs
	equal "the number of pairs chosen" "$(wc -l <pairs.txt)" $pairs || return 1
	while read -r from to; do
		look trace.txt host-0001 ibtracert "$from" "$to" ||
			because "ibtracert $from $to: $(tail -n 1 trace.txt.err)" || return 1
		matches "^To ca .* lid $to-$to " trace.txt ||
			because "ibtracert $from $to ends with $(tail -n 1 trace.txt)" || return 1
	done <pairs.txt
}

# path_is FROM TO ARGUMENT...: saquery gets the path from one LID to the other.
path_is() {
	local from=$1 to=$2

	shift 2
	look path.txt host-0001 saquery -p "$@" || because "saquery: $(tail -n 1 path.txt.err)" || return 1
	matches "slid\\.+$from\$" path.txt && matches "dlid\\.+$to\$" path.txt ||
		because "it answers $(grep -E '[sd]lid' path.txt | tr -s '\n\t' ' ')"
}

paths_by_lid() {
	local from to

	while read -r from to; do
		path_is "$from" "$to" --src-to-dst "$from:$to" || return 1
	done < <(head -n 5 pairs.txt)
}

# A port's GID is the default prefix and its GUID.
gid_of_lid() {
	awk -v lid="$1" '/^\[/ { line = $0; sub(/.*\t# lid /, ""); if ($1 == lid) { print line; exit } }' net.txt |
		sed -E 's/^\[[0-9]+\]\(([0-9a-f]+)\).*/000\1/; s/.*(....)(....)(....)(....)$/fe80::\1:\2:\3:\4/'
}

paths_by_gid() {
	local from to

	while read -r from to; do
		path_is "$from" "$to" --sgid-to-dgid "$(gid_of_lid "$from")-$(gid_of_lid "$to")" || return 1
	done < <(head -n 5 pairs.txt)
}

# record NAME PATTERN: saquery gets at least one such record (the simulator cuts off the rest).
record() {
	look record.txt host-0002 saquery "$1" || because "saquery: $(tail -n 1 record.txt.err)" || return 1
	matches "$2" record.txt || because "it answers $(head -n 5 record.txt | tr -s '\n\t' ' ')"
}

# The hops in weftd's output are the entries of the switches.
route_show_is_true() {
	local from to hops guid port

	read_lfts lfts.txt host-0001 || return 1
	while read -r from to; do
		hops=$(ctl daemon route show "$from" "$to" |
			json 'map { "$_->{guid} $_->{out_port}\n" } @{$_->{hops}}') ||
			because "route show $from $to failed" || return 1
		[ -n "$hops" ] || because "route show $from $to has no hops" || return 1
		while read -r guid port; do
			[ -n "$guid" ] || continue
			grep -qxF "$guid $(printf '0x%04x %03u' "$to" "$port")" lfts.txt ||
				because "from LID $from to $to: switch $guid port $port is not its entry" ||
				return 1
		done <<<"$hops"
	done < <(head -n 10 pairs.txt)
}

ibroute_agrees() {
	local lid=$1 guid

	look ibroute.txt host-0001 ibroute "$lid" || because "ibroute: $(tail -n 1 ibroute.txt.err)" || return 1
	guid=$(sed -nE '1s/.* guid (0x[0-9a-f]+).*/\1/p' ibroute.txt)
	awk -v guid="$guid" '/^0x/ { print guid, $1, $2 }' ibroute.txt | sort >ibroute.lft
	grep "^$guid " lfts.txt | cmp -s - ibroute.lft || because "the tables of LID $lid differ"
}

check "weftd on 648 hosts" daemon_runs || finish
check "sminfo: MASTER" sminfo_says_master
check "iblinkinfo: every link Active" links_active host-0001 "$(cabled_ports "$fabric.net")"
check "ibnetdiscover: LIDs unique" lids_unique host-0001 702
check "ibidsverify: no LID or GUID twice" look ids.txt host-0001 ibidsverify
check "ibtracert: a path between each of $pairs pairs (seed $seed)" every_pair_has_a_path
check "saquery --src-to-dst" paths_by_lid
check "saquery --sgid-to-dgid" paths_by_gid
check "saquery NR" record NR 'NodeRecord dump'
check "saquery PIR" record PIR 'PortInfoRecord dump'
check "saquery SMIR" record SMIR 'SMInfoRecord dump'
check "saquery LR" record LR 'LinkRecord dump'
check "saquery CPI" record CPI 'Class version\.+2'
check "saquery MCMR" record MCMR 'MGID\.+ff12:401b:ffff::ffff:ffff'
check "route show equals the tables of the switches" route_show_is_true
check "ibroute and dump_lfts agree" ibroute_agrees 1
check "weftd ends cleanly" stop daemon
finish
