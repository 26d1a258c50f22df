#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Verbs programs in a virtual machine with two virtual HCAs, across a simulated fabric (vm-pair.sh): Debian's pingpong
# programs of libibverbs, programs of librdmacm, ibacm, and IPoIB in connected mode. They see the HCAs by the provider of
# vhca/provider/, and test the kernel module's reliable connections, shared receive queues, memory regions and uverbs.
#
# The test skips if it cannot run, also without the provider: scripts/vm-provider makes it. $BUILD/vm/ keeps the console.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/vm-lib.sh
. "$root/tests/system/vm-lib.sh"
# shellcheck source=tests/system/vm-pair.sh
. "$root/tests/system/vm-pair.sh"
# shellcheck source=tests/system/page.sh
. "$root/tests/system/page.sh"

if [ ! -d "$BUILD/provider/lib" ]; then
	echo "skip verbs: no folder $BUILD/provider/lib"
	exit 0
fi
if ! find_verbs; then
	echo "skip verbs: $reason"
	exit 0
fi

devinfo_shows_them() {
	guest 'ibv_devinfo' || return 1
	equal "the number of active ports in ibv_devinfo" "$(grep -c 'state:.*PORT_ACTIVE (4)' guest.txt)" 2 || return 1
	equal "the LIDs in ibv_devinfo" "$(sed -n 's/.*port_lid:[[:space:]]*//p' guest.txt | sort -n | xargs)" \
		"$(printf '%s\n' "${lid[one]}" "${lid[two]}" | sort -n | xargs)"
}

# exchanges PROGRAM [OPTION]...: all messages arrive.
exchanges() {
	guest "pingpong $device_two $device_one $*" || return 1
	matches 'iters in' guest.txt || because "it prints $(tail -n 3 guest.txt | tr '\n' ' ')"
}

# over_cm SERVER CLIENT: programs of librdmacm in the two namespaces.
over_cm() {
	guest "ip netns exec two timeout 30 $1 >/tmp/server 2>&1 & sleep 0.5
		ip netns exec one timeout 30 $2 && wait \$! || { tail -n 3 /tmp/server; exit 1; }"
}

udaddy_passes() {
	over_cm "udaddy -C 20" "udaddy -C 20 -s ${address[two]}" && matches 'return status 0' guest.txt || because "$(tail -n 2 guest.txt)"
}

ucmatose_passes() {
	over_cm "ucmatose -C 20" "ucmatose -C 20 -s ${address[two]}" && matches 'return status 0' guest.txt || because "$(tail -n 2 guest.txt)"
}

# -V compares the data, and -v prints them.
rping_passes() {
	over_cm "rping -s -C 10 -V" "rping -c -C 10 -v -V -a ${address[two]}" || return 1
	equal "the messages that rping prints" "$(grep -c 'ping data: rdma-ping' guest.txt)" 10
}

# ibacm gets the path from the SA.
ibacm_resolves() {
	guest "mkdir -p /etc/rdma /var/log /var/run && ib_acme -A -D /etc/rdma >/dev/null; ib_acme -O -D /etc/rdma >/dev/null
		ibacm --systemd >/tmp/ibacm 2>&1 & sleep 2; ib_acme -f l -s ${lid[one]} -d ${lid[two]} -v" || return 1
	matches 'success' guest.txt || because "$(tail -n 4 guest.txt | tr '\n' ' ')"
}

# set_mode MODE MTU: of both interfaces.
set_mode() {
	guest "for s in one two; do
		i=\$(ip -n \$s -o link | grep -o 'ib[0-9]*' | head -n 1)
		ip netns exec \$s sh -c \"echo $1 >/sys/class/net/\$i/mode && grep -q $1 /sys/class/net/\$i/mode\" &&
			ip -n \$s link set \$i mtu $2 || exit 1
	done; ip -n one -d link" && matches "ipoib.* mode *$1" guest.txt || because "$(tail -n 2 guest.txt)"
}

connected_mode() {
	set_mode connected 65520 || return 1
	guest "ip netns exec one ping -c 3 -w 30 -s 8000 ${address[two]}" || return 1
	matches '8008 bytes from' guest.txt || because "$(tail -n 2 guest.txt)" || return 1
	guest "rdma resource show qp | grep -c 'type RC.*state RTS.*ib_ipoib'" || because "no connection of ib_ipoib" || return 1
	guest "ip netns exec one ping -c 1 -w 30 -s 60000 ${address[two]}"
}

datagram_mode() {
	set_mode datagram 2044 && guest "wait=30 pings one ${address[two]}"
}

