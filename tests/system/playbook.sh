#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The playbook of a platform engineer: partitions, members, flags, routing engine and log level by commands that state
# the wanted result. The second run changes nothing: no record of the store, no table of a device, no event but those
# about the commands.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip playbook: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

up() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd sm host-0001 -o 'partition_config_file="none.conf"' -o sweep_interval=0 || return 1
	wait_for 60 is_up sm || because "it does not come up: $(tail -n 1 sm.log)" || return 1
	guid=$(ctl sm node show host-0005 | grep -oE '0x[0-9a-f]{16}' | sort -u | tail -n 1)
	printf 'tenant=0x30, ipoib: %s=full, 0xfeed0001=limited;\nstorage=0x31: 0xfeed0002-0xfeed0009;\n' "$guid" >gateway.conf
}

task() {
	"$BUILD/weftctl" -s "$work/sm.run/control.sock" "$@" >>play.txt 2>&1 ||
		because "weftctl $*: $(tail -n 2 play.txt)"
}

play() {
	: >play.txt
	task partition add 0x20 compute --ipoib --indx0 --mtu 4096 --rate 100 --members 'host-[0001-0004]' &&
		task partition set compute --rate 100 --indx0 &&
		task partition member add compute host-0005 host-0006=limited &&
		task partition create 0x21 old &&
		task partition delete 0x22 &&
		task partition member remove compute host-0007 &&
		task partition apply gateway.conf --owner gateway:gw1 &&
		task route engine updn &&
		task log level sm debug
}

# The store, as it is saved; each record on a line.
records() {
	"$BUILD/weftctl" -s "$work/sm.run/control.sock" save - | grep -oE '\{[^{}]*\}' | grep -E '"kind": ?"(partition|setting)' | sort
}

events_of_records() {
	"$BUILD/weftctl" -s "$work/sm.run/control.sock" --json events | grep -cE '"kind": ?"(partition|setting|link|port|routing)"'
}

first() {
	play || return 1
	equal "the partitions" "$(ctl sm partition list | json 'map { "$_->{name}\n" } @$_' | xargs)" "Default compute old tenant storage" || return 1
	matches 'gateway:gw1' <(ctl sm partition show tenant) || because "the owner of its members is not gateway:gw1"
}

second() {
	local records events sets

	records=$(records)
	events=$(events_of_records)
	sets=$("$BUILD/weftsim" "do" stats | grep -E '^.*Set' | tr -s ' ')
	[ -n "$records" ] && [ -n "$sets" ] && [ "$events" -gt 0 ] ||
		because "there are no records, no counts of Sets, or no events" || return 1
	play || return 1
	equal "records of partitions and settings" "$(records)" "$records" || return 1
	equal "events of changes" "$(events_of_records)" "$events" || return 1
	equal "counts of Sets" "$("$BUILD/weftsim" "do" stats | grep -E '^.*Set' | tr -s ' ')" "$sets" || return 1
	equal "answers of changes" "$(grep -cE 'unchanged' play.txt)" 7
}

if check "weftsim and weftd start" up; then
	check "the first run makes everything" first
	check "the second run changes nothing" second
	check "weftd ends" stop sm
fi
finish
