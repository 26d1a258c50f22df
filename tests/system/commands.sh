#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Every command of weftctl runs once as typed by a user and once with --json, at a real manager with a standby, and its
# output is checked. A command of --help without both rows in the table here fails.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip commands: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

# How | the command | its arguments | a line of its output. FIRST and STANDBY are the ports of the managers, HOST the
# port of another host. The order of the rows matters.
cat >table.txt <<'END'
text|status||^Health +(healthy|degraded: standby)
text|status||^Manager +MASTER, priority 5
json|status||"role": "MASTER"
text|health||^healthy +subnet +MASTER; 6 switches
json|health||"level": "
text|health accept||^[0-9]+ lost links? forgotten; [0-9]+ links are the state to compare with$
json|health accept||"forgotten": 0
text|sweep|light|^light sweep in .* SMPs, 0 of them Set
json|sweep|heavy|"kind": "heavy"
text|reroute||routes recomputed
json|reroute||"summary": "subnet up, routes recomputed"
text|node list||^0x[0-9a-f]{16} +switch +1 +4 +4 +leaf-01$
json|node list||"description": "leaf-01"
text|node show|leaf-01|^leaf-01, switch, GUID 0x[0-9a-f]{16}, LID 1$
text|node show|host-0005|^HOST +1 +ACTIVE +4x EDR +4096 +[0-9]+ +leaf-03 +1$
json|node show|leaf-01|"lft_cap": 49152
text|why|host-0001 host-0005|^No obstacle found$
json|why|host-0005|"obstacle": null
text|port list|leaf-01|^0x[0-9a-f]{16} +leaf-01 +3 +ACTIVE +4x EDR +4096 +- +spine-01 +1$
text|port list|host-0005|^HOST +host-0005 +1 +ACTIVE +4x EDR +4096 +[0-9]+ +leaf-03 +1$
json|port list||"physical": "LinkUp"
text|port show|leaf-01 3|^leaf-01 port 3: ACTIVE, LinkUp$
json|port show|leaf-01 3|"vl_cap": 8
text|port disable|leaf-02 3|^leaf-02 port 3 \(to spine-01 port 2\): disabled; no port of an adapter is cut off$
text|port disable|leaf-02 3|^leaf-02 port 3 is disabled already: nothing was written$
json|port enable|leaf-02 3|"summary": "
json|port disable|leaf-02 3|"summary": "
text|port enable|leaf-02 3|^leaf-02 port 3: enabled; if a cable is connected, the link comes up within seconds$
json|port enable|leaf-02 3|"unchanged": true
text|drain|leaf-02 3|^leaf-02 port 3: drained; no route uses it, and 1 port is disabled$
json|drain|leaf-02/3|"unchanged": true
text|undrain|leaf-02/3|^leaf-02 port 3: no longer drained; 1 of 1 link up$
json|undrain|--all|"unchanged": true
text|link list||^0x[0-9a-f]{16} +leaf-01 +1 +1 +0x[0-9a-f]{16} +host-0001 .* +ACTIVE +4x EDR +4096$
json|link list||"state": "ACTIVE"
text|multicast list||^0xc000 +0xffff +2048 .* +permanent +ff12:401b:ffff::ffff:ffff$
json|multicast list||"mgid": "ff12:401b:ffff::ffff:ffff"
text|multicast show|ff12:401b:ffff::ffff:ffff|^ff12:401b:ffff::ffff:ffff MLID 0xc000, permanent$
json|multicast show|ff12:401b:ffff::ffff:ffff|"mlid": 49152
text|partition add|0x0005 blue|^0x0005 "blue" is made; it has no members yet$
text|partition add|0x0005 blue --mtu 2048|^0x0005 "blue" is unchanged$
json|partition add|0x0006 red|"p_key": 6
text|partition list||^0x0005 +run time .* +blue$
json|partition list||"name": "red"
text|partition set|blue --mtu 4096 --ipoib|^0x0005 "blue" is changed$
json|partition set|0x0006 --no-ipoib|"changed": false
text|partition rename|blue azure|^0x0005 "azure" is changed$
json|partition rename|0x0006 red|"changed": false
text|partition member add|azure host-0005|^HOST +full +run time +admin +acknowledged +1 +host-0005$
json|partition member add|0x0006 HOST --limited|"membership": "limited"
text|partition show|0x0005|^HOST +full +run time +admin +acknowledged +1 +host-0005$
text|partition show|azure|^0x0005 "azure", by run time, ipoib, MTU 4096, rate 10 Gb/s$
json|partition show|0x0006|"guid": "HOST"
text|partition member remove|0x0005 HOST|^HOST +none +- +- +acknowledged +1 +host-0005$
json|partition member remove|0x0006 HOST|"membership": "none"
text|partition check|good.conf|^  HOST host-0005: gains 0x8007; loses nothing$
json|partition check|good.conf|"gains": "0x8007"
text|partition apply|apply.conf --owner site --dry-run|^dry run: 2 changes for site; nothing was changed$
json|partition apply|apply.conf --owner site --dry-run|"num_changed": 2
text|partition accept||^no partitions are missing: nothing to accept$
json|partition accept||"loss": null
text|partition remove|azure|^0x0005, made at run time, is removed$
json|partition remove|0x0006|"p_key": 6
text|alias set|host-0005 1 0x0200000000000a01|^alias GUID 0x0200000000000a01 at index 1 of host-0005 port 1 \(HOST\) is set$
json|alias set|host-0005 1 0x0200000000000a02|"granted": "administrator"
text|alias list||^HOST +host-0005 +1 +1 +[0-9]+ +0x0200000000000a01 +administrator$
json|alias list|host-0005 1|"alias_guid": "0x0200000000000a02"
text|alias remove|host-0005 1 0x0200000000000a01|^alias GUID 0x0200000000000a01 at index 1 of host-0005 port 1 \(HOST\) is removed$
json|alias remove|host-0005 1 0x0200000000000a02|"index": 2
text|config show||^sm_priority +reload +5 +0$
json|config show||"name": "sm_priority"
text|config check||^configuration ok; a reload would change no option$
json|config check||"changes": \[\]
text|config reload||^configuration read again; no option changed, nor did the partition file$
json|config reload||"changes": \[\]
text|service list||^none$
json|service list||^\[\]$
text|inform list||^none$
json|inform list||^\[\]$
text|topology export|--format slurm|^SwitchName=leaf-01 
json|topology export|--format json|"links": \[
text|topology check|plan.net|^as planned: 6 switches, 8 adapters, 16 links$
json|topology check|plan.net|"differences": \[\]
text|route show|host-0001 host-0002|^ +0 +1 +2 +0 +1 +0x[0-9a-f]{16} +leaf-01$
json|route show|host-0001 host-0002|"out_port": 2
text|route check||^Credit loops: none, of 16 channels$
json|route check||"good": true
text|route quality||^all to all: paths over the fullest link +[0-9]+$
json|route quality||"all_to_all": \{
text|route plan|--engine minhop|^Planned: minhop; nothing is programmed$
json|route plan|--engine minhop|"churn": \{
text|route engine|updn|^Routing +updn; every switch reaches every LID$
json|route engine|default|"at_run_time": false
text|route dump|--format opensm dumped|^dumped/opensm.fdbs: [0-9]+ bytes$
json|route dump|--format opensm dumped|"file": "opensm.mcfdbs"
text|node list|-o LID,DESCRIPTION --noheadings|^ +1 leaf-01$
text|log level||^sm +info$
json|log level||"level": "info"
text|log level|sm debug|^sm +debug$
json|log level|sm default|"component": "sm"
text|events|| +role +DISCOVERING -> MASTER: no manager ranks higher$
json|events|--since 0|^\{"kind":"role",.*"number":1,
text|capture|seen.pcap --seconds 1|seen.pcap
json|capture|seen.pcap --seconds 1|"file": "seen.pcap"
text|perf sweep||^sweep 1: 32 ports of 14 agents read in
json|perf sweep||"ports": 32
text|perf top||^none$|^NODE +PORT +XMIT
json|perf top|--by wait|"by": "wait"
text|perf errors||^spine-01 +2 +LinkDownedCounter +[0-9]+ +[yesno]+ +leaf-02 +3 +-$
json|perf errors||"LinkDownedCounter": [1-9]
text|perf errors|--threshold 1000000|^none$
text|perf show|leaf-01 1|^leaf-01 port 1, LID 1, leads to host-0001 1$
json|perf show|leaf-01 1|"SymbolErrorCounter": 0
text|perf clear|leaf-01 1|^Reset the counters of 1 port of 1 node; the totals of weftd continue\.$
json|perf clear|leaf-01 1|"ports": 1
text|perf metrics||^weft_sm_role\{role="MASTER"\} 1$
json|perf metrics||^weft_sm_role\{role="MASTER"\} 1$
text|keys status||^Mode +none, protection level 0
json|keys status||"mode": "none"
text|keys rotate||^heavy sweep in
json|keys rotate||"kind": "heavy"
text|keys import|guid2mkey|^1 keys, 1 of them of ports whose key was not known$
json|keys import|guid2mkey|"rows": 1
text|import opensm|theirs --cache theirs --to text|^sm_priority +7 
json|import opensm|theirs --cache theirs --to json|"ours": "sm_priority
text|export opensm|back|^In back: opensm.conf, partitions.conf, guid2lid; 14 LIDs$
json|export opensm|again|"lids": 14
text|ha status||^Role +MASTER$
text|ha status||^(STANDBY +ADDRESS.*|Standbys +none)$
json|ha status||"durability": "local"
text|ha disable|STANDBY|^manager STANDBY is NOTACTIVE$
json|ha enable|STANDBY|"state": "STANDBY"
json|ha disable|STANDBY|"state": "NOTACTIVE"
text|ha enable|STANDBY|^manager STANDBY is STANDBY$
text|ha discover|STANDBY|^manager STANDBY is (DISCOVERING|STANDBY)$
json|ha discover|STANDBY|"guid": "STANDBY"
text|save|saved.json|^saved.json: [0-9]+ records$
json|save|saved.json|"records": [0-9]+
text|restore|saved.json|^[0-9]+ records, [0-9]+ changes?$
json|restore|saved.json|"changed": 0
text|takeover preview||^LIDs +14 kept, 0 changed, 0 assigned$
json|takeover preview|--list|"complete": true
text|completion|bash|^_weftctl\(\)
json|completion|zsh|compdef weftctl
text|ha handover|STANDBY --force|^handover complete: manager STANDBY is MASTER
json|ha handover|FIRST|"guid": "FIRST"
END

daemons_run() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 >plan.net
	start_weftsim plan.net && start_weftd first host-0001 -o perf_interval=0 -o sm_priority=5 && wait_for 30 is_up first &&
		start_weftd standby host-0003 -o sm_priority=2 || return 1
	wait_for 30 has_status standby '$_->{role}' STANDBY && wait_for 30 peer_is STANDBY && is_up first ||
		because "no standby: $(tail -n 1 standby.log)" || return 1
	guids=("$(status first '$_->{guid}')" "$(status standby '$_->{guid}')"
		"$(ctl first port show host-0005 1 | json '$_->{port_guid}')")
	echo "Default=0x7fff, ipoib: ALL=full; green=0x0007: ${guids[2]}=full;" >good.conf
	echo "green=0x0007: ${guids[2]}=full;" >apply.conf
	echo "${guids[2]} 0x0000000000001234" >guid2mkey
	mkdir theirs && echo 'sm_priority 7' >theirs/opensm.conf
}

# The master's data about its standby.
peer_is() {
	has_status first '$_->{peers}[0]{state}' "$1"
}

# typed HOW COMMAND ARGUMENTS PATTERN
typed() {
	local ask=(ctl first)

	[ "$1" = json ] || ask=("$BUILD/weftctl" -s "$work/first.run/control.sock")
	# the MASTER at that time
	[ "$1 $2" != "json ha handover" ] || ask=(ctl standby)
	if [ "$2" = "takeover preview" ]; then # it opens the port
		ask=(on host-0001 "$BUILD/weftctl" -s "$work/first.run/control.sock")
		[ "$1" = text ] || ask+=(--json)
	fi
	# shellcheck disable=SC2086 # words are meant
	"${ask[@]}" $2 $3 >said.txt 2>&1 || because "it says: $(head -n 3 said.txt)" || return 1
	matches "$4" said.txt || because "no line like $4 in: $(head -n 12 said.txt)" || return 1
	[ "$1" = text ] || [[ $2 =~ ^(perf metrics|events)$ ]] || perl -MJSON::XS -0777 -ne \
		'JSON::XS->new->ascii->allow_nonref->decode($_)' said.txt 2>/dev/null || because "no JSON: $(head -n 1 said.txt)"
}

# A command to another manager waits until that manager has finished earlier work.
all_rows() { # HOW
	local how words arguments pattern wrong=''

	while IFS='|' read -r how words arguments pattern; do
		arguments=${arguments//STANDBY/${guids[1]}}
		arguments=${arguments//FIRST/${guids[0]}}
		arguments=${arguments//HOST/${guids[2]}}
		pattern=${pattern//manager STANDBY/manager ${guids[1]}}
		pattern=${pattern//\"guid\": \"STANDBY/\"guid\": \"${guids[1]}}
		pattern=${pattern//FIRST/${guids[0]}}
		pattern=${pattern//HOST/${guids[2]}}
		if [[ $words == ha\ * ]]; then
			wait_for 15 typed "$how" "$words" "$arguments" "$pattern"
		else
			typed "$how" "$words" "$arguments" "$pattern"
		fi || wrong+="${wrong:+; }weftctl $words $arguments ($how): $reason"
	done <table.txt
	[ -z "$wrong" ] || because "$wrong"
}

# Each command, both ways.
table_is_whole() {
	local how

	"$BUILD/weftctl" --help | sed -n '/^Commands:/,$ s/^  \([a-z][a-z]*\( [a-z][a-z]*\)*\).*/\1/p' | grep -vx help | sed "s,^completion bash$,completion," |
		sort >commands.txt
	[ "$(wc -l <commands.txt)" -gt 40 ] || because "--help lists $(wc -l <commands.txt) commands" || return 1
	for how in text json; do
		sed -n "s/^$how|\([^|]*\)|.*/\1/p" table.txt | sort -u >typed.txt
		equal "what is not typed as $how, or is no command" "$(diff commands.txt typed.txt | grep '^[<>]' | paste -sd ';')" "" ||
			return 1
	done
}

# This command prints text for another program.
schema_is_whole() {
	grep -vx 'perf metrics' commands.txt >wanted.txt
	json 'map { "$_\n" } keys %{$_->{properties}}' <"$root/docs/weftctl.schema.json" |
		sed 's/^ //; /^$/d; /^complete /d' | sort >described.txt # --help has no requests of the completion
	equal "what the schema lacks, or is no command" "$(diff wanted.txt described.txt | grep '^[<>]' | paste -sd ';')" ""
}

check "every command of --help is in the table, both ways" table_is_whole
check "docs/weftctl.schema.json has every command that answers in JSON" schema_is_whole
check "a manager and its standby" daemons_run || finish
check "the output of each command" all_rows
finish
