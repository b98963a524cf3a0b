# SPDX-License-Identifier: GPL-2.0-only
# A slow device that is longer or shorter than it was: every command takes it as it is, or says why not.

size_uri="nbd+unix:///?socket=$dir/run/size.sock"
size_does() { PATH=/usr/bin:$PATH timeout 300 nbdsh -u "$size_uri" -c "$1" >out 2>&1 || fail "sizes: nbdsh" "$1"; }
size_kill() {
	kill_daemon "$dir/run/size"
}
size_start() { "$xpcache" start --fast fast --slow slow --idle-ms 0 "$@" >out 2>&1 || fail "sizes: start" "$*"; }
size_stop() { rests size; }

# size_fresh SECTORS: a cache of that, full of bytes that say where they are, two ranges dirty and one clean. The last
# sectors that there are, are written too.
size_fresh() {
	rm -f fast slow
	truncate -s 64M fast
	python3 -c 'import sys
n = int(sys.argv[1])
open("slow", "wb").write(b"".join(b"%511d\n" % s for s in range(n)))' "$1"
	"$xpcache" create --fast fast --slow slow --name size --no-start >out 2>&1 || fail "sizes: create" ""
	size_start
	size_does "end = $1 * 512
for at in (40 << 12, 200 << 12):
    h.pread(8 << 12, at)	# clean
h.pwrite(b'D' * (20 << 12), 100 << 12)
h.pwrite(b'E' * 1024, end - 1024)
h.pwrite(b'F' * 512, 512)
h.flush()"
}

# size_longer FROM TO: the file has so many sectors more, with data that no cache has seen. Past the page cache, as the daemon
# does: a page that is dirty there makes the kernel fail a flush of who writes to it directly.
size_longer() {
	truncate -s $(($1 * 512)) slow
	python3 -c 'import sys
sys.stdout.write("".join("%510dX\n" % s for s in range(*map(int, sys.argv[1:]))))' "$1" "$2" |
		dd of=slow bs=512 seek="$1" iflag=fullblock oflag=direct conv=notrunc status=none
}

