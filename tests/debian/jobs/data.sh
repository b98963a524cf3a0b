# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: timeout=900 extra=1G
# boot 4 without fast:
# boot 5 without fast: You are in emergency mode
#
# Another disk is behind a cache: a file system, swap, a volume group, a mirror. Without the fast
# disk nothing of it is mounted or assembled; after remove all of it is free.
. /mnt/desktop.sh

DATA=$(data_disk)
names() { find /dev/disk -lname "*/${DATA#/dev/}[0-9]" ! -path '*by-path*'; }

# on PREFIX - all that is on that disk is used by that name.
on()
{
	equal data-on "${1}1" "$(findmnt -no SOURCE /data)"
	equal swap-order yes "$(systemctl show -P After "$(systemd-escape -p --suffix=swap "$(readlink -e "${1}2")")" | grep -qw xpcache.service && echo yes)"
	equal swap-on yes "$(grep -q "^$(readlink -e "${1}2") " /proc/swaps && echo yes)"
	equal volumes-on "${1}3" "$(pvs --noheadings -o pv_name 2>/tmp/pvs | tr -d ' ')"
	equal volumes-quiet "" "$(cat /tmp/pvs)"
	try volumes-change lvchange -q --addtag "boot$BOOT" vg/lv
	equal volume-mounted /dev/mapper/vg-lv "$(findmnt -no SOURCE /volume)"
	equal mirror-on "$(basename "$(readlink -e "${1}4")")" "$(ls /sys/block/md127/slaves 2>/dev/null)"
}

alone()
{
	local n
	for n in 1 2 3 4; do
		! mount "$DATA$n" /media 2>/dev/null || fail "raw-$n" "can be mounted"
		! swapon "$DATA$n" 2>/dev/null || fail "raw-$n" "can be swapped to"
	done
	equal no-names "" "$(names)"
	mdadm -q --assemble --scan 2>/dev/null
	vgchange -qay vg 2>/dev/null
	equal no-volume "" "$(ls /dev/mapper/vg-lv 2>/dev/null)"
	equal no-mirror "" "$(ls /dev/md127 2>/dev/null)"
	pass alone
}

# A mirror below a cache: mdadm's own rules name what is on it, and are not to.
mirror_below()
{
	local fast half uuid
	truncate -s 64M /root/fast
	truncate -s 256M /root/half
	fast=$(losetup -f --show /root/fast)
	half=$(losetup -f --show /root/half)
	must mdadm -q --create /dev/md50 --run --force --level=1 --raid-devices=1 "$half"
	udevadm settle	# what is written while udev looks at the new array goes unnoticed
	must mkfs.ext4 -q /dev/md50
	uuid=$(uuid_of /dev/md50)
	must waited 60 test -e "/dev/disk/by-uuid/$uuid"
	equal below-named /dev/md50 "$(link "$uuid")"
	export XPCACHE_INITRAMFS=/bin/true
	must xpcache create --fast "$fast" --slow /dev/md50 --name below
	udevadm settle
	equal below-runs /dev/mapper/below "$(link "$uuid")"
	equal below-fast-type xpcache "$(lsblk -dno FSTYPE "$fast")"
	try below-stop xpcache stop below
	udevadm settle
	equal below-no-name "" "$(link "$uuid")"
	! mount /dev/md50 /media 2>/dev/null || fail below-raw "can be mounted"
	try below-start xpcache start below
	udevadm settle
	equal below-runs-again /dev/mapper/below "$(link "$uuid")"
	try below-remove xpcache remove below
	udevadm settle
	equal below-free /dev/md50 "$(link "$uuid")"
	must mdadm -q --stop /dev/md50
}

