# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: timeout=1200
#
# The running system moves onto a cache, loses its power there, and moves back.
. /mnt/desktop.sh

case $BOOT in
1)
	cp -p /etc/fstab /root/fstab.first
	sed -i "s,^UUID=[^ ]* none ,$SLOW$SWAP\tnone ," /etc/fstab
	cp -p /etc/fstab /root/fstab.before
	all_on $SLOW
	refused adopt-needs-fast 2 'fast device is missing' xpcache adopt
	refused adopt-asks 3 'no terminal' xpcache adopt --fast $FAST
	equal nothing-changed-yet "" "$(ls /etc/xpcache)"
	echo "RESUME=$SLOW$SWAP" >/etc/initramfs-tools/conf.d/resume
	refused adopt-resume 3 "$SLOW$SWAP is on the disk.*resume: write UUID=" xpcache adopt --fast $FAST --yes
	rm /etc/initramfs-tools/conf.d/resume
	mount --bind /home /boot
	refused adopt-boot-on-xfs 3 'file system is xfs' xpcache adopt --fast $FAST --yes
	umount /boot
	touch -d yesterday /boot/initrd.img-rescue
	out=$(xpcache adopt --fast $FAST --yes 2>&1)
	equal adopt-old-image "3 1" "$? $(grep -c 'not made anew.*/boot/initrd.img-rescue: ' <<<"$out")"
	equal adopt-old-image-back "" "$(ls /etc/xpcache)$(xpcache list | grep -o $FAST)"
	equal fstab-back-too "$(cat /root/fstab.before)" "$(cat /etc/fstab)"
	rm /boot/initrd.img-rescue
	out=$(xpcache adopt --fast $FAST --yes 2>&1) || die adopt "$(tail -n 1 <<<"$out")"
	echo "$out"
	pass adopt
	equal fstab-by-uuid "$(sed "s,^UUID=\([^ ]*\) none ,UUID=\1\tnone ," /root/fstab.first)" "$(cat /etc/fstab)"
	equal root-still "$SLOW$ROOT" "$(findmnt -no SOURCE /)"
	lsinitramfs "/boot/initrd.img-$KVER" >/tmp/initrd
	for what in dm-xpcache.ko sbin/xpcache sbin/xpcached etc/xpcache/ 59-xpcache.rules 65-xpcache-md.rules local-top/xpcache; do
		grep -q "$what" /tmp/initrd || fail "initramfs" "has no $what"
	done
	# The images cannot be made, and start it: so nothing else is taken back yet.
	printf '#!/bin/sh\n[ "$1" = prereqs ] || exit 1\n' >/etc/initramfs-tools/hooks/zz-fails
	chmod +x /etc/initramfs-tools/hooks/zz-fails
	cp /etc/fstab /root/fstab.adopted
	out=$(xpcache adopt --undo 2>&1)
	equal undo-without-images "1 1" "$? $(grep -c 'the initramfs could not be made' <<<"$out")"
	to_leave
	equal fstab-stays "$(cat /root/fstab.adopted)" "$(cat /etc/fstab)"
	rm /etc/initramfs-tools/hooks/zz-fails
	# Taken back before it was ever used, and done again.
	try undo-at-once xpcache adopt --undo
	equal fstab-back "$(cat /root/fstab.before)" "$(cat /etc/fstab)"
	equal no-record "" "$(ls /etc/xpcache)"
	equal no-cache "" "$(xpcache list | grep -o $FAST)"
	try adopt-again xpcache adopt --fast $FAST --yes --idle-ms 6000
	reboot_now
	;;
2)
	up
	all_on ${CACHE}p
	fenced
	try status xpcache status xpcache0
	equal limits 6000 "$(xpcache status xpcache0 --json | sed -n 's/.*"idle_ms": *\([0-9]*\).*/\1/p')"
	lsblk -o NAME,TYPE,SIZE,FSTYPE,MOUNTPOINTS
	blkid
	refused adopt-twice 3 'on a cache already' xpcache adopt --fast $FAST --yes
	homes=$(counter flushes_completed)
	try update-grub update-grub
	more_homes() { [ "$(counter flushes_completed)" -gt "$homes" ]; }
	try boot-files-go-home waited 120 more_homes
	menu_at_rest
	keep
	equal cut-while-dirty yes "$([ "$(counter dirty)" -gt 0 ] && echo yes)"
	cut_power
	;;
3)
	up
	all_on ${CACHE}p
	kept
	# shellcheck disable=SC2024
	journalctl -b -o cat >/tmp/log
	if grep -iE 'EXT4-fs error|XFS .*(corrupt|error)|UNEXPECTED INCONSISTENCY' /tmp/log; then
		fail file-systems "see the log"
	fi
	try undo xpcache adopt --undo
	equal root-still-on-it ${CACHE}p$ROOT "$(findmnt -no SOURCE /)"
	menu_at_rest
	fill /root/late 10 300
	tree /root/late >/root/late.sum
	sync
	equal late-is-dirty yes "$([ "$(counter dirty)" -gt 0 ] && echo yes)"
	reboot_now
	;;
4)
	all_on $SLOW
	kept -after
	equal late-kept "$(cat /root/late.sum)" "$(tree /root/late)"
	waited 600 at_rest
	journalctl -b -u xpcache-left.service -o cat
	up
	equal record-gone "" "$(ls /etc/xpcache)"
	equal fstab-as-before "$(cat /root/fstab.before)" "$(cat /etc/fstab)"
	equal cache-gone "" "$(xpcache list | grep -o $FAST)"
	equal initramfs-free "" "$(lsinitramfs "/boot/initrd.img-$KVER" | grep etc/xpcache)"
	reboot_now
	;;
5)
	up
	all_on $SLOW
	;;
esac
