# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # for and from lib.sh
#
# A virtual machine with two virtual HCAs, at host-0003 and host-0005 of a fat tree, to be sourced after vm-lib.sh. Each
# IPoIB interface is in a network namespace of its own, so that packets between them leave the machine and pass three
# switches. The test is skipped if it cannot run here. VM_KERNEL=new takes another kernel of $BUILD/kernel.

test_name=$(basename "$0" .sh)
if [ -n "${SANITIZE:-}" ]; then
	echo "skip $test_name: weftsim's preload library and sanitizers do not go together"
	exit 0
fi
if ! vm_tools; then
	echo "skip $test_name: $reason"
	exit 0
fi
kernel=${VM_KERNEL:-6.1}
if [ ! -d "$BUILD/kernel/$kernel" ]; then
	echo "skip $test_name: no folder $BUILD/kernel/$kernel"
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

has_fabric() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 >fabric.net && start_weftsim fabric.net
}

boots() {
	local name

	for name in one two; do
		guid[$name]=$(port_guid fabric.net "${node[$name]}")
	done
	vm_is_up vm && echo "# $said"
}

has_devices() {
	guest 'cd /dev/infiniband && await 30 test -e issm1; ls' || return 1
	equal "/dev/infiniband" "$(grep -E 'umad|issm' guest.txt | sort | xargs)" "issm0 issm1 umad0 umad1" || return 1
	guest "device_of ${guid[one]}; device_of ${guid[two]}" && equal "the number of HCAs" "$(wc -l <guest.txt)" 2 || return 1
	{ read -r device_one && read -r device_two; } <guest.txt
}

isolated() {
	guest "isolate one ${guid[one]} ${address[one]}/24 && isolate two ${guid[two]} ${address[two]}/24"
}

ports_are_active() {
	local name

	guest "await 60 port $device_one state '4: ACTIVE' && await 60 port $device_two state '4: ACTIVE'" || return 1
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
	guest 'for s in one two; do await 60 eval "ip -n $s link show up | grep -q ib.*LOWER_UP" || { ip -n $s link; exit 1; }; done'
}

# tool PATTERN SCRIPT
tool() {
	guest "$2" || return 1
	matches "$1" guest.txt || because "$2: $(tail -n 3 guest.txt | tr '\n' ' ')"
}

kernel_does_not_complain() {
	! guest complaints || because "$(head -n 3 guest.txt | tr '\n' ' ')"
}
