#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The commands about routes and topology, each with its text, its JSON and its refusals, on fabrics of weftsim. Their
# output is compared with weftsim's own walk, ibdmchk, ibnetdiscover and the switches' counters of Sets.
# shellcheck source=tests/system/lib.sh disable=SC2016 # expressions are Perl's
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip route: the preload library and sanitizers exclude each other"
	exit 0
fi

# told COMMAND...: writes weftctl's text to told.txt; returns its status.
told() {
	"$BUILD/weftctl" -s "$work/sm.run/control.sock" "$@" >told.txt 2>told.err
}

# says STATUS PATTERN COMMAND...: this status and a matching line.
says() {
	local wanted=$1 pattern=$2 status

	shift 2
	told "$@"
	status=$?
	equal "the status of '$*'" $status "$wanted" || return 1
	matches "$pattern" told.txt || matches "$pattern" told.err ||
		because "'$*' says $(head -n 3 told.txt told.err)"
}

# answers_json EXPRESSION WANTED COMMAND...
answers_json() {
	local expression=$1 wanted=$2

	shift 2
	ctl sm "$@" >answer.json 2>answer.err
	equal "$expression of '$*'" "$(json "$expression" <answer.json 2>&1)" "$wanted"
}

simulator_sets() {
	"$BUILD/weftsim" "do" stats | grep -E 'Set' | tr -s ' '
}

up() {
	start_weftsim "$1" && start_weftd sm "$2" -o "routing=[\"$3\"]" -o sweep_interval=0 || return 1
	wait_for 60 is_up sm || because "it does not come up: $(tail -n 1 sm.log)"
}

down() {
	stop sm && stop_fabric
}

# Programmed routes

good_routes() {
	says 0 '^Reached: 528 of 528 pairs' route check || return 1
	matches '^Credit loops: none' told.txt || because "it says $(cat told.txt)" || return 1
	answers_json '$_->{engine}, $_->{pairs}, $_->{unreached}, $_->{credit}{loops}, $_->{good} ? 1 : 0' \
		'ftree 528 0 0 1' route check || return 1
	"$BUILD/weftsim" "do" check >do.txt || return 1
	matches 'unreached=0 loops=0' do.txt || because "weftsim says $(cat do.txt)"
}

quality() {
	says 0 '^shifts:     fullest link, worst +1$' route quality || return 1
	answers_json '$_->{all_to_all}{unreached}, $_->{shifts}{worst}, $_->{shifts}{patterns}, $_->{all_to_all}{unused}' \
		'0 1 31 0' route quality || return 1
	answers_json '$_->{all_to_all}{pairs}' $((32 * 31)) route quality
}

# A plan shows its cost and writes nothing.
plan() {
	local before

	before=$(simulator_sets)
	says 0 '^Planned: minhop; nothing is programmed' route plan --engine minhop || return 1
	answers_json '$_->{engine}, $_->{planned}{engine}, $_->{planned}{unreached}' 'ftree minhop 0' \
		route plan --engine minhop || return 1
	answers_json '$_->{churn}{entries}, $_->{churn}{blocks}, $_->{churn}{paths}' '0 0 0' \
		route plan --engine ftree || return 1
	equal "the count of Sets" "$(simulator_sets)" "$before" || return 1
	says 1 'did you mean "updn"' route plan --engine updm || return 1
	says 1 'file refused the fabric: .' route plan --engine file || return 1
	says 2 '^weftctl: --engine is missing' route plan
}

engine() {
	says 0 '^Routing     updn' route engine updn,minhop || return 1
	matches '^This setting survives a restart' told.txt || because "$(cat told.txt)" || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" updn || return 1
	answers_json '$_->{routing}{engine}, $_->{summary}' 'minhop subnet up, routes recomputed' \
		route engine minhop --force || return 1
	told route engine updn || because "$(cat told.err)" || return 1
	says 1 'did you mean "ftree"' route engine ftre || return 1
	says 1 'engine minhop is in the list twice' route engine minhop,minhop || return 1
	answers_json '$_->{changed}, $_->{fabric_changed}, $_->{blocks_set} >= $_->{switches_set}, $_->{switches_set} > 0' \
		'1 0 1 1' route engine 'minhop , updn' --force || return 1
	says 0 'block.* of forwarding tables written on [1-9]' route engine ' updn' || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" updn
}

# A choice at run time survives a restart, against the configuration, until it is cleared.
engine_kept() {
	stop sm || return 1
	start_weftd sm host-0001 -o 'routing=["ftree"]' -o sweep_interval=0 || return 1
	wait_for 60 is_up sm || because "it does not come up: $(tail -n 1 sm.log)" || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" updn || return 1
	says 0 '^Run time +routing = updn, set at run time' status || return 1
	says 0 '"Value": ?"updn"' save -
}

