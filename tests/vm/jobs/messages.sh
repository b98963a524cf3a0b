# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=128M timeout=900 quick=no
#
# Messages side by side, beside requests: recording is turned on and off, and asked for, from
# a start without its memory; a commit has a flush of its own, which is nobody's request. Of the
# table IMA measures devices and options. Options are changed on the way, and a reload keeps them.

. ./lib.sh

# of CLASS - requests counted.
of() { dmsetup message xpcache0 0 histogram | awk -v c="$1" '$1 == c { print $2 }'; }

# again COMMAND... - until told to end. Prints how often.
again()
{
	local n=0
	until [ -e /tmp/over ]; do
		"$@" >/dev/null || echo "FAILED $*"
		n=$((n + 1))
	done
	echo "$n"
}

# measured - what IMA has measured of tables with a cache, from the target's name on.
measured()
{
	local text
	for text in $(awk '$5 == "dm_table_load" { print $6 }' $IMA/ascii_runtime_measurements); do
		printf '%b\n' "$(sed 's/../\\x&/g' <<<"$text")"
	done | grep -o 'target_name=xpcache,.*'
}

number_of() { printf '%d:%d' "0x$(stat -c %t "$1")" "0x$(stat -c %T "$1")"; }

# Not every kernel has IMA.
IMA=/sys/kernel/security/ima
mount -t securityfs security /sys/kernel/security
[ ! -e $IMA/policy ] || must tee $IMA/policy <<<"measure func=CRITICAL_DATA label=device-mapper template=ima-buf" >/dev/null

create --idle-ms 0 --histogram 0
if [ -e $IMA/ascii_runtime_measurements ]; then
	version=$(dmsetup targets | awk '$1 == "xpcache" { sub("v", "", $2); print $2 }')
	equal measured "target_name=xpcache,target_version=$version,fast_device=$(number_of $FAST),slow_device=$(number_of $SLOW),dirty_low=10,dirty_high=80,idle_ms=0,histogram=0,stream_kib=4096,writeback_delay=0,mode=kept,mark=" \
		"$(measured | tail -n 1 | sed 's/mark=[0-9]*,verify=0;$/mark=/')"
else
	note "this kernel has no IMA"
fi
must dmsetup message xpcache0 0 commit
rm -f /tmp/over
n=0
for message in histogram_on histogram_off histogram histogram_on histogram commit; do
	n=$((n + 1))
	again dmsetup message xpcache0 0 $message >/tmp/loop-$n &
done
try requests-beside fio --name=beside --filename=$CACHE --direct=1 --rw=randrw --bs=4k --size=32m \
	--number_ios=4000 --fsync=8 --randrepeat=0
touch /tmp/over
wait
[ "$(cat /tmp/loop-* | grep -c FAILED)" -eq 0 ] && pass messages-taken ||
	fail messages-taken "$(grep -h FAILED /tmp/loop-* | sort | uniq -c | head -n 2)"
equal all-loops-ran 6 "$(grep -chE '^[1-9]' /tmp/loop-* | grep -c 1)"
note "$(cat /tmp/loop-* | grep -v FAILED | awk '{ n += $1 } END { print n }') messages"

# 16 MiB in one go, from the 80th on: 4 of them come in by default, then all that is left.
filled() { [ "$(counter fills)" -ge "$1" ]; }
fills=$(counter fills)
must dd if=$CACHE of=/dev/null bs=64k skip=1280 count=128 iflag=direct status=none
settled filled $((fills + 500)) || fail stream-begins "$(($(counter fills) - fills)) blocks of 1024"
sleep 1
equal stream-passes yes "$([ $(($(counter fills) - fills)) -le 1024 ] && echo yes)"
equal stream-default "" "$(dmsetup table xpcache0 | grep -o stream_kib)"
must dmsetup message xpcache0 0 stream_kib 0
equal stream-in-table "stream_kib 0" "$(dmsetup table xpcache0 | grep -o 'stream_kib [0-9]*')"
fills=$(counter fills)
must dd if=$CACHE of=/dev/null bs=64k skip=1408 count=128 iflag=direct status=none
settled filled $((fills + 1100)) && pass stream-is-filled || fail stream-is-filled "$(($(counter fills) - fills)) blocks of 2048"
must dmsetup message xpcache0 0 STREAM_KIB 4096
equal stream-default-again "" "$(dmsetup table xpcache0 | grep -o stream_kib)"

