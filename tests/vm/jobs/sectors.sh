# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=24M fast-sector=4096 slow=40M usr=host timeout=1800 quick=newest
#
# A fast disk with logical sectors of 4096 bytes before a slow one of 512: the cache has sectors of 512. Requests of any
# sectors, from any place of a page, directly and through the page cache; each is compared. The fast disk is an NVMe one: it
# refuses what is off its grid, and its driver splits what it cannot send at once.

. ./lib.sh

# at_once BYTES - of 512 reads with RWF_NOWAIT, so many are answered.
at_once() { python3 -c 'import mmap, os, sys
device, bytes = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), int(sys.argv[2])
buffer, answered = mmap.mmap(-1, bytes), 0
for at in range(0, 512 * 4096, 4096):
    try:
        answered += os.preadv(device, [buffer], at, os.RWF_NOWAIT) == bytes
    except BlockingIOError:
        pass
print(answered)' $CACHE "$1"; }

equal fast-sector "4096 512" "$(blockdev --getss $FAST) $(blockdev --getss $SLOW)"
for verify in 0 1; do
	must xpcache create --fast $FAST --slow $SLOW --idle-ms 300 --verify $verify
	equal "sector-$verify" "512 4096" "$(blockdev --getss $CACHE) $(blockdev --getpbsz $CACHE)"

	# One sector, in each place of a block; in and out of the cache, some over the end of a block.
	must dd if=/dev/urandom of=/tmp/wanted bs=512 count=4096 status=none
	must dd if=/tmp/wanted of=$CACHE bs=512 count=4096 oflag=direct status=none
	for n in 1 3 7 9 13; do
		got=$(pieces $CACHE - $((n * 512)) 0 $((n * 512)) $((200 / n + 1)) | md5sum)
		wanted=$(pieces /tmp/wanted - $((n * 512)) 0 $((n * 512)) $((200 / n + 1)) | md5sum)
		equal "read-of-$n-$verify" "$wanted" "$got"
	done
	for n in 1 5 11; do
		must dd if=/dev/urandom of=/tmp/new bs=512 count=256 status=none
		places=($((n * 512)) 512 $(((n + 7) * 512)) $((199 / (n + 7) + 1)))
		must pieces /tmp/new /tmp/wanted "${places[@]}"
		try "write-of-$n-$verify" env SYNC=1 pieces /tmp/new $CACHE "${places[@]}"
	done
	equal "written-$verify" "$(md5sum </tmp/wanted)" "$(dd if=$CACHE bs=2M count=1 iflag=direct status=none | md5sum)"
	# A hit of whole blocks needs no thread that may wait; one of a part of a block goes through a buffer.
	[ $verify = 1 ] || equal "whole-blocks-at-once" "512 0" "$(at_once 4096) $(at_once 512)"

	# Blocks of 1 KiB, through the page cache.
	must mkfs.ext4 -q -b 1024 $CACHE
	must mount $CACHE /mnt
	fill /mnt/a 60 300
	fill /mnt/b 300 9
	files=$(tree /mnt)
	must umount /mnt
	echo 3 >/proc/sys/vm/drop_caches
	must mount $CACHE /mnt
	equal "files-$verify" "$files" "$(tree /mnt)"
	must umount /mnt
	try "fsck-$verify" e2fsck -fn $CACHE
	no_errors "no-errors-$verify"
	note "$(counter read_hits) hits, $(counter read_misses) misses, $(counter writes) writes, $(counter evicted) evicted"
	must xpcache stop xpcache0
	try "check-$verify" xpcache check $FAST --slow $SLOW --data
	must xpcache start
	before=$(md5sum <$CACHE)
	must xpcache remove xpcache0
	equal "alone-$verify" "$before" "$(md5sum <$SLOW)"
done

# Many at once, which the core splits in the middle of a page: the book knows what each sector may hold.
must xpcache create --fast $FAST --slow $SLOW --idle-ms 300
loads 8
no_errors ledger-no-errors
must xpcache flush xpcache0
must xpcache remove xpcache0
try ledger-alone ledger check $SLOW /tmp/book
