#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Is tests/walk a good judge? OpenSM routes small fabrics, and the verdicts of walk and Debian's ibdmchk about its dumps
# must be equal: the number of paths, their lengths, and the number of LIDs over each port between switches. The tables
# read back from the switches give the same verdict. Then the test changes entries, and both must find the errors.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

walk=$BUILD/tests/walk/walk

for tool in opensm ibdmchk; do
	command -v $tool >/dev/null && continue
	echo "skip walk: no $tool here"
	exit 0
done

# route SPEC LMC: OpenSM brings it up, with its dumps in osm.d, and ends.
route() {
	rm -rf osm.d && mkdir osm.d
	start_fabric "$1" || return 1
	(
		export OSM_TMP_DIR=$work/osm.d OSM_CACHE_DIR=$work/osm.d
		as_node host-0001 opensm -o -R minhop -l "$2" -D 0x43 -e -f "$work/opensm.log"
	) >opensm.out 2>&1 || because "opensm: status $?"
}

# walked NAME ARGUMENT...: writes walk's verdict to NAME.walk; returns its status.
walked() {
	local name=$1

	shift
	"$walk" "$@" >"$name.walk" 2>"$name.walk.err"
}

# ibdmchk's status is of no use: it crashes after its verdict.
ibdm() {
	ibdmchk -s osm.d/opensm-subnet.lst -f "$1" -m osm.d/opensm.mcfdbs >"$1.ibdm" 2>/dev/null
	matches '^-I- Parsing FDBs' "$1.ibdm" || because "ibdmchk does not run: $(tail -n 1 "$1.ibdm")"
}

# numbers TITLE FILE: the table of ibdmchk with this in its title, as "number: how often". It counts ports without a
# path otherwise than walk, so these are left out.
numbers() {
	awk -v title="$1" 'index($0, title) { on = 1 }
		on && $1 ~ /^[1-9][0-9]*$/ { print $1 ": " $2 } on && /^-----*$/ { exit }' "$2"
}

# of NAME WHAT: the same from walk.
of() {
	sed -n "s/^$2 \([1-9][0-9]*: \)/\1/p" "$1.walk"
}

agree() {
	walked good osm.d/opensm-subnet.lst osm.d/opensm.fdbs || because "walk: $(tail -n 1 good.walk)" || return 1
	ibdm osm.d/opensm.fdbs || return 1
	equal "the number of paths" "$(tail -n 1 good.walk)" \
		"$(sed -n 's/^-I- Scanned:\([0-9]*\) CA to CA paths.*/paths \1, reached \1, unreached 0, loops 0/p' osm.d/opensm.fdbs.ibdm)" || return 1
	equal "the histogram of hops" "$(of good hops)" \
		"$(numbers '-- CA to CA : LFT ROUTE HOP' osm.d/opensm.fdbs.ibdm)" || return 1
	equal "the histogram of LIDs" "$(of good dlids)" \
		"$(numbers 'SWITCH OUT PORT - NUM DLIDS' osm.d/opensm.fdbs.ibdm)"
}

# The tables that ibnetdiscover and dump_lfts read from the switches, to all ends; then to adapters alone.
read_back() {
	look disc.txt host-0001 ibnetdiscover && look lfts.txt host-0001 dump_lfts ||
		because "$(cat disc.txt.err lfts.txt.err)" || return 1
	walked all -a disc.txt lfts.txt || because "walk -a: $(tail -n 1 all.walk all.walk.err)" || return 1
	walked back disc.txt lfts.txt || because "walk: $(tail -n 1 back.walk)" || return 1
	sed -i 's/ at .*//' good.walk back.walk # of several ports with most paths, the first
	cmp -s good.walk back.walk || because "$(diff good.walk back.walk)"
}

# ibdmchk cannot judge an LMC if switches have none. Every adapter here has two LIDs.
paths_of_lmc() {
	local hosts=$1

	walked good -l 1 osm.d/opensm-subnet.lst osm.d/opensm.fdbs
	equal "the verdict" "$(tail -n 1 good.walk)" \
		"paths $((2 * hosts * (hosts - 1))), reached $((2 * hosts * (hosts - 1))), unreached 0, loops 0"
}

