# SPDX-License-Identifier: GPL-2.0-only
# libFuzzer, with what it found worth keeping in tests/fuzz/corpus.

FUZZ_SECONDS ?= 60

build/fuzz/media: tests/fuzz/media.c $(wildcard core/*.c core/*.h)
	@mkdir -p $(@D)
	clang -std=gnu11 -O1 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $< $(wildcard core/*.c) -lxxhash

.PHONY: fuzz
fuzz: build/fuzz/media ## libFuzzer on superblock and journal: FUZZ_SECONDS= (60)
	@tests/fuzz/run $< tests/fuzz/corpus/media $(FUZZ_SECONDS)
