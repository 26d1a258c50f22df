#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The configuration of a running daemon: `config show`, `config check` and `config reload` agree with the table of
# options and with each other, refuse by file and line, and report the changes that need a restart. --check-config opens
# all files that a start opens, as root and as the service's user.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

conf=$work/test.conf

# changes check|reload: a row for each option that differs.
changes() {
	ctl one config "$1" | json 'map { "$_->{name} $_->{now} $_->{next} $_->{effect}," } @{$_->{changes}}'
}

# Each option of the example file, which has all options, is shown, and no key.
shows_every_option() {
	ctl one config show >show.json || because "config show fails" || return 1
	equal "the list of options" "$(json 'join " ", sort map { $_->{name} } @$_' <show.json)" \
		"$(sed -nE 's/^#? ?([a-z_0-9]+) = .*/\1/p' "$root/etc/weftd.conf" | sort -u | tr '\n' ' ' | sed 's/ $//')" ||
		return 1
	equal "the output about sm_key" "$(json 'map { $_->{value} } grep { $_->{name} eq "sm_key" } @$_' <show.json)" \
		"(not shown)" || return 1
	equal "the output about sm_priority" \
		"$(json 'map { "$_->{value} $_->{default} $_->{effect}" } grep { $_->{name} eq "sm_priority" } @$_' <show.json)" \
		"3 0 reload"
}

values_are_a_file() {
	json 'join "\n", map { "$_->{name} = $_->{value};" } grep { $_->{value} !~ /^\(/ } @$_' <show.json >shown.conf
	"$BUILD/weftd" -c "$work/shown.conf" --check-config >/dev/null 2>shown.err ||
		because "the shown configuration is refused: $(cat shown.err)"
}

checks_without_change() {
	equal "changes of a reload" "$(changes check)" "" || return 1
	echo 'sm_priority = 5; lmc = 1;' >"$conf"
	equal "changes of a reload" "$(changes check)" "sm_priority 3 5 reload, lmc 0 1 restart," || return 1
	equal "changes of that reload" "$(ctl one config show | json 'map { $_->{value} } grep { $_->{name} eq "sm_priority" } @$_')" 3
}

# refused WHAT PATTERN
refused() {
	"$BUILD/weftctl" -s one.run/control.sock config "$1" >refused.txt 2>&1
	equal "the status of config $1" $? 1 || return 1
	matches "$2" refused.txt || because "it says: $(cat refused.txt)"
}

# A change that needs a restart is reported again, until the restart.
reloads() {
	equal "the changes" "$(changes reload)" "sm_priority 3 5 reload, lmc 0 1 restart," || return 1
	equal "changes that wait" "$(changes reload)" "lmc 0 1 restart," || return 1
	matches 'WARNING weftd: lmc takes effect after a restart' one.log || because "the log does not name the waiting changes" || return 1
	echo 'sm_priority = 5;' >"$conf"
	says_of_reload '^configuration read again; no option changed, nor did the partition file$'
}

says_of_reload() {
	"$BUILD/weftctl" -s one.run/control.sock config reload >said.txt && matches "$1" said.txt || because "it says: $(cat said.txt)"
}

# Changes of the partition file are reported separately.
reloads_partitions() {
	printf 'sm_priority = 5;\npartition_config_file = "%s";\n' "$work/parts.conf" >"$conf"
	echo 'Default=0x7fff: ALL=full;' >parts.conf
	says_of_reload '^configuration read again, and in force$' || return 1
	says_of_reload '^configuration read again; no option changed, nor did the partition file$' || return 1
	echo 'blue=0x0005: ALL=limited;' >>parts.conf
	says_of_reload '^configuration read again; no option changed$' && matches '^  the partition file changed: ' said.txt ||
		because "it says: $(cat said.txt)" || return 1
	says_of_reload '^configuration read again; no option changed, nor did the partition file$'
}

bad_file() {
	printf '\nsm_priorty = 6;\n' >"$conf"
	refused check 'test\.conf:2: sm_priorty: no such option; did you mean sm_priority' || return 1
	refused reload 'nothing has changed: .*test\.conf:2: sm_priorty' || return 1
	equal "the priority in force" "$(ctl one config show | json 'map { $_->{value} } grep { $_->{name} eq "sm_priority" } @$_')" 5
}

# checked STATUS PATTERN COMMAND...: status and output of --check-config, or of another command.
checked() {
	local wanted=$1 pattern=$2

	shift 2
	"$@" >checked.txt 2>&1
	equal "the exit status" $? "$wanted" || return 1
	matches "$pattern" checked.txt || because "it says: $(cat checked.txt)"
}

# Each option that names a file: if it is a folder, the refusal names the option or the file.
opens_every_file() {
	local option

	for option in $(sed -nE 's/^# ?([a-z_0-9]+(_file|_map_name)) = .*/\1/p' "$root/etc/weftd.conf"); do
		checked 1 "$option: /tmp: (Is a directory|it is no regular file)" "$BUILD/weftd" -c /dev/null --check-config \
			-o 'ha_listen="127.0.0.1"' -o "ha_psk_file=\"$work/key\"" -o "$option=\"/tmp\"" || because "$option: $reason" || return 1
		echo "$option"
	done >every.txt
	equal "the number of options that name a file" "$(wc -l <every.txt)" 13
}

# as_root OPTION...: --check-config where the user weft exists.
as_root() {
	where_weft_exists "$BUILD/weftd" -c "$work/rights.conf" --check-config "$@"
}

