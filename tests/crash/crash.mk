# SPDX-License-Identifier: GPL-2.0-only
# Crashes of a real kernel: a recorder of its disks, and the oracle that judges them.

CRASH_FLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore -Itests/sim
crash-headers := $(wildcard tests/sim/*.h tests/crash/*.h core/*.h)
# The simulator, without what draws its runs.
replay-sources := tests/crash/replay.c \
	$(addprefix tests/sim/,content.c payload.c crash.c image.c recover.c bad.c ask.c fault.c disk.c oracle.c rot.c store.c verdict.c)

build/crash/recorder.so: tests/crash/recorder.c $(crash-headers)
	@mkdir -p $(@D)
	$(CC) $(CRASH_FLAGS) -fPIC -shared -o $@ $<

build/crash/replay: $(replay-sources) $(core-objects) $(crash-headers)
	@mkdir -p $(@D)
	$(CC) $(CRASH_FLAGS) -o $@ $(replay-sources) $(core-objects) -lxxhash

build/vm/bin/crashload: tests/vm/guest/crashload.c tests/sim/payload.c $(crash-headers)
	@mkdir -p $(@D)
	$(CC) $(CRASH_FLAGS) -static -o $@ $< tests/sim/payload.c

.PHONY: vm-crash vm-crash-mutants vm-crash-parts
vm-crash-parts: vm-build
	@scripts/bootstrap vm-crash
	+@$(MAKE) --no-print-directory build/crash/recorder.so build/crash/replay

vm-crash: vm-crash-parts ## crashes of both kernels, from a record of both disks: SEED= for another
	@tests/vm/crash --seed $(SEED)

vm-crash-mutants: vm-crash-parts ## bugs put into dm-target/ on purpose: the record must show each
	@tests/crash/mutants
