# SPDX-License-Identifier: GPL-2.0-only
# xpcached watch: its parts with sanitizers, and the whole of it before a device mapper of
# our own (tests/cli/running.c), by curl.

watch-tests := $(patsubst tests/%.c,build/unit/%,$(wildcard tests/daemon/watch/test_*.c))
watch-tests := $(if $(DAEMON_WATCHES),$(watch-tests))
watch-objects := $(WATCH_SRC:%.c=build/unit/%.o) build/daemon/watch/watch_page.o

build/unit/daemon/watch/main.o: TOOL_TEST_FLAGS += -Dmain=watch_main

build/unit/daemon/%.o: daemon/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_TEST_FLAGS) $(WITHOUT_FLAGS) -MMD -MP -c -o $@ $<

$(watch-tests): build/unit/%: tests/%.c tests/lib/latency/planted.c tests/lib/latency/planted.h \
		$(watch-objects) $(tool-objects)
	$(CC) $(TOOL_TEST_FLAGS) -o $@ $< tests/lib/latency/planted.c $(watch-objects) $(tool-objects) \
		-lcmocka $$(pkg-config --libs $(TOOLS_LIBS) $(WATCH_LIBS)) -lpthread -lm

-include $(watch-objects:.o=.d)

.PHONY: watch-test
watch-test: $(watch-tests) programs build/tests/running.so ## the watcher: its parts, and the whole of it by HTTP
	@status=0; \
	for test in $(watch-tests); do tests/unit/run $$test || status=1; done; \
	tests/daemon/watch/run build || status=1; \
	exit $$status

.PHONY: watch-page-test
watch-page-test: programs build/tests/running.so ## the daemon's page in a browser without a screen
	@scripts/bootstrap report-test
	@tests/daemon/watch/page build
