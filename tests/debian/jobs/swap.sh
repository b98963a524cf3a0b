# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=adopted slow-iops=150 timeout=1800 memory=640M
#
# More memory is wanted than there is, and swap is on the cached disk: MINUTES of it, and nothing hangs.
# stress-ng divides its bytes among its workers.
. /mnt/desktop.sh
minutes=${MINUTES:-2}

swapped() { awk '$1 == "pswpin" || $1 == "pswpout" { n += $2 } END { print n }' /proc/vmstat; }

all_on ${CACHE}p
before=$(swapped) worst=0
stress-ng --vm 2 --vm-bytes 640M --vm-keep --vm-method rand-set -t "${minutes}m" -q &
load=$!
while kill -0 $load 2>/dev/null; do
	begin=${EPOCHREALTIME/./}
	dd if=/dev/urandom of=/home/beat bs=64k count=16 conv=fsync status=none
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[ $took -le $worst ] || worst=$took
	sleep 1
done
wait $load
equal load 0 $?
n=$(($(swapped) - before))
equal swapped yes "$([ $n -gt 50000 ] && echo yes)"
note "$minutes minutes: $n pages in and out, the slowest fsync of 1 MiB took $worst ms"
try status xpcache status xpcache0
