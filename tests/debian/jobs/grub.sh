# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=adopted
#
# The boot loader is installed anew on a system that is on its cache, as an upgrade of its packages
# does: the firmware reads the disk below, so what is written must be there. It is no other system's
# work: the cache starts with what is dirty.
. /mnt/desktop.sh

case $BOOT in
1)
	up
	all_on ${CACHE}p
	keep
	# What boots now is gone from the disk: the code of its first sector.
	must dd if=/dev/zero of=$SLOW bs=440 count=1 conv=notrunc,fsync status=none
	try grub-install grub-install $SLOW
	try update-grub update-grub
	menu_at_rest
	fill /root/more 10 300
	sync
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	cut_power
	;;
2)
	up
	all_on ${CACHE}p
	kept
	equal still-warm yes "$([ "$(counter clean)" -gt 500 ] && echo yes)"
	;;
esac
