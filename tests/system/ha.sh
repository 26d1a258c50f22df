#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Two weftd on one fabric, of which one follows the other over TLS. Hosts register as fast as they get answers, and the
# master is killed. The standby has all acknowledged registrations and the same LIDs, and writes no table. Then cases
# that must fail: another key, another configuration, a key that others may read.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip ha: the preload library and sanitizers exclude each other"
	exit 0
fi

"${CC:-cc}" -O2 -o registrar "$root/tests/system/registrar.c" -libumad || exit 1
declare -A guid=() host=([one]=host-0001 [two]=host-0004) priority=([one]=15 [two]=14) address=()
hosts=(host-0002 host-0003 host-0005)

# Loopback ports that are free now.
free_ports() {
	perl -MIO::Socket::INET -e 'my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) } 1 .. 2;
		print join("\n", map { $_->sockport } @s), "\n"'
}

keys_and_ports() {
	local ports

	mapfile -t ports < <(free_ports)
	address=([one]=127.0.0.1:${ports[0]} [two]=127.0.0.1:${ports[1]})
	umask 077
	od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >psk
	od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >other-psk
	umask 022
}

# run NAME [ARGUMENT]...
run() {
	local name=$1

	start_weftd "$name" "${host[$name]}" -o "sm_priority=${priority[$name]}" -o poll_interval=100 \
		-o registrations_per_port=100000 -o readback_interval=0 -o 'durability="standby"' \
		-o "ha_listen=\"${address[$name]}\"" -o "ha_peers=\"${address[one]}, ${address[two]}\"" \
		-o "ha_psk_file=\"$work/psk\"" "${@:2}"
}

# ha NAME EXPRESSION VALUE
ha() {
	[ "$(ctl "$1" ha status 2>/dev/null | json "$2")" = "$3" ]
}

in_step() {
	ha "$1" '$_->{acknowledged_by}, $_->{standbys}[0]{state}, $_->{standbys}[0]{store}' 'standby in sync ok'
}

pair_runs() {
	run one || return 1
	wait_for 30 is_up one || because "the first has no subnet: $(tail -n 1 one.log)" || return 1
	run two || return 1
	wait_for 30 has_status two '$_->{role}' STANDBY ||
		because "the second is $(status two '$_->{role}')" || return 1
	wait_for 30 in_step one || because "the second is not in sync: $(ctl one ha status)" || return 1
	ha two '$_->{master}{state}' follows || because "the second does not follow: $(ctl two ha status)" || return 1
	"$BUILD/weftctl" -s one.run/control.sock ha status >ha.txt && matches 'in sync' ha.txt ||
		because "ha status says $(cat ha.txt)" || return 1
	"$BUILD/weftctl" -s two.run/control.sock ha status >ha.txt && matches '^Master +follows 0x' ha.txt ||
		because "ha status says $(cat ha.txt)"
}

guids_known() {
	local name

	for name in "${hosts[@]}"; do
		look ibstat.txt "$name" ibstat || because "ibstat: $(tail -n 1 ibstat.txt.err)" || return 1
		guid[$name]=$(sed -n 's/.*Port GUID: //p' ibstat.txt)
	done
}

saved() {
	"$BUILD/weftctl" -s "$1.run/control.sock" save "$1.json" >save.txt || because "save of $1 fails"
}

# records FILE: "lid GUID LID", "group MGID MLID", "service ID GUID" and so on, a line each.
records() {
	json 'map { my $r = $_; my $k = $r->{kind};
		$k eq "lid" ? "lid $r->{GUID} $r->{LID}\n" :
		$k eq "group" ? "group $r->{MGID} $r->{MLID}\n" :
		$k eq "service" ? "service " . hex($r->{ServiceID}) . " $r->{ServiceGUID}\n" :
		$k eq "member" ? "member " . hex(substr $r->{MGID}, -8) . " $r->{PortGUID}\n" :
		$k eq "subscription" ? "subscription $r->{TrapNumber} $r->{SubscriberGUID}\n" : () } @{$_->{records}}' \
		<"$1" | sed 's/^ *//' | sort -u
}

enough() {
	[ "$(cat told.* | wc -l)" -ge "$1" ]
}

