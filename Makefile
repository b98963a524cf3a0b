# SPDX-License-Identifier: GPL-2.0-only
# xpcache: one Makefile. `make help` lists what it can do; all that is built goes
# to build/. Parts have rules of their own, included below.

# Where it is installed, each below DESTDIR; as GNU names them.
PREFIX	?= /usr/local
sbindir	?= $(PREFIX)/sbin
# Programs that others run: xpcache and xpcached look for them in ../libexec/xpcache and ../lib/xpcache, from where they
# are, then where make was told to install them when it built them.
libexecdir ?= $(PREFIX)/libexec
programdir := $(libexecdir)/xpcache
datarootdir ?= $(PREFIX)/share
mandir	?= $(datarootdir)/man
docdir	?= $(datarootdir)/doc/xpcache
completiondir ?= $(datarootdir)/bash-completion/completions
fishdir	?= $(datarootdir)/fish/vendor_completions.d
zshdir	?= $(datarootdir)/zsh/site-functions
unitdir	?= $(PREFIX)/lib/systemd/system

# The one place of the version: what is packaged is what the program says of itself.
XP_VERSION := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)

CUTS	?= 25
STACK_CUTS ?= 6
DEBIAN_CUTS ?= 10
SEED	?= 1

CFLAGS_ALL := -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore

.PHONY: all
all: bootstrap-build ## the command line, the daemon, and the module for the running kernel
	+@$(MAKE) --no-print-directory programs module

# ------------------------------------------------------------- core ----

