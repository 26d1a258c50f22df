#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# `weftctl health` in the situations that an administrator meets: for each the exit status, the line of the check and its
# remedy, the first line of `weftctl status` and the metric. All other checks stay healthy. With HEALTH_OUT, the screens
# are written to this file.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip health: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

"${CC:-cc}" -O2 -o attacker "$root/tests/system/attacker.c" -libumad || exit 1

sim() {
	"$BUILD/weftsim" "do" "$@" >do.txt 2>&1 || because "weftsim do $*: $(tail -n 1 do.txt)"
}

# bring_up SPEC [OPTION]...: a new fabric with the daemon "one" on host-0001, without the state of the last one.
bring_up() {
	local topology=$1

	shift
	[ -z "${pids[one]:-}" ] || stop one
	[ -z "$fabric" ] || stop_fabric
	rm -rf one.state
	start_weftsim "$topology" && start_weftd one host-0001 -o readback_interval=0 "$@" || return 1
	wait_for 30 is_up one || because "no subnet: $(status one '$_->{role}, $_->{state}'); $(tail -n 1 one.log)"
}

# health DAEMON: the screen in health.txt, and its exit status in $level.
health() {
	"$BUILD/weftctl" -s "$work/$1.run/control.sock" health >health.txt 2>health.err
	level=$?
}

# shows DAEMON STATUS PATTERN
shows() {
	health "$1"
	[ "$level" = "$2" ] && matches "$3" health.txt
}

shows_only() { # DAEMON STATUS WORD CHECK PATTERN
	shows "$1" "$2" "^$3 +$4 +$5" &&
		[ "$(awk '$1 == "degraded" || $1 == "broken" { print $2 }' health.txt | xargs)" = "$4" ]
}

# only DAEMON STATUS CHECK PATTERN: within some seconds health has this exit status, one bad check with this text and a
# remedy, and status and metrics agree.
only() {
	local name=$1 wanted=$2 check=$3 word=degraded number=1

	[ "$wanted" = 4 ] || { word=broken; number=2; }
	wait_for 30 shows_only "$name" "$wanted" "$word" "$check" "$4" ||
		because "exit status $level: $(cat health.txt health.err)" || return 1
	keep "$check"
	sed -n 1p health.txt | matches "^$word +$check" - || because "the worst is not first: $(cat health.txt)" || return 1
	sed -n 2p health.txt | matches '^ +remedy: .' - || because "no remedy: $(cat health.txt)" || return 1
	"$BUILD/weftctl" -s "$work/$name.run/control.sock" status >status.txt
	sed -n 1p status.txt | matches "^Health +$word: $check: " - || because "status begins with $(sed -n 1p status.txt)" || return 1
	"$BUILD/weftctl" -s "$work/$name.run/control.sock" perf metrics >metrics.txt
	matches "^weft_health\{check=\"$check\"\} $number$" metrics.txt || because "metrics: $(grep weft_health metrics.txt)" || return 1
	ctl "$name" health >/dev/null
	equal "the exit status with --json" "$?" "$wanted"
}

# healthy DAEMON PATTERN: exit status 0, and this line.
healthy() {
	wait_for 30 shows "$1" 0 "$2" || because "exit status $level: $(cat health.txt health.err)" || return 1
	equal "the lines that are not healthy" "$(grep -vc '^healthy ' health.txt)" 0
}

keep() {
	[ -z "${HEALTH_OUT:-}" ] || { echo "--- $1, exit status $level"; cat health.txt; } >>"$HEALTH_OUT"
}

healthy_subnet() {
	bring_up fattree:radix=4,levels=2 || return 1
	healthy one '^healthy +subnet +MASTER; 6 switches, 8 adapters, 16 links$' || return 1
	keep healthy
	[ "$(wc -l <health.txt)" -le 24 ] || because "it needs $(wc -l <health.txt) lines" || return 1
	"$BUILD/weftctl" -s "$work/one.run/control.sock" status >status.txt
	equal "the first line of status" "$(sed -n 1p status.txt)" "Health      healthy"
}

