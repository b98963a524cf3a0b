# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=1G timeout=900 quick=no watch=no
#
# Suspend to memory, four times, with writers at work, whatever they wait for. What they wrote is
# there, and the cache goes on: what is dirty goes home when it is idle.

. ./lib.sh

# sleeps_in_memory - the clock wakes it.
sleeps_in_memory()
{
	echo 0 >/sys/class/rtc/rtc0/wakealarm
	echo +8 >/sys/class/rtc/rtc0/wakealarm
	(echo mem >/sys/power/state) 2>/tmp/error
}

# writes FILE SEED - 24 MiB, each 64 KiB synced, again and again, and reads of all the disk.
writes()
{
	while [ ! -e /tmp/enough ]; do
		dd if="/tmp/$1" of=$CACHE bs=64k seek="$2" conv=notrunc oflag=direct,dsync status=none || echo "$1" >>/tmp/errors
		dd if=$CACHE of=/dev/null bs=64k skip=4000 count=500 iflag=direct status=none || echo "$1" >>/tmp/errors
	done
}

must xpcache create --fast $FAST --slow $SLOW --idle-ms 1000 --dirty-low 30 --dirty-high 50
for n in 1 2 3; do
	dd if=/dev/urandom of=/tmp/part$n bs=1M count=24 status=none
	writes part$n $((n * 1000)) &
done
echo mem >/sys/power/mem_sleep 2>/dev/null
slept=0
for n in 1 2 3 4; do
	[ $n = 1 ] || sleep 3	# of their work
	if sleeps_in_memory; then slept=$((slept + 1)); else echo "$(cat /tmp/error)"; fi
done
equal slept 4 $slept
equal woken 4 "$(dmesg | grep -c 'PM: suspend exit')"
touch /tmp/enough
wait
equal no-errors "" "$(cat /tmp/errors 2>/dev/null)"
for n in 1 2 3; do
	equal part$n "$(sha256sum </tmp/part$n)" \
		"$(dd if=$CACHE bs=64k skip=$((n * 1000)) count=384 iflag=direct status=none | sha256sum)"
done
for n in $(seq 600); do
	[ "$(counter dirty)" != 0 ] || break
	sleep 0.2
done
equal home-when-idle 0 "$(counter dirty)"
must xpcache stop xpcache0
for n in 1 2 3; do
	equal at-home-$n "$(sha256sum </tmp/part$n)" \
		"$(dd if=$SLOW bs=64k skip=$((n * 1000)) count=384 iflag=direct status=none | sha256sum)"
done
try check xpcache check $FAST --slow $SLOW --data

# QEMU does not power off after that; a restart ends the machine as well.
dmesg >/dev/console
report END 0
reboot -f
