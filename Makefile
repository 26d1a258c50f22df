# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Builds everything into build/, without recursion. The sources of each folder are found by wildcard. Their
# objects are build/obj/FOLDER/x.o, and a program is a list of folders. configure finds the compiler and the
# libraries. make runs it when build/config.mk is missing or older than its sources.
#
#   make CC=clang                      another compiler
#   make SANITIZE=address,undefined    instrumented, into build-address-undefined/
#   make SANITIZE=thread check
#   make WERROR=1                      warnings are errors, as in `make lint`
#
# `make help` lists the targets.

.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules --no-print-directory

comma := ,
VERSION := $(file <VERSION)
BUILD := build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))

# A program links all objects of the folders that it may use. So code that needs another folder does not link.
weftd_FOLDERS := weftd sm ha sa pm fabric store route mad formats lib
weftctl_FOLDERS := ctl formats lib
weftsim_FOLDERS := sim formats lib mad sma

weftd_LIBS = $(UMAD_LIBS) $(CONFIG_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) $(SYSTEMD_LIBS) $(GNUTLS_LIBS)
weftctl_LIBS = $(JANSSON_LIBS) $(SMARTCOLS_LIBS) $(SYSTEMD_LIBS) $(GNUTLS_LIBS)
# The libraries of the archive, for tests. --as-needed drops those that a test does not use.
ARCHIVE_LIBS = $(weftd_LIBS) $(SMARTCOLS_LIBS)
weftsim_LIBS = $(UMAD_LIBS) $(JANSSON_LIBS) $(SYSTEMD_LIBS) $(GNUTLS_LIBS)

# A program exists when its first folder, which has its name, contains sources.
sources = $(wildcard $(1)/*.c $(1)/*/*.c)
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(call sources,$(1)))
PROGRAMS := $(foreach p,weftd weftctl weftsim,$(if $(call sources,$(firstword $($p_FOLDERS))),$(BUILD)/$p))

# The library that programs preload to see the simulated devices. It depends on libc only, because any program
# may preload it. So it is built without sanitizers. Its wrappers are the targets of fortified calls.
LIBRARY := $(BUILD)/libweftsim.so
LIBRARY_MAP := preload/libweftsim.map
$(BUILD)/obj/preload/%.o: HARDENING = -fPIC -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE

# The unit tests of a folder are in the folder of the same name in tests/unit. Shared fixtures are in
# tests/unit/fixtures.
#
# Tests, benchmarks and harnesses are linked with two archives: the fixtures, and the product without its
# main()s. The linker takes only objects that a program refers to. A test's `// WITH:` line names objects of
# tests/ that are linked before the archives, such as loop_virtual.o in place of the loop. Its `// LIBS:` line
# names libraries that only tests use.
ARCHIVE := $(BUILD)/weft.a
FIXTURES := $(BUILD)/tests/unit/fixtures.a
unit_sources := $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c)
TESTS := $(patsubst %.c,$(BUILD)/%,$(unit_sources) $(wildcard tests/bench/bench_*.c tests/walk/walk.c tests/bench/umad_rate.c tests/bench/mc_join.c) \
	$(addprefix tests/bench/,sa_flood.c sa_load.c sa_probe.c sa_wait.c))
# Each item as FILE|WITH:ITEM, by one command for all tests.
declarations := $(shell grep -rE --include='*.c' '^// (WITH|LIBS):' tests 2>/dev/null | \
	awk -F '[: ]+' '{ for (i = 4; i <= NF; i++) print $$1 "|" $$3 ":" $$i }')
declared = $(patsubst $(2)|$(1):%,%,$(filter $(2)|$(1):%,$(declarations)))
with_items = $(foreach i,$(call declared,WITH,$(1)),$(if $(filter simulation,$i),$(sim_sources),$(or $(wildcard $(i:.o=.c)),$(i:.o=.c))))
with = $(patsubst %.c,$(BUILD)/obj/%.o,$(call with_items,$(1)))