# After the removal was accepted, or the cable is back, the subnet is healthy.
link_down() {
	sim 'link down leaf-01 3' || return 1
	only one 4 links '1 link down: "leaf-01" port 3 - "spine-01" port 1$' || return 1
	sim 'link up leaf-01 3' && healthy one '^healthy +links +all up$' || return 1
	sim 'link down leaf-02 3' && only one 4 links '1 link down: "leaf-02" port 3' || return 1
	ctl one health accept >accepted.json && equal "the forgotten links" "$(json '$_->{forgotten}' <accepted.json)" 1 || return 1
	healthy one '^healthy +links +all up$'
}

# After weftd was killed, health still lists a lost link. It also lists a host that left while no weftd ran.
lost_over_restart() {
	bring_up fattree:radix=4,levels=2 && sim 'link down leaf-02 3' || return 1
	wait_for 30 shows one 4 '1 link down: "leaf-02" port 3' || because "exit status $level: $(cat health.txt)" || return 1
	ctl one status >/dev/null && kill_now one && sim 'node down host-0005' || return 1
	start_weftd one host-0001 -o readback_interval=0 && wait_for 30 is_up one || because "no subnet: $(tail -n 1 one.log)" || return 1
	only one 4 links '2 links down: "leaf-0[23]" port' || return 1
	equal "the lost links" "$(status one 'sort map { "$_->{from}{description} $_->{from}{port} $_->{to}{description}" } @{$_->{lost_links}{links}}')" \
		"leaf-02 3 spine-01 leaf-03 1 port GUID $(status one 'map { $_->{to}{guid} } grep { $_->{from}{description} eq "leaf-03" } @{$_->{lost_links}{links}}')" || return 1
	sim 'node up host-0005' 'link up leaf-02 3' && healthy one '^healthy +links +all up$' || return 1
	sim 'link down leaf-02 3' && wait_for 30 shows one 4 '1 link down' && ctl one health accept >/dev/null && stop one || because "it is not accepted" || return 1
	start_weftd one host-0001 -o readback_interval=0 && wait_for 30 is_up one && healthy one '^healthy +links +all up$'
}

# The port that a command disabled is no fault.
disabled_port() {
	ctl one port disable leaf-03 3 >/dev/null || because "the port is not disabled" || return 1
	healthy one '^healthy +links +all up; disabled by command: 1$'
}

# A lost link of the plan is shown once. A host that is absent, and a port that was disabled.
planned_topology() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 >plan.net || return 1
	bring_up fattree:radix=4,levels=2 -o "planned_topology=\"$work/plan.net\"" || return 1
	healthy one '^healthy +planned_links as in ' || return 1
	sim 'link down leaf-01 3' || return 1
	only one 4 planned_links '1 planned link absent or moved: "leaf-01" port 3 - "spine-01" port 1$' || return 1
	matches '^healthy +links +all up, apart from planned links$' health.txt || because "the link is shown twice: $(cat health.txt)" || return 1
	matches '^weft_planned_links_missing 1$' metrics.txt && matches '^weft_planned_nodes_missing 0$' metrics.txt ||
		because "metrics: $(grep weft_planned metrics.txt)" || return 1
	equal "the link in JSON" "$(status one 'map { "$_->{from}{description} $_->{from}{port} " . ($_->{moved} ? 1 : 0) } @{$_->{planned_links}{links}}')" \
		"leaf-01 3 0" || return 1
	sim 'link up leaf-01 3' && healthy one '^healthy +planned_links as in ' || return 1
	sim 'node down host-0005' && only one 4 planned_links '1 planned node absent: "host-0005"$' || return 1
	equal "the node in JSON" "$(status one 'map { $_->{description} } @{$_->{planned_links}{nodes}}')" host-0005 || return 1
	sim 'node up host-0005' && healthy one '^healthy +planned_links as in ' || return 1
	ctl one port disable leaf-03 3 >/dev/null || because "the port is not disabled" || return 1
	healthy one '^healthy +planned_links as in .*plan.net; disabled by command: 1$'
}

