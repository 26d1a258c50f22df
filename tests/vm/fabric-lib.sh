# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # for and from lib.sh and fabric.sh
#
# The machines and managers of tests/vm/fabric.sh: machine h has the hosts `one` and `two`, machines m1 and m2 have one
# host each, on which a manager runs. MANAGER is weftd or opensm.

manager=${MANAGER:-weftd}
declare -A node=() guid=() lid=()
declare -A address=([one]=10.0.0.1 [two]=10.0.0.2 [m1]=10.0.0.3 [m2]=10.0.0.4)
declare -A lan=([m1]=192.168.7.1 [m2]=192.168.7.2) # of the network between the machines of the managers
declare -A priority=([m1]=9 [m2]=5) # of opensm. weftd has equal ones, and master_priority.
vm_timeout=300 # for the waits in scripts, on a busy machine
replication=inband one='' two='' # the devices of both hosts, in machine h

sim() {
	"$BUILD/weftsim" "do" "$@"
}

# machine NAME SCRIPT: its output is in NAME.txt, and is the reason if it fails.
machine() {
	in_vm "$1" "$2" >"$1.txt" || because "$1: \`$2\` ($?): $(tail -n 3 "$1.txt" | tr '\n' ' ')"
}

now() {
	date +%s%3N
}

# Machines

host() {
	printf 'host-%04d' "$1"
}

makes_fabric() {
	local name hosts

	"$BUILD/weftsim" topology "$1" >fabric.net && start_weftsim fabric.net || return 1
	hosts=$(grep -c '^Ca' fabric.net)
	node=([m1]=$(host 1) [one]=$(host $((hosts / 3))) [m2]=$(host $((hosts / 2))) [two]=$(host "$hosts"))
	for name in "${!node[@]}"; do
		guid[$name]=$(port_guid fabric.net "${node[$name]}")
		[ "${#guid[$name]}" -eq 16 ] || because "no port of ${node[$name]}" || return 1
	done
	echo "# $(grep -m 1 '^ready' "$fabric.log" | grep -o 'nodes=.*')"
}

boots() {
	vm_is_up "$1" 300 && echo "# $1: $said"
}

start_hosts() {
	start_vm h "${node[one]}" "${node[two]}"
}

# A machine of a manager also has an Ethernet interface to the other one.
start_manager_vm() {
	local other=m1

	[ "$1" = m2 ] || other=m2
	# shellcheck disable=SC2054 # commas are meant
	vm_options=(-netdev "dgram,id=lan,local.type=unix,local.path=$PWD/$1.lan,remote.type=unix,remote.path=$PWD/$other.lan"
		-device "virtio-net-pci,netdev=lan,mac=52:54:00:00:00:0${1#m}")
	rm -f "$1.lan"
	start_vm "$1" "${node[$1]}"
	vm_options=()
}

# Managers

# The commands of a machine that start its manager.
starting_weftd() {
	local name=$1 other=m1 ha=''

	[ "$name" = m2 ] || other=m2
	[ $replication = inband ] || ha="-o 'ha_listen=\"${lan[$name]}\"' -o 'ha_peers=\"${lan[$other]}\"'"
	echo "i=\$(grep -l 52:54:00 /sys/class/net/*/address | cut -d / -f 5)
		ip link set \$i up; ip address add ${lan[$name]}/24 dev \$i 2>/dev/null
		mkdir -p /run/weft /var/lib/weft; umask 077; echo $key >/etc/ha.psk
		weftd --runtime-dir /run/weft --state-dir /var/lib/weft -o 'ha_psk_file=\"/etc/ha.psk\"' -o sm_priority=1 \
			-o master_priority=14 $ha 2>&1 | stamped >>/tmp/log &"
}

starting_opensm() {
	echo "mkdir -p /var/cache/opensm; touch /tmp/partitions
		printf '%s\n' 'sminfo_polling_timeout 200' 'polling_retry_number 3' 'sm_priority ${priority[$1]}' \
			'honor_guid2lid_file TRUE' 'partition_config_file /tmp/partitions' 'force_log_flush TRUE' >/tmp/conf
		[ -s /tmp/partitions ] || echo 'Default=0x7fff,ipoib: ALL=full;' >/tmp/partitions
		opensm -F /tmp/conf -B -f /tmp/log >/dev/null"
}

start_manager() {
	machine "$1" "$("starting_$manager" "$1")"
}

# stop_manager NAME [SIGNAL]
stop_manager() {
	machine "$1" "p=\$(pidof $manager); kill -${2:-TERM} \$p && { [ ${2:-TERM} = KILL ] || await 20 test ! -e /proc/\$p; }"
}

log_of() {
	in_vm "$1" 'tail -n 5 /tmp/log' | sed "s/^/# $1: /"
}

# has_role NAME ROLE: by the SMInfo that machine h gets from this port.
has_role() {
	in_vm h "sminfo -C $one ${lid[$1]}" >role.txt && matches "SMINFO_$2" role.txt
}

# takes_role NAME ROLE [SECONDS]
takes_role() {
	wait_for "${3:-30}" has_role "$1" "$2" || because "$1 is not $2: $(tail -n 1 role.txt)"
}

# copies MASTER: the standby of this master has all registrations.
copies() {
	[ "$manager" = weftd ] || return 0
	machine "$1" "await 40 eval \"weftctl ha status | grep -q 'in sync'\"" || machine "$1" 'weftctl ha status; exit 1'
}

# Pings, every 0.2 s

# pinging MACHINE ADDRESS [WORD]...: until `pinged`; the words are before the command.
pinging() {
	machine "$1" "echo >/tmp/ping; ${*:3} ping -i 0.2 $2 >>/tmp/ping 2>&1 & echo \$! >/tmp/ping.pid; sleep 1.5"
}

# may_lose N: this number of pings; opensm may lose any number.
may_lose() {
	[ "$manager" = weftd ] && echo "$1" || echo 1000
}

# pinged MACHINE [MOST]: ends the pings and counts the lost ones in $lost; at most MOST may be lost, by default none. The
# last one does not count, because its answer can be under way.
pinged() {
	machine "$1" 'sleep 1; kill -INT $(</tmp/ping.pid); await 20 grep -q transmitted /tmp/ping; cat /tmp/ping' || return 1
	read -r sent lost < <(awk '{ sub(/.* seq=/, "seq=") } /^seq=/ { sub(/seq=/, "", $1); got[$1] } / transmitted/ { sent = $1 }
		END { for (i = 0; i < sent - 1; i++) lost += !(i in got); print sent - 1, lost + 0 }' "$1.txt")
	echo "# $lost of $sent pings were lost ($(awk -F ' = ' '/^round-trip/ { print $2 }' "$1.txt"))"
	[ "${sent:-0}" -ge 20 ] && [ "$lost" -le "${2:-0}" ] || because "$lost of ${sent:-0} pings were lost"
}

# The pings of machine h around the marks "---" in them.
transcript() {
	awk '{ line[NR] = $0 } /^---/ { for (i = NR - 4; i <= NR + 12; i++) show[i] } /transmitted|packet|round-trip/ { show[NR] }
		END { for (i = 1; i <= NR; i++) if (i in show) print "| " line[i] }' h.txt
}
