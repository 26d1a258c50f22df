#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl drain and undrain on weftsim. While a spine is drained and undrained, the test reads the tables of the switches
# again and again: they always lead every host to every other host. The last spine and a leaf are refused, with the
# numbers of ports and pairs. The drain survives a restart, a reboot of the neighbours, and a failover.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip drain: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

sim() {
	"$BUILD/weftsim" "do" "$@"
}

psk() {
	(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >psk)
	mapfile -t ports < <(perl -MIO::Socket::INET -e 'my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1",
		Listen => 1) } 1 .. 2; print join("\n", map { $_->sockport } @s), "\n"')
	one=127.0.0.1:${ports[0]} two=127.0.0.1:${ports[1]}
}

# run NAME HOST PRIORITY LISTEN PEER
run() {
	start_weftd "$1" "$2" -o "sm_priority=$3" -o poll_interval=100 -o "ha_listen=\"$4\"" -o "ha_peers=\"$5\"" \
		-o "ha_psk_file=\"$work/psk\"" -o 'durability="local"'
}

daemon_runs() {
	psk && start_weftsim fattree:radix=8,levels=2 && run daemon host-0001 9 "$one" "$two" || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

refused() {
	local wanted=$1

	shift
	! ctl daemon "$@" >refused.out 2>refused.err || because "$* is not refused" || return 1
	matches "$wanted" refused.err || because "$* says: $(cat refused.err)"
}

tables() {
	local switch

	for switch in "$@"; do
		sim "lft $switch" || return 1
	done
}

# Looks at the tables again and again until the file `over` exists, or the test ends. The pauses leave the processor to
# weftd.
watch_paths() {
	while [ ! -e over ] && [ -d "$work" ]; do
		sim check
		sleep 0.02
	done >paths.txt 2>&1
}

# no_loss PAIRS COMMAND...: while the command runs, no pair is unreached.
no_loss() {
	local pairs=$1 bad status=0

	shift
	rm -f over paths.txt
	watch_paths &
	pids[watch]=$! # clean_up ends it, however the test ends
	if wait_for 20 test -s paths.txt; then
		ctl daemon "$@" >done.txt || status=$?
		sim check >after.txt
	fi
	touch over
	wait "${pids[watch]}"
	unset "pids[watch]"
	[ -s paths.txt ] || because "nothing looks at the paths" || return 1
	[ "$status" = 0 ] || because "$* fails: $(cat done.txt)" || return 1
	bad=$(cat paths.txt after.txt | grep -cvE "pairs=$pairs reached=$pairs unreached=0 loops=0")
	[ "$bad" = 0 ] || because "$bad of $(wc -l <paths.txt) looks find: $(grep -vE 'unreached=0 loops=0' paths.txt | head -n 1)"
}

spine() {
	tables leaf-01 leaf-02 leaf-08 spine-02 >before.lft || because "weftsim shows no tables" || return 1
	no_loss 992 drain spine-01 || return 1
	equal "its answer" "$(json '@$_{qw(node ports isolated ports_lost pairs_lost)}' <done.txt)" "spine-01 8 8 0 0" || return 1
	equal "the status" "$(status daemon 'map { @$_{qw(description by state ports isolated)} } @{$_->{drained}}')" \
		"spine-01 command isolated 8 8" || return 1
	wait_for 20 has_status daemon '$_->{counts}{switches}' 11 || because "the spine is still there" || return 1
	equal "the neighbour's port" "$(ctl daemon port show leaf-02 5 | json '@$_{qw(state physical)}, $_->{drained} ? 1 : 0')" "DOWN Disabled 1"
}

# A drained switch is not a fault.
shown() {
	local weftctl=("$BUILD/weftctl" -s "$work/daemon.run/control.sock")

	"${weftctl[@]}" health >health.txt
	matches '^healthy +drained +1 node or port: "spine-01", isolated$' health.txt && matches '^healthy +links +all up$' health.txt ||
		because "health: $(grep -E 'drained|links' health.txt)" || return 1
	"${weftctl[@]}" status >status.txt
	matches '^Drained +"spine-01", by command: isolated, 8 of 8 ports disabled$' status.txt || because "status: $(cat status.txt)" || return 1
	"${weftctl[@]}" port list leaf-03 >ports.txt
	matches '5 DOWN \(drained\)' ports.txt || because "port list: $(cat ports.txt)" || return 1
	refused 'spine-01 is gone since .*; it is drained; weftctl why spine-01' node show spine-01 || return 1
	"${weftctl[@]}" why spine-01 >why.txt
	matches '^Obstacle \(link\): .*"spine-01" is drained$' why.txt && matches '^Remedy: weftctl undrain spine-01$' why.txt ||
		because "why: $(cat why.txt)" || return 1
	"${weftctl[@]}" events --kind port -n 50 >events.txt
	matches 'drain of "spine-01" requested by command' events.txt && matches 'no route uses it; disabling 8 ports' events.txt &&
		matches 'drain of "spine-01": isolated, 8 ports disabled' events.txt || because "events: $(cat events.txt)" || return 1
	"${weftctl[@]}" perf metrics >metrics.txt
	matches '^weft_drained_ports 8$' metrics.txt && matches '^weft_ports_out_of_service 16$' metrics.txt ||
		because "metrics: $(grep -E 'drained|out_of' metrics.txt)"
}

twice() {
	local before after

	before=$(status daemon "$(sent '$_->{method} eq "Set"')")
	equal "the second drain" "$(ctl daemon drain spine-01 | json '$_->{unchanged} ? 1 : 0, $_->{drained} ? 1 : 0')" "1 1" || return 1
	after=$(status daemon "$(sent '$_->{method} eq "Set"')")
	equal "the Sets" "$after" "$before"
}

limits() {
	no_loss 992 drain spine-02 && no_loss 992 drain spine-03 || return 1
	refused 'draining "spine-04" would cut off 28 ports of adapters, and 112 pairs of ports would lose their path; --force' drain spine-04 &&
		refused 'draining "leaf-02" would cut off 4 ports of adapters, and 112 pairs' drain leaf-02 &&
		refused 'draining "leaf-02" port 1 would cut off 1 port of adapters, and 31 pairs.*name the host to drain it, "host-0005"' drain leaf-02/1 &&
		refused 'this manager is attached to "leaf-01"' drain leaf-01 --force &&
		refused 'this manager is attached to "host-0001"' drain host-0001 --force || return 1
	no_loss 992 undrain spine-02 && no_loss 992 undrain spine-03
}

restarted() {
	stop daemon && run daemon host-0001 9 "$one" "$two" && wait_for 30 is_up daemon || because "weftd does not come back" || return 1
	equal "the status" "$(status daemon 'map { @$_{qw(description by state isolated)} } @{$_->{drained}}')" "spine-01 command isolated 8" || return 1
	sim "node reboot leaf-02" >done.txt || because "no reboot" || return 1
	wait_for 30 isolated_again || because "after a reboot: $(ctl daemon port show leaf-02 5)"
}

isolated_again() {
	is_up daemon && has_status daemon '$_->{counts}{switches}, $_->{drained}[0]{isolated}' '11 8' &&
		equal "the port" "$(ctl daemon port show leaf-02 5 | json '@$_{qw(state physical)}')" "DOWN Disabled"
}

in_sync() {
	[ "$(ctl daemon ha status 2>/dev/null | json '$_->{standbys}[0]{state}')" = "in sync" ]
}

failed_over() {
	run standby host-0009 8 "$two" "$one" && wait_for 30 in_sync || because "the standby is not in sync: $(ctl daemon ha status)" || return 1
	equal "the standby's list" "$(status standby 'map { @$_{qw(description by)} } @{$_->{drained}}')" "spine-01 command" || return 1
	kill_now daemon || return 1
	wait_for 30 is_up standby || because "the standby is $(status standby '$_->{role}')" || return 1
	equal "its status" "$(status standby 'map { @$_{qw(description by state isolated)} } @{$_->{drained}}')" "spine-01 command isolated 8" || return 1
	equal "the switches" "$(status standby '$_->{counts}{switches}')" 11 || return 1
	stop standby && run daemon host-0001 9 "$one" "$two" && wait_for 30 is_up daemon || because "weftd does not come back"
}

undrained() {
	no_loss 992 undrain spine-01 || return 1
	equal "its answer" "$(json '$_->{undrained}[0], @$_{qw(ports up)}' <done.txt)" "spine-01 8 8" || return 1
	wait_for 20 is_up daemon || because "weftd is busy" || return 1
	equal "the status" "$(status daemon 'scalar @{$_->{drained}}')" 0 || return 1
	wait_for 20 same_tables || because "$(diff before.lft after.lft | head -n 3)" || return 1
	equal "undrain again" "$(ctl daemon undrain --all | json '$_->{unchanged} ? 1 : 0')" 1
}

same_tables() {
	tables leaf-01 leaf-02 leaf-08 spine-02 >after.lft && cmp -s before.lft after.lft
}

a_host() {
	ctl daemon drain host-0005 >done.txt || because "it is refused" || return 1
	equal "its answer" "$(json '@$_{qw(node ports isolated ports_lost)}' <done.txt)" "host-0005 1 1 0" || return 1
	wait_for 20 has_status daemon '$_->{counts}{adapters}' 31 || because "it is still there" || return 1
	ctl daemon undrain host-0005 >done.txt || because "undrain is refused" || return 1
	wait_for 20 has_status daemon '$_->{counts}{adapters}' 32 || because "it does not come back"
}

forced() {
	ctl daemon drain leaf-02 --force >done.txt || because "--force is refused" || return 1
	equal "its answer" "$(json '@$_{qw(ports isolated ports_lost pairs_lost)}' <done.txt)" "4 4 4 112" || return 1
	wait_for 20 has_status daemon '$_->{counts}{adapters}' 28 || because "its hosts are still there" || return 1
	ctl daemon undrain leaf-02 >done.txt || because "undrain is refused" || return 1
	wait_for 20 has_status daemon '$_->{counts}{adapters}' 32 || because "its hosts do not come back" || return 1
	sim check >check.txt || because "$(cat check.txt)"
}

check "a daemon" daemon_runs || finish
check "a spine is drained without loss" spine || finish
check "commands show it" shown
check "it is drained once" twice
check "the last path, hosts and the manager's own path" limits
check "the drain survives a restart and a reboot" restarted
check "the drain survives a failover" failed_over
check "undrain restores the tables" undrained
check "a host" a_host
check "a leaf, with --force" forced
finish
