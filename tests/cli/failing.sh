# SPDX-License-Identifier: GPL-2.0-only
# The fast device fails under the engine in user space: every operation of ./fast, while ./broken is there.

failing_uri="nbd+unix:///?socket=$dir/run/failing.sock"

# up ARGUMENT...: the cache, by a daemon whose devices can fail.
up() { LD_PRELOAD=$faulty FAULTY="/${failing_part:-fast} 7 1 $dir/broken" "$xpcache" start --fast fast --slow slow "$@" >out 2>&1 || fail "failing: start" "it does not"; }
stays() { "$xpcache" status failing --json | python3 -c "import json,sys; print(json.load(sys.stdin)['caches'][0]$1)"; }
until_is() { local n; for n in $(seq 100); do [ "$(stays "$1")" = "$2" ] && return; sleep 0.1; done; fail "failing: $1 is $2" "it is $(stays "$1")"; }
# at OFFSET BYTES: what the cache says, or nothing
at() { PATH=/usr/bin:$PATH nbdsh -u "$failing_uri" -c "import sys; sys.stdout.buffer.write(h.pread($2, $1))" 2>/dev/null; }
put() { PATH=/usr/bin:$PATH nbdsh -u "$failing_uri" -c "h.pwrite(open('$2', 'rb').read(), $1)" 2>/dev/null; }
sync_it() { PATH=/usr/bin:$PATH nbdsh -u "$failing_uri" -c "h.flush()" 2>/dev/null; }
fails() { local name=$1; shift; if "$@" >out 2>&1; then fail "$name" "it does not fail"; else pass "$name"; fi; }

rm -f fast slow broken
truncate -s 16M fast
head -c 64M /dev/urandom >slow
cp slow wanted
"$xpcache" create --fast fast --slow slow --name failing --no-start >out 2>&1 || fail "failing: create" "it does not"
up --idle-ms 0
PATH=/usr/bin:$PATH nbdsh -u "$failing_uri" -c "for n in range(8): h.pread(65536, n * 65536)" >out 2>&1
until_is "['counters']['clean']" 128

touch broken
at 0 65536 >got
same "failing: what is clean is read from the slow device" "$(cksum <got)" "$(head -c 65536 wanted | cksum)"
until_is "['state']" failed
expect "failing: status says since when" 0 "^  failed +since 2[0-9]{3}-[0-9:-]* [0-9:]*: $dir/fast cannot be written" status failing
expect "failing: and that nothing is lost" 0 "nothing is dirty; reads go on" status failing
at 65536 65536 >got
same "failing: so it is afterwards" "$(cksum <got)" "$(head -c 131072 wanted | tail -c 65536 | cksum)"
at $((1 << 20)) 65536 >got
same "failing: and what was never cached" "$(cksum <got)" "$(head -c $(((1 << 20) + 65536)) wanted | tail -c 65536 | cksum)"
fails "failing: a write is an error" put 0 got
fails "failing: a flush is an error" sync_it
expect "failing: stop asks" 1 "the journal cannot be written" stop failing
expect "failing: stop --force" 0 "no dirty block" stop failing --force
rm broken

# With dirty blocks, which are there again when it is.
up --idle-ms 0
head -c 8192 /dev/urandom >new
put 8192 new && sync_it || fail "failing: a write before it fails" "it does"
touch broken
fails "failing: what is dirty is an error" at 8192 4096
until_is "['state']" failed
same "failing: so many are out of reach" "$(stays "['counters']['dirty_unreachable']")" 2
expect "failing: status says so" 0 "2 blocks .8.00 KiB. are there alone" status failing
at 0 8192 >got
same "failing: what is beside it is not" "$(cksum <got)" "$(head -c 8192 wanted | cksum)"
"$xpcache" stop failing --force >out 2>&1 || fail "failing: stop with dirty blocks" "it does not"
rm broken
dd if=new of=wanted bs=8192 seek=1 conv=notrunc status=none
up --idle-ms 0
at 0 65536 >got
same "failing: put back it is all there" "$(cksum <got)" "$(head -c 65536 wanted | cksum)"
expect "failing: and goes home" 0 "" flush failing
same "failing: the slow device alone" "$(cksum <slow)" "$(cksum <wanted)"
expect "failing: remove" 0 "" remove failing

