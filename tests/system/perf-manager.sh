#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The performance manager on weftsim. With perf_interval 0 it reads nothing. Its values of ports equal those of perfquery.
# Errors are found, reported and kept when their counters are reset, by perf clear, by weftd or by perfquery. A silent agent delays nothing. Prometheus can read
# perf metrics.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip perf-manager: the preload library cannot be instrumented"
	exit 0
fi

sim() {
	"$BUILD/weftsim" "do" "$@" >do.out 2>&1 || because "$(cat do.out)"
}

# query FILE LID PORT [OPTION]: output of perfquery about a port.
query() {
	look "$1" host-0002 perfquery "${@:4}" "$2" "$3" || because "perfquery: $(cat "$1.err")"
}

# value FILE COUNTER
value() {
	sed -n "s/^$2:\.*//p" "$1"
}

lid_of() {
	ctl sm node list | json 'map { $_->{lid} } grep { $_->{description} eq "'"$1"'" } @$_'
}

bring_up() {
	conf=weftd.conf
	printf 'perf_interval = 0;\nperf_reset = true;\n' >weftd.conf
	start_weftd sm host-0001 -v && wait_for 20 is_up sm || because "${reason:-not up}" || return 1
	leaf=$(lid_of leaf-01)
	[ -n "$leaf" ] || because "leaf-01 has no LID"
}

reads_nothing() {
	equal "the number of sweeps" "$(status sm '$_->{perf}{sweeps}')" 0 || return 1
	equal "MADs of class 4" "$(status sm "$(sent '$_->{class} == 4')")" 0 || return 1
	! ctl sm perf top >out 2>&1 || because "perf top knows rates of nothing" || return 1
	matches 'after two reads' out || because "$(cat out)"
}

# Every port of a link: 4 leaves and 2 spines with 4 each, 8 hosts.
reads_all() {
	ctl sm perf sweep >out && equal "ports, silent agents, refusals" \
		"$(json '@$_{qw(ports silent refused)}' <out)" "32 0 0"
}

errors_happen() {
	sim 'count leaf-01 3 SymbolErrorCounter 17' 'count leaf-01 3 PortRcvErrors 40' \
		'count leaf-01 3 PortXmitWait 70000' 'count spine-02 4 VL15Dropped 5' \
		'count host-0003 1 ExcessiveBufferOverrunErrors 2' || return 1
	ctl sm perf sweep >out && ctl sm perf errors >errors.json || because "$(cat out)" || return 1
	equal "what has errors" "$(json 'sort map { my $p = $_; map { "$p->{description}:$p->{port}:$_=$p->{counters}{$_}" }
		sort keys %{$p->{counters}} } @{$_->{ports}}' <errors.json)" \
		"host-0003:1:ExcessiveBufferOverrunErrors=2 leaf-01:3:PortRcvErrors=40 leaf-01:3:PortXmitWait=70000 leaf-01:3:SymbolErrorCounter=17 spine-02:4:VL15Dropped=5" ||
		return 1
	equal "where leaf-01's port 3 leads" \
		"$(json 'map { "$_->{peer}{description} $_->{peer}{port}" } grep { $_->{description} eq "leaf-01" } @{$_->{ports}}' <errors.json)" \
		"spine-01 1" || return 1
	"$BUILD/weftctl" -s sm.run/control.sock perf errors >out || because "$(cat out)" || return 1
	matches '^leaf-01 +3 +SymbolErrorCounter +17 +yes +spine-01 +1 +[1-9][.][0-9]e-[0-9]+$' out || because "perf errors: $(cat out)"
}

# Thresholds: 10 symbol errors, 10 receive errors and 1 overrun are reported, 5 dropped SMPs are not.
events() {
	matches 'port 3 of leaf-01: SymbolErrorCounter rose by 17 to 17, PortRcvErrors rose by 40 to 40' sm.log ||
		because "nothing of leaf-01: $(grep ' pm: ' sm.log)" || return 1
	matches 'port 1 of host-0003: ExcessiveBufferOverrunErrors rose by 2' sm.log || because "nothing of host-0003" || return 1
	! matches 'VL15Dropped rose' sm.log || because "an error below its threshold was reported"
}

