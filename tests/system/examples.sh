#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The pages are true. In README.md and docs/*.md a block of code that begins with "$ " is typed input with its output:
# one shell runs the commands of a page one after the other in a folder of its own. Their output is compared with the
# page, if the page shows output ("..." stands for anything, alone on a line for any lines). A command without output in
# the page must succeed. "> " continues a command. A block that begins with "# " is for root on a real host, and does
# not run. tests/vm/inside runs blocks of kind `session`. Each command of weftctl on a page must exist. A block of kind
# `log` has lines of weftd's log: the program must be able to write each. Real managers use the configurations under
# examples/.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/page.sh
. "$root/tests/system/page.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip examples: the preload library and sanitizers exclude each other"
	exit 0
fi
if ! command -v iblinkinfo >/dev/null; then
	echo "skip examples: no iblinkinfo here"
	exit 0
fi

# Tests may run side by side: addresses of the loopback network for this test alone.
loopback=127.$((1 + $$ / 250 % 250)).$((1 + $$ % 250))

# Pages

# A shell script of them: each command unchanged, with its output in "1.out", its status in "1.status".
page_script() {
	local n

	# Job control, as interactive shells have it: %1 and %2 are jobs.
	echo "set -m; trap 'kill \$(jobs -p) 2>/dev/null' EXIT"
	for ((n = 1; n <= $(find . -name '*.shown' | wc -l); n++)); do
		echo "{"
		sed "s|\$PWD/build|$BUILD|; s|127\.0\.0\.|$loopback.|g" "$n"
		echo "} >'$PWD/$n.out' 2>&1"
		echo "echo \$? >'$PWD/$n.status'"
	done
	echo wait
}

