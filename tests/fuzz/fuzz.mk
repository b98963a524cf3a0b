# SPDX-License-Identifier: GPL-2.0-only
# libFuzzer: tests/fuzz/NAME.c, with its words in NAME.dict and what it found
# worth keeping in corpus/NAME.

# Of processors, shared out; as many at a time as there are processors.
FUZZ_SECONDS ?= 54

fuzzers := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/*.c))
fuzz-sources := $(wildcard core/*.c)
fuzz-libs := -lxxhash

# All of the command line but main(), which is libFuzzer's.
build/fuzz/cli: fuzz-sources += $(LIB_SRC) $(TOOLS_SRC) tools/bench/bench_page.S tools/completion_scripts.S
build/fuzz/cli: fuzz-flags := -iquote . -D_FILE_OFFSET_BITS=64 -Dmain=xpcache_main
build/fuzz/cli: fuzz-libs += $$(pkg-config --libs devmapper blkid json-c liburing)
build/fuzz/cli: $(LIB_SRC) $(TOOLS_SRC) $(wildcard lib/*.h lib/*/*.h tools/*.h tools/*/*.h boot/*.h tools/bench/*.S tools/bench/report/*.*)

# What a client of the daemon sends.
build/fuzz/nbd: fuzz-sources := $(wildcard daemon/nbd/nbd_*.c)
build/fuzz/nbd: fuzz-flags := -Itests/daemon/nbd -iquote .
build/fuzz/nbd: $(wildcard daemon/nbd/nbd_*.[ch] tests/daemon/nbd/*.h)

build/fuzz/%: tests/fuzz/%.c $(wildcard core/*.c core/*.h) tests/unit/abort.h
	@mkdir -p $(@D)
	clang -std=gnu11 -O1 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore $(fuzz-flags) \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $< $(fuzz-sources) $(fuzz-libs)

.PHONY: fuzz
fuzz: $(fuzzers) ## libFuzzer on what lies on devices, on all words, on what clients send: FUZZ_SECONDS= (54)
	@printf '%s\n' $^ | xargs -P "$$(nproc)" -I {} tests/fuzz/run {} $$(($(FUZZ_SECONDS) / $(words $(fuzzers))))