# Log levels as well.
log_level_kept() {
	says 0 '^sm +debug$' log level sm debug || return 1
	says 1 'unknown component "cellar"' log level cellar debug || return 1
	says 2 'is not a level' log level sm loud || return 1
	stop sm || return 1
	start_weftd sm host-0001 -o 'routing=["ftree"]' -o sweep_interval=0 || return 1
	wait_for 60 is_up sm || because "it does not come up: $(tail -n 1 sm.log)" || return 1
	matches '^DEBUG sm: sweep 1 .* begins' sm.log || because "nothing of sm is logged with debug" || return 1
	says 0 'log_level = sm=debug' status || return 1
	says 0 '^sm +info$' log level default
}

engine_default() {
	says 0 '^These are the engines of the configuration' route engine default || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" ftree || return 1
	equal "the run-time settings" "$(status sm 'scalar @{$_->{settings}}')" 0
}

# An engine without routes is not kept: the former engine answers the next fault.
refused_engine() {
	says 1 'no new routes, tables unchanged: .' route engine file || return 1
	wait_for 20 is_up sm || because "it does not come up again" || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" updn || return 1
	says 0 '^Reached: 528' route check
}

show() {
	says 0 '^from host-0001 .* to host-0032' route show host-0001 host-0032 || return 1
	answers_json '$_->{sl}, join(",", map { $_->{vl} } @{$_->{hops}})' '3 3,3,3' \
		route show host-0001 host-0032 --sl 3 || return 1
	says 2 '"16" is not a service level: a number from 0 to 15' route show host-0001 host-0032 --sl 16 || return 1
	says 2 '"xyz" is not an MGID' multicast show xyz || return 1
	says 0 'source and destination are the same node' route show host-0001 host-0001
}

dump() {
	says 0 'new/opensm.fdbs: [0-9]+ bytes' route dump --format opensm new || return 1
	answers_json 'map { $_->{file} } @{$_->{files}}' 'opensm-subnet.lst opensm.fdbs opensm.mcfdbs' \
		route dump --format opensm new || return 1
	equal "the list of files" "$(echo new/* new/.[!.]*)" \
		'new/opensm-subnet.lst new/opensm.fdbs new/opensm.mcfdbs new/.[!.]*' || return 1
	# Of 8 leaves with 4 hosts and 4 spines: the host itself, one cable, two cables, and the hosts of other leaves.
	equal "how often each number of hops stands there" \
		"$(awk -F ' *: *' '/yes$/ { n[$3]++ } END { print n["00"], n["01"], n["02"], n["03"], length(n) }' new/opensm.fdbs)" \
		'12 96 196 224 4' || return 1
	says 1 '^weftctl: cannot make /proc/none' route dump --format opensm /proc/none || return 1
	says 1 '^weftctl: cannot open told.txt' route dump --format opensm told.txt || return 1
	says 2 'is not opensm' route dump --format xml new
}

# ibdmchk's status is of no use: it crashes after its verdict, which bash reports.
ibdmchk_takes_the_dump() {
	bash -c 'ibdmchk -s new/opensm-subnet.lst -f new/opensm.fdbs -m new/opensm.mcfdbs -a; :' >verdict 2>&1
	matches "Scanned:$((32 * 31)) CA to CA paths" verdict && matches 'no credit loops found' verdict ||
		because "it says $(tail -n 5 verdict)" || return 1
	grep -vE '^-I-|^-W- .*unknown' verdict | grep -E '^-[EW]-' >complaints
	equal "the list of complaints" "$(cat complaints)" ''
}

walk_takes_the_dump() {
	"$BUILD/weftsim" topology fattree:radix=8,levels=2 >plan.net
	"$BUILD/tests/walk/walk" new/opensm-subnet.lst new/opensm.fdbs >walk.txt 2>&1 ||
		because "walk says $(tail -n 2 walk.txt)"
}

# The fabric, exported and checked

# Another simulator of that net has the same number of nodes and cables.
simulator_takes() {
	"$BUILD/weftsim" serve -s "$work/other.sock" "$1" >other.log 2>&1 &
	pids[other]=$!
	wait_for 20 grep -q . other.log
	stop other || return 1
	matches 'nodes=44 switches=12 links=64' other.log || because "it says $(cat other.log)"
}

export_net() {
	told topology export --format net && cp told.txt is.net
	simulator_takes is.net || return 1
	says 0 '^as planned: 12 switches, 32 adapters, 64 links' topology check is.net || return 1
	look seen.net host-0001 ibnetdiscover || because "ibnetdiscover fails" || return 1
	says 0 '^as planned: 12 switches, 32 adapters, 64 links' topology check seen.net
}