# agree FILE MEMBER: perfquery's file has each counter of this member of shown.json, or more, because traffic continued.
agree() {
	local name number

	json 'map { "$_->[0] $_->[1]\n" } map { my $c = $_; map { [$_, $c->{$_}] } sort keys %$c } $_->{'"$2"'}' <shown.json |
		sed 's/^ //; /^$/d' >counters
	[ "$(wc -l <counters)" -ge 8 ] || because "perf show tells only $(wc -l <counters) counters" || return 1
	while read -r name number; do
		case $name in
		*Multicast*) [ "$(value "$1" "$name")" = 0 ] ;;
		*Data | *Pkts) [ "$number" -gt 0 ] && [ "$(value "$1" "$name")" -ge "$number" ] ;;
		*) [ "$(value "$1" "$name")" = "$number" ] ;;
		esac || because "$name is $number, perfquery says $(value "$1" "$name")" || return 1
	done <counters
}

as_perfquery() {
	ctl sm perf show leaf-01 3 >shown.json || because "$(cat shown.json)" || return 1
	query few "$leaf" 3 && agree few counters || return 1
	query wide "$leaf" 3 -x && agree wide extended || return 1
	ctl sm perf show host-0003 1 >shown.json && query few "$(lid_of host-0003)" 1 && agree few counters || return 1
	"$BUILD/weftctl" -s sm.run/control.sock perf show leaf-01 3 >out || because "$(cat out)" || return 1
	matches '^ +SymbolErrorCounter +17$' out || because "$(cat out)"
}

# perf show has the changes since the last sweep, and the last ten reads of a port whose errors rose. A port without errors
# has a history after perf show named it. The BER of the last read is that of the counter, the time and the 100 Gb/s link.
history() {
	local i

	ctl sm perf show leaf-01 3 >shown.json || because "$(cat shown.json)" || return 1
	equal "readings and rises" "$(json 'map { map { "$_" } %{$_->{rose}} } grep { $_->{rose}{SymbolErrorCounter} } @{$_->{history}}' <shown.json |
		tr ' ' '\n' | sort | xargs)" "17 40 70000 PortRcvErrors PortXmitWait SymbolErrorCounter" || return 1
	json 'map { my $h = $_; abs($h->{symbol_ber} * $h->{span_s} * 1e11 / 17 - 1) < 0.01 ? "right" : "wrong: $h->{symbol_ber} in $h->{span_s} s" }
		grep { $_->{rose}{SymbolErrorCounter} } @{$_->{history}}' <shown.json >ber && equal "the BER" "$(cat ber)" right || return 1
	sim 'count leaf-01 3 SymbolErrorCounter 4' && ctl sm perf show leaf-01 3 >shown.json || return 1
	equal "the rise since the last sweep" "$(json '%{$_->{since}{rose}}' <shown.json)" "SymbolErrorCounter 4" || return 1
	for ((i = 0; i < 12; i++)); do ctl sm perf sweep >out; done
	ctl sm perf show leaf-01 3 >shown.json || return 1
	equal "readings, and rises" "$(json 'scalar @{$_->{history}}, scalar grep { %{$_->{rose}} } @{$_->{history}}' <shown.json)" "10 0" || return 1
	equal "rises since" "$(json '%{$_->{since}{rose}}' <shown.json)" "" || return 1
	ctl sm perf show leaf-02 1 >shown.json && equal "readings of a port without errors" "$(json 'scalar @{$_->{history}}' <shown.json)" 0 || return 1
	ctl sm perf sweep >out && ctl sm perf show leaf-02 1 >shown.json || return 1
	equal "readings of a port that was named" "$(json 'scalar @{$_->{history}}' <shown.json)" 1 || return 1
	"$BUILD/weftctl" -s sm.run/control.sock perf show leaf-01 3 >out && matches '^Reads of this port$' out || because "$(cat out)"
}

# total NODE: its LinkDownedCounter in perf errors.
total() {
	json 'map { $_->{counters}{LinkDownedCounter} } grep { $_->{description} eq "'"$1"'" } @{$_->{ports}}' <errors.json
}

# LinkDownedCounter of an adapter has 8 bits: at 200 it is reset, and the total continues.
resets() {
	sim 'count host-0004 1 LinkDownedCounter 200' && ctl sm perf sweep >out || return 1
	query few "$(lid_of host-0004)" 1 && equal LinkDownedCounter "$(value few LinkDownedCounter)" 0 || return 1
	equal resets "$(json '$_->{resets}' <out)" 1 || return 1
	sim 'count host-0004 1 LinkDownedCounter 2' && ctl sm perf sweep >out && ctl sm perf errors >errors.json || return 1
	equal "the total" "$(total host-0004)" 202
}

