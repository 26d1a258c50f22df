#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Acknowledged registrations exist after SIGKILL. Hosts register services, groups and subscriptions as fast as they get
# answers. weftd is killed after a random number of them, and starts again on the same state directory and fabric. All
# acknowledged registrations are in the document that it then saves, after any number of rounds.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip registrations: the preload library and sanitizers exclude each other"
	exit 0
fi

"${CC:-cc}" -O2 -o registrar "$root/tests/system/registrar.c" -libumad || exit 1
declare -A guid=()
rounds=6 hosts=(host-0002 host-0003 host-0005)

starts() {
	start_weftd weftd host-0001 -o registrations_per_port=100000 -o readback_interval=0 || return 1
	wait_for 30 is_up weftd || because "weftd has no subnet: $(tail -n 1 weftd.log)"
}

enough() {
	[ "$(cat told.*."$1" | wc -l)" -ge "$2" ]
}

# round NUMBER: some hundreds of registrations of each host, and a SIGKILL.
round() {
	local host enough=$((50 + RANDOM % 1500))

	for host in "${hosts[@]}"; do
		(as_node "$host" "$work/registrar" $(($1 * 10000))) >"told.$host.$1" 2>"said.$host.$1" &
		pids[$host]=$!
	done
	wait_for 30 enough "$1" $enough || because "only $(cat told.*."$1" | wc -l) are acknowledged" || return 1
	kill_now weftd
	for host in "${hosts[@]}"; do
		kill_now "$host"
		grep 'is refused' "said.$host.$1" && because "of $host: $(cat "said.$host.$1")" && return 1
	done
	starts && all_there "$1"
}

# Each acknowledged line "KIND NUMBER GUID" of a host, of all rounds, is in the saved document.
all_there() {
	local host

	"$BUILD/weftctl" -s weftd.run/control.sock save saved.json >save.txt || because "save fails" || return 1
	json 'map { my $r = $_; my $k = $r->{kind};
		$k eq "service" ? "service " . hex($r->{ServiceID}) . " $r->{ServiceGUID}\n" :
		$k eq "member" ? "member " . hex(substr $r->{MGID}, -8) . " $r->{PortGUID}\n" :
		$k eq "subscription" ? "subscription $r->{TrapNumber} $r->{SubscriberGUID}\n" : () } @{$_->{records}}' \
		<saved.json | sed 's/^ *//' | sort -u >there.txt
	for host in "${hosts[@]}"; do
		sed "s/$/ ${guid[$host]}/" told."$host".*
	done | grep -E '^[a-z]+ [0-9]+ 0x' | sort -u >acknowledged.txt
	comm -23 acknowledged.txt there.txt >lost.txt
	[ "$(cut -d ' ' -f 1 acknowledged.txt | sort -u | wc -l)" = 3 ] ||
		because "not every kind was registered" || return 1
	equal "how many of $(wc -l <acknowledged.txt) acknowledged are lost, as $(head -n 1 lost.txt)" \
		"$(wc -l <lost.txt)" 0
}

guids_known() {
	local host

	for host in "${hosts[@]}"; do
		look ibstat.txt "$host" ibstat || because "ibstat: $(tail -n 1 ibstat.txt.err)" || return 1
		guid[$host]=$(sed -n 's/.*Port GUID: //p' ibstat.txt)
	done
}

# members EXPRESSION: the different members of a list in list.json.
members() {
	json 'do { my %seen; map { $seen{$_}++ ? () : $_ } sort map { '"$1"' } @$_ }' <list.json
}

# The registrations of all hosts, with characters that a terminal would interpret.
lists() {
	ctl weftd service list >list.json || because "service list fails" || return 1
	equal "the list of services" "$(members 'join ",", $_->{name}, $_->{p_key}, $_->{lease_s} // "no end", $_->{has_key} ? 1 : 0')" \
		"registrar?[31m?,65535,no end,0" || return 1
	equal "whose services they are" "$(members '$_->{description}')" "host-0002 host-0003 host-0005" || return 1
	"$BUILD/weftctl" -s weftd.run/control.sock service list | LC_ALL=C grep -q '[^[:print:]]' &&
		because "it shows unprintable characters" && return 1
	ctl weftd inform list >list.json || because "inform list fails" || return 1
	equal "the list of subscriptions" \
		"$(members 'join ",", map { $_ // "any" } @$_{"type", "producer", "of_gid", "of_lid_begin", "of_lid_end"}, map { $_ ? 1 : 0 } @$_{"generic", "trusted"}')" \
		"any,any,any,any,any,0,0" || return 1
	equal "the traps that they name" "$(json 'scalar grep { $_->{trap} % 3 != 2 } @$_' <list.json)" 0
}

start_weftsim fattree:radix=4,levels=2
check "weftd runs" starts || finish
check "GUIDs of the hosts" guids_known || finish
for ((i = 1; i <= rounds; i++)); do
	check "SIGKILL $i" round $i || break
done
check "weftctl service list and inform list" lists
finish
