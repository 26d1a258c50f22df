#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# An unmodified kernel of Debian as client of a simulated fabric: one virtual machine with two virtual HCAs (vhca/), at
# host-0003 and host-0005 of a fat tree. Each IPoIB interface is in a network namespace of its own, so that packets
# between them leave the machine and pass three switches. weftd runs on this machine, at host-0001.
#
# The commands of docs/testing-without-hardware.md run on a machine of their own.
#
# `make check-kernel` runs this test. It skips if there is no emulator, or no kernel in $BUILD/kernel: scripts/vm-kernel
# fetches it. VM_KERNEL=new takes another one. $BUILD/vm/ keeps the console. `kernel.sh --write` writes the facts of the
# kernel's umad to the golden file.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/vm-lib.sh
. "$root/tests/system/vm-lib.sh"
# shellcheck source=tests/system/vm-pair.sh
. "$root/tests/system/vm-pair.sh"
# shellcheck source=tests/system/page.sh
. "$root/tests/system/page.sh"

write=${1:-}

# The program is compiled only if it has changed, because a new file makes a new image.
image_is_made() {
	local source=$root/tests/system/umad_facts.c program=$BUILD/vm/umad_facts

	mkdir -p "$BUILD/vm"
	[ "$program" -nt "$source" ] || "${CC:-cc}" -I"$root" -O2 -D_GNU_SOURCE -o "$program" "$source" || because "umad_facts.c" || return 1
	prepare_vm "$kernel" bin/umad_facts="$program"
}

# The machine and its devices

# umad-facts.sh compares weftsim's imitation of umad with the newer file. Kernels before 6.15 do not limit requests.
umad_agrees() {
	local number peer golden=$root/tests/golden/umad-newest.golden

	case $(in_vm vm 'uname -r') in
	[1-5].* | 6.?.* | 6.1[0-4].*) golden=$root/tests/golden/umad.golden ;;
	esac
	peer=$(ctl one port list host-0002 | json '$_->[0]{lid}') || because "no LID of host-0002" || return 1
	number=$(in_vm vm "grep -l '^$device_one\$' /sys/class/infiniband_mad/umad*/ibdev | grep -o '[0-9]*' | head -n 1")
	in_vm vm "umad_facts /dev/infiniband $number $peer" >facts.txt || because "umad_facts: $(tail -n 1 facts.txt)" || return 1
	[ "$write" != --write ] || cp facts.txt "$golden"
	diff "$golden" facts.txt >facts.diff ||
		because "$(grep -c '^[<>]' facts.diff) lines differ: $(grep -m 2 '^[<>]' facts.diff | paste -sd ' ')"
}

ping_passes() {
	guest "wait=60 pings one ${address[two]}" && echo "# a ping passed $SECONDS s after the start"
}

# Each packet passes three switches. The middle one counts the packets of a ping.
passes_switches() {
	local before after

	sim "path ${node[one]} ${node[two]}" >path.txt || because "$(cat path.txt)" || return 1
	matches 'LID [0-9]*: 3 switches' path.txt || because "the path is $(paste -sd ' ' path.txt)" || return 1
	read -r spine leaf_port < <(awk 'NR == 2 { port = $4 } NR == 3 { print $1, port }' path.txt | tr -d '[]')
	before=$(counted "$spine") || return 1
	guest "ip netns exec one ping -c 8 -i 0.1 ${address[two]}" || return 1
	after=$(counted "$spine")
	[ $((after - before)) -ge 16 ] || because "$spine sent $((after - before)) packets for 8 pings"
}

# counted NODE: the packets that all ports of a switch have sent.
counted() {
	look counters.txt host-0001 perfquery -x -a "$(lid_of_node "$1")" || because "perfquery: $(cat counters.txt.err)" || return 1
	awk -F '\\.\\.+' '/^PortUnicastXmitPkts/ { n += $2 } END { print n + 0 }' counters.txt
}

lid_of_node() {
	ctl one node list | json "(grep { \$_->{description} eq \"$1\" } @\$_)[0]{lid}"
}

# The standard tools, in the machine

tools_work() {
	tool SMINFO_MASTER "sminfo -C $device_one" &&
		tool 'NodeRecord' "saquery -C $device_one NR" &&
		tool "^[[:space:]]*dlid\.+${lid[two]}" "saquery -C $device_one PR --slid ${lid[one]} --dlid ${lid[two]}" &&
		tool 'PortUnicastXmitPkts:\.+[1-9]' "perfquery -x -C $device_one ${lid[two]} 1" || return 1
	guest "ibtracert -C $device_one ${lid[one]} ${lid[two]}" || return 1
	equal "the number of switches that ibtracert finds" "$(grep -c 'switch port' guest.txt)" 3
}

