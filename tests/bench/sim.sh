#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Duration of simulations of tests/sim: the hour of flaps, and runs of the standard scenario, each on one processor. Run
# by scripts/bench.
set -u

run=$BUILD/tests/sim/sim_run
last=$([ -n "${QUICK:-}" ] && echo 20 || echo 200)

# timed ARGUMENT...: sets $ms to the real time of one call and $said to its last line.
timed() {
	local began
	began=$(date +%s%3N)
	said=$("$run" "$@" | tail -n 1)
	ms=$(($(date +%s%3N) - began))
}

timed --scenario hour-of-flaps
printf 'a simulated hour of 648 hosts, a flap every 20 s\t%d.%02d s\t%s\n' $((ms / 1000)) $((ms % 1000 / 10)) "$said"
timed --scenario 'standard-*' --seeds "1-$last"
printf 'runs of the standard scenario\t%d /s\t%s\n' $((2 * last * 1000 / ms)) "$said"
