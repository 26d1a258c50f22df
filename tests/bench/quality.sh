#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The quality of the tables of weft's engines beside OpenSM's, on trees complete and with links lost. OpenSM brings each
# fabric up on a weftsim and dumps its tables, and bench_route -j judges all tables. OpenSM's ftree and updn run twice,
# with roots found and with roots given. Figures are those of the worst fabric of a kind. Time and memory of OpenSM are
# those of the whole process, with the bring-up.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

judge=$BUILD/tests/bench/bench_route
if ! command -v opensm >/dev/null; then
	echo "quality: no opensm here (scripts/install-deps installs it)" >&2
	exit 1
fi

# roots SPEC: the GUIDs of the top switches, found by their names in weftsim.
roots() {
	"$BUILD/weftsim" topology "$1" | awk '/^switchguid=/ { split($0, part, /[=(]/); guid = part[2] }
		/^Switch.*"(spine|core)-/ { print guid }'
}

# judged SPEC NAME OPTION...: the judge's line about OpenSM's tables, with OpenSM's CPU time.
judged() {
	local spec=$1 name=$2 user sys kib

	shift 2
	start_weftsim "$spec" && opensm_once osm.d "$@" && stop_fabric || return 1
	read -r user sys kib <osm.d/time
	"$judge" -j "$name" "$spec" osm.d | awk -F '\t' -v OFS='\t' -v s="$(awk "BEGIN { print $user + $sys }")" \
		-v mib=$((kib / 1024)) '{ $3 = s; print $0, mib }'
}

# ours_of SPEC: the line of each engine of weft.
ours_of() {
	local engine

	for engine in minhop updn ftree; do
		"$judge" -j $engine "$1" || return 1
	done
}

# all_of SPEC: the line of every manager and engine.
all_of() {
	local spec=$1 engine

	ours_of "$spec" || return 1
	roots "$spec" >roots
	for engine in minhop updn ftree; do
		judged "$spec" "opensm $engine" $engine || return 1
	done
	for engine in updn ftree; do
		judged "$spec" "opensm $engine, roots given" $engine -a "$work/roots" || return 1
	done
}

# kind NAME LINES SPEC [SEED]...: one row for each engine of LINES, about the fabrics of all seeds.
kind() {
	local name=$1 lines=$2 spec=$3 seed

	shift 3
	for seed in "${@:-}"; do
		"$lines" "$spec${seed:+,seed=$seed}" || return 1
	done >lines
	awk -F '\t' -v name="$name" '
		!($1 in n) { order[++engines] = $1 }
		{
			n[$1]++; sum[$1] += $3; shifts[$1 SUBSEP $8]++
			if ($4 > faulty[$1]) faulty[$1] = $4
			if ($5 > loops[$1]) loops[$1] = $5
			if ($8 > shift_[$1]) shift_[$1] = $8
			if ($9 > random[$1]) random[$1] = $9
			if ($13 > mib[$1]) mib[$1] = $13
			if (!($1 in least) || $12 < least[$1]) least[$1] = $12
		}
		END {
			for (i = 1; i <= engines; i++) {
				e = order[i]
				how = ""
				for (k = 1; k <= shift_[e]; k++)
					if (shifts[e, k])
						how = how sprintf("%s%d in %d", how ? ", " : "", k, shifts[e, k])
				printf "%s: %s\tshift %d, random %d\t%s; bisection %.3f, faulty %d, waiting %d, %.3f s%s\n", name, e,
					shift_[e], random[e], how, least[e], faulty[e], loops[e], sum[e] / n[e],
					mib[e] ? ", " mib[e] " MiB" : ""
			}
		}' lines
}

seeds=$(seq 1 "$([ -n "${QUICK:-}" ] && echo 3 || echo 20)")
few=$(seq 1 "$([ -n "${QUICK:-}" ] && echo 1 || echo 5)")
# shellcheck disable=SC2086 # words are meant
{
	kind "648 hosts" all_of fattree:radix=36,levels=2 &&
		kind "648 hosts, 1 % lost" all_of fattree:radix=36,levels=2,lose_links=1% $few &&
		kind "432 hosts" all_of fattree:radix=12,levels=3 &&
		kind "432 hosts, 1 % lost" all_of fattree:radix=12,levels=3,lose_links=1% $seeds &&
		kind "432 hosts, 5 % lost" all_of fattree:radix=12,levels=3,lose_links=5% $few &&
		{ [ -n "${QUICK:-}" ] || kind "3456 hosts" all_of fattree:radix=24,levels=3; } &&
		{ [ -n "${QUICK:-}" ] || kind "3456 hosts, 1 % lost" all_of fattree:radix=24,levels=3,lose_links=1% $few &&
			kind "3456 hosts, 1 % lost, weftd alone" ours_of fattree:radix=24,levels=3,lose_links=1% $seeds; }
} || { echo "quality: $reason" >&2 && failures=1; }
finish
