#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The import of OpenSM's files: every option that `opensm -c` writes is on the page, which generated.sh compares with the
# table; OpenSM's defaults set no option; weftd accepts the imported configuration and LIDs; losses are reported first.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

page=$root/docs/migrating.md

# The options of a file in OpenSM's form.
options() {
	grep -vE '^#|^$' "$1" | cut -d ' ' -f 1
}

page_rows() {
	sed -n 's/^| \([a-z0-9_]*\) | \([a-z_0-9-]*\) | \(.*\) |$/\1|\2|\3/p' "$page"
}

page_is_complete() {
	equal "what the page lacks or has too much" \
		"$(diff <(options all.conf) <(page_rows | cut -d '|' -f 1) | grep '^[<>]' | tr '\n' ' ')" ""
}

# Each option of weft that the page names exists.
equivalents_exist() {
	local name

	for name in $(page_rows | cut -d '|' -f 2 | grep -vx -- - | sort -u); do
		matches "^# ?$name = |^$name = " "$root/etc/weftd.conf" || because "weft has no option $name" || return 1
	done
}

# import NAME [ARGUMENT]...: of NAME.etc and NAME.cache to NAME.out.
import() {
	local name=$1

	shift
	mkdir -p "$name.cache"
	"$BUILD/weftctl" import opensm "$name.etc" --cache "$name.cache" --to "$name.out" "$@" >"$name.txt" 2>&1
}

defaults_become_nothing() {
	mkdir -p default.etc
	cp all.conf default.etc/opensm.conf
	import default --json || because "$(cat default.txt)" || return 1
	equal "what becomes of the defaults" "$(json 'map { $_->{name} } @{$_->{options}}' <default.txt)" "partition_config_file guid2lid" || return 1
	equal "the configuration" "$(grep -v '^#' default.out/weftd.conf)" ""
}

# A wrong directory is refused, before it could give all ports access to each other.
nothing_is_refused() {
	mkdir -p empty.etc root/etc/default
	import empty
	equal "the status" $? 1 || return 1
	matches 'no file of OpenSM found: empty.etc has no opensm.conf and no partition file, and empty.cache has no guid2lid; name' empty.txt ||
		because "it says: $(cat empty.txt)" || return 1
	test ! -e empty.out || because "it wrote something" || return 1
	echo PORTS=ALL >root/etc/default/opensm
	"$BUILD/weftctl" import opensm --root root --to empty.out >empty.txt 2>&1 && because "the defaults of the service are no configuration"
	matches 'found: root/etc/opensm and root/etc/rdma have no opensm.conf' empty.txt || because "it says: $(cat empty.txt)" || return 1
	rm -r root
}

what_is_missing_is_told() {
	mkdir -p few.etc
	: >few.etc/opensm.conf
	import few || because "$(cat few.txt)" || return 1
	matches 'few.etc/partitions.conf +there is no such file: as with OpenSM' few.txt && matches 'few.cache/guid2lid +there is no such file' few.txt ||
		because "it says: $(cat few.txt)" || return 1
	"$BUILD/weftctl" import opensm empty.etc --cache empty.cash --to empty.2 2>wrong.txt >&2 && because "any cache will do" && return 1
	equal "of a cache that is not there" "$(cat wrong.txt)" "weftctl: empty.cash: No such file or directory" || return 1
	"$BUILD/weftctl" import opensm all.conf --to empty.2 2>wrong.txt >&2 && because "a file is a folder" && return 1
	equal "of a file in place of a folder" "$(cat wrong.txt)" "weftctl: all.conf: Not a directory"
}

