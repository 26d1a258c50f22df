#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# libweftsim.so as a library before any program: its exports and needs, programs without InfiniBand, programs without a
# server, shells and scripts, and killed programs. tests/unit/preload/test_preload.c tests each call.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

library=$BUILD/libweftsim.so
files=/sys/class/infiniband

# The names in its map, one a line.
mapped() {
	sed -n '/^global:/,/^local:/p' "$root/preload/libweftsim.map" | grep -oE '[a-z_0-9]+;' | tr -d ';' | sort
}

exports_what_it_wraps() {
	nm -D --defined-only "$library" | awk '{ print $NF }' | sort >exported.txt
	mapped >mapped.txt
	cmp -s exported.txt mapped.txt ||
		because "differs from the map: $(comm -3 exported.txt mapped.txt | tr -s '\n\t' ' ')" || return 1
	[ "$(wc -l <exported.txt)" -gt 40 ] || because "it exports nothing"
}

# Each name must be a name of libc, otherwise it could conflict with a program.
exports_names_of_libc() {
	local libc

	libc=$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
	nm -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u >libc.txt
	equal "the list of names that libc has not" "$(comm -23 exported.txt libc.txt | tr '\n' ' ')" ''
}

needs_libc_alone() {
	equal "the list of libraries" "$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')" \
		'libc.so.6 '
}

# with COMMAND...: a program with the library, without `weftsim run`, which checks for a server first.
with() {
	LD_PRELOAD=$library WEFTSIM_NODE=${node:-} "$@"
}

# It prints nothing, changes nothing and searches for no server.
strangers_notice_nothing() {
	local WEFTSIM_SOCKET=$work/nowhere.sock

	export WEFTSIM_SOCKET
	# shellcheck disable=SC2016 # perl's
	with bash -c 'cd / && ls /tmp >/dev/null && cat /etc/passwd | wc -l && test -d /proc &&
		perl -e "open(F, q(</etc/passwd)) or die; @a = <F>; print scalar(@a), qq(\n)"' >out.txt 2>err.txt ||
		because "status $?: $(cat err.txt)" || return 1
	equal "the number of complaints" "$(wc -l <err.txt)" 0 || return 1
	equal "the number of different answers" "$(sort -u out.txt | wc -l)" 1
}

# A missing server is reported once, and the program sees a machine without devices.
no_server() {
	local WEFTSIM_SOCKET=$work/nowhere.sock status

	export WEFTSIM_SOCKET
	with timeout 20 "$@" >out.txt 2>err.txt
	status=$?
	[ $status -ne 124 ] && [ $status -ne 0 ] || because "status $status" || return 1
	equal "the number of complaints" "$(grep -c '^weftsim: ' err.txt)" 1 || return 1
	matches "^weftsim: no server at $work/nowhere.sock; start one with \`weftsim serve\`\$" err.txt ||
		because "it says $(head -n 1 err.txt)"
}

# As after a killed server: a socket file without a listener.
dead_server() {
	local WEFTSIM_SOCKET=$work/nowhere.sock

	perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Type => SOCK_SEQPACKET, Local => shift, Listen => 1) or die' \
		"$WEFTSIM_SOCKET" || because "no socket was made" || return 1
	no_server smpquery -D nodeinfo 0
}

unknown_node() {
	node=host-9999 with timeout 20 smpquery -D nodeinfo 0 >out.txt 2>err.txt && because "it finds one" && return 1
	matches "^weftsim: no node has the name, GUID or LID \"host-9999\".* at $WEFTSIM_SOCKET" err.txt ||
		because "it says $(head -n 1 err.txt)"
}

