# SPDX-License-Identifier: GPL-2.0-only
# What the policy of the core is worth: readers of traces, and their tests.

POLICY_FLAGS := -std=gnu11 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore -Itests/policy
POLICY_SANITIZED := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
policy-headers := $(wildcard tests/policy/*.h core/*.h)
trace-sources := tests/policy/trace.c $(wildcard tests/policy/trace_*.c)

build/policy/test_trace: tests/policy/test_trace.c $(trace-sources) $(policy-headers)
	@mkdir -p $(@D)
	$(CC) $(POLICY_FLAGS) $(POLICY_SANITIZED) -o $@ $(filter %.c,$^) -lcmocka

.PHONY: policy-check
policy-check: build/policy/test_trace ## readers of traces
	@tests/unit/run build/policy/test_trace
