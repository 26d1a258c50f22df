#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# perfquery, unchanged, reads the counters of simulated ports on weftsim: they count the MADs that pass, perfquery's own
# too, and changes of a link. Each attribute is reset separately, and a missing port is refused.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip perf: the preload library cannot be instrumented"
	exit 0
fi

run_on() {
	timeout 60 "$BUILD/weftsim" run -n "$@"
}

bring_up() {
	run_on host-0001 -- "$BUILD/weftd" -c /dev/null --once --state-dir st --runtime-dir rt >weftd.log 2>&1 ||
		because "weftd --once: $(tail -n 1 weftd.log)" || return 1
	lid=$(run_on host-0001 -- smpquery portinfo -D 0,1 0 2>/dev/null | sed -n 's/^Lid:\.*//p')
	[ -n "$lid" ] || because "the switch has no LID"
}

# query FILE ARGUMENT...: writes perfquery's output to FILE.
query() {
	local file=$1

	shift
	run_on host-0001 -- perfquery "$@" >"$file" 2>"$file.err" || because "perfquery $*: $(cat "$file.err")"
}

# value FILE COUNTER
value() {
	sed -n "s/^$2:\.*//p" "$1"
}

# is FILE COUNTER VALUE
is() {
	equal "$2" "$(value "$1" "$2")" "$3"
}

# perfquery requests ClassPortInfo and then the counters. When these are read, its two requests are counted, the answer
# to the first, and the late answer of the run before. A MAD has 72 words.
counts_itself() {
	query reset -R "$lid" 1 && query first "$lid" 1 && query second "$lid" 1 || return 1
	is first PortRcvPkts 2 && is first PortXmitPkts 2 && is first PortRcvData 144 || return 1
	is second PortRcvPkts 4 && is second PortXmitPkts 4
}

apart() {
	query before -x "$lid" 1 && query reset -R "$lid" 1 && query short "$lid" 1 && query after -x "$lid" 1 || return 1
	[ "$(value after PortRcvPkts)" -gt "$(value before PortRcvPkts)" ] || because "one reset the other" || return 1
	[ "$(value short PortRcvPkts)" -lt 4 ] || because "it was not reset" || return 1
	equal "unicast packets" "$(value after PortUnicastRcvPkts)" "$(value after PortRcvPkts)" || return 1
	query reset -x -R "$lid" 1 && query after -x "$lid" 1 || return 1
	[ "$(value after PortRcvPkts)" -lt 4 ] || because "the extended counters were not reset"
}

all_ports() {
	query all -x -a "$lid" && query one -x "$lid" 1 || return 1
	is all PortSelect 255 || return 1
	[ "$(value all PortRcvPkts)" -ge 2 ] || because "the sum is too small"
}

lost_link() {
	"$BUILD/weftsim" 'do' 'link down leaf-01 3' 'link up leaf-01 3' >do.out || because "$(cat do.out)" || return 1
	query lost "$lid" 3 && is lost LinkDownedCounter 1 || return 1
	query reset -R "$lid" 3 0x4 && query lost "$lid" 3 && is lost LinkDownedCounter 0
}

counted() {
	"$BUILD/weftsim" 'do' "count leaf-01 3 SymbolErrorCounter 17" "count leaf-01 3 PortXmitWait 70000" >do.out ||
		because "$(cat do.out)" || return 1
	query counted "$lid" 3 && is counted SymbolErrorCounter 17 && is counted PortXmitWait 70000 || return 1
	! "$BUILD/weftsim" 'do' "count leaf-01 3 SymbolErrorCouter 1" >do.out 2>&1 || because "a counter with a misspelt name" || return 1
	matches 'did you mean SymbolErrorCounter' do.out || because "$(cat do.out)"
}

refused() {
	! query none "$lid" 99 || because "port 99 of the switch has counters"
}

check "weftsim starts" start_weftsim fattree:radix=4,levels=2 || finish
check "a subnet on it" bring_up || finish
check "perfquery counts itself" counts_itself
check "perfquery -x, and resets apart" apart
check "perfquery -a" all_ports
check "a lost link is counted" lost_link
check "weftsim do count" counted
check "a port that is not there" refused
stop_fabric
finish