# A value for each kind of option.
values_are_translated() {
	mkdir -p some.etc some.cache
	sed -e 's/^sm_priority .*/sm_priority 7/; s/^subnet_timeout .*/subnet_timeout 0x11/' \
		-e 's/^routing_engine .*/routing_engine ftree,dor,minhop/; s/^allow_both_pkeys .*/allow_both_pkeys TRUE/' \
		-e 's/^lmc_esp0 .*/lmc_esp0 TRUE/; s/^fdr10 .*/fdr10 2/; s/^force_link_speed .*/force_link_speed 4/' \
		-e 's/^force_link_speed_ext .*/force_link_speed_ext 0/; s/^force_link_width .*/force_link_width 2/' \
		-e 's/^sm_key .*/sm_key 0x00000000000000ab/; s/^m_key .*/m_key 0x12/; s/^perfmgr .*/perfmgr TRUE/' \
		-e 's/^babbling_port_policy .*/babbling_port_policy TRUE/; s/^no_clients_rereg .*/no_clients_rereg TRUE/' \
		-e 's/^force_heavy_sweep .*/force_heavy_sweep TRUE/; s/^no_partition_enforcement .*/no_partition_enforcement TRUE/' \
		-e "s,^root_guid_file .*,root_guid_file $work/roots," -e 's/^lmc .*/lmc many/' \
		-e 's/^max_op_vls .*/max_op_vls 9/; s/^m_key_protection_level .*/m_key_protection_level 9/' all.conf >some.etc/opensm.conf
	echo 'no_such_option 1' >>some.etc/opensm.conf
	printf 'guid_routing_order_file /etc/\xef\n' >>some.etc/opensm.conf
	echo 'Default=0x7fff, ipoib: ALL=full;' >some.etc/partitions.conf
	echo '* *' >some.etc/prefix-routes.conf
	echo 0x1 >roots
	import some --json || because "$(cat some.txt)" || return 1
	equal "our configuration" "$(grep -v '^#' some.out/weftd.conf | sort | tr '\n' ' ')" \
		"allow_both_pkeys = true; babble_policy = \"disable\"; fdr10 = 2; force_link_speed = 4; force_link_speed_ext = 0; \
force_link_width = 2; lmc_esp0 = true; m_key = 0x12; m_key_mode = \"subnet\"; part_enforce = \"off\"; perf_interval = 180; \
prefix_routes_file = \"$work/some.etc/prefix-routes.conf\"; rereg_rate = 0; root_guid_file = \"$work/roots\"; \
routing = [\"ftree\", \"minhop\"]; sm_key = 0xab; sm_priority = 7; subnet_timeout = 0x11; " || return 1
	equal "the omitted options" "$(json 'sort map { "$_->{name}:$_->{outcome}" } grep { !$_->{taken} } @{$_->{options}}' <some.txt)" \
		"force_heavy_sweep:not needed guid2lid:lost guid_routing_order_file:lost lmc:lost m_key_protection_level:lost max_op_vls:lost no_such_option:lost routing_engine:lost" || return 1
	matches 'out of range: max_op_vls is a number from 1 to 5, and its default is used' some.txt || because "it does not name the range: $(cat some.txt)" || return 1
	matches 'not used: dor; routing is' some.txt || because "it does not tell of the engine that is left out" || return 1
	! matches '0xab|0x00000000000000ab|0x12"' some.txt || because "it shows a key" || return 1
	cmp -s some.etc/partitions.conf some.out/partitions.conf || because "the partition file differs" || return 1
	getent group weft >/dev/null || equal "the mode of weftd.conf" "$(stat -c %a some.out/weftd.conf)" 600 || return 1
	"$BUILD/weftd" -c some.out/weftd.conf --check-config >check.txt 2>&1 || because "weftd: $(cat check.txt)"
}

# Files created by root have the group of the service, which may read them. No other user may.
service_may_read() {
	chmod 755 "$work"
	where_weft_exists "$BUILD/weftctl" import opensm some.etc --cache some.cache --to group.out >group.txt 2>&1 || because "$(cat group.txt)" || return 1
	matches 'weftd.conf, partitions.conf, readable only by the owner and the group weft$' group.txt && matches '^Then: cp -p group.out/[*].conf /etc/weft$' group.txt ||
		because "it says: $(tail -n 2 group.txt)" || return 1
	equal "the rights" "$(stat -c '%u %g %a' group.out group.out/* | tr '\n' ',')" "0 4242 750,0 4242 640,0 4242 640," || return 1
	where_weft_exists "$BUILD/weftd" -c "$work/group.out/weftd.conf" --check-config -o 'prefix_routes_file=""' -o 'root_guid_file=""' \
		>check.txt 2>&1 || because "$(cat check.txt)" || return 1
	equal "the output of the check" "$(cat check.txt)" "configuration ok"
}

