# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The typed commands of a page of markdown, and whether an output equals the page. To be sourced, by
# tests/system/examples.sh and by tests/vm/inside, on a machine that has no more than perl-base.

# split_page KIND PROMPTS <PAGE: the commands of its blocks of that kind ("" is a block without a kind) that begin with
# one of the prompts, as files "1", "2" and so on in this folder, with the shown output in "1.shown" and the prompt in
# "1.prompt". "> " continues a command.
split_page() {
	perl -e '
		my ($kind, $prompts) = @ARGV;
		while (<STDIN>) {
			if (/^```(.*)/) { $code = !$code; $run = 0; $first = $code && $1 eq $kind; next }
			next unless $code;
			$run = /^[$prompts] / if $first;
			$first = 0;
			next unless $run;
			if (s/^([$prompts]) //) {
				$n++;
				open(my $prompt, ">", "$n.prompt"); print $prompt $1;
				open($cmd, ">", $n); open($shown, ">", "$n.shown"); print $cmd $_;
			}
			elsif (s/^> // && -z "$n.shown") { print $cmd $_ }
			else { print $shown $_; $shown->flush }
		}' "$1" "$2"
}

# as_shown N: its output fits the page.
as_shown() {
	perl -0777 -e '
		my ($got, $shown) = map { open(my $f, "<", $_) or die; <$f> } @ARGV;
		$got =~ s/^\S*\/script: line \d+: +\d+ Killed .*\n//gm; # messages about jobs, which only a script prints
		my $pattern = "";
		for (split /\n/, $shown) {
			if ($_ eq "...") { $pattern .= "(?:.*\\n)*?"; next }
			s/\s+$//;
			$pattern .= join(".*?", map { join("[ \\t]+", map { quotemeta } split(/[ \t]+/, $_, -1)) } split(/\.\.\./, $_, -1));
			$pattern .= "[ \\t]*\\n";
		}
		exit($got !~ /\A$pattern\z/)' "$1.out" "$1.shown"
}
