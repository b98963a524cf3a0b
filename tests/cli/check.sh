# SPDX-License-Identifier: GPL-2.0-only
# check: for each kind of damage a cache with exactly that, and the words for it;
# what a power cut leaves is told and is no damage; nothing is ever written.

# One finding, and the exit code for damage.
damaged() {
	local name=$1 text=$2
	shift 2
	expect "$name" 4 "$text" check fast "$@"
	same "$name: that alone" "$(grep -c '^  damaged ' out)" "1"
}

# Nothing wrong, and said so.
sound() {
	local name=$1 text=$2
	shift 2
	expect "$name" 0 "$text" check fast "$@"
	same "$name: sound" "$(grep -c '^fast: sound$' out) $(grep -c '^  damaged ' out)" "1 0"
}

# of check's JSON, by a path such as journal.torn
found() {
	"$xpcache" check fast --json "${@:2}" 2>/dev/null | python3 -c '
import json, sys
v = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    v = len(v) if key == "length" else v[key]
print(v)' "$1"
}

# Three lives: plain writes, FUA writes, reads; a journal of some blocks.
lived() {
	fresh
	"$forge" fast write 10 5
	"$forge" fast fua 100 3
	"$forge" fast fill 200 4
	"$forge" fast discard 10 1
}

newest() { field journal.seq; }
at() { echo $(($(field superblock.journal_start) + $1)); }	# journal block in the first lap
zero() { dd if=/dev/zero of=fast bs=4096 seek="$1" count=1 conv=notrunc status=none; }

# ---- sound ----

lived
sound "check: a lived-in cache" "map: 8 blocks .32.0 KiB. dirty, 4 blocks" --slow slow --data
for text in "superblock in block 0, generation" "superblock in block 16, generation" \
	"recovery takes journal blocks 4 to 15, incarnation 2 to 5, with 14 records" \
	"12 in use, 3 older, 408 not written, 0 beyond a gap, 0 torn, 0 damaged" \
	"end: nothing was under way" "15,604 of 15,616 slots free, 1 hold zeros" \
	"map: the last stop noted the worth of 12 blocks" \
	"slow device slow, 256 MiB" "11 blocks .44.0 KiB. read, of which 2 compared"; do
	if grep -q "^  [on][ko].* $text" out; then pass "check says: $text"; else fail "check says: $text" "it does not"; fi
done
sound "check: without the slow device" "not given .--slow., so not compared with 256 MiB"
same "check --json: sound" "$(found sound) $(found problems.length) $(found journal.unclean)" "True 0 False"
same "check --json: the ring" "$(found places.valid) $(found journal.chain) $(found journal.older)" "15 12 3"
same "check --json: the map" "$(found map.dirty) $(found map.clean) $(found map.zeros) $(found map.free)" "8 4 1 15604"
same "check --json: the ranks" "$(found map.ranked)" "12"
same "check --json: the data" "$(found data.read --data) $(found data.compared --data)" "11 2"
"$xpcache" check fast --json | python3 -m json.tool >/dev/null 2>out && pass "check --json: JSON alone" ||
	fail "check --json: JSON alone" "more than that"
"$xpcache" create --fast fast --slow slow --no-start --force --discard-dirty >out
sound "check: over an older cache" "1 in use, 0 older, 422 not written"
same "check: and that is told" "$(found places.other_cache)" "14"

# ---- a power cut ----

