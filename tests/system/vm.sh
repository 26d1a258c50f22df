#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftsim vm: a program in place of qemu plays the drivers of two virtual HCAs (guest.py), on a fabric that weftd
# manages. Their packets cross three switches, by the tables, P_Keys and groups of weftd. Counters and a capture agree
# with what was sent. Machines that send rubbish, flood, freeze or vanish affect no other node.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip vm: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

declare -A into=() from=()

sim() {
	"$BUILD/weftsim" "do" "$@"
}

# start_machine NAME NODE...: a machine with the adapters of these nodes.
start_machine() {
	local name=$1 node line options=() to of

	shift
	for node; do
		options+=(-n "$node")
	done
	rm -f "$name.in" "$name.out"
	mkfifo "$name.in" "$name.out"
	"$BUILD/weftsim" vm "${options[@]}" -- /usr/bin/python3 "$root/tests/system/guest.py" <"$name.in" >"$name.out" 2>"$name.log" &
	pids[$name]=$!
	exec {to}>"$name.in" {of}<"$name.out"
	into[$name]=$to
	from[$name]=$of
	read -r -t 20 -u "$of" line
	equal "the machine's first line" "$line" "ok $# nodes"
}

# says NAME N COMMAND...: the reply of node N of the machine, in $reply.
reply=
says() {
	local name=$1

	shift
	echo "$*" >&"${into[$name]}"
	reply=
	read -r -t 60 -u "${from[$name]}" reply || because "'$*' has no reply; $(tail -n 1 "$name.log")" || return 1
	[[ $reply == ok* ]] || because "'$*': $reply" || return 1
	reply=${reply#ok}
	reply=${reply# }
}

# replies WANTED NAME N COMMAND...
replies() {
	local wanted=$1

	shift
	says "$@" || return 1
	equal "the reply to '${*:3}'" "$reply" "$wanted"
}

declare -A lid=()

comes_up() {
	local n node=host-0003

	start_machine pair host-0003 host-0008 || return 1
	for n in 1 2; do
		says pair $n hello && says pair $n wait state active && says pair $n get lid || return 1
		lid[$node]=$reply
		node='host-0008'
	done
	[ "${lid[host-0003]}" -gt 0 ] && [ "${lid[host-0008]}" -gt 0 ] || because "the LIDs are ${lid[*]}" || return 1
	sim "path host-0003 host-0008" >path.txt || return 1
	matches ': 3 switches$' path.txt || because "the path is $(tail -n 1 path.txt)"
}

unchanged() {
	wait_for 20 has_state host-0005 Active || because "$(sim 'show host-0005')"
}

# has_state NODE STATE
has_state() {
	[ "$(sim "show $1" | awk '$1 == 1 { print $2 }')" = "$2" ]
}

# refused STATUS PATTERN ARGUMENT...: weftsim ends with this status and one matching line.
refused() {
	local wanted=$1 pattern=$2 status

	shift 2
	timeout 20 "$BUILD/weftsim" "$@" >refused.txt 2>&1
	status=$?
	equal "the exit status" $status "$wanted" || return 1
	matches "$pattern" refused.txt || because "it says: $(head -n 3 refused.txt)"
}

taken() {
	refused 1 'host-0003 is in use by a virtual machine; end it, or choose another node with -n' vm -n host-0003 -- true &&
		refused 1 'host-0003 is in use by a virtual machine; end it' run -n host-0003 -- ibstat -l
}

used_by_a_program() {
	refused 1 'host-0001 is in use by a program of .weftsim run.; end it' vm -n host-0001 -- true
}

# reads LID PORT FIELD: a counter by a tool on another node.
reads() {
	on host-0002 timeout 20 perfquery -x "$1" "$2" >perfquery.txt 2>&1 || because "perfquery: $(tail -n 1 perfquery.txt)" || return 1
	reply=$(sed -n "s/^$3:\.*//p" perfquery.txt)
}

# grows LID PORT FIELD BEFORE BY
grows() {
	reads "$1" "$2" "$3" && equal "$3 of LID $1 port $2" "$reply" $(($4 + $5))
}

# One packet is LRH, BTH, DETH, 333 bytes with 3 of padding, and the ICRC: 92 words. Each reading of perfquery is packets,
# too, so that the counters are read at the spine, by which it does not pass: the tables say which one.
crosses_switches() {
	local spine spine_lid port before

	spine=$(sed -n 's/.*-> .*\(spine-[0-9]*\) .*/\1/p; s/^\(spine-[0-9]*\) .*/\1/p' path.txt | head -n 1)
	port=$(sed -n "s/^$spine .*-> \[\([0-9]*\)\].*/\1/p" path.txt)
	spine_lid=$(sim "show $spine" | awk '$1 == 0 { print $5 }')
	[ -n "$port" ] && [ -n "$spine_lid" ] || because "no spine in $(cat path.txt)" || return 1
	says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 333 count=10 || return 1
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		replies "333 0xffff unicast" pair 2 got || return 1
	done
	reads "${lid[host-0008]}" 1 PortRcvData && before=$reply || return 1
	says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 333 count=10 && says pair 2 got || return 1
	# The second reading counts the 10 packets, the request of the first reading, and its own: perfquery sends
	# ClassPortInfo and PortCountersExtended, 72 words each.
	reads "${lid[host-0008]}" 1 PortRcvData || return 1
	[ $((reply - before)) -ge 920 ] && [ $(((reply - before - 920) % 72)) -eq 0 ] ||
		because "PortRcvData grows by $((reply - before)), of which 920 are ours" || return 1
	reads "$spine_lid" "$port" PortXmitPkts || return 1
	[ "$reply" -ge 20 ] || because "PortXmitPkts of $spine port $port is $reply" || return 1
	for _ in 1 2 3 4 5 6 7 8 9; do says pair 2 got; done
}

too_long() {
	local before

	before=$(dropped 'longer than the MTU')
	says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 4097 && says pair 2 silent || return 1
	sim vms >vms.txt
	matches 'refused: malformed 1' vms.txt || because "$(cat vms.txt)" || return 1
	equal "packets dropped for the MTU" "$(dropped 'longer than the MTU')" "$before"
}

# dropped REASON
dropped() {
	local count

	count=$(sim stats | sed -n "s/^dropped: $1 *//p")
	echo "${count:-0}"
}

# A packet of the machine that its hardware does not send.
not_its_own() {
	says pair 1 ud "${lid[host-0008]}" 0x100 0x8123 20 && says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 20 slid=999 &&
		says pair 2 silent || return 1
	sim vms >vms.txt
	matches 'source address 1, P_Key 1' vms.txt || because "$(cat vms.txt)"
}

partition() {
	ctl sm partition add 0x5 blue --members 'host-[0003,0008]=full' >part.json || because "$(cat part.json)" || return 1
	says pair 1 wait p_keys 0x8005,0xffff || says pair 1 wait p_keys 0xffff,0x8005 || return 1
	says pair 1 ud "${lid[host-0008]}" 0x100 0x8005 64 && replies "64 0x8005 unicast" pair 2 got || return 1
	# Without the key at the receiver, its switch does not let the packet out.
	ctl sm partition member remove blue host-0008 >part.json || because "$(cat part.json)" || return 1
	says pair 2 wait p_keys 0xffff || return 1
	says pair 1 ud "${lid[host-0008]}" 0x100 0x8005 64 && says pair 2 silent || return 1
	[ "$(dropped 'bad P_Key')" -ge 1 ] || because "no packet was dropped for its P_Key" || return 1
	wait_for 10 saw_trap 259 || because "no trap 259: $(tail -n 1 events.json)" || return 1
	says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 64 && replies "64 0xffff unicast" pair 2 got
}

# saw_trap NUMBER: weftd has an event of it.
saw_trap() {
	ctl sm events >events.json && grep -q "$1" events.json
}

# The driver reports a packet that no queue pair takes.
violation() {
	says pair 2 violate 2 && wait_for 10 saw_trap 258 || because "no trap 258: $(tail -n 1 events.json)"
}

# A trap that the neighbouring switch sends on with its own LID.
forged() {
	local leaf

	leaf=$(sim "show $(sed -n 's/^\(leaf-[0-9]*\) .*/\1/p' path.txt | head -n 1)" | awk '$1 == 0 { print $5 }')
	[ -n "$leaf" ] || because "no leaf in $(cat path.txt)" || return 1
	says pair 1 forge "$leaf" || return 1
	wait_for 10 grep -q "trap 129 from .* LID $leaf) came by a directed route.*ignored" sm.log || because "$(tail -n 3 sm.log)"
}

groups() {
	local mlid

	says pair 1 join ff12:401b:ffff::77 0xffff || return 1
	mlid=$reply
	replies "$mlid" pair 2 join ff12:401b:ffff::77 0xffff || return 1
	wait_for 20 tree_is_written "$mlid" || because "no tree: $(cat multicast.txt)" || return 1
	says pair 1 ud "$mlid" 0xffffff 0xffff 100 gid=ff12:401b:ffff::77 || return 1
	replies "100 0xffff multicast" pair 2 got || return 1
	says pair 1 silent && says pair 2 silent
}

tree_is_written() {
	sim "multicast $1 host-0003" >multicast.txt && matches 'host-0008' multicast.txt
}

# A manager's request reaches the host only with IsSM.
is_sm() {
	says pair 1 modify 0x10002 0 test-node && says pair 1 wait issm 1 || return 1
	on host-0002 timeout 20 smpquery nodedesc "${lid[host-0003]}" >desc.txt 2>&1 || because "$(cat desc.txt)" || return 1
	matches 'test-node' desc.txt || because "the description is $(cat desc.txt)" || return 1
	says pair 1 modify 0 0x10002 host-0003 && says pair 1 wait issm 0
}

captured() {
	sim "capture $work/some.pcap host-0008" || return 1
	says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 50 sl=0 && says pair 2 got || return 1
	sim 'capture off' >capture.txt || return 1
	matches '^[1-9][0-9]* packets$' capture.txt || because "$(cat capture.txt)" || return 1
	tshark -r some.pcap -Y 'infiniband.bth.destqp == 0x100' -T fields -e infiniband.lrh.slid -e infiniband.lrh.dlid \
		-e infiniband.bth.p_key -e infiniband.deth.q_key -e infiniband.deth.srcqp -e infiniband.bth.padcnt >tshark.txt 2>/dev/null
	equal "the packet that tshark shows" "$(cat tshark.txt)" \
		"$(printf '%s\t%s\t65535\t0x0000000000000b1b\t0x00000100\t2' "${lid[host-0003]}" "${lid[host-0008]}")" || return 1
	refused 1 'nothing is captured' "do" 'capture off' && refused 1 'cannot write /nosuch/x' "do" 'capture /nosuch/x' &&
		refused 1 'is no regular file' "do" 'capture /dev/null'
}

# Bad machines

# The rest of the fabric works: packets, SMPs and the SA, and the manager sees no change.
others_work() {
	says pair 1 ud "${lid[host-0008]}" 0x100 0xffff 40 && replies "40 0xffff unicast" pair 2 got || return 1
	on host-0002 timeout 20 smpquery nodedesc "${lid[host-0008]}" >desc.txt 2>&1 || because "$(cat desc.txt)" || return 1
	on host-0002 timeout 20 saquery -t 10000 NR >nr.txt 2>&1 && matches NodeRecord nr.txt || because "$(tail -n 1 nr.txt)" || return 1
	runs sm || because "weftd is gone: $(tail -n 1 sm.log)"
}

# resident: of the server, in KiB.
resident() {
	awk '/^VmRSS/ { print $2 }' "/proc/${pids[$fabric]}/status"
}

rubbish() {
	start_machine bad host-0004 && says bad 1 hello && says bad 1 wait state active || return 1
	for seed in 1 2 3; do
		says bad 1 fuzz $seed 3000 && others_work || return 1
	done
	sim vms >vms.txt
	awk '$1 == "host-0004" && $8 > 1000 { found = 1 } END { exit !found }' vms.txt || because "$(cat vms.txt)" || return 1
	says bad 1 hello && says bad 1 wait state active
}

floods() {
	local before

	before=$(resident)
	says bad 1 get lid && says bad 1 stop && says bad 1 flood 3000 || return 1
	others_work || return 1
	sim vms >vms.txt
	awk '$1 == "host-0004" && $7 > 1000 { found = 1 } END { exit !found }' vms.txt || because "$(cat vms.txt)" || return 1
	[ $(($(resident) - before)) -lt 8192 ] || because "the server grew from $before to $(resident) KiB"
}

# The agent of a frozen machine answers, as firmware does.
frozen() {
	local n

	n=$(sim "show host-0004" | awk '$1 == 1 { print $6 }')
	kill -STOP "${pids[bad]}"
	on host-0002 timeout 20 smpquery nodedesc "$n" >desc.txt 2>&1 || because "$(cat desc.txt)" || return 1
	says pair 1 ud "$n" 0x100 0xffff 2000 count=1000 && others_work || return 1
	has_state host-0004 Active || because "$(sim 'show host-0004')"
}

# In the middle of its requests.
killed() {
	kill_now bad
	wait_for 10 has_state host-0004 Down || because "$(sim 'show host-0004')" || return 1
	others_work || return 1
	sim vms >vms.txt
	! matches host-0004 vms.txt || because "it is still listed" || return 1
	start_machine bad host-0004 && says bad 1 hello && says bad 1 wait state active || return 1
	says bad 1 bye && wait_for 10 has_state host-0004 Down || because "its port has a link without a driver" || return 1
	says bad 1 hello && says bad 1 wait state active || return 1
	sim 'node reboot host-0004' && says bad 1 wait state active || return 1
	says bad 1 raw ffffffff || return 1
	wait_for 10 has_state host-0004 Down || because "a stream without frames has a link" || return 1
	others_work
}

# A machine whose device is removed; then the node is a simulated host again.
given_back() {
	kill_now bad
	start_machine bad host-0004 && says bad 1 hello && says bad 1 wait state active || return 1
	sim 'device remove host-0004' 'device add host-0004' || return 1
	wait_for 10 has_state host-0004 Down || because "$(sim 'show host-0004')" || return 1
	kill_now bad
	sim 'node reboot host-0004' || return 1
	wait_for 20 has_state host-0004 Active || because "$(sim 'show host-0004')" || return 1
	on host-0004 timeout 20 smpquery nodedesc -D 0 >desc.txt 2>&1 || because "$(cat desc.txt)"
}

start_weftsim fattree:radix=4,levels=2 || { check "weftsim starts" false; finish; }
check "weftd starts" start_weftd sm host-0001 || finish
check "two machines come up" comes_up || finish
check "an adapter has one machine" taken
check "an adapter of a program has no machine" used_by_a_program
check "no such node" refused 1 'no node has the name, GUID or LID "nosuch"' vm -n nosuch -- true
check "a switch is no adapter" refused 1 'leaf-01 is no adapter; name an adapter with -n' vm -n leaf-01 -- true
check "no emulator" refused 1 'cannot execute /nosuch' vm -n host-0005 -- /nosuch
check "a machine that does not start leaves its node as it was" unchanged
check "no command" refused 2 'the COMMAND of an emulator is needed' vm -n host-0005
check "packets cross three switches, and the counters are true" crosses_switches
check "a packet that is too long" too_long
check "packets that are not the machine's own" not_its_own
check "multicast" groups
if command -v tshark >/dev/null; then
	check "a capture" captured
else
	echo "skip a capture: no tshark here (scripts/install-deps installs it)"
fi
check "partitions" partition
check "a violation that the driver reports" violation
check "IsSM and the name of the node" is_sm
check "a forged trap of a switch" forged
check "a machine that sends rubbish" rubbish
check "a machine that floods and does not read" floods
check "a frozen machine" frozen
check "a machine that is killed" killed
check "the node without the machine" given_back
finish
