#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make install puts programs, pages, schemas, examples and the dashboard below DESTDIR, and make uninstall removes all of
# them but the configuration. The Debian package takes the same files.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# made TARGET: runs make for an installation of what is built.
made() {
	make -s -C "$root" -o all BUILD="$BUILD" DESTDIR="$work/tree" PREFIX=/usr "$1" >made.txt 2>&1 || because "make $1: $(tail -n 1 made.txt)"
}

installs() {
	local file

	made install || return 1
	for file in sbin/weftd bin/weftctl lib/weft/libweftsim.so share/man/man8/weftd.8 share/bash-completion/completions/weftctl; do
		[ -s "tree/usr/$file" ] || because "there is no /usr/$file" || return 1
	done
	for file in README.md how-do-i.md weftctl.schema.json control.schema.json examples/monitoring/weft.dashboard.json; do
		[ -s "tree/usr/share/doc/weft/$file" ] || because "there is no $file in the folder of the pages" || return 1
	done
	equal "the examples" "$(cd tree/usr/share/doc/weft && find examples -type f | sort | xargs)" "$(cd "$root" && find examples -type f | sort | xargs)" || return 1
	equal "files that others cannot read" "$(find tree/usr ! -perm -444)" ""
}

# Each installed folder is in a package.
packages_agree() {
	local file

	(cd tree && find . -type f | sed 's,^\./,,; s,^usr/lib/systemd/system/,lib/systemd/system/,; s,^usr/lib/udev,lib/udev,') | sort >has.txt
	while read -r file; do
		grep -q "^$file" has.txt || because "a package takes $file, which is not installed" || return 1
	done < <(cat "$root"/debian/weft.install "$root"/debian/weft-sim.install)
	while read -r file; do
		awk -v file="$file" 'index(file, $1) == 1 { found = 1 } END { exit !found }' "$root"/debian/weft.install "$root"/debian/weft-sim.install ||
			because "no package takes $file" || return 1
	done <has.txt
}

uninstalls() {
	made uninstall || return 1
	equal "what stays" "$(find tree -type f)" tree/etc/weft/weftd.conf
	[ ! -d tree/usr/share/doc/weft ] || because "the folder of the pages stays"
}

check "make install" installs
check "the packages take the same files" packages_agree
check "make uninstall" uninstalls
finish
