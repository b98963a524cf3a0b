# SPDX-License-Identifier: GPL-2.0-only
# Other CPUs: built by a cross compiler in build/ARCH/, and run by qemu's user mode.
# arm64: another memory order, CRC32C by another instruction. s390x: big-endian, CRC32C by tables.

cross-arches	:= arm64 s390x
triplet-arm64	:= aarch64-linux-gnu
triplet-s390x	:= s390x-linux-gnu
emulator-arm64	:= qemu-aarch64-static
emulator-s390x	:= qemu-s390x-static

# Before the libraries of a package for cross-compiling, which may be older.
cross-cc = $(triplet-$(1))-gcc --sysroot=$(CURDIR)/build/$(1)/root -L$(CURDIR)/build/$(1)/root/usr/lib/$(triplet-$(1))

# cross-make ARCH - make, there.
cross-make = env PKG_CONFIG_SYSROOT_DIR=$(CURDIR)/build/$(1)/root \
	PKG_CONFIG_LIBDIR=$(CURDIR)/build/$(1)/root/usr/lib/$(triplet-$(1))/pkgconfig:$(CURDIR)/build/$(1)/root/usr/share/pkgconfig \
	EMULATOR="$(emulator-$(1)) -L $(CURDIR)/build/$(1)/root" \
	$(MAKE) --no-print-directory -C build/$(1) CC="$(call cross-cc,$(1))" \
	AR=$(triplet-$(1))-ar LD=$(triplet-$(1))-ld NM=$(triplet-$(1))-nm

.PHONY: $(cross-arches:%=cross-tree-%) $(cross-arches:%=cross-test-%)
$(cross-arches:%=cross-tree-%): cross-tree-%:
	@scripts/bootstrap cross-$*
	@tests/cross/tree $*

cross-test-arm64: cross-tree-arm64 ## unit tests and the simulator for arm64, by qemu's user mode; and what the compiler makes of a hit
	+@$(call cross-make,arm64) cross-test CROSS_ORDERS=tests/cross/orders
cross-test-s390x: cross-tree-s390x ## unit tests and the simulator where numbers are big-endian
	+@$(call cross-make,s390x) cross-test

# There: what these run.
.PHONY: cross-test
cross-test: build/sim/sim build/sim/sim-narrow
	+@status=0; $(MAKE) unit-test || status=1; $(MAKE) sim || status=1; \
	$(if $(CROSS_ORDERS),$(CROSS_ORDERS) $(CC) || status=1;) exit $$status

# ------------------------------------------------------ virtual machines ----

arm64-kernels	:= arm64 arm64-16k
arm64-programs	:= build/xpcache build/xpcache-bench build/tests/forge build/vm/bin/powercut build/vm/bin/filecut
arm64-modules	:= $(arm64-kernels:%=vm-module-%)
$(arm64-modules): export MODULE_FLAGS := ARCH=arm64 CROSS_COMPILE=$(triplet-arm64)-

.PHONY: vm-arm64
vm-arm64: cross-tree-arm64 ## machines with arm64 and pages of 4 and of 16 KiB: fio verifies, and power cuts
	@scripts/bootstrap vm-arm64
	+@$(call cross-make,arm64) $(arm64-programs)
	+@$(MAKE) --no-print-directory $(arm64-modules)
	@status=0; tests/vm/run $(arm64-kernels:%=--kernel %) verify || status=1; \
	tests/vm/powercut $(arm64-kernels:%=--kernel %) --kind raw --kind ext4 --cuts 4 --seed $(SEED) || status=1; \
	exit $$status
