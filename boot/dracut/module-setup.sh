#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dracut's module for the cache that / is on, or will be on at the next boot. Without the kernel's
# module there is no such boot: then no image is made, and the one that was there stays as it is.

xpcache_records() {
	grep -lsE '"start"[[:space:]]*:[[:space:]]*"(initramfs|leave)"' "${dracutsysrootdir-}"/etc/xpcache/*.json
}

check() {
	[ -n "$(xpcache_records)" ] || return 255
	require_binaries @SBINDIR@/xpcache || return 1
}

depends() {
	echo dm udev-rules rootfs-block
}

# Whether this machine has it loaded now says nothing of the next boot.
installkernel() {
	if ! hostonly='' instmods -c dm_xpcache; then
		# shellcheck disable=SC2154 # kernel is dracut's
		dfatal "xpcache: no module dm-xpcache for Linux $kernel, and / is on a cache: install" \
			"linux-headers-$kernel, then: dkms autoinstall -k $kernel && dracut --force --kver $kernel"
		return 1
	fi
}

install() {
	local record

	for record in $(xpcache_records); do
		inst_simple "$record" "${record#"${dracutsysrootdir-}"}"
	done
	# xpcached is for a rescue without the kernel's module.
	inst_multiple @SBINDIR@/xpcache @SBINDIR@/xpcached sleep
	inst_simple @WORDSDIR@/did-not-start
	inst_rules 59-xpcache.rules
	# shellcheck disable=SC2154 # moddir is dracut's
	inst_hook initqueue/settled 05 "$moddir/xpcache-start.sh"
	inst_hook initqueue/finished 05 "$moddir/xpcache-started.sh"
	dracut_need_initqueue
}
