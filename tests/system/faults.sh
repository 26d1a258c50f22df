#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Cables pulled and put back on a fat tree of 128 hosts. For each fault of one cable the number of LFT blocks written
# equals the number of changed blocks in the switches (with traps in between at most an eighth more), so no block goes
# to an unchanged switch. It counts the SMPs, and checks that the following sweeps write nothing. Then the same with the
# trap lost, and with whole switches. $BUILD/log/faults.table has the figures.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

spec=fattree:radix=16,levels=2 links=256 nodes=152
mkdir -p "$BUILD/log"
table=$BUILD/log/faults.table
printf '%-34s %6s %6s %9s %10s %6s %7s\n' fault SMPs Sets 'Set(LFT)' differing traps sweeps >"$table"

daemon_runs() {
	start_weftd daemon host-0001 "$@" || return 1
	wait_for 30 is_up daemon || because "$(tail -n 1 daemon.log)"
}

fabric_and_daemon() {
	start_fabric $spec && daemon_runs -o sweep_interval=0
}

# Another manager with a sweep every second, on the state that the first left.
impatient_daemon() {
	stop daemon || because "weftd ends with status $?" || return 1
	daemon_runs -o sweep_interval=1
}

# settled LINKS: weftd has this number of links and no work.
settled() {
	has_status daemon '$_->{role}, $_->{counts}{links}, $_->{sweeping} ? 1 : 0, $_->{state}' \
		"MASTER $1 0 subnet up"
}

# figures: SMPs, Sets, Set(LFT), traps and sweeps so far, read at one moment.
figures() {
	status daemon "$(sent 1), $(sent '$_->{method} eq "Set"'),
		$(sent '$_->{method} eq "Set" && $_->{attribute} eq "LinearForwardingTable"'),
		\$_->{traps}{received}, \$_->{sweep}{number}"
}

# happens TEXT LINKS COMMAND...: console commands, after which weftd has this number of links. Sets $smps $sets $lfts
# $traps $sweeps to the cost, and $differing to the changed blocks of the switches.
happens() {
	local text=$1 wanted=$2 before after i

	shift 2
	read_lfts before.lft host-0001 || return 1
	read -ra before <<<"$(figures)"
	for i; do
		console "$i"
	done
	wait_for 20 settled "$wanted" ||
		because "no quiet with $wanted links: $(status daemon '"$_->{counts}{links} links, $_->{state}"')" || return 1
	read -ra after <<<"$(figures)"
	read_lfts after.lft host-0001 || return 1
	differing=$(changed_blocks before.lft after.lft)
	for i in 0 1 2 3 4; do
		after[i]=$((after[i] - before[i]))
	done
	read -r smps sets lfts traps sweeps <<<"${after[*]}"
	printf '%-34s %6d %6d %9d %10d %6d %7d\n' "$text" "$smps" "$sets" "$lfts" "$differing" "$traps" \
		"$sweeps" >>"$table"
}

# The first sweep afterwards may find changes whose trap was lost (the trap of the far end used the pulled cable). The
# second finds nothing.
is_quiet() {
	ctl daemon sweep heavy >first.json && ctl daemon sweep heavy >second.json ||
		because "weftctl sweep failed" || return 1
	equal "the number of Set(LFT) in the next sweep" "$(json '$_->{lft_sets}' <first.json)" 0 || return 1
	equal "the number of Set() in the sweep after" "$(json '$_->{sets}' <second.json)" 0
}

# The trap of the far end may come while blocks are written: its switch is then read before more routes use it, and a
# block that could not wait as a whole is written twice.
cable() {
	happens "$@" || return 1
	[ "$traps" -gt 0 ] || because "no trap arrived" || return 1
	[ "$lfts" -ge "$differing" ] && [ "$lfts" -le $((differing + 1 + differing / 8)) ] ||
		because "$lfts LFT blocks written, $differing differ" || return 1
	is_quiet
}

