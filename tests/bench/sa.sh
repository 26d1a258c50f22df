#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The cost of a path record for weftd and OpenSM. The same program requests from both paths between random hosts, with
# 64 requests under way, on a weftsim each. CPU time of the manager is the kernel's count. Requests by LID and by GID
# take turns, and the median of all rounds counts: a manager that finds fewer requests waiting when it wakes up pays
# more for each. Then the same once more during continuous heavy sweeps, for the response time. Simulator, manager and
# client share the processors of the machine. With QUICK a smaller fabric and fewer requests.
#
#	sa.sh [SPEC [REQUESTS]]
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

spec=fattree:radix=36,levels=2 requests=100000 rounds=5 # 648 hosts
[ -z "${QUICK:-}" ] || spec=fattree:radix=24,levels=2 requests=50000 rounds=3
spec=${1:-$spec} requests=${2:-$requests}
load=$BUILD/tests/bench/sa_load

# `weftsim run` becomes the process of the manager; all of its threads count.
cpu_us() {
	cat /proc/"${pids[$1]}"/task/*/schedstat | awk '{ ns += $1 } END { printf "%d\n", ns / 1000 }'
}

# ask_for_hosts: a LID and a GUID of each adapter's port, from the SA.
ask_for_hosts() {
	look nodes.txt "$client" saquery NR || return 1
	awk '/lid\.+/ { sub(/.*\.\.+/, ""); lid = $1 } /node_type\.+/ { host = /Channel/ }
		/port_guid\.+/ { sub(/.*\.\.+/, ""); if (host) print lid, $1 }' nodes.txt >hosts.txt
	[ -s hosts.txt ]
}

opensm_is_up() {
	matches 'SUBNET UP' opensm.log
}

start_manager() {
	client=$("$BUILD/weftsim" topology "$spec" | sed -nE 's/^Ca.*"(host-0*2)".*#.*/\1/p')
	if [ "$1" = weftd ]; then
		start_weftd weftd "${client/2/1}" -o readback_interval=0 && wait_for 60 is_up weftd
	else
		start_opensm opensm "${client/2/1}" -R minhop && wait_for 120 opensm_is_up
	fi
}

# Heavy sweeps until the file is removed.
sweeps_of() {
	while [ -e sweeping ]; do
		if [ "$1" = weftd ]; then
			ctl weftd sweep heavy >/dev/null 2>&1
		else
			kill -HUP "${pids[opensm]}"
			sleep 0.2
		fi
	done
}

# asked NAME WHAT [lid]: writes the output of sa_load to NAME.WHAT, and microseconds for each record to NAME.WHAT.cpu.
asked() {
	local name=$1 what=$2 before

	shift 2
	before=$(cpu_us "$name")
	on "$client" "$load" hosts.txt "$requests" 64 "$@" >"$name.$what" 2>load.err ||
		because "sa_load: $(tail -n 1 load.err) $(cat "$name.$what")" || return 1
	echo "$before $(cpu_us "$name") $requests" | awk '{ printf "%.2f\n", ($2 - $1) / $3 }' >"$name.$what.cpu"
}

# median FILE...: of each column.
median() {
	awk '{ for (i = 1; i <= NF; i++) column[i] = column[i] " " $i }
		END { for (i = 1; i <= NF; i++) {
			n = split(substr(column[i], 2), value, " ")
			for (a = 1; a <= n; a++)
				for (b = a + 1; b <= n; b++)
					if (value[b] + 0 < value[a] + 0) { t = value[a]; value[a] = value[b]; value[b] = t }
			printf "%s%s", value[int((n + 1) / 2)], i < NF ? " " : "\n" } }' "$@"
}

measure() {
	local name=$1 round

	start_weftsim "$spec" || return 1
	start_manager "$name" || because "$name has no subnet: $(tail -n 1 "$name.log")" || return 1
	wait_for 30 ask_for_hosts || because "$name tells no nodes" || return 1
	on "$client" "$load" hosts.txt 5000 >warm.out 2>&1 # what is worked out once
	for ((round = 0; round < rounds; round++)); do
		asked "$name" lid.$round lid && asked "$name" calm.$round || return 1
	done
	median "$name".lid.?.cpu >"$name.lid.cpu"
	median "$name".calm.?.cpu >"$name.calm.cpu"
	median "$name".calm.? >"$name.calm"
	touch sweeping
	sweeps_of "$name" &
	on "$client" "$load" hosts.txt "$requests" >"$name.swept" 2>load.err
	rm sweeping
	wait $!
	stop "$name"
	stop_fabric
}

row() { # WHAT FIGURE-OF-WEFTD FIGURE-OF-OPENSM UNIT
	awk -v what="$1" -v a="$2" -v b="$3" -v unit="$4" 'BEGIN {
		printf "%s\t%s%s\topensm %s%s, ratio %.2f\n", what, a, unit, b, unit, (b > 0 ? a / b : 0) }'
}

command -v opensm >/dev/null || fail "no opensm here (scripts/install-deps installs it)"
for manager in weftd opensm; do
	measure $manager || fail "$manager: $reason"
done
hosts=$(wc -l <hosts.txt)
read -r w_rate w_median w_99 _ _ <weftd.calm
read -r o_rate o_median o_99 _ _ <opensm.calm
row "$hosts hosts: a path record by GID, CPU time" "$(cat weftd.calm.cpu)" "$(cat opensm.calm.cpu)" " us"
row "$hosts hosts: a path record by LID, CPU time" "$(cat weftd.lid.cpu)" "$(cat opensm.lid.cpu)" " us"
row "$hosts hosts: path records, 64 under way" "$w_rate" "$o_rate" "/s"
row "$hosts hosts: time to an answer, median" "$w_median" "$o_median" " us"
row "$hosts hosts: time to an answer, 99 %" "$w_99" "$o_99" " us"
read -r _ w_median w_99 _ w_lost <weftd.swept
read -r _ o_median o_99 _ o_lost <opensm.swept
row "$hosts hosts: the median during heavy sweeps" "$w_median" "$o_median" " us"
row "$hosts hosts: 99 % during heavy sweeps" "$w_99" "$o_99" " us"
row "$hosts hosts: requests without an answer then" "$w_lost" "$o_lost" ""
finish
