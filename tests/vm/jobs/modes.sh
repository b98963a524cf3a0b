# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=32M slow=128M memory=1G
# shellcheck shell=bash
#
# Modes, switched under load: what is written is read, and from write-through on the slow disk alone has it.

. ./lib.sh

SWITCHES=${SWITCHES:-12}

set_mode() { must dmsetup message xpcache0 0 set mode "$1"; }

mode_is() { [[ $(dmsetup table xpcache0) = *" mode $1"* ]]; }

# home - waits until nothing is dirty.
home()
{
	for ((n = 0; n < 600; n++)); do
		[ "$(counter dirty)" = 0 ] && [ "$(counter flushing)" = 0 ] && return
		sleep 0.1
	done
	die home "$(counter dirty) blocks are dirty after a minute"
}

# same_alone NAME - the slow disk holds what the cache reads; both without the page cache.
same_alone()
{
	local cache slow
	cache=$(dd if=$CACHE bs=1M iflag=direct status=none | md5sum)
	slow=$(dd if=$SLOW bs=1M iflag=direct status=none | md5sum)
	[ "$cache" = "$slow" ] && pass "$1" || fail "$1" "the slow disk alone is another"
}

write_some() { must fio --name=some --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite --bsrange=512-128k --size=48m --randseed="$1" "${@:2}" >/dev/null; }

create --idle-ms 0

# Write-back has it in the cache alone.
write_some 1 --io_size=8m
[ "$(counter dirty)" -gt 0 ] && pass back-is-dirty || fail back-is-dirty "nothing is"

# A switch brings it home by itself.
set_mode writethrough
mode_is writethrough && pass in-table || fail in-table "$(dmsetup table xpcache0)"
home
same_alone switched-is-home

# What has ended is there: no flush, and nothing is waited for.
write_some 2 --io_size=8m
same_alone through-is-there
must fio --name=sync --filename=$CACHE --direct=1 --ioengine=psync --rw=randwrite --bs=4k --size=48m --io_size=1m --fsync=1 >/dev/null
same_alone through-sync-is-there
must dd if=/dev/urandom of=$CACHE bs=64k count=4 seek=9 oflag=direct,dsync status=none
must blkdiscard -z -o 1M -l 256k $CACHE
must blkdiscard -z -o 40960 -l 4096 $CACHE
same_alone through-zeroes-are-there

# Kept over a stop, and without being told.
must xpcache stop xpcache0
same=$(dd if=$SLOW bs=1M iflag=direct status=none | md5sum)
must xpcache start xpcache0
mode_is writethrough && pass kept || fail kept "$(dmsetup table xpcache0)"
[ "$(dd if=$CACHE bs=1M iflag=direct status=none | md5sum)" = "$same" ] && pass kept-same || fail kept-same "another"

# Write-around drops what the cache has of it.
must dd if=$CACHE of=/dev/null bs=4k count=256 iflag=direct status=none
set_mode writearound
home
write_some 3 --io_size=8m
[ "$(counter dirty)" = 0 ] && pass around-not-dirty || fail around-not-dirty "$(counter dirty)"
same_alone around-is-there

# All of them, under load that checks itself.
fio --name=checked --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --bs=4k --size=24m --offset=64m \
	--verify=crc32c --verify_backlog=64 --time_based --runtime=100000 --fsync=32 --output=fio.log &
fio=$!
modes=(writethrough writeback writearound writethrough writearound writeback)
for ((n = 0; n < SWITCHES; n++)); do
	sleep 0.3
	set_mode "${modes[n % 6]}"
done
kill -0 $fio && pass verify-runs || fail verify-runs "$(tail -n 3 fio.log)"
kill -INT $fio
wait $fio
grep -q 'err= 0' fio.log && ! grep -q "verify: bad\|verify failed" fio.log && pass "verified-across-$SWITCHES-switches" ||
	fail verified "$(grep -m 2 'verify\|err=' fio.log)"
set_mode writethrough
home
same_alone switched-all

# It takes no longer than the slow disk and the fast one.
note "write-through, QD1: $(fio --name=qd1 --filename=$CACHE --direct=1 --ioengine=psync --rw=randwrite --bs=4k --size=40m --io_size=4m --minimal | cut -d ';' -f 81) us; with fsync: $(fio --name=qd1 --filename=$CACHE --direct=1 --ioengine=psync --rw=randwrite --bs=4k --size=40m --io_size=2m --fsync=1 --minimal | cut -d ';' -f 81) us"
