#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Tests of the tests: the results of scripts/run-tests for small trees whose scripts fail, skip or print nothing, and
# those of tests/system/sim.sh for programs in place of sim_run, some of which crash.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# script FILE LINE...: writes an executable script of these lines.
script() {
	local file=$1

	shift
	mkdir -p "${file%/*}"
	printf '%s\n' '#!/bin/bash' "$@" >"$file" && chmod +x "$file"
}

# counts_as STATUS COUNTS LINE OTHERS: the result of run-tests for a tree in which one test is LINE, and OTHERS the
# three further tests.
counts_as() {
	local status=$1 counts=$2 line=$3 others=$4 name

	rm -rf tree && mkdir -p tree/scripts && cp "$root/scripts/run-tests" tree/scripts/
	for name in scripts/check-layers scripts/mutants tests/system/other.sh; do
		script "tree/$name" "$others"
	done
	script tree/tests/system/one.sh "$line"
	(cd tree && env -u SANITIZE scripts/run-tests build >../counted.txt 2>&1)
	equal "the status" $? "$status" && equal "the count" "$(tail -n 1 counted.txt)" "$counts"
}

# plays COUNTS LINE...: how many lines of sim.sh begin with "ok" and with "not ok", for a sim_run that is a script of
# these lines.
plays() {
	local want=$1 got

	shift
	script fake/tests/sim/sim_run "$@"
	got=$(BUILD=$work/fake "$root/tests/system/sim.sh" play known --known 2>/dev/null)
	equal "the number of ok and not ok" "$(grep -c '^ok ' <<<"$got") $(grep -c '^not ok ' <<<"$got")" "$want"
}

plays_alone() {
	"$BUILD/tests/sim/sim_run" --scenario "$1" >alone.txt
	equal "what $1 plays" "$(sed -n 's/^ok \([^ ]*\) seed .*/\1/p' alone.txt | xargs)" "$2"
}

check "a test that passes" counts_as 0 '4 passed, 0 failed, 0 skipped' 'echo ok a' 'echo ok b'
check "a test that fails" counts_as 1 '3 passed, 1 failed, 0 skipped' 'echo not ok a: why' 'echo ok b'
check "a test that says nothing" counts_as 1 '3 passed, 1 failed, 0 skipped' 'true' 'echo ok b'
check "a test that crashes after it passed" counts_as 1 '4 passed, 1 failed, 0 skipped' 'echo ok a; kill -SEGV $$' 'echo ok b'
check "nothing but skips" counts_as 1 '0 passed, 4 failed, 0 skipped' 'echo skip a: no opera here' 'echo skip b: for fun'
check "a skip for a reason of its own" counts_as 1 '3 passed, 1 failed, 0 skipped' 'echo skip a: today is Monday' 'echo ok b'
check "a skip for sanitizers where there are none" counts_as 1 '3 passed, 1 failed, 0 skipped' \
	'echo skip a: the preload library and sanitizers exclude each other' 'echo ok b'
check "a skip for a folder that is there" counts_as 1 '3 passed, 1 failed, 0 skipped' 'echo skip a: no folder /tmp' 'echo ok b'
check "a skip with an excuse" counts_as 0 '3 passed, 0 failed, 1 skipped' 'echo skip a: no folder /nonexistent' 'echo ok b'
check "nothing but skips with an excuse" counts_as 1 '0 passed, 0 failed, 4 skipped' \
	'echo skip a: no folder /nonexistent' 'echo skip b: no folder /nonexistent'

check "a simulation that passes" plays '2 0' 'echo ok a; echo ok b; echo 2 passed, 0 failed, 0 skipped'
check "a simulation that fails" plays '1 1' 'echo ok a; echo not ok b; echo 1 passed, 1 failed, 0 skipped; exit 1'
check "a simulation that crashes after two runs" plays '2 1' 'echo ok a; echo ok b; kill -SEGV $$'
check "a simulation that ends early" plays '2 1' 'echo ok a; echo ok b; exit 0'
check "a simulation that says nothing" plays '0 1' 'exit 0'
check "a simulation that counts wrongly" plays '1 1' 'echo ok a; echo 2 passed, 0 failed, 0 skipped'
check "a simulation that fails without a word" plays '1 1' 'echo ok a; echo 1 passed, 0 failed, 0 skipped; exit 1'

check "one scenario" plays_alone link-lost link-lost
check "scenarios by a pattern" plays_alone 'halves-m*' halves-meet
finish
