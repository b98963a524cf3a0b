# SPDX-License-Identifier: GPL-2.0-only
# The documents say what the code does, and their pictures are what their sources say.

build/docs/tables: tests/docs/tables.c $(wildcard core/*.c core/*.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -o $@ $(filter %.c,$^) $$(pkg-config --libs libxxhash)

.PHONY: docs-test
docs-test: build/docs/tables ## docs/xpcache.rst has the code's options, status, messages, limits; pictures are drawn from their sources
	@status=0; tests/docs/rst $< || status=1; tests/docs/pictures || status=1; exit $$status