export_other() {
	says 0 '^SwitchName=leaf-03 Nodes=host-\[0009-0012\]$' topology export --format slurm || return 1
	matches '^SwitchName=spine-01 Switches=leaf-\[01-08\]$' told.txt || because "$(cat told.txt)" || return 1
	says 0 'label="leaf-03", shape=box' topology export --format dot || return 1
	equal "the count of edges" "$(grep -c -- ' -- ' told.txt)" 64 || return 1
	told topology export --format json
	equal "nodes and links" "$(json 'scalar @{$_->{nodes}}, scalar @{$_->{links}}' <told.txt)" '44 64' ||
		return 1
	answers_json 'scalar @{$_->{nodes}}' 44 topology export --format json || return 1
	says 2 'is not net.json.dot.slurm' topology export --format xml
}

# The plan has other cables, and a planned cable goes down.
check_plan() {
	says 0 '^as planned: ' topology check plan.net || return 1
	sed 's/host-0005"\t\t# /host-0005" # /; s/4xEDR/4xHDR/' plan.net >faster.net
	says 1 'runs at 4xEDR, not 4xHDR' topology check faster.net || return 1
	"$BUILD/weftsim" "do" 'link down leaf-03 6' >/dev/null || return 1
	wait_for 20 says 1 '^missing cable: leaf-03 port 6 - spine-02 port 3: there is no link' topology check plan.net ||
		return 1
	answers_json 'map { $_->{kind} } @{$_->{differences}}' 'missing cable' topology check plan.net || return 1
	LC_ALL=C sed 's/spine-02/sp\xefne-02/' plan.net >latin1.net
	says 1 '^missing cable: leaf-03 port 6 - sp.ne-02 port 3: there is no link' topology check latin1.net || return 1
	says 1 'cannot read /none: No such file' topology check /none || return 1
	printf 'Switch 8 "a"\nSwich 8 "b"\n' >bad.net
	says 1 '^weftctl: bad.net:2: ' topology check bad.net
}

# After the fault the routes are complete again, by the former engine.
repaired() {
	wait_for 20 is_up sm || because "it does not come up" || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" updn || return 1
	says 0 '^Reached: 528 of 528' route check
}

no_daemon() {
	says 3 'no weftd answers' route check || return 1
	says 3 'no weftd answers' route dump --format opensm never || return 1
	says 3 'no weftd answers' topology export --format net
}

if check "a fat tree comes up" up fattree:radix=8,levels=2 host-0001 ftree; then
	check "route check: good routes" good_routes
	check "route quality" quality
	check "route plan" plan
	check "route show" show
	check "route dump" dump
	if command -v ibdmchk >/dev/null; then
		check "ibdmchk takes the dump" ibdmchk_takes_the_dump
	else
		echo "skip ibdmchk takes the dump: no ibdmchk here"
	fi
	check "walk takes the dump" walk_takes_the_dump
	check "route engine" engine
	check "route engine: refused by all" refused_engine
	check "route engine: kept over a restart" engine_kept
	check "log level: kept over a restart" log_level_kept
	check "topology export: net" export_net
	check "topology export: dot, slurm, json" export_other
	check "topology check" check_plan
	check "route check after a fault" repaired
	check "route engine default" engine_default
	check "weftd ends" down
	check "no daemon" no_daemon
fi

# Shortest paths around a ring wait for each other. minhop does not promise otherwise, and route check reports it.
credit_loops() {
	says 1 '^Credit loops: [1-9]' route check || return 1
	answers_json '$_->{good} ? 1 : 0, $_->{unreached}, $_->{credit}{vl}, $_->{credit}{length} >= 3 ? "circle" : ""' \
		'0 0 0 circle' route check
}

mended_by_updn() {
	told route engine updn || because "$(cat told.err)" || return 1
	says 0 '^Credit loops: none' route check
}

refused_with_loops() {
	says 1 '^weftctl: the routes of minhop have credit loops, in which [1-9][0-9]* of 12 channels .*: use another' \
		route engine minhop || return 1
	equal "the engine" "$(status sm '$_->{routing}{engine}')" updn || return 1
	says 0 '^Routing     minhop' route engine minhop --force || return 1
	says 0 '^Routing     updn' route engine updn
}

if check "a ring comes up" up ring:switches=6,hosts=2 host-0001 minhop; then
	check "route check: credit loops" credit_loops
	check "route engine repairs them" mended_by_updn
	check "route engine: refused with credit loops" refused_with_loops
	check "weftd ends" down
fi

finish
