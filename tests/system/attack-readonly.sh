#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# control-ro.sock, which untrusted users may use: many idle clients of one user, long requests, and a group whose
# members may connect although weftd may not change the owner of a file, as under its unit.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip readonly: the preload library and sanitizers exclude each other"
	finish
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "skip readonly: only root can be several users"
	finish
fi

# Other users must reach the folder and a weftctl.
chmod 711 "$work"
mkdir bin && cp "$BUILD/weftctl" bin/ && chmod 755 bin bin/weftctl

"${CC:-cc}" -O2 -o no_chown "$root/tests/system/no_chown.c" || exit 1

# looks NAME USER GROUP: this user requests the status on the read-only socket.
looks() {
	setpriv --reuid "$2" --regid "$3" --clear-groups timeout 20 bin/weftctl -s "$work/$1.run/control-ro.sock" status >looks.txt 2>&1 ||
		because "user $2 of group $3: $(tail -n 1 looks.txt)"
}

# idle NAME USER COUNT: this number of idle connections of the user, until it is killed.
idle() {
	# shellcheck disable=SC2016 # Perl's
	exec setpriv --reuid "$2" --regid "$2" --clear-groups perl -MIO::Socket::UNIX -e '
		my @held = map { IO::Socket::UNIX->new(Peer => $ARGV[0]) or die } 1 .. $ARGV[1];
		open(my $ready, ">&", \*STDOUT); syswrite($ready, "ready\n"); sleep 600' "$work/$1.run/control-ro.sock" "$3" >idle.txt
}

idle_clients() {
	idle open 60001 64 &
	pids[idle]=$!
	wait_for 20 matches ready idle.txt || because "no idle clients" || return 1
	looks open 60002 60002 || return 1
	looks open 60001 60001 || return 1
	ctl open status >/dev/null || because "the administrator gets no answer" || return 1
	kill_now idle
}

# said_to NAME LENGTH: the answer to a request of this many bytes.
said_to() {
	# shellcheck disable=SC2016 # Perl's
	perl -MIO::Socket::UNIX -e '
		my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die;
		my $ask = "{\"command\":\"ha status\"}";
		print $s $ask, " " x ($ARGV[1] - length $ask), "\n"; print scalar <$s>' "$work/$1.run/control-ro.sock" "$2"
}

long_requests() {
	said_to open 4096 >said.txt
	matches '^."ok":true' said.txt || because "of 4096 bytes: $(cat said.txt)" || return 1
	said_to open 4097 >said.txt
	matches 'the request is longer than 4096 bytes' said.txt || because "of 4097 bytes: $(head -c 200 said.txt)"
}

# Without capabilities, and not a member of the group.
starts_for_a_group() {
	runner=(setpriv --clear-groups --bounding-set -all --inh-caps -all "$work/no_chown")
	start_weftd group host-0001 -o 'readonly_socket="daemon"' || return 1
	runner=()
}

group_looks() {
	looks group 60001 "$(id -g daemon)" || return 1
	! looks group 60001 60001 || because "a user of no such group may look" || return 1
	matches 'readonly_socket in weftd.conf' looks.txt || because "that user gets $(cat looks.txt)"
}

check "a fabric" start_weftsim single:hosts=2 || finish
check "weftd, with a socket for all users" start_weftd open host-0001 -o 'readonly_socket="*"' || finish
check "64 idle clients shut no other user out" idle_clients
check "long requests are refused" long_requests
stop open
check "the group is set without chown" starts_for_a_group || finish
check "its members may look, and no others" group_looks
stop group
finish