# A file that the service's user may not read is reported with the remedy, and other files are accepted.
tells_rights() {
	chmod 755 "$work" && mkdir -m 700 barred && : >rights.conf && : >barred/names && : >names || return 1
	chmod 640 rights.conf names
	chgrp 4242 rights.conf
	checked 0 '^configuration ok$' as_root || return 1
	! matches weft checked.txt || because "it warns: $(cat checked.txt)" || return 1
	checked 0 "^weftd: warning: as the user weft .*: node_name_map_name: $work/names: permission denied: .* .chgrp weft it and chmod 640" \
		as_root -o "node_name_map_name=\"$work/names\"" || return 1
	checked 0 "warning: .*barred/names: permission denied: user weft cannot enter directory $work/barred " \
		as_root -o "node_name_map_name=\"$work/barred/names\"" || return 1
	checked 0 "warning: .*: partition_config_file: $work/names: permission denied" \
		as_root -o "partition_config_file=\"$work/names\"" || return 1
	chgrp 0 rights.conf
	checked 0 "warning: .*: $work/rights.conf: permission denied" as_root || return 1
	echo 'lmc = 9;' >rights.conf
	checked 1 "^weftd: as the user weft .*: $work/rights.conf: permission denied" as_root || return 1
	matches "^weftd: $work/rights.conf:1: lmc: 9 is outside" checked.txt || because "root's error is not reported" || return 1
	: >rights.conf
	checked 2 '^weftd: -o lmc: 9 is outside' as_root -o lmc=9
}

# A key file belongs to one user: a file of the service's user is right, although root itself would refuse it.
tells_rights_of_keys() {
	: >rights.conf && chgrp 4242 rights.conf || return 1
	checked 0 'warning: .*: ha_psk_file: .*key: it cannot be read: Permission denied: chown it to the user that runs' \
		as_root -o 'ha_listen="127.0.0.1"' -o "ha_psk_file=\"$work/key\"" || return 1
	chown 4242 key
	checked 0 '^configuration ok$' as_root -o 'ha_listen="127.0.0.1"' -o "ha_psk_file=\"$work/key\"" || return 1
	! matches warning checked.txt || because "it warns: $(cat checked.txt)" || return 1
	checked 1 'ha_psk_file: .*key: its owner is another user' "$BUILD/weftd" -c /dev/null --check-config \
		-o 'ha_listen="127.0.0.1"' -o "ha_psk_file=\"$work/key\""
}

# All errors are reported: of options, of files and of names that this machine does not have.
reports_all_errors() {
	printf '%s\n' 'lmc = 9;' 'routing_engine = "ftree";' 'root_guid_file = "/nonexistent";' 'readonly_socket = "nosuchgroup";' \
		"partition_config_file = \"$work/half.conf\";" >many.conf
	printf 'a=1: ALL=half;\nb=2: ALL=full;\nc=0: ALL;\n' >half.conf
	checked 1 '^weftd: .*many.conf:1: lmc: 9 is outside' "$BUILD/weftd" -c "$work/many.conf" --check-config || return 1
	equal "the number of errors" "$(wc -l <checked.txt)" 6 || because "$(cat checked.txt)" || return 1
	matches 'many.conf:2: routing_engine: the option of OpenSM; weft has routing$' checked.txt &&
		matches 'root_guid_file: /nonexistent: No such file' checked.txt && matches 'readonly_socket: no group "nosuchgroup"' checked.txt &&
		matches 'half.conf:1: a membership is' checked.txt && matches 'half.conf:3: a P_Key is' checked.txt ||
		because "it says: $(cat checked.txt)" || return 1
	checked 1 'partition_config_file: /nonexistent: No such file or directory' "$BUILD/weftd" -c /dev/null --check-config \
		-o 'partition_config_file="/nonexistent"'
}

# Adapters are looked up, if this machine has any.
knows_the_adapters() {
	weftd check host-0001 --check-config -p 1
	equal "the status for an adapter that is there" $? 0 || because "$(cat check.log)" || return 1
	weftd check host-0001 --check-config -d mlx5_99
	equal "the status for another" $? 1 || return 1
	matches '^weftd: no InfiniBand adapter mlx5_99; ibstat lists them$' check.log || because "it says: $(cat check.log)" || return 1
	[ -e /sys/class/infiniband ] ||
		checked 0 '^weftd: warning: ca, port and port_guid were not checked' "$BUILD/weftd" -c /dev/null --check-config -d mlx5_99
}

printf '%064d' 7 >key && chmod 600 key
check "--check-config reports all errors" reports_all_errors
check "--check-config opens every file that an option names" opens_every_file
if where_weft_exists true 2>/dev/null; then
	check "--check-config as root: files that the service may not read" tells_rights
	check "--check-config as root: whose a key is" tells_rights_of_keys
else
	echo "skip --check-config as root: no mount namespace here"
fi

echo 'sm_priority = 3;' >"$conf"
check "a fabric" start_fabric single:hosts=2 || finish
check "--check-config knows the adapters" knows_the_adapters
check "a manager" start_weftd one host-0001 || finish
check "config show has every option, and no key" shows_every_option
check "the shown text is a configuration" values_are_a_file
check "config check changes nothing" checks_without_change
check "config reload reports changes and waiting changes" reloads
check "a partition file that has changed, or not" reloads_partitions
check "a bad file is refused" bad_file
finish
