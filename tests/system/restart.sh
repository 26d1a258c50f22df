#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A manager that starts on a fabric that is up reads the tables and writes no block of them, and every port keeps its
# LID. With groups it writes no multicast block either: with the table cache it reads some blocks of each switch, and a
# few more after kill -9 and joins since the cache was written.
set -u
. "$(dirname "$0")/lib.sh"

lids() {
	ctl "$1" node list | json 'map { "$_->{guid}=$_->{lid}" } sort { $a->{guid} cmp $b->{guid} } @$_'
}

starts() {
	start_weftd "$1" host-0001 -o groups_per_port=1000 -o registrations_per_port=10000 && wait_for 20 is_up "$1" ||
		because "weftd is $(status "$1" '$_->{role}, $_->{state}')"
}

again() {
	local before=$1 written

	starts second || return 1
	written=$(status second '$_->{sweep}{lft_sets}')
	equal "the number of LFT blocks written after a restart" "$written" 0 || return 1
	equal "the LIDs after a restart" "$(lids second)" "$before"
}

start_fabric fattree:radix=16,levels=2
check "weftd on a new fabric" starts first
before=$(lids first)
stop first
check "and again: no LFT block written, the same LIDs" again "$before"
stop second
stop_fabric
if [ -n "${SANITIZE:-}" ]; then
	echo "skip restart with groups: the preload library and sanitizers exclude each other"
	finish
fi

# lft_sets: the number of Set(LFT) at agents.
lft_sets() {
	"$BUILD/weftsim" "do" stats | awk '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 }
		on && $1 == "LinearForwardingTable" { count = $3 } END { print count + 0 }'
}

knows_nodes() {
	[ "$(status daemon '$_->{counts}{adapters}')" = "$1" ]
}

# Their places are remembered, so that they stay routed: neither the restart nor their return writes a block.
hosts_are_down() {
	local sets

	start_weftsim fattree:radix=8,levels=2 && starts daemon || return 1
	sets=$(lft_sets)
	"$BUILD/weftsim" "do" "node down host-0007" "node down host-0020" >do.txt
	ctl daemon sweep >sweep.txt && wait_for 20 knows_nodes 30 || because "$(status daemon '$_->{counts}{adapters}') adapters" || return 1
	stop daemon && starts daemon || return 1
	equal "Set(LinearForwardingTable) after a restart with two hosts down" $(($(lft_sets) - sets)) 0 || return 1
	"$BUILD/weftsim" "do" "node up host-0007" "node up host-0020" >do.txt
	wait_for 20 knows_nodes 32 && wait_for 20 is_up daemon || because "$(status daemon '$_->{counts}{adapters}') adapters" || return 1
	equal "Set(LinearForwardingTable) when they are back" $(($(lft_sets) - sets)) 0
}

check "a restart while hosts are down" hosts_are_down
stop daemon
stop_fabric

# 12 switches; 200 groups are seven blocks of each.
switches=12 samples=4

# mft_smps COLUMN: the number of these at agents: 2, Gets; 3, Sets.
mft_smps() {
	"$BUILD/weftsim" "do" stats | awk -v column="$1" '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 }
		on && $1 == "MulticastForwardingTable" { count = $column } END { print count + 0 }'
}

# settles: no Set() for a second.
settles() {
	local before=-1

	while [ "$before" != "$(mft_smps 3)" ]; do
		before=$(mft_smps 3)
		sleep 1
	done
}

held_groups() {
	local node

	for node in leaf-0{1..8} spine-0{1..4}; do
		"$BUILD/weftsim" "do" "mft $node" | sed "s/^/$node /"
	done
}

# is_back MOST: nothing was written since, and at most this number of blocks was read.
is_back() {
	local sets gets

	held_groups >before.txt
	sets=$(mft_smps 3) gets=$(mft_smps 2)
	starts daemon || return 1
	settles
	held_groups >after.txt
	equal "Set(MulticastForwardingTable) after a restart" $(($(mft_smps 3) - sets)) 0 || return 1
	gets=$(($(mft_smps 2) - gets))
	[ $gets -gt 0 ] && [ $gets -le "$1" ] || because "$gets blocks are read" || return 1
	cmp -s before.txt after.txt || because "the tables changed"
}

with_groups() {
	start_weftsim fattree:radix=8,levels=2 || return 1
	starts daemon && join_groups 1 200 6 || return 1
	settles
}

killed() {
	join_groups 201 20 6 || return 1
	settles
	kill_now daemon
	is_back $((2 * samples * switches + 8 * switches))
}

check "a fabric with groups" with_groups || finish
stop daemon
check "after a restart some blocks are read, none written" is_back $((samples * switches))
check "nor after kill -9, with groups that are new" killed
stop daemon
stop_fabric
finish
