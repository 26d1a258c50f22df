#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# cycles.sh [FILE...]: loads and unloads the driver vhca CYCLES times (default 1000), in a kernel that looks for errors
# itself: KASAN for bad memory accesses, kmemleak for leaks, lockdep for locks (scripts/vm-debug-kernel). It is no part of
# `make check`, because emulation makes a cycle take seconds. The machine has two HCAs. FILEs are for its image.
#
# A cycle is modprobe, down and up of the network interface of an HCA, rmmod, while the link of an HCA to its switch goes
# down and up. Nothing waits for the manager's work, so that rmmod meets all stages of it. In each 50th cycle, the ports
# become active, pings pass from one HCA to the other, in turn with IPoIB's datagram and connected mode, and the driver is
# unloaded under them. If the image has ibv_rc_pingpong, with the provider for vhca, it is under way, too.
#
# After each ten cycles a line has their number, the seconds, how often a link went down and up, the available memory, and
# lockdep's counts. Each hundred ends with a scan for leaks, and the last with two. A complaint of the kernel or a leak ends
# the run. $BUILD/vm/ keeps the console.
#
# An emulated machine counts its time in instructions, so that it does not complain of a busy host.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/vm-lib.sh
. "$root/tests/system/vm-lib.sh"

cycles=${CYCLES:-1000}
declare -A node=([one]=host-0003 [two]=host-0005) guid=()
vm_timeout=1800 vm_memory=640
# KASAN does what slub_debug does. Long queues cost time.
vm_append="acpi=off kmemleak=on slub_debug=- ib_ipoib.recv_queue_size=16 ib_core.recv_queue_size=64"
vm_options=(-bios bios.bin)
[ "${VM_ACCEL:-tcg}" != tcg ] || vm_options+=(-icount shift=0)

