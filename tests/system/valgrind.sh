#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftd under valgrind, once and as a daemon with a fault, requests to its SA and all its commands: no errors except
# those of ibsim's own library (valgrind.supp), and no leak.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip valgrind: the programs are instrumented already"
	exit 0
fi
if ! command -v valgrind >/dev/null; then
	echo "skip valgrind: no valgrind here"
	exit 0
fi

error_status=99
# watched NAME: the words before weftd.
watched() {
	runner=(valgrind --quiet --log-file="$work/$1.valgrind.log" "--error-exitcode=$error_status"
		--suppressions="$root/tests/system/valgrind.supp" --leak-check=full
		--errors-for-leak-kinds=definite --track-origins=yes --num-callers=30)
}

once() {
	watched once
	weftd once host-0001 --once || because "status $?"
}

daemon_runs() {
	watched daemon
	start_weftd daemon host-0001 -o sweep_interval=1 && wait_for 60 is_up daemon ||
		because "$(tail -n 1 daemon.log)"
}

has_links() {
	has_status daemon '$_->{counts}{links}, $_->{sweeping} ? 1 : 0, $_->{state}' "$1 0 subnet up"
}

# fault COMMAND LINKS
fault() {
	console "$1"
	wait_for 60 has_links "$2" || because "after $1: $(status daemon '$_->{counts}{links}, $_->{state}')"
}

meets_faults() {
	fault 'Unlink "leaf-02"[3]' 15 && fault 'ReLink "leaf-02"[3]' 16 &&
		fault 'Unlink "host-0008"[1]' 15 && fault 'ReLink "host-0008"[1]' 16 &&
		fault 'Clear "leaf-03"' 12 && fault 'ReLink "leaf-03"' 16
}

answers_questions() {
	local question

	for question in NR PIR SMIR LR CPI "-p --src-to-dst 64:66" \
		"-p --sgid-to-dgid fe80::0277:6566:0100:0101-fe80::0277:6566:0100:0301"; do
		# shellcheck disable=SC2086 # words are meant
		look answer.txt host-0003 saquery $question ||
			because "saquery $question: $(tail -n 1 answer.txt.err)" || return 1
	done
	look answer.txt host-0003 saquery MCMR && because "saquery MCMR has an answer" && return 1
	look answer.txt host-0003 sminfo || because "sminfo: $(tail -n 1 answer.txt.err)"
}

obeys_commands() {
	local command

	for command in status "node list" "link list" "service list" "inform list" "multicast list" "multicast show ff12:401b:ffff::ffff:ffff" "route show host-0001 host-0008" "sweep light" \
		"sweep heavy"; do
		# shellcheck disable=SC2086 # words are meant
		ctl daemon $command >answer.json || because "weftctl $command failed" || return 1
	done
	ctl daemon route show host-0001 nobody >answer.json 2>&1 && because "a missing host has a route" && return 1
	kill -HUP "${pids[daemon]}" && wait_for 20 matches 'configuration reloaded' daemon.log ||
		because "it does not reload its configuration"
}

ends() {
	stop daemon || because "status $? ($error_status: valgrind found something)"
}

start_fabric fattree:radix=4,levels=2 || exit 1
check "weftd --once: no error, no leak" once
if check "a daemon" daemon_runs; then
	check "faults" meets_faults
	check "questions to the subnet administrator" answers_questions
	check "commands" obeys_commands
	check "the daemon's end: no error, no leak" ends
fi
finish
