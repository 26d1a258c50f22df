#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The lists of weftctl on a terminal, with script(1) as the terminal and node names of the greatest length. Columns that
# matter less are left out and names are shortened until the row fits, numbers and GUIDs never. In a pipe, and with
# --wide, all is complete.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip terminal: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

# Lists that fit 80 columns, and those that fit 60, with names of up to 64 characters.
fit_80=(status 'node list' 'port list' 'port list leaf-02' 'port list host-0001' 'config show' 'route show 0x1 0x2'
	'perf errors' 'perf top' 'multicast list' 'partition list' 'partition show 0x7fff' 'node show leaf-02'
	'node show host-0001' 'link list' 'service list' 'inform list' 'alias list' events 'ha status')
fit_60=(status 'node list' 'route show 0x1 0x2' 'link list' 'partition list' 'perf top' events)

daemon_runs() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 |
		sed 's/# "host-0002/& mlx5_0 in the second row, rack 17, café de la gare/
			s/# "spine-01/& with a name that goes on for long, up to the end/' >long.net
	start_weftsim long.net || return 1
	start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	ctl daemon perf sweep >done.txt && ctl daemon perf sweep >done.txt || because "no counters are read" || return 1
	ctl daemon node list >nodes.json
	matches 'rack 17, caf' nodes.json || because "no node has a long name"
}

typed() {
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" "$@"
}

# on_terminal COLUMNS COMMAND: the output on a terminal of this width, in shown.txt.
on_terminal() {
	script -qec "stty cols $1; '$BUILD/weftctl' -s '$work/daemon.run/control.sock' $2" /dev/null </dev/null |
		tr -d '\r' >shown.txt
}

widest() {
	LC_ALL=C.UTF-8 awk '{ gsub(/[\x80-\xbf]/, "") } length > most { most = length } END { print most + 0 }' "$1"
}

# whole FILE: its numbers and GUIDs, one a line, without those in names and headings.
whole() {
	grep -oE '\<0x[0-9a-f]{4,16}\>' "$1" | sort
}

# fits COLUMNS COMMAND...: no line is wider.
fits() {
	local command

	for command in "${@:2}"; do
		command=${command/0x1 0x2/$first $second}
		is_whole "$1" "$command" || return 1
		[ "$(widest shown.txt)" -le "$1" ] || because "weftctl $command: $(awk -v most="$1" 'length > most' shown.txt)" || return 1
	done
}

# is_whole COLUMNS COMMAND: each GUID and P_Key that a terminal shows is one that a pipe gets, and none is missing unless
# the terminal says that columns are.
is_whole() {
	# shellcheck disable=SC2086 # words are meant
	typed $2 >piped.txt || because "weftctl $2 fails" || return 1
	on_terminal "$1" "$2"
	[ -s shown.txt ] || because "weftctl $2 shows nothing" || return 1
	[ "$2" != events ] || return 0 # their texts are shortened
	whole shown.txt >shown.guids
	whole piped.txt >piped.guids
	equal "what weftctl $2 shows and a pipe does not get" "$(comm -23 shown.guids piped.guids | head -n 1)" "" || return 1
	matches '^\([0-9]+ more columns? with --wide\)$' shown.txt ||
		equal "the GUIDs and P_Keys of weftctl $2" "$(cat shown.guids)" "$(cat piped.guids)"
}

names_are_cut() {
	on_terminal 60 'node list'
	grep -qE '^0x[0-9a-f]{16} [a-zA-Z]+ +[0-9]+ +1 +1 host-00.*….*gare$' shown.txt ||
		because "node list: $(grep host-0002 shown.txt)" || return 1
	equal "the widest line" "$(widest shown.txt)" 60 || return 1
	grep -qE ' host-0003$' shown.txt || because "a name that fits is cut: $(grep host-0003 shown.txt)"
}

# A list of links has more columns than fit: the GUIDs and LIDs are left out, and --wide has them.
wide_has_all() {
	on_terminal 80 'link list'
	matches '^FROM +FROM-LID FROM-PORT TO +TO-LID TO-PORT STATE +SPEED +MTU$' <(head -n 1 shown.txt) ||
		because "the headings: $(head -n 1 shown.txt)" || return 1
	matches '^\(2 more columns with --wide\)$' <(tail -n 1 shown.txt) || because "it does not mention --wide" || return 1
	on_terminal 80 '--wide link list'
	typed link list >piped.txt
	diff piped.txt shown.txt >difference.txt || because "--wide: $(head -n 2 difference.txt)" || return 1
	on_terminal 60 '-o from-guid,to-guid,mtu,from link list'
	equal "the columns that were chosen" "$(head -n 1 shown.txt | xargs)" "FROM-GUID TO-GUID MTU FROM"
}

columns_are_chosen() {
	on_terminal 30 'node list -o description,LID --noheadings'
	equal "the number of lines" "$(wc -l <shown.txt)" "$(ctl daemon node list | json 'scalar @$_')" || return 1
	equal "the widest line" "$(widest shown.txt)" 30 || return 1
	grep -qE '^leaf-01 +1$' shown.txt || because "it says: $(cat shown.txt)"
}

columns_says() {
	COLUMNS=56 on_terminal 80 'node list'
	equal "the widest line" "$(widest shown.txt)" 56 || return 1
	COLUMNS=nonsense on_terminal 60 'node list'
	equal "the widest line" "$(widest shown.txt)" 60
}

pipe_is_whole() {
	COLUMNS=60 typed node list >piped.txt
	matches ' host-0002 mlx5_0 in the second row, rack 17, café de la gare$' piped.txt ||
		because "it says: $(grep host-0002 piped.txt)" || return 1
	on_terminal 200 'node list'
	diff piped.txt shown.txt >difference.txt || because "a wide terminal: $(head -n 2 difference.txt)"
}

