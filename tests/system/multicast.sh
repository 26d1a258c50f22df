#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Multicast groups from the view of clients, on weftsim: osmtest's multicast flow against weftd and against OpenSM,
# which must give the same answers at each step; saquery's groups and members; the output of weftctl about them; and
# that an acknowledged join survives kill -9.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip multicast: the preload library and sanitizers exclude each other"
	exit 0
fi

broadcast=ff12:401b:ffff::ffff:ffff

# One of the hosts is a router, a member like any other.
weftd_runs() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 | awk '{ line[NR] = $0 }
		/^Ca\t1 "host-0005"/ { sub("Ca", "Rt", line[NR]); sub("ca", "rt", line[NR - 1]) }
		END { for (i = 1; i <= NR; i++) print line[i] }' >routed.net
	start_weftsim routed.net || return 1
	start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

opensm_runs() {
	stop daemon && stop_fabric && start_weftsim fattree:radix=4,levels=2 || return 1
	start_opensm opensm host-0001 || return 1
	wait_for 30 matches 'SUBNET UP' opensm.log || because "OpenSM has no subnet: $(tail -n 1 opensm.log)"
}

# The IPoIB group, as OpenSM creates it.
broadcast_group() {
	counts 1 '^MCMemberRecord group dump' -g || return 1
	sed 's/^[[:space:]]*//' answer.txt >group.txt
	diff group.txt - <<-'EOF' >difference.txt || because "the group differs: $(tail -n 1 difference.txt)"
		MCMemberRecord group dump:
		MGID....................ff12:401b:ffff::ffff:ffff
		Mlid....................0xC000
		Mtu.....................0x84
		pkey....................0xFFFF
		Rate....................0x83
		SL......................0x0
	EOF
}

# flow MANAGER MODE: osmtest as host-0002; MANAGER-MODE.steps has its steps and the answers. MGIDs that the SA chooses
# end in a number of its own. The status of osmtest is always 0.
flow() {
	local log=osmtest-$1-$2.log guid

	look ports.txt host-0002 ibstat || because "ibstat: $(tail -n 1 ports.txt.err)" || return 1
	guid=$(sed -n 's/.*Port GUID: //p' ports.txt)
	timeout 120 "$BUILD/weftsim" run -n host-0002 -- osmtest -g "$guid" -f m -M "$2" -v -l "$log" \
		>osmtest.txt 2>&1
	sed -E 's/^[^>]*-> //; s/a01b:[0-9a-f:]*/a01b:.../g; s/TID 0x[0-9a-f]*//' "$log" |
		grep -E '^(osmt_run_mcast_flow|__?osmv|osmt_query|osmt_send)' |
		grep -v 'local_port' >"$1-$2.steps"
	matches 'TEST "Multicast" PASS' osmtest.txt || because "$(grep ERR "$log" | tail -n 1)"
}

flows() {
	flow "$1" 1 && flow "$1" 2
}

same_steps() {
	local mode

	for mode in 1 2; do
		[ "$(wc -l <"weftd-$mode.steps")" -gt 50 ] || because "osmtest -M $mode took no steps" || return 1
		diff "weftd-$mode.steps" "opensm-$mode.steps" >difference.txt ||
			because "with -M $mode: $(head -n 3 difference.txt | tr '\n' ' ')" || return 1
	done
}

# osmtest has joined the broadcast group and left all others. Untrusted clients do not see the members. saquery requests
# an MTU greater than its argument.
left_behind() {
	counts 1 '^MCMemberRecord group dump' -g && counts 1 'PortGid\.+::$' -m &&
		counts 1 'PortGid\.+fe80' --smkey 1 -m && counts 1 "$broadcast" MCMR --mlid 0xc000 &&
		counts 0 "$broadcast" MCMR --mlid 0xc001 && counts 1 "$broadcast" MCMR --mtu 3 &&
		counts 0 "$broadcast" MCMR --mtu 4 && counts 0 "$broadcast" MCMR --pkey 0x8001
}

shown_members() {
	ctl "$1" multicast show $broadcast 2>/dev/null | json 'map { $_->{description} } @{$_->{members}}'
}