lived
"$forge" fast cut 300 3
sound "cut: records without their data" "end: 3 of 3 records .* without it; the older"
same "cut: unclean" "$(found journal.unclean) $(found journal.without_data)" "True 3"
same "cut: the ranks" "$(found map.ranked)" "0"
lived
zero 12
sound "ranks: none" "map: 8 blocks .32.0 KiB. dirty, 4 blocks" --data
same "ranks: none are known" "$(found map.ranked)" "0"
lived
damage fast "$(at "$(newest)")"
sound "cut: a torn block" "end: 1 did not land whole, next to block 14"
same "cut: torn" "$(found journal.unclean) $(found journal.torn)" "True 1"
lived
seq=$(newest)
"$forge" fast head "$seq" durable $((seq - 3))
zero "$(at $((seq - 1)))"
sound "cut: a block beyond a gap" "end: 1 beyond a gap at journal block $((seq - 1)), which did not land"
same "cut: beyond" "$(found journal.unclean) $(found journal.beyond_gap) $(found journal.last_seq)" "True 1 $((seq - 2))"
"$xpcache" check fast >out
same "cut: said to be one" "$(grep -c 'end: unclean, a power cut' out)" "1"
"$forge" fast write 20 1
sound "cut: over, after the next start" "end: nothing was under way"

# The newest needs none before it; one of those did not land, and never will.
lived
seq=$(newest)
"$forge" fast head "$seq" durable $((seq - 3))
"$forge" fast head "$seq" tail "$seq"
zero "$(at $((seq - 1)))"
sound "cut: the newest alone landed" "end: 1 did not land whole, next to block $seq"
"$forge" fast write 20 1
sound "cut: a number that never landed" "end: nothing was under way"

# ---- superblocks ----

lived
damage fast 0
damaged "first superblock" "block 0, superblock: checksum is wrong .*other than in block 16: uuid"
lived
"$forge" fast set-second nr_slots 9999999
damaged "second superblock's geometry" "block 16, superblock: slots reach past .*9999999.*; other than in block 0: nr_slots"
lived
"$forge" fast set-first version 7
damaged "first superblock's version" "block 0, superblock: version unknown .*7.*; other than in block 16: version"
lived
zero 0
damaged "first superblock erased" "block 0, superblock: no xpcache superblock here .*zeros, as a create or remove"
lived
zero 16
damaged "second superblock erased" "block 16, superblock: no xpcache superblock here .0.; the next start writes it anew$"
same "superblock: what to do" "$(grep -c 'fast: the cache still works, by the other superblock$' out)" "1"
lived
"$forge" fast set-second generation 1
sound "superblocks: the second is newer" "block 16 is the newer one and counts: .* does no harm; other than in block 0: generation"
lived
"$forge" fast set-first generation 1
damaged "superblocks: the first is newer" "block 16 is older than that in block 0, though it is written first"
lived
"$forge" fast set-second name other
damaged "superblocks of one generation" "superblocks of one generation that do not agree: name"
lived
"$forge" fast set-first uuid 7
expect "superblocks of two caches" 4 "superblocks of two caches: block 0 has xpcache0 .0707.* block 16 has xpcache0" check fast
lived
"$forge" fast set ro_compat 4
sound "a bit to be read only" "features that this xpcache may read and not write, bits 0x4"
lived
damage fast 0
damage fast 16
expect "no superblock" 4 "neither superblock will do: superblock: checksum is wrong.*keep a copy" check fast
same "no superblock: both are told" "$(grep -c '^  damaged ' out)" "2"
same "no superblock: JSON" "$(found sound) $(found superblocks.first) $(found problems.length)" "False False 2"

# ---- journal blocks that recovery needs ----

lived
zero "$(at 9)"
damaged "journal block lost" "journal block 9 .*is damaged or missing, though a later one .*; there is zeros"
lived
damage fast "$(at 9)"
damaged "journal block torn" "journal block 9 .*damaged or missing.*; there is a journal block with a wrong checksum"
same "journal refused: what to do" "$(grep -c 'fast: nothing was changed; xpcache start --accept-loss --fast fast --slow DEV goes on; xpcache flush --offline --rescue --fast fast --slow DEV writes back' out)" "1"
same "journal refused: JSON" "$(found sound) $(found places.wrong_checksum)" "False 1"
lived
"$forge" fast head 15 tail 3
damaged "a tail that falls" "journal block 15 needs blocks from 3 on, the one before it only from 4"
lived
"$forge" fast head 15 durable 9
damaged "a durable_seq that falls" "journal block 15 says that 9 was durable, the one before it says 13"
# Writes were refused that had landed, and the first of them was given a place behind them all: it says what it said there.
lived
"$forge" fast head "$(newest)" tail 3
"$forge" fast head "$(newest)" durable 9
"$forge" fast head "$(newest)" incarnation 100
sound "a block that was given another place" "recovery takes journal blocks 3 to $(newest), incarnation [0-9]+ to 100"

