# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: timeout=1200
#
# The power goes while a system moves onto a cache, or off it: before the initramfs is made that the
# next boot is to have, and after. Each time the next boot is right, and what was begun can be ended.
. /mnt/desktop.sh

# Both ask in which boot they are, so that xpcache-left.service, which begins by itself, waits for the job.
cut_there()
{
	printf '#!/bin/sh\n[ "$1" != prereqs ] || exit 0\n%s\n' "$(wait_there before)" >/etc/initramfs-tools/hooks/zz-cut
	printf '#!/bin/sh\n%s\n' "$(wait_there after)" >/etc/initramfs/post-update.d/zz-cut
	chmod +x /etc/initramfs-tools/hooks/zz-cut /etc/initramfs/post-update.d/zz-cut
}

wait_there()
{
	echo "while [ ! -e /run/cut ]; do sleep 1; done"
	echo "grep -qx $1 /run/cut || exit 0"
	echo "[ $1 = before ] || [ -e ${CACHE}p$ROOT ] || sync"	# what is on a cache the loader does not read yet
	echo "echo CUT >$REPORT; sleep infinity"
}

# cut WHEN COMMAND... - never comes back.
cut()
{
	echo "$1" >/run/cut
	"${@:2}"
	die "cut-$1" "${*:2} ended before the power went"
}

adopted()
{
	up
	all_on ${CACHE}p
	equal disk-is-below 1 "$(find /sys/block/${SLOW#/dev/}/holders -name 'dm-*' | wc -l)"
}

not_adopted()
{
	up
	all_on $SLOW
	nothing_below
}

nothing_below() { equal nothing-below 0 "$(find /sys/block/${SLOW#/dev/}/holders -name 'dm-*' | wc -l)"; }

nothing_left()
{
	equal no-record "" "$(ls /etc/xpcache)"
	equal no-cache "" "$(xpcache list | grep -o $FAST)"
}

case $BOOT in
5 | 6 | 9) ;;
*) echo no >/run/cut ;;
esac

case $BOOT in
1)	# Noted, and no image has it.
	mkdir -p /etc/initramfs/post-update.d
	cut_there
	sync
	cut before xpcache adopt --fast $FAST --yes
	;;
2)	# Noted, and the image has it.
	waited 300 at_rest
	equal it-is-said 1 "$(journalctl -b -u xpcache.service -o cat | grep -c 'the initramfs of this boot did not start it.*xpcache adopt --undo')"
	equal failed-unit xpcache.service "$(systemctl --failed --plain --no-legend | awk '{ print $1 }')"
	all_on $SLOW
	nothing_below
	refused again 3 "adopted already.*xpcache adopt --undo" xpcache adopt --fast $FAST --yes
	try undo-of-half xpcache adopt --undo
	nothing_left
	cut after xpcache adopt --fast $FAST --yes
	;;
3)	# To leave, and the image starts it.
	adopted
	menu_at_rest
	keep
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	cut before xpcache adopt --undo
	;;
4)	# To leave, and the image leaves it: but the loader reads it only once it is home.
	adopted
	kept
	menu_at_rest
	fill /root/more 10 300
	sync
	cut after xpcache adopt --undo
	;;
5)
	kept
	if [ -e ${CACHE}p$ROOT ]; then
		echo no >/run/cut
		adopted
		try undo-once-more xpcache adopt --undo
	fi
	reboot_now
	;;
6)	# Left, and the image leaves it once more; by itself.
	all_on $SLOW
	kept
	cut before sleep 900
	;;
7)	# Gone, and the image starts it.
	not_adopted
	kept
	nothing_left
	must xpcache adopt --fast $FAST --yes
	cut before xpcache adopt --undo
	;;
8)
	adopted
	kept
	try undo xpcache adopt --undo
	reboot_now
	;;
9)	# Gone, and no image has it; by itself.
	all_on $SLOW
	kept
	cut after sleep 900
	;;
10)
	not_adopted
	kept
	nothing_left
	;;
esac
