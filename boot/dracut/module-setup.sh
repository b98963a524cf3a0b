#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# dracut's module: keeps the slow devices of known caches from others, and starts the cache that / is
# on, or will be on at the next boot. Without the kernel's module there is no such boot: the image keeps the
# disks from others all the same, and stops; the boot menu passes it over. Where the menu would not, or an
# image that starts the cache would be lost by it, none is made, and what was there stays as it is.

xpcache_records() {
	local record

	for record in "${dracutsysrootdir-}"/etc/xpcache/*.json; do
		# What is gone is to be gone at the next boot.
		[ ! -e "$record" ] || grep -qsE '"start"[[:space:]]*:[[:space:]]*"gone"' "$record" || echo "$record"
	done
}

# One that is to be left is left without the kernel's module.
xpcache_starts() {
	grep -qsE '"start"[[:space:]]*:[[:space:]]*"initramfs"' "${dracutsysrootdir-}"/etc/xpcache/*.json
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
	hostonly='' instmods dm_mod
	xpcache_starts || return 0
	hostonly='' instmods -c dm_xpcache && return
	# shellcheck disable=SC2154 # kernel is dracut's
	dfatal "xpcache: no module dm-xpcache for Linux $kernel, and / is on a cache: install" \
		"linux-headers-$kernel, then: dkms autoinstall -k $kernel && dracut --force --kver $kernel"
	[ -z "${XPCACHE_EVERY_KERNEL:-}" ] && @WORDSDIR@/kernels guarded && ! @WORDSDIR@/kernels starts "$kernel" || return 1
	dwarn "xpcache: Linux $kernel is not the boot menu's default meanwhile, and would stop in its initramfs"
}

install() {
	local record name

	for record in $(xpcache_records); do	# those that the system starts only have to be known
		name=${record#"${dracutsysrootdir-}"}
		inst_simple "$record" "$name"
		# shellcheck disable=SC2154 # initdir is dracut's
		sed -i 's/\("start"[[:space:]]*:[[:space:]]*\)"boot"/\1"no"/' "$initdir$name"
	done
	# xpcached leaves a cache, and is for a rescue without the kernel's module.
	inst_multiple @SBINDIR@/xpcache @SBINDIR@/xpcached sleep
	inst_simple @WORDSDIR@/did-not-start
	inst_rules 59-xpcache.rules 65-xpcache-md.rules
	# shellcheck disable=SC2154 # moddir is dracut's
	inst_hook initqueue/settled 05 "$moddir/xpcache-start.sh"
	inst_hook initqueue/finished 05 "$moddir/xpcache-started.sh"
	dracut_need_initqueue
}