shown() {
	equal "the list of groups" "$(ctl daemon multicast list | json 'map { "$_->{mgid} $_->{members}" } @$_')" \
		"$broadcast 1" || return 1
	equal "the list of members" "$(shown_members daemon)" host-0002 || return 1
	equal "its parameters" "$(ctl daemon multicast show $broadcast |
		json 'map { join ",", @$_{qw(mlid p_key q_key mtu rate_gbps permanent sl tclass flow_label hop_limit scope left_out)} } $_->{group}')" \
		49152,65535,2843,2048,10,1,0,0,0,0,2,0 || return 1
	ctl daemon multicast show ff12::1 >answer.json 2>&1 && because "it shows a group that is not there" && return 1
	matches 'multicast list' answer.json || because "of a group that is not there: $(cat answer.json)"
}

survives() {
	kill_now daemon
	start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	equal "the list of members after kill -9" "$(shown_members daemon)" host-0002
}

# Trees

groups=12 members=6

# members_of MGID: their names, sorted.
members_of() {
	ctl daemon multicast show "$1" | json 'map { $_->{description} } @{$_->{members}}' | tr ' ' '\n' | sort
}

# reaches MLID MGID: a packet from any member reaches all other members, and no other port.
reaches() {
	local from

	members_of "$2" >members.txt
	[ "$(wc -l <members.txt)" -eq $members ] || return 1
	while read -r from; do
		"$BUILD/weftsim" "do" "multicast $1 $from" | awk '/\[/ { print $1 }' | sort >reached.txt
		grep -vx "$from" members.txt | diff - reached.txt >difference.txt || return 1
	done <members.txt
}

all_reach() {
	local number mlid guid

	while read -r number mlid guid; do
		reaches "$mlid" "$(printf 'ff12:401b:ffff::%x' "$number")" || return 1
		[ -n "$guid" ] || return 1
	done <joined.txt
}

joins() {
	join_groups 1 $groups $members || return 1
	wait_for 10 all_reach || because "a packet to $(tail -n 1 joined.txt): $(cat difference.txt)" || return 1
	matches 'multicast group ff12:401b:ffff::1, MLID 0xc0..: created' daemon.log &&
		matches 'multicast trees: [1-9]' daemon.log || because "the log does not tell of it"
}

# The tree in weftd's output equals the tables of the switches.
tree_is_shown() {
	local mlid

	mlid=$(awk 'END { print $2 }' joined.txt)
	ctl daemon multicast show "$(awk 'END { printf "ff12:401b:ffff::%x", $1 }' joined.txt)" |
		json 'map { join ",", $_->{description}, @{$_->{ports}} } @{$_->{switches}}' | tr ' ' '\n' |
		sort >shown.txt
	[ -s shown.txt ] || because "no tree is shown" || return 1
	while IFS=, read -r node _; do
		"$BUILD/weftsim" "do" "mft $node" | awk -v mlid="$mlid" -v node="$node" 'tolower($1) == mlid {
			$1 = node; gsub(/ +/, ","); print }'
	done <shown.txt >held.txt
	diff shown.txt held.txt >difference.txt || because "$(head -n 4 difference.txt | tr '\n' ' ')"
}

judged() {
	rm -rf dump && ctl daemon route dump --format opensm dump >dump.txt || because "$(cat dump.txt)" || return 1
	(cd dump && bash -c 'ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs; :') >verdict 2>&1
	equal "groups that ibdmchk finds whole" \
		"$(grep -c "Multicast Group:.*and:$members HCAs" verdict)" $groups || return 1
	! grep -E 'Disconnected|-E-' verdict
}

spine_is_lost() {
	"$BUILD/weftsim" "do" 'node down spine-01' >do.out || because "$(cat do.out)" || return 1
	wait_for 20 all_reach || because "$(cat difference.txt)"
}

check "weftd has a subnet" weftd_runs || finish
check "the broadcast group" broadcast_group
check "osmtest -f m, -M 1 and -M 2, with weftd" flows weftd
check "its memberships afterwards" left_behind
check "weftctl multicast list and show" shown
check "a join survives kill -9" survives
check "members are reached, and no other port" joins
check "weftctl shows the tree" tree_is_shown
if command -v ibdmchk >/dev/null; then
	check "ibdmchk -m finds no fault" judged
else
	echo "skip ibdmchk -m finds no fault: no ibdmchk here"
fi
check "after the loss of a switch" spine_is_lost
check "OpenSM has a subnet" opensm_runs || finish
check "osmtest -f m, -M 1 and -M 2, with OpenSM" flows opensm
check "both took the same steps" same_steps
stop opensm
finish
