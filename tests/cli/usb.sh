# SPDX-License-Identifier: GPL-2.0-only
# create tells of a disk behind USB that says it has no volatile cache. Loop devices, of which sysfs is made to say so: as root.

rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
if [ "$(id -u)" = 0 ]; then
	fast_disk=$(losetup -f --show fast) slow_disk=$(losetup -f --show slow)
	usb_disks="$fast_disk $slow_disk"
	trap 'losetup -d $usb_disks; rm -rf "$dir"' EXIT
	# told DISK CACHE: how many lines create says of it, and nothing of the other
	told() {
		LD_PRELOAD=$usb USB=${USB:-${1#/dev/}} USB_CACHE=$2 expect "usb: create, $1, $2" 0 "is made to cache" \
			create --fast "$fast_disk" --slow "$slow_disk" --no-start --force
		count=$(grep -c "^$1: it is behind USB, and says that it has no volatile cache, .*; hdparm -W 0 ${3:-$1} turns it off (man xpcache, DISKS)$" out)/$(grep -c USB out)
	}
	for disk in $usb_disks; do
		told "$disk" "write through"
		same "usb: $disk, no cache: it is told" "$count" "1/1"
		told "$disk" "write back"
		same "usb: $disk, a cache that is flushed is no matter" "$count" "0/0"
		# As LUKS, LVM or md on it is, on the disk and on a partition of it.
		for below in sdx sdx1; do
			mkdir -p below
			touch below/$below
			USB=$below USB_ABOVE=${disk#/dev/} USB_BELOW=below told "$disk" "write through" /dev/sdx
			same "usb: $disk, made of $below: it is told" "$count" "1/1"
			USB=$below USB_ABOVE=${disk#/dev/} USB_BELOW=below told "$disk" "write back" /dev/sdx
			same "usb: $disk, made of $below, with a cache that is flushed: nothing" "$count" "0/0"
			rm -r below
		done
	done
	expect "usb: no USB" 0 "is made to cache" create --fast "$fast_disk" --slow "$slow_disk" --no-start --force
	same "usb: no USB is no matter" "$(grep -c USB out)" 0
	losetup -d $usb_disks
	trap 'rm -rf "$dir"' EXIT
fi
rm -f fast slow
