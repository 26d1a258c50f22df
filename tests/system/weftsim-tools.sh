#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The standard tools, unchanged, on weftsim: their output about a fabric with OpenSM, whole tables of the SA through
# RMPP, pings between programs, osmtest, OpenSM on each kind of topology with each of its engines, and two managers with
# a handover and a failover.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v opensm >/dev/null; then
	echo "skip weftsim-tools: no opensm here"
	exit 0
fi

# The fabric of most tests: 32 hosts, 8 leaves and 4 spines, 64 cables.
spec=fattree:radix=8,levels=2 hosts=32 switches=12 nodes=44 cables=64

# reaches_all: every pair of hosts, by the switches' tables.
reaches_all() {
	"$BUILD/weftsim" "do" check >check.txt 2>&1
}

# lid_of HOST, gid_of HOST, guid_of HOST: of its port 1.
lid_of() {
	look address.txt "$1" ibaddr && printf '%d' "$(sed -n 's/.* start \(0x[0-9a-f]*\).*/\1/p' address.txt)"
}

gid_of() {
	look address.txt "$1" ibaddr && sed -n 's/^GID \([^ ]*\).*/\1/p' address.txt
}

guid_of() {
	look guid.txt "$1" ibstat -p && head -n 1 guid.txt
}

opensm_runs() {
	start_weftsim "$1" && start_opensm opensm host-0001 "${@:2}" || return 1
	wait_for 30 reaches_all || because "$(tail -n 1 check.txt)"
}

end_all() {
	stop opensm || because "opensm ends with status $?" || return 1
	stop_fabric
}

# shows COUNT PATTERN HOST COMMAND...: this number of lines of a tool's output match.
shows() {
	local count=$1 pattern=$2 status

	shift 2
	look shown.txt "$@"
	status=$?
	[ $status -eq 0 ] || because "status $status: $(tail -n 1 shown.txt.err)" || return 1
	equal "the number of lines with $pattern" "$(grep -cE -- "$pattern" shown.txt)" "$count"
}

# Data from files

ibstat_and_ibstatus() {
	shows 1 'State: Active' host-0005 ibstat || return 1
	shows 1 "Base lid: $(lid_of host-0005)\$" host-0005 ibstat || return 1
	shows 1 'state:.*4: ACTIVE' host-0005 ibstatus || return 1
	shows 1 "base lid:.*$(printf '0x%x' "$(lid_of host-0005)")\$" host-0005 ibstatus || return 1
	shows 1 '(CA type|Node GUID): 0x' host-0005 ibstat -s
}

# By SMPs

diagnostics() {
	local tool count pattern

	while IFS='|' read -r tool count pattern; do
		# shellcheck disable=SC2086 # words are meant
		check "$tool" shows "$count" "$pattern" host-0002 $tool
	done <<-TABLE
		sminfo|1|sm lid 1 .*SMINFO_MASTER
		ibaddr|1|LID start 0x
		ibnetdiscover|$nodes|^(Switch|Ca)[[:space:]]
		ibnetdiscover -p|$((2 * cables))|^(SW|CA)
		ibswitches|$switches|^Switch
		ibhosts|$hosts|^Ca
		ibnodes|$nodes|^(Switch|Ca)
		iblinkinfo --line|$((2 * cables))|Active/ *LinkUp
		ibidsverify|0|.
		smpquery nodeinfo $leaf|1|^NodeType:\.+Switch
		smpquery -D nodeinfo 0,1|1|^NodeType:\.+Switch
		smpquery nodedesc $leaf|1|leaf-01
		smpquery portinfo $leaf 1|1|^LinkState:\.+Active
		smpquery -D portinfo 0,1 1|1|^LinkState:\.+Active
		smpquery switchinfo $leaf|1|^LinearFdbCap
		smpquery pkeys $lid|1|0xffff
		smpquery sl2vl $leaf|9|^ports: in +[0-8], out +0
		smpquery sl2vl $leaf 1|9|^ports: in +[0-8], out +1
		smpquery vlarb $lid 1|1|Low priority
		smpquery guidinfo $lid|1|^ +0: 0x[0-9a-f]+ 
		smpquery -C weftsim0 -P 1 nodeinfo $leaf|1|^NodeType:\.+Switch
		smpquery -c nodeinfo $leaf 0|1|^NodeType:\.+Switch
		smpquery -c nodedesc $leaf 0,1|1|host-0001
		smpdump $leaf 0x11|1|^0101 0208
		smpdump -D 0,1 0x11|1|^0101 0208
		ibportstate $leaf 1 query|2|^LinkState:\.+Active
		ibportstate -D 0,1 1 query|2|^LinkState:\.+Active
		ibtracert $lid $far|1|^To ca .* lid $far-$far
		ibroute $leaf|1|^$nodes valid lids dumped
		ibroute -M $leaf|1|valid mlids dumped
		dump_lfts|$switches|^Unicast lids
		dump_mfts|$switches|^Multicast mlids
		perfquery $far 1|1|^PortXmitPkts:\.+[1-9]
		perfquery -x $far 1|1|^PortXmitPkts:\.+[1-9]
		ibqueryerrors|1|^## +Summary
	TABLE
}

