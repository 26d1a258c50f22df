#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The service without a running systemd: systemd-analyze reads the unit files, a socket of the test receives the
# notifications of weftd, and weftd runs without capabilities. Nothing here boots or starts a unit: a systemd that
# boots, in any namespace, empties /tmp.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

units=(weftd.service weftd@.service weft-metrics.service weft-metrics.timer)

# The units as installed, but with the built programs.
copy_units() {
	local unit

	mkdir -p units
	for unit in "${units[@]}"; do
		sed "s,/usr/s\?bin/weft,$BUILD/weft," "$root/systemd/$unit" >"units/$unit"
	done
}

verify_is_silent() {
	local unit

	for unit in "${units[@]}"; do
		systemd-analyze verify --man=no "units/$unit" >verify.txt 2>&1
		equal "the status of verify for $unit" $? 0 || return 1
		equal "the output of verify about $unit" "$(cat verify.txt)" "" || return 1
	done
}

# verify_finds SCRIPT: it refuses a unit with an error.
verify_finds() {
	sed "$1" units/weftd.service >units/broken.service
	systemd-analyze verify --man=no units/broken.service >verify.txt 2>&1
	test -s verify.txt || because "a unit with a mistake passes as well"
}

# This list has the openings of a unit's sandbox, each with its reason. A new opening that systemd rates fails the test.
leaves_open() { # UNIT NAME...
	local unit=$1

	shift
	systemd-analyze security --no-pager --offline=true "units/$unit" >security.txt 2>&1 ||
		because "$unit: $(tail -n 1 security.txt)" || return 1
	matches '^→ Overall exposure' security.txt || because "no figure for $unit" || return 1
	equal "the openings of $unit" "$(sed -n 's/^✗ \([^ ]*\) .*/\1/p' security.txt | sort | xargs)" "$(printf '%s\n' "$@" | sort | xargs)"
}

# The InfiniBand devices; the host's root directory, which has them and the configuration; and sockets: of weftctl, of
# standbys. IPAddressDeny= closes the network until an administrator opens it. The users of the control sockets are
# those of the host, so there is no namespace for them.
manager_is_closed() {
	local unit

	for unit in weftd.service weftd@.service; do
		leaves_open "$unit" 'RootDirectory=/RootImage=' 'PrivateDevices=' 'DeviceAllow=' 'PrivateNetwork=' \
			'PrivateUsers=' 'RestrictAddressFamilies=~AF_UNIX' 'RestrictAddressFamilies=~AF_(INET|INET6)' || return 1
	done
	matches ' char-rtc:r char-infiniband_mad:rw ' security.txt || because "$(grep DeviceAllow security.txt)"
}

# The group of the read-only socket, and a file that node_exporter reads.
figures_are_closed() {
	leaves_open weft-metrics.service 'RootDirectory=/RootImage=' 'SupplementaryGroups=' 'PrivateUsers=' 'PrivateMounts=' \
		'RestrictAddressFamilies=~AF_UNIX' 'DeviceAllow=' 'UMask='
}

# No core file with keys in it, and not all of the host's memory.
units_have_limits() {
	local unit

	for unit in weftd.service weftd@.service weft-metrics.service; do
		matches '^LimitCORE=0$' "units/$unit" || because "$unit leaves core files" || return 1
		matches '^MemoryMax=[0-9]+[MG]$' "units/$unit" || because "$unit may take all memory" || return 1
		matches '^TasksMax=[0-9]+$' "units/$unit" || because "$unit may start any number of threads" || return 1
	done
}

# The group of weft-metrics.service exists, and may use the socket by default.
figures_are_allowed() {
	local group

	group=$(sed -n 's/^SupplementaryGroups=//p' units/weft-metrics.service)
	matches "^g $group " "$root/systemd/weft.sysusers.conf" || because "sysusers makes no group $group" || return 1
	matches "^#readonly_socket = \"$group\";" "$root/etc/weftd.conf" || because "the socket is not for group $group"
}

# The fabric is up before file systems are mounted over it, and is managed until they are unmounted.
comes_before_mounts() {
	matches '^Before=network.target remote-fs-pre.target$' units/weftd.service || because "nothing waits for it" || return 1
	matches '^Wants=modprobe@ib_umad.service$' units/weftd.service || because "nothing loads ib_umad" || return 1
	matches '^After=modprobe@ib_umad.service ' units/weftd.service || because "it does not wait for ib_umad"
}

# Settings of both, except those that make an instance of a unit.
instance_has_the_same() {
	local own='^(#|Description=|Conflicts=|After=opensm|ExecStart=|ExecReload=|StateDirectory=|RuntimeDirectory=)'

	diff <(grep -vE "$own" units/weftd.service) <(grep -vE "$own" units/weftd@.service) >differ.txt ||
		because "$(head -n 3 differ.txt | tr '\n' ' ')"
}