# The counter of a switch has 64 bits in PortCountersExtended, and is not reset.
wide_errors() {
	sim 'count leaf-02 3 LinkDownedCounter 4000000000' 'count leaf-02 3 LinkDownedCounter 4000000000' &&
		ctl sm perf sweep >out && ctl sm perf errors >errors.json || return 1
	equal resets "$(json '$_->{resets}' <out)" 0 && equal "the total" "$(total leaf-02)" 8000000000 || return 1
	query wide "$(lid_of leaf-02)" 3 -x && equal LinkDownedCounter "$(value wide LinkDownedCounter)" 8000000000
}

# all_zero FILE: perfquery's file has no error above 0, and less traffic than before.
all_zero() {
	! grep -E '(Errors|Error.*Counter|Downed.*|Dropped|Discards|Overrun.*|Wait):\.*[1-9]' "$1" >out ||
		because "$1 has $(head -n 1 out)" || return 1
	[ "$(value "$1" PortXmitPkts)" -lt "$packets" ] || because "$1 has still $(value "$1" PortXmitPkts) packets, as before: $packets"
}

# clear resets the device's counters, as perfquery sees them, and not those of other ports. Totals continue.
clears() {
	local words packets=40

	for ((i = 0; i < packets; i++)); do query few "$leaf" 3; done
	sim 'count leaf-01 4 LinkDownedCounter 6' && ctl sm perf sweep >out && ctl sm perf clear leaf-01 3 >out || because "$(cat out)" || return 1
	equal "ports, agents, silent, refused, kept" "$(json '@$_{qw(ports agents silent refused kept)}' <out)" "1 1 0 0 0" || return 1
	query few "$leaf" 3 && all_zero few && query wide "$leaf" 3 -x && all_zero wide || return 1
	query few "$leaf" 4 && equal "the counter of another port" "$(value few LinkDownedCounter)" 6 || return 1
	sim 'count leaf-01 3 SymbolErrorCounter 30' && ctl sm perf sweep >out && ctl sm perf errors >errors.json || return 1
	equal "the total" "$(json 'map { $_->{counters}{SymbolErrorCounter} } grep { $_->{description} eq "leaf-01" && $_->{port} == 3 } @{$_->{ports}}' <errors.json)" 51 ||
		return 1
	# 6 switches with 4 ports, 8 hosts.
	"$BUILD/weftctl" -s sm.run/control.sock perf clear >out || because "$(cat out)" || return 1
	equal "the answer" "$(cat out)" "Reset the counters of 32 ports of 14 nodes; the totals of weftd continue." || return 1
	query few "$(lid_of host-0004)" 1 && all_zero few && query wide "$(lid_of leaf-02)" 3 -x && all_zero wide || return 1
	ctl sm perf sweep >out && ctl sm perf errors >errors.json && equal "the total" "$(total leaf-02)" 8000000000 || return 1
	equal "resets by others" "$(status sm '$_->{perf}{reset_by_others}')" 0 || return 1
	matches 'user .*process .*perf clear node=leaf-01 port=3: done' sm.log || because "no line of the user" || return 1
	ctl sm events --kind command >events.json && matches 'perf clear: done' events.json || because "no event" || return 1
	refuses 'there is no port 99' clear leaf-01 99 && refuses 'no node "nobody"' clear nobody
}

# perfquery -R resets counters: weftd counts from the new values, and says so once.
reset_by_others() {
	sim 'count leaf-01 3 SymbolErrorCounter 5' && ctl sm perf sweep >out && query few "$leaf" 3 -xR || return 1
	for i in 3 2 1; do
		sim "count leaf-01 3 SymbolErrorCounter $i" && ctl sm perf sweep >out && query few "$leaf" 3 -xR || return 1
	done
	ctl sm perf sweep >out && ctl sm perf errors >errors.json || return 1
	equal "the total" "$(json 'map { $_->{counters}{SymbolErrorCounter} } grep { $_->{description} eq "leaf-01" && $_->{port} == 3 } @{$_->{ports}}' <errors.json)" 62 ||
		return 1
	[ "$(status sm '$_->{perf}{reset_by_others}')" -ge 3 ] || because "resets by others: $(status sm '$_->{perf}{reset_by_others}')" || return 1
	equal "lines about it" "$(grep -c 'counters of 1 port are lower than before, such as port 3 of leaf-01' sm.log)" 1 || return 1
	ctl sm events --kind port >events.json && matches 'lower than before' events.json || because "no event"
}

