#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# An administrator's names of nodes (node_name_map_name): weftctl shows and accepts them, the log and events have them,
# a reload changes them, errors in the file are reported; and the SA and ibnetdiscover show the names that nodes report.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip names: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

# guid_of NAME: the node GUID of one of the simulator's nodes.
guid_of() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 >net.txt
	awk -v name="\"$1\"" '/guid=/ { split($0, part, "[=x(]"); guid = part[3] }
		$3 == name { print "0x" substr("0000000000000000" guid, length(guid) + 1); exit }' net.txt
}

daemon_runs() {
	start_weftsim fattree:radix=4,levels=2 || return 1
	leaf=$(guid_of leaf-02) host=$(guid_of host-0003)
	[ -n "$leaf" ] && [ -n "$host" ] || because "the simulator names no GUIDs" || return 1
	printf '# names\n%s "row 2, rack 7"  # the second leaf\n%s storage é # and 2\n0x1234 "nobody"\n' \
		"$leaf" "$host" >names.map
	start_weftd daemon host-0001 -o "node_name_map_name=\"$work/names.map\"" || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

shown() {
	ctl daemon "$@" >shown.txt || because "weftctl $* fails"
}

names_are_shown() {
	shown node list || return 1
	equal "the leaf's name" "$(json "map { \$_->{description} } grep { \$_->{guid} eq '$leaf' } @{\$_}" <shown.txt)" \
		"row 2, rack 7" || return 1
	matches 'storage \\u00E9"' shown.txt && matches '"leaf-01"' shown.txt || because "the list: $(cat shown.txt)" || return 1
	shown link list && matches 'row 2, rack 7' shown.txt && ! matches 'leaf-02' shown.txt ||
		because "link list: $(grep -m 1 leaf-02 shown.txt)" || return 1
	shown topology export --format slurm && matches 'SwitchName=row' shown.txt || because "no name for SLURM"
}

names_are_taken() {
	shown route show host-0001 'storage é' && matches 'row 2, rack 7' shown.txt || because "no route: $(cat shown.txt)" || return 1
	shown port show 'row 2, rack 7' 1 && shown perf show 'row 2, rack 7' 1 || return 1
	! ctl daemon node show leaf-02 >shown.txt 2>&1 && matches 'no node \\?"leaf-02.*did you mean \\?"row 2, rack 7' shown.txt ||
		because "the other name: $(cat shown.txt)"
}

log_and_events() {
	"$BUILD/weftsim" "do" "link down leaf-02 3" >do.txt
	wait_for 10 matches '"row 2, rack 7" port 3' daemon.log || because "the log has no such name: $(tail -n 2 daemon.log)" || return 1
	shown events && matches 'link down: .*row 2, rack 7' shown.txt || because "no such event: $(tail -n 2 shown.txt)" || return 1
	"$BUILD/weftsim" "do" "link up leaf-02 3" >do.txt
	! matches 'leaf-02' daemon.log || because "the log says: $(grep -m 1 leaf-02 daemon.log)"
}

agents_are_not_touched() {
	ask NR || return 1
	matches 'NodeDescription.*leaf-02$' answer.txt && matches 'NodeDescription.*host-0003$' answer.txt ||
		because "the SA says: $(grep -m 3 NodeDescription answer.txt)"
}

# the tools for which the format exists read the same file
others_read_it() {
	look net.txt host-0002 ibnetdiscover --node-name-map "$work/names.map" || because "$(cat net.txt.err)" || return 1
	matches '"row 2, rack 7"' net.txt || because "ibnetdiscover does not take the map"
}

reloaded() {
	printf '%s "twice"\n%s "twice"\n' "$leaf" "$host" >names.map
	ctl daemon config reload >done.txt && matches 'several nodes have the same name .1 name, such as .*twice' done.txt && matches 'WARNING weftd: .*several nodes have' daemon.log ||
		because "a name that is given twice: $(cat done.txt)" || return 1
	printf '%s "another"\n' "$leaf" >names.map
	ctl daemon config reload >done.txt || because "it is not read again" || return 1
	wait_for 10 lists_name another || because "the list has no new name" || return 1
	lists_name host-0003 || because "the name that is not in the map any more stays"
}

lists_name() {
	ctl daemon node list | grep -q "\"description\": \"$1\""
}

bad_is_refused() {
	printf '%s "another"\n%s\n' "$leaf" "$host" >names.map
	! ctl daemon config reload >done.txt 2>&1 || because "it is taken" || return 1
	matches "names.map:2: a node's GUID and a name of 1 to 64 bytes in quotes expected, not \"$host\"" done.txt ||
		because "it says: $(cat done.txt)" || return 1
	lists_name another || because "the names that were in force are gone" || return 1
	rm names.map
	! "$BUILD/weftd" -c /dev/null -o "node_name_map_name=\"$work/names.map\"" --check-config >done.txt 2>&1 ||
		because "a file that is not there is taken" || return 1
	matches 'node_name_map_name: .*names.map: No such file' done.txt || because "it says: $(cat done.txt)"
}

imported() {
	mkdir osm
	echo "node_name_map_name /etc/opensm/ib-node-name-map" >osm/opensm.conf
	"$BUILD/weftctl" import opensm osm --cache osm --to ours >done.txt || because "$(cat done.txt)" || return 1
	matches '^node_name_map_name = "/etc/opensm/ib-node-name-map";' ours/weftd.conf || because "$(cat ours/weftd.conf)"
}

check "a daemon with names" daemon_runs || finish
check "names are shown" names_are_shown
check "names are taken as arguments" names_are_taken
check "the log and events have them" log_and_events
check "the SA returns the names that nodes report" agents_are_not_touched
check "ibnetdiscover reads the same file" others_read_it
check "a reload changes them" reloaded
check "a bad file is refused, and named" bad_is_refused
check "OpenSM's option is imported" imported
finish
