# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=adopted timeout=1200
# boot 2 without fast: its fast device is not here, and may have what its slow device
# boot 2 type: xpcache forget xpcache0 --force
# boot 2 type: exit
# boot 3: written without the cache xpcache0
# boot 3 type: xpcache start xpcache0 --discard-dirty
# boot 3 then: that were dirty, as you asked
# boot 3 type: exit
#
# Another system uses the disk while / on the cache is dirty, which never rests in order: its disk,
# of an earlier time, goes on from there. Then the boot asks, and mounts nothing before it is told.
. /mnt/desktop.sh

case $BOOT in
1)
	up
	all_on ${CACHE}p
	try home xpcache flush --boot
	keep
	note "dirty: $(counter dirty)"
	cut_power
	;;
2)
	all_on $SLOW
	equal of-an-earlier-time "" "$(ls /root/kept /home/kept 2>/dev/null)"
	fill /root/by-the-stick 20 300
	tree /root/by-the-stick >/root/by-the-stick.sum
	reboot_now
	;;
3)
	up
	all_on ${CACHE}p
	equal what-the-stick-wrote "$(cat /root/by-the-stick.sum)" "$(tree /root/by-the-stick)"
	equal what-was-dirty "" "$(ls /root/kept /home/kept 2>/dev/null)"
	reboot_now
	;;
4)
	up
	all_on ${CACHE}p
	equal what-the-stick-wrote "$(cat /root/by-the-stick.sum)" "$(tree /root/by-the-stick)"
	;;
esac
