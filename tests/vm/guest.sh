# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for the scripts that in_vm sends to a virtual machine (tests/system/vm-lib.sh). scripts/vm-image puts this
# file in the image, and bash reads it there before each script.

# device_of GUID: the HCA whose port has this GUID (16 digits).
device_of() {
	local colons file

	colons=$(sed 's/..../&:/g; s/:$//' <<<"$1")
	for file in /sys/class/infiniband/*/ports/1/gids/0; do
		[[ $(<"$file") != *:"$colons" ]] || cut -d / -f 5 <<<"$file"
	done
}

# interface_of GUID: the IPoIB interface of this port, in this network namespace.
interface_of() {
	local colons file

	colons=$(sed 's/../&:/g; s/:$//' <<<"$1")
	for file in /sys/class/net/*/address; do
		[[ $(<"$file") != *:"$colons" ]] || cut -d / -f 5 <<<"$file"
	done
}

# await SECONDS COMMAND...
await() {
	local deadline=$((SECONDS + $1))

	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.1
	done
}

# port DEVICE FILE VALUE: a file of the port begins with VALUE.
port() {
	[[ $(<"/sys/class/infiniband/$1/ports/1/$2") == "$3"* ]]
}

# isolate SPACE GUID ADDRESS: a network namespace with the interface of this port alone.
isolate() {
	local interface

	interface=$(interface_of "$2") && [ -n "$interface" ] || { echo "no IPoIB interface has the GUID $2"; return 1; }
	[ -e "/run/netns/$1" ] || ip netns add "$1"
	ip link set "$interface" netns "$1" && ip -n "$1" address add "$3" dev "$interface" && ip -n "$1" link set "$interface" up
}

# pings SPACE ADDRESS: an answer within $wait seconds (default 10).
pings() {
	ip netns exec "$1" ping -w "${wait:-10}" "$2" | grep -m 1 seq=
}

# complaints: what the kernel wrote that a correct driver does not cause.
complaints() {
	dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|general protection|refcount|leak|waiting for .* to become free|hung task'
}
