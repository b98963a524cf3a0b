# SPDX-License-Identifier: GPL-2.0-only
# --fast-size: a cache of the first part of a fast device; and a size that fits the machine's memory.

fs_uri="nbd+unix:///?socket=$dir/run/part.sock"
fs_does() { PATH=/usr/bin:$PATH timeout 300 nbdsh -u "$fs_uri" -c "$1" >out 2>&1 || fail "fast size: nbdsh" "$1"; }
fs_start() { "$xpcache" start --fast fast --slow slow --idle-ms 0 "$@" >out 2>&1 || fail "fast size: start" "$*"; }
fs_kill() {
	kill_daemon "$dir/run/part"
	rm -f "$dir/run/part.sock"	# as the next start does
}
# What is behind the first 48 MiB is somebody's, up to the last byte.
fs_devices() {
	rm -f fast slow
	truncate -s 128M fast
	yes "not the cache's" | head -c $((80 << 20)) | dd of=fast bs=1M seek=48 conv=notrunc status=none iflag=fullblock
	truncate -s 64M slow
}
fs_rest() { tail -c +$(((48 << 20) + 1)) fast | cmp -s - rest && echo untouched; }
fs_devices
tail -c +$(((48 << 20) + 1)) fast >rest

# ---- what is no size ----
for size in 0 x 12x -1 "" 1.5G 4097 0x1000 99999999999999999999G 4KK; do
	expect "fast size: \"$size\"" 2 "^xpcache: not a size: \"$size\": --fast-size: --fast-size 50G, say: a multiple of 4K" \
		create --fast fast --slow slow --no-start --fast-size "$size"
done
expect "fast size: more than there is" 3 "it has 128 MiB, and --fast-size says 129 MiB: fast: --fast-size 128M is all of it" \
	create --fast fast --slow slow --no-start --fast-size 129M
expect "fast size: too small" 3 "a cache of 64.0 KiB is too small: fast: --fast-size [0-9]+K is the least" create --fast fast --slow slow --no-start --fast-size 64K
least=$(sed -E 's/.*--fast-size ([0-9]+K) is the least.*/\1/' stderr)
expect "fast size: less than the least" 3 "too small" create --fast fast --slow slow --no-start --fast-size $((${least%K} - 4))K
expect "fast size: nothing was made" 5 "no xpcache" check fast
same "fast size: nothing was written" "$(fs_rest) $(head -c 48M fast | tr -d '\0' | wc -c)" "untouched 0"
expect "fast size: the least" 0 "made to cache" create --fast fast --slow slow --no-start --fast-size "$least"
expect "fast size: the least is sound" 0 "sound" check fast

# ---- what is known by the end of the device ----
truncate -s 128M member
python3 - <<'EOF'
import struct
place = (128 << 11) - 16
with open("member", "r+b") as f:	# a superblock of md, version 1.0
	f.seek(place * 512)
	f.write(struct.pack("<IIII16s32s", 0xa92b4efc, 1, 0, 0, bytes(range(16)), b"array").ljust(144, b"\0") + struct.pack("<Q", place))
EOF
expect "fast size: a signature at the end" 3 "holds data: linux_raid_member" create --fast member --slow slow --no-start --fast-size 48M
expect "fast size: it may go" 0 "made to cache" create --fast member --slow slow --no-start --fast-size 48M --force
rm -f member

