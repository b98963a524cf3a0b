# SPDX-License-Identifier: GPL-2.0-only
# The simulator: the core over two lying disks, every crash state recovered.
# SIM_FAST=memory or disk: the fast one is that in all runs, and not as the seed says.

SIM_SECONDS ?= 110
SIM_SEED ?= 1
HOURS ?= 1

SIM_FLAGS := -std=gnu11 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icore -Itests/sim
# Constants of the core that make full windows, full blocks and a full ring common.
SIM_NARROW := -DXP_WINDOW=4u -DXP_PUT_MAX=5u -DXP_RUN_MAX=4u -DXP_RECOVER_CHUNK=8u \
	-DXP_HIT_PINS=3u -DXP_HIT_STEPS=2u -DXP_BATCH_MIN=5u -DXP_BATCH_SOON=2u -DXP_SOON_SHARE=8u -DXP_LONG_NS=300000000ull -DXP_THROUGH_TURNS=1u -DXP_THROUGH_TURNS_FAILING=3u -DXP_THROUGH_BATCH=4u -DXP_THROUGH_MAX=3u -DXP_LOOKS=3u -DXP_BYPASS_MAX=2u -DXP_UNFLUSHED_MAX=3u -DXP_FILL_RUNS_MAX=2u -DXP_OVERLAYS_MAX=2u -DXP_OVERLAY_RUNS_MAX=1u -DXP_STREAM_BEGIN=2u -DXP_REGION_FULL=3 -DXP_HINT_RANKS=5u -DXP_SEGMENTS_MAX=16u -DXP_OVERWRITES_MAX=2u
SIM_SANITIZED := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
sim-sources := $(wildcard tests/sim/*.c) $(wildcard core/*.c)

SIM_VARIANT_sim := -O2
SIM_VARIANT_sim-narrow := -O2 $(SIM_NARROW)
SIM_VARIANT_sim-sanitized := $(SIM_SANITIZED)
SIM_VARIANT_sim-narrow-sanitized := $(SIM_SANITIZED) $(SIM_NARROW)

# Its objects are build/sim/objects/NAME/{core,sim}-*.o: tests/sim/mutants links them, too.
define sim-program
sim-objects-$(1) := $(foreach source,$(sim-sources),build/sim/objects/$(1)/$(notdir $(patsubst %/,%,$(dir $(source))))-$(basename $(notdir $(source))).o)

build/sim/objects/$(1)/core-%.o: core/%.c tests/sim/sim.mk
	@mkdir -p $$(@D)
	$$(CC) $$(SIM_FLAGS) $$(SIM_VARIANT_$(1)) -MMD -MP -c -o $$@ $$<

build/sim/objects/$(1)/sim-%.o: tests/sim/%.c tests/sim/sim.mk
	@mkdir -p $$(@D)
	$$(CC) $$(SIM_FLAGS) $$(SIM_VARIANT_$(1)) -MMD -MP -c -o $$@ $$<

build/sim/$(1): $$(sim-objects-$(1))
	$$(CC) $$(SIM_VARIANT_$(1)) -o $$@ $$^ -lxxhash

-include $$(sim-objects-$(1):.o=.d)
endef
$(foreach name,sim sim-narrow sim-sanitized sim-narrow-sanitized,$(eval $(call sim-program,$(name))))

.PHONY: sim sim-short sim-long sim-coverage mutants mutants-quick mutants-properties
sim: build/sim/sim build/sim/sim-narrow ## every crash state of the core over two lying disks: two minutes
	@tests/sim/campaign $(SIM_SECONDS) $(SIM_SEED) $^

sim-short: build/sim/sim-sanitized build/sim/sim-narrow-sanitized
	@tests/sim/campaign 20 $(SIM_SEED) $^

sim-long: build/sim/sim build/sim/sim-narrow ## the same for HOURS=, from seeds that nobody has tried (or SIM_SEED=)
	@tests/sim/campaign $$(($(HOURS) * 3600)) \
		$(if $(filter file,$(origin SIM_SEED)),$$(date +%s000000),$(SIM_SEED)) $^

sim-coverage: ## every branch of journal, recovery, slots and writeback is reached, or it fails
	@tests/sim/coverage

mutants: ## bugs put into the core on purpose: the simulator must find each
	@tests/sim/mutants

mutants-quick:
	@tests/sim/mutants --quick

mutants-properties: ## without any one property of the oracle some mutant is not found
	@tests/sim/mutants --properties
