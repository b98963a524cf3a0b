# SPDX-License-Identifier: GPL-2.0-only
# The hit without the lock, in every order of what its processors do (spin).

build/model/hit: tests/model/hit.pml
	@mkdir -p $(@D)
	cd $(@D) && spin -a $(CURDIR)/$< >spin.log || { cat spin.log >&2; exit 1; }
	$(CC) -w -O2 -DSAFETY -DVECTORSZ=512 -DMEMLIM=4096 -o $@ $(@D)/pan.c

.PHONY: model-test
model-test: build/model/hit ## spin's model of the hit without the lock: it holds, and without any one of its barriers it does not
	@tests/model/run

.PHONY: litmus-test
litmus-test: ## ARM's model of its memory, by herd7, on the same: with all its barriers never, without any one sometimes
	@tests/model/litmus
