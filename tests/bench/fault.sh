#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The cost of the loss of one cable between a leaf and a switch above it, for weftd and OpenSM as daemons on a weftsim
# of 11,664 hosts (QUICK: 3,456). Measured from the pull of the cable to the last Set() at an agent are real time, CPU
# time of all threads, and SMPs. weftsim is queried for that some fifty times a second, which costs a fifth of a
# processor. Then it prints the times of the steps: from weftd's log and status, and from a simulation with 100 us an
# SMP, where computing takes a fixed time.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

if ! command -v opensm >/dev/null; then
	echo "fault: no opensm here (scripts/install-deps installs it)" >&2
	exit 1
fi
radix=36
[ -z "${QUICK:-}" ] || radix=24
spec=fattree:radix=$radix,levels=3
# Far from the managers, which run on the first host; its last port leads up.
leaf=$(printf 'leaf-p%02d-02' $((radix / 2 + 1)))

host=$("$BUILD/weftsim" topology "$spec" | awk -F '"' '/^(Hca|Ca)/ { print $2; exit }')

# cpu_us NAME: of all threads since the start.
cpu_us() {
	cat "/proc/${pids[$1]}"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%d", ns / 1000 }'
}

now_us() {
	echo "${EPOCHREALTIME/./}"
}

# counts: "SETS SMPS" that agents received.
counts() {
	"$BUILD/weftsim" "do" stats | awk '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { gets += $(NF - 1); sets += $NF } END { print sets, gets + sets }'
}

lines() { # PATTERN FILE
	grep -cE -- "$1" "$2" 2>/dev/null
}

# said_again: the manager has reported its end more than $done_before times.
said_again() {
	[ "$(lines "$done_pattern" "$done_log")" -gt "$done_before" ]
}

# No Set() for a second, and few reads: weftd reads everything once in half an hour.
is_quiet() {
	local sets smps sets_then smps_then

	read -r sets smps <<<"$(counts)"
	sleep 1
	read -r sets_then smps_then <<<"$(counts)"
	[ "$sets" = "$sets_then" ] && [ $((smps_then - smps)) -lt 1000 ]
}

# pull NAME: sets $took_us, $cpu_ms, $sets and $smps to the cost of the lost cable.
pull() {
	local name=$1 began cpu sets_now smps_now sets_last smps_before settled=

	done_before=$(lines "$done_pattern" "$done_log")
	read -r sets_before smps_before <<<"$(counts)"
	sets_last=$sets_before took_us=0
	cpu=$(cpu_us "$name")
	began=$(now_us)
	"$BUILD/weftsim" "do" "link down $leaf $radix" >do.out || because "$(cat do.out)" || return 1
	pulled_us=$began
	while [ $(($(now_us) - began)) -lt 900000000 ]; do
		read -r sets_now smps_now <<<"$(counts)"
		if [ "$sets_now" != "$sets_last" ]; then
			sets_last=$sets_now settled=
			took_us=$(($(now_us) - began))
		fi
		if [ -z "$settled" ] && [ "$sets_last" != "$sets_before" ] && said_again; then
			settled=$(now_us)
			cpu_ms=$((($(cpu_us "$name") - cpu) / 1000))
			smps=$((smps_now - smps_before))
		fi
		[ -z "$settled" ] || [ $(($(now_us) - settled)) -lt 1000000 ] || break
		sleep 0.01
	done
	sets=$((sets_last - sets_before))
	[ -n "$settled" ] || because "$name: the loss of $leaf port $radix was not answered"
}

figures() { # WHO
	printf 'one cable of %s: %s\t%d ms\tof real time to the last Set; %d ms of CPU, %d SMPs, %d of them Sets\n' \
		"$spec" "$1" $((took_us / 1000)) "$cpu_ms" "$smps" "$sets"
}

# Lines of weftd's log with their time.
stamp() {
	while read -r line; do
		printf '%s %s\n' "$(now_us)" "$line"
	done
}

# The phases of its last sweep, after the trap.
timeline() {
	local trap_us
	trap_us=$(awk '/trap 128/ { print $1; exit }' stamped)
	status w 'map { "$_->{name} $_->{us}" } @{$_->{sweep}{phases}}' | xargs -n 2 | awk -v trap=$((trap_us - pulled_us)) '
		BEGIN { printf "when, weftd on weftsim: trap 128 arrives\t%.1f ms\n", trap / 1000 }
		{ us += $2; at[$1] = us }
		END {
			row("the switch of the trap has been read", "discover"); row("LIDs and own port are looked at", "local")
			row("tables are computed and checked", "routes"); row("the last Set is acknowledged", "program")
			row("done", "end")
		}
		function row(what, phase) { printf "when, weftd on weftsim: %s\t%.1f ms\n", what, (trap + at[phase]) / 1000 }'
}

lose_weftd() {
	printf '%s\n' 'routing = ["ftree"];' 'sweep_interval = 300;' >w.conf
	start_weftsim "$spec" && conf=$work/w.conf start_weftd w "$host" -v || return 1
	done_pattern='^NOTICE sm: sweep .*: subnet up' done_log=w.log done_before=0
	wait_for 60 said_again && wait_for 60 is_quiet || because "weftd does not come up" || return 1
	tail -n 0 -f w.log | stamp >stamped &
	pids[stamp]=$!
	pull w || return 1
	figures "weftd ftree"
	timeline
	kill_now stamp
	stop w && stop_fabric
}

lose_opensm() { # ENGINE
	start_weftsim "$spec" && start_opensm o "$host" -R "$1" -s 300 -D 0x43 || return 1
	done_pattern='SUBNET UP' done_log=o.log done_before=0
	wait_for 900 said_again && wait_for 60 is_quiet || because "opensm does not come up" || return 1
	pull o || return 1
	figures "opensm $1"
	kill_now o
	rm -rf o.log o.d
	stop_fabric
}

# The same in virtual time, by the trace of a simulation.
virtual() {
	local scenario=link-lost-big hosts=11664

	[ -z "${QUICK:-}" ] || scenario=link-lost hosts=432
	"$BUILD/tests/sim/sim_run" --scenario "$scenario" --trace 2>/dev/null | awk -v hosts=$hosts '
		function row(what, at) { printf "when, %d hosts, 100 us an SMP: %s\t%.1f ms\n", hosts, what, (at - pulled) * 1000 }
		/ link down at / { pulled = $1; next }
		!pulled || done { next }
		/< Trap\(Notice\)/ && !trapped { trapped = $1 }
		/< GetResp\(PortInfo\)/ && !asked { read = $1 }
		/> Get\(NodeInfo\)/ && !asked { asked = $1 }
		/> Set\(LinearForwardingTable\)/ { sets++; last = $1; first = first ? first : $1 }
		/ reports 0: subnet up/ { done = $1 }
		END {
			row("trap 128 arrives", trapped); row("the switch of the trap has been read", read)
			row("tables are computed, the first switch is identified", asked)
			row("the first Set of a block", first); row("the last of " sets " Sets", last)
			row("done: the last Set is acknowledged", done)
		}'
}

part() { # WHAT COMMAND...
	local what=$1

	shift
	"$@" || { echo "fault: $what: $reason" >&2 && failures=1; }
}

part weftd lose_weftd
part "opensm ftree" lose_opensm ftree
part "opensm minhop" lose_opensm minhop
part simulation virtual
finish
