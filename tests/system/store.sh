#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The store, with the real daemon on weftsim: LIDs that a restart must find again although every host has lost its own,
# an end by SIGKILL, a second daemon on the same file, an unusable state directory, a disk that is full for a while.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip store: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

"${CC:-cc}" -O2 -o registrar "$root/tests/system/registrar.c" -libumad || exit 1
hosts=32

starts() {
	start_weftd "$@" && wait_for 30 is_up "$1" ||
		because "weftd is $(status "$1" '$_->{role}, $_->{state}'); $(tail -n 1 "$1.log")"
}

lids() {
	ctl "$1" node list | json 'map { "$_->{guid}=$_->{lid}" } sort { $a->{guid} cmp $b->{guid} } @$_'
}

store() {
	status "$1" "\$_->{store}{$2}"
}

sim_do() {
	"$BUILD/weftsim" "do" "$@" >/dev/null
}

reboot_all() {
	local n

	for ((n = 1; n <= hosts; n++)); do
		sim_do "node reboot host-$(printf %04d "$n")" ||
			because "weftsim does not reboot host $n" || return 1
	done
}

# The LIDs of a fabric whose hosts appeared one after the other: without the store a manager would assign others.
first_start() {
	sim_do 'node down host-0002' 'node down host-0009' || return 1
	starts first host-0001 || return 1
	sim_do 'node up host-0009'
	wait_for 30 knows_nodes first $((hosts - 1 + 12)) || because "host-0009 is not seen" || return 1
	sim_do 'node up host-0002'
	wait_for 30 knows_nodes first $((hosts + 12)) || because "host-0002 is not seen" || return 1
	wait_for 30 is_up first || because "the subnet is not up" || return 1
	wait_for 30 all_have_lids first || because "some have no LID" || return 1
	equal "the state of the store" "$(store first state)" ok || return 1
	equal "the number of LIDs in it" "$(store first 'records}{lid')" $((hosts + 12)) || return 1
	equal "the mode of its file" "$(stat -c %a first.state/weft.db)" 600
}

knows_nodes() {
	has_status "$1" '$_->{counts}{switches} + $_->{counts}{adapters}' "$2"
}

all_have_lids() {
	! lids "$1" | grep -q '=0'
}

again_after() { # HOW: the daemon ends, all hosts and switches' hosts lose their LIDs, it restarts
	if [ "$1" = SIGKILL ]; then
		kill_now first
	else
		stop first || return 1
	fi
	reboot_all || return 1
	starts first host-0001 || return 1
	wait_for 30 knows_nodes first $((hosts + 12)) || because "not all hosts are seen again" || return 1
	wait_for 30 all_have_lids first || because "some have no LID" || return 1
	equal "the LIDs after $1 and reboots" "$(lids first)" "$before"
}

second_refused() {
	if weftd first host-0003 --once --runtime-dir "$work/other.run"; then
		because "a second daemon on the same state directory starts"
		return 1
	fi
	matches 'weft.db is in use by another weftd' first.log || because "it says: $(tail -n 1 first.log)"
}

goes_on_without() {
	starts none host-0001 --state-dir /proc/weft || return 1
	equal "the state of the store" "$(store none state)" degraded || return 1
	matches 'store /proc/weft/weft.db degraded: .*--state-dir' none.log || because "nothing is logged" || return 1
	"$BUILD/weftctl" -s none.run/control.sock status | grep -q '^Store  *degraded: ' ||
		because "weftctl status does not say so"
}

is_state() {
	[ "$(store "$1" state)" = "$2" ]
}

# No file of the process may grow, as with a full disk.
full_and_well() {
	local pid=${pids[first]} child

	child=$(pgrep -P "$pid" -x weftd || echo "$pid")
	prlimit --pid "$child" --fsize=0:unlimited || because "prlimit failed" || return 1
	sim_do 'node down host-0020'
	wait_for 30 is_state first degraded || because "the store is $(store first state)" || return 1
	prlimit --pid "$child" --fsize=unlimited:unlimited
	wait_for 30 is_state first ok || because "the store stays $(store first state)" || return 1
	matches 'recovered: all' first.log || because "the log, which could not grow either, does not say so"
}

