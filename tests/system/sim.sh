#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Whole managers in virtual time on a fabric of software agents: each single case of tests/sim once. The
# random scenarios (standard, hour-of-flaps) run only when they are named; see HACKING.md.
set -u

run=$BUILD/tests/sim/sim_run
for name in $("$run" --list); do
	case $name in
	standard* | hour*) continue ;;
	esac
	"$run" --scenario "$name" | grep -E '^(ok|not ok) ' || echo "not ok $name: it says nothing"
done