# Once for all programs that take it as it is.
core-objects := $(patsubst core/%.c,build/core/%.o,$(wildcard core/*.c))

build/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(core-objects:.o=.d)

# ------------------------------------------------------------ parts ----

include lib/lib.mk
include tools/tools.mk
include daemon/daemon.mk
include dm-target/module.mk
include dkms/dkms.mk
include boot/boot.mk
include packaging/packaging.mk
include docs/docs.mk
include tests/unit/unit.mk
include tests/model/model.mk
include tests/daemon/daemon-test.mk
include tests/daemon/watch/watch.mk
include tests/bench/bench.mk
include tests/sim/sim.mk
include tests/policy/policy.mk
include tests/fuzz/fuzz.mk
include tests/crash/crash.mk
include tests/lab/lab.mk
include tests/report/report.mk
include tests/install/install.mk
include tests/cross/cross.mk
include tests/docs/docs.mk

parts := build demo check test

.PHONY: bootstrap $(parts:%=bootstrap-%)
bootstrap: bootstrap-test ## install what is missing to build and test; bootstrap-build, -demo, -check: for so much of it
$(parts:%=bootstrap-%): bootstrap-%:
	@scripts/bootstrap $*

# ---------------------------------------------------------- test, check ----

.PHONY: demo test check vm-build vm-quick vm-test vm-powercut vm-kernels vm-debug vm-kcsan

.PHONY: demo-user
demo-user: bootstrap-demo ## a cache at work in user space, in seconds: the disk, the cache, and a page with charts
	@mkdir -p build && : >build/demo.log
	+@for program in build/xpcache build/xpcached build/xpcache-bench build/tests/reader; do \
		echo "making $$program; build/demo.log tells how"; \
		$(MAKE) --no-print-directory -j "$$(nproc)" $$program >>build/demo.log 2>&1 || { tail -n 20 build/demo.log >&2; exit 1; }; \
	done
	@tests/daemon/demo build/demo

demo: bootstrap-test ## a cache at work in a virtual machine: latency before and after
	+@$(MAKE) --no-print-directory $(vm-programs) vm-module-6.12
	@tests/vm/demo

test: bootstrap-test ## everything a commit must pass: check, simulator, the quick set of machines
	@tests/tally check sim mutants-quick fuzz vm-quick

lints := $(addprefix lint-,$(shell tests/lint --list))

# Those come first that wait most of their time, for what others do and for the clock: the rest has the processors then.
# The benchmark comes last: it keeps a rate, which it can while little else wants to run.
checks := $(daemon-parts) tools-test watch-test folder-test vm-selftest unit-test model-test sim-short policy-check docs-test \
	$(lints) bench-test

check: bootstrap-check ## fast: unit tests and linters
	+@$(MAKE) --no-print-directory --keep-going --output-sync=target $(checks)

.PHONY: lint-deep $(lints)
lint-deep: bootstrap-check ## clang's analyzer with ten times the patience it has in `make check`: minutes

lint-deep $(lints): lint-%:
	@tests/lint $*

.PHONY: structure
structure: ## the rooms of the source tree: their size, what goes up, and the headers with most dependants
	@scripts/structure

# ------------------------------------------------------ virtual machines ----

# tests/vm/kernels has them; `make test` boots those that are marked there.
all-kernels := $(shell awk '!/^\#/ { print $$1 }' tests/vm/kernels)
kernels := $(shell awk '!/^\#/ && $$3 == "test" { print $$1 }' tests/vm/kernels)
guest-programs := $(patsubst tests/vm/guest/%.c,build/vm/bin/%,$(wildcard tests/vm/guest/*.c))

# crashload has a rule of its own, in tests/crash/crash.mk.
build/vm/bin/%: tests/vm/guest/%.c tests/vm/guest/pattern.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -static -o $@ $<

# Scripts of tests/bench that a guest runs, too.
guest-scripts := build/vm/bin/compare-fio build/vm/bin/by-hand

$(guest-scripts): build/vm/bin/%: tests/bench/%
	@mkdir -p $(@D)
	cp $< $@

# Of the daemon a guest has the libraries only if it has the host's /usr.
build/vm/xpcached build/vm/xpcached-watch: build/vm/%: build/%
	@mkdir -p $(@D)
	cp $< $@

build/vm/ublkwords.so build/vm/ublkstop: build/vm/%: build/tests/%
	@mkdir -p $(@D)
	cp $< $@

# The module, signed by a key that no kernel knows.
build/vm/unknown-key.ko: vm-module-6.12
	@openssl req -new -x509 -newkey rsa:2048 -nodes -subj /CN=unknown -days 1 \
		-keyout build/vm/unknown.pem -out build/vm/unknown.x509 2>/dev/null
	@build/kernel/6.12/headers/scripts/sign-file sha256 build/vm/unknown.pem build/vm/unknown.x509 \
		"build/module-$$(cat build/kernel/6.12/version)/dm-xpcache.ko" $@

# A disk that seeks, for the machine of the job seek.
build/vm/seekdisk.ko: tests/vm/seekdisk/seekdisk.c tests/vm/seekdisk/Kbuild
	@tests/vm/kernel 6.12 >/dev/null
	@mkdir -p build/vm/seekdisk
	@ln -sf $(addprefix $(CURDIR)/,$^) build/vm/seekdisk/
	$(MAKE) -C build/kernel/6.12/headers M=$(CURDIR)/build/vm/seekdisk modules
	@cp build/vm/seekdisk/seekdisk.ko $@

vm-programs := build/xpcache build/xpcache-bench build/vm/xpcached build/vm/xpcached-watch build/vm/ublkwords.so build/vm/ublkstop build/tests/forge build/vm/unknown-key.ko build/vm/seekdisk.ko $(guest-programs) $(guest-scripts)

# With the parameters that only tests use.
.PHONY: vm-parts vm-selftest vm-module-debug vm-module-kcsan $(all-kernels:%=vm-module-%) $(arm64-modules)
vm-module-debug vm-module-kcsan $(all-kernels:%=vm-module-%) $(arm64-modules): vm-module-%:
	+@kver=$$(tests/vm/kernel $*) && \
	$(MAKE) --no-print-directory module KDIR=build/kernel/$*/headers module-name=$$kver \
		MODULE_FLAGS="$(strip $(MODULE_FLAGS) XP_DEBUG=1)" MODULE_IN="tests/vm/inside $*" >build/module-$*.log 2>&1 || \
		{ tail -n 20 build/module-$*.log >&2; exit 1; }; \
	tests/vm/imports build/module-$$kver

vm-parts: $(vm-programs) $(kernels:%=vm-module-%)

vm-build: bootstrap-test ## all that the machines need: kernels, module, tool
	+@$(MAKE) --no-print-directory vm-parts

# And that the judge of recorded crashes builds: it shares the simulator's sources.
vm-selftest: build/vm/bin/powercut build/vm/bin/ledger build/crash/replay
	@tests/vm/selftest build/vm/bin/powercut
	@tests/vm/selftest-ledger build/vm/bin/ledger
	@tests/vm/selftest-age

# Beside the other machines, so that no processor idles beside the last of a few (vm.turn()); the longest first.
QUICK_CUTS := newest:raw:5 6.12:pmem-raw:3 6.12:through-raw:2 6.1:modes-raw:2 6.12:xfs:2 6.1:raw:2 6.1:ext4:1

vm-quick: vm-build ## the machines that `make test` boots: most jobs, and power cuts of each kind
	@status=0; tests/vm/fences $(kernels) || status=1; \
	tests/vm/powercut $(QUICK_CUTS:%=--chain %) --seed $(SEED) >build/vm/powercut.log 2>&1 & cuts=$$!; \
	trap "kill $$cuts" INT; \
	tests/vm/run --quick || status=1; \
	wait $$cuts || status=1; cat build/vm/powercut.log; \
	exit $$status

# Jobs that use most of what a kernel may have changed.
vm-kernels: bootstrap-test ## the module on every kernel of tests/vm/kernels: built with its suite's compiler, booted, used
	+@$(MAKE) --no-print-directory $(vm-programs) $(all-kernels:%=vm-module-%)
	@status=0; tests/vm/fences $(all-kernels) || status=1; \
	tests/vm/run $(all-kernels:%=--kernel %) warm messages verify pmem partitions reload deadslow || status=1; \
	exit $$status

vm-test: vm-build ## the campaign: more of everything, 25 power cuts a kernel
	@scripts/bootstrap lab
	@status=0; tests/vm/fences $(kernels) || status=1; tests/vm/run --set PASSES=4 --set ROUNDS=40 --set LONG=20 || status=1; \
	tests/vm/powercut --cuts $(CUTS) --seed $(SEED) || status=1; exit $$status

vm-powercut: vm-build ## power cuts only: CUTS= for each kernel, SEED= for another series
	@tests/vm/powercut --cuts $(CUTS) --seed $(SEED)

# The file system exerciser, pinned: from crates.io, Debian has none.
build/vm/fsx:
	@command -v cargo >/dev/null || { echo "vm-stack: fsx is built by cargo 1.82 or later: see https://rustup.rs" >&2; exit 1; }
	RUSTFLAGS='-C target-feature=+crt-static' cargo install --quiet --locked --target x86_64-unknown-linux-gnu \
		--root build/vm/cargo fsx@0.3.2
	cp build/vm/cargo/bin/fsx $@

.PHONY: vm-stack
vm-stack: vm-build build/vm/fsx ## the cache among LVM, dm-crypt, md, swap and databases
	@scripts/bootstrap vm-stack
	@status=0; tests/vm/run --campaign stack || status=1; \
	tests/vm/powercut --kind sqlite-wal --kind sqlite-delete --kind postgres \
		--cuts $(STACK_CUTS) --seed $(SEED) || status=1; exit $$status

.PHONY: vm-debian
vm-debian: deb ## an old desktop: Debian on a slow disk moves behind a cache, boots, loses power, moves back; as root
	@scripts/bootstrap vm-debian
	@status=0; tests/debian/upgrade 6.12 6.1 || status=1; \
	tests/debian/run --set CUTS=$(DEBIAN_CUTS) --set MINUTES=10 || status=1; exit $$status

.PHONY: vm-fault
vm-fault: vm-build ## failing disks: {slow, fast} x {read, write, flush} x {once, forever, gone}
	@tests/vm/run --campaign fault

.PHONY: vm-bench
vm-bench: vm-build ## xpcache bench against fio, and its headline by hand, where an instruction is a nanosecond
	@tests/vm/run --campaign bench

.PHONY: vm-commands
vm-commands: vm-build ## mkfs, fstrim, blkdiscard: requests and time beside dm-linear and dm-cache, where an instruction is a nanosecond
	@tests/vm/run --campaign commands

vm-debug: bootstrap-test ## the jobs that test the module, and two power cuts, under KASAN and lockdep; builds that kernel first
	@scripts/bootstrap vm-debug
	+@$(MAKE) --no-print-directory $(vm-programs) vm-module-debug
	@status=0; tests/vm/run --kernel debug || status=1; \
	tests/vm/powercut --kernel debug --kind raw --kind ext4 --cuts 2 --seed $(SEED) || status=1; \
	exit $$status

vm-kcsan: bootstrap-test ## jobs that let hits race with writes, under KCSAN; builds that kernel first
	@scripts/bootstrap vm-debug
	+@$(MAKE) --no-print-directory $(vm-programs) vm-module-kcsan
	@tests/vm/run --kernel kcsan racing verify reload suspend

# ----------------------------------------------------------- the rest ----

.PHONY: install uninstall clean help
install: tools-install daemon-install boot-install ## programs, manuals, completion, units; PREFIX= and DESTDIR= are heeded
	install -D -m 644 -t $(DESTDIR)$(docdir) README.md $(wildcard docs/*.md docs/*.rst docs/*.json)
	install -D -m 644 -t $(DESTDIR)$(docdir)/pictures $(wildcard docs/pictures/*.svg)
	install -D -m 644 -t $(DESTDIR)$(docdir)/prometheus $(wildcard docs/prometheus/*)

# Nobody could stop or flush a cache afterwards. An image in DESTDIR has none of its own.
uninstall: ## what install has put there; not while a cache needs it
	@test "$$(realpath -m "$(DESTDIR)/")" != / || ! test -x $(sbindir)/xpcache || $(sbindir)/xpcache list --needed || test $$? -ne 3
	rm -f $(addprefix $(DESTDIR)$(sbindir)/,xpcache xpcached) $(addprefix $(DESTDIR)$(programdir)/,xpcache-bench xpcached-watch) \
		$(addprefix $(DESTDIR)$(mandir)/man8/,$(notdir $(wildcard docs/*.8))) \
		$(DESTDIR)$(completiondir)/xpcache $(DESTDIR)$(fishdir)/xpcache.fish $(DESTDIR)$(zshdir)/_xpcache \
		$(DESTDIR)$(unitdir)/xpcached-watch.service \
		$(addprefix $(DESTDIR),$(boot-files))
	rm -f $(addprefix $(DESTDIR)$(docdir)/,README.md $(notdir $(wildcard docs/*.md docs/*.rst docs/*.json)) $(patsubst docs/%,%,$(wildcard docs/pictures/*.svg docs/prometheus/*)))
	for dir in $(docdir)/pictures $(docdir)/prometheus $(docdir) $(dracut-module) $(wordsdir) $(programdir); do \
		[ ! -d $(DESTDIR)$$dir ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$$dir; \
	done

# From a copy, so that nothing is left beside the sources.
deb-tree := build/deb/xpcache-$(XP_VERSION)

.PHONY: deb
deb: ## packages for Debian, not signed: build/deb/xpcache_*.deb and xpcache-dkms_*.deb
	@scripts/bootstrap deb
	@rm -rf build/deb
	@mkdir -p $(deb-tree)
	@tar -c --exclude=./build --exclude=./.git . | tar -x -C $(deb-tree)
	cd $(deb-tree) && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS -u PREFIX dpkg-buildpackage -us -uc -b >../build.log 2>&1 || \
		{ tail -n 20 ../build.log >&2; echo "deb: not built: see build/deb/build.log" >&2; exit 1; }
	@rm -rf $(deb-tree)
	@ls build/deb/*.deb

clean: ## remove build/, kernels of the tests included
	rm -rf build

help: ## this
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
