# SPDX-License-Identifier: GPL-2.0-only
# The command line: build/xpcache, its tests and its manual page. Needs
# libdevmapper, libblkid, json-c, xxhash and liburing, and of libnbd and libkmod, which are loaded
# when they are needed (nbd.c, kmod.c), the headers. CC=clang-14 builds it as well.
# build/xpcache-bench has the benchmark: xpcache bench runs it (bench_program.c).

TOOLS_LIBS	:= devmapper blkid json-c libxxhash liburing
TOOLS_CFLAGS	:= -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE \
		   -D_FILE_OFFSET_BITS=64 -DXPCACHE_VERSION='"$(XP_VERSION)"' -DXPCACHE_PROGRAMDIR='"$(programdir)"' \
		   -Icore -iquote .
# All of the command line, with the benchmark; and what is in each of the two programs.
TOOLS_SRC	:= $(filter-out tools/bench_program.c,$(wildcard tools/*.c tools/*/*.c boot/*.c))
BENCH_OBJ	:= $(TOOLS_SRC:%.c=build/%.o) build/tools/bench/bench_page.o build/tools/completion_scripts.o
TOOLS_OBJ	:= $(filter-out build/tools/bench/%,$(BENCH_OBJ)) build/tools/bench_program.o
# Of lib.a and of pkg-config's list no program needs all.
PROGRAM_LINK	= $(CC) $(CFLAGS) -Wl,--as-needed $(LDFLAGS) -o $@ $^

build/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

build/boot/%.o: boot/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# .incbin is not seen by -MMD.
build/tools/bench/bench_page.o: tools/bench/bench_page.S $(wildcard tools/bench/report/*.* tools/bench/report/vendor/*)
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

build/tools/completion_scripts.o: tools/completion_scripts.S $(wildcard tools/completion/*)
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

build/xpcache: $(TOOLS_OBJ) build/lib/lib.a
build/xpcache-bench: $(BENCH_OBJ) build/lib/lib.a

build/xpcache build/xpcache-bench:
	$(PROGRAM_LINK) $$(pkg-config --libs $(TOOLS_LIBS)) -lpthread -lm

# Writes into the caches of the tests, through the core: tests/cli/forge.c.
build/tests/forge: tests/cli/forge.c build/lib/media.o $(core-objects)
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -o $@ $^ $$(pkg-config --libs libxxhash) -lpthread -lm

# Preloaded: dieat kills a program before its n-th write of metadata, badread
# fails its reads of some blocks, running is a device mapper with caches in it, holding one that
# remembers its devices, noublk a kernel without ublk, noroom a file system that is full,
# zoned a disk of zones, usb one behind USB, wide one with sectors of 8192 bytes.
build/tests/%.so: tests/cli/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -shared -fPIC -o $@ $<

cli-parts := $(addprefix cli-,$(shell tests/cli/run --list))
# Caches are looked for on all disks of a machine: parts with loop devices run one after another, and the others after them.
cli-loops := $(filter $(addprefix cli-,$(basename $(notdir $(shell grep -l losetup tests/cli/*.sh)))),$(cli-parts))
cli-last :=
$(foreach part,$(cli-loops),$(if $(cli-last),$(eval $(part): | $(cli-last)))$(eval cli-last := $(part)))
$(filter-out $(cli-loops),$(cli-parts)): | $(cli-last)

.PHONY: tools-test tools-install $(cli-parts)
tools-test: $(cli-parts) ## the command line's own tests, on plain files
$(cli-parts): cli-%: programs build/tests/forge build/tests/dieat.so build/tests/badread.so build/tests/faulty.so build/tests/running.so build/tests/holding.so build/tests/noublk.so build/tests/noroom.so build/tests/zoned.so build/tests/usb.so build/tests/wide.so build/tests/noring
	@tests/cli/run build/xpcache build/tests $*

tools-install: build/xpcache build/xpcache-bench
	install -D -m 755 build/xpcache $(DESTDIR)$(sbindir)/xpcache
	install -D -m 755 build/xpcache-bench $(DESTDIR)$(programdir)/xpcache-bench
	install -D -m 644 -t $(DESTDIR)$(mandir)/man8 $(wildcard docs/*.8)
	install -D -m 644 tools/completion/xpcache $(DESTDIR)$(completiondir)/xpcache
	install -D -m 644 tools/completion/xpcache.fish $(DESTDIR)$(fishdir)/xpcache.fish
	install -D -m 644 tools/completion/_xpcache $(DESTDIR)$(zshdir)/_xpcache

-include $(BENCH_OBJ:.o=.d) build/tools/bench_program.d
