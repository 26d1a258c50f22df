#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A damaged store, and a partition file that is bad or missing, with the real programs on weftsim: none of this may open
# the fabric. STORE_SEEDS=n plays n random damages instead of three, STORE_SEED=n begins with another seed than 10. Of
# three seeds in a row one damages weft.db, one weft-copy.db, one both. With seed 11 both files lose the partitions.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip attack-store: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

declare -A guid
lid= # of host-0007

sim() {
	"$BUILD/weftsim" "do" "$@"
}

corrupt() {
	/usr/bin/python3 "$root/tests/system/corrupt.py" "$@"
}

# keys NODE PORT: the keys of the device, on one line.
keys() {
	sim "pkeys $1 $2" | awk '$1 ~ /^[0-9]+$/ {print $2}' | sort | paste -sd ' '
}

# all_keys: NODE KEY of all hosts, and of their switch ports as "before NODE KEY". Each table begins with index 0.
all_keys() {
	local n commands=()

	for ((n = 1; n <= 32; n++)); do
		commands+=("pkeys host-$(printf %04d "$n") 1" "pkeys leaf-$(printf %02d $(((n + 3) / 4))) $(((n + 3) % 4 + 1))")
	done
	sim "${commands[@]}" | awk '
		$1 == 0 { table++ }
		{ printf "%shost-%04d %s\n", table % 2 ? "" : "before ", int((table + 1) / 2), $2 }
		END { if (table != 64) print table " tables" }' | sort
}

holds() {
	[ "$(keys "$1" "$2")" = "$3" ]
}

keys_stay() {
	all_keys >now.keys
	cmp -s before.keys now.keys || because "P_Keys changed: $(diff before.keys now.keys | grep '^[<>]' | head -n 4 | paste -sd ' ')"
}

starts() {
	[ -z "${pids[$1]:-}" ] || kill_now "$1" # what a check that failed has left
	start_weftd "$@" && wait_for 30 is_up "$1" ||
		because "weftd is $(status "$1" '$_->{role}, $_->{state}'); $(tail -n 1 "$1.log")"
}

ctl_text() {
	"$BUILD/weftctl" -s main.run/control.sock "$@"
}

starts_again() {
	starts main host-0001 -o 'partition_config_file="none.conf"'
}

frozen() {
	status main '$_->{partitions}{frozen} ? 1 : 0'
}

metric() {
	ctl_text perf metrics | awk -v name="$1" '$1 == name { print $2 }'
}

# Two tenants that exist only at run time, and a host that is off.
prepare() {
	local name value n

	sim 'node down host-0009' >/dev/null
	starts_again || return 1
	ctl main topology export --format json >nodes.json
	while read -r name value; do
		guid[$name]=$value
	done < <(json 'map { my $n = $_; map { "$n->{description} $_->{guid}\n" } @{$n->{end_ports} // []} } @{$_->{nodes}}' <nodes.json | sed "s/^ *//" | awk NF)
	lid=$(ctl main node list | json '(grep { $_->{description} eq "host-0007" } @$_)[0]{lid}')
	ctl main partition add 0x7fff Default --ipoib --force >/dev/null && ctl main partition add 0x1 red --ipoib >/dev/null &&
		ctl main partition add 0x2 blue >/dev/null || because "partition add fails" || return 1
	for n in 2 3 4; do
		ctl main partition member add 1 "${guid[host-000$n]}" >/dev/null || because "member add fails" || return 1
	done
	for n in 5 6 7; do
		ctl main partition member add 2 "${guid[host-000$n]}" --limited >/dev/null || because "member add fails" || return 1
	done
	wait_for 20 holds host-0002 1 "0x7fff 0x8001" && wait_for 20 holds host-0005 1 "0x0002 0x7fff" ||
		because "host-0002 holds $(keys host-0002 1)" || return 1
	all_keys >before.keys
	stop main || return 1
	cp -r main.state good.state
}

restore_state() {
	rm -rf main.state && cp -r "${1:-good.state}" main.state
}

# One bit of a host's LID record: that record is lost, and no other.
lid_record() {
	corrupt flip main.state/weft.db 9 "${guid[host-0007]#0x}$(printf %04x "$lid")" || because "the record is not found" || return 1
	starts_again || return 1
	keys_stay || return 1
	equal "whether partitions are frozen" "$(frozen)" 0 || return 1
	equal "partitions made at run time" "$(status main '$_->{partitions}{at_run_time}, $_->{partitions}{run_time_members}')" "3 6" || return 1
	matches "damaged record dropped: lid, GUID 0x0*$(printf %x "${guid[host-0007]}")\$" main.log ||
		because "the record is not named: $(grep damaged main.log | head -n 1)" || return 1
	equal "how many records are left out" "$(grep -c 'record dropped' main.log)" 1 || return 1
	matches 'weft.db is damaged .* kept as .*damaged-1, and rewritten' main.log || because "the log does not say so" || return 1
	told_event main store 'damaged record dropped: lid, GUID' || return 1
	[ -s main.state/weft.db.damaged-1 ] || because "the damaged file is not kept" || return 1
	stop main && starts_again || return 1
	! matches damaged main.log || because "it is damaged again: $(grep damaged main.log)" || return 1
	stop main
}

