#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Attacks of one host on the reports of others, with weftd on weftsim: it has a thousand subscriptions, answers no
# report, and renews the subscriptions all the time.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip attack-reports: libweftsim.so must stand before all other libraries"
	exit 0
fi

"${CC:-cc}" -O2 -o attacker "$root/tests/system/attacker.c" -libumad || exit 1
"${CC:-cc}" -O2 -o subscriber "$root/tests/system/subscriber.c" -libumad || exit 1

attacker=host-0003 honest=host-0002 third=host-0004
subscriptions=1000 # of registrations_per_port = 1024
notices=40 delay_ms=200 # a report takes some 10 ms; behind the silent subscribers it takes seconds

# inform subscribe|unsubscribe ARGUMENT...: InformInfo for all traps of the ports from LID 0 on. The end of the range
# makes each subscription different. RespTimeValue 20 is 4.3 s.
inform() {
	local what=$1

	shift
	on $attacker "$work/attacker" -n $subscriptions "$@" sm 3 2 3 0 74+2 78=01 \
		"79=$([ "$what" = subscribe ] && echo 01 || echo 00)" 80=ffffffff 87=14 89=ffffff >inform.txt 2>inform.err
}

daemon_runs() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

is_subscribed() {
	matches '^subscribed$' honest.txt || ! runs honest
}

honest_subscribes() {
	(as_node $honest "$work/subscriber" 600 66) >honest.txt 2>&1 &
	pids[honest]=$!
	wait_for 20 is_subscribed
	matches '^subscribed$' honest.txt || because "$(tail -n 1 honest.txt)"
}

subscribed() {
	ctl daemon status | json '$_->{reports}{subscriptions}'
}

attacker_subscribes() {
	inform subscribe
	equal "the number of subscriptions" "$(subscribed)" $((subscriptions + 1))
}

# Ends and renews the subscriptions, at most 1,000 in a second.
subscribes_again() {
	while :; do
		inform unsubscribe -q -r 1000
		inform subscribe -q -r 1000
	done
}

attack() {
	(subscribes_again) &
	pids[attack]=$!
}

reports() {
	grep -c '^report 66' honest.txt
}

has_reports() {
	[ "$(reports)" -ge "$1" ]
}

now_ms() {
	local now=${EPOCHREALTIME/[.,]/}

	echo $((now / 1000))
}

# A third host creates a group, for which the SA sends notice 66.
makes_group() {
	on $third "$work/attacker" sm 3 2 0x38 0 mask:130c7 "56=ff12abcd0000000000000000000000$(printf %02x "$1")" \
		"72=fe80000000000000$third_guid" 88=00000b1b 96=ffff 104=01 >group.txt 2>&1
	matches 'status 0x0000' group.txt || because "$(cat group.txt)"
}

# The honest subscriber gets each report soon. The time of the join shows the present speed of the machine. One report
# in ten may meet a pause of the machine.
reports_come() {
	local i began joined limit took late=0 worst_ms=0 third_guid

	third_guid=$(ctl daemon node list | json "map { \$_->{guid} } grep { \$_->{description} eq '$third' } @\$_")
	third_guid=$(printf '%016x' $((third_guid + 1)))
	for ((i = 1; i <= notices; i++)); do
		began=$(now_ms)
		makes_group "$i" || return 1
		joined=$(now_ms)
		wait_for 30 has_reports "$i" || because "report $i of $notices does not come" || return 1
		took=$(($(now_ms) - joined)) limit=$((delay_ms + 2 * (joined - began)))
		[ $took -le $worst_ms ] || worst_ms=$took
		[ $took -le $limit ] || late=$((late + 1))
		sleep 0.2
	done
	echo "# the longest time from the end of a join to the report of it: $worst_ms ms; late are $late of $notices"
	[ $late -le $((notices / 10)) ] ||
		because "$late of $notices reports came more than $delay_ms ms and two joins' times after the join, the last of them after $worst_ms ms"
}

check "weftd on weftsim" daemon_runs || finish
check "an honest host subscribes" honest_subscribes || finish
check "a thousand subscriptions of a host that answers nothing" attacker_subscribes
attack
check "the honest host has its reports" reports_come
finish
