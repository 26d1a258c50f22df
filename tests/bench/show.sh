#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Routing by weftd and by OpenSM, engine by engine, on fat trees of 648, 3,456 and 11,664 hosts (QUICK: without the
# last), complete and with 1 % of the links lost. Printed are the cost of the whole process of one bring-up on a
# weftsim, and the quality of its tables by the same judge (bench_route -j), which reads OpenSM's dumps. For complete
# trees it also prints the changes when the leaf in the middle loses a cable upwards: for OpenSM by a second run on the
# same fabric, in which ports still have their LIDs.
#
#	tables	CPU seconds of weft's engine alone; OpenSM does not report this
#	process	CPU seconds and memory of a process that brings the fabric up and ends
#	shift	flows on the link with most flows, in the worst of 500 shift permutations
#	random	the same for 100 random permutations: median, 95 %, worst
#	bisect	effective bisection bandwidth
#	faulty	pairs of switch and LID without a route; waiting: links in credit loops
#	churn	entries that change, and blocks with such entries
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

judge=$BUILD/tests/bench/bench_route
if ! command -v opensm >/dev/null; then
	echo "show: no opensm here (scripts/install-deps installs it)" >&2
	exit 1
fi
sizes="fattree:radix=36,levels=2 fattree:radix=24,levels=3 fattree:radix=36,levels=3"
[ -z "${QUICK:-}" ] || sizes="fattree:radix=36,levels=2 fattree:radix=24,levels=3"

# row HOSTS KIND WHO TABLES CHURN TIME-FILE: from the judge's line on stdin, with the figures of the process.
row() {
	local user sys kib

	read -r user sys kib <"$6"
	awk -F '\t' -v what="$1 hosts$2: $3" -v tables="$4" -v churn="$5" -v cpu="$(awk "BEGIN { print $user + $sys }")" \
		-v mib=$((kib / 1024)) '{
			printf "%s\tshift %2d, random %d/%d/%d\t", what, $8, $9, $10, $11
			printf "bisect %.3f, faulty %d, waiting %d; tables %s; process %.2f s, %d MiB%s\n", $12, $4, $5,
				tables == "" ? $3 " s" : tables, cpu, mib, churn == "" ? "" : "; churn " churn
		}'
}

# churn_words ENTRIES BLOCKS
churn_words() {
	echo "$1 entries, $2 blocks"
}

weftd_row() { # HOSTS KIND SPEC ENGINE
	local churn=

	printf 'routing = ["%s"];\n' "$4" >w.conf
	rm -rf state
	start_weftsim "$3" || return 1
	"$BUILD/weftsim" run -- /usr/bin/time -q -o "$work/w.time" -f '%U %S %M' "$BUILD/weftd" -c w.conf --once \
		--runtime-dir "$work/run" --state-dir "$work/state" >w.out 2>&1 || because "weftd: $(tail -n 1 w.out)" || return 1
	stop_fabric
	if [ -z "$2" ]; then
		# shellcheck disable=SC2046 # two words
		churn=$(churn_words $("$judge" -c "$4" "$3")) || return 1
	fi
	"$judge" -j "$4" "$3" | row "$1" "$2" "weftd $4" "" "$churn" w.time
}

# The leaf in the middle and its last port, as bench_route chooses them.
middle_leaf() {
	"$BUILD/weftsim" topology "$1" | awk -F '"' '/^Switch.*"leaf-/ { split($0, part, /[ \t]+/); leaf[n++] = $2 " " part[2] }
		END { print leaf[int(n / 2)] }'
}

# The engine that made the tables.
used() {
	sed -n 's/.*osm_ucast_mgr_process: \([a-z_0-9]*\) tables configured.*/\1/p' "$1/opensm.log" | tail -n 1
}

opensm_row() { # HOSTS KIND SPEC ENGINE
	local churn='' by

	start_weftsim "$3" && opensm_once osm.d "$4" || return 1
	if [ -z "$2" ]; then
		"$BUILD/weftsim" "do" "link down $(middle_leaf "$3")" >do.out || because "$(cat do.out)" || return 1
		opensm_once cut.d "$4" || return 1
		# shellcheck disable=SC2046 # two words
		churn="$(churn_words $("$judge" -c opensm "$3" osm.d cut.d)) (by $(used cut.d))" || return 1
	fi
	stop_fabric
	by=$(used osm.d)
	"$judge" -j opensm "$3" osm.d | row "$1" "$2" "opensm $4" "by ${by:-?}" "$churn" osm.d/time
}

hosts_of() {
	"$BUILD/weftsim" topology "$1" | grep -cE '^(Hca|Ca)'
}

show() { # SPEC
	local hosts engine lost
	hosts=$(hosts_of "$1")
	for lost in "" ",lose_links=1%,seed=1"; do
		for engine in minhop updn ftree; do
			weftd_row "$hosts" "${lost:+, 1 % lost}" "$1$lost" $engine || return 1
		done
		for engine in minhop updn ftree; do
			opensm_row "$hosts" "${lost:+, 1 % lost}" "$1$lost" $engine || return 1
		done
	done
}

for spec in $sizes; do
	show "$spec" || { echo "show: $spec: $reason" >&2 && failures=1; }
done
finish
