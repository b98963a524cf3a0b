# SPDX-License-Identifier: GPL-2.0-only
# vm: nvdimm=64M fast=16M slow=48M timeout=900 quick=6.12
#
# --verify: what silently changes on the fast device is never what a caller gets, nor what goes
# home: of what is clean they get the slow disk's, of what is dirty an error. On a disk and on
# memory. Callers who change their buffers meanwhile are no rot: LONG= seconds of it.

. ./lib.sh

seconds=${LONG:-8}	# of each load

# slot_of LBA - of the cache's block, from the journal.
slot_of()
{
	must dmsetup message xpcache0 0 commit >/dev/null
	xpcache dump $FAST --json | sed -n "s/^{\"lba\":$1,\"slot\":\([0-9]*\),.*/\1/p"
}

# rot LBA - one bit of what is there.
rot()
{
	local slot byte
	slot=$(slot_of "$1")
	[ -n "$slot" ] || die rot "block $1 is not mapped"
	must dd if=$FAST of=/tmp/rotten bs=4k skip=$((first + slot)) count=1 iflag=direct status=none
	byte=$(od -An -tu1 -j 1000 -N 1 /tmp/rotten)
	printf "\\$(printf %o $((byte ^ 4)))" | dd of=/tmp/rotten bs=1 seek=1000 conv=notrunc status=none
	must dd if=/tmp/rotten of=$FAST bs=4k seek=$((first + slot)) oflag=direct conv=notrunc status=none
	note "block $1 rots in slot $slot"
}

cached() { [ "$(counter clean)" -ge "$1" ]; }
one_dirty() { [ "$(counter dirty)" = 1 ]; }
told() { dmesg | grep -q "${FAST##*/}: fast device: slot [0-9]* does not hold what was written to it: sector $(($1 * 8)) of the slow device, $2"; }

# warm - blocks 0 to 511 are clean in the cache, of what is in /tmp/wanted.
warm()
{
	read_blocks 0 512 bs=64k count=32 of=/dev/null
	settled cached 500 || die "$kind-warm" "only $(counter clean) blocks are clean after a minute"
}

# a_life KIND - all of it, on FAST.
a_life()
{
	local errors held n
	kind=$1
	must dd if=/tmp/wanted of=$SLOW bs=1M oflag=direct conv=notrunc status=none
	create --idle-ms 0 --verify 1
	dmsetup table xpcache0 | grep -q 'verify 1' && pass "$kind-table" || fail "$kind-table" "$(dmsetup table xpcache0)"
	first=$(dumped $FAST data_start)
	warm

	# ---- clean ----
	equal "$kind-reads-are-right" "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
	equal "$kind-nothing-found" 0 "$(counter sum_errors)"
	[ "$(counter read_hits)" -gt 0 ] && pass "$kind-hits" || fail "$kind-hits" "no read was one"
	for n in 7 8 100; do rot $n; done
	equal "$kind-clean-is-read-elsewhere" "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
	equal "$kind-found" 3 "$(counter sum_errors)"
	told 7 clean && told 100 clean && pass "$kind-told" || fail "$kind-told" "the kernel's log does not tell"
	rot 9
	equal "$kind-part-of-a-block" "$(dd if=/tmp/wanted bs=512 skip=75 count=3 status=none | md5sum)" \
		"$(dd if=$CACHE bs=512 skip=75 count=3 iflag=direct status=none | md5sum)"
	equal "$kind-part-found" 4 "$(counter sum_errors)"
	rot 11
	must dd if=/dev/zero of=$CACHE bs=512 seek=90 count=1 oflag=direct conv=notrunc status=none
	must dd if=/dev/zero of=/tmp/wanted bs=512 seek=90 count=1 conv=notrunc status=none
	equal "$kind-merged-with-the-slow-disk" "$(wanted 11 1)" "$(read_blocks 11 1 | md5sum)"

	# ---- dirty ----
	write_blocks 200 8 if=/tmp/new
	rot 203
	ends_in_error "$kind-dirty-is-an-error" read_blocks 203 1
	ends_in_error "$kind-and-whatever-is-read-with-it" read_blocks 200 8 bs=32k skip=25 count=1
	told 203 dirty && pass "$kind-told-dirty" || fail "$kind-told-dirty" "the kernel's log does not tell"
	ends_in_error "$kind-no-base-of-a-write" dd if=/dev/zero of=$CACHE bs=512 seek=$((203 * 8 + 1)) count=1 oflag=direct conv=notrunc
	must dmsetup message xpcache0 0 flush
	settled one_dirty && pass "$kind-others-go-home" || fail "$kind-others-go-home" "$(counter dirty) blocks are dirty"
	equal "$kind-rot-stays-away" "$(wanted 203 1)" "$(DEV=$SLOW read_blocks 203 1 | md5sum)"
	equal "$kind-what-was-written-is-home" "$(dd if=/tmp/new bs=4k count=3 status=none | md5sum)" \
		"$(DEV=$SLOW read_blocks 200 3 | md5sum)"
	must dmsetup message xpcache0 0 flush_stop
	write_blocks 203 1 if=/tmp/new
	equal "$kind-a-write-heals" "$(dd if=/tmp/new bs=4k count=1 status=none | md5sum)" "$(read_blocks 203 1 | md5sum)"

	# ---- over a stop; what rots meanwhile ----
	errors=$(counter sum_errors)
	rot 300
	stop
	xpcache check $FAST --data >/tmp/checked
	n=$?
	grep -q 'does not hold what its record' /tmp/checked && [ $n = 4 ] && pass "$kind-check-finds-it" ||
		fail "$kind-check-finds-it" "status $n: $(tail -n 1 /tmp/checked)"
	must xpcache start --fast $FAST --slow $SLOW --idle-ms 0 --verify 1
	equal "$kind-found-after-a-start" "$(wanted 300 1)" "$(read_blocks 300 1 | md5sum)"
	equal "$kind-once" 1 "$(counter sum_errors)"

	# ---- whoever changes his buffers ----
	try "$kind-buffers-that-change" scribble $CACHE "$seconds"
	equal "$kind-are-no-rot" 1 "$(counter sum_errors)"
	verified_load $CACHE 12 &	# together more than the fast device has
	sleep "$seconds"
	end_load $!
	rm -f /tmp/enough
	equal "$kind-nor-is-a-load" 1 "$(counter sum_errors)"
	no_errors "$kind-no-errors"
	all_home || fail "$kind-home" "$(counter dirty) blocks are dirty"
	held=$(checksum $CACHE)
	remove
	equal "$kind-same-without-cache" "$held" "$(checksum $SLOW)"
}

must dd if=/dev/urandom of=/tmp/wanted bs=1M count=4 status=none
must dd if=/dev/urandom of=/tmp/new bs=4k count=8 status=none
must cp /tmp/wanted /tmp/wanted.first
a_life disk
cp /tmp/wanted.first /tmp/wanted
persistent_memory
a_life memory