# full_lists: a socket whose answers have rows with wide values in all columns, as from a large site.
full_lists() {
	cat >answers.py <<'END'
import json, os, socket, sys
node = {"guid": "0x0002c903004c1d5e", "description": "gpu-rack07-node034 mlx5_0", "lid": 48127, "port": 1}
switch = {"guid": "0x248a070300f8b2e0", "description": "MF0;ib-spine-rack12-02:MQM8700/U1", "lid": 40001, "port": 36}
port_guid = "0x0002c903004c1d5f"
answers = {
    "link list": {"links": [{"from": node, "to": switch, "state": "ACTIVE", "width_speed": "4x FDR10", "mtu": 4096}]},
    "port list": {"ports": [{**node, "state": "ACTIVE", "physical": "LinkUp", "width_speed": "4x FDR10", "mtu": 4096,
        "port_guid": port_guid, "peer": switch}]},
    "node list": {"nodes": [{**switch, "type": "switch", "ports": 41, "active": 40}]},
    "partition list": {"partitions": [{"p_key": 0x7fff, "by": "file, run time", "ipoib": True, "indx0": True, "rules": 12000,
        "run_time_members": 11664, "name": "project-climate-model-2026-storage"}]},
    "multicast list": {"groups": [{"mlid": 0xc123, "p_key": 0xffff, "mtu": 4096, "rate_gbps": 100, "sl": 0, "members": 11664,
        "permanent": True, "mgid": "ff12:601b:8012:1234:5678:1ff:ff12:3456"}]},
    "service list": {"services": [{**node, "id": "0x100000000000e2a5", "p_key": 0x7fff, "lease_s": 4294967,
        "has_key": True, "name": "DAPL.iscsi-target.rack07.example"}]},
    "inform list": {"subscriptions": [{**node, "qpn": 0x123456, "generic": True, "trap": 65535, "type": 65535,
        "producer": 0xffffff, "trusted": True, "of_gid": "fe80::2:c903:4c:1d5f"}]},
    "alias list": {"aliases": [{**node, "port_guid": port_guid, "index": 127, "alias_guid": "0x1122334455667788",
        "granted": "administrator"}]},
    "events": {"events": [{"number": 1234567, "time_s": 1790000000, "kind": "multicast", "node": switch["description"],
        "port": 36, "text": "the port is not there any more", "port_guid": port_guid, "lid": 48127}]},
    "perf errors": {"ports": [{**node, "counters": {"ExcessiveBufferOverrunErrors": 4294967295}, "rose":
        ["ExcessiveBufferOverrunErrors"], "full": ["ExcessiveBufferOverrunErrors"], "peer": switch}]},
}
ha = {"role": "MASTER", "listen": "[fd12:3456:789a:bcde:f012:3456:789a:bcde]:5117", "durability": "standby",
    "acknowledged_by": "standby", "refused": {}, "peers": [], "standbys": [{"guid": port_guid, "address":
    "[fd12:3456:789a:bcde:f012:3456:789a:bcde]:5117", "role": "NOTACTIVE", "state": "receiving snapshot", "lag": 123456,
    "tables": 1620, "last_seen_ms": 123456, "store": "cannot write"}]}
with socket.socket(socket.AF_UNIX) as server:
    server.bind(sys.argv[1])
    server.listen()
    while True:
        client, _ = server.accept()
        with client, client.makefile("rw") as lines:
            command = json.loads(lines.readline())["command"]
            for part in [answers[command]] if command in answers else []:
                lines.write(json.dumps({"part": part}) + "\n")
            lines.write(json.dumps({"ok": True, "result": ha if command == "ha status" else None}) + "\n")
END
	mkdir full.run
	/usr/bin/python3 answers.py full.run/control.sock 2>full.log &
	pids[full]=$!
	wait_for 10 test -S full.run/control.sock || because "no socket: $(tail -n 1 full.log)" || return 1
}

# full_fits COLUMNS: no line of a list is wider, and each list has its row.
full_fits() {
	local command

	for command in 'link list' 'port list' 'node list' 'partition list' 'multicast list' 'service list' 'inform list' \
		'perf errors' 'alias list' 'ha status' events; do
		script -qec "stty cols $1; '$BUILD/weftctl' -s '$work/full.run/control.sock' $command" /dev/null </dev/null |
			tr -d '\r' >shown.txt
		[ "$(widest shown.txt)" -le "$1" ] || because "weftctl $command is $(widest shown.txt) wide: $(cat shown.txt)" || return 1
		! matches none shown.txt || [ "$command" = 'perf errors' ] || because "weftctl $command shows nothing" || return 1
		"$BUILD/weftctl" -s "$work/full.run/control.sock" $command >piped.txt
		! matches '…' piped.txt || because "weftctl $command shortens a name in a pipe" || return 1
	done
}

check "a daemon, and long names" daemon_runs || finish
first=$(json '$_->[0]{guid}' <nodes.json) second=$(json '$_->[-1]{guid}' <nodes.json)
check "tables fit 80 columns" fits 80 "${fit_80[@]}"
check "tables fit 60 columns" fits 60 "${fit_60[@]}"
check "names are cut, and only those that have to be" names_are_cut
check "columns that do not fit are left out, and --wide has them" wide_has_all
check "-o and --noheadings on a terminal" columns_are_chosen
check "\$COLUMNS says how wide it is" columns_says
check "all is whole in a pipe, and where there is room" pipe_is_whole
check "a socket with wide values" full_lists || finish
check "each list fits 80 columns" full_fits 80
finish
