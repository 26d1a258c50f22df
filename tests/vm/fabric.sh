#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Managers on the kernel's own umad: weftd runs in two virtual machines, as managers of a fabric of 612 nodes. A third
# machine has two hosts that ping each other, while managers and machines fail, and cables, P_Keys and LIDs change.
#
# `make check-kernel FULL=1` runs this test after tests/system/kernel.sh. MANAGER=opensm runs Debian's opensm in the
# machines instead, as a control of vhca and weftsim: a line "left out" names what opensm does not have. Its fabric has 208
# nodes, because an emulated opensm gives SMPs up after 200 ms and does not finish 612. TOPOLOGY is another fabric.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/vm-lib.sh
. "$root/tests/system/vm-lib.sh"
# shellcheck source=tests/vm/fabric-lib.sh
. "$root/tests/vm/fabric-lib.sh"

# weftd_only NAME FUNCTION...: a check that opensm has no counterpart for.
weftd_only() {
	if [ "$manager" = weftd ]; then
		check "$@"
	else
		echo "left out: $1: $manager does not have it"
	fi
}

# The start

ports_are_active() {
	machine h "device_of ${guid[one]}; device_of ${guid[two]}" && { read -r one && read -r two; } <h.txt || return 1
	machine h "await 200 port $one state '4: ACTIVE' && await 60 port $two state '4: ACTIVE' && lid $one && lid $two" || return 1
	{ read -r "lid[one]" && read -r "lid[two]"; } <h.txt
	machine m1 'lid vhca0' && read -r "lid[m1]" <m1.txt
}

manages() {
	local start

	start=$(now)
	start_manager m1 && ports_are_active || { log_of m1; return 1; }
	echo "# both ports are ACTIVE after $(($(now) - start)) ms"
	wait_for 120 sim check >check.txt 2>&1 || because "$(tail -n 1 check.txt)" || return 1
	echo "# $(tail -n 1 check.txt), $(($(now) - start)) ms after the start"
}

ping_passes() {
	machine h "isolate one ${guid[one]} ${address[one]}/24 && isolate two ${guid[two]} ${address[two]}/24 &&
		wait=60 pings one ${address[two]}"
}

follows() {
	start_manager m2 || return 1
	machine m2 "await 60 port vhca0 state '4: ACTIVE'; lid vhca0" && read -r "lid[m2]" <m2.txt || return 1
	takes_role m2 STANDBY 60 && has_role m1 MASTER && copies m1 || { log_of m2; return 1; }
	machine m1 "ip address add ${address[m1]}/24 dev ib0; ip link set ib0 up"
	machine m2 "ip address add ${address[m2]}/24 dev ib0; ip link set ib0 up; wait=60 pings_here ${address[m1]}"
}

# The tools in the machine of the hosts

# tool PATTERN COMMAND
tool() {
	machine h "$2" && matches "$1" h.txt || because "$2: $(tail -n 3 h.txt | tr '\n' ' ')"
}

tools_work() {
	local nodes

	nodes=$(grep -cE '^(Switch|Ca)' fabric.net)
	machine h "saquery -C $one NR" || return 1
	equal "the number of NodeRecords" "$(grep -c '^NodeRecord' h.txt)" "$nodes" || return 1
	tool "^[[:space:]]*dlid\.+${lid[two]}" "saquery -C $one PR --slid ${lid[one]} --dlid ${lid[two]}" &&
		tool 'SMSTATE_MASTER|SMINFO_MASTER' "sminfo -C $one" &&
		tool '3 packets transmitted, 3 received' \
			"ibping -C $two -S >/dev/null 2>&1 & sleep 1; ibping -C $one -c 3 ${lid[two]}; kill \$!" || return 1
	machine h "ibtracert -C $one ${lid[one]} ${lid[two]}" || return 1
	sim "path ${node[one]} ${node[two]}" >path.txt || because "$(cat path.txt)" || return 1
	equal "the number of switches that ibtracert finds" "$(grep -c 'switch port' h.txt)" "$(grep -o '[0-9]* switches' path.txt | cut -d ' ' -f 1)"
}

# Failovers

masters="grep -caE \"(-> |Entering )MASTER\" /tmp/log"

# watching: the commands that wait until the manager is MASTER once more than /tmp/masters has.
watching() {
	echo "grep 'cpu ' /proc/stat; echo '--- the master ends' | stamped >>/tmp/log
		await 40 eval '[ \$($masters) -gt \$(</tmp/masters) ]'; s=\$?; grep 'cpu ' /proc/stat; exit \$s"
}