case $BOOT in
1)
	sfdisk -q $DATA <<-END
		label: gpt
		size=300M, type=L
		size=100M, type=S
		size=200M, type=L
		type=L
	END
	udevadm settle
	must mkfs.ext4 -q ${DATA}1
	must mkswap -q ${DATA}2
	must pvcreate -q ${DATA}3
	must vgcreate -q vg ${DATA}3
	must lvcreate -q -n lv -l 100%FREE vg
	must mkfs.ext4 -q /dev/vg/lv
	must mdadm -q --create /dev/md127 --run --level=1 --raid-devices=2 ${DATA}4 missing
	must mkfs.xfs -q /dev/md127
	mkdir -p /data /volume /mirror
	cat >>/etc/fstab <<-END
		UUID=$(uuid_of ${DATA}1) /data ext4 nofail 0 2
		UUID=$(uuid_of ${DATA}2) none swap nofail 0 0
		UUID=$(uuid_of /dev/vg/lv) /volume ext4 nofail 0 2
		UUID=$(uuid_of /dev/md127) /mirror xfs nofail 0 2
	END
	must vgchange -q -an vg
	must mdadm -q --stop /dev/md127
	echo 'devices { global_filter = [ "r|^/dev/xpcache/|" ] }' >>/etc/lvm/lvmlocal.conf
	must xpcache create --fast $FAST --slow $DATA
	udevadm settle
	must waited 60 test -e /dev/mapper/vg-lv
	must systemctl daemon-reload
	must mount /data
	must mount /volume
	must mount /mirror
	must swapon -a
	on ${CACHE}p
	for place in /data /volume /mirror; do
		fill $place/kept 10 300
		tree $place/kept >/root/sum-${place#/}
	done
	sync
	cut_power
	;;
2 | 3)
	up
	on ${CACHE}p
	for place in /data /volume /mirror; do
		equal "kept-${place#/}" "$(cat /root/sum-${place#/})" "$(tree $place/kept)"
	done
	equal no-names "" "$(names)"
	[ "$BOOT" = 3 ] || reboot_now
	fill /data/dirty 10 300
	sync
	cut_power
	;;
4)
	waited 300 at_rest
	equal unit failed "$(systemctl is-active xpcache.service)"
	equal nothing-mounted "" "$(findmnt -no TARGET /data /volume /mirror)"
	alone
	sed -i 's,/data ext4 nofail,/data ext4 x-systemd.device-timeout=200s,' /etc/fstab
	reboot_now
	;;
6)
	up
	on ${CACHE}p
	fill /data/late 10 300
	must umount /data /volume /mirror
	must swapoff ${CACHE}p2
	must vgchange -q -an vg
	must mdadm -q --stop /dev/md127
	try stop xpcache stop xpcache0
	udevadm settle
	alone
	refused fenced-words 3 'kept for a cache that does not run' xpcache create --fast $FAST --slow $DATA --force
	cp "/boot/initrd.img-$KVER" /root/initrd.old
	try remove xpcache remove xpcache0	# dirty: LVM must not get its partition meanwhile
	equal no-device-left "" "$(ls ${CACHE}* 2>/dev/null)"
	udevadm settle
	waited 60 test -e /dev/mapper/vg-lv || {	# what LVM knows, and has done
		tail -n +1 /run/lvm/*_online/*
		ls -l /dev/mapper
		udevadm info $DATA*
		journalctl -b -o short-monotonic | grep -iE 'lvm|pvscan|vgchange' | tail -n 30
		die volume "it is not active again"
	}
	must mount /data
	must mount /volume
	must waited 60 test -e /dev/md127
	must mount /mirror
	must swapon -a
	on $DATA
	for place in /data /volume /mirror; do
		equal "kept-alone-${place#/}" "$(cat /root/sum-${place#/})" "$(tree $place/kept)"
	done
	equal unknown "" "$(ls -d /etc/xpcache 2>/dev/null)"
	equal initramfs-knows-none "" "$(lsinitramfs "/boot/initrd.img-$KVER" | grep etc/xpcache)"
	mv /root/initrd.old "/boot/initrd.img-$KVER"
	sync
	reboot_now
	;;
7)	# an initramfs from before the end of the cache kept the disk; the system lets it go
	up
	on $DATA
	mirror_below
	;;
esac
