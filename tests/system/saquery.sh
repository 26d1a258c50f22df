#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The SA from the view of clients: saquery requests every record from weftd on weftsim in all its forms, as a table, by
# LID, by port and block, and the answers are counted against the fabric. Then osmtest makes its inventory; osmtest.sh
# has its other flows.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip saquery: the preload library and sanitizers exclude each other"
	exit 0
fi

# 12 switches of 8 ports, 32 hosts, all ports cabled. LIDs come from the output of the tools.
switches=12 hosts=32 ports=8
cables=$(((switches * ports + hosts) / 2))

daemon_runs() {
	start_weftsim fattree:radix=$ports,levels=2 || return 1
	# All tables are read within some seconds.
	start_weftd daemon host-0001 -o readback_interval=2 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

# refuses STATUS ARGUMENT...: saquery gets this status.
refuses() {
	local wanted=$1

	shift
	! look answer.txt host-0002 saquery "$@" || because "saquery $* succeeds" || return 1
	grep -q "returned $wanted" answer.txt answer.txt.err ||
		because "saquery $* says $(tail -n 1 answer.txt.err)"
}

lids_known() {
	ctl daemon node list >nodes.json || because "node list fails" || return 1
	host=$(json 'map { $_->{lid} } grep { $_->{description} eq "host-0002" } @$_' <nodes.json)
	other=$(json 'map { $_->{lid} } grep { $_->{description} eq "host-0003" } @$_' <nodes.json)
	switch=$(json '(map { $_->{lid} } grep { $_->{type} eq "switch" } @$_)[0]' <nodes.json)
	[ -n "$host" ] && [ -n "$other" ] && [ -n "$switch" ] ||
		because "node list does not tell the LIDs: $(head -c 300 nodes.json)"
}

# shows PATTERN ARGUMENT...: some line of the answer matches.
shows() {
	local pattern=$1

	shift
	ask "$@" || return 1
	matches "$pattern" answer.txt || because "saquery $* shows no '$pattern' but $(head -n 5 answer.txt | tr -s '\n\t' ' ')"
}

class_port_info() {
	shows 'Class version\.+2' CPI && shows 'Capability mask\.+0x2600' CPI
}

nodes() {
	counts $nodes '^NodeRecord dump' NR && counts 1 '^NodeRecord dump' NR "$host" &&
		counts $hosts '"host-[0-9]*"' -D && counts 1 "^$host$" -L host-0002 &&
		counts 1 '^host-0002' -O "$host"
}

port_infos() {
	counts $((switches * (ports + 1) + hosts)) '^PortInfoRecord dump' PIR &&
		counts 1 '^PortInfoRecord dump' PIR "$host" &&
		counts $((ports + 1)) '^PortInfoRecord dump' PIR "$switch" &&
		counts 1 '^PortInfoRecord dump' PIR "$switch/3" &&
		counts 1 '^PortInfoRecord dump' -s
}

switch_infos() {
	counts $switches '^SwitchInfoRecord dump' SWIR && counts 1 '^SwitchInfoRecord dump' SWIR "$switch" &&
		counts 0 '^SwitchInfoRecord dump' SWIR "$host"
}

# As many blocks as the used LIDs need, here two; then the entries themselves.
forwarding_tables() {
	counts $((2 * switches)) '^LFT Record dump' LFTR && counts 2 '^LFT Record dump' LFTR "$switch" &&
		counts 0 '^LFT Record dump' LFTR "$host" || return 1
	read_lfts lfts.txt host-0001 || return 1
	ask LFTR "$switch" || return 1
	awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ && $2 != 255 { printf "0x%04x %03u\n", $1, $2 }' answer.txt |
		sort >told.txt
	guid=$(json "map { \$_->{guid} } grep { \$_->{lid} == $switch } @\$_" <nodes.json)
	sed -n "s/^$guid //p" lfts.txt | sort >held.txt
	[ -s held.txt ] && cmp -s held.txt told.txt ||
		because "of LID $switch dump_lfts reads $(wc -l <held.txt) entries and the SA tells $(wc -l <told.txt)"
}

# No port has joined yet.
empty_tables() {
	counts 0 dump MFTR
}

# held_groups: "LID MLID PORT..." of each entry of the simulated switches.
held_groups() {
	local lid node

	json 'map { "$_->{lid} $_->{description}\n" } grep { $_->{type} eq "switch" } @$_' <nodes.json >switches.txt
	while read -r lid node; do
		[ -z "$lid" ] || "$BUILD/weftsim" "do" "mft $node" | sed -nE "s/^(0x[0-9a-f]+) +/$lid \\1 /p"
	done <switches.txt | tr -s ' ' | sort
}

# told_groups: the same from the SA's answer in answer.txt.
told_groups() {
	perl -ne 'if (/LID\.+(\d+)/) { $lid = $1 } elsif (/Position\.+(\d+)/) { $first = 16 * $1 }
		elsif (/^\s+(0x\w{4})\s+0x(\w{4})/ && hex $2) {
			$mask = hex $2; print "$lid \L$1\E @{[map { $first + $_ } grep { $mask >> $_ & 1 } 0 .. 15]}\n" }' \
		answer.txt | sort
}

groups_told() {
	ask MFTR || return 1
	held_groups >held.txt
	told_groups >told.txt
	cmp -s held.txt told.txt
}

# 40 groups, in two blocks of each switch.
multicast_tables() {
	join_groups 1 40 6 || return 1
	wait_for 20 groups_told ||
		because "switches hold and the SA tells: $(diff held.txt told.txt | head -n 4 | tr '\n' ' ')" || return 1
	[ "$(wc -l <told.txt)" -gt 100 ] || because "the SA tells $(wc -l <told.txt) entries" || return 1
	counts $((2 * switches)) '^MFT Record dump' MFTR && counts 2 '^MFT Record dump' MFTR "$switch" &&
		counts 2 '^MFT Record dump' MFTR "$switch/0" && counts 0 '^MFT Record dump' MFTR "$switch/1" &&
		counts 1 '^MFT Record dump' MFTR "$switch/0/1" && counts 0 '^MFT Record dump' MFTR "$switch//2" &&
		counts 0 '^MFT Record dump' MFTR "$host"
}

# all_read RECORD NUMBER: the answer has this number of records.
all_read() {
	ask "$1" && [ "$(grep -c dump answer.txt)" = "$2" ]
}

# numbers: the numbers in dumps of SLtoVL and GUID tables, of either tool, one a line.
numbers() {
	sed -nE -e 's/^ports: in +[0-9]+, out +[0-9]+://p; s/^\t\tVL: //p' \
		-e 's/^\t\tGUID [0-9]+\.+//p; s/^ *[0-9]+: +(0x.*)/\1/p' | tr -s '| ' '\n' | sed '/^$/d'
}

# same_numbers COUNT: held.txt, of smpquery, and answer.txt, of the SA, have the same numbers.
same_numbers() {
	numbers <held.txt >held.numbers
	numbers <answer.txt >told.numbers
	equal "how many numbers smpquery shows" "$(wc -l <held.numbers)" "$1" || return 1
	cmp -s held.numbers told.numbers ||
		because "smpquery and the SA differ: $(diff held.numbers told.numbers | head -n 4 | tr '\n' ' ')"
}

# Of an adapter, and each pair of ports of a switch; a base port 0 does not use its mappings.
sl_to_vl() {
	local number=$((hosts + switches * ports * (ports + 1))) port

	wait_for 40 all_read SL2VL $number ||
		because "of $number tables saquery shows $(grep -c dump answer.txt)" || return 1
	look held.txt host-0002 smpquery sl2vl "$host" && ask SL2VL "$host" && same_numbers 16 || return 1
	for ((port = 1; port <= ports; port++)); do
		look held.$port host-0002 smpquery sl2vl "$switch" $port || return 1
	done
	cat held.[0-9] >held.txt
	ask SL2VL "$switch" && same_numbers $((16 * ports * (ports + 1))) || return 1
	counts 1 dump SL2VL "$switch/2/3" && counts $ports dump SL2VL "$switch/3" &&
		counts $((ports + 1)) dump SL2VL "$switch//3"
}

# Two blocks of each port: the tables are short.
vl_arbitrations() {
	counts $((2 * (hosts + switches * ports))) 'dump' VLAR && counts 2 dump VLAR "$host" &&
		counts $((2 * ports)) dump VLAR "$switch" && counts 2 dump VLAR "$switch/3"
}

# Four blocks of adapters, one of switches.
guid_infos() {
	counts $((4 * hosts + switches)) '^GUIDInfo Record dump' GIR &&
		counts 1 '^GUIDInfo Record dump' GIR "$host/1" &&
		counts 4 '^GUIDInfo Record dump' GIR "$host" &&
		look held.txt host-0002 smpquery guidinfo "$host" && same_numbers 32
}

p_keys() {
	refuses 0x0200 PKTR && refuses 0x0200 PKTR "$host" &&
		counts $((4 * nodes)) '^PKeyTableRecord dump' --smkey 1 PKTR &&
		counts 4 '^PKeyTableRecord dump' --smkey 1 PKTR "$host" &&
		counts 1 '^PKeyTableRecord dump' --smkey 1 PKTR "$host//2"
}

links() {
	counts $((2 * cables)) '^LinkRecord dump' LR && counts $((2 * cables)) '^LinkRecord dump' -x &&
		counts $ports '^LinkRecord dump' LR "$switch" && counts 1 '^LinkRecord dump' LR "$switch/1"
}

managers() {
	counts 1 '^SMInfoRecord dump' SMIR && shows 'SMState\.+3$' SMIR
}

gid() {
	ask -G "$1" || return 1
	sed -nE 's/^0x(....)(....)(....)(....)$/fe80::\1:\2:\3:\4/p' answer.txt
}

# path WANTED ARGUMENT...: this number of paths from host-0002, which all are requested in this way.
paths() {
	local from to

	from=$(gid host-0002) && to=$(gid host-0003) || return 1
	counts $((nodes * nodes)) '^PathRecord dump' PR && counts $nodes '^PathRecord dump' PR --slid "$host" &&
		counts $nodes '^PathRecord dump' PR --dlid "$host" &&
		counts $nodes '^PathRecord dump' PR --sgid "$from" &&
		counts 1 '^PathRecord dump' PR --slid "$host" --dlid "$other" &&
		counts 1 '^PathRecord dump' PR --sgid "$from" --dgid "$to" &&
		counts 1 '^PathRecord dump' PR --sgid "$from" --dlid "$other" &&
		counts 1 '^PathRecord dump' --src-to-dst "$host:$other" &&
		counts 1 '^PathRecord dump' --sgid-to-dgid "$from-$to" &&
		refuses 0x0500 PR --sgid "$from" --dgid fec0::2:0:0:1
}

path_components() {
	local pair=(PR --slid "$host" --dlid "$other") arguments

	while read -r arguments; do
		# shellcheck disable=SC2086 # words are meant
		counts 1 '^PathRecord dump' "${pair[@]}" $arguments || return 1
	done <<-'EOF'
		--pkey 0xffff
		--reversible 1
		--numb_path 1
		--sl 0
		--qos_class 3
		--tclass 5
		--flow_label 7
		--hop_limit 9
		--service_id 0x1000
	EOF
	shows '^\s+sl\.+0x5$' "${pair[@]}" --sl 5 && counts 0 '^PathRecord dump' "${pair[@]}" --pkey 0x8001 &&
		counts 0 '^PathRecord dump' "${pair[@]}" --numb_path 0 &&
		shows 'pkt_life\.+0x92' "${pair[@]}" # exactly 18
}

strangers() {
	local record lid

	for record in NR PIR SWIR LFTR GIR LR SMIR; do
		for lid in 63 48000 49152 65535; do
			counts 0 ' dump:' "$record" $lid || return 1
		done
	done
}

# osmtest FLOW: it ends. Its log has the result, because its status is always 0.
osmtest_flow() {
	local guid

	guid=$(json 'map { $_->{guid} } grep { $_->{description} eq "host-0002" } @$_' <nodes.json)
	guid=$(printf '0x%x' $((guid + 1)))
	timeout 120 "$BUILD/weftsim" run -n host-0002 -- osmtest -g "$guid" -f "$1" -i inventory.dat \
		-l "osmtest-$1.log" >"osmtest-$1.txt" 2>&1
	true
}

inventory_made() {
	osmtest_flow c
	matches 'TEST "Create Inventory" PASS' osmtest-c.txt || because "$(tail -n 1 osmtest-c.txt)" || return 1
	equal "the number of nodes in its inventory" "$(grep -c '^DEFINE_NODE' inventory.dat)" $nodes || return 1
	equal "the number of paths in its inventory" "$(grep -c '^DEFINE_PATH' inventory.dat)" $((nodes * nodes))
}

# services_listed: those of osmtest, while it runs; it registers some for a few seconds and deletes others.
services_listed() {
	osmtest_flow s &
	wait_for 20 lists_service || because "service list shows $(tail -n 1 services.txt)"
	wait $!
	[ -z "$reason" ]
}

lists_service() {
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" service list >services.txt 2>&1
	matches '^0x[0-9a-f]{16} +[0-9]+ +0xffff +[0-9]+ s +yes +host-0002 +osmt\.srvc\.' services.txt
}

nodes=$((switches + hosts))
check "weftd has $nodes nodes" daemon_runs || finish
check "LIDs of some" lids_known || finish
check "ClassPortInfo" class_port_info
check "NodeRecord" nodes
check "PortInfoRecord" port_infos
check "SwitchInfoRecord" switch_infos
check "LinearForwardingTableRecord" forwarding_tables
check "tables without entries are empty" empty_tables
check "SLtoVLMappingTableRecord, as smpquery reads them" sl_to_vl
check "VLArbitrationTableRecord" vl_arbitrations
check "GUIDInfoRecord, as smpquery reads them" guid_infos
check "P_KeyTableRecord: for the trusted only" p_keys
check "LinkRecord" links
check "SMInfoRecord" managers
check "PathRecord by its ends" paths
check "PathRecord: further components" path_components
check "LIDs of no port" strangers
check "osmtest -f c" inventory_made
check "weftctl service list" services_listed
check "MulticastForwardingTableRecord, as switches hold it" multicast_tables
check "weftd ends cleanly" stop daemon
finish
