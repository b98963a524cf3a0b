# SPDX-License-Identifier: GPL-2.0-only
# A fast device that cannot be read everywhere: what start, flush, remove and check say, what they go on
# without, and what a rescue writes back. Its claims are compared with the truth, block by block.

rescue_uri="nbd+unix:///?socket=$dir/run/rescue.sock"
rescue_does() { PATH=/usr/bin:$PATH nbdsh -u "$rescue_uri" -c "$1" >out 2>&1 || fail "rescue: nbdsh" "$1"; }
rescue_kill() {
	kill_daemon "$dir/run/rescue"
}
bad() { LD_PRELOAD=$badread BADREAD=$1 BADREAD_ENDS=/fast BADREAD_HEALED=$dir/healed "${@:2}"; }
again() { rm -f healed; cp --sparse=always fast.then fast; cp slow.then slow; }
takes() { "$xpcache" check fast.then --json | python3 -c "import json, sys; print(json.load(sys.stdin)['journal']['$1'])"; }
ring_start=256	# of the fast device
place() { echo $((ring_start + $1 % ring_blocks)); }
slot_at() { "$xpcache" dump fast.then --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["superblock"]["data_start"] + [m["slot"] for m in d["mappings"] if m["lba"] == int(sys.argv[1])][0])' "$1"; }

# The truth: what each block of the slow device was last acknowledged and flushed to be, if it is dirty.
# The last block has three sectors, and is in the cache, as versions had it that cached such a block.
cat >truth.py <<'PY'
import random
SIZE, LAST = 64 << 20, 3 * 512
def block(lba, version):
    return random.Random(lba * 1000 + version).randbytes(4096)
def history():
    """What is written, in order: groups of (lba, blocks, version), a flush after each; version 0: zeros."""
    yield [(100, 64, 1), (1000, 16, 1)]
    yield [(300, 40, 1), (16384, 1, 1)]
    for n in range(24):
        yield [(2000 + 50 * n, 3, 1)]
    yield [(110, 20, 2), (305, 4, 0)]
    for n in range(12):
        yield [(4000 + 50 * n, 2, 1)]
    yield [(120, 3, 3), (1005, 2, 2)]
def data(lba, version):
    d = block(lba, version) if version else bytes(4096)
    return d[:LAST] if lba == SIZE // 4096 else d
def truth():
    t = {}
    for group in history():
        for lba, n, version in group:
            for i in range(n):
                t[lba + i] = data(lba + i, version)
    return t
PY
cat >judge.py <<'PY'
import json, sys
from truth import truth
def blocks(path):
    d = open(path, "rb").read()
    return [d[i:i + 4096] for i in range(0, len(d), 4096)]
