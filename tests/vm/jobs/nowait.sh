# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.1,6.12 usr=host clock=instructions memory=2G fast=16M slow=16M timeout=900 quick=no
#
# io_uring asks for no waiting. Hits are sent at once, as by dm-linear, and not from one of
# its threads; what misses is read all the same, and right.

. ./lib.sh
. ./labdevices.sh

MIB=$((1 << 20))

# median DEVICE - of 4 KiB reads, one at a time, by io_uring, ns.
median()
{
	fio --name=hits --filename="$1" --ioengine=io_uring --iodepth=1 --rw=randread --bs=4k --direct=1 --size=8m \
		--number_ios=2000 --lat_percentiles=1 --percentile_list=50 --output-format=json |
		sed -n 's/.*"50.000000" : \([0-9]*\).*/\1/p' | head -n 1
}

MODEL=flash
devices
up_linear
linear=$(median "$DEV")
down_linear
up_xpcache --idle-ms 0
must latency $CACHE write 4096 0 $((8 * MIB)) 2048 1
hit=$(median $CACHE)
note "median $hit ns, dm-linear's $linear"
[ "$hit" -lt $((linear * 11 / 10)) ] && pass hits-are-sent-at-once || fail hits-are-sent-at-once "$hit ns, dm-linear $linear"

# More than the fast device holds, and four at a time.
try written-and-read-again fio --name=verify --filename=$CACHE --ioengine=io_uring --iodepth=4 --rw=randwrite --bs=4k-64k \
	--direct=1 --size=320m --verify=crc32c --do_verify=1 --verify_fatal=1 --randrepeat=0
misses=$(counter read_misses)
try misses-are-read fio --name=misses --filename=$CACHE --ioengine=io_uring --iodepth=4 --rw=randread --bs=4k --direct=1 \
	--offset=512m --size=64m --number_ios=500
[ $(($(counter read_misses) - misses)) -ge 500 ] && pass misses-came-again ||
	fail misses-came-again "$(($(counter read_misses) - misses)) of 500"
# Half of each request is in the cache: its sender waits for no part of it alone.
must fio --name=half --filename=$CACHE --ioengine=psync --rw=read:64k --bs=64k --direct=1 --offset=768m --size=16m --io_size=8m
settled test "$(counter fills)" -gt 0
sleep 1
try half-in-the-cache fio --name=halves --filename=$CACHE --ioengine=io_uring --iodepth=8 --rw=read --bs=128k --direct=1 \
	--offset=768m --size=16m
no_errors no-errors
must xpcache remove xpcache0

# A fast device whose queue is full at once, and a fast device that cannot be asked not to wait.
no_devices
FASTDEV=$(disk fast 256 completion_nsec=10000 hw_queue_depth=1)
SLOWDEV=$(slow_disk)
up_xpcache --idle-ms 0
must latency $CACHE write 4096 0 $((8 * MIB)) 2048 1
try full-queue fio --name=full --filename=$CACHE --ioengine=io_uring --iodepth=16 --rw=randread --bs=4k --direct=1 \
	--size=8m --number_ios=4000
equal full-queue-no-errors 0 "$(counter fast_errors)"
must xpcache remove xpcache0
