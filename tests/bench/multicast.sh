#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The cost of multicast for weftd and OpenSM: many groups with random members, one more join, a lost cable, one after
# the other on a weftsim of 432 hosts (FULL: 3,456 hosts, 1,000 groups of 100; MANAGERS selects one of the two). Counted
# are the Sets that agents received, and CPU time of all threads of the manager. With weftd each group is checked after
# each step: a packet from a member must reach all other members and no other port. At the end ibdmchk checks the
# tables, if it is installed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"

radix=12 groups=100 members=30 managers="weftd opensm" leaf=leaf-p03-02
if [ -n "${FULL:-}" ]; then
	radix=24 groups=1000 members=100 leaf=leaf-p05-03
fi
managers=${MANAGERS:-$managers}
spec=fattree:radix=$radix,levels=3
join=$BUILD/tests/bench/mc_join
mapfile -t names < <("$BUILD/weftsim" topology "$spec" | awk -F '"' '/^(Hca|Ca)/ { print $2 }')
host=${names[0]} client=${names[1]}

ask_for_hosts() {
	look nodes.txt "$client" saquery NR || return 1
	awk '/lid\.+/ { sub(/.*\.\.+/, ""); lid = $1 } /node_type\.+/ { host = /Channel/ }
		/port_guid\.+/ { sub(/.*\.\.+/, ""); if (host) print lid, $1 }' nodes.txt >hosts.txt
	[ -s hosts.txt ]
}

