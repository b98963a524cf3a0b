# SPDX-License-Identifier: GPL-2.0-only
# The page of `xpcache bench`, looked at by a browser.

build/report/page: tests/report/page.c build/tools/bench/bench_html.o build/tools/bench/bench_page.o build/lib/complain.o build/lib/figures.o build/lib/progress.o build/lib/json.o build/core/words.o
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(CFLAGS) -o $@ $^ $$(pkg-config --libs json-c) -lm

.PHONY: report-test
report-test: build/report/page ## the page of xpcache bench in a browser without a screen
	@scripts/bootstrap report-test
	@tests/report/run build/report