# Each page of either file, one after the other: a sample of the unit test's cases.
one_page() {
	local file page pages

	for file in weft.db weft-copy.db; do
		pages=$(($(stat -c %s good.state/$file) / 4096))
		for page in 0 1 $((pages - 1)); do
			restore_state
			dd if=/dev/zero of=main.state/$file bs=4096 seek=$page count=1 conv=notrunc status=none
			starts_again || return 1
			keys_stay && equal "whether partitions are frozen after page $page of $file" "$(frozen)" 0 || return 1
			stop main || return 1
		done
	done
}

# A member's record in both files: other missing records cannot be excluded.
lose_member() {
	restore_state
	corrupt flip main.state/weft.db 8 "0001${guid[host-0003]#0x}" && corrupt flip main.state/weft-copy.db 8 "0001${guid[host-0003]#0x}" ||
		because "the record is not found"
}

frozen_keeps_keys() {
	lose_member && starts_again || return 1
	keys_stay || return 1
	equal "whether partitions are frozen" "$(frozen)" 1 || return 1
	sim 'node reboot host-0002' >/dev/null # it comes back as it was
	wait_for 20 holds host-0002 1 "0x7fff 0x8001" || because "host-0002 holds $(keys host-0002 1) after a reboot" || return 1
	keys_stay
}

frozen_is_told() {
	ctl_text status >status.txt
	matches 'Problem +partitions are incomplete \(lost since .*weftctl' <(tr '\n' ' ' <status.txt) ||
		because "status begins with: $(head -n 1 status.txt)" || return 1
	matches 'weftctl +partition accept' <(tr '\n' ' ' <status.txt) || because "status does not name the remedy" || return 1
	matches '^Anomalies +.*1 loss of partitions' status.txt || because "$(grep Anomalies status.txt)" || return 1
	equal "the metric" "$(metric weft_partitions_frozen)" 1 || return 1
	told_event main partition 'partitions are incomplete .lost since' || return 1
	matches 'damaged record dropped: partition member, P_Key 0x1, GUID' main.log || because "the record is not named"
}

new_port_gets_nothing() {
	sim 'node up host-0009' >/dev/null
	wait_for 20 holds host-0009 1 0x7fff || because "host-0009 holds $(keys host-0009 1)" || return 1
	wait_for 20 holds leaf-03 1 0x7fff || because "its switch's port holds $(keys leaf-03 1)" || return 1
	ctl main port show host-0009 1 | grep -q ACTIVE || because "it does not come up"
}

# A change is stored and reaches no port.
commands_wait() {
	ctl main partition member add 2 "${guid[host-0008]}" >add.json && because "a change that takes no effect succeeds" && return 1
	matches 'partitions are incomplete' add.json || because "the answer does not say why: $(cat add.json)" || return 1
	sleep 0.5
	holds host-0008 1 0x7fff || because "host-0008 holds $(keys host-0008 1)" || return 1
	ctl main partition member remove 2 "${guid[host-0008]}" >/dev/null
	keys_stay_but_new
}

# As keys_stay(), with a new host-0009.
keys_stay_but_new() {
	all_keys | grep -v host-0009 >now.keys
	grep -v host-0009 before.keys | cmp -s - now.keys || because "P_Keys changed: $(grep -v host-0009 before.keys | diff - now.keys | head -n 4)"
}

restart_stays_frozen() {
	stop main && starts_again || return 1
	equal "whether partitions are frozen" "$(frozen)" 1 || return 1
	matches 'partitions are incomplete' main.log || because "the log does not say so again" || return 1
	kill_now main && starts_again || return 1
	equal "whether partitions are frozen after SIGKILL" "$(frozen)" 1 || return 1
	keys_stay_but_new
}

accepted() {
	ctl_text partition accept >accept.txt || because "accept fails: $(cat accept.txt)" || return 1
	matches '^accepted: 3 partitions made at run time, with 5 members; ' accept.txt || because "$(cat accept.txt)" || return 1
	wait_for 20 holds host-0003 1 0x7fff || because "host-0003 holds $(keys host-0003 1)" || return 1
	holds host-0002 1 "0x7fff 0x8001" || because "host-0002 holds $(keys host-0002 1)" || return 1
	equal "whether partitions are frozen" "$(frozen)" 0 || return 1
	equal "problems" "$(status main 'scalar @{$_->{problems}}')" 0 || return 1
	equal "the metric" "$(metric weft_partitions_frozen)" 0 || return 1
	stop main && starts_again || return 1
	equal "whether partitions are frozen after a restart" "$(frozen)" 0 || return 1
	stop main
}

