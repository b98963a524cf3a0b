# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=64M timeout=600 quick=no
#
# A device is pulled out of the machine under a running cache, and put back: it comes as another
# device, and start alone takes it, if nobody uses the cache and nothing would be lost.

. ./lib.sh

part() { must dmsetup create part --table "0 81920 linear $CACHE 2048"; }

# says NAME TEXT COMMAND... - it succeeds, and says so.
says()
{
	local out
	out=$("${@:3}" 2>&1) && grep -q "$2" <<<"$out" && pass "$1" || fail "$1" "$out"
	echo "$out"
}

must sfdisk -q $SLOW <<<'label: gpt
start=2048, size=40MiB
'
must xpcache create --fast $FAST --slow $SLOW --idle-ms 0
part
must mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/part
must mount /dev/mapper/part /mnt
fill /mnt/before 4 500
must sync

# ---- the fast one, with nothing dirty: below a file system that is in use ----
settled all_home || die clean "$(counter dirty) blocks are dirty"
take_out fast
fill /mnt/while 4 500 && sync /mnt/while && pass files-are-written || fail files-are-written "they are not"
echo 3 >/proc/sys/vm/drop_caches
whole=$(tree /mnt)
equal whole 8 "$(wc -l <<<"$whole")"
settled failed || die found-gone "a minute later it is $(state)"
refused nothing-is-back 5 'is its fast device connected' xpcache start xpcache0
echo 3 >/proc/sys/vm/drop_caches
equal still-there "$whole" "$(tree /mnt)"
plug_in fast
note "the fast disk is $FAST now"
says status-says-how 'connect it again, then xpcache start xpcache0$' xpcache status xpcache0
refused in-use 3 'in use' xpcache start xpcache0
must umount /mnt
must dmsetup remove part
says start-heals 'of no use, and dropped' xpcache start xpcache0
equal healed 0 "$(counter passthrough)"
part
must mount /dev/mapper/part /mnt
equal all-that-passed "$whole" "$(tree /mnt)"

# ---- the slow one, with dirty blocks ----
fill /mnt/later 4 500
must sync
whole=$(tree /mnt)
must umount /mnt
must dmsetup remove part
dirty=$(counter dirty)
[ "$dirty" -gt 100 ] && pass dirty || fail dirty "$dirty blocks"
old=$SLOW
take_out slow
refused slow-not-back 3 'is running already' xpcache start xpcache0
plug_in slow
note "the slow disk was $old, and is $SLOW now"
out=$(xpcache start xpcache0 2>&1)
echo "$out"
grep -q 'started, ' <<<"$out" && ! grep -q 'cannot' <<<"$out" && pass start-takes-it || fail start-takes-it "$out"
[ "$(counter dirty)" -gt 0 ] && pass nothing-lost || fail nothing-lost "no block is dirty"
part
must mount /dev/mapper/part /mnt
equal with-the-later "$whole" "$(tree /mnt)"

# ---- the fast one, with dirty blocks: nothing is lost unless it is asked for ----
dd if=/dev/urandom of=/mnt/last bs=64k count=4 conv=fsync status=none
whole=$(tree /mnt)
must umount /mnt
must dmsetup remove part
take_out fast
ends_in_error write-is-an-error write_blocks 1000 1 if=/dev/zero
settled failed || die found-gone-dirty "a minute later it is $(state)"
plug_in fast
says status-says-what-is-lost 'connect it again, then xpcache stop --force xpcache0' xpcache status xpcache0
must dmsetup suspend xpcache0
refused stop-loses-nothing-asleep 1 'cannot be written' xpcache stop xpcache0
must dmsetup resume xpcache0
refused start-loses-nothing 1 'cannot be written' xpcache start xpcache0
try stop-force xpcache stop xpcache0 --force
says start-after-it 'started' xpcache start xpcache0
part
must mount /dev/mapper/part /mnt
equal all-that-was-flushed "$whole" "$(tree /mnt)"
must umount /mnt
must dmsetup remove part

# ---- the fast one, and nobody has noticed ----
settled all_home || die clean-again "$(counter dirty) blocks are dirty"
take_out fast
plug_in fast
equal unnoticed running "$(state)"
out=$(xpcache start xpcache0 2>/tmp/said) && [ ! -s /tmp/said ] && grep -q 'started anew' <<<"$out" && pass start-unnoticed ||
	fail start-unnoticed "$out $(cat /tmp/said)"
equal still-all "$whole" "$(part >/dev/null; mount -o ro /dev/mapper/part /mnt; tree /mnt; umount /mnt; dmsetup remove part)"
refused start-of-one-that-lacks-nothing 3 'is running already' xpcache start xpcache0
must xpcache remove xpcache0
must dmsetup create part --table "0 81920 linear $SLOW 2048"
try whole-alone e2fsck -f -n /dev/mapper/part
