#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The standard tools, unchanged, on weftsim: what they show of a fabric that OpenSM runs, whole tables
# of the SA through RMPP, pings between programs, osmtest, OpenSM on each kind of topology with each of
# its engines, and two managers that take the subnet over from each other.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v opensm >/dev/null; then
	echo "skip weftsim-tools: no opensm here"
	exit 0
fi

# The fabric that most is shown on: 32 hosts, 8 leaves and 4 spines, 64 cables.
spec=fattree:radix=8,levels=2 hosts=32 nodes=44 cables=64

# reaches_all: every pair of hosts, by the switches' tables.
reaches_all() {
	"$BUILD/weftsim" do check >check.txt 2>&1
}

# lid_of HOST
lid_of() {
	printf '%d' "0x$(sed 's/^0x//' "$WEFTSIM_SOCKET.d/$1/sys/class/infiniband/weftsim0/ports/1/lid")"
}

opensm_runs() {
	start_weftsim "$1" && start_opensm opensm host-0001 "${@:2}" || return 1
	wait_for 30 reaches_all || because "$(tail -n 1 check.txt)"
}

end_all() {
	stop opensm || because "opensm ends with status $?" || return 1
	stop_fabric
}

# shows COUNT PATTERN HOST COMMAND...: so many lines of what a tool says are like this.
shows() {
	local count=$1 pattern=$2 status

	shift 2
	look shown.txt "$@"
	status=$?
	[ $status -eq 0 ] || because "status $status: $(tail -n 1 shown.txt.err)" || return 1
	equal "the number of lines with $pattern" "$(grep -cE -- "$pattern" shown.txt)" "$count"
}

# What is read from files

ibstat_and_ibstatus() {
	shows 1 'State: Active' host-0005 ibstat || return 1
	shows 1 "Base lid: $(lid_of host-0005)\$" host-0005 ibstat || return 1
	shows 1 'state:.*4: ACTIVE' host-0005 ibstatus || return 1
	shows 1 "base lid:.*$(printf '0x%x' "$(lid_of host-0005)")\$" host-0005 ibstatus || return 1
	shows 1 '(CA type|Node GUID): 0x' host-0005 ibstat -s
}

# By SMPs

diagnostics() {
	local tool count pattern

	while IFS='|' read -r tool count pattern; do
		# shellcheck disable=SC2086 # words are meant
		check "$tool" shows "$count" "$pattern" host-0002 $tool
	done <<-TABLE
		sminfo|1|sm lid 1 .*SMINFO_MASTER
		ibaddr|1|LID start 0x
		ibnetdiscover|$nodes|^(Switch|Ca)[[:space:]]
		ibnetdiscover -p|$((2 * cables))|^(SW|CA)
		ibswitches|$((nodes - hosts))|^Switch
		ibhosts|$hosts|^Ca
		ibnodes|$nodes|^(Switch|Ca)
		iblinkinfo --line|$((2 * cables))|Active/ *LinkUp
		ibidsverify|0|.
		smpquery nodeinfo $leaf|1|^NodeType:\.+Switch
		smpquery -D nodeinfo 0,1|1|^NodeType:\.+Switch
		smpquery nodedesc $leaf|1|leaf-01
		smpquery portinfo $leaf 1|1|^LinkState:\.+Active
		smpquery -D portinfo 0,1 1|1|^LinkState:\.+Active
		smpquery switchinfo $leaf|1|^LinearFdbCap
		smpquery pkeys $lid|1|0xffff
		smpquery sl2vl $lid|1|SL\|VL\||\|
		smpquery vlarb $lid 1|1|Low priority
		smpquery guids $lid|1|^GuidCap|0x0277
		smpquery -C weftsim0 -P 1 nodeinfo $leaf|1|^NodeType:\.+Switch
		smpquery -c nodeinfo $leaf 0|1|^NodeType:\.+Switch
		smpquery -c nodedesc $leaf 0,1|1|host-0001
		smpdump $leaf 0x11|1|^0101 0201
		smpdump -D 0,1 0x11|1|^0101 0201
		ibportstate $leaf 1 query|2|^LinkState:\.+Active
		ibportstate -D 0,1 1 query|2|^LinkState:\.+Active
		ibtracert $lid $far|1|^To ca .* lid $far-$far
		ibroute $leaf|1|^$nodes valid lids dumped
		ibroute -M $leaf|1|valid mlids dumped
		dump_lfts|$((nodes - hosts))|^Unicast lids
		dump_mfts|$((nodes - hosts))|^Multicast mlids
		perfquery $far 1|1|^PortXmitPkts:\.+[1-9]
		perfquery -x $far 1|1|^PortXmitPkts:\.+[1-9]
		ibqueryerrors|1|^## +Summary
	TABLE
}

