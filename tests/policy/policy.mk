# SPDX-License-Identifier: GPL-2.0-only
# What the policy of the core is worth: scenarios with their bounds, readers of traces, policies to compare it with.

POLICY_FLAGS := -std=gnu11 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore -Itests/policy
POLICY_SANITIZED := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
policy-headers := $(wildcard tests/policy/*.h core/*.h)
trace-sources := tests/policy/trace.c $(wildcard tests/policy/trace_*.c)

build/policy/test_trace: tests/policy/test_trace.c $(trace-sources) $(policy-headers)
	@mkdir -p $(@D)
	$(CC) $(POLICY_FLAGS) $(POLICY_SANITIZED) -o $@ $(filter %.c,$^) -lcmocka

rival-sources := $(wildcard tests/policy/rival*.c) tests/policy/stream.c

build/policy/test_rival: tests/policy/test_rival.c $(rival-sources) $(policy-headers)
	@mkdir -p $(@D)
	$(CC) $(POLICY_FLAGS) $(POLICY_SANITIZED) -o $@ $(filter %.c,$^) -lcmocka -lm

replay-sources := $(addprefix tests/policy/,replay.c disk.c scenario.c stream.c) $(wildcard core/*.c)

build/policy/check: tests/policy/check.c $(replay-sources) $(policy-headers)
	@mkdir -p $(@D)
	$(CC) $(POLICY_FLAGS) -O2 -o $@ $(filter %.c,$^) -lxxhash -lm

policy-tests := build/policy/test_trace build/policy/test_rival

.PHONY: policy-check
policy-check: $(policy-tests) build/policy/check ## scenarios through the real core: bounds that its policy keeps, and those that are owed; seconds
	@status=0; for test in $(policy-tests); do tests/unit/run $$test || status=1; done; \
	build/policy/check || status=1; exit $$status