# ---- with a place for the mark: a partition table, and zeros before the first partition ----
table() { sfdisk -q "$1" >out 2>&1 <<<'label: gpt
start=2048, size=100000
' || fail "failing: partitions" "sfdisk"; }
mark_of() { stays "['limits']['mark']"; }
rm -f fast slow
truncate -s 16M fast
truncate -s 64M slow
table slow
head -c 32M /dev/urandom | dd of=slow bs=1M seek=1 conv=notrunc iflag=fullblock status=none
cp slow wanted
"$xpcache" create --fast fast --slow slow --name failing --no-start >out 2>&1 || fail "failing: create" "it does not"
up --idle-ms 0
same "failing: the place is before the first partition" "$(mark_of)" 255
for n in 16 17 18 19; do at $((n << 20)) 65536 >out; done
until_is "['counters']['clean']" 64
sync_it		# the journal knows them

touch broken
head -c 65536 /dev/urandom >new
put $((17 << 20)) new && pass "failing: a write passes" || fail "failing: a write passes" "it is an error"
sync_it && pass "failing: and a flush" || fail "failing: and a flush" "it is an error"
dd if=new of=wanted bs=65536 seek=$((17 * 16)) conv=notrunc status=none
same "failing: the slow device has it" "$(dd if=slow bs=65536 skip=$((17 * 16)) count=1 status=none | cksum)" "$(cksum <new)"
same "failing: it passes, says status" "$(stays "['counters']['passthrough']")" 1
expect "failing: and in words" 0 "writes go to the slow device" status failing
at $((17 << 20)) 65536 >got
same "failing: it is read back" "$(cksum <got)" "$(cksum <new)"
at $((18 << 20)) 65536 >got
same "failing: what did not pass is read, too" "$(cksum <got)" "$(dd if=wanted bs=65536 skip=$((18 * 16)) count=1 status=none | cksum)"
same "failing: the mark is there" "$(dd if=slow bs=4096 skip=255 count=1 status=none | head -c 8)" xppassed
fails "failing: nobody writes over it" put $((255 * 4096)) new
pkill -9 -f "xpcached serve.*$dir"
rm broken
for _ in $(seq 100); do pgrep -f "xpcached serve.*$dir" >/dev/null || break; sleep 0.1; done
expect "failing: check tells" 0 "the next start drops what that has" check fast --slow slow
before=$(cksum <slow)
expect "failing: nothing is rescued over it" 3 "writes have passed the cache, when nothing was dirty: it has all, and fast is older: slow: nothing was changed" \
	flush --offline --rescue --fast fast --slow slow
expect "failing: whatever is preferred" 3 "writes have passed the cache" flush --offline --rescue --fast fast --slow slow --prefer-cache
same "failing: and nothing is written" "$(cksum <slow)" "$before"
"${xpcache}d" serve --fast fast --slow slow --socket s --control c --log l --detach --mark 255 >out 2>&1 && fail "failing: past the tool it does not start" "it does"
grep -q "writes have passed this cache" out && pass "failing: past the tool it does not start" || fail "failing: past the tool it does not start" "without a word"
# Nor by who does not know the place: the cache has it noted itself.
"${xpcache}d" serve --fast fast --slow slow --socket s --control c --log l --detach >out 2>&1 && fail "failing: nor without the option" "it does"
grep -q "writes have passed this cache, says sector 2040 of the slow device" out && pass "failing: nor without the option" || fail "failing: nor without the option" "without a word"
up --idle-ms 0
grep -qE "writes went to .* alone while .* was gone: 64 blocks .* dropped" out && pass "failing: start says so" || fail "failing: start says so" "$(cat out)"
same "failing: nothing is left of it" "$(stays "['counters']['clean']")" 0
same "failing: nor of the mark" "$(dd if=slow bs=4096 skip=255 count=1 status=none | tr -d '\0' | wc -c)" 0
at $((17 << 20)) 65536 >got
same "failing: what passed is read" "$(cksum <got)" "$(cksum <new)"

# A new table takes the place away, until the next start.
head -c 4096 slow >table
put 0 table && sync_it || fail "failing: the table is written" "it is not"
expect "failing: it goes home" 0 "" flush failing
touch broken
fails "failing: no write passes with a new table" put $((17 << 20)) new
expect "failing: stop it" 0 "no dirty block" stop failing --force
rm broken

# Dirty blocks: no write passes.
up --idle-ms 0
put $((18 << 20)) new && sync_it || fail "failing: dirty blocks" "not written"
touch broken
fails "failing: no write passes with dirty blocks" put $((17 << 20)) new
expect "failing: stop it then" 0 "dirty" stop failing --force
rm broken

# Something in the only places.
up --idle-ms 0
expect "failing: back home" 0 "" flush failing
expect "failing: and stopped" 0 "no dirty block" stop failing
printf x | dd of=slow bs=4096 seek=255 conv=notrunc status=none
printf x | dd of=slow bs=4096 seek=$((16384 - 17)) conv=notrunc status=none
up --idle-ms 0
same "failing: no place" "$(mark_of)" 0
expect "failing: stop the last" 0 "" stop failing
expect "failing: remove the last" 0 "" remove --fast fast failing

# The gap before the first partition is not free where GPT's entries were moved there.
rm -f fast slow
truncate -s 16M fast
truncate -s 64M slow
table slow
python3 - <<'PY'
import struct, zlib
with open("slow", "r+b") as f:
    f.seek(512)
    header = bytearray(f.read(92))
    f.seek(1024)
    entries = f.read(128 * 128)
    f.seek(2012 * 512)
    f.write(entries)
    struct.pack_into("<Q", header, 72, 2012)
    struct.pack_into("<I", header, 16, 0)
    struct.pack_into("<I", header, 16, zlib.crc32(header))
    f.seek(512)
    f.write(header)
PY
"$xpcache" create --fast fast --slow slow --name failing >out 2>&1 || fail "failing: create with moved entries" "it does not"
same "failing: the place is not among the entries" "$(mark_of)" $((16384 - 17))
expect "failing: remove that" 0 "" remove failing

# ---- places that cannot be read, and marks of caches that are no more ----
bad_start() { local bad=$1; shift; LD_PRELOAD=$badread BADREAD=$bad expect "$@"; }
with_place() {
	rm -f fast slow
	truncate -s 16M fast
	truncate -s 64M slow
	table slow
	head -c 32M /dev/urandom | dd of=slow bs=1M seek=1 conv=notrunc iflag=fullblock status=none
	"$xpcache" create --fast fast --slow slow --name failing --idle-ms 0 >out 2>&1 || fail "failing: create" "it does not"
}
ends() { "$xpcache" stop failing >out 2>&1 || fail "failing: stop" "it does not"; }

with_place
put $((18 << 20)) new && sync_it || fail "failing: dirty blocks" "not written"
ends
bad_start 16367 "failing: a bad block where no mark can be is nothing" 0 "^failing: started" start --fast fast --slow slow --idle-ms 0
ends
bad_start 255 "failing: a bad block where one may be, and dirty blocks" 3 "may have been written without the cache failing .it cannot be read at 1020 KiB.*, where that would be said.*--prefer-cache.*--discard-dirty" start --fast fast --slow slow
bad_start 255 "failing: nor are they rescued" 3 "slow: nothing was changed; --prefer-cache" flush --offline --rescue --fast fast --slow slow
bad_start 255 "failing: the dirty ones go home" 0 "are written back to slow" start --fast fast --slow slow --prefer-cache
same "failing: they are there" "$(dd if=slow bs=65536 skip=$((18 * 16)) count=1 status=none | cksum)" "$(cksum <new)"
same "failing: no place" "$(mark_of)" 0
ends
bad_start 255 "failing: from then on no mark was there" 0 "^failing: started" start --fast fast --slow slow
grep -q "without the cache" out && fail "failing: it is not said twice" "it is"
expect "failing: remove with a bad block" 0 "" remove failing

with_place
at $((18 << 20)) 65536 >out
put $((19 << 20)) new && sync_it && "$xpcache" flush failing >out 2>&1 || fail "failing: a flush" "it does not"
ends
bad_start 255 "failing: a bad block where one may be, and clean ones" 0 "may have been written without the cache.* dropped" start --fast fast --slow slow
expect "failing: remove that one too" 0 "" remove failing

# An older version must not believe what has a mark; what it has made gets no place.
with_place
ends
expect "failing: a feature says so" 0 "incompat +0x503\$" dump fast
"$forge" fast set incompat 0
up
same "failing: without it there is no place" "$(mark_of)" 0
expect "failing: remove the old" 0 "" remove failing

with_place
ends
up --idle-ms 0
at $((18 << 20)) 65536 >out
sync_it
touch broken
put $((17 << 20)) new && sync_it || fail "failing: it passes" "it does not"
rm broken
expect "failing: stop what has passed" 0 "" stop failing
grep -q "cannot note" out && fail "failing: stop what has passed" "$(cat out)"
same "failing: the mark stays" "$(dd if=slow bs=4096 skip=255 count=1 status=none | head -c 8)" xppassed
expect "failing: remove it stopped" 0 "" remove --fast fast --slow slow failing
same "failing: no mark after remove" "$(dd if=slow bs=4096 skip=255 count=1 status=none | tr -d '\0' | wc -c)" 0

# The slow device: what is dirty stays, and is tried again, later and later.
tries() { stays "['counters']['writeback_flushes']"; }
rm -f fast
truncate -s 16M fast
"$xpcache" create --fast fast --slow slow --name failing --no-start >out 2>&1 || fail "failing: create once more" "it does not"
failing_part=slow up --idle-ms 100
head -c 8192 /dev/urandom >new
tried=$(tries)
touch broken	# before the write, which might be home by then
put 8192 new && sync_it || fail "failing: a write to a slow device that fails" "it does"
sleep 4.5
early=$(tries)
sleep 4.5
late=$(($(tries) - early)) early=$((early - tried))
[ $early -ge 3 ] && [ $late -ge 1 ] && [ $late -lt $early ] && pass "failing: it is tried again, later and later" || fail "failing: it is tried again, later and later" "$early and $late times"
expect "failing: status says that too" 0 "trouble +blocks cannot be written back since 2[0-9]{3}-[0-9:-]* [0-9:]*; they stay" status failing
same "failing: and it is running" "$(stays "['state']") $(stays "['counters']['dirty']")" "running 2"
at 8192 8192 >got
same "failing: what is dirty can be read" "$(cksum <got)" "$(cksum <new)"
rm broken
expect "failing: the slow device is back" 0 "every block is written back" flush failing
"$xpcache" status failing >out
grep -q trouble out && fail "failing: no trouble any more" "it says so" || pass "failing: no trouble any more"
same "failing: what was dirty is there" "$(tail -c +8193 slow | head -c 8192 | cksum)" "$(cksum <new)"
expect "failing: and removed" 0 "" remove failing
