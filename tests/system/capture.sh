#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl capture as tshark reads it, on weftsim. A bring-up and requests to the SA are decoded, none of them is
# malformed, their counts equal those of weftd, and no key is in the file.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip capture: weftsim's preload library and sanitizers do not go together"
	exit 0
fi
if ! command -v tshark >/dev/null; then
	echo "skip capture: no tshark here (scripts/install-deps installs it)"
	exit 0
fi

m_key=a1a2a3a4a5a6a7a8 sm_key=b1b2b3b4b5b6b7b8 sa_key=c1c2c3c4c5c6c7c8

# The daemon waits for a link, so that the whole bring-up is captured.
daemon_waits() {
	start_weftsim fattree:radix=4,levels=2 && "$BUILD/weftsim" "do" "link down leaf-01 1" >do.txt || return 1
	start_weftd daemon host-0001 -o "sm_key=0x$sm_key" -o "sa_key=0x$sa_key" -o 'm_key_mode="subnet"' \
		-o "m_key=0x$m_key" -o m_key_protection_level=1 -o perf_interval=0 -o sweep_interval=0 || return 1
}

# begins FILE: the daemon has a client that captures.
begins() {
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" --json capture "$1" >"$1.said" 2>&1 & # the process itself
	pids[$1]=$!
	wait_for 10 grown "$1" || because "no capture begins: $(cat "$1.said")"
}

# It reads its own port twice a second, so the file soon grows.
grown() {
	[ -s "$1" ]
}

# sends METHOD ATTRIBUTE: weftd's count.
sends() {
	status daemon "$(sent "\$_->{method} eq \"$1\" && \$_->{attribute} eq \"$2\"")"
}

# weftd's counts before and after the start of the capture, and before and after its end: a daemon without a link
# searches for one from time to time.
declare -A before begun after ended
counted=('Get NodeInfo' 'Get NodeDescription' 'Get SwitchInfo' 'Set LinearForwardingTable')

# counts_into ARRAY
counts_into() {
	local -n counts_now=$1
	local what

	for what in "${counted[@]}"; do
		# shellcheck disable=SC2034 # the array of that name has them
		counts_now[$what]=$(sends ${what})
	done
}

bring_up_and_questions() {
	counts_into before
	begins bring-up.pcap || return 1
	counts_into begun
	"$BUILD/weftsim" "do" "link up leaf-01 1" >do.txt
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	counts 14 'NodeRecord dump' NR && counts 1 'PathRecord dump' -p --src-to-dst 1:2 || return 1
	look answer.txt host-0002 saquery --smkey "0x$sa_key" PIR || because "$(tail -n 1 answer.txt.err)" || return 1
	counts_into after
	stop bring-up.pcap
	equal "the status of a capture that was ended" $? 143 || return 1
	counts_into ended
	tshark -r bring-up.pcap >lines.txt 2>tshark.err || because "tshark: $(tail -n 1 tshark.err)"
}

# decoded PATTERN NUMBER
decoded() {
	equal "the number of $1" "$(grep -cE -- " $1\$" lines.txt)" "$2"
}

# between METHOD ATTRIBUTE: the capture has as many as weftd sent in that time. It may differ by the MADs sent while the
# capture started and ended.
between() {
	local what="$1 $2" packets least most

	packets=$(grep -cE -- " Subn$1\\($2\\)\$" lines.txt)
	least=$((after[$what] - begun[$what])) most=$((ended[$what] - before[$what]))
	[ "$least" -gt 0 ] || because "weftd counts no Subn$1($2)" || return 1
	[ "$packets" -ge "$least" ] && [ "$packets" -le "$most" ] ||
		because "$packets Subn$1($2) were captured, and $least to $most sent"
}

# Each NodeInfo has its answer; the capture may start or end between the two.
answered() {
	local gets responses

	gets=$(grep -cE ' SubnGet\(NodeInfo\)$' lines.txt) responses=$(grep -cE ' SubnGetResp\(NodeInfo\)$' lines.txt)
	[ $((responses - gets)) -le 1 ] && [ $((gets - responses)) -le 1 ] || because "$responses answers to $gets SubnGet(NodeInfo)"
}