# In shells and scripts: tests, redirections, patterns, folders to go to.
in_shell() {
	local shell=$1

	node=host-0002 with "$shell" -c "
		test -d $files && test -r $files/weftsim0/ports/1/state && [ ! -e ${files}_verbs ] &&
		read -r line <$files/weftsim0/ports/1/phys_state && echo \"\$line\" &&
		cd $files/weftsim0/ports && echo * && echo $files/weftsim0/ports/*/lid && ls /dev/infiniband" \
		>out.txt 2>err.txt || because "status $?: $(cat err.txt)" || return 1
	equal "its output" "$(tr '\n' ' ' <out.txt)" \
		"5: LinkUp 1 $files/weftsim0/ports/1/lid issm0 umad0 "
}

with_find_and_grep() {
	node=host-0002 with find $files/weftsim0/ports -name gids >out.txt 2>err.txt &&
		node=host-0002 with grep -rl 'LinkUp' $files/weftsim0/ports >>out.txt 2>>err.txt ||
		because "status $?: $(cat err.txt)" || return 1
	equal "the names found" "$(tr '\n' ' ' <out.txt)" \
		"$files/weftsim0/ports/1/gids $files/weftsim0/ports/1/phys_state " || return 1
	node=host-0002 with ls -l /dev/infiniband >out.txt 2>err.txt && [ ! -s err.txt ] ||
		because "ls -l: $(cat err.txt)"
}

# The relative name of the socket works from any folder.
from_another_folder() {
	mkdir -p deep/er && (
		cd deep/er || exit 1
		WEFTSIM_SOCKET=../../${WEFTSIM_SOCKET##*/} "$BUILD/weftsim" run -n host-0002 -- \
			bash -c "cd / && test -d $files"
	) || because "it sees nothing"
}

# A killed program leaves nothing at the server: its agents and issm are free.
killed() {
	local i

	for i in 1 2 3 4 5; do
		start_opensm killed host-0001 || return 1
		[ $((i % 2)) -eq 1 ] || wait_for 20 matches 'SUBNET UP' killed.log || because "no SUBNET UP" || return 1
		kill_now killed
		rm -f killed.log
	done
	start_opensm opensm host-0001 || return 1
	wait_for 20 matches 'SUBNET UP' opensm.log || because "$(tail -n 1 opensm.log)" || return 1
	look out.txt host-0002 sminfo || because "$(tail -n 1 out.txt.err)" || return 1
	stop opensm || because "opensm ends with status $?"
}

# The server ends and another starts: a running program first sees nothing, then the new server.
server_comes_back() {
	# shellcheck disable=SC2016 # perl's
	node=host-0002 with perl -e '$| = 1; while (<STDIN>) { print -d "'$files'/weftsim0" ? "yes\n" : "no\n" }' \
		<asked >answers 2>answers.err &
	pids[asker]=$!
	exec {asking}>asked {answering}<answers
	says yes && stop_fabric && says no && start_weftsim single:hosts=3 || return 1
	# The new server is at another path; the program knows only the former path.
	ln -s "$WEFTSIM_SOCKET" "$old_socket" && says yes || because "it does not see the new server" || return 1
	exec {asking}>&- {answering}<&-
	kill_now asker
}

says() {
	local answer

	echo >&"$asking"
	read -r -t 20 answer <&"$answering"
	equal "its view" "$answer" "$1"
}

check "exports the names in its map" exports_what_it_wraps
check "exports names of libc only" exports_names_of_libc
check "needs libc alone" needs_libc_alone
check "programs without InfiniBand notice nothing" strangers_notice_nothing
check "no server: said once" no_server smpquery -D nodeinfo 0
check "no server: a file" no_server cat $files/weftsim0/node_guid
check "no server: a socket that is left over" dead_server
start_weftsim single:hosts=4 || { check "weftsim serves" false; finish; }
old_socket=$WEFTSIM_SOCKET
check "a node that is not there" unknown_node
check "bash" in_shell bash
check "sh" in_shell sh
check "find, grep, ls" with_find_and_grep
check "a relative name of the socket" from_another_folder
if command -v opensm >/dev/null; then
	check "programs that are killed" killed
else
	echo "skip programs that are killed: no opensm here"
fi
mkfifo asked answers
check "another server comes" server_comes_back
finish
