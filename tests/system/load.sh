#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Generated traffic over the tables that weftd has programmed: `weftsim do load`. perfquery and the performance manager
# see its counters. Programs get answers while a load runs. Tables that `weftctl route check` calls free of credit loops
# do not block, and those with credit loops do.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip load: the preload library cannot be instrumented"
	exit 0
fi

# load WORD...: the report in load.txt.
load() {
	"$BUILD/weftsim" "do" "load $*" >load.txt 2>load.err || because "load $*: $(cat load.err)"
}

# figure NAME: of the last line.
figure() {
	sed -n "s/^load\(.*\) $1=\([^ ]*\).*/\2/p" load.txt
}

up() {
	printf 'perf_interval = 0;\n' >weftd.conf
	start_weftsim "$1" && conf=weftd.conf start_weftd sm host-0001 "${@:2}" && wait_for 20 is_up sm ||
		because "${reason:-not up}"
}

down() {
	stop sm && stop_fabric
}

# counter COUNTER LID PORT: in 64 bits where there are.
counter() {
	look counters host-0002 perfquery -x "$2" "$3" || because "perfquery: $(cat counters.err)" || return 1
	sed -n "s/^$1:\.*//p" counters
}

lid_of() {
	ctl sm node list | json 'map { $_->{lid} } grep { $_->{description} eq "'"$1"'" } @$_'
}

# 1 MiB is 256 packets of 1030 words. The MADs that read the counters are packets, too.
counts() {
	local host leaf before after data

	host=$(lid_of host-0003) leaf=$(lid_of leaf-02)
	before=$(counter PortXmitPkts "$host" 1) && data=$(counter PortXmitData "$host" 1) || return 1
	load shift=4 bytes=1MiB || return 1
	equal "the end, and packets" "$(figure end) $(figure injected) $(figure delivered) $(figure in_flight)" \
		"delivered 2048 2048 0" || return 1
	after=$(counter PortXmitPkts "$host" 1) || return 1
	[ $((after - before)) -ge 256 ] && [ $((after - before)) -le 270 ] || because "$((after - before)) packets" || return 1
	after=$(counter PortXmitData "$host" 1) || return 1
	[ $((after - data)) -ge $((256 * 1030)) ] && [ $((after - data)) -le $((256 * 1030 + 2000)) ] ||
		because "$((after - data)) words" || return 1
	# Port 1 of leaf-02 leads to host-0003.
	[ "$(counter PortRcvPkts "$leaf" 1)" -ge 256 ] || because "leaf-02 has received nothing"
	equal "discards" "$(counter PortXmitDiscards "$leaf" 1)" 0
}

performance_manager() {
	local host

	host=$(lid_of host-0003)
	ctl sm perf sweep >out || because "$(cat out)" || return 1
	load incast=host-0003 bytes=64KiB life=0 || return 1
	[ "$(figure discarded)" -gt 0 ] || because "HOQLife 0 discards nothing: $(tail -n 1 load.txt)" || return 1
	equal "all packets" "$(($(figure delivered) + $(figure discarded)))" "$(figure injected)" || return 1
	ctl sm perf sweep >out && ctl sm perf errors >errors.json || because "$(cat out)" || return 1
	equal "discards at all ports" \
		"$(json 'sum0(map { $_->{counters}{PortXmitDiscards} // 0 } @{$_->{ports}})' <errors.json)" "$(figure discarded)" ||
		return 1
	ctl sm perf show host-0003 1 >shown.json || because "$(cat shown.json)" || return 1
	[ "$(json '$_->{counters}{PortRcvPkts}' <shown.json)" -ge "$(figure delivered)" ] ||
		because "host-0003 has received $(json '$_->{counters}{PortRcvPkts}' <shown.json)"
}

is_loading() {
	look out host-0002 smpquery nodeinfo "$1" && runs load
}

used=0

# A load of minutes: tools get answers, and the server forgets a load whose client is gone.
in_turns() {
	local host

	host=$(lid_of host-0004)
	"$BUILD/weftsim" "do" 'load uniform duration=100s' >long.txt 2>&1 &
	pids[load]=$!
	for _ in 1 2 3 4 5; do
		is_loading "$host" || because "no answer during a load: $(cat out.err) $(cat long.txt)" || return 1
	done
	"$BUILD/weftsim" "do" 'load shift=1 duration=1us' >other.txt 2>&1 || because "$(cat other.txt)" || return 1
	kill_now load
	wait_for 20 idle || because "the server still computes"
}

# The server has used no processor since the last call.
idle() {
	local before=$used

	used=$(awk '{ print $14 + $15 }' "/proc/${pids[$fabric]}/stat")
	[ "$used" -eq "$before" ]
}

refusals() {
	! load shfit=1 && matches 'did you mean shift' load.err || because "$(cat load.err)" || return 1
	! load uniform rate=200 && matches 'too large' load.err || because "$(cat load.err)" || return 1
	"$BUILD/weftsim" "do" 'load help' >load.txt && matches '^  incast=NODE' load.txt || because "no help"
}

# The checker's verdict and the behaviour.
blocks() {
	! ctl sm route check >check.json || because "route check finds no credit loop" || return 1
	[ "$(json '$_->{credit}{loops}' <check.json)" -gt 0 ] || because "there is none" || return 1
	load shift=4 buffer=8KiB life=20 duration=1ms || return 1
	equal "the end" "$(figure end)" blocked || return 1
	equal "switches of the cycle" "$(grep -cE '^ .* -> sw-0[1-6] \[[34]\] VL 0$' load.txt)" 6 || return 1
	load shift=4 buffer=8KiB life=3 duration=1ms || return 1
	equal "the end" "$(figure end)" time-over || return 1
	[ "$(figure discarded)" -gt 0 ] && [ "$(figure deadlock)" -eq 0 ] || because "$(tail -n 1 load.txt)"
}

flows() {
	ctl sm route engine updn >out || because "$(cat out)" || return 1
	ctl sm route check >check.json && equal "credit loops" "$(json '$_->{credit}{loops}' <check.json)" 0 || return 1
	for words in shift=4 uniform all-to-all; do
		load "$words" buffer=8KiB life=20 duration=1ms || return 1
		equal "$words: the end, discards, credit loops" "$(figure end) $(figure discarded) $(figure credit_loop)" \
			"time-over 0 0" || return 1
	done
}

check "a tree comes up" up fattree:radix=4,levels=2 || finish
check "perfquery sees a load" counts
check "the performance manager sees discards" performance_manager
check "a long load runs in turns" in_turns
check "refusals" refusals
check "weftd ends" down
check "a ring comes up" up ring:switches=6,hosts=2 -o 'routing=["minhop"]' || finish
check "credit loops block" blocks
check "tables without credit loops do not" flows
check "weftd ends" down
finish
