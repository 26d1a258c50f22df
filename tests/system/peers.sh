#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftd and OpenSM on one fabric: the manager of higher rank (priority, then the lower GUID) is MASTER, in either order
# of start. The other is STANDBY, both report this, and it takes over when the master is killed. A standby-only weftd
# does not.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

spec=fattree:radix=4,levels=2

if ! command -v opensm >/dev/null; then
	echo "skip peers: no opensm here"
	exit 0
fi

forget_traps=$(preload_library forget_traps) || exit 1

# Of the managers, by program: host and priority, and the order of start.
declare -A host=() priority=()

start() {
	case $1 in
	weftd*) start_weftd "$1" "${host[$1]}" -o "sm_priority=${priority[$1]}" -o poll_interval=100 "${@:2}" ;;
	opensm) preload=$forget_traps start_opensm "$1" "${host[$1]}" -p "${priority[$1]}" "${@:2}" ;;
	esac
}

# lid_at HOST: the LID of its port, which is 0 before it has one.
lid_at() {
	look address.txt "$1" ibaddr || return 1
	printf '%d' "$(sed -n 's/.*LID start \(0x[0-9a-f]*\).*/\1/p' address.txt)"
}

# state_at HOST: the answer of the manager there to a third host.
state_at() {
	look sminfo.txt host-0008 sminfo "$(lid_at "$1")" || return 1
	sed -n 's/.*SMINFO_\([A-Z]*\).*/\1/p' sminfo.txt
}

# Ports have the LID of the manager at HOST as SM LID, and it answers as MASTER.
is_master_at() {
	look sminfo.txt host-0008 sminfo && matches "sm lid $(lid_at "$1") .*SMINFO_MASTER" sminfo.txt
}

stands_by_at() {
	[ "$(state_at "$1")" = STANDBY ]
}

logs_say() {
	case $1:$2 in
	weftd:MASTER) matches 'sm: [A-Z]+ -> MASTER: ' weftd.log ;;
	weftd:STANDBY) matches 'sm: [A-Z]+ -> STANDBY: ' weftd.log ;;
	opensm:MASTER) matches 'Entering MASTER state|SUBNET UP' opensm.log ;;
	opensm:STANDBY) matches 'Entering STANDBY state' opensm.log ;;
	esac || because "$1 does not say that it is $2"
}

# The status of weftd lists the managers that it has found.
status_agrees() {
	local role=$1

	wait_for 20 has_status weftd '$_->{role}' "$role" ||
		because "weftd's status says $(status weftd '$_->{role}'), not $role"
}

told() {
	"$BUILD/weftctl" -s weftd.run/control.sock "$@"
}

# A manager that is not MASTER reports that its lists are old, and accepts no document.
lists_say() {
	local list

	for list in multicast service inform; do
		told "$list" list >list.txt && told --json "$list" list >list.json 2>list.err ||
			because "$list list fails" || return 1
		equal "the type of $list list --json" "$(json 'ref $_' <list.json)" ARRAY || return 1
		if [ "$1" = MASTER ]; then
			! grep -q '^this manager' list.txt || because "the master's $list list says $(head -n 1 list.txt)"
		else
			matches 'this manager is STANDBY; the current records are at the MASTER, ".*" .port GUID 0x[0-9a-f]{16}, LID [0-9]+' <(head -n 1 list.txt) &&
				matches 'weftctl: this manager is STANDBY' list.err
		fi || because "$list list of a $1 begins with $(head -n 1 list.txt)" || return 1
	done
	[ "$1" = MASTER ] && return 0
	matches 'STANDBY: another subnet manager is MASTER' <(told status) ||
		because "its status says $(told status | grep '^Subnet')" || return 1
	echo '{"version": 1, "records": []}' >empty.json
	! told restore empty.json 2>refused.txt && matches 'this manager is STANDBY: ' refused.txt ||
		because "restore of a standby says $(cat refused.txt)"
}

share() {
	local first=$1 second=$2 master=$3 slave=$4

	start_fabric $spec && start "$first" || return 1
	wait_for 20 is_master_at "${host[$first]}" || because "$first alone is not MASTER: $(cat sminfo.txt)" || return 1
	start "$second" || return 1
	wait_for 30 stands_by_at "${host[$slave]}" ||
		because "$slave is $(state_at "${host[$slave]}"), not STANDBY" || return 1
	wait_for 30 is_master_at "${host[$master]}" ||
		because "$master is not MASTER: $(cat sminfo.txt)" || return 1
	lists_say "$([ "$master" = weftd ] && echo MASTER || echo STANDBY)" || return 1
	logs_say "$master" MASTER && logs_say "$slave" STANDBY || return 1
	status_agrees "$([ "$master" = weftd ] && echo MASTER || echo STANDBY)"
}

takes_over() {
	local master=$1 slave=$2

	kill_now "$master"
	wait_for 60 is_master_at "${host[$slave]}" || because "$slave is $(state_at "${host[$slave]}")" || return 1
	logs_say "$slave" MASTER && stop "$slave"
}

