#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Replication over the fabric without a key: two weftd with default options only, a third port that forges messages, ports
# of allowed_sm_guids, and OpenSM as the master. inband-keys.sh has the tests with keys.
# shellcheck disable=SC2016 # expressions are Perl
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/inband-lib.sh
. "$root/tests/system/inband-lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip inband: the preload library and sanitizers exclude each other"
	exit 0
fi

"${CC:-cc}" -O2 -o registrar "$root/tests/system/registrar.c" -libumad || exit 1
"${CC:-cc}" -O2 -o attacker "$root/tests/system/attacker.c" -libumad || exit 1
class=0x37 set_=2 open=0x10 data=0x11 close=0x12

# registered FIRST: hosts register services, members of groups and subscriptions; acknowledged.txt has them.
registered() {
	local guid name first=$1

	: >acknowledged.txt
	for name in host-0002 host-0003 host-0005; do
		look ibstat.txt "$name" ibstat || because "ibstat: $(tail -n 1 ibstat.txt.err)" || return 1
		guid=$(sed -n 's/.*Port GUID: //p' ibstat.txt)
		on "$name" "$work/registrar" "$first" 60 >told.txt 2>said.txt || because "$name: $(cat said.txt)" || return 1
		sed "s/$/ $guid/" told.txt >>acknowledged.txt
		first=$((first + 60))
	done
	sort -u -o acknowledged.txt acknowledged.txt
	equal "the number of registrations" "$(wc -l <acknowledged.txt)" 180
}

# kept NAME: this manager has all of them.
kept() {
	"$BUILD/weftctl" -s "$1.run/control.sock" save "$1.json" >save.txt || because "save of $1 fails" || return 1
	json 'map { my $r = $_; my $k = $r->{kind};
		$k eq "service" ? "service " . hex($r->{ServiceID}) . " $r->{ServiceGUID}\n" :
		$k eq "member" ? "member " . hex(substr $r->{MGID}, -8) . " $r->{PortGUID}\n" :
		$k eq "subscription" ? "subscription $r->{TrapNumber} $r->{SubscriberGUID}\n" : () } @{$_->{records}}' \
		<"$1.json" | sed 's/^ *//' | sort -u >there.txt
	equal "registrations that $1 lacks, as $(comm -23 acknowledged.txt there.txt | head -n 1)" \
		"$(comm -23 acknowledged.txt there.txt | wc -l)" 0
}

# Defaults only

defaults() {
	pair && copies registrations && registered 1 || return 1
	wait_for 10 ha one '$_->{standbys}[0]{lag}' 0 || because "the standby is behind: $(ctl one ha status)" || return 1
	"$BUILD/weftctl" -s one.run/control.sock ha status >ha.txt
	matches '^Replicates +over the fabric, without a key: registrations' ha.txt || because "it shows: $(cat ha.txt)" || return 1
	ctl two ha status | json '$_->{master}{tables}' >tables.txt
	equal "the number of tables that were copied" "$(cat tables.txt)" 0
}

# A standby that gets only registrations does not know about drains, and the answer says so.
drain_names_standby() {
	ctl one drain spine-02 >drained.txt || because "drain is refused: $(cat drained.txt)" || return 1
	ctl one undrain spine-02 >undrained.txt || because "undrain is refused: $(cat undrained.txt)" || return 1
	look ibstat.txt "${host[two]}" ibstat || return 1
	equal "the standby without the drain" "$(json '$_->{not_copied_to} // "none"' <drained.txt)" "$(sed -n 's/.*Port GUID: //p' ibstat.txt)"
}

# The port of the standby gets the P_Key of another partition at index 0. The master is not in this partition.
with_index0() {
	pair || return 1
	ctl one partition add 0x11 first --indx0 --members host-0004 >out || because "$(cat out)" || return 1
	wait_for 10 has_index0 || because "${host[two]} has $(cat do.txt)" || return 1
	wait_for 30 matches 'lost master' two.log || because "its messages arrive with the wrong P_Key" || return 1
	in_sync && both_end
}

sim() {
	"$BUILD/weftsim" "do" "$@" >do.txt 2>&1
}

has_index0() {
	sim "pkeys ${host[two]} 1" && matches '^ *0 +0x8011' do.txt
}

