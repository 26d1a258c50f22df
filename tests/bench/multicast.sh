#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# What multicast costs weftd and OpenSM: many groups with random members, one more join, a lost cable,
# one after the other on a weftsim of 432 hosts (FULL: weftd alone on 3,456 hosts, 1,000 groups of 100). Counted
# are the Sets that agents have met, and CPU time of all threads of the manager.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

radix=12 groups=100 members=30 managers="weftd opensm" leaf=leaf-p03-02
if [ -n "${FULL:-}" ]; then
	radix=24 groups=1000 members=100 managers=weftd leaf=leaf-p05-03
fi
spec=fattree:radix=$radix,levels=3
join=$BUILD/tests/bench/mc_join
mapfile -t names < <("$BUILD/weftsim" topology "$spec" | awk -F '"' '/^(Hca|Ca)/ { print $2 }')
host=${names[0]} client=${names[1]}

ask_for_hosts() {
	look nodes.txt "$client" saquery NR || return 1
	awk '/lid\.+/ { sub(/.*\.\.+/, ""); lid = $1 } /node_type\.+/ { host = /Channel/ }
		/port_guid\.+/ { sub(/.*\.\.+/, ""); if (host) print lid, $1 }' nodes.txt >hosts.txt
	[ -s hosts.txt ]
}

# figures NAME: "MFT-SETS ALL-SETS CPU-MS".
figures() {
	local cpu

	cpu=$(cat "/proc/${pids[$1]}"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%d", ns / 1e6 }')
	"$BUILD/weftsim" "do" stats | awk -v cpu="$cpu" '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { sets += $NF } on && /MulticastForwarding/ { mft += $NF } END { print mft + 0, sets, cpu }'
}

# all_sets: what agents have met of them.
all_sets() {
	"$BUILD/weftsim" "do" stats | awk '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 } on { sets += $NF }
		END { print sets }'
}

# settles: no Set() for two seconds.
settles() {
	local before

	for _ in {1..150}; do
		before=$(all_sets)
		sleep 2
		[ "$before" != "$(all_sets)" ] || return 0
	done
}

# step NAME TEXT COMMAND...: what the command costs until all is quiet.
step() {
	local name=$1 text=$2 before after

	shift 2
	before=$(figures "$name")
	"$@" >step.out 2>&1 || because "$text: $(tail -n 1 step.out)" || return 1
	settles
	after=$(figures "$name")
	echo "$before $after" | awk -v name="$name" -v text="$text" '{
		printf "%-8s %-34s %8d Set(MFT) %8d Set() %8d ms CPU\n", name, text, $4 - $1, $5 - $2, $6 - $3 }'
}

measure() {
	local name=$1

	start_weftsim "$spec" || return 1
	if [ "$name" = weftd ]; then
		start_weftd weftd "$host" || return 1
		wait_for 120 is_up weftd || because "weftd has no subnet" || return 1
	else
		start_opensm opensm "$host" || return 1
		wait_for 120 matches 'SUBNET UP' opensm.log || because "OpenSM has no subnet" || return 1
	fi
	wait_for 60 ask_for_hosts || because "$name tells no hosts" || return 1
	settles
	step "$name" "$groups groups of $members" on "$client" "$join" hosts.txt 0 "$groups" "$members" &&
		step "$name" "one more join" on "$client" "$join" hosts.txt $((groups / 2)) 1 $((members + 1)) "$members" &&
		step "$name" "one cable lost" "$BUILD/weftsim" "do" "link down $leaf $((radix / 2 + 1))"
	stop "$name"
	stop_fabric
}

for manager in $managers; do
	measure "$manager" || exit 1
done