def lbas(part, sectors):
    for r in part["ranges"]:
        first, end = r["sector"], r["sector"] + r["sectors"]
        assert first % 8 == 0 and (end % 8 == 0 or end == sectors), r
        yield from range(first // 8, (end + 7) // 8)
r, was, now, t = json.load(open("report")), blocks("slow.then"), blocks("slow"), truth()
sectors = (64 << 20) // 512 + 3
parts = {name: list(lbas(r[name], sectors)) for name in ("doubtful", "unreadable", "unwritable", "left")}
for name, part in parts.items():
    assert len(part) == len(set(part)) == r[name]["blocks"], name
listed = {lba for part in parts.values() for lba in part}
assert len(listed) == sum(map(len, parts.values())), "a block in two lists"
changed = {i for i in range(len(was)) if was[i] != now[i]}
home = changed - set(parts["doubtful"])
if "--forgets" in sys.argv:	# it may have them
    home -= set(parts["unwritable"])
assert r["home"] == r["written_back"], "the first name of it"
assert len(home) == r["written_back"], f"{len(home)} blocks are home, {r['written_back']} are said to be"
assert len(home) + len(listed) == r["dirty"], "the sum"
for lba in home:
    assert now[lba] == t.get(lba), f"block {lba} is not right"
for name in ("unreadable", "left", *([] if "--forgets" in sys.argv else ["unwritable"])):
    assert not changed & set(parts[name]), f"a block that is {name} was written"
assert changed <= home | set(parts["doubtful"]) | set(parts["unwritable"]), "another block was written"
unnamed = {lba for lba in t if lba not in listed and now[lba] != t[lba]}
assert len(unnamed) <= 348 * r["journal"]["lost"], f"{len(unnamed)} blocks are neither right nor listed"
print(*(f"{name} {n}" for name, n in [("home", len(home))] + [(n, len(p)) for n, p in parts.items()] if n), f"lost {r['journal']['lost']}")
PY

# rescued NAME CODE CLAIM OPTION...: by its report, which is compared with the truth; CLAIM is a pattern.
rescued() {
	local name=$1 code=$2 claim=$3 got
	shift 3
	"$xpcache" flush --offline --rescue --fast fast --slow slow --json "$@" >report 2>stderr
	got=$?
	cat report stderr >out
	same "rescue: $name: exit code" "$got" "$code"
	python3 judge.py ${BADSYNC:+--forgets} >claim 2>out
	if grep -qxE "$claim" claim; then pass "rescue: $name"; else fail "rescue: $name" "not \"$claim\" but: $(cat claim)"; fi
	if [ "$code" = 0 ]; then same "rescue: $name: no complaint" "$(cat stderr)" ""
	else same "rescue: $name: one line of complaint" "$(grep -c '^xpcache: [^:]*: [^:]*: ' stderr)" 1; fi
	cmp -s fast fast.then && pass "rescue: $name: the fast device is as it was" || fail "rescue: $name: the fast device is as it was" "it is not"
}
all=$(python3 -c 'from truth import truth; print(len(truth()))')

rm -f fast slow
truncate -s 16M fast
head -c $(((64 << 20) + 4096)) /dev/urandom >slow
"$xpcache" create --fast fast --slow slow --name rescue --no-start >out 2>&1 || fail "rescue: create" "it does not"
"$xpcache" start --fast fast --slow slow --idle-ms 0 --dirty-low 90 --dirty-high 95 >out 2>&1 || fail "rescue: start" "it does not"
rescue_does 'for n in range(8): h.pread(65536, (20 << 20) + n * 65536)'
rescue_does '
import sys
sys.path.insert(0, ".")
from truth import history, data
for group in history():
    for lba, n, version in group:
        if version:
            h.pwrite(b"".join(data(lba + i, version) for i in range(n)), lba * 4096)
        else:
            h.zero(n * 4096, lba * 4096)
    h.flush()'
rescue_kill
"$forge" fast set slow.sectors $((131072 + 3)) >out 2>&1 || fail "rescue: a short last block" ""
truncate -s $(((64 << 20) + 3 * 512)) slow
cp --sparse=always fast fast.then
cp slow slow.then
ring_blocks=$(field superblock.journal_blocks)
first=$(takes first_seq) last=$(takes last_seq) durable=$(takes durable_seq)
same "rescue: it was killed with that much dirty" "$("$xpcache" check fast --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["map"]["dirty"])')" "$all"
# What is lost of the chain below is among its first 12.
[ $((last - first)) -gt 12 ] && [ "$(takes older)" -gt 0 ] && pass "rescue: with a journal of many blocks" || fail "rescue: with a journal of many blocks" "$first to $last"

# ---- what is whole, or not needed ----
rescued "all can be read" 0 "home $all lost 0"
rescued "once more" 0 "home $all lost 0"
again
expect "rescue: in words" 0 "^  written_back +$all blocks" flush --offline --rescue --fast fast --slow slow
expect "rescue: it says that all is home" 0 "^rescue: every block is written back, the slow device is complete" flush --offline --rescue --fast fast --slow slow
expect "rescue: then it can be started" 0 "^rescue: started" start --fast fast --slow slow --idle-ms 0
rescue_does '
import sys
sys.path.insert(0, ".")
from truth import truth
for lba, d in truth().items(): assert h.pread(len(d), lba * 4096) == d, lba'
rescue_kill
for n in $((last + 9)) $((last + 30)) $((first - 1)); do
	again
	bad "$(place "$n")" rescued "a place that nobody needs, $((n - last)) behind the head" 0 "home $all lost 0"
done
again
bad "$(for n in $(seq $((last + 9)) $((last + 60))); do place "$n"; done | xargs)" rescued "52 places that nobody needs" 0 "home $all lost 0"
again
bad "$(slot_at 5120) $(slot_at 5125)" rescued "slots of what is clean" 0 "home $all lost 0"
again
bad "$(slot_at 305)" rescued "the slot of zeros" 0 "home $all lost 0"

# ---- the journal ----
for n in 1 2 8; do
	again
	bad "$(place $((last + n)))" rescued "place $n behind the head" 4 "doubtful $all lost 1"
done
again
bad "$(place $((last + 1))) $(place $((last + 3))) $(place $((last + 4)))" rescued "three behind the head" 4 "doubtful $all lost 3"
for n in $first $((first + 1)) $(((first + last) / 2)) $((durable - 1)) $durable; do
	again
	bad "$(place "$n")" rescued "block $((n - first)) of $((last - first)) of the chain" 4 "home [1-9][0-9]*( doubtful [0-9]+)? lost 1"
done
again
bad "$(place $((first + 2))) $(place $((first + 10))) $(place $((first + 11)))" rescued "three of the chain" 4 "home [1-9][0-9]* doubtful [0-9]+ lost 3"
again
bad "$(place "$last")" rescued "the head" 4 "doubtful [0-9]+ lost 1"
again
for n in $((first + 5)) $((first + 9)); do damage fast "$(place "$n")"; done
cp --sparse=always fast fast.kept
cp fast.kept fast.then
rescued "damaged blocks of the chain" 4 "home [1-9][0-9]* doubtful [0-9]+ lost 2"
damage fast.then "$(place $((first + 5)))"
damage fast.then "$(place $((first + 9)))"

# ---- slots, and the slow device ----
again
bad "$(slot_at 100)" rescued "a dirty slot" 4 "home $((all - 1)) unreadable 1 lost 0"
again
bad "$(slot_at 100) $(slot_at 101) $(slot_at 103) $(slot_at 16384) $(slot_at 2050)" rescued "five dirty slots" 4 "home $((all - 5)) unreadable 5 lost 0"
same "rescue: the ranges are told" "$(python3 -c 'import json; print([(r["sector"], r["sectors"]) for r in json.load(open("report"))["unreadable"]["ranges"]])')" \
	"[(800, 16), (824, 8), (16400, 8), (131072, 3)]"
again
bad "$(slot_at 100) $(slot_at 101) $(slot_at 16384)" expect "rescue: and in words" 4 "^ +sectors 800 to 815\$" flush --offline --rescue --fast fast --slow slow
for text in "unreadable +3 blocks .12.0 KiB.: the fast device cannot read them" " sectors 131072 to 131074\$" "xpcache: $((all - 3)) of $all dirty blocks are written back for certain: slow: "; do
	grep -qE "$text" out && pass "rescue says: $text" || fail "rescue says: $text" "it does not"
done
refuses() { LD_PRELOAD=$badread BADWRITE=$1 BADWRITE_ENDS=/slow "${@:2}"; }
again
refuses "115 116 1005 16384" rescued "blocks that the slow device does not take" 4 "home $((all - 4)) unwritable 4 lost 0"
again
BADWRITE="115 305" BADWRITE_ENDS=/slow bad "$(slot_at 117) $(place $((first + 8))) $(place $((last + 20))) 0" rescued "all of it at once" 4 \
	"home [1-9][0-9]* doubtful [0-9]+ unreadable 1 unwritable 2 lost 1"
same "rescue: one superblock is enough" "$(python3 -c 'import json; print(json.load(open("report"))["superblock"])')" True

again
LD_PRELOAD=$badread BADSYNC=1 BADWRITE_ENDS=/slow rescued "a slow device that keeps nothing" 4 "unwritable $all lost 0"

# ---- superblocks ----
for kind in unreadable zeros damaged scribbled; do
	again
	unreadable_blocks=""
	case $kind in
	unreadable) unreadable_blocks="0 16" ;;
	zeros) for n in 0 16; do dd if=/dev/zero of=fast bs=4096 seek=$n count=1 conv=notrunc status=none; done ;;
	damaged) damage fast 0; damage fast 16 ;;
	scribbled) for n in 0 16; do head -c 4096 /dev/urandom | dd of=fast bs=4096 seek=$n conv=notrunc status=none; done ;;
	esac
	cp --sparse=always fast.then fast.kept
	cp --sparse=always fast fast.then
	bad "$unreadable_blocks" expect "rescue: both superblocks $kind" 4 "neither superblock will do.* nothing tells whose slow device this is: fast: .*--force" \
		flush --offline --rescue --fast fast --slow slow
	cmp -s slow slow.then && pass "rescue: both $kind: nothing was written" || fail "rescue: both $kind: nothing was written" "it was"
	bad "$unreadable_blocks" rescued "both superblocks $kind, by force" 0 "home $all lost 0" --force
	same "rescue: both $kind: that is told" "$(python3 -c 'import json; print(json.load(open("report"))["superblock"])')" False
	truncate -s 4M short
	bad "$unreadable_blocks" expect "rescue: both $kind: a slow device that cannot be it" 3 "names blocks that this device cannot have" \
		flush --offline --rescue --fast fast --slow short --force
	same "rescue: both $kind: nothing was written there" "$(tr -d '\0' <short | wc -c)" 0
	mv fast.kept fast.then
