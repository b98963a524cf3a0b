# SPDX-License-Identifier: GPL-2.0-only
# The module's sources for DKMS, which builds them for each kernel.

dkmsdir	?= /usr/src
dkms-tree := $(dkmsdir)/xpcache-$(XP_VERSION)

.PHONY: dkms-install
dkms-install: ## the module's sources, where DKMS looks for them; then dkms add xpcache/VERSION
	install -d $(DESTDIR)$(dkms-tree)
	install -m 644 -t $(DESTDIR)$(dkms-tree) $(module-sources)
	install -m 755 -t $(DESTDIR)$(dkms-tree) dkms/try dkms/installed
	sed 's/#MODULE_VERSION#/$(XP_VERSION)/' dkms/dkms.conf >$(DESTDIR)$(dkms-tree)/dkms.conf
	chmod 644 $(DESTDIR)$(dkms-tree)/dkms.conf