# Each of the two, and OpenSM, stops the other.
one_manager_a_port() {
	matches '^Conflicts=.*opensm\.service' units/weftd.service || because "weftd runs beside opensm" || return 1
	matches '^Conflicts=.*opensmd\.service' units/weftd.service && matches '^Conflicts=.*opensmd\.service' units/weftd@.service ||
		because "a manager runs beside opensmd" || return 1
	matches '^Conflicts=opensm\.service weftd\.service' units/weftd@.service || because "weftd@ runs beside weftd"
}

devices_are_the_users() {
	local user

	user=$(sed -n 's/^User=//p' units/weftd.service)
	equal "the user of 60-weft.rules" "$(sed -n 's/.*OWNER="\(.*\)"/\1/p' "$root/systemd/60-weft.rules")" "$user" ||
		return 1
	matches "^u $user " "$root/systemd/weft.sysusers.conf" || because "sysusers makes no user $user" || return 1
	matches 'umad\*\|issm\*' "$root/systemd/60-weft.rules" || because "the rule has not both kinds of devices"
}

message_ids() {
	grep -oE '"[0-9a-f]{32}"' "$root/include/message_id.h" | tr -d '"'
}

# The database has a root of its own. Each id has its text, and no text is about another id.
catalog_is_whole() {
	local id

	mkdir -p catalog/usr/lib/systemd/catalog catalog/var/lib/systemd/catalog
	cp "$root/systemd/weft.catalog" catalog/usr/lib/systemd/catalog/
	journalctl --root="$work/catalog" --update-catalog >update.txt 2>&1 ||
		because "journalctl --update-catalog: $(cat update.txt)" || return 1
	equal "the output of --update-catalog" "$(cat update.txt)" "" || return 1
	journalctl --root="$work/catalog" --list-catalog >list.txt 2>&1
	equal "the number of entries" "$(grep -cE '^[0-9a-f]{32} weft: ' list.txt)" "$(message_ids | wc -l)" || return 1
	for id in $(message_ids); do
		matches "^$id weft: " list.txt || because "no entry for $id" || return 1
	done
}

# Words between @ are fields of the log; the pages and commands of weftctl exist.
catalog_names_exist() {
	local name

	for name in $(grep -oE '@[A-Z_]+@' "$root/systemd/weft.catalog" | tr -d @ | sort -u); do
		matches "\"$name\"" "$root/lib/log.c" || because "no line of the log has a field $name" || return 1
	done
	for name in $(sed -nE 's/^Documentation: man:(.*)\((.)\)$/\1.\2/p' "$root/systemd/weft.catalog" | sort -u); do
		test -e "$root/man/$name" || because "no page $name" || return 1
	done
	for name in $(grep -oE 'weftctl [a-z]+( [a-z]+)?' "$root/systemd/weft.catalog" | cut -d ' ' -f 2 | sort -u); do
		"$BUILD/weftctl" --help | grep -qE "^  $name( |\$)" || because "weftctl has no command $name" || return 1
	done
}

# hear FILE: becomes a socket like systemd's; one message a line, with newlines as " | ".
hear() {
	# shellcheck disable=SC2016 # Perl's
	exec perl -MIO::Socket::UNIX -MSocket -e '
		my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
		$| = 1;
		while (defined($s->recv(my $text, 4096))) { $text =~ s/\n+/ | /g; print "$text\n" }' "$work/notify" >"$1"
}

# tell TEXT: sends it to that socket, on which datagrams keep their order: earlier messages arrive before it.
tell() {
	perl -MIO::Socket::UNIX -MSocket -e '
		IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => $ARGV[0])->send($ARGV[1]) or die' "$work/notify" "$1"
}