done
again
bad "0 16 8 24 257 258" expect "rescue: nor the fingerprint: nothing tells how much of it the cache has" 4 \
	"nothing else tells how much of it the cache has: fast: nothing was changed; give --fast-size too: 16M if the cache has all of it" \
	flush --offline --rescue --fast fast --slow slow --force
bad "0 16 8 24 257 258" rescued "nor the fingerprint, nor the journal's first places" 0 "home $all lost 0" --force --fast-size 16M
again
bad "0 16" expect "rescue: start names it" 1 "superblock: cannot read block 0.*: fast: .*flush --offline --rescue --force --fast fast --slow slow" start --fast fast --slow slow
expect "rescue: of no cache" 5 "no xpcache on this device: slow.then" flush --offline --rescue --fast slow.then --slow slow --force
# A cache that was there before has left more blocks than the newest has written.
again
uuid=$(field superblock.uuid)
"$xpcache" create --fast fast --slow slow --name newest --no-start --force --discard-dirty >out 2>&1 || fail "rescue: a newer cache" "it cannot be made"
"$forge" fast write 200 5
newest=$(field superblock.uuid)
[ "$uuid" != "$newest" ] && pass "rescue: a newer cache" || fail "rescue: a newer cache" "the same"
bad "0 16 8 24" "$xpcache" flush --offline --rescue --fast fast --slow slow --force --fast-size 16M --json >report 2>out
same "rescue: of two the newest is taken" "$? $(python3 -c 'import json; r = json.load(open("report")); print(r["uuid"], r["written_back"])')" "0 $newest 5"
bad "0 16 257" "$xpcache" flush --offline --rescue --fast fast --slow slow --force --json >report 2>out
same "rescue: which the fingerprint says, too" "$(python3 -c 'import json; print(json.load(open("report"))["uuid"])')" "$newest"

