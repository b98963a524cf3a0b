# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: timeout=900 extra=512M
#
# A disk in fstab by UUID is behind a cache that is dirty, and the module was removed by hand: the boot
# comes up without that disk and says why, and nobody gets at it before the module is back. With it the
# machine goes down in order.
. /mnt/desktop.sh

DATA=$(data_disk)

case $BOOT in
1)
	printf '%s\n' 'size=300M, type=L' 'type=S' | sfdisk -q -X gpt "$DATA"
	udevadm settle
	must mkfs.ext4 -q "${DATA}1"
	must mkswap -q "${DATA}2"
	mkdir -p /data
	cat >>/etc/fstab <<-END
		UUID=$(uuid_of "${DATA}1") /data ext4 nofail 0 2
		UUID=$(uuid_of "${DATA}2") none swap nofail 0 0
	END
	must xpcache create --fast $FAST --slow "$DATA"
	udevadm settle
	systemctl daemon-reload
	must mount /data
	equal data-on ${CACHE}p1 "$(findmnt -no SOURCE /data)"
	fill /data/kept 10 300
	tree /data/kept >/root/kept.sum
	sync
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	module=$(modinfo -n dm-xpcache)
	echo "$module" >/root/module.path
	mv "$module" /root/module
	depmod
	sync
	cut_power
	;;
2)
	waited 300 at_rest
	equal unit-failed failed "$(systemctl is-active xpcache.service)"
	journalctl -b -u xpcache -o cat | grep -q 'no xpcache target' && pass unit-names-the-module ||
		fail unit-names-the-module "$(journalctl -b -u xpcache -o cat | tail -n 3)"
	equal not-mounted "" "$(findmnt -no SOURCE /data)"
	! mount "${DATA}1" /media 2>/dev/null || fail raw "can be mounted"
	! mount /data 2>/dev/null || fail by-uuid "can be mounted"
	equal no-names "" "$(find /dev/disk -lname "*/${DATA#/dev/}1" ! -path '*by-path*')"
	refused start-says-why 1 'no xpcache target' xpcache start xpcache0
	mv /root/module "$(cat /root/module.path)"
	depmod
	try start-with-it systemctl restart xpcache.service
	try mount waited 60 mount /data
	equal data-on ${CACHE}p1 "$(findmnt -no SOURCE /data)"
	equal kept "$(cat /root/kept.sum)" "$(tree /data/kept)"
	try swap waited 60 swapon -a
	equal swap-on yes "$(grep -q "^$(readlink -e ${CACHE}p2) " /proc/swaps && echo yes)"
	mkdir -p /var/log/journal
	must journalctl --flush
	reboot_now
	;;
3)
	up
	# blkdeactivate is lvm2's, and takes down what it finds unused before the unit's turn comes.
	journalctl -b -1 -o cat | sed -n '
		s/^Unmounted data.mount.*/unmounted/p
		s,^Deactivated swap .* - /dev/mapper/xpcache0p2\.$,no swap,p
		s/^xpcache0: stopped[;,].*/stopped/p
		s/.*: deactivating xpcache device xpcache0 .*done$/stopped/p' >/root/down
	equal down-with-all "$(printf '%s\n' 'no swap' stopped unmounted)" "$(LC_ALL=C sort -u /root/down)"
	equal data-on ${CACHE}p1 "$(findmnt -no SOURCE /data)"
	equal kept "$(cat /root/kept.sum)" "$(tree /data/kept)"
	;;
esac