written_over_is_nothing() {
	import some && because "it overwrites existing files" && return 1
	matches 'some.out/weftd.conf: exists already; choose another directory with --to' some.txt ||
		because "it says: $(cat some.txt)"
}

# refuses_lids LINE PATTERN
refuses_lids() {
	mkdir -p lids.etc lids.cache
	printf '0x1 0x1 0x1\n%s\n' "$1" >lids.cache/guid2lid
	import lids
	equal "the status" $? 1 || return 1
	matches "guid2lid:2: $2" lids.txt || because "it says: $(cat lids.txt)" || return 1
	test ! -e lids.out || because "it has written something before it knew"
}

# outcomes OUTCOME FILE: the names that have it.
outcomes() {
	json "sort map { \$_->{name} } grep { \$_->{outcome} eq \"$1\" } @{\$_->{options}}" <"$2"
}

# The list of losses comes first, and only --strict makes a loss a failure.
losses_come_first() {
	mkdir -p lossy.etc lossy.cache
	sed -e 's/^routing_engine .*/routing_engine ftree,torus-2QoS,minhop/; s/^qos .*/qos TRUE/; s/^qos_max_vls .*/qos_max_vls 4/' \
		-e 's/^log_max_size .*/log_max_size 10/; s/^lmc .*/lmc 1/' all.conf >lossy.etc/opensm.conf
	echo '0x1 0x1 0x1' >lossy.cache/guid2lid
	import lossy || because "a loss is a failure: $(cat lossy.txt)" || return 1
	equal "the headings" "$(grep -E '^(LOST|Taken|No longer)' lossy.txt | tr '\n' ' ')" \
		"LOST, read this first: Taken over: No longer needed: " || return 1
	matches '^qos +TRUE +weft does not configure QoS: all traffic uses SL 0' lossy.txt || because "$(cat lossy.txt)" || return 1
	matches 'routing = \["ftree", "updn"\]' lossy.txt || because "minhop takes the place of torus-2QoS: $(cat lossy.txt)" || return 1
	rm -r lossy.out
	import lossy --json --strict && because "--strict accepts a loss" && return 1
	equal "the lost settings" "$(outcomes lost lossy.txt)" "qos qos_max_vls routing_engine" || return 1
	equal "their number" "$(json '$_->{lost}' <lossy.txt)" 3 || return 1
	sed -i 's/^qos .*/qos FALSE/; s/^routing_engine .*/routing_engine updn/' lossy.etc/opensm.conf
	rm -r lossy.out
	import lossy --json --strict || because "options that OpenSM ignores are lost: $(cat lossy.txt)" || return 1
	equal "the options that are not needed" "$(outcomes 'not needed' lossy.txt)" "log_max_size partition_config_file qos_max_vls"
}

