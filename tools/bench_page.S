/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_page.S - the page of `xpcache bench` but for the result: what comes before it, and after.
 * The files of tools/report/, one after another; the assembler runs in the repository's root.
 */
	.section .rodata

	.global bench_page_before, bench_page_before_end, bench_page_after, bench_page_after_end

bench_page_before:
	.incbin "tools/report/head.html"
	.ascii "<style>\n"
	.incbin "tools/report/vendor/uPlot.min.css"
	.ascii "\n"
	.incbin "tools/report/report.css"
	.ascii "</style>\n"
	.incbin "tools/report/body.html"
	.ascii "<script type=\"application/json\" id=\"result\">\n"
bench_page_before_end:

bench_page_after:
	.ascii "\n</script>\n<script>\n/*\n"
	.incbin "tools/report/vendor/uPlot.LICENSE"
	.ascii "*/\n"
	.incbin "tools/report/vendor/uPlot.iife.min.js"
	.ascii "</script>\n<script>\n(() => {\n\"use strict\";\n"
	.incbin "tools/report/result.js"
	.incbin "tools/report/text.js"
	.incbin "tools/report/histogram.js"
	.incbin "tools/report/chart.js"
	.incbin "tools/report/runs.js"
	.incbin "tools/report/headline.js"
	.incbin "tools/report/percentiles.js"
	.incbin "tools/report/distribution.js"
	.incbin "tools/report/waterfall.js"
	.incbin "tools/report/heat.js"
	.incbin "tools/report/warmup.js"
	.incbin "tools/report/working-set.js"
	.incbin "tools/report/writes.js"
	.incbin "tools/report/sizes.js"
	.incbin "tools/report/crystal.js"
	.incbin "tools/report/method.js"
	.incbin "tools/report/page.js"
	.ascii "})();\n</script>\n</body>\n</html>\n"
bench_page_after_end:

	.section .note.GNU-stack, "", @progbits
