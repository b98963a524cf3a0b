# SPDX-License-Identifier: GPL-2.0-only
# The documents say what the code does, their pictures are what their sources say, their links lead somewhere,
# and they and the messages have the words of docs/GLOSSARY.md.

build/tests/tables: tests/docs/tables.c $(core-objects)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CFLAGS) -o $@ $^ $$(pkg-config --libs libxxhash)

.PHONY: docs-test
docs-test: build/tests/tables build/xpcache build/xpcached ## docs/xpcache.rst and the options of docs/xpcache.8 against the code, pictures against their sources, links, words, and a test of each command of README.md
	@status=0; tests/docs/rst $< || status=1; tests/docs/words build || status=1; \
	for test in pictures links commands; do tests/docs/$$test || status=1; done; exit $$status
