# SPDX-License-Identifier: GPL-2.0-only
# The daemon: build/xpcached. It shares lib/ with the command line: what both know about
# caches, devices and latencies. build/xpcached-watch has the watcher: xpcached watch runs it.

# What it can be built without is in optional.h. WITHOUT="libpmem ..." leaves out what is there.
DAEMON_OPTIONAL	:= libpmem libmicrohttpd libsystemd libcap-ng
WITHOUT		?=
DAEMON_ABSENT	:= $(filter $(WITHOUT),$(DAEMON_OPTIONAL) liburing-2.3)
DAEMON_ABSENT	+= $(filter-out $(DAEMON_ABSENT),$(shell for lib in $(DAEMON_OPTIONAL); do pkg-config --exists $$lib || echo $$lib; done))
WITHOUT_FLAGS	:= $(addprefix -D,$(shell echo $(addprefix without-,$(DAEMON_ABSENT)) | tr a-z.- A-Z__))
TOOLS_CFLAGS	+= $(WITHOUT_FLAGS)

DAEMON_LIBS	:= liburing $(filter-out $(DAEMON_ABSENT),libpmem libcap-ng)
WATCH_LIBS	:= libmicrohttpd libsystemd $(filter-out $(DAEMON_ABSENT),libcap-ng)
DAEMON_CFLAGS	:= $(TOOLS_CFLAGS)
DAEMON_WATCHES	:= $(if $(filter libmicrohttpd libsystemd,$(DAEMON_ABSENT)),,yes)
DAEMON_SRC	:= $(filter-out daemon/watch/%,$(wildcard daemon/*.c daemon/*/*.c))
DAEMON_OBJ	:= $(DAEMON_SRC:%.c=build/%.o)
WATCH_SRC	:= $(wildcard daemon/watch/*.c) daemon/serve/privileges.c
WATCH_OBJ	:= $(WATCH_SRC:%.c=build/%.o) build/daemon/watch/watch_page.o
# All that runs in user space.
PROGRAMS	:= build/xpcache build/xpcache-bench build/xpcached $(if $(DAEMON_WATCHES),build/xpcached-watch)

# Who asks what is there is compiled anew when that changes.
DAEMON_ASKS	:= $(shell grep -rlE --include='*.c' 'optional[.]h|uring_abi[.]h|HAVE_LIB' daemon lib tools boot)
$(DAEMON_ASKS:%.c=build/%.o): build/without
build/without: always
	@mkdir -p $(@D)
	@echo "$(strip $(DAEMON_ABSENT))" | cmp -s - $@ || echo "$(strip $(DAEMON_ABSENT))" >$@

.PHONY: always

build/daemon/%.o: daemon/%.c
	@mkdir -p $(@D)
	$(CC) $(DAEMON_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# .incbin is not seen by -MMD.
build/daemon/watch/watch_page.o: daemon/watch/watch_page.S $(wildcard daemon/watch/page/* tools/bench/report/*.* tools/bench/report/vendor/*)
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<

build/xpcached: $(DAEMON_OBJ) build/lib/lib.a
	$(PROGRAM_LINK) $$(pkg-config --libs $(TOOLS_LIBS) $(DAEMON_LIBS)) -lpthread -lm

build/xpcached-watch: $(WATCH_OBJ) build/lib/lib.a
	$(PROGRAM_LINK) $$(pkg-config --libs $(TOOLS_LIBS) $(WATCH_LIBS)) -lpthread -lm

.PHONY: daemon-install programs
programs: $(PROGRAMS) ## what runs in user space: the command line, the daemon, and what does their verbs bench and watch

daemon-install: $(filter build/xpcached%,$(PROGRAMS))
	install -D -m 755 build/xpcached $(DESTDIR)$(sbindir)/xpcached
ifdef DAEMON_WATCHES
	install -D -m 755 build/xpcached-watch $(DESTDIR)$(programdir)/xpcached-watch
	install -d $(DESTDIR)$(unitdir)
	sed 's,@SBINDIR@,$(sbindir),' daemon/xpcached-watch.service >$(DESTDIR)$(unitdir)/xpcached-watch.service
	chmod 644 $(DESTDIR)$(unitdir)/xpcached-watch.service
endif

-include $(DAEMON_OBJ:.o=.d) $(WATCH_OBJ:.o=.d)

# The same under the sanitizers: build/asan/xpcached, build/tsan/xpcached.
SANITIZE_asan	:= -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANITIZE_tsan	:= -O1 -fsanitize=thread
SANITIZED_LIB	:= $(LIB_SRC) $(wildcard core/*.c)

define sanitized
build/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(CC) $$(DAEMON_CFLAGS) $$(SANITIZE_$(1)) $$(CFLAGS) -MMD -MP -c -o $$@ $$<

build/$(1)/lib.a: $$(SANITIZED_LIB:%.c=build/$(1)/%.o)
	@rm -f $$@
	$$(AR) rcs $$@ $$^

build/$(1)/xpcached: $$(DAEMON_SRC:%.c=build/$(1)/%.o) build/$(1)/lib.a
	$$(CC) $$(SANITIZE_$(1)) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ \
		$$$$(pkg-config --libs $$(TOOLS_LIBS) $$(DAEMON_LIBS)) -lpthread -lm

-include $$(wildcard build/$(1)/*/*.d build/$(1)/*/*/*.d)
endef
$(foreach s,asan tsan,$(eval $(call sanitized,$(s))))