# The simulation runs whole managers on a fabric of software agents. It has its own loop, threads and streams,
# and a transport in place of umad.
SIM_RUN := $(BUILD)/tests/sim/sim_run
sim_sources := $(filter-out tests/sim/run.c,$(wildcard tests/sim/*.c))
ARCHIVED := $(filter-out %/main.c,$(foreach r,lib formats mad sma store fabric route ha sm sa pm weftd ctl sim,$(call sources,$r)))

# A harness is linked in the same way as a unit test. `simulation` in its WITH line stands for tests/sim/
# without its main(). In the second make of `make fuzz` a harness is linked with libFuzzer. Else it is linked
# with replay.o, which passes it the corpus. assert.o replaces CUnit's assertions, without counts.
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_WITH := $(patsubst %,$(BUILD)/obj/tests/fuzz/%.o,assert $(if $(FUZZ),,replay))

# These targets need neither a compiler nor a configuration. Those that may have to install a compiler first
# run a second make for the build.
UNCONFIGURED := help clean distclean format check check-sanitize demo lint uninstall soak mutants fuzz coverage bench deb check-deb check-kernel check-systemd
ifneq ($(filter-out $(UNCONFIGURED),$(or $(MAKECMDGOALS),all)),)
include build/config.mk
endif

PREFIX ?= /usr/local
CFLAGS ?= $(if $(SANITIZE),-O1,-O2) -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
HARDENING := -fPIE -fstack-protector-strong -fstack-clash-protection
HARDENING += $(if $(FUZZ),-fsanitize=fuzzer-no-link)
ifdef SANITIZE
HARDENING += -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANITIZE_LDFLAGS := -fsanitize=$(SANITIZE)
else
# Fortified functions need an optimizing compiler.
HARDENING += $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif

ALL_CPPFLAGS = -I. -D_GNU_SOURCE -DWEFT_VERSION='"$(VERSION)"' $(UMAD_CFLAGS) $(SYSTEMD_CFLAGS) \
	$(CONFIG_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(GNUTLS_CFLAGS) $(SMARTCOLS_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 -pthread $(WARNINGS) $(CFLAGS) $(HARDENING)
ALL_LDFLAGS = -pie -pthread -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed \
	$(SANITIZE_LDFLAGS) $(LDFLAGS)

# The folder of a source is its log component. Tests keep the default of the header.
folder_flag = $(if $(filter tests/%,$(1)),,-DLOG_COMPONENT='"$(firstword $(subst /, ,$(1)))"')

# Use all processors, unless make has a -j option.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$$(nproc))
Q := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-5s %s\n' '$(1)' '$(2)')

.PHONY: all tests fuzzers objects check check-sanitize demo soak mutants fuzz coverage bench lint generated format install uninstall deb check-deb check-kernel check-systemd clean distclean help FORCE

all: $(PROGRAMS) $(LIBRARY)
tests: $(TESTS) $(SIM_RUN) fuzzers
fuzzers: $(FUZZERS)
# Each source is compiled, and no program is linked: for the warnings of a compiler. vhca/ belongs to the kernel.
objects: $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out build% vhca/%,$(wildcard */*.c */*/*.c */*/*/*.c */*/*/*/*.c)))

# Objects depend on this file, which changes only if the compiler or its flags change. -Werror makes no other object.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(ALL_CPPFLAGS) $(filter-out -Werror,$(ALL_CFLAGS)) | $(ALL_LDFLAGS))' >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(call folder_flag,$*) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(PROGRAMS): $$(foreach r,$$($$(@F)_FOLDERS),$$(call objects,$$r))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $($(@F)_LIBS) $(LIBS)

$(LIBRARY): $(call objects,preload) $(LIBRARY_MAP)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs -Wl,--version-script=$(LIBRARY_MAP) \
		$(LDFLAGS) -o $@ $(filter %.o,$^)

