/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_page.S - the watcher's page: what it shares with the report of `xpcache bench`
 * (tools/report/, the vendored uPlot too), and daemon/watch/. The assembler runs in the
 * repository's root.
 */
	.section .rodata

	.global watch_page, watch_page_end

watch_page:
	.incbin "daemon/watch/head.html"
	.ascii "<style>\n"
	.incbin "tools/report/vendor/uPlot.min.css"
	.ascii "\n"
	.incbin "tools/report/report.css"
	.incbin "daemon/watch/watch.css"
	.ascii "</style>\n"
	.incbin "daemon/watch/body.html"
	.ascii "<script>\n/*\n"
	.incbin "tools/report/vendor/uPlot.LICENSE"
	.ascii "*/\n"
	.incbin "tools/report/vendor/uPlot.iife.min.js"
	.ascii "</script>\n<script>\n(() => {\n\"use strict\";\n"
	.incbin "tools/report/text.js"
	.incbin "tools/report/chart.js"
	.incbin "tools/report/heat.js"
	.incbin "daemon/watch/state.js"
	.incbin "daemon/watch/now.js"
	.incbin "daemon/watch/hour.js"
	.incbin "daemon/watch/page.js"
	.ascii "})();\n</script>\n</body>\n</html>\n"
watch_page_end:

	.section .note.GNU-stack, "", @progbits