as_counted() {
	local what

	[ "$(wc -l <lines.txt)" -gt 400 ] || because "$(wc -l <lines.txt) packets only" || return 1
	equal "lines without a MAD" "$(grep -vcE ' (Subn|Perf)[A-Za-z]*\([A-Za-z_0-9]*\)$' lines.txt)" 0 || return 1
	for what in "${counted[@]}"; do
		between ${what} || return 1
	done
	answered || return 1
	decoded 'SubnAdmGetTable\(NodeRecord\)' 1 && decoded 'SubnAdmGetTableResp\(NodeRecord\)' 1
}

well_formed() {
	local filter

	for filter in _ws.malformed '_ws.expert.severity >= "Warning"' 'frame.cap_len < frame.len'; do
		tshark -r bring-up.pcap -Y "$filter" >odd.txt 2>tshark.err || because "tshark: $(tail -n 1 tshark.err)" || return 1
		[ ! -s odd.txt ] || because "$filter: $(head -n 1 odd.txt)" || return 1
	done
	tshark -r bring-up.pcap -T fields -e frame.time_epoch 2>/dev/null | sort -nc || because "times go back" || return 1
	tshark -r bring-up.pcap -V -Y 'infiniband.mad.method == 0x92' 2>/dev/null >table.txt
	equal "flags, number and length of the first segment of a long answer" \
		"$(tshark -r bring-up.pcap -Y 'infiniband.mad.method == 0x92 && infiniband.mad.attributeid == 0x11' -T fields \
		-e infiniband.rmpp.rmppflags -e infiniband.rmpp.segmentnumber -e infiniband.rmpp.payloadlength 2>/dev/null | xargs)" \
		"0x03 0x00000001 $(printf 0x%08x $((14 * 112 + 8 * 20)))" || return 1 # 8 segments
	matches 'Source Local ID: [1-9]' table.txt && matches 'NodeType: 0x0[12]' table.txt ||
		because "a table of nodes does not show as such"
}

# These MADs had the M_Key of the ports and the client's SA_Key.
without_keys() {
	local key

	ctl daemon sweep >done.txt || because "no sweep" || return 1 # which looks what ports hold
	equal "ports with the M_Key" "$(ctl daemon keys status | json '$_->{protected}')" 14 || return 1
	for key in $m_key $sm_key $sa_key; do
		! od -An -v -tx1 bring-up.pcap | tr -d ' \n' | grep -q "$key" || because "the key $key is in the file" || return 1
	done
	equal "the mode of the file" "$(stat -c %a bring-up.pcap)" 600
}

# A time limit, standard output, and an existing longer file.
ends_by_itself() {
	local packets

	cp bring-up.pcap again.pcap
	packets=$(ctl daemon capture again.pcap --seconds 2 | json '$_->{packets}, $_->{lost}') ||
		because "it fails" || return 1
	equal "packets and lost" "$(tshark -r again.pcap 2>/dev/null | wc -l) 0" "$packets" || return 1
	[ "${packets% *}" -gt 0 ] || because "nothing was captured" || return 1
	ctl daemon capture - --seconds 1 2>pipe.err | tshark -r - >pipe.txt 2>/dev/null
	matches 'SubnGet\(PortInfo\)' pipe.txt || because "a pipe gives: $(cat pipe.err)"
}

refused() {
	cp bring-up.pcap kept.pcap
	! ctl daemon capture /nowhere/file 2>refused.err || because "it is not refused" || return 1
	matches 'cannot write /nowhere/file: No such file' refused.err || because "$(cat refused.err)" || return 1
	! "$BUILD/weftctl" -s "$work/none.sock" capture kept.pcap 2>refused.err || because "without a daemon" || return 1
	cmp -s bring-up.pcap kept.pcap || because "a file is lost though there is no daemon"
}

check "a daemon that waits for a link" daemon_waits || finish
check "a bring-up and questions to the SA" bring_up_and_questions || finish
check "as many as weftd counts" as_counted
check "nothing malformed" well_formed
check "no keys" without_keys
check "a capture that ends by itself" ends_by_itself
check "captures that are refused" refused
finish
