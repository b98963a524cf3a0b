# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: timeout=2400 debs=dracut
# boot 3 without fast: the cache that / is on did not start, so / is not mounted
#
# A desktop whose initramfs dracut makes: it moves onto a cache, loses its power there, stops where
# the fast device is missing, and moves back.
. /mnt/desktop.sh

holds() { lsinitrd "/boot/initrd.img-$KVER" | grep -c "$1"; }

case $BOOT in
1)
	all_on $SLOW
	# Of this machine alone, and not compressed: the processor is emulated.
	mkdir -p /etc/dracut.conf.d
	printf '%s\n' 'hostonly="yes"' 'compress="cat"' >/etc/dracut.conf.d/emulated.conf
	must apt-get -qq -y --no-install-recommends install /mnt/*.deb
	equal initramfs-tools deinstall "$(dpkg-query -W -f '${Status}' initramfs-tools | cut -d ' ' -f 1)"
	must xpcache adopt --fast $FAST --yes
	for what in dm-xpcache.ko sbin/xpcache$ sbin/xpcached etc/xpcache/.*json 59-xpcache.rules 65-xpcache-md.rules xpcache-start.sh; do
		[ "$(holds "$what")" -gt 0 ] || fail initramfs "has no $what"
	done
	reboot_now
	;;
2)
	up
	all_on ${CACHE}p
	fenced
	keep
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	cut_power
	;;
4)
	up
	all_on ${CACHE}p
	kept
	equal file-system clean "$(dumpe2fs -h ${CACHE}p$ROOT 2>/dev/null | sed -n 's/^Filesystem state: *//p')"
	try undo xpcache adopt --undo
	reboot_now
	;;
5)
	waited 600 at_rest
	up
	all_on $SLOW
	kept -after
	equal record-gone "" "$(ls /etc/xpcache)"
	equal initramfs-free 0 "$(holds etc/xpcache/.*json)"
	;;
esac