# A restored document also ends the frozen state.
restored() {
	restore_state
	starts_again && ctl main save saved.json >/dev/null && stop main && lose_member && starts_again || return 1
	equal "whether partitions are frozen" "$(frozen)" 1 || return 1
	ctl main restore saved.json >/dev/null || because "restore fails" || return 1
	wait_for 20 holds host-0003 1 "0x7fff 0x8001" || because "host-0003 holds $(keys host-0003 1)" || return 1
	equal "whether partitions are frozen" "$(frozen)" 0 || return 1
	stop main
}

# The state directory cannot be read at all: the same, until it is readable.
unreadable() {
	restore_state
	mv main.state/weft.db main.state/away && mkdir main.state/weft.db && rm main.state/weft-copy.db && starts_again || return 1
	keys_stay_but_new && equal "whether partitions are frozen" "$(frozen)" 1 || return 1
	matches 'partitions are incomplete .unread since' main.log || because "the log does not say so" || return 1
	rmdir main.state/weft.db && mv main.state/away main.state/weft.db
	wait_for 20 is_thawed || because "partitions stay frozen" || return 1
	equal "partitions made at run time" "$(status main '$_->{partitions}{at_run_time}, $_->{partitions}{run_time_members}')" "3 6" || return 1
	keys_stay_but_new && stop main
}

is_thawed() {
	[ "$(frozen)" = 0 ]
}

# Records about the fabric, which do not change in a steady state.
saved_records() {
	ctl_text save - | json 'map { my $r = $_; join("|", map { "$_=$r->{$_}" } sort keys %$r) . "\n" } grep { $_->{kind} =~ /^(lid|partition|partition member)$/ } @{$_->{records}}' |
		sed 's/^ *//; s/|Gone=[0-9]*//' | awk NF | sort
}

# randomly_damaged SEED FILE...: a restart with these files damaged. One file replaces losses of the other, except LIDs
# and other records that only weft.db has. If both lose partitions or members, these are frozen.
randomly_damaged() {
	local seed=$1 files=("${@:2}") lost partitions

	restore_state random.state
	corrupt random "$seed" "${files[@]/#/main.state/}" >corrupt.txt
	starts_again && keys_stay && saved_records >now.records || return 1
	[ -z "$(comm -13 before.records now.records)" ] ||
		because "a wrong record: $(comm -13 before.records now.records | head -n 1)" || return 1
	lost=$(comm -23 before.records now.records) partitions=$(grep -c 'kind=partition' <<<"$lost")
	was_frozen=$(frozen)
	case "${files[*]}" in
	weft-copy.db) equal "what is lost" "$lost" "" && equal "whether partitions are frozen" "$was_frozen" 0 ;;
	weft.db) equal "the number of partitions and members lost" "$partitions" 0 && equal "whether partitions are frozen" "$was_frozen" 0 ;;
	*) [ "$partitions" -eq 0 ] || equal "whether partitions are frozen where $partitions records of them are lost" "$was_frozen" 1 ;;
	esac || return 1
	stop main
}

random_damage() {
	local damages=("weft.db" "weft-copy.db" "weft.db weft-copy.db") played=(0 0 0) seed last kind was_frozen frozen_seeds=()

	sim 'node down host-0009' >/dev/null
	restore_state && starts_again || return 1
	saved_records >before.records
	equal "the number of partitions and members" "$(grep -c 'kind=partition' before.records)" 9 || return 1
	all_keys >before.keys
	stop main && rm -rf random.state && cp -r main.state random.state
	for ((seed = ${STORE_SEED:-10}, last = seed + ${STORE_SEEDS:-3}; seed < last; seed++)); do
		kind=$((seed % 3))
		# shellcheck disable=SC2086 # words are meant
		randomly_damaged $seed ${damages[kind]} || because "seed $seed, $(paste -sd ' ' corrupt.txt): $reason" || return 1
		played[kind]=$((played[kind] + 1))
		[ "$was_frozen" -eq 0 ] || frozen_seeds+=("$seed")
	done
	echo "# damages of weft.db: ${played[0]}, of weft-copy.db: ${played[1]}, of both: ${played[2]}; seeds that froze partitions: ${frozen_seeds[*]:-none}"
}

# Partition files

with_file() {
	starts main host-0001 -o "partition_config_file=\"$PWD/part.conf\""
}

file_bad() {
	status main '$_->{partitions}{file_bad} ? 1 : 0'
}

