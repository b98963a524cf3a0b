# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=32M timeout=900 kernel=debug
#
# Bad sectors on the slow disk (dm-dust), and one request in five that fails
# (fail_make_request): what is read is right or an error, and what was written
# arrives once the disk takes it.

. ./lib.sh

DISK=/dev/mapper/disk
FAIL=/sys/kernel/debug/fail_make_request

dust() { must dmsetup message disk 0 "$@"; }

# block N OF - one block of 4 KiB.
block() { dd if="$2" bs=4k skip="$1" count=1 iflag=direct status=none; }

# reads_error NAME N - and the block after it does not.
reads_error()
{
	local out
	out=$(block "$2" $CACHE 2>&1 >/dev/null)
	grep -q 'Input/output error' <<<"$out" && pass "$1" || fail "$1" "it can be read: $out"
	cmp -s <(block $(($2 + 1)) $CACHE) <(block $(($2 + 1)) /tmp/wanted) ||
		fail "$1" "the block after it is not what it was"
}

# write N BS OPTION... - a piece of /tmp/new through the cache, and what is wanted from now on.
write()
{
	dd if=/tmp/new of=$CACHE bs="$2" seek="$1" count=1 oflag=direct conv=notrunc status=none &&
		dd if=/tmp/new of=/tmp/wanted bs="$2" seek="$1" count=1 conv=notrunc status=none
}

must mount -t debugfs debugfs /sys/kernel/debug
must dd if=/dev/urandom of=/tmp/wanted bs=1M count=32 status=none
must dd if=/dev/urandom of=/tmp/new bs=1M count=1 status=none
must dd if=/tmp/wanted of=$SLOW bs=1M oflag=direct conv=notrunc status=none
must dmsetup create disk --table "0 $(blockdev --getsz $SLOW) dust $SLOW 0 4096"
must xpcache create --fast $FAST --slow $DISK --idle-ms 0

# ---- bad sectors ----
for n in 100 200 300; do
	dust addbadblock $n
done
dust enable
reads_error bad-sector 100
# A write of a part asks nothing of the disk. What it lacks is an error until the block is cured.
try part-of-a-bad-block write 1600 512
reads_error its-rest 200
try whole-block write 300 4k
equal whole-block-reads "$(block 300 /tmp/wanted | md5sum)" "$(block 300 $CACHE | md5sum)"
try flush xpcache flush xpcache0
equal cured-by-the-write "$(block 300 /tmp/wanted | md5sum)" "$(block 300 $DISK | md5sum)"
reads_error still-bad 100
dust clearbadblocks
dust disable
equal all-there "$(checksum /tmp/wanted)" "$(checksum $CACHE)"

# ---- requests that fail ----
fails_one_in_five()
{
	echo "$1" >/sys/block/sda/make-it-fail
	echo -1 >$FAIL/times
	echo 0 >$FAIL/verbose
	echo "$2" >$FAIL/probability
}

fails_one_in_five 1 20
errors=0 wrong=0
for n in {0..39}; do
	write $((n * 200)) 4k 2>/tmp/err || fail write-"$n" "$(tail -n 1 /tmp/err)"
	block $((n * 200 + 5)) $CACHE >/tmp/got 2>/dev/null || {
		errors=$((errors + 1))
		continue
	}
	cmp -s /tmp/got <(block $((n * 200 + 5)) /tmp/wanted) || wrong=$((wrong + 1))
done
dmsetup message xpcache0 0 flush
sleep 3
fails_one_in_five 0 0
note "$errors of 40 reads failed, $wrong were wrong; $(counter slow_errors) errors of the slow disk"
equal none-wrong 0 $wrong
[ $errors -gt 0 ] && pass some-failed || fail some-failed "no read was made to fail"
try flush-afterwards xpcache flush xpcache0
equal all-there-afterwards "$(checksum /tmp/wanted)" "$(checksum $CACHE)"
must xpcache remove xpcache0
equal home "$(checksum /tmp/wanted)" "$(checksum $DISK)"