page() {
	local folder=$work/${1//\//-}.d n

	mkdir "$folder" "$folder/here" && cd "$folder" && split_page '' '$' <"$root/$1"
	page_script >script
	(cd here && PATH=$root/examples/control:$PATH TMPDIR=$folder WEFTSIM_SOCKET=$folder/page.sock timeout 200 bash "$folder/script" >../script.out 2>&1)
	for ((n = 1; n <= $(find . -maxdepth 1 -name '*.shown' | wc -l); n++)); do
		if [ -s $n.shown ]; then
			as_shown $n || because "it prints: $(head -n 40 $n.out); of: $(cat $n)" || return 1
		else
			equal "the status of: $(cat $n) ($(tail -n 1 $n.out))" "$(cat $n.status 2>/dev/null)" 0 || return 1
		fi
	done
	[ $n -gt 1 ] || because "there is nothing to run" || return 1
	equal "what it leaves where it is typed" "$(ls -A here)" ""
}

# In blocks and in backquotes.
names_commands() {
	"$BUILD/weftctl" --help | sed -n '/^Commands:/,$ s/^  \([a-z][a-z]*\( [a-z][a-z]*\)*\).*/\1/p' >commands.txt
	equal "what no command of weftctl is" "$(cd "$root" && perl -e '
		open(my $f, "<", shift); chomp(my @known = <$f>);
		for my $page (@ARGV) {
			open(my $in, "<", $page) or die; local $/; my $text = <$in>;
			$text =~ s/\S\K[ \t]+# .*//g; # comments behind commands
			my @code = ($text =~ /^```[a-z]*\n(.*?)^```/gms, $text =~ /(?<!`)`([^`]+)`(?!`)/g);
			for (map { /\bweftctl((?:[ \n]+(?:--json|-s \S+))*(?:[ \n]+[a-z]+)+)/g } @code) {
				s/(--json|-s \S+)//g; s/\s+/ /g; s/^ | $//g;
				my $words = $_;
				print "$page: weftctl $words; " unless grep { "$words " =~ /^\Q$_\E / || "$_ " =~ /^\Q$words\E / } @known;
			}
		}' "$work/commands.txt" README.md docs/*.md)" ""
}

# A line is real if the program has a text that fits it, with any value for each conversion.
logs_are_real() {
	strings -n 12 "$BUILD/weftd" >strings.txt
	equal "what weftd does not write" "$(cd "$root" && perl -e '
		my @patterns;
		open(my $f, "<", shift);
		while (<$f>) {
			chomp;
			my @parts = split /%[-0-9.*]*(?:hh|h|ll|l|z)?[a-zA-Z]/, $_, -1;
			push @patterns, join(".+", map { quotemeta } @parts) if (() = join("", @parts) =~ /[a-z]/g) >= 12;
		}
		for my $page (@ARGV) {
			open(my $in, "<", $page); my $log = 0;
			while (<$in>) {
				chomp;
				if (/^```/) { $log = /^```log$/; next }
				next unless $log;
				my $line = $_;
				print "$page: $line; " unless grep { $line =~ /$_/ } @patterns;
				$lines++;
			}
		}
		print "no page has a line" unless $lines' "$work/strings.txt" docs/*.md)" ""
}

# Links of a page to another file of the tree.
links_lead_somewhere() {
	local page link

	for page in "$root"/*.md "$root"/docs/*.md; do
		while read -r link; do
			[ -e "$(dirname "$page")/$link" ] || because "${page##*/} leads to $link, which is not there" || return 1
		done < <(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//')
	done
}

# Those of the catalog must all be on the page about monitoring.
message_ids_exist() {
	sed -n 's/^-- //p' "$root/systemd/weft.catalog" | sort >catalog.txt
	equal "MESSAGE_IDs that the catalog lacks" "$(cd "$root" && grep -ohE '\b[0-9a-f]{32}\b' README.md docs/*.md | sort -u |
		comm -23 - "$work/catalog.txt" | xargs)" "" || return 1
	equal "MESSAGE_IDs that docs/monitoring.md lacks" "$(grep -oE '\b[0-9a-f]{32}\b' "$root/docs/monitoring.md" | sort -u |
		comm -13 - catalog.txt | xargs)" ""
}

# Configurations

# prepare NAME: a copy of examples/NAME at the same path, with the secrets that it needs.
prepare() {
	rm -rf "${work:?}/$1" && cp -r "$root/examples/$1" "$work/$1" && cd "$work" || return 1
	sed -i "s|/etc/weft/|$work/$1/|; s|10\.0\.0\.|$loopback.|g; s|^ca = .*|ca = \"weftsim0\";|" "$1"/*.conf
	(umask 077 && for name in ha.psk m_key.secret; do
		od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$1/$name"
	done)
}

# starts NAME HOST FILE: --check-config and a daemon accept it.
starts() {
	local status

	conf=$work/$3
	"$BUILD/weftd" -c "$conf" --check-config >"$1.txt" 2>&1
	status=$?
	equal "the status of --check-config ($(tail -n 1 "$1.txt"))" $status 0 && start_weftd "$1" "$2"
}

comes_up() {
	wait_for 30 is_up "$1" || because "it does not come up: $(tail -n 1 "$1.log")"
}

# example NAME: on a fabric of its own; nothing runs afterwards.
example() {
	local name wrong=0

	start_weftsim single:hosts=4 && "$1" || wrong=1
	for name in "${!pids[@]}"; do
		[ "$name" = "$fabric" ] || kill_now "$name"
	done
	stop_fabric && return $wrong
}

single() {
	prepare single && starts single host-0001 single/weftd.conf && comes_up single
}

in_step() {
	[ "$(ctl a ha status 2>/dev/null | json '$_->{acknowledged_by}, $_->{standbys}[0]{state}')" = "standby in sync" ]
}

pair() {
	local address

	prepare pair && starts a host-0001 pair/weftd-a.conf && comes_up a && starts b host-0002 pair/weftd-b.conf || return 1
	wait_for 30 in_step || because "the second is not in sync: $(ctl a ha status)" || return 1
	stop a && comes_up b || return 1
	for address in $(sed -n 's/^ha_listen = "\(.*\)";/\1/p' "$root"/examples/pair/*.conf); do
		matches "^IPAddressAllow=.*\\b$address\\b" "$root/examples/pair/weftd.service.d/ha.conf" ||
			because "the drop-in of the unit lacks $address" || return 1
	done
}

tenants() {
	prepare tenants && starts tenants host-0001 tenants/weftd.conf && comes_up tenants || return 1
	equal "the partitions" "$(ctl tenants partition list | json 'sort map { $_->{name} } @$_')" \
		"Default blue red storage" || return 1
	"$BUILD/weftctl" -s tenants.run/control.sock partition check tenants/partitions.conf >check.txt 2>&1 ||
		because "partition check: $(tail -n 1 check.txt)"
}

beside_opensm() {
	prepare beside-opensm && start_opensm opensm host-0002 && wait_for 20 matches 'SUBNET UP' opensm.log ||
		because "no OpenSM: ${reason:-$(tail -n 1 opensm.log)}" || return 1
	starts beside host-0001 beside-opensm/weftd.conf && wait_for 20 has_status beside '$_->{role}' STANDBY ||
		because "it is $(status beside '$_->{role}')"
}

# Alerts use existing metrics. Those of planned links exist with a plan only.
alerts() {
	prepare single && "$BUILD/weftsim" topology single:hosts=4 >plan.net || return 1
	echo "planned_topology = \"$work/plan.net\";" >>single/weftd.conf
	starts metrics host-0001 single/weftd.conf && comes_up metrics || return 1
	"$BUILD/weftsim" "do" 'count host-0002 1 SymbolErrorCounter 5' && ctl metrics perf sweep >/dev/null ||
		because "no counters" || return 1
	"$BUILD/weftctl" -s metrics.run/control.sock perf metrics | sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' >figures.txt
	[ -s figures.txt ] || because "perf metrics says nothing" || return 1
	equal "figures that there are not" "$(cd "$root" &&
		cat examples/monitoring/weft.rules.yml docs/monitoring.md | grep -ohE '\bweft_[a-z_]+' | sort -u |
		grep -vxFf "$work/figures.txt" | xargs)" ""
}

# The manual's partition files: each block with a definition.
partition_manual() {
	local file

	prepare single && starts manual host-0001 single/weftd.conf && comes_up manual || return 1
	perl -ne 'if (/^\.EX/) { $n++; open($f, ">", "manual-$n.conf") } elsif (/^\.EE/) { undef $f } elsif ($f) { s/\\-/-/g; print $f $_ }' \
		"$root/man/weft-partitions.conf.5"
	rm manual-1.conf # the form
	for file in manual-[0-9]*.conf; do
		[ -s "$file" ] && "$BUILD/weftctl" -s manual.run/control.sock partition check "$file" >check.txt 2>&1 ||
			because "$file: $(tail -n 1 check.txt)" || return 1
	done
}

check "the commands of weftctl that pages name" names_commands
check "the links of pages" links_lead_somewhere
check "the lines of the log that pages show" logs_are_real
check "the MESSAGE_IDs that pages name" message_ids_exist
check "examples/single" example single
check "examples/pair" example pair
check "examples/tenants" example tenants
check "examples/beside-opensm" example beside_opensm
check "examples/monitoring" example alerts
check "the examples of weft-partitions.conf(5)" example partition_manual
# Commands in blocks of the kind vm are typed by kernel.sh.
for page in $(cd "$root" && grep -l '^\$ ' README.md docs/*.md | xargs grep -L '^```vm'); do
	check "$page, as it is typed" page "$page"
done
finish
