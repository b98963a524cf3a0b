/* SPDX-License-Identifier: GPL-2.0-only */
/* completion_scripts.S - what `xpcache completion` prints; the assembler runs in the repository's root. */
	.section .rodata

	.global completion_bash, completion_fish, completion_zsh, completion_end

completion_bash:
	.incbin "tools/completion/xpcache"
completion_fish:
	.incbin "tools/completion/xpcache.fish"
completion_zsh:
	.incbin "tools/completion/_xpcache"
completion_end:

	.section .note.GNU-stack, "", @progbits