answers_ibping() {
	guest "ibping -C $device_two -S >/dev/null 2>&1 & sleep 1; ibping -C $device_one -c 3 ${lid[two]}; kill \$!" || return 1
	matches '3 packets transmitted, 3 received' guest.txt || because "$(tail -n 3 guest.txt | tr '\n' ' ')"
}

# Changes of the fabric

partition_is_added() {
	guest "child one ${address[one]/0.0/0.5}/24 && child two ${address[two]/0.0/0.5}/24" || return 1
	! guest "wait=2 pings one ${address[two]/0.0/0.5}" || because "a ping passes without the P_Key" || return 1
	ctl one partition add 0x5 blue --ipoib --full --members 0x${guid[one]},0x${guid[two]} >added.txt 2>&1 ||
		because "$(cat added.txt)" || return 1
	guest "await 60 grep -lq 0x8005 /sys/class/infiniband/$device_one/ports/1/pkeys/1" || return 1
	guest "wait=60 pings one ${address[two]/0.0/0.5}"
}

partition_is_removed() {
	ctl one partition member remove blue "0x${guid[two]}" >removed.txt 2>&1 || because "$(cat removed.txt)" || return 1
	guest "await 60 port $device_two pkeys/1 0x0000" || return 1
	! guest "wait=2 pings one ${address[two]/0.0/0.5}" || because "a ping passes to a port without the P_Key" || return 1
	guest "wait=10 pings one ${address[two]}" # the other partition
}

# The HCA returns with the LID that the store has: another one.
lid_changes() {
	local old=${lid[one]}

	ctl one save "$work/saved.json" >/dev/null && sed "/${guid[one]}.*\"kind\": \"lid\"/s/\"LID\": [0-9]*/\"LID\": 200/" saved.json >lids.json
	guest "rdma monitor >/tmp/monitor 2>&1 & echo" || return 1
	sim "node down ${node[one]}" || return 1
	guest "await 60 port $device_one state '1: DOWN'" || return 1
	wait_for 60 is_absent "${node[one]}" || because "weftd does not notice the lost link" || return 1
	ctl one restore lids.json >restored.txt 2>&1 || because "restore: $(cat restored.txt)" || return 1
	sim "node reboot ${node[one]}" "node up ${node[one]}" || return 1
	guest "await 60 port $device_one lid 0xc8 && await 60 port $device_one state '4: ACTIVE'" || because "the LID is not 200" || return 1
	lid[one]=200
	[ "$old" -ne 200 ] && guest "wait=60 pings one ${address[two]}"
}

is_absent() {
	! ctl one port list "$1" 2>/dev/null | grep -q ACTIVE
}

# Pings every 0.1 s for 8 s, with a cable of their path pulled after 2 s: at most ten are lost.
survives_a_cable() {
	local received

	sim "path ${node[one]} ${node[two]}" >path.txt || because "$(cat path.txt)" || return 1
	read -r leaf leaf_port < <(awk 'NR == 2 { print $1, $4 }' path.txt | tr -d '[]')
	guest "ip netns exec one ping -i 0.1 -w 8 ${address[two]} >/tmp/ping 2>&1 & sleep 2" || return 1
	sim "link down $leaf $leaf_port" || return 1
	guest 'wait; await 15 grep -q transmitted /tmp/ping; tail -n 3 /tmp/ping' || return 1
	read -r sent received < <(awk '/transmitted/ { print $1, $4 }' guest.txt)
	sim "path ${node[one]} ${node[two]}" >later.txt || because "$(cat later.txt)" || return 1
	! diff -q path.txt later.txt >/dev/null || because "the path is still $(paste -sd ' ' later.txt)" || return 1
	sim "link up $leaf $leaf_port" || return 1
	echo "# $received of $sent pings were answered"
	[ "${sent:-0}" -ge 50 ] && [ $((sent - received)) -le 10 ] || because "$received of ${sent:-0} pings were answered"
}

# The device and its driver