# A signal takes effect some time after kill, and each thread stops separately.
is_stopped() { # NAME
	! grep -h '^State:' "/proc/${pids[$1]}"/task/*/status | grep -qv 'T (stopped)'
}

tells_systemd() {
	local fed

	hear told.txt &
	pids[hear]=$!
	wait_for 20 test -S notify || because "no socket to hear on" || return 1
	NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=1000000 start_weftd told host-0001 || return 1
	wait_for 20 matches '^READY=1 . STATUS=subnet up' told.txt || because "it is never ready" || return 1
	wait_for 20 matches '^WATCHDOG=1' told.txt || because "the watchdog is not fed" || return 1
	# The loop feeds the watchdog: a stopped process does not.
	kill -STOP "${pids[told]}"
	wait_for 20 is_stopped told || because "it does not stop" || return 1
	tell MARK=stopped && sleep 1.5 && tell MARK=continued || because "no socket receives" || return 1
	kill -CONT "${pids[told]}"
	wait_for 20 matches '^MARK=continued' told.txt || because "the marks do not arrive" || return 1
	fed=$(sed -n '/^MARK=stopped/,/^MARK=continued/p' told.txt | grep -c '^WATCHDOG=1')
	equal "how often a stopped one feeds the watchdog" "$fed" 0 || return 1
	stop told || because "it did not end with status 0" || return 1
	wait_for 20 matches '^STOPPING=1' told.txt || because "it does not say that it ends" || return 1
	kill_now hear
}

# The line of `systemctl status` while systemd waits for the next attempt.
failure_is_told() {
	rm -f notify
	hear failure.txt &
	pids[hear]=$!
	wait_for 20 test -S notify || because "no socket to hear on" || return 1
	! NOTIFY_SOCKET=$work/notify weftd failing host-0001 -o 'ha_listen="127.0.0.1"' -o "ha_psk_file=\"$work/none\"" ||
		because "it starts" || return 1
	wait_for 20 matches "^STATUS=ha_psk_file: $work/none: it cannot be read" failure.txt ||
		because "of a missing key it tells: $(cat failure.txt)" || return 1
	! NOTIFY_SOCKET=$work/notify weftd failing host-0001 -o 'no_such = 1' || because "it starts" || return 1
	wait_for 20 matches '^STATUS=.*no_such' failure.txt || because "of a wrong option it tells: $(cat failure.txt)" || return 1
	! matches 'READY' failure.txt || because "it was ready" || return 1
	kill_now hear
}

# port_by_name ARGUMENT: CA:PORT as in the name of an instance.
port_by_name() {
	weftd named host-0001 --once -v -d "$1" || because "$(tail -n 1 named.log)" || return 1
	matches "started on ${1%:*} port ${1#*:}," named.log || because "it began elsewhere: $(grep started named.log)"
}

port_is_refused() {
	weftd refused host-0001 --check-config -d mlx5_0:x
	equal "the status" $? 2 || return 1
	matches 'port: "x" is not in 0' refused.log || because "it says: $(cat refused.log)"
}

# The bounding set has nothing to gain, and no program has capabilities.
without_capabilities() {
	runner=(setpriv --bounding-set -all --inh-caps -all --no-new-privs)
	weftd bare host-0001 --once || because "$(tail -n 1 bare.log)" || return 1
	runner=()
}

# A user who may not connect gets the name of the group that may.
stranger_is_told() {
	local socket=$work/guarded/control.sock group

	group=$(id -gn)
	mkdir guarded && chmod 711 "$work" guarded || return 1
	# shellcheck disable=SC2016 # Perl's
	perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die' "$socket" || return 1
	chmod 660 "$socket"
	cp "$BUILD/weftctl" guarded/ && chmod 755 guarded/weftctl
	setpriv --reuid 65534 --regid 65534 --clear-groups guarded/weftctl -s "$socket" status >stranger.txt 2>&1
	equal "the status" $? 1 || return 1
	matches "no rights on $socket: root and group $group may" stranger.txt || because "it says: $(cat stranger.txt)"
}

check "port CA:x is refused" port_is_refused
if command -v systemd-analyze >/dev/null; then
	copy_units
	check "systemd-analyze verify is silent" verify_is_silent
	check "systemd-analyze verify finds a mistake" verify_finds 's/^WatchdogSec=/WatchdogSecond=/'
	check "the managers' sandbox" manager_is_closed
	check "the sandbox of the figures" figures_are_closed
	check "limits of the units" units_have_limits
	check "the figures' group" figures_are_allowed
	check "weftd starts before mounts" comes_before_mounts
	check "weftd@ is as weftd" instance_has_the_same
	check "one manager a port" one_manager_a_port
	check "devices are the user's" devices_are_the_users
else
	echo "skip units: no systemd-analyze here"
fi

if command -v journalctl >/dev/null; then
	check "a text in the catalog for each MESSAGE_ID" catalog_is_whole
else
	echo "skip catalog: no journalctl here"
fi
check "the names in the catalog exist" catalog_names_exist

if [ -n "${SANITIZE:-}" ]; then
	echo "skip service: weftsim's library does not go with sanitizers"
	finish
fi
check "a fabric" start_weftsim single:hosts=2 || finish
check "READY, STATUS, WATCHDOG, STOPPING" tells_systemd
check "the reason of a failed start is reported" failure_is_told
check "-d CA:PORT" port_by_name "$("$BUILD/weftsim" run -n host-0001 -- ibstat -l | head -n 1):1"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	check "no capability is needed" without_capabilities
	check "a stranger gets the name of the group" stranger_is_told
else
	echo "skip no capability is needed: only root can give them away"
fi
finish
