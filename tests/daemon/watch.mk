# SPDX-License-Identifier: GPL-2.0-only
# xpcached watch: its parts with sanitizers, and the whole of it before a device mapper of
# our own (tests/daemon/many.c), by curl.

build/tests/many.so: tests/daemon/many.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -shared -fPIC -o $@ $<

watch-tests := $(patsubst tests/daemon/test_%.c,build/unit/daemon/test_%,$(wildcard tests/daemon/test_watch*.c))
watch-tests := $(if $(DAEMON_WATCHES),$(watch-tests))
daemon-objects := $(DAEMON_SRC:daemon/%.c=build/unit/daemon/%.o) $(filter %/watch_page.o,$(DAEMON_OBJ))

build/unit/daemon/main.o: TOOL_TEST_FLAGS += -Dmain=xpcached_main

build/unit/daemon/%.o: daemon/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_TEST_FLAGS) $(WITHOUT_FLAGS) -MMD -MP -c -o $@ $<

$(watch-tests): build/unit/daemon/test_%: tests/daemon/test_%.c tests/tools/planted.c tests/tools/planted.h \
		$(daemon-objects) $(tool-objects)
	$(CC) $(TOOL_TEST_FLAGS) -o $@ $< tests/tools/planted.c $(daemon-objects) $(tool-objects) \
		-lcmocka $$(pkg-config --libs $(TOOLS_LIBS) $(DAEMON_LIBS)) -lpthread -lm

-include $(daemon-objects:.o=.d)

.PHONY: watch-test
watch-test: $(watch-tests) build/xpcached build/tests/many.so ## the watcher: its parts, and the whole of it by HTTP
	@status=0; \
	for test in $(watch-tests); do tests/unit/run $$test || status=1; done; \
	tests/daemon/run build || status=1; \
	exit $$status

.PHONY: watch-page-test
watch-page-test: build/xpcached build/tests/many.so ## the daemon's page in a browser without a screen
	@scripts/bootstrap report-test
	@tests/daemon/page build
