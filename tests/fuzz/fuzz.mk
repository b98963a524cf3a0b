# SPDX-License-Identifier: GPL-2.0-only
# libFuzzer: tests/fuzz/NAME.c, with its words in NAME.dict and what it found
# worth keeping in corpus/NAME.

# Shared out; with starting and ending them it is a minute.
FUZZ_SECONDS ?= 54

fuzzers := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/*.c))
fuzz-sources := $(wildcard core/*.c)
fuzz-libs := -lxxhash

# All of the command line but main(), which is libFuzzer's.
build/fuzz/cli: fuzz-sources += $(wildcard tools/*.c tools/*.S)
build/fuzz/cli: fuzz-flags := -Itools -D_FILE_OFFSET_BITS=64 -Dmain=xpcache_main
build/fuzz/cli: fuzz-libs += $$(pkg-config --libs devmapper blkid json-c liburing libkmod)
build/fuzz/cli: $(wildcard tools/*.c tools/*.h tools/*.S tools/report/*.*)

# What a client of the daemon sends.
build/fuzz/nbd: fuzz-sources := $(wildcard daemon/nbd_*.c)
build/fuzz/nbd: fuzz-flags := -Idaemon -Itests/daemon
build/fuzz/nbd: $(wildcard daemon/nbd_*.[ch] tests/daemon/*.h)

build/fuzz/%: tests/fuzz/%.c $(wildcard core/*.c core/*.h)
	@mkdir -p $(@D)
	clang -std=gnu11 -O1 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore $(fuzz-flags) \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $< $(fuzz-sources) $(fuzz-libs)

.PHONY: fuzz
fuzz: $(fuzzers) ## libFuzzer on what lies on devices, on all words, on what clients send: FUZZ_SECONDS= (54)
	@status=0; for fuzzer in $^; do \
		tests/fuzz/run $$fuzzer $$(($(FUZZ_SECONDS) / $(words $(fuzzers)))) || status=1; \
	done; exit $$status