# ---- Ctrl-C, and how long it takes ----
for sig in INT TERM; do
	again	# or what the first brought home counts as the second's
	LD_PRELOAD=$badread BADWRITE_ENDS=/slow BADWRITE_MS=100 "$xpcache" flush --offline --rescue --fast fast --slow slow --json >report 2>stderr &
	pid=$!
	sleep 1.5
	kill -$sig $pid
	wait $pid
	same "rescue: SIG$sig" "$?" 130
	python3 judge.py >claim 2>out
	grep -qxE "home [1-9][0-9]* left [1-9][0-9]* lost 0" claim && pass "rescue: SIG$sig: so much is home" || fail "rescue: SIG$sig: so much is home" "$(cat claim)"
	same "rescue: SIG$sig: it says so" "$(grep -cE "^xpcache: stopped, with [0-9]+ of $all dirty blocks written back for certain: slow: .*the same command" stderr)" 1
done
rescued "after that" 0 "home $all lost 0"
again
LD_PRELOAD=$badread BADWRITE_ENDS=/slow BADWRITE_MS=100 on_terminal "$xpcache" flush --offline --rescue --fast fast --slow slow >out
same "rescue: a progress bar after two seconds" "$(grep -c 'left.*ETA 0:0' out)" 1
"$xpcache" flush --offline --rescue --fast fast --slow slow >/dev/full 2>stderr
same "rescue: to a full disk" "$? $(cut -c1-31 stderr)" "1 xpcache: cannot write: No space"

