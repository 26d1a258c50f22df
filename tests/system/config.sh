#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The configuration of a daemon that runs: `config show`, `config check` and `config reload` say the same
# as the options' table and each other, refuse by file and line, and tell what waits for a restart.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

conf=$work/test.conf

# changes check|reload: a row for each option that differs.
changes() {
	ctl one config "$1" | json 'map { "$_->{name} $_->{now} $_->{next} $_->{effect}," } @{$_->{changes}}'
}

# Each option of the example file, which has all, is shown, and no key.
shows_every_option() {
	ctl one config show >show.json || because "config show fails" || return 1
	equal "the list of options" "$(json 'join " ", sort map { $_->{name} } @$_' <show.json)" \
		"$(sed -nE 's/^#? ?([a-z_0-9]+) = .*/\1/p' "$root/etc/weftd.conf" | sort -u | tr '\n' ' ' | sed 's/ $//')" ||
		return 1
	equal "what is said of sm_key" "$(json 'map { $_->{value} } grep { $_->{name} eq "sm_key" } @$_' <show.json)" \
		"(not shown)" || return 1
	equal "what is said of sm_priority" \
		"$(json 'map { "$_->{value} $_->{default} $_->{effect}" } grep { $_->{name} eq "sm_priority" } @$_' <show.json)" \
		"3 0 reload"
}

values_are_a_file() {
	json 'join "\n", map { "$_->{name} = $_->{value};" } grep { $_->{value} !~ /^\(/ } @$_' <show.json >shown.conf
	"$BUILD/weftd" -c "$work/shown.conf" --check-config >/dev/null 2>shown.err ||
		because "what is shown is refused: $(cat shown.err)"
}

checks_without_change() {
	equal "what a reload would change" "$(changes check)" "" || return 1
	echo 'sm_priority = 5; lmc = 1;' >"$conf"
	equal "what a reload would change" "$(changes check)" "sm_priority 3 5 reload, lmc 0 1 restart," || return 1
	equal "what has changed by that" "$(ctl one config show | json 'map { $_->{value} } grep { $_->{name} eq "sm_priority" } @$_')" 3
}

# refused WHAT PATTERN
refused() {
	"$BUILD/weftctl" -s one.run/control.sock config "$1" >refused.txt 2>&1
	equal "the status of config $1" $? 1 || return 1
	matches "$2" refused.txt || because "it says: $(cat refused.txt)"
}

# What waits for a restart is told again, until it comes.
reloads() {
	equal "what has changed" "$(changes reload)" "sm_priority 3 5 reload, lmc 0 1 restart," || return 1
	equal "what waits" "$(changes reload)" "lmc 0 1 restart," || return 1
	matches 'WARNING weftd: lmc waits for the next start' one.log || because "the log does not say what waits"
}

bad_file() {
	printf '\nsm_priorty = 6;\n' >"$conf"
	refused check 'test\.conf:2: sm_priorty: no such option; did you mean sm_priority' || return 1
	refused reload 'what was in force stays: .*test\.conf:2: sm_priorty' || return 1
	equal "the priority in force" "$(ctl one config show | json 'map { $_->{value} } grep { $_->{name} eq "sm_priority" } @$_')" 5
}

echo 'sm_priority = 3;' >"$conf"
check "a fabric" start_fabric single:hosts=2 || finish
check "a manager" start_weftd one host-0001 || finish
check "config show has every option, and no key" shows_every_option
check "what is shown is a configuration" values_are_a_file
check "config check changes nothing" checks_without_change
check "config reload says what changed and what waits" reloads
check "a bad file is refused" bad_file
finish
