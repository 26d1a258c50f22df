#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The effect on other hosts when one host floods the manager. The attacker sends MADs of one kind at a time, 30,000 in a
# second, while another host requests a path record every 2 ms. For each kind it prints the response times and lost
# requests of the victim, the rate of the attacker, weftd's CPU time as a share of one processor, and its memory:
# before, the maximum, and after the attack. Each kind has a weftd of its own, on the same fabric. The first lines are
# without an attack. "Between hosts" is the response time between other hosts, without weftd: the share of the machine
# and the simulator. A port needs 5 us to send a MAD, else the simulator would pass a long RMPP message within one turn.
# With QUICK the fabric is smaller and the time shorter; tests/system/attacks-flood.sh runs that.
#
# Each kind is judged. No request of the victim may be lost or refused. Within 15 s the memory must be at most 110 % of
# before, in one of three runs: a heap that by chance could not shrink differs in the next run, and a leak stays.
# Response times and CPU time depend on the load of the machine, so they are not judged. A remark begins with MISSED if
# the p99 is 50 ms or more, or the CPU time more than 50 %.
#
#	attacks.sh [KIND]...	kinds as of sa_flood --list
# shellcheck source=tests/system/lib.sh
# shellcheck disable=SC2317 # wait_for and check call functions
. "$(dirname "$0")/../system/lib.sh"

spec=fattree:radix=36,levels=2 seconds=8 flood_seconds=9 lead_seconds=0.5 warm_seconds=1 rate=30000 every_us=2000 # 648 hosts
[ -z "${QUICK:-}" ] || spec=fattree:radix=24,levels=2 seconds=1 flood_seconds=1.4 lead_seconds=0.2 warm_seconds=0.2
flood=$BUILD/tests/bench/sa_flood
probe=$BUILD/tests/bench/sa_probe
mapfile -t names < <("$BUILD/weftsim" topology "$spec" | awk -F '"' '/^(Hca|Ca)/ { print $2 }')
manager=${names[0]} attacker=${names[100]} asker=${names[200]} other=${names[250]}
mapfile -t kinds < <("$flood" --list)
[ $# -eq 0 ] || kinds=("$@")

cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/${pids[weftd]}/stat"
}

# memory VmRSS|VmHWM: KiB, without the rings of the simulator, which are shared memory.
memory() {
	awk -v name="$1:" '$1 == name { kib += $2 } $1 == "RssShmem:" { kib -= $2 }
		END { print kib }' "/proc/${pids[weftd]}/status"
}

memory_limit() {
	echo $((before * 110 / 100))
}

memory_is_back() {
	[ "$(memory VmRSS)" -le "$(memory_limit)" ]
}

# events_are_full: weftd keeps the last 10,000 events of each kind, and each join and leave adds up to 2.
events_are_full() {
	on "$asker" "$flood" "join and leave" hosts.txt 10000 1 >warm.out 2>&1
	[ "$("$BUILD/weftctl" -s weftd.run/control.sock events | grep -c ' multicast ')" -ge 10000 ]
}

start_manager() {
	rm -rf weftd.state
	start_weftd weftd "$manager" && wait_for 60 is_up weftd || because "no subnet: $(tail -n 1 weftd.log)" || return 1
	wait_for 30 ask_for_hosts || because "the SA tells no hosts" || return 1
	# Warms caches up. The list of events is full, and counters of ports were read, before memory is measured. Else an
	# attack seems to keep memory.
	"$BUILD/weftctl" -s weftd.run/control.sock perf sweep >warm.out 2>&1 || because "no counters: $(cat warm.out)" || return 1
	on "$asker" "$probe" hosts.txt 100 $warm_seconds >warm.out 2>&1
	wait_for 30 events_are_full || because "the list of events does not become full" || return 1
	sleep 0.5
}