last_good_file_stays() {
	rm -rf main.state
	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6: %s=full, %s;\n' "${guid[host-0002]}" "${guid[host-0003]}" >part.conf
	with_file && wait_for 20 holds host-0002 1 "0x7fff 0x8006" || because "host-0002 holds $(keys host-0002 1)" || return 1
	all_keys >before.keys
	kill_now main
	printf 'red=0x6: nobody;\n' >part.conf
	with_file && keys_stay || return 1
	ctl_text status >status.txt
	matches "Problem +$PWD/part.conf:1: .*; the last good file, of [0-9-]+ [0-9:]+, is in force" <(tr -s '\n ' ' ' <status.txt) ||
		because "status begins with: $(head -n 3 status.txt)" || return 1
	matches '1 bad or missing partition file' status.txt || because "$(grep Anomalies status.txt)" || return 1
	equal "the metric" "$(metric weft_partition_file_bad)" 1 || return 1
	told_event main partition 'part.conf:1: .*the last good file, of' || return 1
	! matches 'no longer in force' main.log || because "the log says that the file is no longer in force" || return 1
	sim 'node reboot host-0003' >/dev/null
	wait_for 20 holds host-0003 1 "0x0006 0x7fff" || because "host-0003 holds $(keys host-0003 1) after a reboot" || return 1
	! ctl main config reload >/dev/null 2>reload.err && matches 'part.conf:1: ' reload.err || because "reload says $(cat reload.err)" || return 1
	stop main
}

missing_file_stays() {
	rm part.conf
	with_file && keys_stay || return 1
	equal "whether the file is bad" "$(file_bad)" 1 || return 1
	! matches 'no longer in force' main.log || because "the log says that the file is no longer in force" || return 1
	matches 'part.conf: the partition file that was in force is missing; the last good file, of' main.log ||
		because "the log does not say so" || return 1
	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6: %s=full;\n' "${guid[host-0002]}" >part.conf
	ctl main config reload >/dev/null || because "a good file is refused" || return 1
	wait_for 20 holds host-0003 1 0x7fff || because "host-0003 holds $(keys host-0003 1)" || return 1
	equal "whether the file is bad" "$(file_bad)" 0 || return 1
	equal "problems" "$(status main 'scalar @{$_->{problems}}')" 0 || return 1
	stop main
}

no_last_good_file() {
	local status

	rm -rf main.state
	echo 'red=0x6 ALL' >part.conf
	all_keys >before.keys
	weftd main host-0001 --once -o "partition_config_file=\"$PWD/part.conf\""
	status=$?
	equal "its status" $status 1 || return 1
	matches 'part.conf:[12]: .*the partition file is bad, and .*main.state has no last good file: correct the file' main.log ||
		because "it says $(tail -n 1 main.log)" || return 1
	keys_stay
}

degraded_is_told() {
	local child

	rm part.conf
	starts_again || return 1
	child=$(pgrep -P "${pids[main]}" -x weftd || echo "${pids[main]}")
	prlimit --pid "$child" --fsize=0:unlimited || because "prlimit failed" || return 1
	ctl main partition add 0x7 late >/dev/null
	wait_for 30 is_degraded || because "the store is $(status main '$_->{store}{state}')" || return 1
	ctl_text status >status.txt
	matches 'Problem +store .*weft.db degraded: ' <(tr -s '\n ' ' ' <status.txt) || because "$(head -n 1 status.txt)" || return 1
	matches '^Anomalies +.*1 degraded store' status.txt || because "$(grep Anomalies status.txt)" || return 1
	equal "the metric" "$(metric weft_store_degraded)" 1 || return 1
	prlimit --pid "$child" --fsize=unlimited:unlimited
	wait_for 30 has_status main '$_->{anomalies}{store_degraded}' 0 || because "it stays degraded" || return 1
	stop main
}

is_degraded() {
	has_status main '$_->{anomalies}{store_degraded}' 1
}

if start_weftsim fattree:radix=8,levels=2; then
	check "partitions are made at run time" prepare
	check "a damaged LID record is all that is lost" lid_record
	check "one damaged page loses no partition" one_page
	check "partitions that are lost change no P_Key" frozen_keeps_keys
	check "that is reported" frozen_is_told
	check "a new port gets nothing" new_port_gets_nothing
	check "commands take no effect then" commands_wait
	check "a restart does not end it" restart_stays_frozen
	check "an administrator does" accepted
	check "or restores a document" restored
	check "a store that cannot be read changes no P_Key" unreadable
	check "random damage gives no port a P_Key, and no wrong record" random_damage
	check "a bad file at the start: the last good one stays" last_good_file_stays
	check "a missing file: the same" missing_file_stays
	check "no last good file: weftd does not start" no_last_good_file
	check "a degraded store is reported" degraded_is_told
else
	check "weftsim starts" false
fi
finish
