# SPDX-License-Identifier: GPL-2.0-only
# What is installed, and how it goes away again.

.PHONY: install-test folder-test
folder-test: programs ## what is installed to build, make install and make uninstall, in folders
	@tests/install/run bootstrap folder

install-test: bootstrap-test ## packages and make install, in a Debian of their own: needs root, a mirror and minutes
	@scripts/bootstrap install-test
	+@$(MAKE) --no-print-directory programs
	@tests/install/run
