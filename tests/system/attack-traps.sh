#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Attacks with forged traps: a host sends notices that name other ports as their issuer, or report about other ports.
# None reaches a subscriber, disables a port, or costs more than occasional reads of that host. Each is repressed and
# counted, and the log names the host. A link failure in the middle of a flood is noticed at once.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip attack-traps: libweftsim.so must stand before all other libraries"
	exit 0
fi

for program in attacker subscriber; do
	"${CC:-cc}" -O2 -o $program "$root/tests/system/$program.c" -libumad || exit 1
done

seconds=8 rate=2500

sim() {
	"$BUILD/weftsim" "do" "$@" >do.txt 2>&1 || because "weftsim do $*: $(tail -n 1 do.txt)"
}

daemon_runs() {
	start_weftsim fattree:radix=8,levels=2 &&
		start_weftd daemon host-0001 -o 'babble_policy="disable"' -o sweep_interval=60 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	sm=$(lid_of host-0001) host=$(lid_of host-0007)
}

lid_of() {
	ctl daemon node list | json 'map { sprintf "%04x", $_->{lid} } grep { $_->{description} eq "'"$1"'" } @$_'
}

port_guid() {
	local guid

	guid=$(ctl daemon node list | json "map { \$_->{guid} } grep { \$_->{description} eq '$1' } @\$_")
	printf '%016x' $((guid + 1))
}

# traps OPTIONS... -- NOTICE: from host-0007 to the manager; class 1, Trap, Notice.
traps() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	on host-0007 "$work/attacker" -q "${options[@]}" sm 1 5 2 0 "64=${2// /}" >attacker.txt 2>&1 ||
		because "attacker: $(tail -n 1 attacker.txt)"
}

counted() {
	status daemon "\$_->{traps}{$1}"
}

# counts_more NAME NUMBER: this count of traps has grown since NUMBER.
counts_more() {
	[ "$(counted "$1")" -ge "$2" ]
}

is_subscribed() {
	matches '^subscribed$' all.txt
}

hears() {
	wait_for 20 matches "^report $1" all.txt || because "the subscriber hears no report $1: $(tail -n 3 all.txt)"
}

# Notices 65, "GID out of service": one in the name of the manager, one in the host's own. The genuine notice that
# follows is the first that the subscriber gets.
forged_departure() {
	local received victim gone

	(as_node host-0003 "$work/subscriber" 600) >all.txt 2>&1 &
	pids[all]=$!
	wait_for 20 is_subscribed || because "the subscriber: $(tail -n 1 all.txt)" || return 1
	victim=$(port_guid host-0005) gone=$(port_guid host-0012)
	received=$(counted received)
	for issuer in "$sm" "$host"; do
		traps -- "83000004 0041 $issuer 0000 000000000000 fe80000000000000 $victim" || return 1
	done
	wait_for 20 counts_more received $((received + 2)) || because "the traps do not come" || return 1
	sim 'node down host-0012' && hears "65 0{12}fe80000000000000$gone" || return 1
	! matches "^report 65 0{12}fe80000000000000$victim" all.txt || because "the forged notice is reported: $(cat all.txt)" || return 1
	told_event daemon trap 'trap 65 from "host-0007" port 1 .GUID 0x[0-9a-f]*, LID [0-9]*. is one that only a subnet manager issues'
}

# By trap 129, link integrity, of the switch port of host-0005.
forged_complaints() {
	local leaf num received

	read -r leaf num < <(ctl daemon link list | json 'map { "$_->{from}{description} $_->{from}{port}" }
		grep { $_->{to}{description} eq "host-0005" } @$_')
	[ -n "$num" ] || because "host-0005 has no link" || return 1
	received=$(counted received)
	traps -n 12 -- "81000002 0081 $(lid_of "$leaf") 0000 0000 $(lid_of "$leaf") $(printf %02x "$num")" || return 1
	traps -n 12 -- "81000002 0081 $host 0000 0000 $(lid_of "$leaf") $(printf %02x "$num")" || return 1
	wait_for 20 counts_more received $((received + 24)) || because "the traps do not come" || return 1
	"$BUILD/weftctl" -s daemon.run/control.sock sweep heavy >sweep.txt || because "sweep: $(cat sweep.txt)" || return 1
	! matches 'error traps .* port disabled' daemon.log || because "$(grep 'error traps .* port disabled' daemon.log)" || return 1
	is_linked host-0005 || because "the link of host-0005 is gone" || return 1
	told_event daemon trap 'trap 129 from "host-0007" port 1 .* was not sent by its issuer, LID'
}

is_linked() {
	ctl daemon link list | grep -q "\"$1\""
}

is_not_linked() {
	! is_linked "$1"
}

# The notice of each switch in turn, in its own name.
of_switches() {
	ctl daemon node list | json 'join ",", map { my $lid = sprintf "%04x", $_->{lid}; "810000020080${lid}0000$lid" }
		grep { $_->{description} =~ /^(leaf|spine)/ } @$_'
}

# Traps 128 that name the switches in turn, with a genuine trap in the middle.
flood() {
	local sweeps received repressed sent began took

	sweeps=$(status daemon '$_->{sweep}{number}') received=$(counted received) repressed=$(counted repressed)
	sent=$(status daemon "$(sent 1)")
	traps -n $((seconds * rate)) -r $rate -- "$(of_switches)" &
	pids[flood]=$!
	wait_for 10 counts_more received $((received + seconds * rate / 4)) || because "the traps do not come" || return 1
	sim 'link down host-0009 1' || return 1
	began=$(date +%s%3N)
	wait_for 5 is_not_linked host-0009 || because "the link of host-0009 is still there after 5 s" || return 1
	took=$(($(date +%s%3N) - began))
	wait_for 60 ended flood
	unset 'pids[flood]'
	wait_for 20 counts_more received $((received + seconds * rate)) ||
		because "$(($(counted received) - received)) of $((seconds * rate)) traps came" || return 1
	equal "how many of the traps are not repressed" \
		"$(status daemon "\$_->{traps}{received} - $received - \$_->{traps}{repressed} + $repressed")" 0 || return 1
	sweeps=$(($(status daemon '$_->{sweep}{number}') - sweeps))
	sent=$(($(status daemon "$(sent 1)") - sent))
	echo "# $sweeps sweeps and $sent SMPs for $((seconds * rate)) traps; link down seen after $took ms"
	[ "$sweeps" -le $((seconds + 6)) ] || because "$sweeps sweeps in $seconds s" || return 1
	[ "$sent" -le $((seconds * rate + 2000)) ] || because "$sent SMPs, TrapRepress() among them" || return 1
	told_event daemon trap 'trap 128 from "host-0007" port 1 .* was not sent by its issuer, LID'
}

# 2 notices 65, 24 complaints, and the flood.
metric() {
	[ "$(counted mismatched)" -ge $((26 + seconds * rate)) ] || because "$(counted mismatched) mismatches are counted" || return 1
	"$BUILD/weftctl" -s daemon.run/control.sock perf metrics >metrics.txt || because "perf metrics: $(cat metrics.txt)" || return 1
	equal "the metric" "$(sed -n 's/^weft_sm_traps_mismatched_total //p' metrics.txt)" "$(counted mismatched)"
}

check "a daemon" daemon_runs || finish
check "a forged notice of the manager is not reported" forged_departure
check "forged complaints disable no port" forged_complaints
check "a flood of forged traps" flood
check "the mismatches are counted" metric
finish
