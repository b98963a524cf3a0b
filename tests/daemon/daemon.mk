# SPDX-License-Identifier: GPL-2.0-only
# xpcached watch: its parts with sanitizers, and the whole of it before a device mapper of
# our own (tests/daemon/many.c), by curl.

build/tests/many.so: tests/daemon/many.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -shared -fPIC -o $@ $<
