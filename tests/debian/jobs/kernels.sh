# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=kernels timeout=1800
#
# Two kernels, and the power goes when the initramfs of one is made and that of the other is not:
# whichever is booted then, and then the other, every byte is there. Images are made one after
# another, the newest kernel's first.
. /mnt/desktop.sh

kernels=("$(ls -v /lib/modules | tail -n 1)" "$(ls -v /lib/modules | head -n 1)")

# next_is 0|1 - that kernel is booted next, and the boot menu on the disk says so.
next_is()
{
	must grub-set-default "Debian GNU/Linux, with Linux ${kernels[$1]}"
	sync
	sleep 3
	waited 600 menu_is_home || fail menu "does not come home"
}

# With what was written last dirty, if there is a cache.
cut_there()
{
	cat >/etc/initramfs/post-update.d/zz-cut <<-END
		#!/bin/sh
		while [ ! -e /run/cut ]; do sleep 1; done
		start=\$(sed -n 's/.*"start": *"\([a-z]*\)".*/\1/p' /etc/xpcache/*.json)
		grep -qx "\$1 \$start" /run/cut || exit 0
		dd if=/dev/urandom of=/root/last bs=64k count=100 2>/dev/null
		sha256sum /root/last >/root/last.sum
		sync
		echo CUT >$REPORT
		sleep infinity
	END
	chmod +x /etc/initramfs/post-update.d/zz-cut
}

# cut START COMMAND... - when the first image has that in its record; never comes back.
cut()
{
	echo "${kernels[0]} $1" >/run/cut
	"${@:2}"
	die "cut-$1" "${*:2} ended before the power went"
}

last_kept() { equal last-kept 0 "$(sha256sum --quiet -c /root/last.sum >&2; echo $?)"; }

booted() { equal kernel "${kernels[$1]}" "$(uname -r)"; }

[ "$BOOT" = 1 ] || echo no >/run/cut

case $BOOT in
1)
	mkdir -p /etc/initramfs/post-update.d
	cut_there
	sed -i 's/^GRUB_TIMEOUT=.*/&\nGRUB_DEFAULT=saved\nGRUB_DISABLE_SUBMENU=y/' /etc/default/grub
	must update-grub
	next_is 0
	cut initramfs xpcache adopt --fast $FAST --yes
	;;
2)	# Its image starts it, the other's would leave it.
	booted 0
	adopted
	next_is 1
	menu_at_rest
	keep
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	report CUT
	sleep infinity
	;;
3)	# What is dirty comes home, and it is taken back.
	booted 1
	all_on $SLOW
	kept
	last_kept
	taken_back
	next_is 0
	must xpcache adopt --fast $FAST --yes
	reboot_now
	;;
4)	# It is to be left, and the first image does.
	booted 0
	adopted
	kept
	next_is 1
	cut leave xpcache adopt --undo
	;;
5)	# The other's image starts it: that is left too, by itself.
	booted 1
	adopted
	kept
	last_kept
	to_leave
	waited 900 at_rest
	next_is 0
	menu_at_rest
	keep
	report CUT
	sleep infinity
	;;
6)
	booted 0
	all_on $SLOW
	kept
	taken_back
	next_is 1
	reboot_now
	;;
7)
	booted 1
	kept
	taken_back
	;;
esac