# Tables of the SA

saquery_tables() {
	local form count pattern

	while IFS='|' read -r form count pattern; do
		# shellcheck disable=SC2086 # words are meant
		check "saquery $form" shows "$count" "$pattern" host-0002 saquery $form
	done <<-TABLE
		NR|$nodes|^NodeRecord dump
		-N|$nodes|^NodeRecord dump
		--list|$hosts|^ +[0-9]+ +"host-
		PIR|$((hosts + 9 * switches))|^PortInfoRecord dump
		CPI|1|Class version\.+2
		-c|1|Class version\.+2
		LR|$((2 * cables))|^LinkRecord dump
		-x|$((2 * cables))|^LinkRecord dump
		MCMR|1|^MCMember Record dump
		-g|1|^MCMemberRecord group dump
		-m|1|^MCMemberRecord member dump
		SMIR|1|^SMInfoRecord dump
		-s|1|^IsSM ports
		SWIR|$switches|^SwitchInfoRecord dump
		GIR|$((hosts + 9 * switches))|^GUIDInfo Record dump
		SL2VL|$((hosts + 81 * switches))|^SL2VLTableRecord
		VLAR|$((4 * (hosts + 9 * switches)))|^VLArbTableRecord
		--smkey 1 PKTR|$((4 * hosts + (4 + 8) * switches))|^PKeyTableRecord
		LFTR|$switches|^LFT Record dump
		MFTR|0|dump
		SR|0|^ServiceRecord
		IIR|0|^InformInfoRecord
		-p|$((nodes * nodes))|^PathRecord dump
		--src-to-dst $lid:$far|1|dlid\.+$far\$
		--sgid-to-dgid $gid-$far_gid|1|dlid\.+$far\$
	TABLE
}

# Between programs

# serves PROGRAM: a program that answers requests of another program.
serves() {
	(as_node host-0003 "$1" -S) >"$1.out" 2>&1 &
	pids[$1]=$!
}

answers_pings() {
	serves ibping
	wait_for 20 shows 1 '1 packets transmitted, 1 received' host-0002 ibping -c 1 "$(lid_of host-0003)" || return 1
	shows 1 '20 packets transmitted, 20 received, 0%' host-0002 ibping -f -c 20 "$(lid_of host-0003)" || return 1
	kill_now ibping
}

answers_sysstat() {
	serves ibsysstat
	wait_for 20 shows 1 'sysstat ping succeeded' host-0002 ibsysstat "$(lid_of host-0003)" || return 1
	shows 1 "^$(hostname)" host-0002 ibsysstat "$(lid_of host-0003)" host || return 1
	shows 1 '^cpu 0:' host-0002 ibsysstat "$(lid_of host-0003)" cpu || return 1
	kill_now ibsysstat
}

osmtest_passes() {
	look osmtest.txt host-0002 osmtest -g "$(guid_of host-0002)" -f "$1" -i inventory.dat -l osmtest.log "${@:2}"
	matches "^OSMTEST: TEST \".*\" PASS" osmtest.txt || because "$(tail -n 3 osmtest.txt | tr '\n' ' ')"
}

# Many hosts: through RMPP, without losses

# whole_table HOSTS FORM PATTERN SPEC: of a fabric that opensm brings up, which answers nothing while it sweeps.
whole_table() {
	opensm_runs "$4" || return 1
	wait_for 60 shows "$1" "$3" host-0002 saquery "$2" || return 1
	end_all
}

# OpenSM's engines

# The engine of the tables in force.
engine() {
	sed -nE 's/.*: ([a-z]+) tables configured on all switches.*/\1/p' once.log | tail -n 1
}

# brings_up ENGINE WANTED SPEC [ARGUMENT]...: opensm once, whose tables reach all nodes.
brings_up() {
	local wanted=$2 spec=$3

	start_weftsim "$spec" || return 1
	rm -f once.log
	mkdir -p once.d
	(
		export OSM_TMP_DIR=$work/once.d OSM_CACHE_DIR=$work/once.d
		look once.out "$("$BUILD/weftsim" topology "$spec" | sed -n '/^\(Ca\|Hca\)/{s/^[^"]*"\([^"]*\)".*/\1/p;q}')" \
			opensm -e -o -R "$1" -f "$work/once.log" "${@:4}"
	) || because "opensm $1: status $?: $(tail -n 1 once.log)" || return 1
	reaches_all || because "opensm $1: $(tail -n 1 check.txt)" || return 1
	equal "the engine in force" "$(engine)" "$wanted" || return 1
	stop_fabric
}

