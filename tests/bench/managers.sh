#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Cold bring-up by weftd and by OpenSM, one after the other on the same fabric, each on a new weftsim: wall time, CPU
# time, memory, SMPs. A good part of the wall time is the simulator's, and the same for both. With QUICK only the
# smaller fabrics.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

sizes="fattree:radix=36,levels=2 fattree:radix=24,levels=3 fattree:radix=36,levels=3"
[ -z "${QUICK:-}" ] || sizes="fattree:radix=36,levels=2 fattree:radix=24,levels=3"

# measured NAME COMMAND...: writes wall, user and system seconds and memory in KiB to NAME.time. The command runs on the
# first host.
measured() {
	local name=$1

	shift
	"$BUILD/weftsim" run -- /usr/bin/time -q -o "$work/$name.time" -f '%e %U %S %M' "$@" >"$name.out" 2>&1
}

bring_up_weftd() {
	measured weftd "$BUILD/weftd" -c /dev/null --runtime-dir "$work/run" --state-dir "$work/state" --once
}

bring_up_opensm() {
	mkdir -p osm.d
	OSM_TMP_DIR=$work/osm.d OSM_CACHE_DIR=$work/osm.d measured opensm opensm -o -R minhop -e -f "$work/opensm.log"
}

# The counters of the simulator: SMPs, and whether all ports work.
look_at_fabric() {
	"$BUILD/weftsim" "do" stats >"$1.stats" && "$BUILD/weftsim" "do" check >"$1.check" ||
		because "weftsim: $(tail -n 1 "$1.check")" || return 1
	matches 'unreached=0 loops=0' "$1.check" || because "$1: $(cat "$1.check")"
}

smps() {
	awk '/^programs: MADs sent/ { print $NF }' "$1.stats"
}

row() { # WHAT FIGURE-OF-WEFTD FIGURE-OF-OPENSM UNIT
	awk -v what="$1" -v a="$2" -v b="$3" -v unit="$4" 'BEGIN {
		printf "%s\t%s%s\topensm %s%s, ratio %.2f\n", what, a, unit, b, unit, (b > 0 ? a / b : 0) }'
}

compare() {
	local spec=$1 manager hosts w wu ws wm o ou os om

	for manager in weftd opensm; do
		start_weftsim "$spec" || return 1
		"bring_up_$manager" || because "$manager: $(tail -n 1 $manager.out)" || return 1
		look_at_fabric "$manager" || return 1
		[ "$manager" != weftd ] || server_kib=$(awk '/^VmHWM/ { print $2 }' "/proc/${pids[$fabric]}/status")
		stop_fabric
	done
	hosts=$(sed -n 's/^ports=\([0-9]*\) .*/\1/p' weftd.check)
	read -r w wu ws wm <weftd.time
	read -r o ou os om <opensm.time
	row "$hosts hosts: bring-up, wall time" "$w" "$o" " s"
	row "$hosts hosts: bring-up, CPU time" "$(awk "BEGIN { print $wu + $ws }")" "$(awk "BEGIN { print $ou + $os }")" " s"
	row "$hosts hosts: memory" $((wm / 1024)) $((om / 1024)) " MiB"
	row "$hosts hosts: MADs sent" "$(smps weftd)" "$(smps opensm)" ""
	printf '%s\n' "$hosts hosts: memory of weftsim	$((server_kib / 1024)) MiB"
}

if ! command -v opensm >/dev/null; then
	echo "managers: no opensm here (scripts/install-deps installs it)" >&2
	exit 1
fi
for spec in $sizes; do
	compare "$spec" || { echo "managers: $spec: $reason" >&2 && failures=1; }
done
finish
