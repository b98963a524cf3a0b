# SPDX-License-Identifier: GPL-2.0-only
# vm: nvdimm=128M virtio-pmem=64M fast=64M slow=64M timeout=600 quick=no
#
# What a namespace, a partition or a mapping of persistent memory is to a cache: memory, a disk,
# or nothing; what status says of it; and that all of them keep what they are given.

. ./lib.sh

DISK=/dev/nvme0n1

# mode NODE OPTION... - the one namespace that there is now.
mode()
{
	must ndctl destroy-namespace -f all
	must ndctl create-namespace "${@:2}"
	settled test -b "$1" || die mode "no $1 after ndctl create-namespace ${*:2}"
}

# works_as NAME MEMORY-OR-BLOCKS WORD TEXT FAST SLOW - a cache of both: says so, and keeps what it
# is given; leaves the slow device with the same.
works_as()
{
	local name=$1 size=4k
	[ "$(blockdev --getss "$6")" = 4096 ] || size=512/20:4k/50:64k/20:256k/10
	must xpcache create --fast "$5" --slow "$6" --force --idle-ms 0
	equal "$name-access" "$2" "$(counter fast_access)"
	equal "$name-word" "$3" "$(counter not_memory)"
	equal "$name-text" "$4" "$(xpcache status xpcache0 | sed -n "s|^  fast  *$5, [0-9.]* MiB||p")"
	equal "$name-json" "$2 $3" "$(xpcache status xpcache0 --json | tr -d ' \n' |
		sed -E 's/.*"fast_access":"([a-z]*)"(,"not_memory":"([a-z]*)")?.*/\1 \3/')"
	equal "$name-is-no-dax" 0 "$(cat /sys/block/dm-"$(dmsetup info -c --noheadings -o minor xpcache0)"/queue/dax)"
	try "$name-verify" fio --name=mode --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite \
		--size=16m --io_size=8m --bssplit=$size --blockalign=$(($(blockdev --getss "$6"))) --fsync=16 \
		--serialize_overlap=1 --randrepeat=0 --verify=xxhash --verify_fatal=1 --verify_backlog=64
	within=$(first $CACHE)
	must xpcache stop xpcache0
	must xpcache start --fast "$5" --slow "$6"
	equal "$name-same-after-start" "$within" "$(first $CACHE)"
	equal "$name-access-after-start" "$2" "$(counter fast_access)"
	must xpcache remove xpcache0
	equal "$name-same-without" "$within" "$(first "$6")"
}

first() { dd if="$1" bs=1M count=20 iflag=direct status=none | md5sum; }
try_create() { xpcache create --fast "$1" --slow "${2:-$SLOW}"; }
erase() { must dd if=/dev/zero of="$1" bs=1M count=1 oflag=direct conv=notrunc status=none; }

# ---- memory whose host must be asked ----
# First of all: what a DAX device that is gone could do, the kernel says of the next one as well.
must modprobe -a virtio_pmem nd_pmem
# Not the first, where the drivers are built in.
of_virtio() { for path in /sys/block/pmem*; do readlink -f "$path"; done | grep -E '/virtio[0-9]+/'; }
settled of_virtio >/dev/null || die asked "virtio_pmem has no device"
path=$(of_virtio)
works_as asked blocks asynchronous ", not as memory: its host must be asked to make it durable" "/dev/${path##*/}" $SLOW
device=$(grep -o 'virtio[0-9]*' <<<"$path")
echo "$device" >/sys/bus/virtio/drivers/virtio_pmem/unbind || die asked "$device does not go"

persistent_memory

# ---- a file system on it ----
must mkfs.ext4 -q -F -b 4096 $FAST
refused dax-signature 3 'ext4' try_create $FAST
must mount -o dax $FAST /mnt
refused dax-mounted 3 'mounted at /mnt' try_create $FAST
must umount /mnt
must blockdev --setro $FAST
refused read-only 3 'read-only' try_create $FAST
must blockdev --setrw $FAST
erase $FAST

# ---- whole, and a file system on the cache: no DAX there, and no pretending ----
must xpcache create --fast $FAST --slow $SLOW --idle-ms 0
must mkfs.ext4 -q -F -b 4096 $CACHE
mount -o dax $CACHE /mnt 2>/dev/null && fail no-dax-mount "it was mounted" || pass no-dax-mount
must mount $CACHE /mnt
fill /mnt 10 500
tree /mnt >/tmp/wanted
must umount /mnt
refused in-use 3 'in use|part of' try_create $FAST $DISK
must xpcache remove xpcache0
must mount $SLOW /mnt
equal files "$(cat /tmp/wanted)" "$(tree /mnt)"
must umount /mnt
erase $SLOW

