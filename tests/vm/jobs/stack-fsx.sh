# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=12M slow=64M with=fsx campaign=stack timeout=1800
#
# fsx, of crates.io, in block mode: reads, writes, maps, holes (which a block device
# makes by zeroing) and syncs through the page cache, each read compared. The page
# cache is dropped all the while, and the cache is smaller than what is used.

. ./lib.sh

OPERATIONS=${OPERATIONS:-2000}
SEED=${SEED:-1}

# settings ALIGN HOLES
settings()
{
	cat <<-TOML
		flen = 33554432
		blockmode = true
		nosizechecks = true
		[opsize]
		max = 131072
		min = $1
		align = $1
		[weights]
		close_open = 0
		truncate = 0
		posix_fallocate = 0
		read = 10
		write = 10
		mapread = 5
		mapwrite = 5
		fsync = 1
		fdatasync = 1
		posix_fadvise = 2
		punch_hole = $2
	TOML
}

# exercise NAME DEVICE ALIGN HOLES
exercise()
{
	settings "$3" "$4" >/tmp/fsx.toml
	try "$1" fsx -q -f /tmp/fsx.toml -P /tmp -S "$SEED" -N "$OPERATIONS" "$2"
}

forget()
{
	while sleep 0.3; do
		echo 1 >/proc/sys/vm/drop_caches
	done
}

# odd has an odd number of sectors: there the page cache writes in sectors, not in
# blocks of the cache's size. grid has a partition at sector 63, by which the blocks of
# its cache begin at sector 7: whole blocks of the page cache are two parts there, but for
# those of the partition. The kernel makes no hole in a disk whose partition is in use. Each
# of the two has a page cache of its own, which is empty before the other's turn.
forget &
for name in even odd grid; do
	device=/dev/mapper/$name
	sectors=$(blockdev --getsz $SLOW)
	[ $name = odd ] && sectors=$((sectors - 1))
	must dmsetup create $name --table "0 $sectors linear $SLOW 0"
	[ $name != grid ] || must sfdisk -q --force --no-reread --no-tell-kernel $device <<<"label: dos
start=63,type=83"
	must xpcache create --fast $FAST --slow $device --idle-ms 500
	[ $name != grid ] || equal blocks-begin-at 7 "$(dumped $FAST grid)"
	if [ $name = grid ]; then
		exercise "$name-sectors" $CACHE 512 0
		must blockdev --flushbufs $CACHE
		exercise "$name-partition" ${CACHE}p1 512 4
		must blockdev --flushbufs ${CACHE}p1
	else
		exercise "$name-sectors-and-holes" $CACHE 512 4
	fi
	exercise "$name-bytes" $CACHE 1 0
	note "$name: $(counter read_hits) hits, $(counter read_misses) misses, $(counter writes) writes, $(counter evicted) evicted, $(counter written_back) written back"
	[ "$(counter evicted)" -gt "$(counter slots)" ] && [ "$(counter read_misses)" -gt 500 ] &&
		pass "$name-through-the-cache" || fail "$name-through-the-cache" "too little of it"
	before=$(checksum $CACHE)
	remove
	equal "$name-alone" "$before" "$(checksum $device)"
	must dmsetup remove $name
done
