# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=96M slow=512M timeout=1500 usr=host quick=no with=xpcached sanitized=no
#
# The slow disk is mounted without its cache, as a live system does that knows nothing of it: after
# a rest in order, and after a power cut with dirty blocks. And never is it taken for that when it
# was not.

. ./lib.sh

# The name of the kernel's driver; Linux 6.1 of Debian has none.
NTFS=$(modinfo -F name ntfs3 2>/dev/null || modinfo -F name ntfs 2>/dev/null || echo vfat)

KINDS=(ext4)
MORE=($NTFS)
if [ "${PASSES:-1}" -gt 1 ]; then	# the campaign
	KINDS=(ext4 xfs btrfs)
	MORE=(xfs btrfs $NTFS vfat)
fi
STEP=$((BOOT - 1))
KIND=${KINDS[$((STEP / 3))]}

must modprobe btrfs

make_fs()
{
	case $1 in
	ext4)  must mkfs.ext4 -q -F $SLOW ;;
	xfs)   must mkfs.xfs -q -f $SLOW ;;
	btrfs) must mkfs.btrfs -q -f $SLOW ;;
	vfat)  must mkfs.vfat $SLOW ;;
	ntfs*) must mkfs.ntfs -q -Q -F $SLOW ;;
	esac
}

check_fs()
{
	case $1 in
	ext4)  e2fsck -fn "$2" ;;
	xfs)   xfs_repair -n "$2" ;;
	btrfs) btrfs check "$2" ;;
	vfat)  fsck.vfat -n "$2" ;;
	ntfs*) ntfsfix -n "$2" ;;
	esac
}

# A / on a btrfs over both disks: one alone cannot go behind a cache.
root_on_two_disks()
{
	local d out
	must mkfs.btrfs -q -f -M -d single -m single $SLOW $FAST
	must mount -t btrfs -o device=$FAST $SLOW /mnt
	for d in usr bin sbin lib lib64 etc dev proc sys run; do
		if [ -L /$d ]; then
			cp -a /$d /mnt/
		elif [ -d /$d ]; then
			mkdir /mnt/$d
			must mount --rbind /$d /mnt/$d
		fi
	done
	out=$(XPCACHE_INITRAMFS=/bin/true chroot /mnt "$(command -v xpcache)" adopt --fast $FAST --yes 2>&1)
	equal root-on-two-disks "3 xpcache: it is on 2 devices: /: name what is to be slow by --slow" "$? $out"
	umount -R /mnt
}

# Mounted, one file written, unmounted.
use_without_the_cache()
{
	must mount -t "$1" $SLOW /mnt
	echo "$2" >/mnt/by-the-live-system || fail "$1-$2" "cannot write"
	must umount /mnt
}

in_order()
{
	local kind=$1
	make_fs "$kind"
	create
	must mount -t "$kind" $CACHE /mnt
	fill /mnt/files 10 300
	must umount /mnt
	must xpcache flush xpcache0
	must xpcache stop xpcache0
	start_says "$kind-nobody-wrote" 0 quiet
	must mount -t "$kind" -o ro $CACHE /mnt
	must umount /mnt
	must xpcache stop xpcache0
	start_says "$kind-only-read" 0 quiet
	must xpcache flush xpcache0	# XFS writes even then
	must xpcache stop xpcache0
	use_without_the_cache "$kind" once
	start_says "$kind-used-without-the-cache" 0 "was written without the cache"
	must mount -t "$kind" $CACHE /mnt
	equal "$kind-what-the-live-system-wrote" once "$(cat /mnt/by-the-live-system)"
	must umount /mnt
	try "$kind-sound" check_fs "$kind" $CACHE
	must xpcache remove xpcache0
	wipefs -qa $SLOW
}

# The only change is in the superblock of a partition that is aligned to no block.
in_partition()
{
	must sfdisk -q --force $SLOW <<<'label: gpt
start=2049,size=200000'
	must partx -u $SLOW
	must mkfs.ext4 -q -F ${SLOW}1
	create
	must mount ${CACHE}p1 /mnt
	fill /mnt/files 5 100
	must umount /mnt
	must xpcache flush xpcache0
	must xpcache stop xpcache0
	start_says partition-nobody-wrote 0 quiet
	must xpcache stop xpcache0
	must mount ${SLOW}1 /mnt
	echo once >/mnt/by-the-live-system
	must umount /mnt
	start_says partition-used-without-the-cache 0 "was written without the cache"
	must xpcache remove xpcache0
}

