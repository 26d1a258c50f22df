#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl export opensm: OpenSM reads the files, gives each port the LID that it has, and sets the same P_Keys. An
# import of the export is the same configuration.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip export: weftsim's preload library and sanitizers do not go together"
	exit 0
fi
if ! command -v opensm >/dev/null; then
	echo "skip export: no opensm here"
	exit 0
fi

# lids: "GUID LID" of each port, from the daemon's store.
lids() {
	"$BUILD/weftctl" -s daemon.run/control.sock save - | grep '"kind": "lid"' | sed 's/.*"GUID": "\([^"]*\)".*"LID": \([0-9]*\),.*/\1 \2/' | sort
}

# file_lids FILE: the same, of OpenSM's file.
file_lids() {
	perl -ane 'print "$F[0] ", hex $F[1], "\n" if @F == 3' "$1" | sort
}

# pkeys_of HOST: as the adapter holds them, sorted.
pkeys_of() {
	"$BUILD/weftsim" "do" "pkeys $1 1" | grep -oE '0x[0-9a-f]{4}\b' | grep -v 0x0000 | sort | xargs
}

daemon_exports() {
	start_weftsim fattree:radix=4,levels=2 || return 1
	printf '# the file\nDefault=0x7fff, ipoib : ALL=full ;\nblue=0x5 : ALL=limited ;' >p.conf
	start_weftd daemon host-0001 -o "partition_config_file=\"$work/p.conf\"" -o 'routing=["updn","minhop"]' -o sm_key=0x77 \
		-o hoq_life=17 -o perf_interval=30 -o 'babble_policy="disable"' -o 'node_name_map_name=""' -o poll_misses=7 ||
		return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)" || return 1
	ctl daemon partition add 0x21 'my storage' --members host-0002,host-0003 --ipoib --mtu 4096 >done.txt &&
		ctl daemon partition member add 0x21 host-0004 --limited >done.txt &&
		ctl daemon partition member add 0x5 host-0003 >done.txt || because "no partition: $(cat done.txt)" || return 1
	lids >lids.before
	for host in host-0001 host-0002 host-0003 host-0004; do echo "$host $(pkeys_of $host)"; done >pkeys.before
	matches '^host-0003 .*0x8005.*0x8021' pkeys.before || because "the P_Keys: $(cat pkeys.before)" || return 1
	ctl daemon export opensm back >export.json || because "the export fails: $(cat export.json)" || return 1
	"$BUILD/weftctl" -s daemon.run/control.sock export opensm text >export.txt || because "the export fails" || return 1
}

reports() {
	equal "the number of LIDs" "$(json '$_->{lids}' <export.json)" "$(wc -l <lids.before)" || return 1
	matches '^sm_key .*keys are not exported' export.txt || because "the key is not mentioned: $(cat export.txt)" || return 1
	matches '^state_dir .*OpenSM has no such option' export.txt || because "a lost option is not mentioned" || return 1
	! matches 0x77 back/opensm.conf || because "a key is exported" || return 1
	"$BUILD/weftctl" -s daemon.run/control.sock export opensm back 2>&1 | grep -q 'exists already' ||
		because "files are overwritten"
}

options_are() {
	local line

	for line in 'routing_engine updn,minhop' 'head_of_queue_lifetime 17' 'perfmgr TRUE' 'perfmgr_sweep_time_s 30' \
		'babbling_port_policy TRUE' 'polling_retry_number 7'; do
		matches "^$line\$" back/opensm.conf || because "opensm.conf lacks: $line" || return 1
	done
}

# On a new simulator no port has a LID.
opensm_continues() {
	stop daemon
	stop_fabric
	start_weftsim fattree:radix=4,levels=2 || return 1
	mkdir -p osm
	cp back/guid2lid osm/
	OSM_TMP_DIR=$work/osm OSM_CACHE_DIR=$work/osm "$BUILD/weftsim" run -n host-0001 -- \
		opensm -o -F back/opensm.conf -P back/partitions.conf -D 0x43 -e -f "$work/osm/opensm.log" >osm/out 2>&1 ||
		because "opensm: $(tail -n 1 osm/out)" || return 1
	matches 'SUBNET UP' osm/opensm.log || because "opensm has no subnet: $(tail -n 2 osm/opensm.log)" || return 1
	file_lids osm/guid2lid >lids.after
	diff lids.before lids.after >difference.txt || because "LIDs differ: $(xargs <difference.txt)" || return 1
	for host in host-0001 host-0002 host-0003 host-0004; do echo "$host $(pkeys_of $host)"; done >pkeys.after
	diff pkeys.before pkeys.after >difference.txt || because "P_Keys differ: $(xargs <difference.txt)" || return 1
	! grep -iE 'pars(e|ing)|syntax|unrecognized|PARSE ERROR' osm/opensm.log osm/out >errors.txt || because "opensm says: $(head -n 1 errors.txt)"
}

# The LIDs are those of the file: without it, OpenSM gives others.
lids_are_read() {
	stop_fabric
	start_weftsim fattree:radix=4,levels=2 || return 1
	mkdir -p new
	OSM_TMP_DIR=$work/new OSM_CACHE_DIR=$work/new "$BUILD/weftsim" run -n host-0001 -- \
		opensm -o -e -f "$work/new/opensm.log" >new/out 2>&1
	file_lids new/guid2lid >lids.new
	[ -s lids.new ] && ! cmp -s lids.new lids.before || because "OpenSM gives these LIDs without a file, too"
}

# The imported files give a new weftd the options, the LIDs and the P_Keys of the exporting weftd.
import_is_same() {
	"$BUILD/weftctl" import opensm back --cache back --to again >import.txt || because "the import: $(tail -n 3 import.txt)" || return 1
	stop_fabric
	start_weftsim fattree:radix=4,levels=2 || return 1
	conf=again/weftd.conf start_weftd second host-0001 -o "partition_config_file=\"$work/again/partitions.conf\"" || return 1
	wait_for 30 is_up second || because "weftd has no subnet: $(tail -n 1 second.log)" || return 1
	ctl second restore again/lids.json >done.txt || because "restore: $(cat done.txt)" || return 1
	equal "the options" "$(ctl second config show | json 'sort map { "$_->{name}=$_->{value}" } grep { !$_->{is_default} && $_->{name} !~ /_dir$|file|socket/ } @$_' |
		tr -d '"')" "babble_policy=disable hoq_life=17 perf_interval=30 poll_misses=7 routing=[updn, minhop]" || return 1
	"$BUILD/weftctl" -s second.run/control.sock partition show 0x21 >shown.txt
	matches 'host-0004' shown.txt && matches limited shown.txt || because "partition 0x21: $(cat shown.txt)" || return 1
	for host in host-0001 host-0002 host-0003 host-0004; do echo "$host $(pkeys_of $host)"; done >pkeys.again
	diff pkeys.before pkeys.again >difference.txt || because "P_Keys differ: $(xargs <difference.txt)"
}

check "weftd exports" daemon_exports || finish
check "the answer" reports
check "the options" options_are
check "OpenSM continues with the same LIDs and P_Keys" opensm_continues
check "OpenSM reads the LIDs from the file" lids_are_read
check "an import of the export is the same configuration" import_is_same
finish
