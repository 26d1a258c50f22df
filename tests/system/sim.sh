#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Whole managers in virtual time on a fabric of software agents: each single case of tests/sim once, the known seeds,
# and in both forms 100 seeds of the standard scenario, 40 with tenants, 10 with habits of real devices, and 10 of
# failovers. The seeds follow from the commit, so that each commit tests other seeds and all runs of one commit test the
# same. In a tree without git they are the first seeds. SIM_OPTIONS are given to every run. `make soak` plays thousands.
# One run per processor plays at a time: their time is virtual, so they do not affect each other.
set -u

run=$BUILD/tests/sim/sim_run
read -ra options <<<"${SIM_OPTIONS:-}"

# play NAME ARGUMENT...: the lines of one call of sim_run, and a failure if it ended early: its count must equal its
# lines, and its exit status must agree.
play() {
	local name=$1 statuses

	shift
	"$run" "$@" "${options[@]}" | awk '
		/^(ok|not ok) / { print; fflush(); $1 == "ok" ? passed++ : failed++ }
		{ last = $0 }
		END { exit last != passed + 0 " passed, " failed + 0 " failed, 0 skipped" || !NR ? 99 : failed > 0 }'
	statuses=("${PIPESTATUS[@]}")
	[ "${statuses[0]}" -eq "${statuses[1]}" ] ||
		echo "not ok $name: sim_run ended early, with status ${statuses[0]}"
}

# A failure is replayed to the same event, with the same digest, and fails there again.
replays() {
	local event=4321 failure replay again

	failure=$("$run" --scenario standard-other --seed 7 --fail-at $event | grep '^not ok ')
	[[ $failure =~ "event $event: ".*"digest "([0-9a-f]+)"; replay: "(.*) ]] ||
		{ echo "not ok replay: no failure at event $event: $failure" && return; }
	read -ra replay <<<"${BASH_REMATCH[2]}"
	again=$("${replay[@]}" 2>/dev/null | tail -n 2)
	[[ $again == *"$event events, digest ${BASH_REMATCH[1]}"* ]] ||
		{ echo "not ok replay: ${replay[*]} ends elsewhere: $again" && return; }
	again=$("${replay[@]}" --fail-at $event 2>/dev/null | grep '^not ok ')
	[ "$again" = "$failure" ] || { echo "not ok replay: the failure is not the same: $again" && return; }
	echo "ok replay: the same event, digest and failure"
}

# Prints the first seed: the commit's first digits as a number.
first_seed() {
	local commit

	commit=$(git rev-parse --verify --quiet HEAD 2>/dev/null) || commit=1
	echo $((16#${commit:0:7}))
}

# seeds SCENARIO FIRST COUNT: one line for all of them, in both forms. Failed seeds have lines of their own, with the
# command that replays them.
seeds() {
	local scenario=$1 first=$2 last=$(($2 + $3 - 1)) out

	out=$("$run" --scenario "$scenario*" --seeds "$first-$last" "${options[@]}")
	grep '^not ok ' <<<"$out"
	if grep -q "^$((2 * $3)) passed, 0 failed" <<<"$out"; then
		echo "ok $scenario scenario, seeds $first to $last in both forms"
	elif ! grep -q '^not ok ' <<<"$out"; then
		echo "not ok $scenario scenario, seeds $first to $last: it ended early"
	fi
}

# plays: a line for each call of the functions above, the longest first. Instrumented programs are ten
# times slower and play the known seeds only.
plays() {
	local name

	[ -z "${SANITIZE:-}" ] || { echo play known-seeds --known && return; }
	echo seeds standard "$(first_seed)" 100
	echo play bring-up-11664 --scenario bring-up-11664
	echo seeds tenants "$(first_seed)" 40
	echo play known-seeds --known
	for name in $("$run" --list); do
		case $name in
		standard-* | tenants-* | habits-* | failover | failover-* | bring-up-11664) continue ;;
		esac
		echo play "$name" --scenario "$name"
	done
	echo seeds habits "$(first_seed)" 10
	echo replays
	echo seeds failover "$(first_seed)" 10
}

if [ $# -gt 0 ]; then
	"$@"
	exit
fi
plays | xargs -L 1 -P "$(nproc)" "$0"