$(ARCHIVE): $(patsubst %.c,$(BUILD)/obj/%.o,$(ARCHIVED))
$(FIXTURES): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/unit/fixtures/*.c))
$(ARCHIVE) $(FIXTURES):
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsT $@ $^

$(TESTS): $(BUILD)/%: $(BUILD)/obj/%.o $$(call with,$$*.c) $(FIXTURES) $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(call declared,LIBS,$*.c) $(CUNIT_LIBS) $(ARCHIVE_LIBS) $(LIBS)

$(FUZZERS): $(BUILD)/%: $(BUILD)/obj/%.o $$(call with,$$*.c) $(FUZZ_WITH) $(FIXTURES) $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) -o $@ $^ $(call declared,LIBS,$*.c) $(ARCHIVE_LIBS) $(LIBS)

$(SIM_RUN): $(patsubst %.c,$(BUILD)/obj/%.o,tests/sim/run.c $(sim_sources)) $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(ARCHIVE_LIBS) $(LIBS)

-include $(wildcard $(addsuffix *.d,$(addprefix $(BUILD)/obj/,*/ */*/ */*/*/ */*/*/*/)))

configure: configure.ac VERSION
	$(call say,CONF,$@)
	$(Q)autoconf || { echo "no configure: autoconf is needed (Debian: autoconf)" >&2; exit 1; }
	@rm -rf autom4te.cache

# The file serves all build folders, so configure runs without the CC and CFLAGS of this build.
build/config.mk: configure config.mk.in
	$(call say,CONF,$@)
	$(Q)env -u CC -u CFLAGS ./configure --quiet

# The build is a second make, so that its configure finds the packages that the first line installs.
check:
	@scripts/install-deps check-kernel
	@$(MAKE) $(JOBS) all tests
	@scripts/vm-kernel >/dev/null || :
	@scripts/vm-provider >/dev/null || :
	@scripts/simulated-only scripts/run-tests $(BUILD)

# Runs unit tests, known seeds and the fuzz corpus with AddressSanitizer and UndefinedBehaviorSanitizer. Runs
# the unit tests that start threads, and bringup.sh, with ThreadSanitizer.
UNIT_TESTS := $(basename $(unit_sources))
THREADED = $(basename $(shell grep -lE 'pthread_create|work_pool_new|store_open' $(unit_sources)))
check-sanitize:
	@scripts/install-deps
	@$(MAKE) $(JOBS) SANITIZE=address,undefined fuzzers \
		$(addprefix build-address-undefined/,tests/sim/sim_run $(UNIT_TESTS))
	@SANITIZE=address,undefined scripts/simulated-only scripts/run-tests build-address-undefined \
		$(notdir $(UNIT_TESTS)) sim.sh fuzz-corpus.sh
	@$(MAKE) $(JOBS) SANITIZE=thread all $(addprefix build-thread/,$(THREADED))
	@SANITIZE=thread scripts/simulated-only scripts/run-tests build-thread $(notdir $(THREADED)) bringup.sh

demo:
	@scripts/install-deps
	@$(MAKE) $(JOBS) all
	@BUILD=$(BUILD) scripts/simulated-only scripts/demo

soak:
	@scripts/install-deps
	@$(MAKE) $(JOBS) tests
	@BUILD=$(BUILD) scripts/soak $(MINUTES)

mutants:
	@scripts/install-deps
	@$(MAKE) $(JOBS) tests
	@BUILD=$(BUILD) scripts/mutants $(NAMES)

fuzz:
	@scripts/install-deps fuzz
	@$(MAKE) $(JOBS) BUILD=build-fuzz CC=clang-14 SANITIZE=address,undefined FUZZ=1 fuzzers
	@scripts/fuzz build-fuzz $(or $(SECONDS),60) $(NAMES)

