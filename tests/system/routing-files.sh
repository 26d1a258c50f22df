#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Files for routing engines: read at the start and on SIGHUP; a bad file is refused with its line while the former file
# stays in force; missing GUIDs are logged; and tables are taken from a dump.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip routing-files: the preload library and sanitizers exclude each other"
	exit 0
fi
spec=fattree:radix=8,levels=2

routed_by() {
	has_status daemon '$_->{routing}{engine}, $_->{sweeping} ? 1 : 0' "$1 0"
}

still_up() {
	has_status daemon '$_->{state} =~ /^subnet up/ ? 1 : 0' 1
}

# says PATTERN: a line of the log since the last `mark`.
mark() { seen=$(wc -l <daemon.log); }
says() { tail -n "+$((seen + 1))" daemon.log | grep -qE -- "$1"; }

hang_up() {
	mark
	kill -HUP "${pids[daemon]}"
	wait_for 20 says "$1" || because "it does not say \"$1\": $(tail -n 3 daemon.log)"
}

start_with_roots() {
	"$BUILD/weftsim" topology "$spec" >net
	# Spines are the switches that are cabled to switches only.
	awk '/^switchguid/ { split($0, part, /[=(]/); guid = part[2]; hosts = 0; spine = 0 }
		/^Switch/ { spine = 1 } /^\[.*"H-|^\[.*"host/ { hosts++ }
		/^$/ { if (spine && !hosts) print guid; spine = 0 }' net | sort -u >roots
	[ -s roots ] || because "no spines in the net" || return 1
	echo 0x00000000deadbeef >>roots
	printf '%s\n' "root_guid_file = \"$work/roots\";" 'routing = ["ftree"];' >weftd.conf
	conf=$work/weftd.conf
	seen=0
	start_weftd daemon host-0001 && wait_for 20 is_up daemon || because "$(tail -n 1 daemon.log)" || return 1
	wait_for 20 routed_by ftree || because "routes are by $(status daemon '$_->{routing}{engine}')"
}

names_the_absent() {
	says "root_guid_file: 1 of $(wc -l <roots) GUIDs are no switch of this fabric: 0x00000000deadbeef\$" ||
		because "$(grep -a GUID daemon.log)"
}

# No part of it is used: with 0x1 alone ftree would refuse.
keeps_on_bad_file() {
	printf '0x1\nspine-1\n' >roots
	hang_up "not reloaded, nothing has changed: $work/roots:2: a GUID .*, not \"spine-1\"" || return 1
	"$BUILD/weftctl" -s daemon.run/control.sock reroute >/dev/null 2>&1
	routed_by ftree && still_up || because "it is $(status daemon '$_->{role}, $_->{state}')"
}

keeps_without_file() {
	rm roots
	hang_up "configuration not reloaded, nothing has changed: root_guid_file: $work/roots: No such file" || return 1
	still_up || because "it is $(status daemon '$_->{role}, $_->{state}')"
}

# With the former roots ftree would not refuse, so minhop would not be used.
takes_new_file() {
	printf '0x1\n0x2\n' >roots
	printf '%s\n' "root_guid_file = \"$work/roots\";" 'routing = ["ftree", "minhop"];' >weftd.conf
	hang_up 'nothing has changed: routing: the routes of minhop have credit loops' || return 1
	printf '%s\n' "root_guid_file = \"$work/roots\";" 'routing = ["ftree", "dnup"];' >weftd.conf
	hang_up 'ftree refused: none of the 2 roots of the root GUID file' || return 1
	wait_for 20 routed_by dnup || because "routes are by $(status daemon '$_->{routing}{engine}')"
}

refused_at_start() {
	printf '0x1 0x2\n' >roots
	weftd refused host-0002 --check-config
	equal "the exit status" $? 1 || return 1
	matches 'roots:1: one GUID a line expected, not "0x2"' refused.log || because "$(cat refused.log)"
}

# The next manager takes the tables of the former manager from a dump of the switches.
names_what_waits() {
	printf 'lmc = 1;\n' >>weftd.conf
	hang_up 'lmc takes effect after a restart' || return 1
	equal "LIDs that collided" "$(status daemon '$_->{anomalies}{lid_conflicts}')" 0
}

takes_tables() {
	stop daemon
	look tables host-0001 dump_lfts || because "dump_lfts: $(tail -n 1 tables.err)" || return 1
	printf '%s\n' "lfts_file = \"$work/tables\";" 'routing = ["file"];' >weftd.conf
	start_weftd daemon host-0001 && wait_for 20 is_up daemon || because "$(tail -n 1 daemon.log)" || return 1
	routed_by file || because "routes are by $(status daemon '$_->{routing}{engine}')" || return 1
	look after host-0001 dump_lfts && cmp -s <(sort tables) <(sort after) || because "the tables differ"
}

start_weftsim "$spec" || { echo "not ok routing-files: $reason" && exit 1; }
check "ftree with a root GUID file" start_with_roots || finish
check "a GUID that is not there is named" names_the_absent
check "a bad file on SIGHUP: refused with its line, the old one stays" keeps_on_bad_file
check "a file that has gone: refused, the old one stays" keeps_without_file
check "another file on SIGHUP: the engine refuses, the chain goes on" takes_new_file
check "an option that needs a restart is named" names_what_waits
check "--check-config reads the files too" refused_at_start
check "the engine file takes tables that were read back" takes_tables
finish