# The files of Red Hat's package: /etc/rdma, and the settings of the service.
red_hat_is_read() {
	mkdir -p rh/etc/rdma rh/etc/sysconfig rh/etc/opensm rh/var/cache/opensm
	sed 's,/etc/opensm/,/etc/rdma/,; s/^sm_priority .*/sm_priority 2/' all.conf >rh/etc/rdma/opensm.conf
	echo 'sm_priority 3' >rh/etc/rdma/opensm.conf.1
	echo 'Default=0x7fff: ALL=full;' >rh/etc/rdma/partitions.conf
	printf '# comment\nGUIDS="0x2c90300a 0x2c90300b"\nPRIORITY=15\nEXTRA=x\n' >rh/etc/sysconfig/opensm
	"$BUILD/weftctl" --json import opensm --root rh --to rh.out >rh.txt 2>&1 || because "$(cat rh.txt)" || return 1
	equal "our configuration" "$(grep -v '^#' rh.out/weftd.conf | sort | tr '\n' ' ')" 'port_guid = 0x2c90300a; sm_priority = 15; ' || return 1
	cmp -s rh/etc/rdma/partitions.conf rh.out/partitions.conf || because "the partition file is not the one of /etc/rdma" || return 1
	equal "the losses" "$(outcomes lost rh.txt)" "EXTRA GUIDS guid2lid" || return 1
	sed -i '/^GUIDS/d' rh/etc/sysconfig/opensm
	"$BUILD/weftctl" --json import opensm --root rh --to rh.1 >rh.txt 2>&1 || because "$(cat rh.txt)" || return 1
	equal "the losses without GUIDS" "$(outcomes lost rh.txt)" "EXTRA guid2lid opensm.conf.1" || return 1
	mkdir copy.etc && cp rh/etc/rdma/opensm.conf rh/etc/rdma/partitions.conf copy.etc && echo '* *' >copy.etc/prefix-routes.conf
	import copy || because "$(cat copy.txt)" || return 1
	cmp -s rh/etc/rdma/partitions.conf copy.out/partitions.conf || because "the partition file of a copy is not found" || return 1
	matches "copy.etc/prefix-routes.conf" copy.out/weftd.conf || because "$(cat copy.out/weftd.conf)" || return 1
	echo '* *' >rh/etc/rdma/prefix-routes.conf
	"$BUILD/weftctl" --json import opensm --root rh --to rh.4 >rh.txt 2>&1 || because "$(cat rh.txt)" || return 1
	matches '^prefix_routes_file = "/etc/rdma/prefix-routes.conf";$' rh.4/weftd.conf || because "$(cat rh.4/weftd.conf)" || return 1
	echo 'sm_priority 4' >rh/etc/opensm/opensm.conf
	"$BUILD/weftctl" --json import opensm --root rh --to rh.2 >rh.txt 2>&1 || because "$(cat rh.txt)" || return 1
	matches 'rh/etc/rdma' rh.txt && matches 'has files, too' rh.txt || because "the second directory is not reported: $(cat rh.txt)" || return 1
	echo 'start() {' >>rh/etc/sysconfig/opensm
	"$BUILD/weftctl" import opensm --root rh --to rh.3 >rh.txt 2>&1 && because "it accepts a script" && return 1
	matches 'rh/etc/sysconfig/opensm:4: a setting NAME=VALUE expected' rh.txt || because "it says: $(cat rh.txt)"
}

# Errors of the partition file are all reported, the file is copied, and the status is 1. An SL is a loss with QoS only.
partition_file_is_checked() {
	mkdir -p bad.etc
	printf 'a=1: ALL=half;\nb=2, ipoib: 0x1=both;\nc=3, sl=2: ALL;\n' >bad.etc/partitions.conf
	import bad
	equal "the status" $? 1 || return 1
	matches 'bad.etc/partitions.conf:1: a membership is full, limited or both' bad.txt &&
		matches 'bad.etc/partitions.conf:2: "both" needs allow_both_pkeys' bad.txt || because "it says: $(cat bad.txt)" || return 1
	matches 'The partition file has errors' bad.txt || because "it says: $(cat bad.txt)" || return 1
	cmp -s bad.etc/partitions.conf bad.out/partitions.conf || because "the file was not copied" || return 1
	sed -i '1,2d' bad.etc/partitions.conf
	rm -r bad.out
	import bad --json || because "an SL is an error: $(cat bad.txt)" || return 1
	equal "the losses" "$(outcomes lost bad.txt)" "guid2lid" || return 1
	echo 'qos TRUE' >bad.etc/opensm.conf
	rm -r bad.out
	import bad --json || because "an SL is an error: $(cat bad.txt)" || return 1
	equal "the losses with QoS" "$(outcomes lost bad.txt)" "guid2lid partition_config_file qos" || return 1
	printf 'a=1: \xe9=full,\n x\ty;\n' >bad.etc/partitions.conf
	rm -r bad.out
	import bad --json
	equal "the errors in Latin-1" "$(json '$_->{errors}, scalar grep { $_->{note} =~ /bad.etc/ } @{$_->{options}}' <bad.txt)" "1 1"
}