# Tables of the SA

saquery_tables() {
	local form count pattern

	while IFS='|' read -r form count pattern; do
		# shellcheck disable=SC2086 # words are meant
		check "saquery $form" shows "$count" "$pattern" host-0002 saquery $form
	done <<-TABLE
		NR|$nodes|^NodeRecord dump
		-N|$nodes|^NodeRecord dump
		--list|$hosts|node_type.*Channel Adapter
		PIR|$((hosts + 2 * (cables - hosts) + hosts + nodes - hosts))|^PortInfoRecord dump
		CPI|1|Class version\.+2
		-c|1|Class version\.+2
		LR|$((2 * cables))|^LinkRecord dump
		-x|$((2 * cables))|^LinkRecord dump
		MCMR|1|^MCMemberRecord
		-g|1|^MCMemberRecord group dump
		-m|1|0x80010000
		SMIR|1|^SMInfoRecord dump
		-s|1|^IsSM ports
		SWIR|$((nodes - hosts))|^SwitchInfoRecord dump
		GIR|$nodes|^GUIDInfoRecord dump
		SL2VL|1|^SL2VLTableRecord
		VLAR|1|^VLArbTableRecord
		--smkey 1 PKTR|1|^PKeyTableRecord
		LFTR|$((nodes - hosts))|^LFTRecord dump
		MFTR|0|dump
		SR|0|^ServiceRecord
		IIR|0|^InformInfoRecord
		-p|$((nodes * nodes))|^PathRecord dump
		--src-to-dst $lid:$far|1|dlid\.+$far\$
		--sgid-to-dgid $gid-$far_gid|1|dlid\.+$far\$
	TABLE
}

# Between programs

# serves PROGRAM: one that answers what another sends.
serves() {
	(as_node host-0003 "$1" -S) >"$1.out" 2>&1 &
	pids[$1]=$!
}

answers_pings() {
	serves ibping
	wait_for 20 shows 1 '1 packets transmitted, 1 received' host-0002 ibping -c 1 "$(lid_of host-0003)" || return 1
	shows 1 '20 packets transmitted, 20 received, 0%' host-0002 ibping -f -c 20 "$(lid_of host-0003)" || return 1
	kill_now ibping
}

answers_sysstat() {
	serves ibsysstat
	wait_for 20 shows 1 'sysstat ping succeeded' host-0002 ibsysstat "$(lid_of host-0003)" || return 1
	shows 1 "^Hostname: $(hostname)" host-0002 ibsysstat "$(lid_of host-0003)" host || return 1
	shows 1 '^cpu 0:' host-0002 ibsysstat "$(lid_of host-0003)" cpu || return 1
	kill_now ibsysstat
}

osmtest_passes() {
	look osmtest.txt host-0002 osmtest -g "$(guid_of host-0002)" -f "$1" -i inventory.dat -l osmtest.log "${@:2}"
	matches "^OSMTEST: TEST \".*\" PASS" osmtest.txt || because "$(tail -n 3 osmtest.txt | tr '\n' ' ')"
}

guid_of() {
	look guid.txt "$1" ibstat -p && head -n 1 guid.txt
}