weftctl() { # NAME COMMAND...
	"$BUILD/weftctl" -s "$1.run/control.sock" "${@:2}"
}

# A saved document is restored to an empty store, and saved again as the same.
saved_and_restored() {
	local records

	on host-0003 ./registrar 0 30 >registered.txt || because "a host cannot register: $(tail -n 1 registered.txt)" || return 1
	equal "the kinds that it registered" "$(cut -d' ' -f1 registered.txt | sort -u | xargs)" "member service subscription" || return 1
	records=$(status first 'sum0(values %{$_->{store}{records}})')
	weftctl first save saved.json >save.txt || because "save fails" || return 1
	equal "the mode of the document" "$(stat -c %a saved.json)" 600 || return 1
	equal "the output of save" "$(cat save.txt)" "saved.json: $records records" || return 1
	equal "the records in it" "$(json 'scalar @{$_->{records}}' <saved.json)" "$records" || return 1
	weftctl first save - >stdout.json && cmp -s saved.json stdout.json ||
		because "save - writes something else" || return 1
	stop first && rm first.state/weft.db && sim_do 'node down host-0030' && starts first host-0001 || return 1
	equal "the LIDs that the fabric gave back" "$(store first 'records}{lid')" $((hosts + 12 - 1)) || return 1
	sed 's/"LID": [0-9]*, "LMC": 0,/"LID": 9, "LMC": 0,/' \
		saved.json >twice.json
	refuses twice.json 'record [0-9]* .lid.: LID: also in another record \(GUID .*\); nothing was changed' || return 1
	echo '{"version": 2, "records": []}' >newer.json
	refuses newer.json 'the document has version 2, but this weftd knows version 1' || return 1
	head -c 1000 saved.json >cut.json
	refuses cut.json 'cut.json:[0-9]*: ' || return 1
	refuses none.json 'none.json: ' || return 1
	echo '{"version": 1, "records": [{"kind": "member", "JoinState": 1, "PortGUID": 5, "PortPrefix": 5,
		"MGID": "0xff12401bffff000000000000ffffffff"}]}' >groupless.json
	refuses groupless.json 'record 1 .member.: its group is not before it in the document \(MGID "0xff12401b.*\); nothing was changed' || return 1
	echo '{"version": 1, "records": []}' >empty.json
	weftctl first restore empty.json >/dev/null || because "restore of nothing fails" || return 1
	wait_for 30 has_broadcast_group first || because "a restore ended the broadcast group" || return 1
	weftctl first restore saved.json >restore.txt || because "restore fails" || return 1
	matches "^$records records, " restore.txt || because "restore says $(cat restore.txt)" || return 1
	kill_now first
	sim_do 'node up host-0030'
	starts first host-0001 || return 1
	wait_for 30 knows_nodes first $((hosts + 12)) || because "not all hosts are seen again" || return 1
	wait_for 30 all_have_lids first || because "some have no LID" || return 1
	equal "the LIDs after all that" "$(lids first)" "$before" || return 1
	weftctl first save again.json >/dev/null
	equal "the records that differ" "$(sorted saved.json | comm -3 - <(sorted again.json))" ""
}

has_broadcast_group() {
	weftctl "$1" multicast list | grep -qi 'ff12:401b:ffff::ffff:ffff'
}

# sorted DOCUMENT: each record with all its members, on a line.
sorted() {
	json 'map { JSON::XS->new->canonical->encode($_) . "\n" } @{$_->{records}}' <"$1" | sed 's/^ //' | sort
}

refuses() { # DOCUMENT PATTERN
	local status

	weftctl first restore "$1" 2>refused.txt
	status=$?
	equal "the status of weftctl restore $1" $status 1 && matches "$2" refused.txt ||
		because "of $1 it says: $(cat refused.txt)"
}

start_weftsim fattree:radix=8,levels=2
check "a store is begun" first_start
before=$(lids first)
check "after SIGKILL and reboots the LIDs are the same" again_after SIGKILL
check "after SIGTERM and reboots the LIDs are the same" again_after SIGTERM
check "a second daemon is refused" second_refused
check "a saved document is restored, a wrong document is refused" saved_and_restored
check "a full disk degrades it, until there is room" full_and_well
stop first
check "without a state directory weftd goes on" goes_on_without
stop none
stop_fabric
finish
