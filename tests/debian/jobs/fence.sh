# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=adopted timeout=1200
# boot 2: the cache that / is on did not start, so / is not mounted
# boot 3 without fast: its fast device is not here, and may have what its slow device
# boot 4: the cache that / is on did not start, so / is not mounted
# boot 4 type: mount -t ext4 /dev/sda2 /root || echo "kept $((40 + 2))"
# boot 4 then: kept 42
# boot 4 type: xpcache flush --offline --fast /dev/nvme0n1 --slow /dev/sda
# boot 4 type: xpcache forget xpcache0
# boot 4 type: exit
# boot 7: module refused: Secure Boot: dm-xpcache
# boot 7 type: xpcache flush --offline --fast /dev/nvme0n1 --slow /dev/sda
# boot 7 type: xpcache forget xpcache0
# boot 7 type: exit
#
# / is on a cache that is dirty, and that does not start: no module, no fast disk, a kernel that takes
# no module of a signature it does not know. The disk alone is not mounted before it is completed.
. /mnt/desktop.sh

initrd=/boot/initrd.img-$KVER

# kernel_words WORD... - more of them on the kernel's command line from the next boot on.
kernel_words()
{
	sed -i "s/^GRUB_CMDLINE_LINUX=\"/&$* /" /etc/default/grub
	try update-grub update-grub
}

# cut_while_dirty - but for what the boot loader reads.
cut_while_dirty()
{
	try boot-files-home xpcache flush --boot
	menu_at_rest
	keep
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	cut_power
}

# without_module - an initramfs whose module is broken, as a half-written one is; the hook makes none.
without_module()
{
	local path
	path=$(lsinitramfs "$initrd" | grep -m 1 dm-xpcache.ko)
	cp "$initrd" "$initrd.good"
	mkdir -p "/tmp/broken/$(dirname "$path")"
	echo broken >"/tmp/broken/$path"
	truncate -s %4 "$initrd"
	(cd /tmp/broken && find . -type f | cpio -o -H newc --quiet) >>"$initrd"
}

case $BOOT in
1)
	all_on ${CACHE}p
	module=$(modinfo -n dm-xpcache)
	mv "$module" /root/module
	depmod
	sum=$(sha256sum "$initrd")
	if update-initramfs -u >/tmp/hook 2>&1; then
		fail hook-refuses "an initramfs without the module was made"
	elif grep -q "no module dm-xpcache for Linux $KVER" /tmp/hook; then
		pass hook-refuses
	else
		fail hook-refuses "$(tail -n 1 /tmp/hook)"
	fi
	equal initramfs-kept "$sum" "$(sha256sum "$initrd")"
	mv /root/module "$module"
	depmod
	without_module
	sync
	cut_while_dirty
	;;
4)
	all_on $SLOW
	kept
	equal unit-says-why failed "$(systemctl is-active xpcache.service)"
	journalctl -b -u xpcache -o cat
	fill /root/alone 20 300
	tree /root/alone >/root/alone.sum
	mv "$initrd.good" "$initrd"
	reboot_now
	;;
5)
	up
	all_on ${CACHE}p
	equal root-kept-again "$(cat /root/kept.sum)" "$(tree /root/kept)"
	equal written-without "$(cat /root/alone.sum)" "$(tree /root/alone)"
	# The boot menu is written, and the machine goes down at once.
	kernel_words xpcache.menu=new
	equal going-home activating "$(systemctl is-active xpcache-boot-files.service)"
	reboot_now
	;;
6)
	up
	all_on ${CACHE}p
	equal the-menu-as-written-last xpcache.menu=new "$(grep -o 'xpcache.menu=[a-z]*' /proc/cmdline)"
	kernel_words module.sig_enforce=1
	sync
	cut_while_dirty
	;;
7)
	equal kernel-refuses 1 "$(cat /sys/module/module/parameters/sig_enforce | tr Y 1)"
	all_on $SLOW
	kept
	;;
esac
