#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The import of OpenSM's files: every option that `opensm -c` writes is on the page, which generated.sh compares with the
# table; OpenSM's defaults set no option; weftd accepts the imported configuration and LIDs.
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
	"$BUILD/weftctl" "$@" import opensm "$name.etc" --cache "$name.cache" --to "$name.out" >"$name.txt" 2>&1
}

defaults_become_nothing() {
	mkdir -p default.etc
	cp all.conf default.etc/opensm.conf
	import default --json || because "$(cat default.txt)" || return 1
	equal "what becomes of the defaults" "$(json 'map { $_->{name} } @{$_->{options}}' <default.txt)" "partition_config_file guid2lid" || return 1
	equal "the configuration" "$(grep -v '^#' default.out/weftd.conf)" ""
}

nothing_is_enough() {
	mkdir -p empty.etc
	import empty || because "$(cat empty.txt)"
}

# A wrong folder is reported, before it could give all ports access to each other.
what_is_missing_is_told() {
	local name

	for name in opensm.conf partitions.conf guid2lid; do
		matches "empty\.[a-z]*/$name +there is no such file" empty.txt || because "of $name it says: $(cat empty.txt)" || return 1
	done
	"$BUILD/weftctl" import opensm empty.etc --cache empty.cash --to empty.2 2>wrong.txt >&2 && because "any cache will do" && return 1
	equal "of a cache that is not there" "$(cat wrong.txt)" "weftctl: empty.cash: No such file or directory" || return 1
	"$BUILD/weftctl" import opensm all.conf --to empty.2 2>wrong.txt >&2 && because "a file is a folder" && return 1
	equal "of a file in place of a folder" "$(cat wrong.txt)" "weftctl: all.conf: Not a directory"
}

# A value for each kind of option.
values_are_translated() {
	mkdir -p some.etc some.cache
	sed -e 's/^sm_priority .*/sm_priority 7/; s/^subnet_timeout .*/subnet_timeout 0x11/' \
		-e 's/^routing_engine .*/routing_engine ftree,dfsssp,minhop/; s/^allow_both_pkeys .*/allow_both_pkeys TRUE/' \
		-e 's/^lmc_esp0 .*/lmc_esp0 TRUE/; s/^fdr10 .*/fdr10 2/; s/^force_link_speed .*/force_link_speed 4/' \
		-e 's/^force_link_speed_ext .*/force_link_speed_ext 0/; s/^force_link_width .*/force_link_width 2/' \
		-e 's/^sm_key .*/sm_key 0x00000000000000ab/; s/^m_key .*/m_key 0x12/; s/^perfmgr .*/perfmgr TRUE/' \
		-e 's/^babbling_port_policy .*/babbling_port_policy TRUE/; s/^no_clients_rereg .*/no_clients_rereg TRUE/' \
		-e 's/^force_heavy_sweep .*/force_heavy_sweep TRUE/; s/^no_partition_enforcement .*/no_partition_enforcement TRUE/' \
		-e "s,^root_guid_file .*,root_guid_file $work/roots," -e 's/^lmc .*/lmc many/' all.conf >some.etc/opensm.conf
	echo 'no_such_option 1' >>some.etc/opensm.conf
	printf 'guid_routing_order_file /etc/\xef\n' >>some.etc/opensm.conf
	echo 'Default=0x7fff, ipoib: ALL=full;' >some.etc/partitions.conf
	echo '* *' >some.etc/prefix-routes.conf
	echo 0x1 >roots
	import some --json || because "$(cat some.txt)" || return 1
	equal "our configuration" "$(grep -v '^#' some.out/weftd.conf | sort | tr '\n' ' ')" \
		"allow_both_pkeys = true; babble_policy = \"disable\"; fdr10 = 2; force_link_speed = 4; force_link_speed_ext = 0; \
force_link_width = 2; lmc_esp0 = true; m_key = 0x12; m_key_mode = \"subnet\"; m_key_protection_level = 0; part_enforce = \"off\"; perf_interval = 180; \
prefix_routes_file = \"$work/some.etc/prefix-routes.conf\"; rereg_rate = 0; root_guid_file = \"$work/roots\"; \
routing = [\"ftree\", \"minhop\"]; sm_key = 0xab; sm_priority = 7; subnet_timeout = 0x11; " || return 1
	equal "the omitted options" "$(json 'sort map { $_->{name} } grep { !$_->{taken} } @{$_->{options}}' <some.txt)" \
		"force_heavy_sweep guid2lid guid_routing_order_file lmc no_such_option" || return 1
	matches 'dfsssp' some.txt || because "it does not tell of the engine that is left out" || return 1
	! matches '0xab|0x00000000000000ab|0x12"' some.txt || because "it shows a key" || return 1
	cmp -s some.etc/partitions.conf some.out/partitions.conf || because "the partition file differs" || return 1
	getent group weft >/dev/null || equal "the mode of weftd.conf" "$(stat -c %a some.out/weftd.conf)" 600 || return 1
	"$BUILD/weftd" -c some.out/weftd.conf --check-config >check.txt 2>&1 || because "weftd: $(cat check.txt)"
}

# Files created by root have the group of the service, which may read them. No other user may.
service_may_read() {
	chmod 755 "$work"
	where_weft_exists "$BUILD/weftctl" import opensm some.etc --cache some.cache --to group.out >group.txt 2>&1 || because "$(cat group.txt)" || return 1
	matches 'weftd.conf, partitions.conf, readable only by the owner and the group weft$' group.txt && matches 'with cp -p' group.txt ||
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
check "an empty folder is enough" nothing_is_enough
check "missing files are reported" what_is_missing_is_told
check "values are translated" values_are_translated
if where_weft_exists true 2>/dev/null; then
	check "the service may read it" service_may_read
else
	echo "skip the service may read it: no mount namespace here"
fi
check "nothing is written over" written_over_is_nothing
check "a range of LIDs that is none" refuses_lids '0x2 0x3 0x4' 'a GUID, its first and its last LID .* not "0x2 0x3 0x4"'
check "a LID that was given already" refuses_lids '0x2 0x1 0x1' 'a LID that no line before has'
check "a line of words" refuses_lids 'hello' 'a GUID'
check "LIDs are kept" lids_are_kept
check "the files of a real OpenSM" real_cache
finish
