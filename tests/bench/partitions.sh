#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# 4,000 partitions of 30 members on 3,456 hosts (QUICK: 400 on 648), by weftd and by OpenSM from the same file: the
# number of P_Key blocks that the bring-up writes, and the cost of one more member. For weftd that is a command, for
# OpenSM a changed file and SIGHUP. SMPs are weftsim's count, times are those of this machine, and CPU time is the
# daemon's. One member more or less changes two tables: of the adapter and of its switch port. Get(PortInfo) is the
# check of the manager's own port, twice a second.
#
# Without a file, the first partition starts enforcement at all host ports, and the removal of the last partition ends
# it. Measured is the time of the command until its answer, and until the fabric is in a steady state: once directly
# after the bring-up, and once when readback has read the tables of the switch ports. The lower bound for so many SMPs
# is the cost in a program that does nothing else (umad_rate).
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

if ! command -v opensm >/dev/null; then
	echo "partitions: no opensm here (scripts/install-deps installs it)" >&2
	exit 1
fi
spec=fattree:radix=24,levels=3 partitions=4000
[ -z "${QUICK:-}" ] || spec=fattree:radix=36,levels=2 partitions=400

make_file() {
	"$BUILD/weftsim" topology "$spec" | awk -v partitions="$partitions" '
		/^\[1\]\(/ { match($0, /\([0-9a-f]+\)/); guid[n++] = sprintf("0x%016s", substr($0, RSTART + 1, RLENGTH - 2)); gsub(/ /, "0", guid[n - 1]) }
		END {
			srand(1)
			print "Default=0x7fff, ipoib: ALL=limited, SELF=full;"
			for (p = 1; p <= partitions; p++) {
				printf "p%d=0x%x:", p, p
				for (m = 0; m < 30; m++)
					printf "%s %s=full", m ? "," : "", guid[int(rand() * n)]
				print ";"
			}
			print guid[int(n / 2)] >"member"
		}' >many.conf
}

# smps [P]: SMPs at agents since weftsim's count was reset; P: only Set(P_KeyTable).
smps() {
	"$BUILD/weftsim" "do" stats | awk -v keys="${1:-}" '
		/^SMPs at agents/ { smps = 1; next } !/^ / { smps = 0 }
		smps && (keys == "" || $1 == "P_KeyTable") { sum += (keys == "" ? $2 : 0) + $3 }
		END { print sum + 0 }'
}

reset_smps() {
	"$BUILD/weftsim" "do" 'stats reset' >/dev/null
}

# The scheduler's count, of all threads.
cpu_ms() {
	cat "/proc/${pids[$1]}"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.2f\n", ns / 1e6 }'
}

# what: SMPs by attribute since the count was reset, as "2 Set(P_KeyTable)".
what() {
	"$BUILD/weftsim" "do" stats | awk '
		/^SMPs at agents/ { smps = 1; next } !/^ / { smps = 0 }
		smps && $2 > 0 { printf "%s%d Get(%s)", n++ ? ", " : "", $2, $1 }
		smps && $3 > 0 { printf "%s%d Set(%s)", n++ ? ", " : "", $3, $1 }'
}

now_ms() {
	date +%s%3N
}

# blocks_wanted: of the tables of end ports, 32 keys each, with the default key and those of the file.
blocks_wanted() {
	grep -oE '0x[0-9a-f]{16}' many.conf | sort | uniq -c | awk '{ n += int($1 / 32) + 1 } END { print n + 0 }'
}

figure() {
	printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}"
}

# Except checks of the manager's own port, and readback's round of a day.
is_quiet() {
	local before

	before=$(smps)
	sleep 2
	[ $(($(smps) - before)) -lt 50 ]
}