silent_agent() {
	sim 'drop 100 host-0008' && ctl sm perf sweep >out || return 1
	sim 'drop 0'
	equal "ports and silent agents" "$(json '@$_{qw(ports silent)}' <out)" "31 1" || return 1
	ctl sm health >out
	matches '1 of 14 agents did not answer the last read' out || because "health says $(cat out)" || return 1
	ctl sm perf sweep >out && equal "ports and silent agents" "$(json '@$_{qw(ports silent)}' <out)" "32 0"
}

# A partition with indx0 has index 0 of our own port; switches have the default partition's key alone.
with_index0() {
	ctl sm partition add 0x11 first --indx0 --members ALL_CAS >out || because "$(cat out)" || return 1
	wait_for 10 has_index0 || because "host-0001 has $(cat do.out)" || return 1
	reads_all && ctl sm perf show leaf-01 3 >out || because "$(cat out)" || return 1
	ctl sm partition remove 0x11 --force >out || because "$(cat out)"
}

has_index0() {
	sim 'pkeys host-0001 1' && matches '^ *0 +0x8011' do.out
}

top() {
	ctl sm perf top >out || because "$(cat out)" || return 1
	[ "$(json 'scalar @{$_->{ports}}' <out)" -gt 0 ] || because "perf top has no port with data" || return 1
	ctl sm perf top --by wait >out && equal by "$(json '$_->{by}' <out)" wait
}

# prometheus_reads FILE: the parser of Prometheus' client, in Debian's Python, finds a sample in each line that is no
# comment, a type for each name, and no name twice.
prometheus_reads() {
	/usr/bin/python3 - "$1" >why 2>&1 <<-'END' || because "$(tail -n 1 why)"
		import sys
		from prometheus_client.parser import text_string_to_metric_families

		text = open(sys.argv[1]).read()
		families = list(text_string_to_metric_families(text))
		names = [family.name for family in families]
		samples = sum(len(family.samples) for family in families)
		lines = sum(not line.startswith("#") for line in text.splitlines())
		sys.exit("a name comes twice" if len(set(names)) != len(names)
			else "no type: " + ", ".join(f.name for f in families if f.type in ("untyped", "unknown"))
			if any(f.type in ("untyped", "unknown") for f in families)
			else 0 if samples == lines else f"{samples} samples in {lines} lines")
	END
}

# Each line is a comment or NAME{LABELS} NUMBER; each name has one HELP, one TYPE, and its lines together.
metrics() {
	"$BUILD/weftctl" -s sm.run/control.sock perf metrics >metrics || because "perf metrics fails" || return 1
	perl -ne 'if (/^# (HELP|TYPE) (\S+) \S/) { die "twice: $_" if $seen{$1, $2}++; $in = $2 }
		elsif (/^(\w+)(\{\w+="([^"\\\n]|\\.)*"(,\w+="([^"\\\n]|\\.)*")*\})? -?[0-9.e+-]+$/) { die "not in its group: $_" if $1 ne $in }
		else { die "no metric: $_" }' metrics 2>why || because "$(cat why)" || return 1
	prometheus_reads metrics || return 1
	matches '^weft_sm_role\{role="MASTER"\} 1$' metrics && matches '^weft_switches 6$' metrics &&
		matches '^weft_sa_received_total ' metrics && matches '^weft_routing_unreached_pairs 0$' metrics || because "a figure is missing" || return 1
	matches '^weft_port_errors_total\{guid="0x[0-9a-f]{16}",port="3",node="leaf-01",counter="SymbolErrorCounter"\} 62$' metrics ||
		because "$(grep leaf-01 metrics)" || return 1
	sim 'count leaf-01 3 SymbolErrorCounter 9' && sleep 0.2 && ctl sm perf sweep >out || return 1
	"$BUILD/weftctl" -s sm.run/control.sock perf metrics >metrics || because "perf metrics fails" || return 1
	prometheus_reads metrics || return 1
	matches '^weft_port_symbol_ber\{guid="0x[0-9a-f]{16}",port="3",node="leaf-01"\} [1-9]' metrics || because "$(grep _ber metrics)" || return 1
	! matches '^weft_port_symbol_ber\{.*"leaf-02"' metrics || because "leaf-02 has no symbol errors"
}