# ---- partitions ----
BETWEEN=", not as memory: its partition does not begin and end at pages"
must sfdisk -q $FAST <<<'label: gpt
start=2048,size=61440
start=65537,size=60000'
settled test -b ${FAST}p2 || die partitions "no ${FAST}p2"
beside=$(checksum ${FAST}p2)
works_as partition memory "" ", as memory" ${FAST}p1 $SLOW
equal partition-beside-it "$beside" "$(checksum ${FAST}p2)"
beside=$(checksum ${FAST}p1)
works_as odd blocks unaligned "$BETWEEN" ${FAST}p2 $SLOW
equal odd-beside-it "$beside" "$(checksum ${FAST}p1)"
must xpcache create --fast ${FAST}p1 --slow $SLOW --idle-ms 0 --force
must dd if=/dev/urandom of=$CACHE bs=1M count=20 oflag=direct conv=notrunc,fsync status=none
within=$(first $CACHE)
stop
must sfdisk -q --no-reread -N 1 $FAST <<<'size=40000'
must blockdev --rereadpt $FAST
refused shrank 4 'shrank' xpcache start xpcache0
must sfdisk -q --no-reread -N 1 $FAST <<<'size=61440'
must blockdev --rereadpt $FAST
must xpcache start xpcache0
equal shrank-and-grown "$within" "$(first $CACHE)"
# And under a running cache: what would be beside it is an error.
beyond() { dd if=$FAST skip=$((2048 + 30000)) count=31000 iflag=direct status=none | md5sum; }
must resizepart $FAST 1 30000
beside=$(beyond)
ends_in_error shorter-read dd if=$CACHE of=/dev/null bs=1M count=20 iflag=direct status=none
ends_in_error shorter-write dd if=/dev/urandom of=$CACHE bs=1M count=20 seek=20 oflag=direct conv=notrunc status=none
equal shorter-beside-it "$beside" "$(beyond)"
must resizepart $FAST 1 61440
equal shorter-and-longer "$within" "$(first $CACHE)"
must xpcache remove xpcache0
erase $FAST
must blockdev --rereadpt $FAST

# ---- mapped: no memory, as its table may be another one in the midst of a store ----
MAPPED=", not as memory: the table of a mapped device may change at any time"
half=$(($(blockdev --getsz $FAST) / 16 * 8))
must dmsetup create front --table "0 $half linear $FAST 0"
works_as mapped blocks mapped "$MAPPED" /dev/mapper/front $SLOW
must xpcache create --fast /dev/mapper/front --slow $SLOW --idle-ms 0
must dd if=/dev/urandom of=/tmp/new bs=4k count=256 status=none
must dmsetup suspend front
# Past the page cache: it may hold what somebody has read there before the cache wrote below it.
must dd if=$FAST of=$FAST bs=4k count=$((half / 8)) seek=$((half / 8)) iflag=direct oflag=direct conv=notrunc,fsync status=none
write_blocks 0 256 if=/tmp/new conv=notrunc,fsync &
sleep 3
must dmsetup load front --table "0 $half linear $FAST $half"
must dmsetup resume front
wait $! || fail moved-write "it failed"
equal moved-and-nothing-lost "$(md5sum </tmp/new)" "$(read_blocks 0 256 | md5sum)"
must xpcache stop xpcache0
must xpcache start --fast /dev/mapper/front --slow $SLOW
equal moved-and-there-after-start "$(md5sum </tmp/new)" "$(read_blocks 0 256 | md5sum)"
must xpcache remove xpcache0
must dmsetup remove front
must dmsetup create front --table "0 $half linear $FAST 0
$half 65536 linear $DISK 0"
works_as half-mapped blocks "" "" /dev/mapper/front $SLOW
must dmsetup remove front

# ---- sectors of 4096 bytes ----
must modprobe loop
four=$(losetup --sector-size 4096 --direct-io=on -f --show $SLOW) || die losetup "no device of 4096-byte sectors"
works_as four memory "" ", as memory" $FAST "$four"
mode /dev/pmem0 -m fsdax -M mem -l 4096
works_as four-over-512 memory "" ", as memory" $FAST $SLOW
works_as both-four memory "" ", as memory" $FAST "$four"
must losetup -d "$four"

# ---- two namespaces: the slow device is memory as well ----
must ndctl destroy-namespace -f all
must ndctl create-namespace -m fsdax -M mem -s 48M
must ndctl create-namespace -m fsdax -M mem -s 48M
other=$(ls -d /dev/pmem0.* | head -n 1)
works_as both-memory memory "" ", as memory" /dev/pmem0 "$other"

# ---- other modes ----
NOTE="its namespace is not in mode fsdax (ndctl list)"
mode /dev/pmem0 -m raw
works_as raw blocks "" ", not as memory: $NOTE" /dev/pmem0 $SLOW
mode /dev/pmem0s -m sector -l 512
works_as sector blocks "" ", not as memory: $NOTE" /dev/pmem0s $SLOW
must ndctl destroy-namespace -f all
must modprobe -a device_dax dax_pmem
must ndctl create-namespace -m devdax -M mem
dax=$(ls /dev/dax* | head -n 1)
refused devdax 2 "not a block device: $dax" try_create "$dax"