# size_judge FILE FROM TO: it holds what was acknowledged, and beyond what was there.
size_judge() { python3 -c 'import sys
path, a, b = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
have = open(path, "rb").read()
want = bytearray(b"".join(b"%511d\n" % s for s in range(a)) + b"".join(b"%510dX\n" % s for s in range(a, b)))
for at, n, c in (((100 << 12), (20 << 12), b"D"), ((a << 9) - 1024, 1024, b"E"), (512, 512, b"F")):
    want[at:at + n] = c * n
bad = [s for s in range(max(len(have), len(want)) >> 9) if have[s << 9:(s + 1) << 9] != want[s << 9:(s + 1) << 9]]
print("right" if not bad else f"{len(bad)} sectors differ, from {bad[0]} on")' "$@"; }
size_read() { size_does "s = h.get_size(); open('read', 'wb').write(b''.join(h.pread(min(1 << 20, s - at), at) for at in range(0, s, 1 << 20)))"; }

# From and to what: multiples of a block, and others; within the last block, to its end, and beyond.
for sizes in "4096 8192" "4093 4095" "4093 4096" "4093 6001" "4096 4099"; do
	read -r from to <<<"$sizes"
	name="longer, $from to $to sectors"
	size_fresh "$from"
	size_stop
	size_longer "$from" "$to"
	expect "$name: check" 0 "it has $to sectors, and had $from; the next start takes it as it is" check fast --slow slow
	expect "$name: start" 0 "size: slow has $to sectors, and had $from: taken as it is" start --fast fast --slow slow --idle-ms 0
	size_read
	same "$name: what clients read" "$(size_judge read "$from" "$to")" "right"
	expect "$name: nothing was written without it" 0 "^size: every block is written back" flush size
	same "$name: the slow device alone" "$(size_judge slow "$from" "$to")" "right"
	size_stop
	same "$name: the superblock" "$(field superblock.slow.sectors)" "$to"

	size_fresh "$from"
	size_kill
	size_longer "$from" "$to"
	size_start
	size_read
	same "$name, after a kill: what clients read" "$(size_judge read "$from" "$to")" "right"
	size_kill

	size_fresh "$from"
	size_stop
	size_longer "$from" "$to"
	cp fast fast.then; cp slow slow.then
	expect "$name: flush --offline" 0 "size: every block is written back" flush --offline --fast fast --slow slow
	same "$name: flush --offline" "$(size_judge slow "$from" "$to")" "right"
	cp fast.then fast; cp slow.then slow
	expect "$name: rescue" 0 "size: every block is written back" flush --offline --rescue --fast fast --slow slow
	same "$name: rescue" "$(size_judge slow "$from" "$to")" "right"
	cp fast.then fast; cp slow.then slow
	expect "$name: remove" 0 "size: removed" remove size --fast fast --slow slow
	same "$name: remove" "$(size_judge slow "$from" "$to")" "right"
done

# A disk that says nothing of itself is known by what it holds, also after a kill: most of what was noted at the first start has
# been written back since, or was blank.
for blank in no yes; do
	size_fresh 16384
	size_stop
	if [ $blank = yes ]; then
		rm fast slow
		truncate -s 64M fast
		truncate -s 8M slow
		"$xpcache" create --fast fast --slow slow --name size --no-start >out 2>&1 || fail "sizes: create" ""
	fi
	size_start
	size_does "h.pwrite(b'G' * (6 << 20), 1 << 20); h.flush()"
	expect "longer, $blank blank, mostly written: home" 0 "every block is written back" flush size
	size_does "h.pwrite(b'H' * (5 << 20), 2 << 20); h.flush()"
	size_kill
	truncate -s 9M slow
	cp fast fast.then; cp slow slow.then
	size_start
	expect "longer, $blank blank, mostly written: home again" 0 "every block is written back" flush size
	same "longer, $blank blank, mostly written: right" "$(tail -c +1048577 slow | head -c 6291456 | tr -d GH | wc -c)" "0"
	size_stop
	cp fast.then fast
	rm slow; truncate -s 9M slow
	expect "longer, $blank blank: another disk is not taken for it" 3 "not the slow device of size: it has 18432 sectors, .* and holds other things" \
		start --fast fast --slow slow
done

# ---- while it runs, beside a client that writes and reads what it wrote ----

cat >writer.py <<'PY'
import random, time
rng, version, end = random.Random(7), {}, time.time() + 60
def data(s, v): return random.Random(s * 99991 + v).randbytes(512)
n, size = 0, h.get_size() >> 9
import os
while not os.path.exists("enough") and time.time() < end:
    s = rng.choice((rng.randrange(size), size - 1 - rng.randrange(12), rng.randrange(64)))
    if rng.randrange(2):
        k = min(1 + rng.randrange(16), size - s)
        for i in range(s, s + k): version[i] = version.get(i, 0) + 1
        h.pwrite(b"".join(data(i, version[i]) for i in range(s, s + k)), s << 9)
    elif s in version:
        assert h.pread(512, s << 9) == data(s, version[s]), s
    if n % 50 == 0: h.flush()
    n += 1
h.flush()
for s, v in version.items(): assert h.pread(512, s << 9) == data(s, v), s
import pickle
pickle.dump(version, open("written", "wb"))
PY
check_writer='
import pickle, random
for s, v in pickle.load(open("written", "rb")).items():
    assert h.pread(512, s << 9) == random.Random(s * 99991 + v).randbytes(512), s'

size_fresh 4096
rm -f enough written
PATH=/usr/bin:$PATH nbdsh -u "$size_uri" -c 'exec(open("writer.py").read())' >writer.out 2>&1 & writer=$!
# Whole pages: of a file that grows from within one the kernel writes zeros through the page cache, and then fails a flush of
# who writes there directly. What becomes of a short last block the simulator looks at.
for sizes in "4096 4104" "4104 5000" "5000 5008"; do
	read -r from to <<<"$sizes"
	sleep 0.5
	size_longer "$from" "$to"
	expect "running, $from to $to sectors" 0 "^size: .*slow has $to sectors, and had $from: clients see that when they connect again" resize size
	size_does "assert h.get_size() == $to << 9
assert h.pread(512, ($to - 1) << 9) == b'%510dX\\n' % ($to - 1)"
done
expect "running: as before" 0 "slow has 5008 sectors, as before" resize size
sleep 0.5
touch enough
wait $writer
same "running: who wrote meanwhile found all of it" "$? $(cat writer.out)" "0 "
size_does 'h.pwrite(b"Z" * 512, 5000 << 9); h.flush()'
size_kill
same "running: the superblock, after a kill" "$(field superblock.slow.sectors)" "5008"
size_start
size_does "$check_writer
assert h.pread(512, 5000 << 9) == b'Z' * 512
assert h.pread(512, 4096 << 9) == b'%510dX\\n' % 4096"
truncate -s $((5000 * 512)) slow
expect "running: shorter" 3 "it is shorter than it was, and size runs: .*xpcache stop size, then xpcache start" resize size
truncate -s $((5008 * 512)) slow
expect "running: no such cache" 5 "" resize nobody
size_stop

# ---- shorter ----

size_fresh 4096		# dirty up to the end
size_stop
truncate -s $((4000 * 512)) slow
cp fast fast.then; cp slow slow.then
advice="make it as large as it was; or xpcache flush --offline --rescue --fast fast --slow slow writes back what fits .*xpcache start --discard-dirty --fast fast --slow slow"
short="it has 4000 sectors, and had 4096: 1 block .4.00 KiB. of size, dirty, reach past its end, in sectors 4088 to 4095: slow: nothing was changed; $advice"
expect "shorter: start" 3 "$short" start --fast fast --slow slow
expect "shorter: flush --offline" 3 "$short" flush --offline --fast fast --slow slow
expect "shorter: remove" 3 "$short" remove size --fast fast --slow slow
expect "shorter: check" 4 "1 block .4.00 KiB. of the cache, 1 of them dirty, reach past its end, the first is sector 4088: fast: nothing was changed; $advice" check fast --slow slow
timeout 20 bin/xpcached serve --fast fast --slow slow --socket "$dir/run/short.sock" --control "$dir/run/short.control" >out 2>&1
same "shorter: xpcached serve" "$?, $(grep -c 'has 4000 sectors, and had 4096: 1 dirty blocks reach past its end, in sectors 4088 to 4095' out)" "1, 1"
same "shorter: nothing is written" "$(cmp fast fast.then && cmp slow slow.then && echo same)" "same"
expect "shorter: rescue" 4 "21 of 22 dirty blocks are written back for certain" flush --offline --rescue --fast fast --slow slow
"$xpcache" flush --offline --rescue --fast fast --slow slow --json >report 2>/dev/null
same "shorter: the rescue lists what does not fit" "$(python3 -c 'import json; r = json.load(open("report")); print(r["written_back"], r["unwritable"])')" \
	"21 {'blocks': 1, 'ranges': [{'sector': 4088, 'sectors': 8}]}"
expect "shorter: start without them" 0 "size: 22 blocks .* are dropped, as you asked, 1 of which reach past the end of slow" \
	start --fast fast --slow slow --discard-dirty
size_read
same "shorter: what the rescue brought home is there" "$(cmp slow read && tail -c +409601 read | head -c 81920 | tr -d D | wc -c)" "0"
size_stop
cp fast.then fast; cp slow.then slow
truncate -s $((4096 * 512)) slow
expect "shorter: as large as it was" 0 "size: started" start --fast fast --slow slow --idle-ms 0
expect "shorter: as large as it was: flush" 0 "every block is written back" flush size
same "shorter: as large as it was: nothing is missing" "$(tail -c 1024 slow | tr -d E | wc -c)" "0"
size_stop

# Nothing dirty is beyond: it is taken, and what was cached there is not believed when it is longer again.
size_fresh 4096
size_does "h.pread(8 << 12, 480 << 12)"
expect "shorter, clean: home" 0 "every block is written back" flush size
size_stop
truncate -s $((3845 * 512)) slow	# 480.6 blocks
expect "shorter, clean: check" 0 "blocks .* of the cache, clean, reach past its end; the next start drops them" check fast --slow slow
expect "shorter, clean: start" 0 "slow has 3845 sectors, and had 4096: taken as it is" start --fast fast --slow slow --idle-ms 0
# One sector of a block was written: that is not kept once it is home.
expect "shorter, clean: what is inside stays" 0 "clean +36 blocks" status size
size_stop
expect "shorter, clean: sound" 0 "sound" check fast --slow slow --data
same "shorter, clean: what is inside stays cached" "$("$xpcache" dump fast --json | python3 -c 'import json, sys
lbas = [m["lba"] for m in json.load(sys.stdin)["mappings"]]
print(max(lbas) < 480, 40 in lbas, 100 in lbas)')" "True True True"
size_longer 3845 4096
size_start
size_read
same "shorter, then longer: what is there" "$(cmp slow read && echo same)" "same"
size_stop

# ---- a larger fast device: everything goes home, and the cache is laid out anew ----

# larger_fresh: its journal has gone round once
larger_fresh() {
	size_fresh 4096
	size_does "for i in range(500): h.pwrite(b'D' * 4096, 100 << 12, nbd.CMD_FLAG_FUA)"
}

larger_fresh
truncate -s 96M fast
expect "larger: while it runs it is told" 0 "^size: .*fast has grown: xpcache stop size, then xpcache resize size --fast .*fast --slow .*slow, use that" resize size
size_stop
cp --sparse=always fast fast.then; cp slow slow.then
expect "larger: resize" 0 "^size: fast is laid out anew, for 7,936 blocks .* more: every block is written back, and nothing is cached yet" \
	resize size --fast fast --slow slow
same "larger: every block is written back" "$(size_judge slow 4096 4096)" "right"
truncate -s 96M larger
"$xpcache" create --fast larger --slow slow --no-start >out 2>&1 || fail "larger: create" ""
same "larger: laid out as by create" "$(for f in fast larger; do "$xpcache" dump $f --json | python3 -c 'import json, sys
sb = json.load(sys.stdin)["superblock"]
print([sb[k] for k in ("fast_blocks", "journal_start", "journal_blocks", "data_start", "nr_slots")])'; done | uniq | wc -l)" 1
expect "larger: sound" 0 "sound" check fast --slow slow --data
expect "larger: once more" 0 "^size: fast is as large as it was; xpcache start size --fast fast --slow slow takes the slow device as it is" \
	resize --fast fast --slow slow
printf X | dd of=slow bs=1 conv=notrunc seek=3000 status=none
size_start
size_read
same "larger: what somebody wrote meanwhile is seen" "$(tail -c +3001 read | head -c 1)" "X"
size_does "h.pwrite(b'G' * (1 << 20), 1 << 20); h.flush()"
size_stop
expect "larger: it goes on" 0 "sound" check fast --slow slow

# A few blocks that no journal is longer for: what is cached stays.
size_start
expect "a little larger: home" 0 "every block is written back" flush size
size_stop
truncate -s $(((96 << 20) + (10 << 12))) fast
expect "a little larger: resize" 0 "^size: fast takes 10 blocks .* more: what is cached stays" resize size --fast fast --slow slow
size_start
expect "a little larger: what is cached stays" 0 "clean +[1-9][0-9,]* blocks" status size
size_stop
expect "a little larger: sound" 0 "sound" check fast --slow slow --data

# Killed before each of its writes: it is what it was, or empty, or larger; reads are right, and nobody calls it damaged
# but in the moments before the last of what was before is erased.
n=0 seen="" verdicts=""
while [ $n -lt 60 ]; do
	n=$((n + 1))
	cp --sparse=always fast.then fast; cp slow.then slow
	DIEAT=$n DIEAT_OF=xpcache LD_PRELOAD=$dieat "$xpcache" resize size --fast fast --slow slow >out 2>&1 && break
	! "$xpcache" status size >out 2>&1 || rests size
	"$xpcache" check fast >out 2>&1
	verdicts="$verdicts $?"
	size_start
	size_read
	cp slow was; cp read slow
	seen="$seen$(size_judge read 4096 4096),"
	cp was slow
	size_stop
done 2>/dev/null
same "larger, killed before each write: what clients read" "$(tr , '\n' <<<"$seen" | sed '/^$/d' | sort | uniq -c | wc -l), ${seen%%,*}" "1, right"
same "larger, killed before each write: check" "$(sed -E 's/^( 0){15,}/ sound/' <<<"$verdicts")" " sound 4 4 4 0 0 0 0"

rm -f fast slow fast.then slow.then read report larger was