# Without optimization, so that the lines are those of the sources.
coverage:
	@scripts/install-deps
	@$(MAKE) $(JOBS) BUILD=build-coverage CFLAGS='-O0 -g --coverage' all tests
	@scripts/coverage build-coverage

bench:
	@scripts/install-deps
	@$(MAKE) $(JOBS) all tests
	@BUILD=$(BUILD) scripts/simulated-only scripts/bench

lint:
	@scripts/install-deps
	@MAKE='$(MAKE)' scripts/lint

# The generated pages are in the tree; tests/system/generated.sh compares them with the programs.
generated: $(PROGRAMS)
	@BUILD=$(BUILD) scripts/generate
	@$(BUILD)/weftctl --print-requests >docs/control.schema.json

format:
	clang-format-14 -i $$(scripts/tree-files '*.c' '*.h')

UNITS := $(notdir $(wildcard systemd/*.service systemd/*.timer))
SYSTEMD_UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
SYSUSERS = $(DESTDIR)$(PREFIX)/lib/sysusers.d/weft.conf
CATALOG = $(DESTDIR)$(PREFIX)/lib/systemd/catalog/weft.catalog
UDEV_RULES = $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-weft.rules
BASH_COMPLETION = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/weftctl
ZSH_COMPLETION = $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_weftctl
MAN = $(DESTDIR)$(PREFIX)/share/man
SYSCONFDIR = $(DESTDIR)/etc/weft
# Pages and examples, as Debian's policy (12.3) has them. The pages lie in one folder, the examples keep theirs.
DOCDIR = $(DESTDIR)$(PREFIX)/share/doc/weft
PAGES := README.md SECURITY.md $(wildcard docs/*)
EXAMPLES := $(sort $(shell find examples -type f))

install: all
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/weft $(MAN)/man1 $(MAN)/man5 $(MAN)/man8
	install -m 755 $(filter %/weftd,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/sbin/
	install -m 755 $(filter-out %/weftd,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/weft/
	install -m 644 $(wildcard man/*.1) $(MAN)/man1/
	install -m 644 $(wildcard man/*.5) $(MAN)/man5/
	install -m 644 $(wildcard man/*.8) $(MAN)/man8/
	install -d $(dir $(BASH_COMPLETION) $(ZSH_COMPLETION))
	$(BUILD)/weftctl completion bash >$(BASH_COMPLETION)
	$(BUILD)/weftctl completion zsh >$(ZSH_COMPLETION)
	chmod 644 $(BASH_COMPLETION) $(ZSH_COMPLETION)
	install -d $(SYSTEMD_UNITS) $(SYSCONFDIR)
	for unit in $(UNITS); do sed 's,/usr/\(s\?bin\)/weft,$(PREFIX)/\1/weft,' systemd/$$unit >$(SYSTEMD_UNITS)/$$unit; done
	cd $(SYSTEMD_UNITS) && chmod 644 $(UNITS)
	install -D -m 644 systemd/weft.sysusers.conf $(SYSUSERS)
	install -D -m 644 systemd/60-weft.rules $(UDEV_RULES)
	install -D -m 644 systemd/weft.catalog $(CATALOG)
	install -d $(DOCDIR) $(addprefix $(DOCDIR)/,$(sort $(dir $(EXAMPLES))))
	install -m 644 $(PAGES) $(DOCDIR)/
	for file in $(EXAMPLES); do install -m $$(test -x $$file && echo 755 || echo 644) $$file $(DOCDIR)/$$file; done
	test -e $(SYSCONFDIR)/weftd.conf || install -m 640 etc/weftd.conf $(SYSCONFDIR)/weftd.conf
	@$(if $(DESTDIR),,echo 'Before the service starts for the first time: systemd-sysusers; chgrp weft $(SYSCONFDIR)/weftd.conf;' \
		'udevadm control --reload; udevadm trigger -s infiniband_mad; systemctl daemon-reload;' \
		'journalctl --update-catalog')

# The configuration belongs to the administrator and stays.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/sbin/weftd $(DESTDIR)$(PREFIX)/bin/weftctl $(DESTDIR)$(PREFIX)/bin/weftsim
	rm -f $(DESTDIR)$(PREFIX)/lib/weft/libweftsim.so; rmdir $(DESTDIR)$(PREFIX)/lib/weft 2>/dev/null || true
	rm -f $(patsubst man/%,$(MAN)/man1/%,$(wildcard man/*.1)) $(patsubst man/%,$(MAN)/man5/%,$(wildcard man/*.5)) $(patsubst man/%,$(MAN)/man8/%,$(wildcard man/*.8))
	rm -f $(patsubst %,$(SYSTEMD_UNITS)/%,$(UNITS)) $(SYSUSERS) $(UDEV_RULES) $(CATALOG) $(BASH_COMPLETION) $(ZSH_COMPLETION)
	rm -f $(addprefix $(DOCDIR)/,$(notdir $(PAGES)) $(EXAMPLES))
	test ! -d $(DOCDIR) || find $(DOCDIR) -depth -type d -empty -delete

deb:
	@scripts/install-deps
	@scripts/deb

check-deb:
	@scripts/install-deps
	@scripts/simulated-only scripts/deb --check

check-kernel:
	@scripts/install-deps check-kernel
	@$(MAKE) $(JOBS) all
	@BUILD=$(BUILD) scripts/simulated-only scripts/check-kernel $(if $(FULL),--full)

check-systemd:
	@scripts/install-deps check-systemd
	@scripts/deb
	@BUILD=$(BUILD) scripts/check-systemd

clean:
	rm -rf build build-*

distclean: clean
	rm -rf configure configure~ config.log config.status autom4te.cache

help:
	@echo 'make             Build weftd, weftctl, weftsim and libweftsim.so in build/.'
	@echo 'make demo        Install what is missing, build, and run weftd on a simulated fabric.'
	@echo 'make check       Install what is missing, build, and run all tests.'
	@echo 'make check-sanitize'
	@echo '                 Run unit tests, known seeds and the fuzz corpus with sanitizers, and threads with ThreadSanitizer.'
	@echo 'make check-deb   Build the packages twice and compare them; run lintian; install, upgrade and purge them in an overlay.'
	@echo 'make check-kernel'
	@echo '                 Test with a kernel of Debian in a virtual machine with virtual HCAs. FULL=1 VM_KERNEL=newest VM_ACCEL=kvm'
	@echo 'make check-systemd'
	@echo '                 Test the packages on a virtual Debian 12: units, udev, journal. VM_ACCEL=kvm uses KVM.'
	@echo 'make soak        Run managers in simulated fabrics with 2,000 fixed seeds, then with random seeds. MINUTES=10'
	@echo 'make mutants     Break the manager on purpose, and show which test fails. NAMES= PARALLEL= FIRST=1'
	@echo 'make fuzz        Run libFuzzer on each parser of external data. SECONDS=60 (each) NAMES='
	@echo 'make coverage    Show which share of the lines the unit tests run, by folder and by file.'
	@echo 'make bench       Measure speed. QUICK=1'
	@echo 'make lint        Check layers, sizes, licences, format, warnings, scripts, prose and man pages.'
	@echo 'make generated   Write the references of options and commands into the pages, from the tables of the programs.'
	@echo 'make format      Format the sources with clang-format-14.'
	@echo 'make deb         Build the Debian packages weft and weft-sim in build/deb/.'
	@echo 'make install     PREFIX=/usr/local DESTDIR= ; an existing /etc/weft/weftd.conf is kept.'
	@echo 'make uninstall   Remove all that make install installs, except /etc/weft.'
	@echo 'make clean       Remove build*/; make distclean also removes configure.'
	@echo 'Variables of each build: CC=clang, SANITIZE=address,undefined or SANITIZE=thread, WERROR=1, V=1 (show commands)'