# The third port sends well-formed messages with numbers that it guesses, and malformed messages.
third_port() {
	local before attr

	before=$(refusals)
	for attr in $open $data $close; do
		! on host-0006 "$work/attacker" -t 300 sm $class $set_ $attr 0 37=027765 40=01 56=0000000000000007 \
			64=0000000000000001 >answer.txt 2>&1 || because "attribute $attr got $(cat answer.txt)" || return 1
		matches 'no answer' answer.txt || because "attribute $attr: $(cat answer.txt)" || return 1
	done
	on host-0006 "$work/attacker" -q -n 3000 sm $class $set_ $data 0 37=027765 40=01 44=00000004 48+8 56+8 \
		64=0000000000000001 72=77656674 >answer.txt || because "the flood: $(cat answer.txt)" || return 1
	on host-0006 "$work/attacker" -q -n 100 sm $class $set_ $open 0 37=027765 40=01 44=ffffffff 56+8 >answer.txt || return 1
	on host-0006 "$work/attacker" -q -n 100 sm $class $set_ $open 0 37=001405 40=01 56+8 >answer.txt || return 1
	wait_for 10 refused $((before + 3100)) || because "$(refusals) were refused" || return 1
	matches 'refused connection from LID [0-9]+ over the fabric: ' one.log || because "the log names none" || return 1
	ha one '$_->{standbys}[0]{state}' 'in sync' ||
		because "the standby is out of sync: $(ctl one ha status)" || return 1
	! matches 'lost (standby|master)' one.log two.log || because "a connection has ended: $(grep -h lost one.log two.log)"
}

master_dies() {
	takes_over && kept two || return 1
	ask SR && matches 'ServiceID' answer.txt || because "the new master shows no services"
}

# The former master returns without its store. It has the higher rank, and takes over with the registrations since its end.
comes_back() {
	registered 1001 && rm -rf one.state || return 1
	start_weftd one "${host[one]}" || return 1
	wait_for 60 is_up one || because "the first is not MASTER again: $(tail -n 1 one.log)" || return 1
	kept one && in_sync && both_end
}

# Ports of allowed_sm_guids

listed() {
	local guids=() name

	for name in one two; do
		look ibstat.txt "${host[$name]}" ibstat || return 1
		guids+=("$(sed -n 's/.*Port GUID: //p' ibstat.txt)")
	done
	pair -o "allowed_sm_guids=[${guids[0]}, ${guids[1]}]" && copies 'no secrets' || return 1
	wait_for 30 has_tables || because "no tables were copied: $(ctl two ha status)" || return 1
	takes_over || return 1
	equal "the number of LFT blocks that the second has set" "$(status two \
		"$(sent '$_->{method} eq "Set" && $_->{attribute} eq "LinearForwardingTable"')")" 0 || return 1
	both_end
}

has_tables() {
	[ "$(ctl two ha status | json '$_->{master}{tables}')" -gt 0 ]
}

# OpenSM as the master does not support the class: the standby reports this, and OpenSM keeps running.
opensm_master() {
	start_weftsim fattree:radix=4,levels=2 || return 1
	start_opensm osm "${host[one]}" -p 15 || return 1
	wait_for 60 matches 'SUBNET UP' osm.log || because "OpenSM has no subnet: $(tail -n 1 osm.log)" || return 1
	start_weftd two "${host[two]}" || return 1
	wait_for 30 has_status two '$_->{role}' STANDBY || because "the second is $(status two '$_->{role}')" || return 1
	wait_for 30 ha two '$_->{peers}[0]{why}' 'no weftd with replication over the fabric answers there' ||
		because "it says: $(ctl two ha status)" || return 1
	ctl two health | json 'map { "$_->{check} $_->{level}: $_->{text}\n" } @{$_->{checks}}' >health.txt
	matches '^ *standby healthy: the MASTER does not replicate' health.txt || because "health says: $(cat health.txt)" || return 1
	runs osm || because "OpenSM has ended: $(tail -n 1 osm.log)" || return 1
	kill_now osm
	wait_for 60 is_up two || because "the second does not take over: $(tail -n 1 two.log)"
}

# Off

off() {
	both_end
	start_weftd two "${host[two]}" -o ha_inband=false || return 1
	ha two '$_->{carrier}' none || because "it says: $(ctl two ha status)"
}

start_weftsim fattree:radix=4,levels=2
check "two weftd with defaults only" defaults || finish
check "a drain names the standby" drain_names_standby
check "a third port forges messages" third_port
check "the master is killed" master_dies
check "the former master returns" comes_back || both_end
check "ports of allowed_sm_guids" listed || both_end
check "another P_Key at index 0 of the standby" with_index0 || both_end
stop_fabric
if command -v opensm >/dev/null; then
	check "OpenSM is the master" opensm_master
	check "switched off" off
fi
finish
