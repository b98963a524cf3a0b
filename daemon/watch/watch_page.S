/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_page.S - the watcher's page: what it shares with the report of `xpcache bench`
 * (tools/bench/report/, the vendored uPlot too), and daemon/watch/. The assembler runs in the
 * repository's root.
 */
	.section .rodata

	.global watch_page, watch_page_end

watch_page:
	.incbin "daemon/watch/page/head.html"
	.ascii "<style>\n"
	.incbin "tools/bench/report/vendor/uPlot.min.css"
	.ascii "\n"
	.incbin "tools/bench/report/report.css"
	.incbin "daemon/watch/page/watch.css"
	.ascii "</style>\n"
	.incbin "daemon/watch/page/body.html"
	.ascii "<script>\n/*\n"
	.incbin "tools/bench/report/vendor/uPlot.LICENSE"
	.ascii "*/\n"
	.incbin "tools/bench/report/vendor/uPlot.iife.min.js"
	.ascii "</script>\n<script>\n(() => {\n\"use strict\";\n"
	.incbin "tools/bench/report/text.js"
	.incbin "tools/bench/report/chart.js"
	.incbin "tools/bench/report/heat.js"
	.incbin "daemon/watch/page/state.js"
	.incbin "daemon/watch/page/now.js"
	.incbin "daemon/watch/page/hour.js"
	.incbin "daemon/watch/page/page.js"
	.ascii "})();\n</script>\n</body>\n</html>\n"
watch_page_end:

	.section .note.GNU-stack, "", @progbits
