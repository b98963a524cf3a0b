# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M timeout=600 quick=6.12,newest
#
# The cache is warm after a stop and after a power cut: first reads are hits. So are second reads from any
# sector on. What is half cached, clean and dirty, is read at once from both devices.

. ./lib.sh

WRITTEN=(skip=0 count=256)		# 4 KiB blocks
READ=(skip=4096 count=768)

read_all()
{
	dd if=$CACHE of=/dev/null bs=4k iflag=direct status=none "${WRITTEN[@]}"
	dd if=$CACHE of=/dev/null bs=4k iflag=direct status=none "${READ[@]}"
}

# Every one of the 1024 reads is a hit.
all_hits()
{
	local hits misses
	hits=$(counter read_hits)
	misses=$(counter read_misses)
	read_all
	equal "$1" "1024 hits, 0 misses" \
		"$(($(counter read_hits) - hits)) hits, $(($(counter read_misses) - misses)) misses"
}

filled() { [ "$(counter clean)" -ge "$1" ]; }

# A partition that begins at sector 63 has its blocks over two of the cache's: 200 reads of 4 KiB, and 200 of a sector.
OLD=$((100 << 20))

read_old()
{
	dd if="$1" bs=4k count=200 skip=$((OLD + 63 * 512)) iflag=direct,skip_bytes status=none
	pieces "$1" - 512 $((OLD + 1024 * 1024 + 1536)) 16384 200
}

off_the_grid()
{
	local hits misses clean=$(counter clean)
	equal off-the-grid "$(read_old $SLOW | sha256sum)" "$(read_old $CACHE | sha256sum)"
	settled filled $((clean + 401)) || fail off-the-grid-filled "$(($(counter clean) - clean)) of 401 blocks"
	hits=$(counter read_hits)
	misses=$(counter read_misses)
	equal off-the-grid-again "$(read_old $SLOW | sha256sum)" "$(read_old $CACHE | sha256sum)"
	equal off-the-grid-hits "400 hits, 0 misses" \
		"$(($(counter read_hits) - hits)) hits, $(($(counter read_misses) - misses)) misses"
}

# 1 MiB of which every fourth block is clean and another one dirty. Nobody times the slow device: it counts as one that
# seeks, and the clean blocks between are read with the others.
MIXED=$((26 * 1024 + 512))

mixed_range()
{
	local slow=$(counter read_blocks_slow) clean=$(counter clean)
	dd if=$SLOW of=/tmp/wanted bs=4k skip=$MIXED count=256 iflag=direct status=none
	dd if=/dev/urandom of=/tmp/new bs=4k count=256 status=none
	pieces $CACHE - 4096 $(((MIXED + 1) * 4096)) 16384 64 >/dev/null
	must pieces /tmp/new $CACHE 4096 $((3 * 4096)) 16384 64 $((MIXED * 4096))
	must pieces /tmp/new /tmp/wanted 4096 $((3 * 4096)) 16384 64
	equal mixed-pieces 64 "$(($(counter read_blocks_slow) - slow))"
	equal mixed "$(wanted 0 256)" "$(dd if=$CACHE bs=1M skip=$((MIXED / 256)) count=1 iflag=direct status=none | md5sum)"
	equal mixed-at-once $((64 + 192)) "$(($(counter read_blocks_slow) - slow))"
	settled filled $((clean + 192)) || fail mixed-filled "$(($(counter clean) - clean)) of 192 blocks"
	equal mixed-again "$(wanted 0 256)" "$(read_blocks $MIXED 256 | md5sum)"
	equal mixed-hits $((64 + 192)) "$(($(counter read_blocks_slow) - slow))"
}

if [ "$BOOT" = 1 ]; then
	dd if=/dev/urandom of=$SLOW bs=1M seek=$((OLD >> 20)) count=8 oflag=direct conv=fsync status=none
	create --idle-ms 0 --histogram 0
	dd if=/dev/urandom of=$CACHE bs=4k count=256 oflag=direct conv=fsync status=none
	read_all
	settled filled 768 || fail filled "only $(counter clean) clean blocks a minute after they were read"
	all_hits while-running
	off_the_grid
	mixed_range
	stop
	start
	all_hits after-stop
	dirty=$(counter dirty)
	[ "$dirty" -ge 256 ] && pass dirty-kept || fail dirty-kept "$dirty of 256 blocks are dirty"
	cut_power
fi
start
all_hits after-power-cut
must xpcache remove xpcache0