# fails_over NEXT NEIGHBOUR N COMMAND...: COMMAND ends the master, and NEXT becomes the master. No ping is lost. New joins
# (groups N and N + 1) and paths to NEIGHBOUR are requested at once, and again from the new master.
fails_over() {
	local next=$1 neighbour=${address[$2]} number=$3 start watcher

	shift 3
	machine "$next" "$masters >/tmp/masters; true"
	pinging h "${address[two]}" ip netns exec one || return 1
	start=$(now)
	{ in_vm "$next" "$(watching)" >processor.txt && now >master.time; } &
	watcher=$!
	"$@" || return 1
	machine h "requests 'the master ends' one $number $neighbour" || return 1
	echo "# the join and the path of the start were complete at most $(($(now) - start)) ms after the end"
	wait $watcher || because "$next does not become MASTER" || return 1
	echo "# $next is MASTER after $(($(<master.time) - start)) ms, by its log; its processor was idle for $(idle) ms of this time"
	machine h "requests 'after the failover' two $((number + 1)) $neighbour" || return 1
	pinged h "$(may_lose 0)"
	set -- $?
	transcript
	in_vm "$next" "tac /tmp/log | sed '/--- the master ends/q' | tac" | head -n 30 | sed "s/^/| $next: /"
	in_time && return "$1"
}

# The difference of the first and last line of /proc/stat, which has hundredths of a second.
idle() {
	awk 'NR == 1 { idle = $5 + $6 } END { print ($5 + $6 - idle) * 10 }' processor.txt
}

# A join and a path of the time after the failover take at most 2 s. Those that were requested when the master ended wait
# for the new one. With KVM they take at most 2 s, too. An emulated manager needs seconds to read a large fabric, and the
# kernel asks for a path again after 1 s.
in_time() {
	local late waiting=10000

	[ "${VM_ACCEL:-}" != kvm ] || waiting=2000
	late=$(awk -v waiting=$waiting '/^---.* ms$/ && ($(NF - 1) == "no" || $(NF - 1) > (/after the failover/ ? 2000 : waiting))' h.txt)
	equal "the number of times" "$(grep -c '^---.* after.* ms' h.txt)" 4 || return 1
	[ -z "$late" ] || [ "$manager" != weftd ] || because "${late//$'\n'/; }"
}

returns_as_standby() {
	priority[m1]=1 # opensm takes the subnet back with a higher one
	start_manager m1 && takes_role m1 STANDBY 40 && has_role m2 MASTER && copies m2
}

# Changes

set_partition_weftd() {
	local member=$2

	if [ "$1" = add ]; then
		machine m2 "weftctl partition add 0x5 blue --ipoib --full --members ${member// /,}"
	else
		machine m2 "weftctl partition member remove blue $member"
	fi
}

set_partition_opensm() {
	local name members

	members="0x${guid[one]}=full, 0x${guid[two]}=full"
	[ "$1" = add ] || members="0x${guid[one]}=full"
	for name in m1 m2; do
		machine $name "printf '%s\n' 'Default=0x7fff,ipoib: ALL=full;' 'blue=0x5,ipoib: $members;' >/tmp/partitions; kill -HUP \$(pidof opensm)" || return 1
	done
}

partition_is_added() {
	machine h "child one ${address[one]/0.0/0.5}/24 && child two ${address[two]/0.0/0.5}/24" || return 1
	! machine h "wait=2 pings one ${address[two]/0.0/0.5}" || because "a ping passes without the P_Key" || return 1
	"set_partition_$manager" add "0x${guid[one]} 0x${guid[two]}" || return 1
	machine h "await 60 grep -lq 0x8005 /sys/class/infiniband/$one/ports/1/pkeys/1" || return 1
	machine h "wait=60 pings one ${address[two]/0.0/0.5}"
}

partition_is_removed() {
	"set_partition_$manager" remove "0x${guid[two]}" || return 1
	machine h "await 60 port $two pkeys/1 0x0000" || return 1
	! machine h "wait=2 pings one ${address[two]/0.0/0.5}" || because "a ping passes to a port without the P_Key" || return 1
	machine h "wait=10 pings one ${address[two]}" # the other partition
}

is_rerouted() {
	sim "path ${node[one]} ${node[two]}" >later.txt 2>&1 && ! cmp -s path.txt later.txt
}

cable_is_pulled() {
	local leaf port

	sim "path ${node[one]} ${node[two]}" >path.txt || because "$(cat path.txt)" || return 1
	read -r leaf port < <(awk 'NR == 2 { print $1, $4 }' path.txt | tr -d '[]')
	pinging h "${address[two]}" ip netns exec one && sim "link down $leaf $port" || return 1
	wait_for 30 is_rerouted || because "the path stays: $(paste -sd ' ' later.txt)" || return 1
	machine h 'sleep 3' && pinged h "$(may_lose 5)"
	set -- $?
	sim "link up $leaf $port" && return "$1"
}

# new_lid_MANAGER LID: host `one` gets this LID when its link returns.
new_lid_weftd() {
	machine m2 "weftctl save /tmp/saved.json &&
		sed '/${guid[one]}.*\"kind\": \"lid\"/s/\"LID\": [0-9]*/\"LID\": $1/' /tmp/saved.json >/tmp/lids.json" || return 1
	sim "node down ${node[one]}" && machine h "await 60 port $one state '1: DOWN'" || return 1
	machine m2 "await 30 eval '! weftctl port list ${node[one]} | grep -q ACTIVE'; weftctl restore /tmp/lids.json" || return 1
	sim "node reboot ${node[one]}" "node up ${node[one]}"
}

