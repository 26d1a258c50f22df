#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl node show, port list, port show, port disable and port enable on weftsim. Their output equals the values of
# the agents. A disabled port stays disabled over sweeps, a restart and a reboot of its switch. An administrator cannot
# cut off the manager's own path without --force.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip ports: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

daemon_runs() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

sim() {
	"$BUILD/weftsim" "do" "$@"
}

# port NODE PORT EXPRESSION: the value in port show.
port() {
	ctl daemon port show "$1" "$2" | json "$3"
}

refused() {
	local wanted=$1

	shift
	! ctl daemon "$@" >refused.out 2>refused.err || because "$* is not refused" || return 1
	matches "$wanted" refused.err || because "$* says: $(cat refused.err)"
}

shows() {
	equal "leaf-02 port 1" "$(port leaf-02 1 '@{$_}{qw(state physical width_speed mtu)}, $_->{peer}{description}, $_->{peer}{port}')" \
		"ACTIVE LinkUp 4x EDR 4096 host-0003 1" || return 1
	equal "host-0003 port 1" "$(port host-0003 1 '$_->{peer}{description}, $_->{peer}{port}, $_->{lid}')" \
		"leaf-02 1 $(ctl daemon node show host-0003 | json '$_->{node}{lid}')" || return 1
	equal "the ports of leaf-01" "$(ctl daemon node show leaf-01 | json 'map { "$_->{port}=$_->{peer}{description}" } @{$_->{ports}}')" \
		"1=host-0001 2=host-0002 3=spine-01 4=spine-02" || return 1
	equal "ports of all nodes" "$(ctl daemon port list | json 'scalar @{$_}')" $((6 * 4 + 8)) || return 1
	equal "ports of one" "$(ctl daemon port list spine-01 | json 'map { $_->{peer}{description} } @{$_}')" "leaf-01 leaf-02 leaf-03 leaf-04"
}

named() {
	local guid lid

	guid=$(ctl daemon node show leaf-03 | json '$_->{node}{guid}')
	lid=$(ctl daemon node show leaf-03 | json '$_->{node}{lid}')
	equal "the node of a GUID" "$(ctl daemon node show "$guid" | json '$_->{node}{description}')" leaf-03 || return 1
	equal "the node of a LID" "$(ctl daemon node show "$lid" | json '$_->{node}{description}')" leaf-03 || return 1
	equal "ports of a hostlist" "$(ctl daemon port list 'leaf-[01-02],host-0003' | json 'map { $_->{description} } @{$_}' | tr ' ' '\n' | sort | uniq -c | xargs)" \
		"1 host-0003 4 leaf-01 4 leaf-02" || return 1
	refused 'no node "leaf-07"; did you mean "leaf-01"' port list 'leaf-[01-02,07]' || return 1
	refused '"leaf-\[01-02\]" names 2 nodes: this command needs one node' port disable 'leaf-[01-02]' 4 || return 1
	refused 'no node "nobody": .*; weftctl node list' port list nobody && refused 'no node "nobody"' port disable nobody 1 &&
		refused 'there is no port 9: leaf-01 has ports up to 4' port show leaf-01 9 &&
		equal "a port as NODE/PORT" "$(ctl daemon port show leaf-01/3)" "$(ctl daemon port show leaf-01 3)" &&
		refused 'ports 1 to 4' port disable leaf-02 9
}

disabled() {
	ctl daemon port disable leaf-02 1 >done.txt || because "it fails" || return 1
	equal "its answer" "$(json 'join " ", @$_{qw(node port peer peer_port ports_lost pairs_lost)}' <done.txt)" "leaf-02 1 host-0003 1 1 7" || return 1
	equal "the port" "$(port leaf-02 1 '@{$_}{qw(state physical)}, $_->{disabled} ? 1 : 0')" "DOWN Disabled 1" || return 1
	equal "the output of status" "$(status daemon 'map { "$_->{description} $_->{port}" } @{$_->{disabled_ports}}')" "leaf-02 1" || return 1
	ctl daemon events --node leaf-02 >events.json && matches 'disabled by command' events.json || because "no event of leaf-02" || return 1
	ctl daemon sweep heavy >done.txt
	equal "Sets of the next sweep" "$(ctl daemon sweep heavy | json '$_->{sets}')" 0 || return 1
	equal "the adapters" "$(status daemon '$_->{counts}{adapters}')" 7 || return 1
	refused 'host-0003 is gone since 20[^;]*; it was at leaf-02 port 1, LID [0-9]+ is reserved' node show host-0003 || return 1
	refused '^.*host-0003 is gone since' route show host-0003 host-0001 || return 1
	refused '^.*host-0003 is gone since' route show host-0001 host-0003 || return 1
	refused '^.*host-0003 is gone since' perf show host-0003 1 || return 1
	refused '^.*host-0003 is gone since' perf clear host-0003 || return 1
	refused 'host-0003 is gone since .*; use its port GUID 0x[0-9a-f]{16}; nothing was changed' \
		partition add 0x11 x --members host-0003
}