# probed: output of sa_probe about the manager and about hosts, and the CPU time of the manager during this in ticks,
# into $answers, control.out and $ticks.
probed() {
	local from

	from=$(cpu_ticks)
	on "$other" "$probe" hosts.txt "$every_us" "$seconds" hosts >control.out 2>&1 &
	pids[control]=$!
	answers=$(on "$asker" "$probe" hosts.txt "$every_us" "$seconds" 2>probe.err) ||
		because "sa_probe: $(tail -n 1 probe.err)" || return 1
	ticks=$(($(cpu_ticks) - from))
	wait "${pids[control]}" || because "sa_probe: $(tail -n 1 control.out)" || return 1
	unset "pids[control]"
}

# measure KIND: "" is no attack. Sets the figures for report() and harmless().
measure() {
	start_manager || return 1
	before=$(memory VmRSS)
	echo 5 >"/proc/${pids[weftd]}/clear_refs" # VmHWM begins here
	echo '0 0' >flood.out
	if [ -n "$1" ]; then
		on "$attacker" "$flood" "$1" hosts.txt "$rate" "$flood_seconds" >flood.out 2>flood.err &
		pids[flood]=$!
		sleep $lead_seconds
	fi
	probed || return 1
	if [ -n "$1" ]; then
		wait "${pids[flood]}" || because "sa_flood: $(tail -n 1 flood.err)" || return 1
		unset "pids[flood]"
	fi
	peak=$(memory VmHWM)
	wait_for 15 memory_is_back
	after=$(memory VmRSS)
	read -r asked p50 p99 most refused lost <<<"$answers"
	read -r _ _ between _ <control.out
	read -r reached _ <flood.out
	stop weftd
}

measure_memory() {
	local run

	for run in 1 2 3; do
		measure "$1" || return 1
		[ "$lost" -eq 0 ] && [ "$refused" -eq 0 ] && [ "$after" -gt "$(memory_limit)" ] || return 0
		echo "# ${1:-no attack}, run $run: $after KiB afterwards, $before before"
	done
}

# report KIND
report() {
	[ -n "$1" ] || base_p99=$p99
	awk -v kind="${1:-no attack}" -v p50="$p50" -v p99="$p99" -v most="$most" -v asked="$asked" -v lost="$lost" \
		-v refused="$refused" -v between="$between" -v base="$base_p99" -v reached="$reached" -v seconds="$seconds" \
		-v cpu="$ticks" -v hz="$(getconf CLK_TCK)" -v before="$before" -v peak="$peak" -v after="$after" '
		function missed(yes) { return yes ? "MISSED; " : "" }
		BEGIN {
		printf "%s: p50, p99, maximum\t%.2f %.1f %.0f ms\t%sp99 %.1f times that without an attack; between hosts %.1f ms\n",
			kind, p50 / 1000, p99 / 1000, most / 1000, missed(p99 >= 50000), p99 / base, between / 1000
		printf "%s: requests lost, refused\t%d %d\tof %d\n", kind, lost, refused, asked
		printf "%s: CPU of weftd\t%.0f %%\t%sof one processor, the attacker sent %d MADs/s\n", kind,
			100 * cpu / hz / seconds, missed(2 * cpu > hz * seconds), reached
		printf "%s: memory before, peak, after\t%.1f %.1f %.1f MB\tafter to before %.2f\n", kind,
			before / 1024, peak / 1024, after / 1024, after / before }'
}

# harmless KIND: an attacker that hardly sent anything proves nothing.
harmless() {
	[ -z "$1" ] || [ "$reached" -ge $((rate / 30)) ] || because "the attacker sent $reached MADs/s only" || return 1
	[ "$asked" -gt 0 ] && [ "$lost" -eq 0 ] && [ "$refused" -eq 0 ] ||
		because "of $asked requests $lost are lost and $refused refused" || return 1
	[ "$after" -le "$(memory_limit)" ] || because "weftd has $after KiB afterwards, $before before"
}

start_weftsim "$spec" --send-us 5 || fail "$reason"
for kind in "" "${kinds[@]}"; do
	measure_memory "$kind" || fail "${kind:-no attack}: $reason"
	report "$kind"
	check "${kind:-no attack}: no request is lost or refused, memory is back" harmless "$kind"
done
finish
