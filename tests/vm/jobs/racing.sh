# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=256M timeout=600 kernel=kcsan
#
# Hits race with writes to the same blocks, with evictions, writeback and suspends, so that
# KCSAN sees them together: few blocks, a cache that holds half of them,
# two processors.
# TIME=n seconds (60). What is read nobody judges here: that is verify's.

. ./lib.sh

create --idle-ms 0
try fio-races fio --name=racing --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 \
	--rw=randrw --rwmixread=75 --bssplit=4k/60:8k/25:16k/15 --size=24m --numjobs=3 \
	--fsync=64 --norandommap --time_based --runtime="${TIME:-60}" &
load=$!

rounds=0
while kill -0 $load 2>/dev/null; do
	sleep 5
	must dmsetup suspend xpcache0
	must dmsetup resume xpcache0
	rounds=$((rounds + 1))
done
wait $load
note "$rounds suspends, $(counter read_hits) hits, $(counter evicted) evicted"
[ "$(counter read_hits)" -ge 1000 ] && [ "$(counter evicted)" -ge 100 ] && pass raced ||
	fail raced "$(counter read_hits) hits and $(counter evicted) evicted are too few"
remove