# The names that two exporters have, from their own lists.
treydock="transmit_data_bytes_total receive_data_bytes_total transmit_packets_total receive_packets_total
	unicast_transmit_packets_total unicast_receive_packets_total multicast_transmit_packets_total
	multicast_receive_packets_total symbol_error_total link_error_recovery_total link_downed_total receive_errors_total
	receive_remote_physical_errors_total receive_switch_relay_errors_total transmit_discards_total
	transmit_constraint_errors_total receive_constraint_errors_total local_link_integrity_errors_total
	excessive_buffer_overrun_errors_total vl15_dropped_total transmit_wait_total qp1_dropped_total
	rate_bytes_per_second raw_rate_bytes_per_second"
guilbaults="linkdownedcounter symbolerrorcounter portxmitdiscards portrcverrors portxmitdata portrcvdata portxmitpkts
	portrcvpkts portxmitwait portunicastxmitpkts portunicastrcvpkts portmulticastxmitpkts portmulticastrcvpkts
	portrcvremotephysicalerrors linkerrorrecoverycounter locallinkintegrityerrors vl15dropped"

# named NAMES
named() {
	"$BUILD/weftctl" -s sm.run/control.sock perf metrics --names "$1" >metrics || because "perf metrics --names $1 fails" || return 1
	prometheus_reads metrics && ! matches '^weft_' metrics || because "${reason:-there are figures of weft}"
}

