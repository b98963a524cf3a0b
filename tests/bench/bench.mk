# SPDX-License-Identifier: GPL-2.0-only
# The arithmetic of `xpcache bench`, with sanitizers, and its command line on plain files.

bench-unit-sources := tools/bench/bench_headline.c tools/bench/bench_places.c tools/bench/bench_engine.c \
	tools/bench/bench_io.c tools/bench/bench_nbd.c lib/nbd.c tools/bench/bench_chance.c lib/latency/timing.c \
	lib/json.c core/histogram.c core/words.c core/options.c

build/bench/test_%: tests/bench/test_%.c $(bench-unit-sources) $(wildcard tools/bench/*.h lib/latency/timing.h core/*.h)
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -D_GNU_SOURCE -iquote . -o $@ $< $(bench-unit-sources) \
		$$(pkg-config --libs liburing json-c) -lcmocka -lpthread -lm

bench-unit-tests := $(patsubst tests/bench/test_%.c,build/bench/test_%,$(wildcard tests/bench/test_*.c)) \
	build/bench/threads_engine

# What the threads share, under a watch of its own: the two sanitizers cannot be had at once.
build/bench/threads_engine: tests/bench/test_engine.c $(bench-unit-sources) $(wildcard tools/bench/*.h lib/latency/timing.h core/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g -Wall -Wextra -Werror -fsanitize=thread -Icore -Itests/unit -D_GNU_SOURCE -iquote . \
		-o $@ $< $(bench-unit-sources) $$(pkg-config --libs liburing json-c) -lcmocka -lpthread -lm

# In place of one file of the tool: itself, with another machine beneath.
bench-cache-objects := $(filter-out %/bench_cache.o,$(tool-objects))

build/bench/test_cache: tests/bench/test_cache.c tools/bench/bench_cache.c $(bench-cache-objects)
	@mkdir -p $(@D)
	$(CC) $(TOOL_TEST_FLAGS) -o $@ $< $(bench-cache-objects) -lcmocka \
		$$(pkg-config --libs $(TOOLS_LIBS)) -lpthread -lm

# These need all of the tool but its main(), and a cache that is none.
bench-tool-tests := build/bench/test_plan build/bench/test_curves

$(bench-tool-tests): build/bench/test_%: tests/bench/test_%.c $(tool-objects)
	@mkdir -p $(@D)
	$(CC) $(TOOL_TEST_FLAGS) -Wl,--wrap=bench_cache_bytes -o $@ $< $(tool-objects) -lcmocka \
		$$(pkg-config --libs $(TOOLS_LIBS)) -lpthread -lm

build/tests/refuse.so: tests/bench/refuse.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -shared -fPIC -o $@ $<

.PHONY: bench-test
bench-test: $(bench-unit-tests) build/tests/refuse.so build/xpcache build/xpcache-bench build/tests/forge
	@status=0; \
	for test in $(bench-unit-tests); do tests/unit/run $$test || status=1; done; \
	tests/bench/run build/xpcache build/tests || status=1; \
	exit $$status