# try TEXT WEFTD-HOST WEFTD-PRIORITY OPENSM-HOST OPENSM-PRIORITY MASTER: in both orders.
try() {
	local text=$1 master=$6 slave first second

	host=([weftd]=$2 [opensm]=$4) priority=([weftd]=$3 [opensm]=$5)
	slave=$([ "$master" = weftd ] && echo opensm || echo weftd)
	for first in weftd opensm; do
		second=$([ $first = weftd ] && echo opensm || echo weftd)
		if check "$text, $first first: $master is MASTER, $slave STANDBY" share $first $second "$master" $slave; then
			check "$text, $first first: $master is killed, $slave takes over" takes_over "$master" $slave
		fi
		for name in weftd opensm; do
			[ -z "${pids[$name]:-}" ] || kill_now "$name"
		done
		stop_fabric
	done
}

try "weftd ranks higher by priority" host-0002 9 host-0001 5 weftd
try "opensm ranks higher by priority" host-0001 5 host-0002 9 opensm
try "weftd ranks higher by GUID" host-0001 7 host-0002 7 weftd
try "opensm ranks higher by GUID" host-0002 7 host-0001 7 opensm

# A weftd that must not be MASTER: it finds the master, and searches for other managers when that is gone.
watches() {
	start_fabric $spec && start_opensm opensm host-0002 -p 0 || return 1
	wait_for 20 is_master_at host-0002 || because "opensm alone is not MASTER" || return 1
	start_weftd weftd host-0001 -o 'role="standby-only"' -o sm_priority=15 -o poll_interval=100 \
		-o sweep_interval=1 || return 1
	wait_for 20 has_status weftd '$_->{role}' STANDBY ||
		because "weftd is $(status weftd '$_->{role}'), not STANDBY" || return 1
	is_master_at host-0002 || because "opensm is not MASTER any more: $(cat sminfo.txt)"
}

has_swept() {
	[ "$(status weftd '$_->{sweep}{number}')" -ge "$1" ]
}

never_takes_over() {
	kill_now opensm
	wait_for 30 matches 'STANDBY -> DISCOVERING' weftd.log || because "weftd does not notice" || return 1
	wait_for 30 has_swept $(($(status weftd '$_->{sweep}{number}') + 3)) ||
		because "weftd does not look for another master" || return 1
	matches '-> MASTER' weftd.log && because "weftd became MASTER" && return 1
	equal "the number of Set() it sent" "$(status weftd "$(sent '$_->{method} eq "Set"')")" 0
}

meets_another() {
	start_opensm opensm host-0002 -p 0 || return 1
	wait_for 30 has_status weftd '$_->{role}' STANDBY ||
		because "weftd is $(status weftd '$_->{role}'), not STANDBY" || return 1
	stop weftd && stop opensm
}

# By command: OpenSM becomes NOTACTIVE, then STANDBY, and then gets the subnet for good.

at_rest() {
	[ "$(state_at "${host[opensm]}")" = NOTACT ]
}

ordered() { # WORD... PATTERN
	told ha "${@:1:$#-1}" >ha.txt 2>&1 && matches "${!#}" ha.txt || because "ha ${*:1:$#-1} says $(cat ha.txt)"
}

commands() {
	local guid

	host=([weftd]=host-0001 [opensm]=host-0002) priority=([weftd]=9 [opensm]=5)
	share weftd opensm weftd opensm || return 1
	guid=$(status weftd '$_->{peers}[0]{guid}')
	told ha enable "$guid" >ha.txt 2>&1
	matches 'is STANDBY: this command needs a manager in NOTACTIVE' ha.txt || because "ha enable of a standby says $(cat ha.txt)" || return 1
	ordered disable "$guid" "manager $guid is NOTACTIVE" && wait_for 10 at_rest ||
		because "$(cat ha.txt); opensm is $(state_at host-0002)" || return 1
	told ha handover >ha.txt 2>&1
	matches "no manager is in STANDBY; found: $guid .NOTACTIVE" ha.txt ||
		because "ha handover to a missing manager says $(cat ha.txt)" || return 1
	ordered enable "$guid" "manager $guid is STANDBY" || return 1
	wait_for 10 stands_by_at host-0002 || because "opensm is $(state_at host-0002)" || return 1
	ordered discover "$guid" "manager $guid is (DISCOVERING|STANDBY)" || return 1
	wait_for 10 stands_by_at host-0002 || because "opensm is $(state_at host-0002)" || return 1
	ordered handover "$guid" "handover complete: manager $guid is MASTER" || return 1
	wait_for 30 is_master_at host-0002 || because "opensm is not MASTER: $(cat sminfo.txt)" || return 1
	wait_for 10 stands_by_at host-0001 || because "weftd is $(state_at host-0001)" || return 1
	logs_say opensm MASTER || return 1
	kill -HUP "${pids[opensm]}" # it sweeps
	sleep 2
	is_master_at host-0002 || because "opensm gave it back: $(cat sminfo.txt)" || return 1
	kill_now opensm
	wait_for 60 is_master_at host-0001 || because "weftd does not take over: $(cat sminfo.txt)" || return 1
	equal "the priority of weftd" "$(status weftd '$_->{priority}')" 9 || return 1
	stop weftd
}

check "weftd orders opensm about, and gives it the subnet" commands
stop_fabric

if check "standby-only, of higher priority: opensm is MASTER, weftd STANDBY" watches; then
	check "standby-only: opensm is killed, weftd does not take over" never_takes_over
	check "standby-only: opensm comes back, weftd stands by" meets_another
fi
finish