# ---- records ----

lived
"$forge" fast record 4 2 kind 9
damaged "a record of no kind" "block 4 .*unknown kind.*: record 2, \\? of block 12 and slot 2"
lived
"$forge" fast record 4 2 lba 65536
damaged "a record past the slow device" "block 4 .*past the slow device .65536.: record 2, MAP of block 65536"
lived
"$forge" fast record 4 2 slot 15616
damaged "a record past the data area" "block 4 .*past the data area .15616.: record 2, MAP of block 12 and slot 15616"
lived
"$forge" fast record 4 2 slot 1
damaged "a slot of two blocks" "block 4 .*holds another block.*: record 2, MAP of block 12 and slot 1"
lived
"$forge" fast record 4 2 slot 1
"$forge" fast record 4 3 kind 0
"$forge" fast record 4 4 lba 70000
expect "each bad record is told" 4 "\(and 2 more\): fast: nothing was changed; xpcache start --accept-loss" check fast
same "each bad record once" "$(grep -c '^  damaged ' out)" "3"
lived
"$forge" fast record 4 2 flags 2
damaged "clean zeros" "map: block 12 reads as zeros and is clean"

# ---- journal blocks that nothing needs ----

lived
zero "$(at 2)"
damaged "an older block lost" "journal block 2 .*is gone, there is zeros: no power cut does that"
same "an older block lost: JSON" "$(found journal.damaged) $(found journal.older)" "1 2"
lived
damage fast "$(at 1)"
damage fast "$(at 2)"
damaged "older blocks damaged" "blocks $(at 1) to $(at 2) of the journal hold a journal block with a wrong checksum"
lived
dd if=fast of=fast bs=4096 skip="$(at 9)" seek="$(at 40)" count=1 conv=notrunc status=none
damaged "a block in the wrong place" "block $(at 40) of the journal holds a journal block that belongs elsewhere"
lived
"$forge" fast head 2 tail 3
damaged "a header without sense" "journal block 2 .*there is a journal block whose header contradicts itself"

# ---- slow device ----

lived
truncate -s 255M slow
# Nothing but its size is known of it; of another size it is recognised by what it holds: sizes.sh.
damaged "slow device shrank" "slow device slow: not that of this cache: it has 522240 sectors, .* had 524288" --slow slow
truncate -s 400K slow
expect "slow device shrank below what is cached" 4 "7 blocks .28.0 KiB. of the cache, 3 of them dirty, reach past its end, the first is sector 800" \
	check fast --slow slow
expect "no such slow device" 5 "no such device: nowhere" check fast --slow nowhere

# ---- data ----

slot_of() {	# LBA: block of the fast device
	"$xpcache" dump fast --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["superblock"]["data_start"] + [m["slot"] for m in d["mappings"] if m["lba"] == int(sys.argv[1])][0])' "$1"
}
unreadable() { LD_PRELOAD=$badread BADREAD=$1 "${@:2}"; }

lived
damage fast "$(slot_of 100)"
sound "data: not looked at" "map: 8 blocks"
damaged "data: other than its checksum" "slot 5 .* not hold what its record's checksum says: sector 800 .*dirty: its newest contents are lost" --data
same "data: what to do" "$(grep -c 'restore what those blocks held from a backup' out)" "1"
lived
"$forge" fast discard 101 1
damage fast "$(slot_of 101)"
sound "data: zeros are not read" "10 blocks .40.0 KiB. read, of which 1 compared" --data
lived
unreadable "$(slot_of 11)" damaged "data: a dirty block unreadable" \
	"slot 1 .*cannot be read, Input/output error: sector 88 .*dirty: its newest" --data
