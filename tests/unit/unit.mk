# SPDX-License-Identifier: GPL-2.0-only
# Unit tests of the core, with address and undefined-behaviour sanitizers.

UNIT_FLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -Icore -Itests/unit

unit-tests := $(patsubst tests/unit/test_%.c,build/unit/test_%,$(wildcard tests/unit/test_*.c))
unit-sources := $(wildcard core/*.c core/*.h tests/unit/*.h)

build/unit/test_%: tests/unit/test_%.c tests/unit/fixture.c $(unit-sources)
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS) -o $@ $< tests/unit/fixture.c $(wildcard core/*.c) -lcmocka -lxxhash

.PHONY: unit-test
unit-test: $(unit-tests) $(patsubst core/%.c,build/core/%.o,$(wildcard core/*.c))
	@status=0; \
	for test in $(unit-tests); do tests/unit/run $$test || status=1; done; \
	tests/unit/symbols.sh || status=1; \
	exit $$status