# A port in the fabric keeps its present LID. For a port that is off the store has OpenSM's LID, which stays.
lids_are_kept() {
	local guid=0x0002c90300abcdef

	start_fabric single:hosts=2 && start_weftd kept host-0001 && wait_for 20 is_up kept || return 1
	mkdir -p kept.etc kept.cache
	printf '%s 0x0400 0x0400\n\n' "$guid" >kept.cache/guid2lid
	import kept || because "$(cat kept.txt)" || return 1
	ctl kept restore kept.out/lids.json >restored.txt 2>&1 || because "$(cat restored.txt)" || return 1
	ctl kept sweep heavy >/dev/null || because "no sweep after it" || return 1
	ctl kept save kept.json >/dev/null || because "save fails" || return 1
	equal "the LID of the port that is off" \
		"$(json "map { \$_->{LID} } grep { \$_->{kind} eq \"lid\" && \$_->{GUID} eq \"$guid\" } @{\$_->{records}}" <kept.json)" \
		1024
}

# The files of an OpenSM with M_Keys: LIDs for all, and a message about each other file.
real_cache() {
	mkdir -p real.etc real.cache
	printf 'm_key 0x1234\nm_key_protection_level 2\nm_key_lookup TRUE\nhonor_guid2lid_file TRUE\n' >real.etc/opensm.conf
	start_weftsim fattree:radix=4,levels=2 || return 1
	OSM_CACHE_DIR=$work/real.cache OSM_TMP_DIR=$work on host-0001 opensm -F "$work/real.etc/opensm.conf" \
		-f "$work/real.log" -o >real.osm 2>&1
	stop_fabric
	[ -s real.cache/neighbors ] && [ -s real.cache/guid2mkey ] || because "OpenSM wrote $(ls real.cache)" || return 1
	import real || because "$(cat real.txt)" || return 1
	equal "imported LIDs" "$(json 'scalar @{$_->{records}}' <real.out/lids.json)" "$(grep -c 0x real.cache/guid2lid)" || return 1
	matches 'guid2mkey +.*weftctl keys import' real.txt && matches 'neighbors +.*not needed' real.txt ||
		because "it says: $(cat real.txt)" || return 1
	! grep -q 1234 real.txt || because "it tells the key"
}

unset OSM_TMP_DIR OSM_CACHE_DIR # otherwise they would be the defaults
if ! opensm -c all.conf >opensm.txt 2>&1 || [ ! -s all.conf ]; then
	echo "not ok import: opensm -c: $(tail -n 1 opensm.txt)"
	exit 1
fi
check "docs/migrating.md has each option of opensm -c" page_is_complete
check "the equivalents are options of weft" equivalents_exist
check "OpenSM's defaults become nothing" defaults_become_nothing
check "a directory without files is refused" nothing_is_refused
check "missing files are reported" what_is_missing_is_told
check "values are translated" values_are_translated
if where_weft_exists true 2>/dev/null; then
	check "the service may read it" service_may_read
else
	echo "skip the service may read it: no mount namespace here"
fi
check "nothing is written over" written_over_is_nothing
check "losses come first" losses_come_first
check "the files of Red Hat's package are read" red_hat_is_read
check "the partition file is checked" partition_file_is_checked
check "a range of LIDs that is none" refuses_lids '0x2 0x3 0x4' 'a GUID, its first and its last LID .* not "0x2 0x3 0x4"'
check "a LID that was given already" refuses_lids '0x2 0x1 0x1' 'a LID that no line before has'
check "a line of words" refuses_lids 'hello' 'a GUID'
check "LIDs are kept" lids_are_kept
check "the files of a real OpenSM" real_cache
finish
