#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Attacks of one member of a partition on others by multicast groups, with weftd on weftsim: use all MLIDs by joins for
# another port, use up the limits of that port, and end a membership that the port has joined itself.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip attack-multicast: libweftsim.so must stand before all other libraries"
	exit 0
fi

"${CC:-cc}" -O2 -o attacker "$root/tests/system/attacker.c" -libumad || exit 1

victim=host-0002 attacker=host-0003 other=host-0004
per_port=512 # the default of groups_per_port
mlids=1024
half=$((mlids / 2 - 2)) # free MLIDs of one half, except the broadcast group and a group of $other

# MCMemberRecord: MGID, PortGID, Q_Key, P_Key and JoinState, with the components that make a group.
prefix=fe80000000000000
mask=mask:130c7 # MGID, PortGID, Q_Key, TClass, P_Key, SL, FlowLabel, JoinState
created() {
	echo "72=$prefix$1 88=00000b1b 96=ffff 104=01"
}

# mad HOST ARGUMENT...: sends MADs from there; the answers are in answers.txt.
mad() {
	local host=$1

	shift
	on "$host" "$work/attacker" "$@" >answers.txt 2>answers.err
}

# answered STATUS NUMBER: this number of the last MADs had this status.
answered() {
	equal "the number of answers with status $1" "$(grep -c "status $1" answers.txt)" "$2"
}

guid_of() {
	local guid

	guid=$(ctl daemon node list | json "map { \$_->{guid} } grep { \$_->{description} eq '$1' } @\$_")
	printf '%016x' $((guid + 1))
}

daemon_runs() {
	cat >partitions.conf <<-END
		Default=0x7fff, ipoib : ALL=limited, SELF=full, 0x$v_guid=full, 0x$o_guid=full ;
	END
	start_weftd daemon host-0001 -o "partition_config_file=\"$work/partitions.conf\"" "$@" || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

# The GUIDs are those of the simulator, for each manager.
fabric_runs() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	v_guid=$(guid_of $victim) o_guid=$(guid_of $other) a_guid=$(guid_of $attacker)
	stop daemon && rm -rf daemon.state && daemon_runs
}

groups_of() {
	ctl daemon multicast list | json 'scalar @$_'
}

# A limited member of the default partition creates groups until it is refused, each by a join for the victim.
exhausts() {
	# shellcheck disable=SC2046 # words are meant
	mad $attacker -t 5000 -n 1100 sm 3 2 0x38 0 $mask 56=ff12abcd00000000 68+4 $(created "$v_guid")
	answered 0x0000 $half && answered 0x0100 $((1100 - half))
}

# The groups of the attacker do not count for the victim, which gets as many MLIDs as any port.
victim_makes_groups() {
	# shellcheck disable=SC2046
	mad $victim -n $((per_port / 4)) sm 3 2 0x38 0 $mask 56=ff12dcba00000000 68+4 $(created "$v_guid")
	answered 0x0000 $((per_port / 4))
}

# ServiceRecord: ServiceID, ServiceGID, P_Key and lease.
victim_registers() {
	mad $victim -n 800 sm 3 2 0x31 0 mask:f 60+4 "64=$prefix$v_guid" 80=ffff 84=ffffffff
	answered 0x0000 800
}

# A partition without IPoIB, of which the attacker is no member: it cannot create a group in place of the broadcast
# group.
outsider_makes_broadcast() {
	# shellcheck disable=SC2046
	mad $attacker sm 3 2 0x38 0 $mask 56=ff12401b8077000000000000ffffffff $(created "$a_guid")
	answered 0x0200 1
}

new_partition() {
	ctl daemon partition add 0x77 --ipoib >add.txt || because "$(cat add.txt)" || return 1
	wait_for 10 has_group 'ff12:401b:8077::ffff:ffff' || because "there is no broadcast group"
}

has_group() {
	ctl daemon multicast list | grep -q "$1"
}

# another_makes_one NUMBER
another_makes_one() {
	# shellcheck disable=SC2046
	mad $other sm 3 2 0x38 0 $mask "56=ff12eeee00000000000000000000000$1" $(created "$o_guid")
	answered 0x0000 1
}

# The log has the name of the attacker, and its refused requests are counted.
is_told() {
	told_event daemon port "LID $(lid_of $attacker) wants port .* is refused: .*groups_per_port" || return 1
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" perf metrics >metrics.txt
	matches "^weft_sa_groups_over_limit_total $((1100 - half))$" metrics.txt ||
		because "$(grep over_limit metrics.txt)"
}

lid_of() {
	ctl daemon node list | json "map { \$_->{lid} } grep { \$_->{description} eq '$1' } @\$_"
}

# join|leave HOST: the victim's membership of a group of $other.
of_group="56=ff12eeee000000000000000000000001 72=$prefix"
join() {
	mad "$1" sm 3 2 0x38 0 mask:10003 $of_group"$v_guid" 104=01
}

leave() {
	mad "$1" sm 3 0x15 0x38 0 mask:10003 $of_group"$v_guid" 104=01
}

members() {
	ctl daemon multicast show ff12:eeee::1 | json 'scalar @{$_->{members}}'
}

# The attacker joins the victim before the victim does, and ends the membership after it.
takes_over() {
	another_makes_one 1 || return 1
	join $attacker && answered 0x0000 1 && join $victim && answered 0x0000 1 || return 1
	leave $attacker && answered 0x0200 1 || return 1
	equal "the number of members" "$(members)" 2 && leave $victim && answered 0x0000 1 &&
		equal "the number of members" "$(members)" 1
}

# If hosts may create many groups they use all MLIDs of clients, but not the last 64 of 1,024.
all_clients() {
	stop daemon || return 1
	daemon_runs -o groups_per_port=4000 || return 1 # a quarter of it exceeds the number of MLIDs
	# shellcheck disable=SC2046
	mad $attacker -n 1000 sm 3 2 0x38 0 $mask 56=ff12babe00000000 68+4 $(created "$v_guid")
	equal "the number of groups" "$(groups_of)" $((mlids - 64)) || return 1
	wait_for 10 told_limit || because "it is not logged: $(tail -n 1 metrics.txt)" || return 1
	ctl daemon partition add 0x78 --ipoib >add.txt || because "$(cat add.txt)" || return 1
	wait_for 10 has_group 'ff12:401b:8078::ffff:ffff' || because "there is no broadcast group"
}

told_limit() {
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" perf metrics >metrics.txt
	matches "^weft_sa_no_mlid_total [1-9]" metrics.txt
}

check "weftd on weftsim" fabric_runs || finish
check "a membership that a port joined itself is its own" takes_over
check "no outsider makes the broadcast group of a partition" outsider_makes_broadcast
check "a limited member makes no more groups than one port may" exhausts
check "nothing of it counts for the victim" victim_makes_groups
check "the victim registers services" victim_registers
check "a new partition has its broadcast group" new_partition
check "another host makes a group" another_makes_one 2
check "the attacker is named" is_told
check "clients take all MLIDs" all_clients
finish
