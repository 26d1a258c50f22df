#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# partition apply and the owners of members, with the real programs on weftsim: repeated files, other owners, dry runs,
# two administrators, dangers, 100,000 members, a restart.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip apply: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

declare -a guids

# says STATUS PATTERN COMMAND...: weftctl ends with this status and prints a matching line.
says() {
	local wanted=$1 pattern=$2 status

	shift 2
	"$BUILD/weftctl" -s "$work/sm.run/control.sock" "$@" >told.txt 2>told.err
	status=$?
	equal "the status of '$*'" $status "$wanted" || return 1
	matches "$pattern" told.txt || matches "$pattern" told.err || because "'$*' says $(tail -n 4 told.txt told.err)"
}

# members PKEY: the run-time members and their owners.
members() {
	ctl sm partition show "$1" |
		json 'map { "$_->{guid} $_->{membership} $_->{owner}\n" } grep { $_->{by} eq "run time" } @{$_->{ports}}' |
		sed 's/^ *//' | awk NF | sort
}

state() {
	awk '$1 == "state:" { print $2 }' told.txt
}

up() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd sm host-0001 -o 'partition_config_file="none.conf"' -o sweep_interval=0 || return 1
	wait_for 60 is_up sm || because "it does not come up: $(tail -n 1 sm.log)" || return 1
	mapfile -t guids < <(ctl sm port list | json 'map { "$_->{port_guid}\n" } grep { $_->{description} =~ /^host/ } @$_' | sed 's/^ *//' | awk NF | sort -u)
	[ ${#guids[@]} -ge 4 ] || because "there are ${#guids[@]} ports of hosts"
}

repeated_file() {
	printf 'red=0x5, ipoib: %s=full, %s=limited, 0xdead0000-0xdead0003;\n' "${guids[0]}" "${guids[1]}" >red.conf
	says 0 '^dry run: 7 changes for gateway:gw1; nothing was changed$' partition apply red.conf --owner gateway:gw1 --dry-run || return 1
	says 1 'no partition 0x0005' partition show 5 || return 1
	says 0 '^changed: 7 changes for gateway:gw1$' partition apply red.conf --owner gateway:gw1 || return 1
	matches "^partition made +0x0005" told.txt && matches "^member added +0x0005 +${guids[0]} +- +full +gateway:gw1 +host" told.txt ||
		because "it shows $(cat told.txt)" || return 1
	equal "the members" "$(members 5 | wc -l) $(members 5 | grep -c gateway:gw1)" "6 6" || return 1
	says 0 '^unchanged: gateway:gw1 has these 6 members$' partition apply red.conf --owner gateway:gw1 || return 1
	says 0 '^unchanged: ' partition apply - --owner gateway:gw1 <red.conf || return 1
	equal "changed" "$(ctl sm partition apply red.conf --owner gateway:gw1 | json '$_->{changed} ? 1 : 0')" 0
}

list_with_members() {
	says 0 '^0x0005 "red", by run time, ipoib' partition list --members || return 1
	matches "^${guids[1]} +limited +run time +gateway:gw1" told.txt && matches '^0x7fff "Default"' told.txt ||
		because "it shows $(head -n 20 told.txt)" || return 1
	says 0 '^0x0005 +run time .* 6 +red$' partition list || return 1
	equal "members in JSON" "$(ctl sm partition list --members | json 'map { scalar @{$_->{ports}} } grep { $_->{p_key} == 5 } @$_')" 6
}

other_owners_stay() {
	says 0 'changed' partition member add 5 "${guids[2]}" || return 1
	printf 'red=0x5, ipoib: %s=full, %s=full;\n' "${guids[0]}" "${guids[2]}" >red.conf
	printf 'red=0x5, ipoib: %s=limited;\nblue=0x6: %s=full;\n' "${guids[0]}" "${guids[3]}" >site.conf
	says 0 '^changed: 2 changes for site$' partition apply site.conf --owner site || return 1
	matches '^kept: 1 entry of other owners differs' told.txt && matches "^kept: of another owner +0x0005 +${guids[0]} +full +limited +gateway:gw1" told.txt ||
		because "it shows $(cat told.txt)" || return 1
	says 0 '^changed: 5 changes for gateway:gw1$' partition apply red.conf --owner gateway:gw1 || return 1
	equal "the members" "$(members 5 | paste -sd ,)" "$(printf '%s\n' "${guids[0]} full gateway:gw1" "${guids[2]} full admin" | sort | paste -sd ,)" || return 1
	# A partition of this owner ends with its last member, unless another owner has members in it.
	printf '# nothing\n' >nothing.conf
	says 0 '^changed: ' partition apply nothing.conf --owner gateway:gw1 --force || return 1
	equal "the members" "$(members 5)" "${guids[2]} full admin" || return 1
	says 0 '^changed: 2 changes for site$' partition apply nothing.conf --owner site --force || return 1
	says 1 'no partition 0x0006' partition show 6 || return 1
	says 0 '^changed: ' partition apply red.conf --owner gateway:gw1
}

bad_words() {
	says 2 '"root" is not an owner: admin, site or gateway:NAME' partition apply red.conf --owner root || return 1
	says 2 '"file" is not an owner' partition apply red.conf --owner file || return 1
	printf 'red=0x5: ALL=full;\n' >all.conf
	says 1 'all.conf:1: partition 0x0005: members of partition apply are GUIDs' partition apply all.conf --owner site || return 1
	printf 'red=0x5: nobody;\n' >bad.conf
	says 1 'bad.conf:1: "nobody" is no port' partition apply bad.conf --owner site || return 1
	printf 'red=0x77: 1;\n' >name.conf
	says 1 'partition 0x0005 has the name "red" already' partition apply name.conf --owner site || return 1
	says 1 'No such file' partition apply none.conf --owner site || return 1
	says 1 'at most 100000 members' partition apply <(printf 'x=0x9: 0x1-0xffffffff;\n') --owner site
}

# The second administrator sees what the first one changed, and nothing is overwritten unseen.
two_administrators() {
	local seen one

	printf 'red=0x5, ipoib: %s=full;\n' "${guids[0]}" >red.conf
	says 0 '^(dry run|unchanged)' partition apply red.conf --owner gateway:gw1 --dry-run || return 1
	seen=$(state)
	says 0 'changed' partition member add 5 0xbeef || return 1
	says 1 "partitions were changed since state $seen .now 0x[0-9a-f]*.: run partition apply --dry-run again" \
		partition apply red.conf --owner gateway:gw1 --if-state "$seen" || return 1
	says 0 . partition apply red.conf --owner gateway:gw1 --dry-run || return 1
	says 0 . partition apply red.conf --owner gateway:gw1 --if-state "$(state)" || return 1
	# At the same time: each is whole, or is refused because the other one's text came between its pieces.
	printf 'red=0x5, ipoib: 0x1000-0x2fff;\n' >one.conf
	printf 'red=0x5, ipoib: 0x5000-0x6fff;\n' >two.conf
	ctl sm partition apply one.conf --owner site >one.out 2>&1 &
	one=$!
	ctl sm partition apply two.conf --owner site >two.out 2>&1 || because "the second: $(tail -n 1 two.out)" || return 1
	wait $one || because "the first: $(tail -n 1 one.out)" || return 1
	says 0 '^changed: 8192 changes for site' partition apply nothing.conf --owner site || return 1
	matches '^and 7192 more' told.txt || because "the rows end with $(tail -n 3 told.txt)"
}

dangers() {
	printf 'green=0x8: %s=full, %s=limited;\n' "${guids[0]}" "${guids[1]}" >green.conf
	says 0 '^changed: ' partition apply green.conf --owner site || return 1
	printf 'green=0x8: %s=limited;\n' "${guids[1]}" >few.conf
	says 0 '^needs --force: .*1 limited members could reach no port' partition apply few.conf --owner site --dry-run || return 1
	says 1 '1 limited members could reach no port in it, and 1 pairs .*add --force; nothing was changed' partition apply few.conf --owner site || return 1
	equal "the members" "$(members 8 | wc -l)" 2 || return 1
	says 0 '^changed: 1 change for site' partition apply few.conf --owner site --force || return 1
	printf 'Default=0x7fff, ipoib: %s=full;\n' "${guids[0]}" >shut.conf
	says 1 'ports would lose 0x7fff or full membership' partition apply shut.conf --owner site || return 1
	says 0 '^changed: ' partition apply nothing.conf --owner site --force
}

# In one request, and again without a change. The daemon answers other clients during that.
many_members() {
	awk 'BEGIN { printf "red=0x5, ipoib: "; for (i = 0; i < 99999; i++) printf "0x%x=full,\n", 33554432 + i; print "0x2;" }' >many.conf
	says 0 '^changed: 10000[01] changes for site' partition apply many.conf --owner site || return 1
	says 0 '^unchanged: site has these 100000 members' partition apply many.conf --owner site
}

# Owners are in the store, with all changes of a request.
restart_remembers() {
	stop sm && start_weftd sm host-0001 -o 'partition_config_file="none.conf"' -o sweep_interval=0 || return 1
	wait_for 60 is_up sm || because "it does not come up: $(tail -n 1 sm.log)" || return 1
	says 0 '^unchanged: site has these 100000 members' partition apply many.conf --owner site || return 1
	says 0 '^unchanged: gateway:gw1 has' partition apply red.conf --owner gateway:gw1 || return 1
	says 0 '^changed: ' partition apply nothing.conf --owner site || return 1
	says 0 '"kind": ?"partition owner"' save -
}

if check "weftsim and weftd start" up; then
	check "a repeated file changes nothing" repeated_file
	check "the list of partitions has members" list_with_members
	check "members of other owners stay" other_owners_stay
	check "bad owners and files are refused" bad_words
	check "the second administrator sees what changed" two_administrators
	check "dangerous files need --force" dangers
	check "100,000 members in one request" many_members
	check "a restart remembers the owners" restart_remembers
	check "weftd ends" stop sm
fi
finish