lid_of() {
	sed -n "s/^{ CA.*{$1} LID:\([0-9A-F]*\) .*/0x\1/p" osm.d/opensm-subnet.lst
}

# broken NAME COLUMNS: NAME.fdbs has these columns after a host's LID, at the first switch that is not the host's own.
broken() {
	awk -v columns="$2" -v lid="$(lid_of host-0003)" '
		!done && $1 == lid && $5 > 1 { $0 = $1 " " columns; done = 1 }
		{ print }' osm.d/opensm.fdbs >"$1.fdbs"
	! cmp -s osm.d/opensm.fdbs "$1.fdbs" || because "nothing was changed"
}

missing_entry() {
	local missing

	broken missing ': UNREACHABLE' || return 1
	! walked missing osm.d/opensm-subnet.lst missing.fdbs || because "walk takes it" || return 1
	ibdm missing.fdbs || return 1
	missing=$(sed -n 's/^-E- Found \([0-9]*\) missing paths.*/\1/p' missing.fdbs.ibdm)
	equal "the number of unreached paths" "$(sed -n 's/^paths.* unreached \([0-9]*\),.*/\1/p' missing.walk)" "$missing" || return 1
	matches 'unreached: .* its table has no port for the LID$' missing.walk || because "it does not say why"
}

no_such_port() {
	broken port ': 200 : 02 : yes' || return 1
	! walked port osm.d/opensm-subnet.lst port.fdbs || because "walk takes it" || return 1
	matches 'unreached: .* it has no such port as its table says$' port.walk || because "it does not say why"
}

# The first two switches that are neighbours send a host's LID to each other. Ports have one digit here.
circle() {
	local lid link

	lid=$(lid_of host-0003)
	link=$(sed -n 's/^{ SW.*NodeGUID:\([0-9a-f]*\) .* PN:\(..\) } { SW.*NodeGUID:\([0-9a-f]*\) .* PN:\(..\) } .*/\1 0x\2 \3 0x\4/p;T;q' \
		osm.d/opensm-subnet.lst)
	awk -v lid="$lid" -v link_text="$link" '
		BEGIN { split(link_text, end, " ") }
		/^dump/ { at = $0 ~ end[1] "$" ? 2 : $0 ~ end[3] "$" ? 4 : 0 }
		at && $1 == lid { $0 = sprintf("%s : %03d : 02 : yes", $1, substr(end[at], 3)) }
		{ print }' osm.d/opensm.fdbs >circle.fdbs
	! walked circle osm.d/opensm-subnet.lst circle.fdbs || because "walk takes it" || return 1
	matches '^loop: .* of "host-0003": at "sw-[0-9]*", it is passed again$' circle.walk || because "it does not say where: $(cat circle.walk)" || return 1
	matches 'loops [1-9]' circle.walk || because "it counts no loop" || return 1
	ibdm circle.fdbs || return 1
	matches 'loop in LFT' circle.fdbs.ibdm || because "ibdmchk sees none"
}

unusable() {
	walked none osm.d/opensm-subnet.lst /dev/null
	equal "the status without tables" $? 2 || return 1
	walked none osm.d/opensm.fdbs osm.d/opensm.fdbs
	equal "the status without a topology" $? 2 || return 1
	walked none /no/such osm.d/opensm.fdbs
	equal "the status without a file" $? 2
}

for spec in fattree:radix=4,levels=3 torus:dims=4x4,hosts=1 random:switches=8,degree=3,hosts=2,seed=1; do
	check "$spec: OpenSM routes it" route "$spec" 0 || continue
	check "$spec: walk and ibdmchk agree" agree
	check "$spec: tables read back" read_back
	stop_fabric
done
check "LMC 1: OpenSM routes it" route random:switches=8,degree=3,hosts=2,seed=1 1 || finish
check "LMC 1: all paths" paths_of_lmc 16
check "LMC 1: tables read back" read_back
stop_fabric
check "ring: OpenSM routes it" route ring:switches=6,hosts=1 0 || finish
check "ring: a missing entry" missing_entry
check "ring: an entry with no such port" no_such_port
check "ring: a circle" circle
check "unusable files" unusable
finish