# Connections in a partition end when a port loses the P_Key.
partition_isolates() {
	local other=${address[two]/0.0/0.5}

	ctl one partition add 0x5 blue --ipoib --full --members 0x${guid[one]},0x${guid[two]} >added.txt 2>&1 ||
		because "$(cat added.txt)" || return 1
	guest "await 60 grep -lq 0x8005 /sys/class/infiniband/{$device_one,$device_two}/ports/1/pkeys/1" || return 1
	guest "child one ${address[one]/0.0/0.5}/24 && child two ${address[two]/0.0/0.5}/24" && guest "wait=60 pings one $other" || return 1
	guest "ip netns exec two rping -s -V >/tmp/server 2>&1 & sleep 0.5; ip netns exec one rping -c -v -V -a $other >/tmp/client 2>&1 &
		await 20 grows /tmp/client" || return 1
	ctl one partition member remove blue "0x${guid[two]}" >removed.txt 2>&1 || because "$(cat removed.txt)" || return 1
	guest "await 60 port $device_two pkeys/1 0x0000; await 20 eval '! grows /tmp/client'" || because "rping continues without the P_Key" || return 1
	guest "kill -9 \$(pidof rping); ! ip netns exec one timeout 3 rping -c -C 1 -a $other" || because "rping reaches a port without the P_Key" || return 1
	over_cm "rping -s -C 2 -V" "rping -c -C 2 -V -a ${address[two]}" # the other partition
}

killed_program_leaves_nothing() {
	guest "resources >/tmp/before
		timeout 60 ibv_rc_pingpong -n 10000000 -d $device_two >/dev/null 2>&1 & server=\$!
		await 10 listens 18515; ibv_rc_pingpong -n 10000000 -d $device_one 127.0.0.1 >/dev/null 2>&1 & client=\$!
		await 10 eval '[ \$(rdma resource show qp | grep -c \"state RTS.*ibv_rc_pingpong\") -eq 2 ]' || exit 1
		sleep 0.5; kill -9 \$client; kill -9 \$(pidof ibv_rc_pingpong)
		await 20 eval 'resources | diff /tmp/before - >/tmp/diff' || { cat /tmp/diff; exit 1; }"
}

# The HCA disappears under its programs.
driver_is_unloaded() {
	guest "timeout 60 ibv_rc_pingpong -n 10000000 -d $device_two >/tmp/server 2>&1 & server=\$!
		await 10 listens 18515; ibv_rc_pingpong -n 10000000 -d $device_one 127.0.0.1 >/tmp/client 2>&1 & client=\$!
		ibv_asyncwatch -d $device_one >/tmp/watch 2>&1 &
		await 10 eval '[ \$(rdma resource show qp | grep -c \"state RTS.*ibv_rc_pingpong\") -eq 2 ]' || exit 1
		timeout 30 rmmod vhca || exit 1
		[ -z \"\$(ls /sys/class/infiniband)\" ] || exit 1
		await 20 eval '! kill -0 \$client 2>/dev/null' || { echo the client continues; exit 1; }
		killall ibv_rc_pingpong ibv_asyncwatch 2>/dev/null; modprobe vhca
		await 60 eval '[ -n \"\$(device_of ${guid[one]})\" ] && [ -n \"\$(device_of ${guid[two]})\" ]'
		device_of ${guid[one]}; device_of ${guid[two]}" || return 1
	{ read -r device_one && read -r device_two; } < <(tail -n 2 guest.txt)
	guest "await 60 port $device_one state '4: ACTIVE' && await 60 port $device_two state '4: ACTIVE'" && exchanges ibv_rc_pingpong -c -n 20
}

# The block of kind `verbs`, as typed.
page_is_true() {
	stop_vm vm && mkdir page && cd page && split_page verbs '$' <"$root/docs/testing-without-hardware.md" || return 1
	(cd "$root" && TMPDIR=$work timeout 120 bash "$work/page/1") >1.out 2>&1
	as_shown 1 || because "it prints: $(tail -n 5 1.out); of: $(cat 1)" || return 1
	cd ..
}

check "a fabric" has_fabric || finish
check "a kernel and an image" prepare_vm "$kernel" "${verbs_files[@]}" || finish
vm_append=$verbs_modules start_vm vm "${node[one]}" "${node[two]}"
check "a manager" start_weftd one host-0001 -o 'partition_config_file="none.conf"'
check "the machine boots" boots || finish
check "two HCAs with umad and issm" has_devices || finish
check "ports are ACTIVE, with the LIDs of the manager" ports_are_active || finish
check "ibv_devinfo" devinfo_shows_them || finish
check "ibv_ud_pingpong" exchanges ibv_ud_pingpong -n 100
check "ibv_rc_pingpong" exchanges ibv_rc_pingpong -c -n 100
check "ibv_rc_pingpong with events" exchanges ibv_rc_pingpong -e -c -n 100
check "ibv_rc_pingpong with an MTU of 256 and messages of 20000" exchanges ibv_rc_pingpong -c -n 20 -m 256 -s 20000
check "ibv_srq_pingpong" exchanges ibv_srq_pingpong -n 100 -q 4
check "ibacm" ibacm_resolves
check "an IPoIB interface in each namespace" isolated || finish
check "IPoIB comes up by itself" interfaces_come_up
check "a ping passes" guest "wait=60 pings one ${address[two]}"
check "udaddy" udaddy_passes
check "rping" rping_passes
check "ucmatose" ucmatose_passes
check "IPoIB in connected mode" connected_mode
check "IPoIB in datagram mode again" datagram_mode
check "a partition isolates" partition_isolates
check "a killed program leaves nothing" killed_program_leaves_nothing
check "the driver is unloaded under programs" driver_is_unloaded
check "the kernel does not complain" kernel_does_not_complain
check "docs/testing-without-hardware.md, as typed" page_is_true
echo "# $SECONDS s"
finish
