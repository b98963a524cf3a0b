# SPDX-License-Identifier: GPL-2.0-only
# Packages of other distributions; Debian's are made by `make deb`.

rpm-folder := build/rpm

.PHONY: rpm
rpm: ## packages for Fedora and its children, not signed: build/rpm/RPMS/*/*.rpm
	@scripts/bootstrap rpm
	@rm -rf $(rpm-folder)
	@mkdir -p $(rpm-folder)/SOURCES
	@tar -c --exclude=./build --exclude=./.git --transform 's,^\.,xpcache-$(XP_VERSION),' \
		-zf $(rpm-folder)/SOURCES/xpcache-$(XP_VERSION).tar.gz .
	env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS -u PREFIX rpmbuild -bb $(RPM_FLAGS) --define "_topdir $(CURDIR)/$(rpm-folder)" \
		--define "xp_version $(XP_VERSION)" packaging/rpm/xpcache.spec >$(rpm-folder)/build.log 2>&1 || \
		{ tail -n 20 $(rpm-folder)/build.log >&2; echo "rpm: not built: see $(rpm-folder)/build.log" >&2; exit 1; }
	@ls $(rpm-folder)/RPMS/*/*.rpm