# Dirty blocks behind the file system go home by the daemon, though the disk was used; killed on
# the way, it does not look as if nothing had been.
prefer_the_cache()
{
	local n
	must mkfs.ext4 -q -F $SLOW 100M
	create --idle-ms 0 --stream-kib 0
	must dd if=$CACHE of=/dev/null bs=64k count=400 status=none
	must dd if=/dev/urandom of=/tmp/data bs=1M count=8 status=none
	must dd if=/tmp/data of=$CACHE bs=4k seek=75000 oflag=direct conv=fsync status=none
	must xpcache stop xpcache0
	use_without_the_cache ext4 once
	xpcache start --fast $FAST --slow $SLOW --prefer-cache &
	for ((n = 0; n < 200; n++)); do
		[ -S /run/xpcache/xpcache0.control ] && break
		sleep 0.02
	done
	kill -9 $!
	wait $! 2>/dev/null
	xpcache stop xpcache0 && note "it was stopped while the blocks went home"
	start_says killed-on-the-way "$([ "$(dirty_of)" = 0 ] && echo 0 || echo 3)" "without the cache.*did not end"
	[ -b $CACHE ] || start_says the-cache-preferred 0 "are written back" --prefer-cache
	equal what-was-dirty "$(md5sum </tmp/data)" "$(dd if=$CACHE bs=4k skip=75000 count=2048 iflag=direct status=none | md5sum)"
	must mount $CACHE /mnt
	equal what-the-live-system-wrote-is-there once "$(cat /mnt/by-the-live-system)"
	must umount /mnt
	must xpcache remove xpcache0
	wipefs -qa $SLOW
}

dirty_of() { xpcache dump $FAST --json | grep -c '"dirty":true'; }

# Its files are home; then it is used a little more, and the power goes.
use_and_cut()
{
	local n
	must mount -t "$KIND" $CACHE /mnt
	fill /mnt/files$BOOT 10 100
	sync
	must xpcache flush xpcache0
	for n in {1..20}; do
		echo "$n" >/mnt/count
		sync /mnt/count
	done
	cut_power
}

case $((STEP % 3)) in
0)	if [ "$STEP" -eq 0 ]; then
		for kind in ext4 "${MORE[@]}"; do
			in_order $kind
		done
		make_fs ext4
		create --stream-kib 0
		must dd if=$CACHE of=/dev/null bs=64k count=800 status=none
		must xpcache stop xpcache0
		must sfdisk -q --force $SLOW <<<'label: gpt
,100M'
		start_says a-partition-table 0 "was written without the cache"
		must xpcache remove xpcache0
		in_partition
		prefer_the_cache
		wipefs -qa $SLOW
	fi
	make_fs "$KIND"
	create --idle-ms 0
	use_and_cut
	;;
1)	start_says "$KIND-cut-and-nobody-wrote" 0 quiet --idle-ms 0
	must mount -t "$KIND" $CACHE /mnt
	equal "$KIND-what-was-synced" 20 "$(cat /mnt/count)"
	must umount /mnt
	use_and_cut
	;;
2)	use_without_the_cache "$KIND" twice
	start_says "$KIND-cut-and-used-without-the-cache" 3 "written without the cache.*dirty"
	start_says "$KIND-the-disk-preferred" 0 "as you asked" --discard-dirty
	must mount -t "$KIND" $CACHE /mnt
	equal "$KIND-what-the-live-system-wrote-after-a-cut" twice "$(cat /mnt/by-the-live-system)"
	must umount /mnt
	try "$KIND-sound-after-a-cut" check_fs "$KIND" $CACHE
	must xpcache remove xpcache0
	wipefs -qa $SLOW
	[ "$STEP" -lt $((3 * ${#KINDS[@]} - 1)) ] && cut_power
	root_on_two_disks
	;;
esac