hca_is_unplugged() {
	monitor vm device_del "id=$(hca_path 2)"
	guest "await 60 test ! -e /sys/class/infiniband/$device_two" || because "the device stays" || return 1
	wait_for 60 matches 'DEVICE_DELETED.*device.3."' vm-monitor.log || because "qemu still has the device" || return 1
	wait_for 60 is_absent "${node[two]}" || because "weftd does not notice it"
}

# hca_path NUMBER: the emulator's name of an HCA. The first two anonymous devices are of the agent's port.
hca_path() {
	echo "/machine/peripheral-anon/device[$(($1 + 1))]"
}

hca_is_plugged_in() {
	monitor vm device_add driver=virtio-net-pci netdev=weft2 mac=02:77:65:66:74:02 host_mtu=4352 id=hca2
	guest "await 60 eval '[ -n \"\$(device_of ${guid[two]})\" ]' && device_of ${guid[two]}" || because "no new device" || return 1
	read -r device_two <guest.txt
	guest "await 60 port $device_two state '4: ACTIVE' && ip -n two link && isolate two ${guid[two]} ${address[two]}/24" || return 1
	guest "wait=60 pings one ${address[two]}"
}

driver_is_reloaded() {
	guest "for n in 1 2 3; do rmmod vhca && [ -z \"\$(ls /sys/class/infiniband)\" ] && modprobe vhca || exit 1; sleep 0.2; done
		await 60 eval '[ -n \"\$(interface_of ${guid[one]})\" ] && [ -n \"\$(interface_of ${guid[two]})\" ]'" || return 1
	isolated && guest "device_of ${guid[one]}; device_of ${guid[two]}" || return 1
	{ read -r device_one && read -r device_two; } <guest.txt
	guest "wait=60 pings one ${address[two]}"
}

link_comes_and_goes() {
	for _ in 1 2 3; do
		sim "link down ${node[two]} 1" || return 1
		guest "await 60 port $device_two state '1: DOWN'" || return 1
		sim "link up ${node[two]} 1" || return 1
		guest "await 60 port $device_two state '4: ACTIVE'" || return 1
	done
	guest "wait=60 pings one ${address[two]}"
}

# The page as typed, in one shell: blocks of kind `vm`.
page_is_true() {
	local n

	stop_vm vm && mkdir page && cd page && split_page vm '$' <"$root/docs/testing-without-hardware.md" || return 1
	for ((n = 1; n <= $(find . -name '*.shown' | wc -l); n++)); do
		printf '{\n%s\n} >%s.out 2>&1\necho $? >%s.status\n' "$(<$n)" "$PWD/$n" "$PWD/$n"
	done >script
	(cd "$root" && TMPDIR=$work WEFTSIM_SOCKET=$work/page.sock timeout 200 setsid bash -m "$work/page/script") >script.out 2>&1
	for ((n = 1; n <= $(find . -name '*.shown' | wc -l); n++)); do
		if [ -s $n.shown ]; then
			as_shown $n || because "it prints: $(tail -n 20 $n.out); of: $(<$n)" || return 1
		else
			equal "the status of: $(<$n) ($(tail -n 1 $n.out))" "$(cat $n.status 2>/dev/null)" 0 || return 1
		fi
	done
	cd ..
	[ "$n" -gt 5 ] || because "the page has $((n - 1)) commands"
}

check "a fabric" has_fabric || finish
check "a kernel and an image" image_is_made || finish
start_vm vm "${node[one]}" "${node[two]}"
check "a manager" start_weftd one host-0001 -o 'partition_config_file="none.conf"'
check "the machine boots" boots || finish
check "two HCAs with umad and issm" has_devices || finish
check "an IPoIB interface in each namespace" isolated || finish
check "ports are ACTIVE, with the LIDs of the manager" ports_are_active
check "IPoIB comes up by itself" interfaces_come_up
check "a ping passes" ping_passes || finish
check "through three switches" passes_switches
check "sminfo, saquery, perfquery and ibtracert" tools_work
check "umad answers as weftsim imitates it" umad_agrees
check "ibping" answers_ibping
check "a partition is added to a running interface" partition_is_added
check "a removed member receives nothing" partition_is_removed
check "a cable on the path is pulled" survives_a_cable
check "a LID changes" lid_changes
check "a link comes and goes" link_comes_and_goes
check "an HCA is unplugged" hca_is_unplugged
check "an HCA is plugged in" hca_is_plugged_in
check "the driver is unloaded and loaded" driver_is_reloaded
check "the kernel does not complain" kernel_does_not_complain
check "docs/testing-without-hardware.md, as typed" page_is_true
finish