# ---- a part ----
fs_devices
expect "fast size: create" 0 "^part: fast .48.0 MiB, 11,[0-9]+ slots. is made to cache slow" create --fast fast --slow slow --no-start --name part --fast-size 48M
truncate -s 48M whole
"$xpcache" create --fast whole --slow slow --no-start --name whole >out 2>&1 || fail "fast size: create of all" ""
layout() { "$xpcache" dump "$1" --json | python3 -c 'import json, sys
sb = json.load(sys.stdin)["superblock"]
print([sb[k] for k in ("fast_blocks", "journal_start", "journal_blocks", "data_start", "nr_slots")])'; }
same "fast size: laid out as a device of that size" "$(layout fast)" "$(layout whole)"
same "fast size: the superblock says so" "$(field superblock.fast_blocks) $(field superblock.compat)" "12288 0x1"
fs_start
expect "fast size: status" 0 "^  fast +[^ ]*fast, the first 48.0 MiB of 128 MiB" status part
same "fast size: status, as JSON" "$("$xpcache" status part --json | python3 -c 'import json, sys
v = json.load(sys.stdin)["caches"][0]
print(v["fast"]["bytes"], v["counters"]["fast_blocks"])')" "$((128 << 20)) 12288"
# More than it holds, dirty and clean, so that each slot is used and the journal goes round.
fs_does 'import os
b = os.urandom(1 << 20)
open("what", "wb").write(b * 60)
for i in range(60): h.pwrite(b, i << 20)
h.flush()
for i in range(3000): k = (i % 256) << 12; h.pwrite(b[k:k + 4096], k, nbd.CMD_FLAG_FUA)
for i in range(60): h.pread(1 << 20, i << 20)'
fs_kill
same "fast size: the rest, after a kill" "$(fs_rest)" "untouched"
expect "fast size: check" 0 "sound" check fast --slow slow --data
cp --sparse=always fast fast.then; cp slow slow.then
fs_start
expect "fast size: it goes on" 0 "every block is written back" flush part
rests part
same "fast size: home" "$(head -c $((60 << 20)) slow | cmp - what && fs_rest)" "untouched"
cp --sparse=always fast.then fast; cp slow.then slow
expect "fast size: flush --offline" 0 "every block is written back" flush --offline --fast fast --slow slow
same "fast size: home, offline" "$(head -c $((60 << 20)) slow | cmp - what && fs_rest)" "untouched"
for block in 0 16; do
	cp --sparse=always fast.then fast; cp slow.then slow
	dd if=/dev/zero of=fast bs=4096 seek=$block count=1 conv=notrunc status=none
	fs_start
	expect "fast size: without superblock $block" 0 "every block is written back" flush part
	rests part
	same "fast size: without superblock $block: it is there anew" "$(head -c $((60 << 20)) slow | cmp - what && fs_rest) $("$xpcache" check fast >out 2>&1; echo $?)" "untouched 0"
done

# ---- without both superblocks ----
no_superblocks() { for n in 0 16 "$@"; do dd if=/dev/zero of=fast bs=4096 seek=$n count=1 conv=notrunc status=none; done; }
rescue_part() { expect "fast size: no superblock: $1" "${@:2:2}" flush --offline --rescue --fast fast --slow slow --force "${@:4}"; }
home() { same "fast size: no superblock: $1: home" "$(head -c $((60 << 20)) slow | cmp - what && fs_rest)" "untouched"; }
again_part() { cp --sparse=always fast.then fast; cp slow.then slow; no_superblocks "$@"; }
again_part
rescue_part "the fingerprint tells the size" 0 "every block is written back"
home "the fingerprint tells the size"
again_part
rescue_part "the user tells otherwise" 4 "noted that the cache has 48.0 MiB of it, and --fast-size says 128 MiB: fast: nothing was changed; leave --fast-size out" \
	--fast-size 128M
same "fast size: no superblock: otherwise: nothing was written" "$(cmp slow slow.then && echo same)" "same"
again_part 8 24
rescue_part "no fingerprint, and the journal contradicts the whole device" 4 \
	"nothing else tells how much of it the cache has: fast: nothing was changed; give --fast-size too: 128M if the cache has all of it, else what it was given"
same "fast size: no superblock: nothing was written" "$(cmp slow slow.then && echo same)" "same"
rescue_part "the wrong size" 4 "its journal is not that of a cache of 64.0 MiB: fast: nothing was changed; --fast-size 128M if" --fast-size 64M
same "fast size: no superblock: nothing was written either" "$(cmp slow slow.then && echo same)" "same"
rescue_part "the user tells" 0 "every block is written back" --fast-size 48M
home "the user tells"
cp --sparse=always fast.then fast; cp slow.then slow
expect "fast size: a superblock is there" 2 "the superblock of fast says 48M: --fast-size: leave it out" \
	flush --offline --rescue --fast fast --slow slow --fast-size 128M
# A journal that has not gone round shows no length.
fs_devices
"$xpcache" create --fast fast --slow slow --no-start --name part --fast-size 48M >out 2>&1
"$forge" fast write 100 7
cp --sparse=always fast fast.then; cp slow slow.then
again_part 8 24
rescue_part "a journal in its first lap" 4 "nothing else tells how much of it the cache has"
same "fast size: no superblock: first lap: nothing was written" "$(cmp slow slow.then && echo same)" "same"
rescue_part "a journal in its first lap, the user tells" 0 "every block is written back" --fast-size 48M
# The same of a device that has grown since, and not been told to be used.
rm -f fast slow; truncate -s 48M fast; truncate -s 64M slow
"$xpcache" create --fast fast --slow slow --no-start --name part >out 2>&1
"$forge" fast write 100 7
truncate -s 96M fast
cp --sparse=always fast fast.then; cp slow slow.then
again_part
rescue_part "it has grown: the fingerprint tells" 0 "every block is written back"
mv slow by-rescue
cp --sparse=always fast.then fast; cp slow.then slow
"$xpcache" flush --offline --fast fast --slow slow >out 2>&1
same "fast size: no superblock: it has grown: home" "$(cmp slow by-rescue && ! cmp -s slow slow.then && echo same)" "same"
again_part 8 24
rescue_part "it has grown: nothing tells" 4 "nothing else tells how much"

# ---- resize takes what it is told, and nothing else ----
fs_devices
"$xpcache" create --fast fast --slow slow --no-start --name part --fast-size 48M >out 2>&1
expect "fast size: resize alone" 0 "^part: it has the first 48.0 MiB of fast, as it was told; xpcache resize part --fast fast --slow slow --fast-size SIZE gives it more" \
	resize part --fast fast --slow slow
same "fast size: resize alone: untouched" "$(fs_rest) $(field superblock.fast_blocks)" "untouched 12288"
fs_start
expect "fast size: running: nothing has grown" 0 "slow has 131072 sectors, as before$" resize part
same "fast size: running: nothing is told" "$(grep -c grown out)" 0
expect "fast size: running" 3 "it runs, .*: part: xpcache stop part, then xpcache resize part --fast-size 64M" resize part --fast-size 64M
fs_does 'h.pwrite(b"R" * (8 << 20), 0); h.flush()'
rests part
expect "fast size: smaller" 3 "part has 48.0 MiB of it, and no cache becomes smaller: fast: xpcache remove part --fast fast --slow slow, then xpcache create --fast-size 32M" \
	resize part --fast fast --slow slow --fast-size 32M
expect "fast size: larger than it" 3 "it has 128 MiB, and --fast-size says 1.00 GiB" resize part --fast fast --slow slow --fast-size 1G
expect "fast size: larger" 0 "^part: fast is laid out anew, for 4,[0-9]+ blocks .* more" resize part --fast fast --slow slow --fast-size 64M
same "fast size: larger: home" "$(head -c $((8 << 20)) slow | tr -d R | wc -c)" 0
tail -c +$(((64 << 20) + 1)) fast | cmp -s - <(tail -c +$(((16 << 20) + 1)) rest) && pass "fast size: larger: the rest" || fail "fast size: larger: the rest" "touched"
same "fast size: larger: it is still a part" "$(field superblock.fast_blocks) $(field superblock.compat)" "16384 0x1"
expect "fast size: larger: sound" 0 "sound" check fast --slow slow --data
fs_start
fs_does 'h.pwrite(b"S" * (4 << 20), 0); h.flush()'
fs_kill
cp --sparse=always fast fast.then; cp slow slow.then
again_part
rescue_part "after a resize" 0 "every block is written back"
same "fast size: no superblock: after a resize: home" "$(head -c $((4 << 20)) slow | tr -d S | wc -c)" 0

# Of a whole device that has grown only a part is to be the cache's from now on.
rm -f fast; truncate -s 48M fast
"$xpcache" create --fast fast --slow slow --no-start --name part >out 2>&1
truncate -s 96M fast
expect "fast size: a part of what has grown" 0 "laid out anew" resize part --fast fast --slow slow --fast-size 64M
same "fast size: a part of what has grown" "$(field superblock.fast_blocks) $(field superblock.compat)" "16384 0x1"
expect "fast size: and no more" 0 "it has the first 64.0 MiB of fast, as it was told" resize part --fast fast --slow slow

# ---- memory ----
rm -f fast; truncate -s 128M fast
for kib in 3500 1800; do
	echo "MemTotal: $kib kB" >meminfo
	XPCACHE_MEMINFO=meminfo expect "fast size: a quarter of $kib KiB of memory" 0 "" create --fast fast --slow slow --no-start --force --discard-dirty
	tells=$(grep -oE "^it takes .* of memory while it runs.*" out)
	case $kib in
	3500) same "fast size: less than a quarter is no matter" "$(sed 's/ [0-9]* KiB/ N/' <<<"$tells")" "it takes N of memory while it runs" ;;
	1800) grep -qE "^it takes [0-9]+ KiB of memory while it runs, of the 1.76 MiB that this machine has: --fast-size [0-9]+M takes less$" <<<"$tells" &&
		pass "fast size: a quarter is told" || fail "fast size: a quarter is told" "$tells" ;;
	esac
done
fits=$(sed -E 's/.*--fast-size ([0-9]+M) takes less.*/\1/' <<<"$tells")
XPCACHE_MEMINFO=meminfo expect "fast size: the proposal" 0 "^it takes [0-9]+ KiB of memory while it runs$" create --fast fast --slow slow --no-start --force --fast-size "$fits"
XPCACHE_MEMINFO=meminfo expect "fast size: a little more than the proposal" 0 "of the 1.76 MiB" create --fast fast --slow slow --no-start --force --fast-size $((${fits%M} + 2))M
echo 'MemTotal: 1000 kB' >meminfo
rm fast; truncate -s 128M fast
XPCACHE_MEMINFO=meminfo expect "fast size: more than half is refused" 3 "as long as it runs: fast: --fast-size [0-9]+M takes less; --force makes it all the same" \
	create --fast fast --slow slow --no-start
rm -f fast slow fast.then slow.then rest whole what meminfo by-rescue
