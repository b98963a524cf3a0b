# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M slow-iops=2000 timeout=600
#
# Suspend, resume, table reload and messages while two sides read and write.

. ./lib.sh

create --idle-ms 1000

fio --name=load --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite \
	--numjobs=2 --size=100m --offset_increment=100m --loops=20 --time_based --runtime=40 \
	--bssplit=512/20:4k/50:64k/20:256k/10 --blockalign=512 --fsync=16 --serialize_overlap=1 \
	--verify=xxhash --verify_fatal=1 --verify_backlog=64 >/tmp/fio.log 2>&1 &
load=$!
sleep 3

rounds=0
while kill -0 $load 2>/dev/null; do
	must dmsetup suspend xpcache0
	sleep 0.2
	must dmsetup resume xpcache0
	must dmsetup message xpcache0 0 flush
	must dmsetup message xpcache0 0 commit
	table=$(dmsetup table xpcache0 | cut -d ' ' -f 1-5)
	must dmsetup reload xpcache0 --table "$table 2 dirty_high $((50 + rounds % 40))"
	must dmsetup resume xpcache0
	must dmsetup message xpcache0 0 flush_stop
	rounds=$((rounds + 1))
	sleep 0.5
done
if wait $load; then
	pass load-verified
else
	fail load-verified "$(grep -m 1 -E 'verify|error' /tmp/fio.log)"
	cat /tmp/fio.log
fi
note "$rounds rounds"
[ $rounds -ge 5 ] && pass rounds || fail rounds "only $rounds"
equal options-kept "2 dirty_high $((50 + (rounds - 1) % 40))" "$(dmsetup table xpcache0 | cut -d ' ' -f 6-)"

before=$(checksum $CACHE)
must xpcache remove xpcache0
equal same-without-cache "$before" "$(checksum $SLOW)"