# guest SCRIPT: in the machine, with the functions below; its output is in guest.txt, and is the reason if it fails.
guest() {
	in_vm vm "$functions
$1" >guest.txt || because "\`${1:0:100}\` ($?): $(tail -n 3 guest.txt | tr '\n' ' ')"
}

# shellcheck disable=SC2016 # for the guest
functions='
appear() {
	for ((t = 0; t < 300; t++)); do [ ! -e /sys/class/net/ib0 ] || [ ! -e /sys/class/net/ib1 ] || return 0; sleep 0.1; done
	echo "no IPoIB interfaces: $(ls /sys/class/net | xargs)"
	return 1
}
cycles() { # FIRST LAST: in a static shell with static tools, because a process with libraries costs 0.3 s
	busybox sh -c "n=$1
		while [ \$n -le $2 ]; do
			t=0; e=eth\$((n % 2))
			busybox modprobe vhca || break
			until [ -e /sys/class/net/ib0 ] && [ -e /sys/class/net/ib1 ]; do
				[ \$((t += 1)) -lt 600 ] && busybox usleep 50000 || { echo no IPoIB interfaces; break 2; }
			done
			echo cycle \$n >/dev/ttyS0
			busybox ip link set \$e down && busybox ip link set \$e up && busybox rmmod vhca || break
			n=\$((n + 1))
		done
		[ \$n -gt $2 ] || { echo cycle \$n; false; }"
}
step() {
	echo "$*" >/dev/ttyS0
}
active() {
	for g; do await 60 port "$(device_of $g)" state "4: ACTIVE" || { echo "the port with the GUID $g is not active"; return 1; }; done
}
traffic() { # MODE GUID GUID: begins traffic that does not end by itself
	local a=$(device_of $2) b=$(device_of $3)
	for g in $2 $3; do echo $1 >/sys/class/net/$(interface_of $g)/mode || return 1; done
	step isolates
	isolate one $2 10.0.0.1/24 && isolate two $3 10.0.0.2/24 && wait=60 pings one 10.0.0.2 || { echo "no ping in mode $1"; return 1; }
	step pings
	ip netns exec one ping -i 0.02 -s 1800 10.0.0.2 >/dev/null 2>&1 &
	ip netns exec two ping -i 0.02 -s 1800 10.0.0.1 >/dev/null 2>&1 &
	! command -v ibv_rc_pingpong >/dev/null || {
		ibv_rc_pingpong -d $a -n 1000000 >/dev/null 2>&1 &
		await 10 eval "grep -q :4853 /proc/net/tcp /proc/net/tcp6" # 18515
		ibv_rc_pingpong -d $b -n 1000000 127.0.0.1 >/dev/null 2>&1 &
	}
	sleep 0.5
	step traffic
}
unload() {
	rmmod vhca || return 1
	step unloaded
	killall -q -9 ping ibv_rc_pingpong
	ip -all netns delete
	[ -z "$(ls /sys/class/infiniband)" ]
}
new_complaints() {
	dmesg -c >/tmp/dmesg
	! grep -E "WARNING|BUG|INFO: |Oops|Call Trace|general protection|refcount|kmemleak: [0-9]|waiting for .* to become free" /tmp/dmesg
}
leaks() { # SCANS: what the last of them finds; the first one that meets an object never reports it
	[ -e /sys/kernel/debug/kmemleak ] || mount -t debugfs debug /sys/kernel/debug
	sleep 5 # younger objects do not count
	for ((n = 0; n < $1; n++)); do echo scan >/sys/kernel/debug/kmemleak || return 1; done
	! grep . /sys/kernel/debug/kmemleak
}'

boots() {
	local name

	for name in one two; do
		guid[$name]=$(port_guid fabric.net "${node[$name]}")
	done
	both="${guid[one]} ${guid[two]}"
	vm_is_up vm 1800 && echo "# $said"
}

# What the kernel itself leaks while it boots is not the driver's.
looks_for_errors() {
	guest "appear && active $both && unload && new_complaints && { leaks 2; echo clear >/sys/kernel/debug/kmemleak && echo scan=off >/sys/kernel/debug/kmemleak; }"
}

# The machine announces on its console that the HCAs of a cycle are there. While it goes on, the link of one goes down and
# up.
links_follow() {
	local word n host

	while read -r word n; do
		[ "$word" = cycle ] || continue
		n=${n//[!0-9]/} # a console's lines end with a carriage return
		host=${node[two]}
		[ $((n % 2)) -eq 0 ] || host=${node[one]}
		"$BUILD/weftsim" "do" "link down $host 1" "link up $host 1" >/dev/null 2>>links.err && echo "$n" >>links
	done < <(tail -n 0 -f "$vm_folder/vm.console")
}

# plain_cycles FIRST LAST
plain_cycles() {
	guest "cycles $1 $2"
}

cycle_with_traffic() {
	local mode=datagram

	[ $(($1 % 100)) -ne 0 ] || mode=connected
	guest "modprobe vhca && appear && active $both && traffic $mode $both && step cycle $1 && unload"
}

repeats() {
	local n start=$SECONDS

	: >links
	links_follow &
	pids[links]=$!
	for ((n = 10; n <= cycles; n += 10)); do
		if [ $((n % 50)) -eq 0 ]; then
			plain_cycles $((n - 9)) $((n - 1)) && cycle_with_traffic $n
		else
			plain_cycles $((n - 9)) $n
		fi || because "cycle $n: $reason" || return 1
		guest 'new_complaints' || because "cycle $n: $(cat guest.txt)" || return 1
		guest 'grep MemAvailable /proc/meminfo; grep -E "debug_locks|lock-classes|direct dependencies|stack-trace entries" /proc/lockdep_stats | tr -s " "'
		echo "# cycle $n: $((SECONDS - start)) s; $(wc -l <links) links; $(paste -sd ';' guest.txt | tr -s ' ')"
		[ $((n % 100)) -ne 0 ] || guest "leaks 1" || because "cycle $n: $(cat guest.txt)" || return 1
	done
	[ "$(wc -l <links)" -ge "$cycles" ] || because "only $(wc -l <links) links went down and up"
}

no_leak() {
	guest 'leaks 2 && new_complaints' || because "$(cat guest.txt)"
}

vm_tools || because "$reason" || { check "an emulator" false; finish; }
"$BUILD/weftsim" topology fattree:radix=4,levels=2 >fabric.net || finish
check "a fabric" start_weftsim fabric.net || finish
check "a kernel that looks for errors, and an image" prepare_vm debug "$@" || finish
start_vm vm "${node[one]}" "${node[two]}"
check "a manager" start_weftd one host-0001 -o 'partition_config_file="none.conf"' || finish
check "the machine boots" boots || finish
check "the driver works, and the kernel has no complaint" looks_for_errors || finish
check "$cycles cycles" repeats
check "no leak and no complaint" no_leak
finish
