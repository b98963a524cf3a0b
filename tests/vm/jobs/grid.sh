# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=24M slow=64M timeout=900 usr=host quick=newest
#
# An old disk: its partition begins at sector 63. The blocks of its cache begin where those of the partition do, so that a
# file system writes whole ones; all that a request may be is tried off that grid, too, and on both ends of the disk.

. ./lib.sh

P1=${CACHE}p1

# lacking - of the mapped slots of the stopped cache those that have not all of their sectors.
lacking() { xpcache dump $FAST --json | python3 -c 'import json, sys
print(sum(1 for m in json.load(sys.stdin)["mappings"] if m.get("lacks")))'; }

must dd if=/dev/urandom of=$SLOW bs=1M oflag=direct status=none count=40
sectors=$(($(blockdev --getsz $SLOW) - 3))
must dmsetup create old --table "0 $sectors linear $SLOW 0"
SLOW=/dev/mapper/old
must sfdisk -q --force --no-reread --no-tell-kernel $SLOW <<<"label: dos
start=63,type=83"

out=$(xpcache create --fast $FAST --slow $SLOW --idle-ms 0 2>&1) || die create "$out"
[[ $out = *"its blocks begin at sector 7 of $SLOW, as most of its partitions do"* ]] && pass told || fail told "$out"
equal grid 7 "$(dumped $FAST grid)"
equal aligned "3584 0" "$(blockdev --getalignoff $CACHE) $(blockdev --getalignoff "$P1")"

# What is written on the partition's grid is whole blocks of the cache.
must fio --name=aligned --filename="$P1" --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite --bs=4k --size=16m --number_ios=500
must xpcache stop xpcache0
equal whole-blocks-alone 0 "$(lacking)"
must xpcache start --fast $FAST --slow $SLOW

# Requests of any sectors anywhere, the whole disk and the partition.
for device in $CACHE "$P1"; do
	try "fio-verify-${device##*/}" fio --name=verify --filename="$device" --ioengine=libaio --iodepth=16 --rw=randwrite \
		--bsrange=512-64k --bs_unaligned=0 --blockalign=512 --direct=1 --size=50m --verify=crc32c --verify_fatal=1 --number_ios=500
done
try both-ends python3 - $CACHE "$sectors" <<'PY'
import mmap, os, sys
name, sectors = sys.argv[1], int(sys.argv[2])
device, buffer = os.open(name, os.O_RDWR | os.O_DIRECT), mmap.mmap(-1, 65536)
for at in (0, 1, 6, 7, 8, 14, 15, 16, sectors - 9, sectors - 4, sectors - 1):
    for n in (1, 2, 7, 8, 9):
        if at + n > sectors:
            continue
        data = os.urandom(n * 512)
        buffer[:len(data)] = data
        os.pwritev(device, [memoryview(buffer)[:len(data)]], at * 512)
        got = os.preadv(device, [memoryview(buffer)[32768:32768 + len(data)]], at * 512)
        if got != len(data) or buffer[32768:32768 + len(data)] != data:
            sys.exit(f"sector {at}, {n} of them: not what was written")
PY
no_errors no-errors

must xpcache flush xpcache0
before=$(checksum $CACHE)
must xpcache stop xpcache0
try check xpcache check $FAST --slow $SLOW --data
must xpcache start --fast $FAST --slow $SLOW
equal after-a-start "$before" "$(checksum $CACHE)"
must xpcache remove xpcache0
equal alone "$before" "$(checksum $SLOW)"

# A file system on it, with discards; its dirty blocks are brought home without the cache.
must sfdisk -q --force --no-reread --no-tell-kernel $SLOW <<<"label: dos
start=63,type=83"
must xpcache create --fast $FAST --slow $SLOW --idle-ms 0 --dirty-low 80 --dirty-high 90
must mkfs.ext4 -q "$P1"
must mount "$P1" /mnt
fill /mnt/a 60 150
fill /mnt/b 300 5
must rm /mnt/a/file1*
must fstrim /mnt
files=$(tree /mnt)
must umount /mnt
must xpcache stop xpcache0
try rescue xpcache flush --offline --rescue --fast $FAST --slow $SLOW
must dmsetup create bare --table "0 $((sectors - 63)) linear $SLOW 63"
must mount -o ro /dev/mapper/bare /mnt
equal files-alone "$files" "$(tree /mnt)"
must umount /mnt
must dmsetup remove bare
must xpcache start --fast $FAST --slow $SLOW
must mount "$P1" /mnt
equal files-again "$files" "$(tree /mnt)"
must umount /mnt
try fsck e2fsck -fn "$P1"

# Somebody writes one sector of a noted place behind its back: it is seen on this grid, too.
must xpcache stop xpcache0
must dd if=/dev/urandom of=$SLOW bs=512 seek=$((63 + 3)) count=1 oflag=direct conv=notrunc status=none
refused behind 3 "it holds something else" xpcache start --fast $FAST --slow $SLOW

# Many at once: the book knows what each sector may hold.
must xpcache start --fast $FAST --slow $SLOW --discard-dirty
must xpcache remove xpcache0
must sfdisk -q --force --no-reread --no-tell-kernel $SLOW <<<"label: dos
start=63,type=83"
must xpcache create --fast $FAST --slow $SLOW --idle-ms 300
equal grid-again 7 "$(dumped $FAST grid)"
loads 3
no_errors ledger-no-errors
