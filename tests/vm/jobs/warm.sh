# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M timeout=600 quick=6.12,newest
#
# The cache is warm after a stop and after a power cut: first reads are hits.

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

filled() { [ "$(counter clean)" -ge 768 ]; }

if [ "$BOOT" = 1 ]; then
	create --idle-ms 0
	dd if=/dev/urandom of=$CACHE bs=4k count=256 oflag=direct conv=fsync status=none
	read_all
	settled filled || fail filled "only $(counter clean) clean blocks a minute after they were read"
	all_hits while-running
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