# figures NAME: "MFT-SETS ALL-SETS CPU-MS".
figures() {
	local cpu

	cpu=$(cat "/proc/${pids[$1]}"/task/*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%d", ns / 1e6 }')
	"$BUILD/weftsim" "do" stats | awk -v cpu="$cpu" '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { sets += $NF } on && /MulticastForwarding/ { mft += $NF } END { print mft + 0, sets, cpu }'
}

# all_sets: how many Sets agents received.
all_sets() {
	"$BUILD/weftsim" "do" stats | awk '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 } on { sets += $NF }
		END { print sets }'
}

# unanswered NAME: the Sets of multicast blocks without an answer, as weftd reports; each is sent again.
unanswered() {
	if [ "$1" = weftd ]; then
		# shellcheck disable=SC2016 # these are Perl's
		status weftd 'sum0(map { $_->{timed_out} } grep { "$_->{method} $_->{attribute}" eq
			"Set MulticastForwardingTable" } @{$_->{smps}})'
	else
		echo 0
	fi
}

# settles: no Set() for some seconds.
settles() {
	local before

	for _ in {1..150}; do
		before=$(all_sets)
		sleep "$quiet"
		[ "$before" != "$(all_sets)" ] || return 0
	done
}

# step NAME TEXT COMMAND...: the cost of the command until the fabric is quiet.
step() {
	local name=$1 text=$2 before after

	shift 2
	before="$(figures "$name") $(unanswered "$name")"
	"$@" >step.out 2>step.err || because "$text: $(tail -n 1 step.err)" || return 1
	settles
	after="$(figures "$name") $(unanswered "$name")"
	echo "$before $after" | awk -v name="$name" -v text="$text" '{
		printf "%-8s %-34s %8d Set(MFT) %8d Set() %8d ms CPU%s\n", name, text, $5 - $1, $6 - $2, $7 - $3,
			($8 > $4 ? ", " $8 - $4 " had no answer" : "") }'
}

# held FILE: "SWITCH MLID PORT..." of all entries of the switches.
held() {
	local node

	"$BUILD/weftsim" topology "$spec" | awk -F '"' '/^Switch/ { print $2 }' | while read -r node; do
		"$BUILD/weftsim" "do" "mft $node" | sed "s/^/$node /"
	done >"$1"
}

# blocks_differ NAME BEFORE AFTER: blocks of 32 MLIDs and 16 ports, as a Set() writes them. Empty blocks count if
# MulticastFDBTop has risen above them, because their content was unknown.
blocks_differ() {
	# shellcheck disable=SC2016 # these are Perl's
	perl -e 'my ($name, $positions, @files) = @ARGV; my (@has, @top); my ($differ, $empty) = (0, 0);
		for my $side (0, 1) { open my $file, "<", $files[$side] or die; while (<$file>) {
			my ($sw, $mlid, @ports) = split; my $block = int((hex($mlid) - 0xc000) / 32);
			$top[$side]{$sw} = $block if $block > ($top[$side]{$sw} // -1);
			$has[$side]{$sw}{$block}{int($_ / 16)} .= "$mlid $_ " for @ports } }
		for my $sw (keys %{{ %{$top[0]}, %{$top[1]} }}) { my ($from, $to) = map { $top[$_]{$sw} // -1 } 0, 1;
			for my $block (0 .. ($from > $to ? $from : $to)) { for my $p (0 .. $positions - 1) {
				my ($was, $is) = map { $has[$_]{$sw}{$block}{$p} // "" } 0, 1;
				$differ += $was ne $is; $empty += $is eq "" && $block > $from } } }
		printf "%-8s %-34s %8d blocks, and %d are empty below a top that rose\n", $name, "that differ by it",
			$differ, $empty' "$1" $((radix / 16 + 1)) "$2" "$3"
}

# members_of MGID: their names, sorted.
members_of() {
	# shellcheck disable=SC2016 # this is Perl's
	ctl weftd multicast show "$1" | json 'join "\n", map { $_->{description} } @{$_->{members}}' | sort
}

# whole MGID MLID: a packet from its first member reaches all other members.
whole() {
	local from

	members_of "$1" >members.txt
	from=$(head -n 1 members.txt)
	[ -n "$from" ] || return 1
	"$BUILD/weftsim" "do" "multicast $2 $from" | awk '/\[/ { print $1 }' | sort >reached.txt
	tail -n +2 members.txt | cmp -s - reached.txt
}

# look_at_groups TEXT: how many groups pass whole().
look_at_groups() {
	local number mlid good=0

	while read -r number mlid _; do
		whole "$(printf 'ff12:401b:ffff::%x' "$number")" "$mlid" && good=$((good + 1))
	done <joined.txt
	printf '%-8s %-34s %8d of %d groups reach exactly their members\n' weftd "$1" $good $groups
	[ $good -eq $groups ] || because "$1: not all groups are whole"
}

looks() {
	[ "$1" != weftd ] || look_at_groups "$2"
}

judged() {
	command -v ibdmchk >/dev/null || return 0
	ctl weftd route dump --format opensm dump >dump.txt || because "$(cat dump.txt)" || return 1
	(cd dump && timeout "${JUDGE_SECONDS:-600}" bash -c \
		'ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs; :') >verdict 2>&1
	printf '%-8s %-34s %8d of %d groups are whole, %d errors\n' weftd 'ibdmchk -m' \
		"$(grep -c 'Multicast Group:.*HCAs' verdict)" $groups "$(grep -cE 'Disconnected|-E-' verdict)"
}

measure() {
	local name=$1 quiet=2

	# In between OpenSM reads the whole of so large a fabric.
	[ "$name" = weftd ] || [ -z "${FULL:-}" ] || quiet=30

	start_weftsim "$spec" || return 1
	if [ "$name" = weftd ]; then
		start_weftd weftd "$host" -o groups_per_port=16383 -o registrations_per_port=1000000 || return 1
		wait_for 120 is_up weftd || because "weftd has no subnet" || return 1
	else
		start_opensm opensm "$host" || return 1
		wait_for 120 matches 'SUBNET UP' opensm.log || because "OpenSM has no subnet" || return 1
	fi
	wait_for 60 ask_for_hosts || because "$name tells no hosts" || return 1
	settles
	step "$name" "$groups groups of $members" on "$client" "$join" hosts.txt 0 "$groups" "$members" &&
		cp step.out joined.txt && looks "$name" "with all groups" &&
		step "$name" "one more join" on "$client" "$join" hosts.txt $((groups / 2)) 1 $((members + 1)) "$members" &&
		held before.txt &&
		step "$name" "one cable lost" "$BUILD/weftsim" "do" "link down $leaf $((radix / 2 + 1))" &&
		held after.txt && blocks_differ "$name" before.txt after.txt &&
		looks "$name" "after one cable was lost" && { [ "$name" != weftd ] || judged; }
	stop "$name"
	stop_fabric
}

for manager in $managers; do
	measure "$manager" || exit 1
done
