# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M usr=host with=xpcached timeout=900 quick=no sanitized=no
#
# Two engines, one format: what the kernel's has left dirty the one in user space brings home
# or goes on with, and the reverse, also after it was killed. And its device, through the kernel's
# own NBD client, carries a file system.

. ./lib.sh

export XPCACHE_RUNTIME_DIR=/run/xpcache
SOCKET=/run/xpcache/xpcache0.sock
URI="nbd+unix:///?socket=$SOCKET"
UNDER="--fast $FAST --slow $SLOW"

# What the slow disk shall hold in the end is kept in a file of memory.
must dd if=/dev/urandom of=$SLOW bs=1M count=256 oflag=direct status=none
must cp $SLOW /run/want

# write DEVICE-OR-URI FIRST COUNT - so many MiB of random bytes, on both.
change()
{
	must dd if=/dev/urandom of=/run/piece bs=1M count="$3" status=none
	must dd if=/run/piece of=/run/want bs=1M seek="$2" conv=notrunc status=none
	case $1 in
	nbd*) must qemu-io -f raw -c "write -s /run/piece $2M $3M" -c flush "$1" ;;
	*) must dd if=/run/piece of="$1" bs=1M seek="$2" conv=notrunc oflag=direct status=none ;;
	esac
}

# holds NAME DEVICE-OR-URI
holds()
{
	case $2 in
	nbd*) try "$1" qemu-img compare -f raw -F raw "$2" /run/want ;;
	*) equal "$1" "$(md5sum </run/want)" "$(dd if="$2" bs=1M iflag=direct status=none | md5sum)" ;;
	esac
}

# Dirty by the kernel, home by the other.
create --idle-ms 0 --dirty-low 90 --dirty-high 99
change $CACHE 10 20
[ "$(counter dirty)" -ge 5000 ] && pass kernel-dirty || fail kernel-dirty "$(counter dirty)"
stop
# shellcheck disable=SC2086 # two options
try kernel-to-user-flush xpcache flush --offline $UNDER
holds kernel-to-user-home $SLOW
start
holds kernel-again $CACHE
equal kernel-clean 0 "$(counter dirty)"

# Dirty by the kernel, gone on with by the other; and that killed.
change $CACHE 100 20
stop
# shellcheck disable=SC2086
must xpcache start --engine user --idle-ms 0 --dirty-low 90 --dirty-high 99 $UNDER
holds user-reads-the-kernels "$URI"
change "$URI" 110 20
holds user-reads-its-own "$URI"
pkill -9 xpcached
sleep 0.3
must xpcache start --all --idle-ms 0 --dirty-low 90 --dirty-high 99
[ "$(counter dirty)" -ge 5000 ] && pass user-dirty || fail user-dirty "$(counter dirty)"
holds kernel-reads-the-users $CACHE
remove
holds home-by-the-kernel $SLOW

# A file system, by the kernel's client.
# shellcheck disable=SC2086
must xpcache create --engine user $UNDER
modprobe nbd
must nbd-client -unix $SOCKET /dev/nbd0
try fio-verify fio --name=verify --filename=/dev/nbd0 --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-64k \
	--bs_unaligned=0 --blockalign=512 --direct=1 --size=100m --verify=crc32c --verify_fatal=1 --number_ios=1500
try mkfs mkfs.ext4 -q -F /dev/nbd0
mkdir -p /mnt
must mount /dev/nbd0 /mnt
fill /mnt/files 20 1500
before=$(tree /mnt/files)
must umount /mnt
try fsck e2fsck -f -n /dev/nbd0
must mount /dev/nbd0 /mnt
equal files "$before" "$(tree /mnt/files)"
must fstrim /mnt
must umount /mnt
must nbd-client -d /dev/nbd0
settled sh -c "xpcache status xpcache0 --json | grep -q '\"open_count\": *0'"
try remove-user xpcache remove xpcache0
must mount -o ro $SLOW /mnt
equal files-on-the-disk "$before" "$(tree /mnt/files)"
must umount /mnt
