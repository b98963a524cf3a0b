# SPDX-License-Identifier: GPL-2.0-only
# Unit tests of the core, and of what the tool does without a kernel, with address and
# undefined-behaviour sanitizers. EMULATOR runs those of another CPU (tests/cross/cross.mk), without what
# shadows all memory: that takes more than there is.

NM	?= nm
comma	:= ,
UNIT_SANITIZERS := $(if $(EMULATOR),undefined,address$(comma)undefined)

UNIT_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Werror -fsanitize=$(UNIT_SANITIZERS) \
	-fno-sanitize-recover=undefined -Icore -Itests/unit

unit-tests := $(patsubst tests/unit/test_%.c,build/unit/test_%,$(wildcard tests/unit/test_*.c))

unit-objects := $(patsubst core/%.c,build/unit/core/%.o,$(wildcard core/*.c)) build/unit/fixture.o

build/unit/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -MMD -MP -c -o $@ $<

build/unit/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -MMD -MP -c -o $@ $<

build/unit/test_%: build/unit/test_%.o $(unit-objects)
	$(CC) $(UNIT_FLAGS) -o $@ $^ -lcmocka -lxxhash

build/unit/test_checksum: build/unit/by_table.o

-include $(unit-objects:.o=.d) $(unit-tests:=.d) build/unit/by_table.d

# Its threads are made to meet: the core is built anew for it.
build/unit/race/core/%.o: core/%.c tests/unit/race.h
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -include tests/unit/race.h -MMD -MP -c -o $@ $<

race-objects := $(unit-objects:build/unit/core/%=build/unit/race/core/%)

build/unit/test_hit.o: UNIT_FLAGS += -include tests/unit/race.h
build/unit/test_hit: build/unit/test_hit.o $(race-objects)
	$(CC) $(UNIT_FLAGS) -o $@ $^ -lcmocka -lxxhash

-include $(race-objects:.o=.d)

# Segments of several places of the ring, as only a large cache has them.
build/unit/wide/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -DXP_SEGMENTS_MAX=8u -MMD -MP -c -o $@ $<

wide-objects := $(unit-objects:build/unit/core/%=build/unit/wide/core/%)
unit-tests += build/unit/test_displaced_wide build/unit/test_runs_wide

build/unit/test_%_wide: build/unit/test_%.o $(wide-objects)
	$(CC) $(UNIT_FLAGS) -o $@ $^ -lcmocka -lxxhash

-include $(wide-objects:.o=.d)

# All of the tool but its main(): what asks a device is there, and not called. A test lies in the folder of tests/ that
# has the name of its file's.
tool-tests := $(patsubst tests/%.c,build/unit/%,$(wildcard $(foreach room,boot lib lib/* tools tools/*,tests/$(room)/test_*.c)))
tool-objects := $(patsubst %.c,build/unit/%.o,$(LIB_SRC) $(TOOLS_SRC)) $(filter build/unit/core/%,$(unit-objects)) \
	build/tools/bench/bench_page.o build/tools/completion_scripts.o
TOOL_TEST_FLAGS := $(UNIT_FLAGS) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -iquote .

build/unit/tools/main.o: TOOL_TEST_FLAGS += -Dmain=xpcache_main

define tool-test-object
build/unit/$(1)/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$$(CC) $$(TOOL_TEST_FLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach room,lib tools boot,$(eval $(call tool-test-object,$(room))))

$(tool-tests): build/unit/%: tests/%.c tests/lib/latency/planted.c tests/lib/latency/planted.h $(tool-objects)
	@mkdir -p $(@D)
	$(CC) $(TOOL_TEST_FLAGS) -o $@ $< tests/lib/latency/planted.c $(tool-objects) -lcmocka \
		$$(pkg-config --libs $(TOOLS_LIBS)) -lpthread -lm

# Which devices there are they say themselves.
wrapped = $(addprefix -Wl$(comma)--wrap=,$(1))
build/unit/boot/test_fstab: private TOOL_TEST_FLAGS += $(call wrapped,device_look)
build/unit/lib/test_kmod: private TOOL_TEST_FLAGS += $(call wrapped,dlopen posix_spawn)
build/unit/lib/test_media: private TOOL_TEST_FLAGS += $(call wrapped,fdatasync pwrite64)
build/unit/lib/test_program: private TOOL_TEST_FLAGS += $(call wrapped,access execv readlink)
build/unit/boot/test_bootloader: private TOOL_TEST_FLAGS += $(call wrapped,device_look fts64_read)
build/unit/tools/hibernate/test_restore: private TOOL_TEST_FLAGS += $(call wrapped,caches_scan device_look device_close media_init media_done \
	sleep_note_read sleep_note_holds sleep_note_image known_all known_broken known_is_noted known_lock kernel_list looked_write \
	image_named image_offset image_look image_erase image_restore fence_lift fence_again slow_of device_look_at)
build/unit/boot/test_fence: private TOOL_TEST_FLAGS += $(call wrapped,device_look device_look_at device_kname device_here \
	sysfs_read signature_content running_find kernel_hold kernel_is_held kernel_let_go)

-include $(tool-objects:.o=.d)

# The same under ThreadSanitizer, and with the order of its threads taken away.
THREADS_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Werror -fsanitize=thread -Icore -Itests/unit
threads-objects := $(patsubst core/%.c,build/threads/core/%.o,$(wildcard core/*.c)) build/threads/fixture.o

build/threads/core/%.o: core/%.c tests/unit/race.h
	@mkdir -p $(@D)
	$(CC) $(THREADS_FLAGS) -include tests/unit/race.h -MMD -MP -c -o $@ $<

build/threads/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(THREADS_FLAGS) -MMD -MP -c -o $@ $<

# hit.c and slots.c change pins, or look at them.
unordered := build/threads/plain-exchange build/threads/no-barrier
build/threads/plain-exchange-%.o: THREADS_FLAGS += -DPLAIN_EXCHANGE
build/threads/no-barrier-%.o: THREADS_FLAGS += -DNO_BARRIER

define unordered-object
build/threads/$(1)-%.o: core/%.c tests/unit/unordered.h tests/unit/race.h
	@mkdir -p $$(@D)
	$$(CC) $$(THREADS_FLAGS) -include tests/unit/race.h -include tests/unit/unordered.h -MMD -MP -c -o $$@ $$<
endef
$(foreach name,$(notdir $(unordered)),$(eval $(call unordered-object,$(name))))

build/threads/threads_hit: build/threads/test_hit.o $(threads-objects)
	$(CC) -fsanitize=thread -o $@ $^ -lcmocka -lxxhash

$(unordered): build/threads/%: build/threads/%-hit.o build/threads/%-slots.o build/threads/test_hit.o \
		$(filter-out %/hit.o %/slots.o,$(threads-objects))
	$(CC) -fsanitize=thread -o $@ $^ -lcmocka -lxxhash

-include $(threads-objects:.o=.d) $(foreach name,$(unordered),$(name)-hit.d $(name)-slots.d) build/threads/test_hit.d

threads-tests := $(if $(EMULATOR),,build/threads/threads_hit $(unordered))

.PHONY: unit-test
unit-test: $(unit-tests) $(threads-tests) $(tool-tests) $(core-objects)
	@status=0; \
	for test in $(unit-tests) $(tool-tests); do tests/unit/run $$test || status=1; done; \
	$(if $(threads-tests),tests/unit/threads || status=1;) \
	LD="$(LD)" NM="$(NM)" tests/unit/symbols.sh || status=1; \
	exit $$status