# options - those of the table line that differ from their default, without the mark, which a start has chosen.
options() { dmsetup table xpcache0 | cut -d ' ' -f 7- | sed 's/ *mark [0-9]*//; s/^ *//'; }

# A limit that is crossed at that moment: writeback begins without another request, and ends there.
dirty_is() { [ "$(counter dirty)" $1 "$2" ]; }
slots=$(counter slots)
must dmsetup message xpcache0 0 histogram_off	# the loops have left it either way
equal set-before "idle_ms 0 histogram 0" "$(options)"
must dmsetup message xpcache0 0 set dirty_low 50 dirty_high 90
equal set-in-table "dirty_low 50 dirty_high 90 idle_ms 0 histogram 0" "$(options)"
must dd if=/dev/urandom of=$CACHE bs=64k count=$((slots * 30 / 100 / 16)) oflag=direct status=none
sleep 1
dirty_is -gt $((slots * 25 / 100)) && pass set-rests || fail set-rests "$(counter dirty) of $slots"
must dmsetup message xpcache0 0 set dirty_low 5
settled dirty_is -le $((slots * 5 / 100)) && pass set-wakes-writeback || fail set-wakes-writeback "$(counter dirty) of $slots"
dirty_is -gt 0 && pass set-ends-there || fail set-ends-there "none is dirty"

# An idle time, from none: the clock is still, and goes on.
sleep 2
must dmsetup message xpcache0 0 SET idle_ms 200
settled dirty_is -eq 0 && pass set-idle || fail set-idle "$(counter dirty) dirty"
must dmsetup message xpcache0 0 set idle_ms 0
must dd if=/dev/urandom of=$CACHE bs=64k count=8 oflag=direct status=none
sleep 3
dirty_is -gt 0 && pass set-never-idle || fail set-never-idle "none is dirty"

# A disk that may sleep: a read wakes it for what is dirty, and else the delay.
must dmsetup message xpcache0 0 set idle_ms 200 writeback_delay 3600
sleep 3
dirty_is -gt 0 && pass delay-sleeps || fail delay-sleeps "none is dirty"
must dd if=$CACHE of=/dev/null bs=4k skip=$(($(blockdev --getsize64 $CACHE) / 4096 - 100)) count=1 iflag=direct status=none
settled dirty_is -eq 0 && pass delay-woken || fail delay-woken "$(counter dirty) dirty"
must dd if=/dev/urandom of=$CACHE bs=64k count=8 oflag=direct status=none
sleep 2
dirty_is -gt 0 && pass delay-sleeps-again || fail delay-sleeps-again "none is dirty"
must dmsetup message xpcache0 0 set writeback_delay 1
settled dirty_is -eq 0 && pass delay-over || fail delay-over "$(counter dirty) dirty"
must dmsetup message xpcache0 0 set idle_ms 0 writeback_delay 0
must dd if=/dev/urandom of=$CACHE bs=64k count=8 oflag=direct status=none

# A mode: what is dirty is written back at once, and the line has it until it is the default again.
first() { dd if="$1" bs=64k count=8 iflag=direct status=none; }
must dmsetup message xpcache0 0 set mode writethrough
settled dirty_is -eq 0 && pass mode-writes-back || fail mode-writes-back "$(counter dirty) dirty"
equal mode-told "dirty_low 5 dirty_high 90 idle_ms 0 histogram 0 mode writethrough" "$(options)"
must dd if=/dev/urandom of=$CACHE bs=64k count=8 oflag=direct status=none
try mode-through cmp <(first $CACHE) <(first $SLOW)
must xpcache set xpcache0 mode=writearound
equal mode-verb "writearound:writearound " "$(xpcache set xpcache0 | awk '$1 == "mode" { printf "%s:%s ", $2, $3 }')"
must dd if=/dev/urandom of=$CACHE bs=64k count=8 oflag=direct status=none
try mode-around cmp <(first $CACHE) <(first $SLOW)
must xpcache set xpcache0 mode=default
equal mode-default "dirty_low 5 dirty_high 90 idle_ms 0 histogram 0" "$(options)"
must dd if=/dev/urandom of=$CACHE bs=64k count=8 oflag=direct status=none
dirty_is -gt 0 && pass mode-back || fail mode-back "none is dirty"