# Each name is there for each port of its kind, with the right labels, and its values are those of perfquery.
names_of_exporters() {
	local name guid bytes words more

	# The last read has nearly all traffic of the port.
	ctl sm perf sweep >out || because "$(cat out)" || return 1
	named treydock || return 1
	for name in $treydock; do
		equal "switch ports with $name" "$(grep -cE "^infiniband_switch_port_$name\\{guid=\"0x[0-9a-f]{16}\",port=\"[0-9]+\"\\} " metrics)" 24 || return 1
		equal "adapters with $name" "$(grep -cE "^infiniband_hca_port_$name\\{guid=\"0x[0-9a-f]{16}\",port=\"1\"\\} " metrics)" 8 || return 1
	done
	guid=$(sed -n 's/^infiniband_switch_info{guid="\(0x[0-9a-f]*\)",lid="'"$leaf"'",switch="leaf-01"} 1$/\1/p' metrics)
	[ -n "$guid" ] || because "leaf-01 has no infiniband_switch_info" || return 1
	equal "switches and adapters" "$(grep -cE '^infiniband_(switch|hca)_info' metrics)" 14 || return 1
	matches "^infiniband_switch_uplink_info\\{guid=\"$guid\",port=\"3\",switch=\"leaf-01\",uplink=\"spine-01\",uplink_guid=\"0x[0-9a-f]{16}\",uplink_lid=\"[0-9]+\",uplink_port=\"1\",uplink_type=\"SW\"\\} 1$" metrics ||
		because "$(grep uplink_info metrics | head -n 3)" || return 1
	bytes=$(sed -n "s/^infiniband_switch_port_transmit_data_bytes_total{guid=\"$guid\",port=\"3\"} //p" metrics)
	matches "^infiniband_switch_port_symbol_error_total\\{guid=\"$guid\",port=\"3\"\\} 71$" metrics || because "$(grep symbol_error metrics | head -n 5)" || return 1
	named guilbaults || return 1
	words=$(sed -n "s/^infiniband_portxmitdata_total{[^}]*local_guid=\"$guid\",[^}]*local_port=\"3\",[^}]*} //p" metrics)
	equal "bytes of the one exporter, and words of the other" "$bytes" $((4 * words)) || return 1
	query wide "$leaf" 3 -x || return 1
	more=$(($(value wide PortXmitData) - words))
	[ "$more" -ge 0 ] && [ "$more" -lt "$words" ] || because "$words words are sent, $more fewer than perfquery shows" || return 1
	for name in $guilbaults; do
		equal "ports with $name" "$(grep -c "^infiniband_${name}_total{" metrics)" 32 || return 1
	done
	for name in speed width; do equal "ports with $name" "$(grep -c "^infiniband_$name{" metrics)" 32 || return 1; done
	matches "^infiniband_symbolerrorcounter_total\\{component=\"switch\",local_guid=\"$guid\",local_name=\"leaf-01\",local_port=\"3\",remote_guid=\"0x[0-9a-f]{16}\",remote_name=\"spine-01\",remote_port=\"1\"\\} 71$" metrics ||
		because "$(grep '^infiniband_symbol' metrics | head -n 3)" || return 1
	refuses 'weft.*treydock.*guilbaults' metrics --names other
}

# series COUNTER: the number of ports that have it.
series() {
	grep -cE "^weft_port_errors_total\\{[^}]*,counter=\"$1\"\\} " metrics
}

# 200 hosts and 30 switches have 800 ports. Without errors, each port has the counters of links from the first read, and no
# port has others. With all counters, each port has all.
many_ports() {
	local counter told

	echo 'perf_interval = 0;' >big.conf
	start_weftsim fattree:radix=20,levels=2 && conf=big.conf start_weftd big host-0001 || because "$reason" || return 1
	wait_for 60 is_up big || because "not up" || return 1
	"$BUILD/weftctl" -s big.run/control.sock perf metrics >metrics || because "no metrics" || return 1
	! grep -q '^weft_port_errors_total' metrics || because "there are series before the first read" || return 1
	"$BUILD/weftctl" -s big.run/control.sock perf errors >errors.txt && matches '^The counters were never read' errors.txt ||
		because "perf errors says: $(cat errors.txt)" || return 1
	ctl big perf sweep >out && "$BUILD/weftctl" -s big.run/control.sock perf metrics >metrics || because "$(cat out)" || return 1
	for counter in SymbolErrorCounter LinkErrorRecoveryCounter LinkDownedCounter PortRcvErrors; do
		equal "ports with $counter" "$(series $counter)" 800 || return 1
	done
	equal "all series" "$(grep -c '^weft_port_errors_total' metrics)" 3200 || return 1
	"$BUILD/weftctl" -s big.run/control.sock perf errors >errors.txt && ! matches 'never read' errors.txt ||
		because "perf errors still says: $(cat errors.txt)" || return 1
	"$BUILD/weftsim" topology fattree:radix=20,levels=2 | awk -v counters="SymbolErrorCounter LinkErrorRecoveryCounter
		LinkDownedCounter PortRcvErrors PortRcvRemotePhysicalErrors PortRcvSwitchRelayErrors PortXmitDiscards
		PortXmitConstraintErrors PortRcvConstraintErrors LocalLinkIntegrityErrors ExcessiveBufferOverrunErrors
		VL15Dropped PortXmitWait" 'BEGIN { number = split(counters, counter) }
		/^(Switch|Ca|Hca)/ { name = $3; gsub("\"", "", name) }
		/^\[[0-9]+\]/ { gsub(/\].*|\[/, "", $1); for (i = 1; i <= number; i++) print "count", name, $1, counter[i], 3 }' >counts
	equal "counters" "$(wc -l <counts)" 10400 || return 1
	xargs -d '\n' "$BUILD/weftsim" "do" <counts >do.out 2>&1 || because "$(tail -n 1 do.out)" || return 1
	ctl big perf sweep >out && "$BUILD/weftctl" -s big.run/control.sock perf metrics >metrics || because "$(cat out)" || return 1
	told=$(sed -n 's/^weft_port_errors_total{guid="\([^"]*\)",port="\([^"]*\)".*/\1 \2/p' metrics | sort | uniq -c | sort -n)
	equal "ports" "$(wc -l <<<"$told")" 800 || return 1
	equal "counters of the first and the last port" "$(awk 'NR == 1 { print $1 } END { print $1 }' <<<"$told" | xargs)" "13 13" || return 1
	prometheus_reads metrics || return 1
	ctl big perf sweep >out && ctl big perf errors >errors.json || because "$(cat out)" || return 1
	equal "ports, different ones, and those with a counter that rose at the second read" \
		"$(json 'do { my %seen; @seen{map { "$_->{guid} $_->{port}" } @{$_->{ports}}} = (); scalar @{$_->{ports}}, scalar keys %seen },
			scalar grep { @{$_->{rose}} } @{$_->{ports}}' <errors.json)" "800 800 0" || return 1
	stop big
}

# refuses PATTERN WORD...: weftctl perf refuses, with a reason.
refuses() {
	local pattern=$1

	shift
	! ctl sm perf "$@" >out 2>&1 || because "perf $* is taken" || return 1
	matches "$pattern" out || because "perf $*: $(cat out)"
}

bad_words() {
	refuses 'there is no port 99: leaf-01 has ports up to 4' show leaf-01 99 &&
		refuses 'no node "nobody"' show nobody 1 && refuses 'is not PORT|a port: a number' show leaf-01 x &&
		refuses 'port 0 of host-0003 is not in the subnet' show host-0003 0 && refuses 'data.wait' top --by nothing &&
		refuses 'did you mean "perf errors"' error
}

# A read that never happened is no list without errors.
never_read() {
	"$BUILD/weftctl" -s sm.run/control.sock perf errors >out && matches '^The counters were never read' out &&
		! matches 'Ports that have counted errors' out || because "perf errors: $(cat out)"
}

# A standby reads nothing, and exports no figures.
standby() {
	local command

	conf=/dev/null start_weftd other host-0005 -o 'role="standby-only"' || return 1
	! ctl other perf sweep >out 2>&1 || because "a standby reads counters" || return 1
	matches 'use the MASTER' out || because "$(cat out)" || return 1
	wait_for 20 has_status other '$_->{role}' STANDBY || because "it is no standby" || return 1
	for command in 'perf top' 'perf errors' 'perf clear' 'perf sweep' 'perf show leaf-01 1'; do
		# shellcheck disable=SC2086
		! ctl other $command >out 2>&1 && matches 'this manager is STANDBY: to [a-z ]*counters, use the MASTER, .*host-0001' out ||
			because "$command: $(cat out)" || return 1
	done
	for command in 'partition list' 'partition show 0x7fff' 'partition list --members'; do
		# shellcheck disable=SC2086
		"$BUILD/weftctl" -s other.run/control.sock $command >out && matches '^this manager is STANDBY; the current records are at the MASTER, .*host-0001' out ||
			because "$command: $(cat out)" || return 1
	done
	! ctl other route check >out 2>&1 && matches 'use the MASTER, .*host-0001' out || because "route check: $(cat out)" || return 1
	! ctl other route show host-0001 host-0002 >out 2>&1 && matches 'use the MASTER, .*host-0001' out || because "route show: $(cat out)" || return 1
	"$BUILD/weftctl" -s other.run/control.sock perf metrics >metrics || because "perf metrics fails" || return 1
	prometheus_reads metrics || return 1
	matches '^weft_sm_role\{role="STANDBY"\} 1$' metrics && matches '^weft_mads_sent_total ' metrics || because "it says: $(cat metrics)" || return 1
	! grep -E '^weft_(switches|ports_active|sm_sweep_failed|routing_|links|port_errors|adapters)' metrics >out ||
		because "it shows $(head -n 1 out)" || return 1
	stop other
}

swept() {
	[ "$(status sm '$_->{perf}{sweeps}')" -gt "$1" ]
}

at_an_interval() {
	local before

	before=$(status sm '$_->{perf}{sweeps}')
	echo 'perf_interval = 1;' >weftd.conf
	kill -HUP "${pids[sm]}"
	wait_for 30 swept $((before + 2)) || because "no sweeps follow"
}

check "weftsim starts" start_weftsim fattree:radix=4,levels=2 || finish
check "a subnet on it" bring_up || finish
check "nothing is read with perf_interval 0" reads_nothing
check "perf errors before the first read" never_read
check "perf sweep reads all ports" reads_all
check "errors are found" errors_happen
check "rising counters are reported" events
check "perf show equals perfquery" as_perfquery
check "perf show has a history" history
check "small counters are reset in time" resets
check "64-bit errors are not reset" wide_errors
check "perf clear" clears
check "perfquery -R is noticed" reset_by_others
check "a silent agent" silent_agent
check "perf top" top
check "perf metrics" metrics
check "perf metrics with names of exporters" names_of_exporters
check "words that mean nothing" bad_words
check "a standby" standby
check "perf_interval by reload" at_an_interval
check "index 0 of another partition" with_index0
stop sm || check "weftd ends" false
stop_fabric
check "perf metrics of many ports" many_ports
finish