# opensm reads its file of LIDs only when it starts.
new_lid_opensm() {
	local number

	number=$(printf '0x%04x' "$1")
	stop_manager m1 && stop_manager m2 || return 1
	machine m2 "sed -i 's/^0x0*${guid[one]#0}.*/0x${guid[one]} $number $number/' /var/cache/opensm/guid2lid; grep $number /var/cache/opensm/guid2lid" &&
		start_manager m2 && takes_role m2 MASTER 60 && returns_as_standby
}

lid_changes() {
	local new=2000

	"new_lid_$manager" $new || return 1
	machine h "await 60 port $one lid $(printf '0x%x' $new) && await 60 port $one state '4: ACTIVE'" || because "the LID is not $new" || return 1
	lid[one]=$new
	machine h "wait=60 pings one ${address[two]}"
}

# Machines

# Its agent still answers SMPs, as firmware does, but no program in it runs. After that weftd is a standby; opensm is
# what the priorities say.
master_is_frozen() {
	pinging h "${address[two]}" ip netns exec one && monitor m2 stop || return 1
	takes_role m1 MASTER 40 && monitor m2 cont || return 1
	if [ "$manager" = weftd ]; then
		takes_role m2 STANDBY 60 && has_role m1 MASTER || because "m1 lost its role: $(cat role.txt)" || return 1
	else
		takes_role m1 STANDBY 60 && takes_role m2 MASTER || return 1
	fi
	machine h 'sleep 2' && pinged h "$(may_lose 0)"
}

hosts_are_frozen() {
	pinging m2 "${address[m1]}" || return 1
	monitor h stop && machine m2 'sleep 6' && monitor h cont || return 1
	pinged m2 && machine h "wait=10 pings one ${address[two]}"
}

# With requests under way.
hosts_reboot() {
	pinging m2 "${address[m1]}" || return 1
	machine h "for i in 1 2 3 4; do while :; do saquery -C $one NR; done >/dev/null 2>&1 & done; sleep 2" || return 1
	stop_vm h && start_hosts && vm_is_up h 300 || return 1
	ports_are_active && ping_passes && pinged m2 || return 1
	equal "the LID of ${node[one]}" "${lid[one]}" 2000
}

# Notified to register again, IPoIB requests the paths in use again, and queues only three packets for each of them.
managers_restart() {
	replication=tcp priority[m1]=9
	pinging h "${address[two]}" ip netns exec one || return 1
	stop_manager m2 && stop_manager m1 && start_manager m1 && takes_role m1 MASTER 60 || return 1
	start_manager m2 && takes_role m2 STANDBY 60 && copies m1 && pinged h "$(may_lose 10)"
}

replicates_over_tcp() {
	machine m1 'weftctl ha status' && matches 'over TCP: all records' m1.txt || because "$(head -n 3 m1.txt)"
}

kept_its_records() {
	machine m2 'weftctl partition list' && matches blue m2.txt || because "no partition blue: $(cat m2.txt)" || return 1
	machine h "lid $one" && equal "the LID of ${node[one]}" "$(<h.txt)" 2000
}

no_complaints() {
	! machine h complaints || because "h: $(head -n 3 h.txt | tr '\n' ' ')" || return 1
	! machine m2 complaints || because "m2: $(head -n 3 m2.txt | tr '\n' ' ')"
}

vm_tools || because "$reason" || { check "an emulator" false; finish; }
key=$(od -An -tx1 -N 32 /dev/urandom | tr -d ' \n')
radix=12
[ "$manager" = weftd ] || radix=8
check "a fabric" makes_fabric "${TOPOLOGY:-fattree:radix=$radix,levels=3}" || finish
check "a kernel and an image" prepare_vm "${VM_KERNEL:-6.1}" sbin/weftd="$BUILD/weftd" bin/weftctl="$BUILD/weftctl" || finish
start_hosts
check "the machine of the hosts boots" boots h || finish
start_manager_vm m1
check "the machine of a manager boots" boots m1 || finish
check "$manager in a machine manages the fabric" manages || finish
check "a ping passes" ping_passes || finish
start_manager_vm m2
check "the machine of a standby boots" boots m2 || finish
check "$manager in it is a standby" follows
check "saquery, sminfo, ibping and ibtracert" tools_work
check "the process of the master is killed" fails_over m2 m1 10 stop_manager m1 KILL
check "it is started again, as a standby" returns_as_standby
check "a partition is added" partition_is_added
check "a member is removed" partition_is_removed
check "a cable on the path is pulled" cable_is_pulled
check "a LID changes" lid_changes
check "the machine of the master is frozen, and runs again" master_is_frozen
check "a machine of hosts is frozen, and others are not affected" hosts_are_frozen
check "it vanishes with requests under way, and boots again" hosts_reboot
check "both managers are stopped and started" managers_restart
weftd_only "the managers replicate over TCP" replicates_over_tcp
check "the machine of the master loses its power" fails_over m2 m2 20 stop_vm m1
weftd_only "the standby had the partitions and LIDs" kept_its_records
check "no kernel complains" no_complaints
finish
