#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Managers on the kernel's own umad: weftd runs in two virtual machines, as managers of a fabric of 208 nodes. A third
# machine has two hosts that ping each other. `make check-kernel FULL=1` runs this test after tests/system/kernel.sh.
# MANAGER=opensm runs Debian's opensm in the machines instead, as a control of vhca and weftsim.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/vm-lib.sh
. "$root/tests/system/vm-lib.sh"

manager=${MANAGER:-weftd}
declare -A node=([one]=host-0033 [two]=host-0100) guid=([one]=0277656601002101 [two]=0277656601006401)
first=host-0001 second=host-0017

# machine NAME SCRIPT
machine() {
	in_vm "$1" "$2" >"$1.txt" || because "$1: \`$2\` ($?): $(tail -n 3 "$1.txt" | tr '\n' ' ')"
}

# starts_manager NAME PRIORITY
starts_manager() {
	local script="weftd --runtime-dir /run/weft --state-dir /var/lib/weft -o sm_priority=$2 >/tmp/log 2>&1 &"

	[ "$manager" = weftd ] || script="printf 'sminfo_polling_timeout 200\npolling_retry_number 3\n' >/tmp/conf
		opensm -F /tmp/conf -p $2 -B -e -f /tmp/log >/dev/null"
	machine "$1" "mkdir -p /run/weft /var/lib/weft /var/cache/opensm; $script"
}

# is_state NAME STATE: the SMInfo of the machine's own port.
is_state() {
	in_vm "$1" 'sminfo' >"$1.sminfo" && matches "$2" "$1.sminfo"
}

manages() {
	starts_manager m1 9 || return 1
	machine h "await 60 port vhca0 state '4: ACTIVE' && await 60 port vhca1 state '4: ACTIVE'" || { machine m1 'tail -n 4 /tmp/log; exit 1'; return 1; }
	wait_for 60 "$BUILD/weftsim" "do" check >check.txt 2>&1 || because "$(tail -n 1 check.txt)"
}

pings() {
	machine h "isolate one ${guid[one]} 10.0.0.1/24 && isolate two ${guid[two]} 10.0.0.2/24 && wait=30 pings one 10.0.0.2"
}

follows() {
	starts_manager m2 5 || return 1
	machine m2 "await 30 port vhca0 state '4: ACTIVE'; await 30 eval 'sminfo 0 | grep -q .; saquery SMIR | grep -q SMStateStandby'" ||
		machine m2 "saquery SMIR"
	machine m2 'sminfo' && matches SMINFO_MASTER m2.txt || because "$(cat m2.txt)"
}

# The machine of the master loses its power. No ping is lost. The time until the SA answers is printed; three emulated
# machines share the processors, so that it is only an upper bound.
failover() {
	local start end sent received least=''

	machine h 'ip netns exec one ping -i 0.1 -w 12 10.0.0.2 >/tmp/ping 2>&1 & sleep 2' || return 1
	stop_vm m1
	start=$(date +%s%N)
	machine h "await 20 eval 'timeout 1 saquery -C vhca0 PR --slid \$((\$(</sys/class/infiniband/vhca0/ports/1/lid))) --dlid \$((\$(</sys/class/infiniband/vhca1/ports/1/lid))) 2>/dev/null | grep -q pkt_life'" ||
		return 1
	end=$(date +%s%N)
	machine h 'await 20 grep -q transmitted /tmp/ping; cat /tmp/ping' || return 1
	sed 's/^/| /' h.txt
	read -r sent received < <(awk '/transmitted/ { print $1, $4 }' h.txt)
	echo "# $received of $sent pings were answered; the SA answered $(((end - start) / 1000000)) ms after the loss"
	[ "$manager" != opensm ] || least=1 # opensm may lose some
	[ "${sent:-0}" -ge 60 ] && [ "$received" -ge "${least:-$sent}" ] || because "$received of ${sent:-0} pings were answered" || return 1
	[ $((end - start)) -lt 15000000000 ] || because "the SA needed $(((end - start) / 1000000)) ms"
}

no_complaints() {
	! machine h complaints || because "h: $(head -n 3 h.txt | tr '\n' ' ')" || return 1
	! machine m2 complaints || because "m2: $(head -n 3 m2.txt | tr '\n' ' ')"
}

vm_tools || because "$reason" || { check "an emulator" false; finish; }
check "a fabric of 208 nodes" start_weftsim fattree:radix=8,levels=3 || finish
check "a kernel and an image" prepare_vm "${VM_KERNEL:-6.1}" sbin/weftd="$BUILD/weftd" bin/weftctl="$BUILD/weftctl" || finish
start_vm h "${node[one]}" "${node[two]}"
check "the machine of the hosts boots" vm_is_up h || finish
start_vm m1 $first
check "the machine of a manager boots" vm_is_up m1 || finish
check "$manager in a machine manages the fabric" manages || finish
check "a ping passes" pings || finish
start_vm m2 $second
check "the machine of a standby boots" vm_is_up m2 || finish
check "$manager in it is a standby" follows
check "the machine of the master is killed" failover
check "no kernel complains" no_complaints
finish