# ---- what it is refused for ----
again
printf x | dd of=slow bs=1 seek=$((1000 << 12)) conv=notrunc status=none
cp slow slow.foreign
expect "rescue: another slow device" 3 "not the slow device of rescue: it has 8192 sectors" flush --offline --rescue --fast fast --slow short
expect "rescue: the fast device as the slow one" 3 "on the same disk|it has .* sectors" flush --offline --rescue --fast fast --slow fast
python3 - <<'PY'
with open("slow", "r+b") as f:	# where a clean block lies
    f.seek(20 << 20)
    f.write(bytes(1 << 19))
PY
cp slow slow.foreign
expect "rescue: of a disk that was written without the cache" 3 "slow: nothing was changed; --prefer-cache" flush --offline --rescue --fast fast --slow slow
grep -q "written without the cache .it holds something else at .*, while $all blocks .* are dirty on fast" out && pass "rescue: it says where" || fail "rescue: it says where" "it does not"
cmp -s slow slow.foreign && pass "rescue: and nothing is written" || fail "rescue: and nothing is written" "it is"
expect "rescue: over that" 0 "every block is written back" flush --offline --rescue --fast fast --slow slow --prefer-cache
again
"$xpcache" start --fast fast --slow slow --idle-ms 0 >out 2>&1
expect "rescue: of what runs" 3 "(running as rescue|in use)" flush --offline --rescue --fast fast --slow slow
rescue_kill
again
expect "rescue: without --offline" 2 "for a cache that does not run: --rescue: give --offline too" flush rescue --rescue
expect "rescue: without the slow device" 2 "the slow device is missing" flush --offline --rescue --fast fast
expect "rescue: JSON of another flush" 2 "only a rescue has figures: --json" flush --offline --json --fast fast --slow slow
expect "rescue: with what it loses" 2 "--accept-loss: give --rescue alone" flush --offline --rescue --accept-loss --fast fast --slow slow
expect "rescue: with the opposite" 2 "--rescue says the opposite" flush --offline --rescue --discard-dirty --fast fast --slow slow
expect "rescue: what is lost of all" 2 "said of one cache .*--accept-loss: name the cache" start --all --accept-loss
expect "rescue: of what runs, by a name" 2 "said of one cache .*--accept-older: give --offline too" flush rescue --accept-older
cmp -s slow slow.then && pass "rescue: nothing was written by these" || fail "rescue: nothing was written by these" "it was"

# ---- a remote slow device ----
again
nbdkit -U "$dir/rescue.nbd" -P rescue.pid file slow
for _ in $(seq 100); do [ -s rescue.pid ] && break; sleep 0.05; done
bad "$(slot_at 100)" "$xpcache" flush --offline --rescue --fast fast --slow "nbd+unix:///?socket=$dir/rescue.nbd" --json >report 2>out
same "rescue: by NBD: exit code" "$?" 4
kill "$(cat rescue.pid)"
while kill -0 "$(cat rescue.pid)" 2>/dev/null; do sleep 0.05; done
python3 judge.py >claim 2>out
same "rescue: by NBD" "$(cat claim)" "home $((all - 1)) unreadable 1 lost 0"

