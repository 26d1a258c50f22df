#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A reload with two dangers, a partition file that takes P_Keys from many ports and an engine with credit loops: one
# refusal lists both, and --force accepts and reports both. An engine whose new files make it refuse counts, too. Requests
# that come at once are answered in turn.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip reload: the preload library and sanitizers exclude each other"
	exit 0
fi
cut='parts.conf: takes P_Keys from [0-9]+ ports .*among them 0x0007'
loops='routing: the routes of minhop have credit loops'

# options ENGINES [LINE]
options() {
	printf 'routing = [%s];\npartition_config_file = "%s";\n%s\n' "$1" "$PWD/parts.conf" "${2:-}" >weftd.conf
}

partitions() {
	{ echo 'Default=0x7fff: ALL=full;' && cat; } >next.conf && mv next.conf parts.conf
}

# says STATUS PATTERN COMMAND...
says() {
	local wanted=$1 pattern=$2

	shift 2
	"$BUILD/weftctl" -s one.run/control.sock "$@" >said.txt 2>&1
	equal "the exit status of $*" $? "$wanted" && matches "$pattern" said.txt || because "$* says: $(cat said.txt)"
}

# The rest of the test needs an engine without loops in force.
manager() {
	echo 'green=0x7: ALL=full;' | partitions
	options '"updn"'
	conf=$PWD/weftd.conf
	start_weftd one host-0001 && wait_for 30 is_up one || because "$(tail -n 1 one.log)"
}

both() {
	: | partitions
	options '"minhop"'
	says 1 "2 dangers: .*$cut.*; and $loops.*accept both with weftctl config reload --force" config reload || return 1
	says 1 "a reload without --force would refuse it: 2 dangers: .*$cut.*; and $loops" config check || return 1
	equal "the engine in force" "$(status one '$_->{routing}{engine}')" updn || return 1
	says 0 "^  accepted: .*$cut" config reload --force && matches "^  accepted: $loops" said.txt || because "it says: $(cat said.txt)" || return 1
	matches "WARNING weftd: config reload --force accepts: $loops" one.log && matches "WARNING weftd: config reload --force accepts: .*$cut" one.log ||
		because "the log does not name both" || return 1
	wait_for 20 has_status one '$_->{routing}{engine}' minhop || because "the engine is $(status one '$_->{routing}{engine}')"
}

# Nothing was accepted where nothing is dangerous.
none() {
	options '"updn"'
	says 0 '^configuration read again, and in force$' config reload --force && ! matches accepted said.txt || because "it says: $(cat said.txt)" || return 1
	wait_for 20 has_status one '$_->{routing}{engine}' updn || because "the engine is $(status one '$_->{routing}{engine}')"
}

# ftree refuses a torus, so minhop would be used; with the roots, updn is in force.
new_files() {
	echo 0xdead >roots
	options '"file", "updn"' "lfts_file = \"$PWD/lfts\";"
	says 0 'opensm.fdbs' route dump --format opensm dumped || return 1
	options '"minhop"' && says 0 'accepted' config reload --force && wait_for 20 has_status one '$_->{routing}{engine}' minhop || return 1
	rm -rf dumped && says 0 'opensm.fdbs' route dump --format opensm dumped && cp dumped/opensm.fdbs lfts || return 1
	options '"file", "updn"' && says 0 'in force' config reload && wait_for 20 has_status one '$_->{routing}{engine}' updn || return 1
	options '"file", "updn"' "lfts_file = \"$PWD/lfts\";"
	says 1 'routing: the routes of file have credit loops' config reload
}

at_once() {
	local i jobs=()

	options '"updn"'
	for i in 1 2 3 4; do
		"$BUILD/weftctl" -s one.run/control.sock config reload >"once.$i" 2>&1 &
		jobs+=($!)
		kill -HUP "${pids[one]}"
	done
	for i in 1 2 3 4; do
		wait "${jobs[i - 1]}" || because "request $i: $(cat "once.$i")" || return 1
	done
}

check "a fabric" start_fabric torus:dims=4x4,hosts=1 || finish
check "a manager" manager || finish
check "one refusal lists both dangers, and --force accepts both" both
check "--force without dangers accepts none" none
check "the new files of engines are judged" new_files
check "reloads at once are answered in turn" at_once
check "the manager ends" stop one
finish