# takes_over MASTER STANDBY FIRST: registrations under way, numbered from FIRST on (a trap has 16 bits); SIGKILL.
takes_over() {
	local name enough=$((200 + RANDOM % 1500))

	rm -f told.*
	saved "$1" || return 1
	records "$1.json" | grep -E '^(lid|group) ' >before.txt
	for name in "${hosts[@]}"; do
		(as_node "$name" "$work/registrar" "$3") >"told.$name" 2>"said.$name" &
		pids[$name]=$!
	done
	wait_for 30 enough $enough || because "only $(cat told.* | wc -l) are acknowledged" || return 1
	in_step "$1" || because "the standby is no longer in sync: $(ctl "$1" ha status)" || return 1
	kill_now "$1"
	for name in "${hosts[@]}"; do
		kill_now "$name"
		grep 'is refused' "said.$name" && because "of $name: $(cat "said.$name")" && return 1
	done
	wait_for 30 is_up "$2" || because "$2 does not take over: $(tail -n 1 "$2.log")" || return 1
	saved "$2" || return 1
	records "$2.json" >there.txt
	{
		cat before.txt
		for name in "${hosts[@]}"; do
			sed "s/$/ ${guid[$name]}/" "told.$name"
		done | grep -E '^[a-z]+ [0-9]+ 0x'
	} | sort -u >acknowledged.txt
	comm -23 acknowledged.txt there.txt >lost.txt
	[ "$(cut -d ' ' -f 1 acknowledged.txt | sort -u | wc -l)" = 5 ] || because "not every kind is there" || return 1
	equal "how many of $(wc -l <acknowledged.txt) acknowledged are lost, as $(head -n 1 lost.txt)" \
		"$(wc -l <lost.txt)" 0 || return 1
	equal "the number of LFT blocks that $2 has set" "$(status "$2" \
		"$(sent '$_->{method} eq "Set" && $_->{attribute} eq "LinearForwardingTable"')")" 0
}

# The killed manager restarts and follows.
comes_back() {
	priority[$1]=$((priority[$2] - 1))
	run "$1" || return 1
	wait_for 30 in_step "$2" || because "$1 is not in sync: $(ctl "$2" ha status)" || return 1
	saved "$1" && saved "$2" || return 1
	cmp -s <(records "$1.json") <(records "$2.json") || because "they have different records"
}

# Cases that must fail; the master continues, and logs the reason.

follows_not() {
	local name=$1 says=$2

	shift 2
	run "$name" "$@" || return 1
	wait_for 20 matches "$says" "$name.log" || because "$name does not say $says: $(tail -n 3 "$name.log")" || return 1
	ha "$name" '$_->{master}{guid} // "nobody"' nobody || because "$name follows: $(ctl "$name" ha status)" || return 1
	stop "$name"
}

wrong_key() {
	follows_not "$1" 'same key in their ha_psk_file' -o "ha_psk_file=\"$work/other-psk\"" || return 1
	told_event "$2" standby 'refused connection'
}

other_lmc() {
	follows_not "$1" 'configuration differs: .*lmc = 0' -o lmc=1 || return 1
	told_event "$2" standby 'refused standby at .*: its configuration differs'
}

# fills NAME yes|no: no file of the process may grow, as with a full disk.
fills() {
	local limit=unlimited

	[ "$2" = no ] || limit=0
	prlimit --pid "$(pgrep -P "${pids[$1]}" -x weftd || echo "${pids[$1]}")" "--fsize=$limit:unlimited" ||
		because "prlimit failed"
}

# registers FIRST: some registrations of a host, numbered from FIRST on, are acknowledged.
registers() {
	rm -f told.*
	(as_node host-0002 "$work/registrar" "$1") >told.host-0002 2>said.host-0002 &
	pids[host-0002]=$!
	wait_for 30 enough 50 || because "only $(cat told.* | wc -l) are acknowledged" || return 1
	kill_now host-0002
}

# full_disk MASTER STANDBY: the standby keeps received data in memory, and the master reports this.
full_disk() {
	local lft links

	lft=$(sent '$_->{method} eq "Set" && $_->{attribute} eq "LinearForwardingTable"')
	links=$(sent '$_->{method} eq "Set" && $_->{attribute} eq "PortInfo"')
	lft=$(status "$1" "$lft") links=$(status "$1" "$links")
	fills "$2" yes && registers 50000 || return 1
	wait_for 20 matches "in memory only: its store is degraded" "$1.log" ||
		because "$1 does not say so: $(tail -n 3 "$1.log")" || return 1
	told_event "$1" standby 'in memory only: its store is degraded' && told_event "$2" store '' || return 1
	is_up "$1" || because "$1 is not up any more" || return 1
	equal "the LFT blocks that $1 has set" "$(status "$1" \
		"$(sent '$_->{method} eq "Set" && $_->{attribute} eq "LinearForwardingTable"')")" "$lft" || return 1
	equal "the Set(PortInfo) of $1" "$(status "$1" \
		"$(sent '$_->{method} eq "Set" && $_->{attribute} eq "PortInfo"')")" "$links" || return 1
	fills "$2" no
	wait_for 30 in_step "$1" || because "the standby is not well again: $(ctl "$1" ha status)"
}