# The plan has two cables that are swapped in the fabric, until the file is corrected and read again. A bad file changes
# nothing: a reload refuses it, and so does a start.
wrong_plan() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 >good.net || return 1
	sed -e 's/"spine-01"\[1\]/"spine-x"[1]/; s/"spine-02"\[1\]/"spine-01"[1]/; s/"spine-x"/"spine-02"/' \
		-e 's/"leaf-01"\[3\]/"leaf-01"[x]/; s/"leaf-01"\[4\]/"leaf-01"[3]/; s/"leaf-01"\[x\]/"leaf-01"[4]/' good.net >plan.net
	bring_up fattree:radix=4,levels=2 -o "planned_topology=\"$work/plan.net\"" || return 1
	only one 4 planned_links '2 planned links absent or moved: "leaf-01" port 3 - "spine-02" port 1 .moved., "leaf-01" port 4 - "spine-01" port 1 .moved.$' || return 1
	equal "the check of weftctl" "$("$BUILD/weftctl" -s one.run/control.sock topology check plan.net | grep -c '^moved cable')" 2 || return 1
	cp good.net plan.net && ctl one config reload >/dev/null && healthy one '^healthy +planned_links as in ' || return 1
	echo 'Swich 4 "x"' >>plan.net
	! ctl one config reload >/dev/null 2>&1 || because "a bad plan is accepted" || return 1
	only one 4 config "not reloaded: .*plan.net:$(wc -l <plan.net): " || return 1
	matches '^healthy +planned_links as in ' health.txt || because "the former plan is not in force: $(cat health.txt)" || return 1
	! "$BUILD/weftd" -c /dev/null -o "planned_topology=\"$work/plan.net\"" --check-config >check.txt 2>&1 || because "--check-config accepts it" || return 1
	matches "plan.net:$(wc -l <plan.net): " check.txt || because "--check-config says: $(cat check.txt)" || return 1
	cp good.net plan.net && ctl one config reload >/dev/null && healthy one '^healthy +planned_links as in '
}

bad_file() {
	echo 'Default=0x7fff : ALL=full;' >partitions.conf
	bring_up fattree:radix=4,levels=2 -o 'partition_config_file="partitions.conf"' || return 1
	healthy one '^healthy +partitions +file$' || return 1
	echo 'blue=0x5 : 0x123 full;' >partitions.conf
	! ctl one config reload >/dev/null 2>&1 || because "a bad file is accepted" || return 1
	only one 4 partitions 'not reloaded: .*partitions.conf:1: ' || return 1
	echo 'Default=0x7fff : ALL=full;' >partitions.conf
	ctl one config reload >/dev/null && healthy one '^healthy +partitions +file$'
}

# A good file that takes P_Keys from all 14 ports: a reload refuses it, and the next start, too, until it is confirmed.
unconfirmed_file() {
	printf 'Default=0x7fff : ALL=full;\ngreen=0x7 : ALL=full;\n' >partitions.conf
	bring_up fattree:radix=4,levels=2 -o 'partition_config_file="partitions.conf"' || return 1
	healthy one '^healthy +partitions +file$' || return 1
	echo 'Default=0x7fff : ALL=full;' >partitions.conf
	! ctl one config reload >/dev/null 2>&1 || because "the file is accepted" || return 1
	only one 4 partitions 'not reloaded: .*partitions.conf: takes P_Keys from 14 ports .*0x0007 .green. from 14 ports' || return 1
	stop one && start_weftd one host-0001 -o readback_interval=0 -o 'partition_config_file="partitions.conf"' || return 1
	wait_for 30 is_up one || because "no subnet after the restart: $(tail -n 1 one.log)" || return 1
	only one 4 partitions '.*takes P_Keys from 14 ports' || return 1
	ctl one config reload --force >/dev/null && healthy one '^healthy +partitions +file$'
}

no_standby() {
	printf '%064d' 7 >key && chmod 600 key
	bring_up fattree:radix=4,levels=2 -o 'ha_listen="127.0.0.1:0"' -o "ha_psk_file=\"$work/key\"" || return 1
	only one 4 standby 'no standby is connected'
}