weftd_figures() {
	local began cpu took

	start_weftsim "$spec" || return 1
	reset_smps
	start_weftd w host-0001 -o "partition_config_file=\"$PWD/many.conf\"" -o sweep_interval=0 -o readback_interval=0 &&
		wait_for 120 is_up w || because "weftd: $(tail -n 1 w.log)" || return 1
	wait_for 60 is_quiet
	figure "weftd: Set(P_KeyTable) at the start" "$(smps P)" "end ports and the switches' ports before them; $(blocks_wanted) blocks at end ports"
	ctl w partition add 0x7000 >/dev/null
	for command in "member add" "member remove" "member add" "member remove"; do
		reset_smps
		cpu=$(cpu_ms w) began=$(now_ms)
		# shellcheck disable=SC2086 # two words
		ctl w partition $command 0x7000 "$(cat member)" >/dev/null || because "$command failed" || return 1
		took=$(($(now_ms) - began)) cpu=$(awk "BEGIN { print $(cpu_ms w) - $cpu }")
		figure "weftd: one $command" "$(smps) SMPs" "$(what); answered after $took ms, $cpu ms of processor"
	done
	stop w >/dev/null
	stop_fabric
}

slow_turns() {
	status "$1" '$_->{slow_turns}'
}

# after DAEMON WHAT COMMAND: its cost until the answer, and until the fabric is in a steady state.
after() {
	local began cpu took turns

	reset_smps
	turns=$(slow_turns "$1")
	cpu=$(cpu_ms "$1") began=$(now_ms)
	# shellcheck disable=SC2086 # two words
	ctl "$1" partition $3 >/dev/null || because "$3 failed" || return 1
	took="answered after $(($(now_ms) - began)) ms, $(awk "BEGIN { print $(cpu_ms "$1") - $cpu }") ms of processor"
	sleep 2
	took+="; steady after $(awk "BEGIN { print $(cpu_ms "$1") - $cpu }") ms"
	figure "weftd: $2, $3" "$(smps) SMPs" \
		"$(what); $took; $(($(slow_turns "$1") - turns)) turns of more than 2 ms"
}

# A client that only sends SMPs and receives the answers.
floor_figure() {
	local round_trips=200000

	on host-0002 /usr/bin/time -q -o floor -f '%U %S' "$BUILD/tests/bench/umad_rate" "$round_trips" 128 >/dev/null ||
		because "umad_rate failed" || return 1
	figure "transport alone" "$(awk -v n="$round_trips" '{ printf "%.2f us", ($1 + $2) * 1e6 / n }' floor)" \
		"of processor for each SMP and its answer, 128 under way"
}

first_figures() {
	local command

	start_weftsim "$spec" || return 1
	start_weftd f host-0001 -o 'partition_config_file=""' -o sweep_interval=0 -o readback_interval=0 &&
		wait_for 120 is_up f || because "weftd: $(tail -n 1 f.log)" || return 1
	wait_for 60 is_quiet
	after f "without a file, at once" "add 0x5" || return 1
	stop f >/dev/null
	start_weftd g host-0001 -o 'partition_config_file=""' -o sweep_interval=0 -o readback_interval=86400 &&
		wait_for 120 is_up g || because "weftd: $(tail -n 1 g.log)" || return 1
	wait_for 60 is_quiet
	for command in "add 0x5" "add 0x6" "remove 0x6" "remove 0x5"; do
		after g "without a file, later" "$command" || return 1
	done
	stop g >/dev/null
	floor_figure || return 1
	stop_fabric
}

opensm_figures() {
	local began cpu

	start_weftsim "$spec" || return 1
	reset_smps
	start_opensm o host-0001 -P "$PWD/many.conf" -s 0 || return 1
	wait_for 300 matches 'SUBNET UP' o.log || because "opensm: $(tail -n 1 o.log)" || return 1
	wait_for 60 is_quiet
	figure "opensm: Set(P_KeyTable) at the start" "$(smps P)"
	reset_smps
	printf 'more=0x7000: %s=full;\n' "$(cat member)" >>many.conf
	: >o.mark
	cpu=$(cpu_ms o) began=$(now_ms)
	kill -HUP "${pids[o]}"
	sleep 0.2
	wait_for 120 is_quiet
	figure "opensm: one member more" "$(smps) SMPs" "$(what); steady after $(($(now_ms) - began - 2000)) ms, $(awk "BEGIN { print $(cpu_ms o) - $cpu }") ms of processor"
	stop o >/dev/null
	stop_fabric
}

make_file
for who in weftd first opensm; do
	"${who}_figures" || { echo "partitions: $who: $reason" >&2 && failures=1; }
done
finish
