# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=adopted timeout=1200
#
# The fast disk is pulled out of a running desktop while nothing is dirty: the system on the cache goes
# on, writes, and goes down in order. The next boot has that disk again, and uses nothing that it holds.
. /mnt/desktop.sh

PCI=$(readlink -f "/sys/class/block/${FAST#/dev/}/device/device")

# pull - while no file system writes, so that nothing is dirty.
pull()
{
	local dirty
	(sleep 120; fsfreeze -u /; fsfreeze -u /home) 2>/dev/null &
	sync
	must fsfreeze -f /home
	must fsfreeze -f /
	xpcache flush xpcache0 >/dev/null
	dmsetup message xpcache0 0 commit
	dirty=$(counter dirty)
	echo 1 >"$PCI/remove"
	fsfreeze -u /
	fsfreeze -u /home
	equal nothing-dirty 0 "$dirty"
}
passing() { [ "$(counter passthrough)" = 1 ]; }

case $BOOT in
1)
	up
	all_on ${CACHE}p
	keep
	pull
	equal fast-is-gone "" "$(ls "$FAST" 2>/dev/null)"
	fill /root/while 20 300
	fill /home/while 20 300
	sync
	tree /root/while >/root/while.sum
	tree /home/while >/home/while.sum
	try goes-on waited 60 passing
	echo 3 >/proc/sys/vm/drop_caches
	kept -before
	equal root-writable rw "$(findmnt -no OPTIONS / | cut -d , -f 1)"
	equal home-writable rw "$(findmnt -no OPTIONS /home | cut -d , -f 1)"
	grep -q 'writes go to the slow device' <<<"$(xpcache status xpcache0)" && pass status-says-so ||
		fail status-says-so "$(xpcache status xpcache0)"
	reboot_now
	;;
2)
	up
	all_on ${CACHE}p
	kept
	for place in root home; do
		equal "$place-while-it-was-gone" "$(cat /$place/while.sum)" "$(tree /$place/while)"
	done
	equal a-cache-again 0 "$(counter passthrough)"
	keep
	cut_power
	;;
3)
	up
	all_on ${CACHE}p
	kept
	;;
esac
