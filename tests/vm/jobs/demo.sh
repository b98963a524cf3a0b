# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=512M slow=2G slow-iops=120 memory=1G timeout=420 driver=demo
#
# What a user does, on a disk as slow as a hard disk that already holds files.
# SAY lines go to the terminal of `make demo`, FIO lines are made a table there.

. ./lib.sh

say() { report "SAY $*"; }

# Shows a command as typed, runs it, shows what it says.
show()
{
	say "  # $*"
	"$@" >/tmp/out 2>&1 || die demo "'$*': $(tail -n 1 /tmp/out)"
	while IFS= read -r line; do say "    $line"; done </tmp/out
}

# measure WHEN WHAT fio option... - 4 KiB at random places of one file, one at a
# time, past the page cache.
measure()
{
	fio --name=x --filename=/mnt/big --size=24m --bs=4k --direct=1 --ioengine=psync \
		--runtime=5 --time_based --randrepeat=0 --lat_percentiles=1 \
		--output-format=json --output=/tmp/fio.json "${@:3}" >/tmp/out 2>&1 ||
		die demo "fio: $(tail -n 1 /tmp/out)"
	report "FIO $1 $2 $(tr -d '\n' </tmp/fio.json)"
}

measure_all()
{
	measure "$1" read --rw=randread
	measure "$1" fdatasync --rw=randwrite --fdatasync=1
	measure "$1" fsync --rw=randwrite --fsync=1
}

must mkfs.ext4 -q -F $SLOW
must mount $SLOW /mnt
fill /mnt/photos 24 200
dd if=/dev/urandom of=/mnt/big bs=1M count=24 conv=fsync status=none
tree /mnt/photos >/tmp/photos
sync
say "A disk at a hard disk's pace (120 requests a second) holds an ext4 with $(find /mnt -type f | wc -l) files."
say "Measuring it alone, on a file of that file system ..."
measure_all alone
must umount /mnt

say ""
say "The disk gets a cache. Nothing on it is moved or formatted:"
show xpcache create --fast /dev/nvme0n1 --slow /dev/sda
show mount /dev/mapper/xpcache0 /mnt
[ "$(tree /mnt/photos)" = "$(cat /tmp/photos)" ] || die demo "a file has changed"
say "Every file is there, with its sha256 unchanged. Each block of the file is read once, here and there ..."
must fio --name=warm --filename=/mnt/big --size=24m --bs=16k --direct=1 --ioengine=psync --rw=randread
settled test "$(counter fills)" -gt 0
sleep 2
say "Measuring the same file with the cache ..."
measure_all cached

say ""
show xpcache status
fill /mnt/new 8 200
tree /mnt >/tmp/everything
must umount /mnt

say ""
say "The cache is taken away again. What is new in it goes home first:"
show xpcache remove xpcache0
show e2fsck -fn $SLOW
must mount $SLOW /mnt
[ "$(tree /mnt)" = "$(cat /tmp/everything)" ] || die demo "a file on the plain disk is wrong"
say "All $(find /mnt -type f | wc -l) files are on the plain disk, with the right sha256: old, changed and new."
pass demo
