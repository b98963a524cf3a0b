# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=32M slow=64M extra=128M,1M timeout=600 quick=no sanitized=no
#
# Bad input gets one clear line, and nothing is lost.

. ./lib.sh

OTHER=/dev/vda
TINY=/dev/vdb

try_create() { xpcache create --fast "${1:-$FAST}" --slow "${2:-$SLOW}"; }

must mkfs.ext4 -q -F $SLOW
must mount $SLOW /mnt
fill /mnt 10 200
must umount /mnt
before=$(checksum $SLOW)

# ---- create: the devices ----
refused missing-fast 5 /dev/nothing try_create /dev/nothing
refused missing-slow 5 /dev/nothing try_create $FAST /dev/nothing

refused same-twice 3 'same' try_create $SLOW $SLOW
refused too-small 3 'small' try_create $TINY
blockdev --setro $SLOW
refused slow-read-only 3 'read-only' try_create
blockdev --setrw $SLOW
blockdev --setro $FAST
refused fast-read-only 3 'read-only' try_create
blockdev --setrw $FAST
must mount -o ro $SLOW /mnt
refused slow-mounted 3 'mounted at /mnt' try_create
must umount /mnt
must mkfs.ext4 -q -F $FAST
refused signature 3 'ext4' try_create
must mount $FAST /mnt
refused fast-mounted 3 'mounted at /mnt' try_create
must umount /mnt
must mkswap $FAST
must swapon $FAST
refused swap 3 'swap' try_create
must swapoff $FAST
must dd if=/dev/zero of=$FAST bs=1M count=8 oflag=direct status=none
must dmsetup create holder --table "0 $(blockdev --getsz $SLOW) linear $SLOW 0"
refused held 3 'holder' try_create
must dmsetup remove holder
printf 'size=40M\nsize=40M\n' | sfdisk -q $OTHER
refused partition-table 3 'dos|partition table' try_create $OTHER
refused partition-of-slow 3 'same disk' try_create ${OTHER}1 $OTHER
refused two-partitions 3 'same disk' try_create ${OTHER}1 ${OTHER}2
refused no-root 1 'root' start-stop-daemon -S -c user:user -x /usr/bin/xpcache -- \
	create --fast $FAST --slow $SLOW
equal slow-untouched "$before" "$(checksum $SLOW)"
equal fast-untouched "" "$(blkid -p $FAST)"

# ---- a cache that runs ----
create
refused second-start 3 'xpcache0' xpcache start xpcache0
refused create-over-running 3 'in use|part of' try_create
refused check-running 3 'in use.*xpcache0.*only a stopped cache' xpcache check $FAST
must mount $CACHE /mnt
refused stop-mounted 3 '/mnt' xpcache stop xpcache0
refused remove-mounted 3 '/mnt' xpcache remove xpcache0
fill /mnt/more 10 100
must umount /mnt
mount $SLOW /mnt 2>/dev/null && fail slow-mount-behind-it "the slow device could be mounted" ||
	pass slow-mount-behind-it
within=$(checksum $CACHE)
stop

# ---- a cache at rest ----
# check only reads: it needs no more of the devices, and changes nothing.
blockdev --setro $FAST $SLOW
resting="$(checksum $FAST) $(checksum $SLOW)"
out=$(xpcache check $FAST --slow $SLOW --data 2>&1)
equal check-read-only "0 $FAST: sound" "$? $(tail -n 1 <<<"$out")"
equal check-writes-nothing "$resting" "$(checksum $FAST) $(checksum $SLOW)"
blockdev --setrw $FAST $SLOW
refused create-over-stopped 3 'xpcache0' try_create
refused unknown-name 5 'nothing' xpcache start nothing
refused other-slow 3 "$OTHER" xpcache start xpcache0 --slow $OTHER

# The kernel's own words: what the table line has, and why it is not taken.
said() { dmesg | sed -n 's/.*device-mapper: xpcache: //p' | tail -n 1; }
bad_table()
{
	dmsetup create bad --table "0 $(blockdev --getsz $SLOW) xpcache $3" 2>/dev/null &&
		fail "$1" "the table was taken"
	equal "$1" "$2" "$(said)"
}
bad_table table-no-slow 'expected <fast device> <slow device> [<nr args> [<name> <value>]...]' $FAST
bad_table table-count 'the count of option words is "4", but 2 follow' "$FAST $SLOW 4 dirty_low 5"
bad_table table-name 'unknown option "dirty"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify' "$FAST $SLOW 2 dirty 5"
bad_table table-value 'dirty_low is a number from 0 to 100, not "1e1"' "$FAST $SLOW 2 dirty_low 1e1"
bad_table table-contradiction 'dirty_low, 80, is not below dirty_high, 80' "$FAST $SLOW 2 dirty_low 80"

