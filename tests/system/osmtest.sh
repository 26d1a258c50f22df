#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Every flow of osmtest that ends, against weftd and against OpenSM on a weftsim each, with the verdicts side by side.
# All pass, except the flow of QoS tables with weftd. osmtest requests four blocks of VLArbitrationTable of each port,
# also of port 0 of switches, and OpenSM returns zeros for blocks that do not exist. Blocks 2 and 4 exist only with more
# than 32 entries (14.2.5.9), and a base port 0 has no data VLs to arbitrate. weftd has no record of a table that no
# device has. So this flow passes if nothing else is missing.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip osmtest: the preload library and sanitizers exclude each other"
	exit 0
fi

spec=fattree:radix=4,levels=2 hosts=8 switches=6 ports=4
declare -A socket=()

# flow NAME ARGUMENT...: one line for it, as client of $manager.
flow() {
	local name=$1 log=$manager-$1 verdict

	shift
	rm -f "$log.log"
	timeout 250 "$BUILD/weftsim" run -n host-0002 -- osmtest -g "$guid" "$@" -i "$manager.dat" \
		-v -l "$log.log" >"$log.txt" 2>&1
	verdict=$(sed -n 's/^OSMTEST: TEST "\(.*\)" \(PASS\|FAIL\).*/\2/p' "$log.txt" | tail -n 1)
	printf '%s\t%s\n' "$name" "${verdict:-no verdict}" >>"$manager.verdicts"
}

flows() {
	local manager=$1 guid

	export WEFTSIM_SOCKET=${socket[$manager]}
	look "$manager.ports" host-0002 ibstat || return 1
	guid=$(sed -n 's/.*Port GUID: //p' "$manager.ports")
	: >"$manager.verdicts"
	flow inventory -f c
	flow validation -f v
	flow services -f s
	flow events -f e
	flow multicast-1 -f m -M 1
	flow multicast-2 -f m -M 2
	flow all -f a
	flow stress-1 -f f -s 1
	flow stress-2 -f f -s 2
	flow stress-3 -f f -s 3
	flow stress-4 -f f -s 4
	flow qos -f q
}

weftd_runs() {
	start_weftsim $spec && socket[weftd]=$WEFTSIM_SOCKET &&
		start_weftd weftd host-0001 -o readback_interval=2 || return 1
	wait_for 30 is_up weftd || because "weftd has no subnet: $(tail -n 1 weftd.log)"
}

opensm_runs() {
	start_weftsim $spec && socket[opensm]=$WEFTSIM_SOCKET && start_opensm opensm host-0001 || return 1
	wait_for 60 matches 'SUBNET UP' opensm.log || because "OpenSM has no subnet: $(tail -n 1 opensm.log)"
}

both() {
	local opensm

	flows opensm &
	opensm=$!
	flows weftd
	wait $opensm
	printf '# %-14s %-12s %s\n' flow weftd opensm
	join -t "$(printf '\t')" <(sort weftd.verdicts) <(sort opensm.verdicts) >verdicts.txt
	awk -F '\t' '{ printf "# %-14s %-12s %s\n", $1, $2, $3 }' verdicts.txt
	equal "the number of flows" "$(wc -l <verdicts.txt)" 12
}

# of MANAGER FLOW: its verdict.
of() {
	awk -F '\t' -v flow="$2" '$1 == flow { print $2 }' "$1.verdicts"
}

same() {
	equal "the verdict about weftd" "$(of weftd "$1")" PASS || return 1
	equal "the verdict about OpenSM" "$(of opensm "$1")" PASS
}

tables_read() {
	look vlarb.txt host-0002 saquery VLAR && [ "$(grep -c dump vlarb.txt)" = $((2 * (hosts + switches * ports))) ]
}

# The missing blocks: the second half of both tables of each port, and all four of port 0.
qos() {
	local manager=weftd guid

	equal "OpenSM's verdict" "$(of opensm qos)" PASS || return 1
	export WEFTSIM_SOCKET=${socket[weftd]}
	wait_for 40 tables_read || because "saquery shows $(grep -c dump vlarb.txt) tables" || return 1
	guid=$(sed -n 's/.*Port GUID: //p' weftd.ports)
	flow qos -f q
	equal "the number of requests that have no other answer than NO_RECORDS" \
		"$(grep 'Remote error' weftd-qos.log | grep -vcE 'NO_RECORDS|0x0300')" 0 || return 1
	sed -nE 's/.*Failed to get (Lid:0x[0-9a-fA-F]+ Port:0x[0-9a-fA-F]+).*/\1/p' weftd-qos.log | sort |
		uniq -c | awk '{ print $1 " missing" }' | sort | uniq -c | awk '{ $1 = $1; print }' >missing.txt
	equal "the list of ports that lack blocks" "$(tr '\n' ',' <missing.txt)" \
		"$((hosts + switches * ports)) 2 missing,$switches 4 missing,"
}

check "weftd runs" weftd_runs || finish
check "OpenSM runs" opensm_runs || finish
check "osmtest's flows" both
for name in inventory validation services events multicast-1 multicast-2 all stress-1 stress-2 stress-3 stress-4; do
	check "osmtest $name: as with OpenSM" same $name
done
check "osmtest qos: only tables that do not exist are missing" qos
finish
