# SPDX-License-Identifier: GPL-2.0-only
# Tests of the daemon: its parts one by one, with the sanitizers of the unit tests, and
# the clients that others have written.

DAEMON_TEST_FLAGS := $(UNIT_FLAGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -iquote .

nbd-sources := $(wildcard daemon/nbd/nbd_*.c)

nbd-tests := $(patsubst tests/%.c,build/unit/%,$(wildcard tests/daemon/nbd/test_*.c))

$(nbd-tests): build/unit/%: tests/%.c $(nbd-sources) $(wildcard daemon/nbd/nbd_*.h tests/daemon/nbd/*.h) tests/unit/abort.h $(wildcard core/platform*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) -o $@ $< $(nbd-sources) -lcmocka

ublk-tests := build/unit/daemon/ublk/test_ublk_request

$(ublk-tests): tests/daemon/ublk/test_ublk_request.c daemon/ublk/ublk_request.c tests/unit/abort.h $(wildcard daemon/*.h daemon/*/*.h) $(wildcard core/platform*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) -o $@ $< daemon/ublk/ublk_request.c -lcmocka

build/unit/daemon/test_device_op: tests/daemon/test_device_op.c daemon/device_op.c $(wildcard daemon/*.h daemon/*/*.h) $(wildcard core/platform*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) -o $@ $< daemon/device_op.c -lcmocka -lpthread

build/unit/daemon/test_spin: tests/daemon/test_spin.c daemon/spin.c daemon/spin.h $(wildcard core/platform*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) -o $@ $< daemon/spin.c -lcmocka

build/unit/daemon/test_device_memory: tests/daemon/test_device_memory.c daemon/device_memory.c daemon/device_op.c $(wildcard daemon/*.h daemon/*/*.h) $(wildcard core/platform*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) $(call wrapped,pwrite64) -o $@ $< daemon/device_memory.c daemon/device_op.c -lcmocka -lpmem -lpthread

build/unit/daemon/test_memory_durable: tests/daemon/test_memory_durable.c daemon/device_memory.c daemon/device_op.c daemon/journal_io.c $(wildcard daemon/*.h daemon/*/*.h core/*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) -o $@ $< daemon/device_memory.c daemon/device_op.c daemon/journal_io.c -lcmocka -lpthread

daemon-unit-tests := $(nbd-tests) $(ublk-tests) $(patsubst %,build/unit/daemon/test_%,device_op spin \
	$(if $(filter libpmem,$(DAEMON_ABSENT)),,device_memory memory_durable))

build/tests/nbd-toy: tests/daemon/nbd/nbd-toy.c tests/unit/abort.h $(nbd-sources) $(wildcard daemon/nbd/nbd_*.h) $(wildcard core/platform*.h)
	@mkdir -p $(@D)
	$(CC) $(DAEMON_TEST_FLAGS) -o $@ $< $(nbd-sources)

# The daemon killed at any moment, before the simulator's oracle.
kill9-sources := $(wildcard tests/daemon/kill9/kill9*.c) tests/sim/oracle.c tests/sim/content.c \
	tests/sim/payload.c tests/sim/verdict.c
KILL9_FLAGS := $(CFLAGS_ALL) -Itests/sim -DSECTORS_MAX='(1u << 18)'

build/tests/kill9: $(kill9-sources) $(wildcard tests/daemon/kill9/*.h tests/sim/*.h core/*.h)
	@mkdir -p $(@D)
	$(CC) $(KILL9_FLAGS) $(CFLAGS) -o $@ $(kill9-sources) $$(pkg-config --libs libnbd)

build/tests/faulty.so: tests/daemon/kill9/faulty.c
build/tests/recorder.so: tests/daemon/slow/recorder.c
build/tests/ublkwords.so: tests/daemon/ublk/ublkwords.c
build/tests/faulty.so build/tests/recorder.so build/tests/ublkwords.so:
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -shared -fPIC -o $@ $<

build/tests/reader: tests/daemon/nbd/reader.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -o $@ $< $$(pkg-config --libs libnbd)

build/tests/noring: tests/daemon/kill9/noring.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -o $@ $<

build/tests/ublkstop: tests/daemon/ublk/ublkstop.c build/daemon/ublk/ublk_control.o build/daemon/ublk/ublk_request.o build/lib/lib.a
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -o $@ $^ $$(pkg-config --libs $(TOOLS_LIBS) $(DAEMON_LIBS)) -lpthread -lm

kill9-programs := build/xpcached build/xpcache build/tests/kill9 build/tests/faulty.so build/tests/recorder.so build/tests/noring
KILLS ?= 200

.PHONY: daemon-unit-test without-test
daemon-unit-test: $(daemon-unit-tests)
	@status=0; for test in $^; do tests/unit/run $$test || status=1; done; exit $$status

without-test: build/xpcached build/xpcache ## the daemon built without each library that it can do without, and without all
	@tests/daemon/without

# Parts of daemon-test, each of which waits most of its time: side by side in `make check`.
daemon-parts := daemon-slow daemon-kills daemon-kills-faults daemon-peers daemon-media daemon-unit-test

.PHONY: daemon-test $(daemon-parts) kill9
daemon-test: $(daemon-parts) ## the daemon's protocol, clients of others against it, a few kills

daemon-peers: build/xpcached build/xpcache build/tests/nbd-toy
	@tests/daemon/nbd/peers --toy build/tests/nbd-toy

daemon-slow: $(kill9-programs) build/xpcached-watch
	@tests/daemon/slow/run build

daemon-media: $(kill9-programs) build/xpcached-watch
	@status=0; \
	tests/daemon/rot build || status=1; \
	tests/daemon/fills build || status=1; \
	tests/daemon/parts build || status=1; \
	tests/daemon/limits build || status=1; \
	tests/daemon/counts build || status=1; \
	exit $$status

daemon-kills: $(kill9-programs)
	@status=0; \
	LABEL=kill9-quick KILLS=12 EACH=4 tests/daemon/kill9/run || status=1; \
	LABEL=kill9-pmem FAST=pmem KILLS=8 EACH=4 tests/daemon/kill9/run || status=1; \
	exit $$status

daemon-kills-faults: $(kill9-programs)
	@status=0; \
	LABEL=kill9-faults FAULTS=1 KILLS=8 EACH=4 tests/daemon/kill9/run || status=1; \
	LABEL=kill9-noring FAST=file KILLS=8 EACH=4 build/tests/noring 1 tests/daemon/kill9/run || status=1; \
	exit $$status

.PHONY: daemon-latency
daemon-latency: bootstrap-check build/xpcached build/xpcache ## what writes of parts of blocks cost through the daemon, beside those of whole ones
	@tests/daemon/latency build

.PHONY: daemon-commands
daemon-commands: bootstrap-check build/xpcached build/xpcache ## what discards and zeroes of 64 GiB cost through the daemon
	@tests/daemon/commands build

kill9: bootstrap-check $(kill9-programs) build/xpcached-watch build/asan/xpcached build/tsan/xpcached ## the daemon killed KILLS= times before the simulator's oracle, SEED=; with failing devices, sanitizers and mutants
	@status=0; export SEED=$(SEED) KILLS=$(KILLS); \
	tests/daemon/kill9/run || status=1; \
	LABEL=kill9-faults FAULTS=1 tests/daemon/kill9/run || status=1; \
	LABEL=kill9-pmem FAST=pmem tests/daemon/kill9/run || status=1; \
	LABEL=kill9-asan DAEMON=build/asan/xpcached THREADS=3 tests/daemon/kill9/run || status=1; \
	LABEL=kill9-faults-asan FAULTS=1 DAEMON=build/asan/xpcached tests/daemon/kill9/run || status=1; \
	LABEL=kill9-tsan DAEMON=build/tsan/xpcached THREADS=3 tests/daemon/kill9/run || status=1; \
	LABEL=kill9-noring FAST=file build/tests/noring 1 tests/daemon/kill9/run || status=1; \
	LABEL=kill9-noring-tsan FAST=file DAEMON=build/tsan/xpcached THREADS=3 build/tests/noring 1 tests/daemon/kill9/run || status=1; \
	SEED=1 KILLS=200 tests/daemon/kill9/mutants || status=1; \
	exit $$status