# One copy of the superblock is enough; without both there is no cache.
SB=(bs=4096 count=1 status=none conv=notrunc oflag=direct)
must dd if=$FAST of=/tmp/metadata bs=4096 count=4096 iflag=direct status=none
scribble() { dd if=/dev/urandom of=$FAST seek="$1" "${SB[@]}"; }
restore() { dd if=/tmp/metadata of=$FAST bs=1M oflag=direct conv=notrunc status=none; }

# The middle of the superblock, so that it still has its magic.
flip() { printf 'x' | dd of=$FAST bs=1 seek=$(($1 * 4096 + 300)) conv=notrunc,fsync status=none; }

flip 0
start
equal one-copy-damaged "$within" "$(checksum $CACHE)"
stop
restore
flip 0
flip 16
refused both-copies-damaged 4 'superblock' xpcache check $FAST
restore

# A bit of a later version: hands off.
must dd if=$FAST of=/tmp/forged bs=4096 count=256 iflag=direct status=none
truncate -s "$(blockdev --getsize64 $FAST)" /tmp/forged
must forge /tmp/forged set incompat 0x8000
must dd if=/tmp/forged of=$FAST bs=4096 count=256 oflag=direct conv=notrunc status=none
refused unknown-incompat 4 'incompat.*0x8000' xpcache start xpcache0
restore

# Everything in the journal lost or overwritten: no guess is made.
first=$(dumped $FAST journal_start)
blocks=$(dumped $FAST journal_blocks)
dd if=/dev/urandom of=$FAST bs=4096 seek="$first" count="$blocks" oflag=direct conv=notrunc status=none
refused journal-overwritten 4 'journal' xpcache check $FAST
refused start-journal-overwritten 4 'journal' xpcache start xpcache0
[ -e $CACHE ] && fail no-device-left "$CACHE is there" || pass no-device-left
restore
must xpcache start xpcache0 --idle-ms 0 --dirty-low 0
equal nothing-lost "$within" "$(checksum $CACHE)"
equal table-read-back '4 dirty_low 0 idle_ms 0' "$(dmsetup table xpcache0 | cut -d ' ' -f 6-)"
equal status-limits 'dirty-low 0 (default 10), dirty-high 80, idle-ms 0 (default 5000), histogram 1, stream-kib 4096, writeback-delay 0, mode writeback, verify 0' \
	"$(xpcache status xpcache0 | sed -n 's/^  limits  *//p')"
equal json-limits '"dirty_low":0,"dirty_high":80,"idle_ms":0,"histogram":1,"stream_kib":4096,"writeback_delay":0,"mode":"writeback","mark":0,"verify":0' \
	"$(xpcache status xpcache0 --json | tr -d ' \n' | sed 's/.*"limits":{\([^}]*\)}.*/\1/')"
equal json-limits-set '["dirty_low","idle_ms"]' "$(xpcache status xpcache0 --json | tr -d ' \n' | sed 's/.*"limits_set":\(\[[^]]*\]\).*/\1/')"
dmsetup message xpcache0 0 flush now 2>/dev/null && fail bad-message "it was taken"
equal bad-message "${FAST#/dev/}: message flush is one word, not 2" "$(said)"
dmsetup message xpcache0 0 stream_kib 1073741825 2>/dev/null && fail bad-value "it was taken"
equal bad-value "${FAST#/dev/}: stream_kib is a number from 0 to 1073741824, not \"1073741825\"" "$(said)"
remove
equal home "$within" "$(checksum $SLOW)"

# ---- a slow device that changed its size ----
must xpcache create --fast $FAST --slow ${OTHER}1
stop
printf 'size=30M\n' | sfdisk -q --no-reread -N 1 $OTHER
blockdev --rereadpt $OTHER
try slow-shrank xpcache start xpcache0	# nothing dirty lies past its end: resize.sh has what is refused
equal slow-shrank-size $((30 * 2048)) "$(blockdev --getsz $CACHE)"
stop
must dd if=/dev/zero of=$FAST bs=1M count=8 oflag=direct status=none

# ---- no module ----
must modprobe -r dm-xpcache
mv /usr/lib/modules/"$(uname -r)"/extra /tmp/
depmod -a
refused no-module 1 'install xpcache-dkms|make module-install' try_create
mv /tmp/extra /usr/lib/modules/"$(uname -r)"/
depmod -a
equal no-cache-after-no-module "" "$(blkid -p $FAST)"