# Engines that do not suit a topology are replaced by minhop: OpenSM's ftree without a tree, its updn if it finds no
# roots, unless it has a list of roots.
engines() {
	local spec=$1 engine wanted

	shift
	for engine in minhop updn ftree dor dfsssp lash; do
		wanted=$engine
		[[ " $* " != *" $engine "* ]] || wanted=minhop
		brings_up "$engine" "$wanted" "$spec" || return 1
	done
	[[ " $* " == *" updn "* ]] || return 0
	"$BUILD/weftsim" topology "$spec" | sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p' | head -n 1 >roots.txt
	brings_up updn updn "$spec" -a "$work/roots.txt"
}

# Two managers

is_master() {
	look sminfo.txt host-0008 sminfo && matches "sm lid $(lid_of "$1") .*SMINFO_MASTER" sminfo.txt
}

# The second manager has a higher rank: it takes a handover, and when it dies the first becomes MASTER again.
hands_over() {
	local first=$1 second=$2

	start_weftsim fattree:radix=4,levels=2 || return 1
	"start_$first" first host-0001 "$(priority "$first" 3)" || return 1
	wait_for 30 is_master host-0001 || because "$first does not become MASTER: $(cat sminfo.txt)" || return 1
	"start_$second" second host-0002 "$(priority "$second" 9)" || return 1
	wait_for 30 is_master host-0002 || because "$second gets nothing: $(cat sminfo.txt)" || return 1
	kill_now second
	wait_for 60 is_master host-0001 || because "$first does not take over: $(cat sminfo.txt)" || return 1
	wait_for 30 reaches_all || because "$(tail -n 1 check.txt)" || return 1
	stop first || because "$first ends with status $?" || return 1
	stop_fabric
}

priority() {
	case $1 in
	weftd) echo "-osm_priority=$2" ;;
	opensm) echo "-p$2" ;;
	esac
}

if check "opensm brings up $spec" opensm_runs "$spec"; then
	lid=$(lid_of host-0002) far=$(lid_of host-0032) gid=$(gid_of host-0002) far_gid=$(gid_of host-0032)
	look leaf.txt host-0002 smpquery -D portinfo 0,1 0
	leaf=$(sed -n 's/^Lid:\.*//p' leaf.txt)
	check "ibstat, ibstatus" ibstat_and_ibstatus
	diagnostics
	saquery_tables
	check "ibping" answers_pings
	check "ibsysstat" answers_sysstat
	check "osmtest -f c: inventory" osmtest_passes c
	check "osmtest -f v: validation" osmtest_passes v
	check "osmtest -f s: services" osmtest_passes s
	check "osmtest -f m: multicast" osmtest_passes m -M 2
	check "osmtest -f q: QoS tables" osmtest_passes q
	check "opensm and weftsim end" end_all
fi
check "saquery NR: all of 648 hosts and 54 switches" \
	whole_table 702 NR '^NodeRecord dump' fattree:radix=36,levels=2
check "saquery -p: the paths of all pairs of 64 hosts and 16 switches" \
	whole_table $((80 * 80)) -p '^PathRecord dump' fattree:radix=16,levels=2,leaves=8
check "opensm's engines: one switch" engines single:hosts=8 ftree
check "opensm's engines: tree of 2 levels" engines fattree:radix=8,levels=2
check "opensm's engines: tree of 3 levels" engines fattree:radix=4,levels=3
check "opensm's engines: tree, oversubscribed" engines fattree:radix=12,levels=2,leaves=6,oversubscription=2
check "opensm's engines: torus 2D" engines torus:dims=4x4,hosts=2 updn ftree
check "opensm's engines: torus 3D" engines torus:dims=3x3x3,hosts=1 updn ftree
check "opensm's engines: mesh" engines mesh:dims=4x3,hosts=2 updn ftree
check "opensm's engines: hypercube" engines hypercube:dim=4,hosts=1 updn ftree
check "opensm's engines: dragonfly" engines dragonfly:a=4,h=2,p=2 updn ftree
check "opensm's engines: hyperx" engines hyperx:dims=4x4,hosts=2 updn ftree
check "opensm's engines: ring" engines ring:switches=6,hosts=2 updn ftree
check "opensm's engines: random" engines random:switches=20,degree=5,hosts=3,seed=1 updn ftree
check "opensm hands over to opensm, and takes over" hands_over opensm opensm
check "weftd hands over to opensm, and takes over" hands_over weftd opensm
check "opensm hands over to weftd, and takes over" hands_over opensm weftd
finish