# ---- start, flush and remove go on without ----
# compared NAME: through the cache, with so many blocks that may be wrong
compared() {
	PATH=/usr/bin:$PATH nbdsh -u "$rescue_uri" -c '
import sys
sys.path.insert(0, ".")
from truth import truth
print(sum(h.pread(len(d), lba * 4096) != d for lba, d in truth().items()))' >wrong 2>out
	[ -s wrong ] && [ "$(cat wrong)" -le "$2" ] && pass "$1" || fail "$1" "$(cat wrong) blocks are wrong"
}
window=$(place $((last + 2))) hole=$(place $((first + 8)))
for where in "$window behind-the-head 0" "$hole chain 348"; do
	read -r block what most <<<"$where"
	again
	for words in "start" "flush --offline" "remove rescue"; do
		bad "$block" expect "rescue: $what: ${words%% *} refuses" 4 \
			"journal block [0-9]+ cannot be read .block $block of the fast device.: .* lost.*: fast: nothing was changed; xpcache start --accept-loss --fast fast --slow slow goes on; xpcache flush --offline --rescue --fast fast --slow slow writes back" \
			$words --fast fast --slow slow
	done
	cmp -s fast fast.then && cmp -s slow slow.then && pass "rescue: $what: nothing was changed" || fail "rescue: $what: nothing was changed" "it was"
	bad "$block" expect "rescue: $what: dump refuses" 4 "cannot be read .block $block of .*: fast: nothing was changed; xpcache start --accept-loss" dump fast
	bad "$block" "${xpcache}d" serve --fast fast --slow slow --control run/none.control >out 2>&1
	same "rescue: $what: the daemon refuses" "$? $(grep -cE "journal block .* cannot be read .block $block .*: $dir/fast: nothing was changed; xpcache start --accept-loss --fast $dir/fast --slow $dir/slow goes on" out)" "4 1"
	bad "$block" expect "rescue: $what: start goes on" 0 "^rescue: goes on without 1 journal block: at most 348 blocks may be older than was promised, or missing; [0-9,]+ blocks? .* may be older, or another block's\$" \
		start --accept-loss --fast fast --slow slow --idle-ms 0 --dirty-low 90 --dirty-high 95
	compared "rescue: $what: all else is there" "$most"
	rescue_kill
	bad "$block" expect "rescue: $what: it is asked once" 0 "^rescue: started" start --fast fast --slow slow
	compared "rescue: $what: and stays so" "$most"
	"$xpcache" stop rescue >out 2>&1 || fail "rescue: $what: stop" "it does not"
	expect "rescue: $what: what was erased is no damage" 0 "sound" check fast
	again
	bad "$block" expect "rescue: $what: flush goes on" 0 "^rescue: every block is written back" flush --offline --accept-loss --fast fast --slow slow
	again
	bad "$block" expect "rescue: $what: remove goes on" 0 "^rescue: removed" remove rescue --accept-loss --fast fast --slow slow
done
again
expect "rescue: nothing to accept" 0 "^rescue: nothing is lost that would have to be accepted" start --accept-loss --fast fast --slow slow
rescue_kill

# The commands that are named, as they stand there.
for name in start rescue; do
	again
	mkdir -p "it's here"
	cp --sparse=always fast slow "it's here"
	cd "it's here" || exit 1
	bad "$window" "$xpcache" start --fast "$PWD/fast" --slow "$PWD/slow" >../out 2>../stderr
	case $name in
	start) command=$(sed 's/.*nothing was changed; \(xpcache start .*\) goes on; .*/\1/' ../stderr) ;;
	rescue) command=$(sed 's/.* goes on; \(xpcache flush .*\) writes back .*/\1/' ../stderr) ;;
	esac
	cd ..
	PATH=$dir/bin:$PATH bad "$window" bash -c "$command" >out 2>&1
	same "rescue: the command that is named, $name" "$? $(grep -cE "^rescue: started|doubtful +$all blocks" out)" "$([ $name = start ] && echo 0 || echo 4) 1"
	[ $name = rescue ] || rescue_kill
done
rm -rf "it's here"