# The width of a port changes when its link trains again.
slow_link() {
	local lid

	bring_up fattree:radix=4,levels=2 || return 1
	lid=$(ctl one node list | json 'map { $_->{lid} } grep { $_->{description} eq "leaf-01" } @$_')
	look width.txt host-0002 ibportstate "$lid" 3 width 1 || because "ibportstate: $(cat width.txt.err)" || return 1
	sim 'link down leaf-01 3' && sim 'link up leaf-01 3' || return 1
	only one 4 slow_links '1 link slower than both ends support: "leaf-01" port 3 - "spine-01" port 1, 1x EDR instead of 4x EDR$'
}

refused_setting() {
	bring_up fattree:radix=4,levels=2 && sim 'behave clamping leaf-02' 'node reboot leaf-02' || return 1
	only one 4 settings '1 port refusing a setting: "leaf-02" port 0, (PortInfo|SwitchInfo:LifeTimeValue)$'
}

# A STANDBY reports what it can know: that it is one, its files and its store.
not_master() {
	bring_up fattree:radix=4,levels=2 -o sm_priority=9 && start_weftd two host-0008 || return 1
	wait_for 30 shows two 0 '^healthy +subnet +STANDBY' || because "exit status $level: $(cat health.txt)" || return 1
	keep standby
	equal "the checks of a STANDBY" "$(awk '{ print $2 }' health.txt | xargs)" "subnet standby partitions config store"
	stop two
}

credit_loop() {
	bring_up torus:dims=4x4,hosts=1 -o 'routing=["minhop"]' || return 1
	only one 4 credit_loops 'routes of minhop: [0-9]+ link directions can wait for themselves' || return 1
	ctl one route engine updn >/dev/null && healthy one '^healthy +credit_loops +none$'
}

# A program on host-0007 sends traps 130 in the name of its port.
flood_of_traps() {
	local lid

	bring_up fattree:radix=4,levels=2 || return 1
	lid=$(ctl one node list | json 'map { sprintf "%04x", $_->{lid} } grep { $_->{description} eq "host-0007" } @$_')
	on host-0007 "$work/attacker" -q -n 500 -r 5000 sm 1 5 2 0 "64=810000010082${lid}00000000${lid}01" \
		>attacker.txt 2>&1 || because "$(tail -n 1 attacker.txt)" || return 1
	only one 4 traps 'too many traps from "host-0007": some are not forwarded$' || return 1
	ctl one health accept >/dev/null && healthy one '^healthy +traps +none suppressed$'
}

port_errors() {
	bring_up fattree:radix=4,levels=2 || return 1
	ctl one perf sweep >/dev/null && healthy one '^healthy +errors +below the thresholds$' || return 1
	sim 'count leaf-01 3 SymbolErrorCounter 400' && ctl one perf sweep >/dev/null || return 1
	only one 4 errors '1 port above a threshold: "leaf-01" port 3, SymbolErrorCounter$' || return 1
	ctl one perf sweep >/dev/null && healthy one '^healthy +errors +below the thresholds$'
}

# The manager's own cable: the subnet cannot be managed.
no_fabric() {
	bring_up fattree:radix=4,levels=2 && sim 'link down host-0001 1' || return 1
	only one 5 subnet 'the link of weftsim0 port 1 is down: no fabric to manage$'
}

check "a healthy subnet" healthy_subnet || finish
check "a link that was pulled" link_down
check "a port that was disabled" disabled_port
check "planned links and nodes that are absent" planned_topology
check "a plan that the fabric does not fit, and a bad plan" wrong_plan
check "links that were lost before a restart" lost_over_restart
check "a bad partition file" bad_file
check "a partition file that needs a confirmation" unconfirmed_file
check "a standby that is absent" no_standby
check "a slow link" slow_link
check "a device that refuses a setting" refused_setting
check "a manager that is not MASTER" not_master
check "credit loops" credit_loop
check "suppressed traps" flood_of_traps
check "errors above a threshold" port_errors
check "no fabric" no_fabric
finish