restarted() {
	stop daemon && start_weftd daemon host-0001 && wait_for 30 is_up daemon || because "weftd does not come back" || return 1
	equal "the port" "$(port leaf-02 1 '@{$_}{qw(state physical)}, $_->{disabled} ? 1 : 0')" "DOWN Disabled 1" || return 1
	equal "the output of status" "$(status daemon 'scalar @{$_->{disabled_ports}}')" 1
}

# The switch loses the setting, and its link comes up: then the manager takes it down again.
rebooted() {
	sim "node reboot leaf-02" >done.txt || because "no reboot" || return 1
	wait_for 30 all_but_one || because "after a reboot: $(port leaf-02 1 '@{$_}{qw(state physical)}'), $(status daemon '$_->{counts}{adapters}, $_->{state}')"
}

all_but_one() {
	is_up daemon && [ "$(status daemon '$_->{counts}{adapters}')" = 7 ] &&
		[ "$(port leaf-02 1 '@{$_}{qw(state physical)}')" = "DOWN Disabled" ]
}

# again COMMAND: no change, and no Set() is sent.
again() {
	local before after

	before=$(status daemon 'map { $_->{sent} } grep { $_->{method} eq "Set" } @{$_->{smps}}')
	equal "the output of $1" "$(ctl daemon port "$1" leaf-02 1 | json '$_->{unchanged} ? 1 : 0, $_->{disabled} ? 1 : 0')" \
		"1 $([ "$1" = disable ] && echo 1 || echo 0)" || return 1
	after=$(status daemon 'map { $_->{sent} } grep { $_->{method} eq "Set" } @{$_->{smps}}')
	equal "the Sets" "$after" "$before"
}

enabled() {
	ctl daemon port enable leaf-02 1 >done.txt || because "it fails" || return 1
	wait_for 10 all_are_there || because "the host does not come back: $(port leaf-02 1 '@{$_}{qw(state physical)}')" || return 1
	equal "the output of status" "$(status daemon 'scalar @{$_->{disabled_ports}}')" 0
}

all_are_there() {
	is_up daemon && [ "$(port leaf-02 1 '$_->{state}')" = ACTIVE ] && sim check >check.txt && matches ' unreached=0 ' check.txt
}

# One of two paths may be disabled, the last may not.
own_way() {
	refused 'only ports of switches can be disabled.*"leaf-02" port 1' port disable host-0003 1 &&
		refused 'this cable connects this manager.*weftctl ha handover' port disable leaf-01 1 || return 1
	ctl daemon port disable leaf-02 3 >done.txt || because "one of two ways is refused" || return 1
	refused 'only path to "leaf-02"' port disable leaf-02 4 || return 1
	equal "the adapters that it cuts off" "$(json '$_->{ports_lost}' <done.txt)" 0 || return 1
	refused 'disabling "spine-02" port 2 would cut off 2 ports of adapters, and 12 pairs of ports would lose their path; --force' port disable spine-02 2 ||
		return 1
	ctl daemon port disable spine-02 2 --force >done.txt || because "--force is refused" || return 1
	equal "the adapters and pairs that this cuts off" "$(json '@$_{qw(ports_lost pairs_lost)}' <done.txt)" "2 12" || return 1
	wait_for 10 has_status daemon '$_->{counts}{switches}' 5 || because "leaf-02 is still there" || return 1
	ctl daemon port enable spine-02 2 >done.txt || because "it cannot be enabled" || return 1
	wait_for 20 has_status daemon '$_->{counts}{switches}, $_->{counts}{adapters}' '6 8' || because "leaf-02 does not come back" || return 1
	ctl daemon port enable leaf-02 3 >done.txt && wait_for 20 all_are_there || because "not all come back"
}