# ---- after a stop in order ----
again
"$xpcache" start --fast fast --slow slow --idle-ms 0 --dirty-low 90 --dirty-high 95 >out 2>&1
rescue_does 'h.pwrite(b"T" * 20480, 0); h.flush()'
"$xpcache" stop rescue >out 2>&1 || fail "rescue: stop" "it does not"
next=$(($(field journal.seq) + 1))
rm -f healed
bad "$(place $next) $(place $((next + 4)))" expect "rescue: at rest nothing newer can have been there" 0 "^rescue: every block is written back" flush --offline --rescue --fast fast --slow slow
same "rescue: what is noted of the disk is home" "$(head -c 20480 slow | tr -d T | wc -c)" 0
expect "rescue: that is nobody else's write" 0 "^rescue: every block is written back" flush --offline --rescue --fast fast --slow slow
expect "rescue: nor is it for a start" 0 "^rescue: started" start --fast fast --slow slow
"$xpcache" stop rescue >out 2>&1
head -c 4096 /dev/zero | dd of=slow bs=4096 conv=notrunc status=none
expect "rescue: but this is" 3 "written without the cache .it holds something else at 0 B" flush --offline --rescue --fast fast --slow slow

# ---- the slot of a write that nobody was promised ----
# newest_slot LBA: of the record in the newest journal block
newest_slot() { python3 -c '
import struct, sys
block, data, lba = map(int, sys.argv[1:])
head = open("fast", "rb").read()[block * 4096:(block + 1) * 4096]
records = [struct.unpack_from("<QI", head, 64 + 24 * i) for i in range(struct.unpack_from("<H", head, 4)[0])]
print(data + [slot for word, slot in records if word & (1 << 40) - 1 == lba][-1])' "$(place "$(field journal.seq)")" "$(field superblock.data_start)" "$1"; }
older() {
	fresh --name rescue
	ring_blocks=$(field superblock.journal_blocks)
	"$forge" fast write 50 4
	"$forge" fast cut 51 1
	slot=$(newest_slot 51)
	rm -f healed
}
mapped() { "$xpcache" dump fast --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["superblock"]["data_start"] + [m["slot"] for m in d["mappings"] if m["lba"] == 51][0])'; }
older
[ "$(mapped)" != "$slot" ] && pass "rescue: its data did not land" || fail "rescue: its data did not land" "it did"
was=$(mapped)
bad "$slot" expect "rescue: check names its block" 4 "block 51 was written to slot [0-9]+, which cannot be read.*: fast: xpcache start rescue --fast fast --slow DEV takes it as it is, with --accept-older" check fast
bad "$slot" "$xpcache" flush --offline --rescue --fast fast --slow slow --json >report 2>out
same "rescue: it is unreadable" "$? $(python3 -c 'import json; r = json.load(open("report")); print(r["written_back"], r["unreadable"])')" "4 3 {'blocks': 1, 'ranges': [{'sector': 408, 'sectors': 8}]}"
bad "$slot" expect "rescue: it starts" 0 "^rescue: started" start --fast fast --slow slow --idle-ms 0
rescue_kill
same "rescue: with that slot" "$(mapped)" "$slot"
# Readable again it holds something else, and that is nobody's.
before=$(sha256sum <slow)
expect "rescue: it is unread" 0 '"lba":51,"slot":[0-9]+,"dirty":true,"zeros":false,"unread":true' dump fast --json
expect "rescue: check names it" 4 "block 51 was written to slot [0-9]+, which cannot be read.*: fast: xpcache start rescue --fast fast --slow DEV takes it as it is: write" check fast
expect "rescue: there is no older version" 0 "nothing is lost that would have to be accepted" start --accept-older --fast fast --slow slow --idle-ms 0
rescue_does 'h.pwrite(b"b" * 4096, 52 * 4096); h.flush()
try:
    h.pread(4096, 51 * 4096)
    print("read")
except nbd.Error as e:
    print(e.errno)'
same "rescue: it is an error whatever the slot holds" "$(cat out)" "EIO"
rescue_kill
"$xpcache" flush --offline --rescue --fast fast --slow slow --json >report 2>out
same "rescue: it is not brought home" "$? $(python3 -c 'import json; print(json.load(open("report"))["unreadable"])')" "4 {'blocks': 1, 'ranges': [{'sector': 408, 'sectors': 8}]}"
[ "$(sha256sum <slow)" != "$before" ] && pass "rescue: all else is" || fail "rescue: all else is" "nothing was written"
expect "rescue: it starts once more" 0 "^rescue: started" start --fast fast --slow slow --idle-ms 0
rescue_kill
bad "0 16" "$xpcache" flush --offline --rescue --fast fast --slow slow --force --json >report 2>out
same "rescue: nor by the journal alone, that it is unread" "$? $(python3 -c 'import json; print(json.load(open("report"))["unreadable"])')" "4 {'blocks': 1, 'ranges': [{'sector': 408, 'sectors': 8}]}"
rm -f healed
expect "rescue: it starts, and cannot bring it home" 0 "^rescue: started" start --fast fast --slow slow --idle-ms 0
expect "rescue: flush says so" 1 "^xpcache: 1 block .4.00 KiB. could not be read when it was started, and stay dirty: rescue: all else is written back; write them anew" flush rescue
expect "rescue: and so does its status" 0 "trouble   1 block .* could not be read when the cache was started" status rescue
rescue_does 'h.pwrite(b"n" * 4096, 51 * 4096); h.flush(); print(h.pread(4096, 51 * 4096) == b"n" * 4096)'
same "rescue: until it is written anew" "$(cat out)" "True"
rescue_kill
expect "rescue: then it is sound" 0 "sound" check fast
older
bad "$slot" expect "rescue: and with the older version" 0 "^rescue: goes on without the newest of 1 block .4.00 KiB., whose older version holds\$" start --accept-older --fast fast --slow slow --idle-ms 0
rescue_kill
same "rescue: which holds from then on" "$(mapped)" "$was"

# ---- a slot that gives something else, of a cache that verifies ----
fresh --name rescue
expect "rescue: it verifies" 0 "^rescue: started" start --fast fast --slow slow --idle-ms 0 --verify 1
rescue_does 'h.pwrite(b"n" * 16384, 50 * 4096); h.flush()'
rescue_kill
damage fast "$(mapped)"
"$xpcache" flush --offline --rescue --fast fast --slow slow --json >report 2>out
same "rescue: what has rotted is not home" "$? $(python3 -c 'import json; r = json.load(open("report")); print(r["written_back"], r["unreadable"])')" "4 3 {'blocks': 1, 'ranges': [{'sector': 408, 'sectors': 8}]}"
same "rescue: nor was it written" "$(dd if=slow bs=4096 skip=51 count=1 status=none | tr -d '\0' | wc -c)" 0
bad "0 16" "$xpcache" flush --offline --rescue --fast fast --slow slow --force --json >report 2>out
same "rescue: nor by the journal alone" "$? $(python3 -c 'import json; r = json.load(open("report")); print(r["written_back"], r["unreadable"])')" "4 3 {'blocks': 1, 'ranges': [{'sector': 408, 'sectors': 8}]}"

# ---- a slot that has a part of its block: what it lacks need not be readable ----
fresh --name rescue
expect "rescue: of a part" 0 "^rescue: started" start --fast fast --slow slow --idle-ms 0
rescue_does 'h.pwrite(b"p" * 1024, 50 * 4096 + 512); h.flush()'
rescue_kill
slot=$("$xpcache" dump fast --json | python3 -c 'import json, sys
d = json.load(sys.stdin); print(8 * (d["superblock"]["data_start"] + d["mappings"][0]["slot"]))')
lacking() { LD_PRELOAD=$badread BADREAD_SECTORS=$((slot + $1)) BADREAD_ENDS=/fast "${@:2}"; }
lacking 6 expect "rescue: check reads what the slot has" 0 "data: 1 block .4.00 KiB. read" check fast --data
lacking 6 expect "rescue: and so does a rescue" 0 "every block is written back" flush --offline --rescue --fast fast --slow slow
same "rescue: that is home" "$(dd if=slow bs=4096 skip=50 count=1 status=none | tr -d '\0')" "$(printf 'p%.0s' {1..1024})"
lacking 2 expect "rescue: check of what it has" 4 "slot .* cannot be read, Input/output error: sector 400 .*dirty: its newest contents are lost" check fast --data
lacking 2 expect "rescue: what it has is lost" 4 "unreadable +1 block" flush --offline --rescue --fast fast --slow slow
rm -f fast slow fast.then slow.then fast.kept slow.foreign short report claim healed
