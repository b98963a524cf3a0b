/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_page.S - the page of `xpcache bench` but for the result: what comes before it, and after.
 * The files of tools/bench/report/, one after another; the assembler runs in the repository's root.
 */
	.section .rodata

	.global bench_page_before, bench_page_before_end, bench_page_after, bench_page_after_end

bench_page_before:
	.incbin "tools/bench/report/head.html"
	.ascii "<style>\n"
	.incbin "tools/bench/report/vendor/uPlot.min.css"
	.ascii "\n"
	.incbin "tools/bench/report/report.css"
	.ascii "</style>\n"
	.incbin "tools/bench/report/body.html"
	.ascii "<script type=\"application/json\" id=\"result\">\n"
bench_page_before_end:

bench_page_after:
	.ascii "\n</script>\n<script>\n/*\n"
	.incbin "tools/bench/report/vendor/uPlot.LICENSE"
	.ascii "*/\n"
	.incbin "tools/bench/report/vendor/uPlot.iife.min.js"
	.ascii "</script>\n<script>\n(() => {\n\"use strict\";\n"
	.incbin "tools/bench/report/result.js"
	.incbin "tools/bench/report/text.js"
	.incbin "tools/bench/report/histogram.js"
	.incbin "tools/bench/report/chart.js"
	.incbin "tools/bench/report/runs.js"
	.incbin "tools/bench/report/headline.js"
	.incbin "tools/bench/report/percentiles.js"
	.incbin "tools/bench/report/distribution.js"
	.incbin "tools/bench/report/waterfall.js"
	.incbin "tools/bench/report/heat.js"
	.incbin "tools/bench/report/warmup.js"
	.incbin "tools/bench/report/working-set.js"
	.incbin "tools/bench/report/writes.js"
	.incbin "tools/bench/report/sizes.js"
	.incbin "tools/bench/report/crystal.js"
	.incbin "tools/bench/report/method.js"
	.incbin "tools/bench/report/page.js"
	.ascii "})();\n</script>\n</body>\n</html>\n"
bench_page_after_end:

	.section .note.GNU-stack, "", @progbits
