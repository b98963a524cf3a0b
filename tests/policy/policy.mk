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

load-sources := $(addprefix tests/policy/,load.c made.c) $(trace-sources)

build/policy/test_rival: tests/policy/test_rival.c $(load-sources) $(rival-sources) $(policy-headers)
	@mkdir -p $(@D)
	$(CC) $(POLICY_FLAGS) $(POLICY_SANITIZED) -o $@ $(filter %.c,$^) -lcmocka -lm

build/policy/%.o: tests/policy/%.c $(policy-headers)
	@mkdir -p $(@D)
	$(CC) $(POLICY_FLAGS) -O2 -c -o $@ $<

# What the programs are made of.
policy-objects := $(patsubst tests/policy/%.c,build/policy/%.o,$(load-sources) $(rival-sources) \
	$(addprefix tests/policy/,replay.c disk.c scenario.c)) $(core-objects)

build/policy/check: build/policy/check.o $(policy-objects)
build/policy/compare: $(addprefix build/policy/,compare.o progress.o) $(policy-objects)

build/policy/sleep: $(addprefix build/policy/,sleep.o progress.o) $(policy-objects)

build/policy/check build/policy/compare build/policy/sleep:
	$(CC) -O2 -o $@ $^ -lxxhash -lm

policy-tests := build/policy/test_trace build/policy/test_rival

.PHONY: policy policy-check policy-mutants policy-sleep
policy: build/policy/compare $(if $(TRACE),,build/policy/check) ## what loads cost with the core and with other policies: TRACE='FILE...', or made-up ones and the scenarios; CSV=1
	@build/policy/compare $(if $(CSV),--csv) $(TRACE)
	@$(if $(TRACE)$(CSV),,echo; build/policy/check)

policy-sleep: build/policy/sleep ## how often a slow disk that sleeps is woken: TRACE='FILE...'; SPIN_DOWN=600 IDLE_MS=5000 DELAY='0 3600' CSV=1
	@build/policy/sleep $(if $(CSV),--csv) $(if $(SPIN_DOWN),--spin-down $(SPIN_DOWN)) \
		$(if $(IDLE_MS),--idle-ms $(IDLE_MS)) $(DELAY:%=--delay %) $(TRACE)

policy-check: $(policy-tests) $(addprefix build/policy/,check compare sleep) ## scenarios through the real core: bounds that its policy keeps, and those that are owed; seconds
	@status=0; for test in $(policy-tests); do tests/unit/run $$test || status=1; done; \
	tests/policy/compare-test build/policy/compare || status=1; \
	tests/policy/sleep-test build/policy/sleep || status=1; \
	build/policy/check || status=1; exit $$status

policy-mutants: ## bugs put into the policy on purpose: a scenario of policy-check must break its bound with each
	@tests/policy/mutants
