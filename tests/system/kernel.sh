#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# An unmodified kernel of Debian as client of a simulated fabric: one virtual machine with two virtual HCAs (vhca/), at
# host-0003 and host-0005 of a fat tree. Each IPoIB interface is in a network namespace of its own, so that packets
# between them leave the machine and pass three switches. weftd runs on this machine, at host-0001.
#
# `make check-kernel` runs this test. It skips if there is no emulator, or no kernel in $BUILD/kernel: scripts/vm-kernel
# fetches it. VM_KERNEL=new takes another one. $BUILD/vm/ keeps the console.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/vm-lib.sh
. "$root/tests/system/vm-lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip kernel: weftsim's preload library and sanitizers do not go together"
	exit 0
fi
if ! vm_tools; then
	echo "skip kernel: $reason"
	exit 0
fi
kernel=${VM_KERNEL:-6.1}
if [ ! -d "$BUILD/kernel/$kernel" ]; then
	echo "skip kernel: no folder $BUILD/kernel/$kernel"
	exit 0
fi

# The nodes of the machine, their network namespaces and addresses.
declare -A node=([one]=host-0003 [two]=host-0005) address=([one]=10.0.0.1 [two]=10.0.0.2) guid=() lid=()

sim() {
	"$BUILD/weftsim" "do" "$@"
}

# guest SCRIPT: in the machine; its output is in guest.txt, and is the reason if it fails.
guest() {
	in_vm vm "$1" >guest.txt || because "\`$1\` ($?): $(tail -n 3 guest.txt | tr '\n' ' ')"
}

# The machine and its devices

boots() {
	local name

	for name in one two; do
		guid[$name]=$(sed -n "/\"${node[$name]}\"/{n;s/^\[1\](\([0-9a-f]*\)).*/\1/p}" fabric.net)
		guid[$name]=$(printf '%016x' "0x${guid[$name]}")
	done
	vm_is_up vm && echo "# $said"
}

has_devices() {
	guest 'cd /dev/infiniband && ls' || return 1
	equal "/dev/infiniband" "$(grep -E 'umad|issm' guest.txt | sort | xargs)" "issm0 issm1 umad0 umad1" || return 1
	guest "device_of ${guid[one]}; device_of ${guid[two]}" && equal "the number of HCAs" "$(wc -l <guest.txt)" 2 || return 1
	{ read -r device_one && read -r device_two; } <guest.txt
}

isolated() {
	guest "isolate one ${guid[one]} ${address[one]}/24 && isolate two ${guid[two]} ${address[two]}/24"
}

ports_are_active() {
	local name

	guest "await 30 port $device_one state '4: ACTIVE' && await 30 port $device_two state '4: ACTIVE'" || return 1
	guest "cat /sys/class/infiniband/{$device_one,$device_two}/ports/1/lid" || return 1
	{ read -r "lid[one]" && read -r "lid[two]"; } <guest.txt
	for name in one two; do
		lid[$name]=$((lid[$name]))
		equal "the LID of ${node[$name]}" "${lid[$name]}" "$(lid_at_manager "${node[$name]}")" || return 1
	done
}

lid_at_manager() {
	ctl one port list "$1" | json '$_->[0]{lid}'
}

interfaces_come_up() {
	guest 'for s in one two; do await 20 eval "ip -n $s link | grep -q LOWER_UP.*4092\|LOWER_UP.*2044" || ip -n $s link; done'
}

ping_passes() {
	guest "wait=20 pings one ${address[two]}" && echo "# a ping passed $SECONDS s after the start"
}

# Each packet passes three switches, and their counters have it.
passes_switches() {
	sim "path ${node[one]} ${node[two]}" >path.txt || because "$(cat path.txt)" || return 1
	equal "the number of switches on the path" "$(grep -cE 'leaf|spine' path.txt)" 3 || return 1
}

if ! "$BUILD/weftsim" topology fattree:radix=4,levels=2 >fabric.net; then
	check "a topology" false
	finish
fi
check "a fabric" start_weftsim fabric.net || finish
check "a kernel and an image" prepare_vm "$kernel" lib/guest.sh="$root/tests/vm/guest.sh" || finish
start_vm vm "${node[@]}"
check "a manager" start_weftd one host-0001
check "the machine boots" boots || finish
check "two HCAs with umad and issm" has_devices || finish
check "an IPoIB interface in each namespace" isolated || finish
check "ports are ACTIVE, with the LIDs of the manager" ports_are_active
check "IPoIB comes up by itself" interfaces_come_up
check "a ping passes" ping_passes || finish
check "the path has three switches" passes_switches
finish
