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

# lid DEVICE
lid() {
	echo $(($(<"/sys/class/infiniband/$1/ports/1/lid")))
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
	ip netns exec "$1" ping -i 0.2 -w "${wait:-10}" "$2" | grep -m 1 seq=
}

# pings_here ADDRESS: the same without a namespace.
pings_here() {
	ping -i 0.2 -w "${wait:-10}" "$1" | grep -m 1 seq=
}

# interface_in SPACE: its IPoIB interface.
interface_in() {
	ip -n "$1" -o link | grep -o 'ib[0-9]*' | head -n 1
}

# child SPACE ADDRESS: an interface of the namespace's interface for the partition 0x0005.
child() {
	local parent

	parent=$(interface_in "$1") && ip -n "$1" link add link "$parent" name "$parent.8005" type ipoib pkey 0x8005 mode datagram &&
		ip -n "$1" address add "$2" dev "$parent.8005" && ip -n "$1" link set "$parent.8005" up
}

# stamped: each line with its time.
stamped() {
	local line

	while IFS= read -r line; do
		echo "$EPOCHREALTIME $line"
	done
}

# milliseconds COMMAND...: how long it takes, or "no" if it fails.
milliseconds() {
	local start=${EPOCHREALTIME/./}
	if "$@" >/dev/null; then
		echo $(((${EPOCHREALTIME/./} - start) / 1000))
	else
		echo no
	fi
}

# join SPACE N: the interface becomes a member of a group that no other interface has, by the kernel's own requests.
join() {
	local interface file

	interface=$(interface_in "$1") file=/sys/kernel/debug/ipoib/${interface}_mcg
	[ -e "$file" ] || mount -t debugfs debugfs /sys/kernel/debug
	ip -n "$1" address add "239.1.1.$2/32" dev "$interface" autojoin && await 20 is_member "$file" "$(printf '%x' "$2")"
}

# is_member FILE N: the kernel has the SA's answer.
is_member() {
	grep -A 3 "GID: ff12:401b:[0-9a-f]*:0:0:0:f01:1$(printf '%02x' "0x$2")" "$1" | grep -q 'complete: *yes'
}

# requests TEXT SPACE N ADDRESS: a join, and a path to an address without one; marks in /tmp/ping have the times.
requests() {
	echo "--- $1: a join and a path are requested" >>/tmp/ping
	{ echo "--- $1: joined after $(milliseconds join "$2" "$3") ms"; } >>/tmp/ping &
	{ echo "--- $1: the first answer over the new path after $(wait=20 milliseconds pings "$2" "$4") ms"; } >>/tmp/ping &
	wait
}

# listens PORT: a server has this port of TCP, in this network namespace.
listens() {
	grep -qs "$(printf ':%04X [^ ]* 0A ' "$1")" /proc/net/tcp /proc/net/tcp6
}

# pingpong SERVER CLIENT PROGRAM [OPTION]...: a pingpong program of libibverbs between two HCAs. Both ends must succeed.
pingpong() {
	local server=$1 client=$2 pid

	shift 2
	timeout "${wait:-30}" "$@" -d "$server" >/tmp/server 2>&1 &
	pid=$!
	await 10 listens 18515 || { cat /tmp/server; return 1; }
	timeout "${wait:-30}" "$@" -d "$client" 127.0.0.1 && wait $pid || { cat /tmp/server; return 1; }
}

# grows FILE: within two seconds.
grows() {
	local size

	size=$(wc -c <"$1")
	sleep 2
	[ "$(wc -c <"$1")" -gt "$size" ]
}

# resources: the objects of RDMA of all programs.
resources() {
	rdma resource show | sed 's/ \+$//'
}

# complaints: what the kernel wrote that a correct driver does not cause.
complaints() {
	dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|general protection|refcount|leak|waiting for .* to become free|hung task'
}
