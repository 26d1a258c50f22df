#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Partitions and multicast in weftsim from the view of programs. OpenSM writes the P_Keys of ports and switches, and the
# trees of groups. Pings pass between members of a partition and are dropped elsewhere, with counters and traps, and
# packets of a group reach its members.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v opensm >/dev/null; then
	echo "skip tenants: no opensm here"
	exit 0
fi
# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip tenants: the preload library and sanitizers exclude each other"
	exit 0
fi

"${CC:-cc}" -O2 -o tenant "$root/tests/system/tenant.c" -libumad || exit 1

# A red partition with two full and two limited members, a blue one with one full member.
red_full="host-0002 host-0003" red_limited="host-0004 host-0005" blue=host-0006
group=ff12401b8001000000000000ffffffff

guid_of() {
	look guid.txt "$1" ibstat -p && head -n 1 guid.txt
}

lid_of() {
	look address.txt "$1" ibaddr && printf '%d' "$(sed -n 's/.* start \(0x[0-9a-f]*\).*/\1/p' address.txt)"
}

members() {
	local membership=$1 host

	shift
	for host in "$@"; do
		printf '%s=%s, ' "$(guid_of "$host")" "$membership"
	done
}

partitions() {
	cat <<-EOF
		Default=0x7fff: ALL=limited, SELF=full;
		red=0x1,ipoib: $(members full $red_full)$(members limited $red_limited)ALL_ROUTERS;
		blue=0x2: $(members full $blue)ALL_ROUTERS;
	EOF
}

# index_of HOST KEY: the index of a P_Key at its port; nothing if the port does not have it.
index_of() {
	"$BUILD/weftsim" "do" "pkeys $1 1" | awk -v key="$2" '$2 == key { print $1 + 0 }'
}

has_keys() {
	[ -n "$(index_of host-0005 0x0001)" ] && [ -n "$(index_of $blue 0x8002)" ] &&
		"$BUILD/weftsim" "do" check >check.txt 2>&1
}

opensm_runs() {
	start_weftsim fattree:radix=4,levels=2 && partitions >partitions.conf || return 1
	start_opensm opensm host-0001 -P "$work/partitions.conf" || return 1
	wait_for 30 has_keys || because "OpenSM gives no P_Keys: $(tail -n 1 opensm.log)"
}

all_hear() {
	local host

	for host in $red_full $red_limited $blue host-0007; do
		(as_node "$host" "$work/tenant" hear 120) >"$host.txt" 2>&1 &
		pids[$host]=$!
		wait_for 20 matches hears "$host.txt" || because "$host does not receive: $(cat "$host.txt")" || return 1
	done
}

# pings FROM KEY TO
pings() {
	on "$1" "$work/tenant" ping "$(lid_of "$3")" "$(index_of "$1" "$2")" >ping.txt 2>&1
}

passes() {
	pings "$@" || because "no ping from $1 with $2 to $3: $(cat ping.txt)"
}

ends() {
	! pings "$@" || because "a ping from $1 with $2 reaches $3" || return 1
	matches 'no answer' ping.txt || because "a ping from $1 with $2: $(cat ping.txt)"
}

inside_a_partition() {
	passes host-0002 0x8001 host-0003 && passes host-0002 0x8001 host-0004 &&
		passes host-0005 0x0001 host-0003
}

limited_members() {
	ends host-0004 0x0001 host-0005 && ends host-0004 0x7fff host-0005
}

across_partitions() {
	ends host-0002 0x8001 $blue && ends $blue 0x8002 host-0003
}

# ibping uses the key at index 0: limited, which only the manager's port shares as a full member.
by_ibping() {
	local host

	for host in host-0001 host-0003; do
		(as_node $host ibping -S) >"$host.pong" 2>&1 &
		pids[pong-$host]=$!
	done
	wait_for 20 pinged host-0001 1 || because "ibping to the manager: $(tail -n 2 ibping.txt)" || return 1
	pinged host-0003 0 || because "ibping between limited members: $(tail -n 2 ibping.txt)" || return 1
	kill_now pong-host-0001 && kill_now pong-host-0003
}

# pinged HOST COUNT: this number of pings is answered.
pinged() {
	look ibping.txt host-0002 ibping -c 1 "$(lid_of "$1")"
	matches "1 packets transmitted, $2 received" ibping.txt
}

# The drops above are reported: at the adapter between limited members, else at the switch.
counted_and_told() {
	look info.txt host-0001 smpquery portinfo "$(lid_of host-0005)" 1 || return 1
	matches 'PkeyViolations:\.+[1-9]' info.txt || because "no P_Key violation at host-0005" || return 1
	"$BUILD/weftsim" "do" stats >stats.txt && matches 'bad P_Key +[1-9]' stats.txt ||
		because "weftsim counts no bad P_Key" || return 1
	look errors.txt host-0001 ibqueryerrors
	matches 'ConstraintErrors == [1-9]' errors.txt || because "no switch counts a constraint error" || return 1
	wait_for 10 matches 'trap.*257|Bad P_Key' opensm.log || because "OpenSM got no trap 257" || return 1
	wait_for 10 matches 'trap.*259|Switch.*P_Key|P_Key.*switch' opensm.log || because "OpenSM got no trap 259"
}

joins() {
	look mlid.txt "$1" "$work/tenant" join fe80000000000000 "$(guid_of "$1" | sed 's/^0x//')" \
		$group || because "$1 cannot join: $(cat mlid.txt)"
}

# receivers HOST: the hosts that receive its packets of the group.
receivers() {
	"$BUILD/weftsim" "do" "multicast $mlid $1" 2>&1 | sed -n 's/ \[1\]$//p' | sort | tr '\n' ' '
}

reaches() {
	[ "$(receivers "$1")" = "$2" ]
}

heard() {
	grep -c "^heard $1 " "$2.txt"
}

to_a_group() {
	local from

	joins host-0002 && joins host-0004 && joins host-0005 || return 1
	mlid=$(cat mlid.txt)
	wait_for 10 reaches host-0003 "host-0002 host-0004 host-0005 " ||
		because "$mlid reaches $(receivers host-0003)" || return 1
	from=$(lid_of host-0003)
	for host in $red_full $red_limited $blue host-0007; do
		: >"$host.before"
		heard "$from" "$host" >"$host.before"
	done
	on host-0003 "$work/tenant" cast "$mlid" "$(index_of host-0003 0x8001)" || return 1
	wait_for 10 came "$from" || because "a member did not receive it" || return 1
	for host in host-0003 $blue host-0007; do
		equal "MADs that $host received" "$(heard "$from" "$host")" "$(cat "$host.before")" || return 1
	done
}

came() {
	local host

	for host in host-0002 host-0004 host-0005; do
		[ "$(heard "$1" "$host")" -eq $(($(cat "$host.before") + 1)) ] || return 1
	done
}

check "OpenSM makes partitions on weftsim" opensm_runs || finish
check "programs listen at six hosts" all_hear || finish
check "pings inside a partition pass" inside_a_partition
check "pings between limited members do not" limited_members
check "pings between partitions do not" across_partitions
check "ibping with the key at index 0" by_ibping
check "dropped packets are counted and reported" counted_and_told
check "members of a group receive its packets" to_a_group
finish