# refused NAME PATTERN WORD...: the command fails with a matching message.
refused() {
	local name=$1 says=$2

	shift 2
	! "$BUILD/weftctl" -s "$name.run/control.sock" ha "$@" >ha.txt 2>&1 && matches "$says" ha.txt ||
		because "ha $* of $name says $(cat ha.txt)"
}

# rests MASTER STANDBY: by command; it continues to follow, and both report that it is no standby during this.
rests() {
	local port

	port=$(status "$2" '$_->{guid}')
	ctl "$1" ha disable "$port" >done.txt 2>&1 || because "ha disable fails: $(tail -n 1 done.txt)" || return 1
	equal "the Subnet line of $2" "$(status "$2" '$_->{state}')" "NOTACTIVE: a MASTER has set this manager to NOTACTIVE" || return 1
	wait_for 5 ha "$1" '$_->{standbys}[0]{role}, $_->{standbys}[0]{state}' 'NOTACTIVE in sync' ||
		because "ha status: $(ctl "$1" ha status)" || return 1
	wait_for 5 has_status "$1" '$_->{peers}[0]{state}' NOTACTIVE || because "status: $(status "$1" '%{$_->{peers}[0]}')" || return 1
	"$BUILD/weftctl" -s "$1.run/control.sock" ha status >ha.txt && matches ' NOTACTIVE +in sync ' ha.txt ||
		because "ha status says $(cat ha.txt)" || return 1
	ctl "$1" ha enable "$port" >done.txt 2>&1 || because "ha enable fails: $(tail -n 1 done.txt)" || return 1
	wait_for 5 ha "$1" '$_->{standbys}[0]{role}, $_->{standbys}[0]{state}' 'STANDBY in sync' ||
		because "ha status: $(ctl "$1" ha status)" || return 1
	equal "the Subnet line of $2" "$(status "$2" '$_->{state}')" "STANDBY: another subnet manager is MASTER"
}

# peer_of NAME STATE: its only peer, with a recent answer.
peer_of() {
	has_status "$1" '@{$_->{peers}} == 1 && $_->{peers}[0]{heard_ms} < 2000 ? $_->{peers}[0]{state} : "old"' "$2"
}

# Between the sweeps, which have the default interval, polls find a new standby, and the new states after a failover.
peers_are_known() { # MASTER STANDBY
	wait_for 3 peer_of "$1" STANDBY || because "$1 knows $(status "$1" 'map { %$_ } @{$_->{peers}}')" || return 1
	wait_for 3 peer_of "$2" MASTER || because "$2 knows $(status "$2" 'map { %$_ } @{$_->{peers}}')"
}

priority_of() { # of the MASTER, as a host sees it
	look sminfo.txt host-0002 sminfo || return 1
	sed -n 's/.*priority \([0-9]*\) state 3 SMINFO_MASTER.*/\1/p' sminfo.txt
}

# gives MASTER STANDBY PRIORITY: by command, to a manager of lower rank, which then has this priority and keeps it.
gives() {
	local lft

	lft=$(sent '$_->{method} eq "Set" && $_->{attribute} eq "LinearForwardingTable"')
	refused "$2" 'to run this command, use the MASTER, "host-[0-9]+" .port GUID 0x[0-9a-f]{16}, LID [0-9]+, address 127' handover || return 1
	refused "$1" 'there is no node "host-x"|no view of the fabric' handover host-x || return 1
	refused "$1" "no subnet manager with GUID 0x0000000000000017 found; found: 0x[0-9a-f]* .STANDBY" handover 0x17 || return 1
	"$BUILD/weftctl" -s "$1.run/control.sock" ha handover >ha.txt 2>&1 && matches 'handover complete' ha.txt ||
		because "ha handover says $(cat ha.txt)" || return 1
	wait_for 30 is_up "$2" && wait_for 30 in_step "$2" ||
		because "$2 is not MASTER with a standby: $(ctl "$2" ha status)" || return 1
	equal "the role of $1" "$(status "$1" '$_->{role}')" STANDBY && peers_are_known "$2" "$1" || return 1
	equal "the priority of the MASTER" "$(priority_of)" "$3" || return 1
	equal "the priority of $1" "$(status "$1" '$_->{priority}')" 0 || return 1
	equal "the number of LFT blocks that $2 has set" "$(status "$2" "$lft")" 0 || return 1
	ctl "$2" sweep heavy >/dev/null && ctl "$2" sweep >/dev/null
	equal "the role of $2 after two sweeps" "$(status "$2" '$_->{role}')" MASTER
}