# All of a message, or none.
# refused NAME WHY WORD... - by that sentence, and the table line stays.
refused()
{
	local before
	before=$(options)
	dmsetup message xpcache0 0 set "${@:3}" 2>/dev/null && fail "set-$1" "it was taken"
	equal "set-$1" "${FAST#/dev/}: $2 $before" "$(dmesg | sed -n 's/.*device-mapper: xpcache: //p' | tail -n 1) $(options)"
}
refused contradiction "dirty_low, 95, is not below dirty_high, 90" stream_kib 0 dirty_low 95
refused range 'dirty_high is a number from 1 to 100, not "0"' stream_kib 0 dirty_high 0
refused twice "option idle_ms is given twice" idle_ms 1 idle_ms 2
refused mode 'mode is not "kept", but one of writeback, writethrough, writearound' idle_ms 1 mode kept
refused verify "verify stays while the cache runs: stop it, and start it with the other value" idle_ms 1 verify 1
refused none "message set takes a name and a value, or more such pairs"

# A suspend keeps them, and so does a reload of the line that the target tells.
before=$(dmsetup table xpcache0)
must dmsetup suspend xpcache0
must dmsetup message xpcache0 0 set dirty_low 6
must dmsetup resume xpcache0
equal set-suspended "${before/dirty_low 5/dirty_low 6}" "$(dmsetup table xpcache0)"
before=$(dmsetup table xpcache0)
must dmsetup reload xpcache0 --table "$before"
must dmsetup suspend xpcache0
must dmsetup resume xpcache0
equal set-reloaded "$before" "$(dmsetup table xpcache0)"
must dmsetup message xpcache0 0 set dirty_low 10 dirty_high 80

# By the command line, which notes it for each start; what only a start sets is noted alone.
# of_set OPTION... - now and next start, as it lists them
of_set() { xpcache set xpcache0 | awk -v names=" $* " 'index(names, " " $1 " ") { printf "%s:%s:%s ", $1, $2, $3 }'; }
must xpcache set xpcache0 dirty-low=30 verify=1
equal set-verb "dirty_low 30 idle_ms 0 histogram 0" "$(options)"
equal set-verb-list "dirty-low:30:30 idle-ms:0:0 verify:0:1 " "$(of_set dirty-low idle-ms verify)"
must xpcache stop xpcache0
must xpcache set xpcache0 dirty-low=40
must xpcache start xpcache0
equal set-verb-started "dirty_low 40 idle_ms 0 histogram 0 verify 1" "$(options)"
must xpcache set xpcache0 dirty-low=default verify=default
must xpcache stop xpcache0
must xpcache start xpcache0
equal set-verb-default "idle_ms 0 histogram 0" "$(options)"

# Now on, for good: a commit is counted as no request.
must dmsetup message xpcache0 0 histogram_on
writes=$(of write)
must dd if=/dev/zero of=$CACHE bs=4k count=100 oflag=direct status=none
equal writes-counted $((writes + 100)) "$(of write)"
flushes=$(of flush)
must dmsetup message xpcache0 0 commit
equal commit-not-counted "$flushes" "$(of flush)"

# Around the cache, and behind it a commit that flushes the slow disk.
blkdiscard -z -o $((100 << 20)) -l $((8 << 20)) $CACHE
must dmsetup message xpcache0 0 commit
equal commit-around-not-counted "$flushes" "$(of flush)"
[ "$(of discard)" -gt 0 ] && pass zeroes-counted || fail zeroes-counted "none"
[ "$(of slow-flush)" -gt 0 ] && pass slow-flush-timed || fail slow-flush-timed "none"

# What was written without a sync is in the page cache while somebody has the device open; a flush
# asks for it.
must dd if=/dev/urandom of=/tmp/piece bs=1M count=4 status=none
exec 9<$CACHE
must dd if=/tmp/piece of=$CACHE bs=1M seek=40 conv=notrunc status=none
try flush-of-pages xpcache flush xpcache0
exec 9<&-
equal flushed-with-the-page-cache "$(md5sum </tmp/piece)" \
	"$(dd if=$SLOW bs=1M skip=40 count=4 iflag=direct status=none | md5sum)"

# A flush arrives, though the next block is dirty before anybody looks.
fio --name=now-and-then --filename=$CACHE --direct=1 --rw=randwrite --bs=4k --size=32m --thinktime=50000 \
	--time_based --runtime=600 >/dev/null &
writer=$!
must xpcache flush xpcache0
try flush-beside-writes xpcache flush xpcache0
try and-again xpcache flush xpcache0
kill $writer
wait
must xpcache remove xpcache0