# The simulator drops the trap at the manager's port during the fault.
cable_without_trap() {
	local text=$1 wanted=$2 command=$3

	happens "$text" "$wanted" 'Error "host-0001"[1] 100' "$command" 'Error "host-0001"[1] 0' || return 1
	equal "the number of traps that arrived" "$traps" 0 || return 1
	equal "the number of LFT blocks written" "$lfts" "$differing" || return 1
	is_quiet
}

# Traps of a whole switch arrive one after the other, and the first starts a sweep at once: more blocks may be written
# than differ in the end.
switch() {
	happens "$@" || return 1
	[ "$lfts" -ge "$differing" ] || because "$lfts LFT blocks written, $differing differ" || return 1
	is_quiet
}

# All uplinks of the manager's leaf but the last one.
uplinks_fail() {
	local port

	for port in 9 10 11 12 13 14 15; do
		cable "leaf-01 uplink $port down" $((links + 8 - port)) "Unlink \"leaf-01\"[$port]" || return 1
	done
}

uplinks_return() {
	local port

	for port in 9 10 11 12 13 14 15; do
		cable "leaf-01 uplink $port up" $((links + port - 15)) "ReLink \"leaf-01\"[$port]" || return 1
	done
}

lid_of() {
	ctl daemon node list | json "map { \$_->{lid} } grep { \$_->{description} eq '$1' } @\$_"
}

host_returns() {
	cable "host-0042 up" $links 'ReLink "host-0042"[1]' || return 1
	equal "its LID" "$(lid_of host-0042)" "$lid"
}

paths_are_whole() {
	local to

	for to in $(lid_of host-0002) $(lid_of host-0033) $(lid_of host-0128); do
		look trace.txt host-0040 ibtracert "$(lid_of host-0040)" "$to" ||
			because "ibtracert to LID $to: $(tail -n 1 trace.txt.err)" || return 1
	done
}

check "weftd on $spec" fabric_and_daemon || finish
lid=$(lid_of host-0042)
check "a cable between switches is pulled" cable "leaf-03 - spine-02 down" 255 'Unlink "leaf-03"[10]'
check "and put back" cable "leaf-03 - spine-02 up" 256 'ReLink "leaf-03"[10]'
check "a host's cable is pulled" cable "host-0042 down" 255 'Unlink "host-0042"[1]'
check "and put back: the host has its LID again" host_returns
check "the manager's leaf loses its uplinks one by one" uplinks_fail
check "and gets them back" uplinks_return
check "a leaf goes down" switch "leaf-05 down" 240 'Unlink "leaf-05"'
check "and returns" switch "leaf-05 up" 256 'ReLink "leaf-05"'
check "a leaf goes down and forgets its LIDs" switch "leaf-05 reset" 240 'Clear "leaf-05"'
check "and returns" switch "leaf-05 up" 256 'ReLink "leaf-05"'
check "a spine goes down" switch "spine-05 down" 240 'Unlink "spine-05"'
check "and returns" switch "spine-05 up" 256 'ReLink "spine-05"'

check "another weftd, with a light sweep every second" impatient_daemon || finish
check "a cable is pulled and the trap is lost" cable_without_trap "leaf-03 - spine-02 down, no trap" 255 \
	'Unlink "leaf-03"[10]'
check "a cable is put back and the trap is lost" cable_without_trap "leaf-03 - spine-02 up, no trap" 256 \
	'ReLink "leaf-03"[10]'
check "a host's cable is pulled and the trap is lost" cable_without_trap "host-0042 down, no trap" 255 \
	'Unlink "host-0042"[1]'
check "a host's cable is put back and the trap is lost" cable_without_trap "host-0042 up, no trap" 256 \
	'ReLink "host-0042"[1]'

check "iblinkinfo: every link Active" links_active host-0001 $((links * 2))
check "ibnetdiscover: LIDs unique" lids_unique host-0001 $nodes
check "ibtracert: paths are whole" paths_are_whole
check "weftd ends cleanly" stop daemon
cat "$table"
finish
