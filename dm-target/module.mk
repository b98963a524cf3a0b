# SPDX-License-Identifier: GPL-2.0-only
#
# module.mk - `make module`, the kernel module. Included by the Makefile.
#
#   make module                 for the running kernel
#   make module KVER=6.1.0-...  for another one whose headers are installed
#   make module KDIR=/path      for a kernel build tree
#   make module MODULE_FLAGS=XP_DEBUG=1   with the parameters that only tests use
#   make module-install         of the same; DKMS does it for each new kernel by itself
#
# The sources of core/ and dm-target/ are linked into one folder of build/, so
# that a build leaves nothing beside them.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

module-name := $(if $(filter command line environment,$(origin KDIR)),$(notdir $(patsubst %/,%,$(KDIR))),$(KVER))
module-dir := build/module-$(module-name)
module-sources := $(wildcard core/*.c core/*.h dm-target/*.c dm-target/*.h) dm-target/Kbuild

.PHONY: module
module:
	@test -e $(KDIR)/Makefile || { \
		echo "module: no kernel headers in $(KDIR): install linux-headers-$(KVER), or name a build tree with KDIR=" >&2; \
		exit 1; }
	@mkdir -p $(module-dir)
	@find $(module-dir) -maxdepth 1 -type l -delete
	@ln -s $(addprefix $(CURDIR)/,$(module-sources)) $(module-dir)/
	$(MODULE_IN) $(MAKE) -C $(KDIR) M=$(CURDIR)/$(module-dir) $(MODULE_FLAGS) modules

.PHONY: module-install
module-install: module ## the module, for the running kernel or KVER=; the package xpcache-dkms follows new kernels
	install -D -m 644 $(module-dir)/dm-xpcache.ko $(DESTDIR)/lib/modules/$(KVER)/extra/dm-xpcache.ko
	test -n "$(DESTDIR)" || depmod -a $(KVER)