unreadable "$(slot_of 201)" damaged "data: a clean block unreadable" \
	"slot 9 .*cannot be read, Input/output error: sector 1608 .*clean: the slow device has the same" --data
same "data: the others are read" "$(unreadable "$(slot_of 201)" found data.read --data)" "10"
unreadable 0 damaged "a superblock unreadable" "superblock in block 0: cannot be read: Input/output error; the next start writes it anew$"
unreadable "$(at 9)" damaged "a journal block unreadable" "journal block 9 cannot be read .block $(at 9) of the fast device.: what it said of up to 348 blocks is lost, and others build on it$"
same "a journal block unreadable: what to do" "$(grep -c 'fast: nothing was changed; xpcache start --accept-loss --fast fast --slow DEV goes on' out)" "1"
same "a journal block unreadable: JSON" "$(unreadable "$(at 9)" found sound) $(unreadable "$(at 9)" found places.unreadable)" "False 1"
unreadable "$(at 18)" damaged "one that may have been the newest" "journal block 18 cannot be read .block $(at 18) of the fast device.: the last commit before the cut may be lost$"
unreadable "$(at 18) $(at 19)" damaged "two that may have been" "journal block 18 cannot be read .block $(at 18) of"
for n in 2 24 100; do
	unreadable "$(at $n)" sound "a place that nobody needs, $n" "1 block .4.00 KiB. of the journal, from block $(at $n) of the fast device on, cannot be read: nothing needs what was there"
	same "a place that nobody needs, $n: JSON" "$(unreadable "$(at $n)" found sound) $(unreadable "$(at $n)" found journal.unreadable) $(unreadable "$(at $n)" found journal.damaged)" "True 1 0"
done
unreadable "$(at 30) $(at 31) $(at 40)" sound "three that nobody needs" "2 blocks .8.00 KiB. of the journal, from block $(at 30) of .* cannot be read"
same "three that nobody needs: summed up" "$(grep -c ', 0 damaged, 3 unreadable$' out)" "1"
unreadable "$(for n in {1..15}; do at "$n"; done | xargs)" expect "no block to begin with" 4 "no block from which .* 15 of them cannot be read.*: fast: it cannot be started; keep a copy" check fast
unreadable "0 16" expect "no superblock readable" 1 "superblock: cannot read block 0: Input/output error: fast: .*xpcache flush --offline --rescue --force --fast fast --slow DEV writes back" check fast

# ---- a terminal, and other places ----

lived
same "no progress bar when it is quick" "$(on_terminal "$xpcache" check fast --data)" ""
for lba in 400 410 420 430 440 450 460 470; do
	"$forge" fast write $lba 2
	"$forge" fast discard $lba 1	# so that each other is a run of its own
done
BADREAD_MS=250 LD_PRELOAD=$badread on_terminal "$xpcache" check fast --data >out
same "a progress bar after two seconds" "$(grep -c 'left.*ETA 0:0' out)" "1"
"$xpcache" check fast >/dev/full 2>stderr
same "check to a full disk" "$? $(cut -c1-31 stderr)" "1 xpcache: cannot write: No space"

# ---- nothing is written ----

lived
"$forge" fast cut 300 3
damage fast "$(at 2)"
before=$(cat fast slow | sha256sum)
"$xpcache" check fast --slow slow --data >out 2>&1
same "check: nothing is written" "$(cat fast slow | sha256sum)" "$before"
chmod 444 fast slow
unwriting() { setpriv --bounding-set=-dac_override "$@"; }	# root too has only the file's mode
if unwriting sh -c ': >>fast' 2>/dev/null; then fail "a file that cannot be written" "it can"; else pass "a file that cannot be written"; fi
for how in "" "--data" "--slow slow --data" "--json"; do
	unwriting "$xpcache" check fast $how >out 2>&1
	same "check $how: of what can only be read" "$?" "4"
done
chmod 644 fast slow
