# SPDX-License-Identifier: GPL-2.0-only
# The daemon: build/xpcached. It shares what the command line knows about caches,
# devices and latencies; all of tools/ but its main() is build/tools/tools.a.

DAEMON_LIBS	:= liburing libpmem libmicrohttpd libsystemd libcap-ng
DAEMON_CFLAGS	:= $(TOOLS_CFLAGS) -Idaemon
DAEMON_OBJ	:= $(patsubst daemon/%.c,build/daemon/%.o,$(wildcard daemon/*.c)) build/daemon/watch_page.o

build/tools/tools.a: $(filter-out build/tools/main.o,$(TOOLS_OBJ))
	@rm -f $@
	$(AR) rcs $@ $^

build/daemon/%.o: daemon/%.c
	@mkdir -p $(@D)
	$(CC) $(DAEMON_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# .incbin is not seen by -MMD.
build/daemon/watch_page.o: daemon/watch_page.S $(wildcard daemon/watch/* tools/report/*.* tools/report/vendor/*)
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

build/xpcached: $(DAEMON_OBJ) build/tools/tools.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $$(pkg-config --libs $(TOOLS_LIBS) $(DAEMON_LIBS)) -lpthread -lm

.PHONY: daemon-install
daemon-install: build/xpcached
	install -D -m 755 build/xpcached $(DESTDIR)$(sbindir)/xpcached
	install -d $(DESTDIR)$(unitdir)
	sed 's,@SBINDIR@,$(sbindir),' daemon/xpcached-watch.service >$(DESTDIR)$(unitdir)/xpcached-watch.service
	chmod 644 $(DESTDIR)$(unitdir)/xpcached-watch.service

-include $(DAEMON_OBJ:.o=.d)

# The same under the sanitizers: build/asan/xpcached, build/tsan/xpcached.
SANITIZE_asan	:= -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANITIZE_tsan	:= -O1 -fsanitize=thread
SANITIZED_TOOLS	:= $(filter-out tools/main.c,$(TOOLS_SRC)) $(TOOLS_CORE)

define sanitized
build/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(CC) $$(DAEMON_CFLAGS) $$(SANITIZE_$(1)) $$(CFLAGS) -MMD -MP -c -o $$@ $$<

build/$(1)/tools.a: $$(SANITIZED_TOOLS:%.c=build/$(1)/%.o) build/tools/bench_page.o
	@rm -f $$@
	$$(AR) rcs $$@ $$^

build/$(1)/xpcached: $$(patsubst daemon/%.c,build/$(1)/daemon/%.o,$$(wildcard daemon/*.c)) build/daemon/watch_page.o build/$(1)/tools.a
	$$(CC) $$(SANITIZE_$(1)) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ \
		$$$$(pkg-config --libs $$(TOOLS_LIBS) $$(DAEMON_LIBS)) -lpthread -lm

-include $$(wildcard build/$(1)/*/*.d)
endef
$(foreach s,asan tsan,$(eval $(call sanitized,$(s))))