# Two paths, and two commands for one of them each: the second command is refused, in either order.
both_at_once() {
	local one first=0 second=0

	ctl daemon port disable leaf-03 3 >done.txt 2>&1 &
	one=$!
	ctl daemon port disable leaf-03 4 >refused.out 2>&1 || second=$?
	wait "$one" || first=$?
	equal "how the two end" $((first + second)) 1 || return 1
	equal "how many are disabled" "$(status daemon 'scalar @{$_->{disabled_ports}}')" 1 || return 1
	ctl daemon port enable leaf-03 $((first ? 4 : 3)) >done.txt || because "it cannot be enabled" || return 1
	wait_for 20 all_are_there || because "not all come back"
}

forced() {
	refused 'this cable connects this manager' port disable leaf-01 1 --force || return 1
	ctl daemon port disable leaf-02 3 >done.txt && ctl daemon port disable leaf-02 4 --force >done.txt ||
		because "--force is refused" || return 1
	wait_for 10 has_status daemon '$_->{counts}{switches}' 5 || because "leaf-02 is still there"
}

# FDR10 is not in PortInfo. iblinkinfo and smpquery read the vendor's attribute, too.
fdr10() {
	stop daemon && stop_fabric || return 1
	printf '%s\n' 'vendid=0x2c9' 'devid=0xc738' 'Switch 4 "s1"' '[1] "h1"[1] # 4xFDR10' '[2] "h2"[1] # 4xFDR10' '' \
		'vendid=0x2c9' 'devid=0x1003' 'Hca 1 "h1"' '[1] "s1"[1] # 4xFDR10' '' \
		'vendid=0x2c9' 'devid=0x1003' 'Hca 1 "h2"' '[1] "s1"[2] # 4xFDR10' >fdr10.net
	start_weftsim fdr10.net && start_weftd daemon h1 -o fdr10=1 || return 1
	wait_for 20 is_up daemon || because "it does not come up: $(tail -n 1 daemon.log)" || return 1
	fdr10_shows FDR10 '10.0 Gbps \(FDR10\)' || return 1
	# The port is set at once, and the link changes when it trains next.
	echo 'fdr10 = 2;' >fdr10.conf
	stop daemon && start_weftd daemon h1 -c fdr10.conf || return 1
	wait_for 20 is_up daemon || because "it does not come up again: $(tail -n 1 daemon.log)" || return 1
	wait_for 10 fdr10_is_disabled || because "it is not disabled: $(grep Enabled mepi.out)" || return 1
	"$BUILD/weftsim" "do" 'link down h2 1' 'link up h2 1' >do.txt || because "$(cat do.txt)" || return 1
	wait_for 20 fdr10_shows QDR '10.0 Gbps' || return 1
	stop daemon && stop_fabric
}

fdr10_is_disabled() {
	look mepi.out h2 smpquery mepi -D 0 1 && matches 'LinkSpeedEnabled:\.*0x00' mepi.out
}

# fdr10_shows NAME PATTERN: output of weftctl and of iblinkinfo about the link of h2.
fdr10_shows() {
	equal "the speed" "$(port h2 1 '$_->{width_speed}')" "4x $1" || return 1
	look links.out h2 iblinkinfo --line || because "iblinkinfo: $(tail -n 1 links.out.err)" || return 1
	matches "\( 4X +$2 +Active/ +LinkUp\)==> .*\"h2\"" links.out ||
		because "iblinkinfo shows $(grep '"h2"' links.out | tail -n 1)"
}

check "a daemon" daemon_runs || finish
check "nodes and ports are shown" shows
check "by name, GUID and LID" named
check "a port is disabled" disabled
check "it stays so over a restart" restarted
check "it stays so over a reboot of its switch" rebooted
check "it is disabled once" again disable
check "it is enabled" enabled
check "it is enabled once" again enable
check "the manager's own way" own_way
check "both ways at once" both_at_once
check "with --force" forced
check "FDR10, as iblinkinfo shows it" fdr10
finish