# Every host finds a manager at sm_lid, and it is the MASTER.
master_is_at() {
	local name

	for name in "${hosts[@]}"; do
		look sminfo.txt "$name" sminfo && matches "sm lid $1 .*SMINFO_MASTER" sminfo.txt ||
			because "$name finds: $(cat sminfo.txt sminfo.txt.err)" || return 1
	done
}

# moves MASTER STANDBY: its LID moves, and no Set() goes to other hosts than these two.
moves() {
	local ports

	ports=$(sent '$_->{method} eq "Set" && $_->{attribute} eq "PortInfo"')
	run "$1" -o sm_lid=99 || return 1
	wait_for 30 is_up "$1" || because "$1 has no subnet: $(tail -n 1 "$1.log")" || return 1
	run "$2" -o sm_lid=99 || return 1
	wait_for 30 in_step "$1" || because "$2 is not in sync: $(ctl "$1" ha status)" || return 1
	master_is_at 99 || return 1
	kill_now "$1"
	wait_for 30 is_up "$2" || because "$2 does not take over: $(tail -n 1 "$2.log")" || return 1
	master_is_at 99 || return 1
	equal "the number of Set(PortInfo) that $2 has sent" "$(status "$2" "$ports")" 2 || return 1
	equal "the LID of $2" "$(status "$2" '$_->{lid}')" 99 && stop "$2"
}

# Followed all the same, with a warning at the standby.
other_partitions() {
	echo 'a=1 : ALL ;' >other.conf
	run "$1" -o "partition_config_file=\"$work/other.conf\"" || return 1
	wait_for 30 in_step "$2" || because "$1 is not in sync: $(ctl "$2" ha status)" || return 1
	told_event "$1" standby 'other.conf. differs from the master' || return 1
	"$BUILD/weftctl" -s "$1.run/control.sock" ha status >ha.txt &&
		matches '^Partitions +the file here differs from the master' ha.txt ||
		because "ha status says $(cat ha.txt)" || return 1
	stop "$1"
}

# Bytes of a stranger at the port.
noise() {
	perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(PeerAddr => shift) or die;
		print $s "GET / HTTP/1.0\r\n\r\n"; $s->shutdown(1); my $l = <$s>' "${address[$1]}"
	wait_for 10 matches 'refused connection from .*: no TLS session' "$1.log" || because "$1 does not log the peer" || return 1
	runs "$1" || because "$1 has ended"
}

# Reasons not to start: message and exit status.
starts_not() {
	local says=$1 status

	shift
	weftd bad host-0006 "$@"
	status=$?
	[ $status -ne 0 ] && matches "$says" bad.log || because "status $status: $(tail -n 1 bad.log)"
}

bad_options() {
	local listen="ha_listen=\"127.0.0.1:1\""

	starts_not 'ha_listen needs ha_psk_file' -o "$listen" || return 1
	starts_not 'is no numeric address' -o 'ha_peers="master.example"' || return 1
	starts_not 'needs ha_listen or ha_inband' -o 'durability="standby"' -o ha_inband=false || return 1
	starts_not 'sm_lid = 99 is not a multiple of 2.lmc, as 96 is' -o sm_lid=99 -o lmc=2 || return 1
	chmod 640 other-psk
	starts_not 'chmod 600' -o "$listen" -o "ha_psk_file=\"$work/other-psk\"" || return 1
	chmod 600 other-psk
	starts_not 'cannot be read' -o "$listen" -o "ha_psk_file=\"$work/nothing\"" || return 1
	starts_not 'cannot listen on' -o "ha_listen=\"${address[two]}\"" -o "ha_psk_file=\"$work/psk\""
}

keys_and_ports
start_weftsim fattree:radix=4,levels=2
check "two weftd, one follows the other" pair_runs || finish
check "they know each other" peers_are_known one two
check "GUIDs of the hosts" guids_known || finish
check "the second is put to rest for a while" rests one two
check "SIGKILL of the first" takes_over one two 10000 || finish
check "the first comes back, and follows" comes_back one two || finish
check "SIGKILL of the second" takes_over two one 30000 || finish
check "the second comes back, and follows" comes_back two one || finish
check "a full disk of the standby" full_disk one two
check "the first hands over by command" gives one two 14 && check "the second gives it back" gives two one 14
check "options that cannot be" bad_options
stop two
check "another key" wrong_key two one
check "another configuration" other_lmc two one
check "another partition file" other_partitions two one
check "noise" noise one
stop one
check "the LID of the MASTER moves" moves one two
finish
