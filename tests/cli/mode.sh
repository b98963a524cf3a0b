# SPDX-License-Identifier: GPL-2.0-only
# Modes: when a write ends. By which words they are set and shown, and where they are kept.

trap 'pkill -f "xpcached serve.*$dir"; rm -rf "$dir"' EXIT

# limits NAME: as status has them
limits() { "$xpcache" status "$1" | sed -n 's/^  limits .*\(mode [^,]*\),.*/\1/p'; }
# json WORD: of status --json, by a path
json() { "$xpcache" status demo --json | python3 -c "import json,sys; print(json.load(sys.stdin)['caches'][0]$1)"; }
# shown: the line of set: now, next start, default
shown() { "$xpcache" set demo | awk '$1 == "mode" { print $2, $3, $4 }'; }
# client WORDS: a client of demo, in Python
client() { PATH=/usr/bin:$PATH nbdsh -u "nbd+unix:///?socket=$dir/run/demo.sock" -c "$1"; }
kept() { [ "$(field superblock.mode)" = "$1" ]; }
# same_bytes: what a client reads is what the slow device has, there alone
same_bytes() { client 'h.pread(65536, 0)' && cmp -s -n 65536 data slow; }

# ---- words ----
for word in '' write-through writeBack kept 2 through; do
	for verb in create start adopt; do
		expect "mode: $verb --mode '$word'" 2 "^xpcache: mode is not \"$word\", but one of writeback, writethrough, writearound: --mode: give one of them$" \
			$verb --mode "$word"
		same "mode: $verb --mode '$word', one line" "$(wc -l <stderr)" 1
	done
	expect "mode: set mode=$word" 2 "^xpcache: mode is not \"$word\", but one of writeback, writethrough, writearound: mode=$word: give one of them, or default$" \
		set demo "mode=$word"
done
"$dir/bin/xpcached" serve --mode no >stdout 2>stderr
same "mode: of a daemon" "$? $(cat stderr)" '2 xpcache: mode is not "no", but one of writeback, writethrough, writearound: no: xpcached serve --help tells more'
expect "mode: help has the words" 0 "^  --mode writeback\|writethrough\|writearound$" start --help
expect "mode: help of set, too" 0 "^  mode=writeback\|writethrough\|writearound$" set --help

# ---- a superblock keeps it ----
fresh --name demo
same "mode: of a new cache" "$(field superblock.mode) $(field superblock.incompat)" "writeback 0x503"
fresh --name demo --mode writeback
same "mode: of one that is told the default" "$(field superblock.mode) $(field superblock.incompat)" "writeback 0x503"
expect "mode: no limit goes with --no-start still" 2 "the limits are those of a running cache" create --fast fast --slow slow --no-start --mode writethrough --idle-ms 1
fresh --name demo --mode writethrough
same "mode: of one that is told another" "$(field superblock.mode) $(field superblock.incompat)" "writethrough 0x513"
expect "mode: check has nothing against it" 0 "" check fast
expect "mode: dump shows it" 0 "^  mode  *writethrough$" dump fast
expect "mode: a start that is told none" 0 "started" start --fast fast --slow slow --idle-ms 0
same "mode: status has it, and the default" "$(limits demo)" "mode writethrough (default writeback)"
same "mode: JSON, too" "$(json "['limits']['mode']") $(json "['limits_set']")" "writethrough ['idle_ms', 'mode']"
same "mode: a list" "$(shown)" "writethrough - writeback"
same "mode: JSON of a list" "$("$xpcache" set demo --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["options"]["mode"])')" \
	"{'now': 'writethrough', 'next_start': None, 'default': 'writeback'}"
head -c 65536 /dev/urandom >data
client 'h.pwrite(open("data", "rb").read(), 0)'
same_bytes && pass "mode: a write has reached the slow device" || fail "mode: a write has reached the slow device" "it has not"

# ---- another, while it runs ----
expect "mode: writeback" 0 "^demo: mode writeback, now and from each start on$" set demo mode=default
same "mode: of which nothing is waited for" "$(wc -l <stdout)" 1
same "mode: status" "$(limits demo)" "mode writeback"
same "mode: JSON of the default" "$(json "['limits']['mode']") $(json "['limits_set']")" "writeback ['idle_ms']"
head -c 65536 /dev/urandom >data
client 'h.pwrite(open("data", "rb").read(), 0); h.flush()'
same_bytes && fail "mode: a write waits in the cache" "the slow device has it" || pass "mode: a write waits in the cache"
expect "mode: writethrough" 0 "^demo: mode writethrough, now and from each start on$" set demo mode=writethrough
same "mode: and all has been written back" "$(sed -n 2p stdout)" "demo: every block is written back: from now on the slow device alone is complete"
same_bytes && pass "mode: to where it belongs" || fail "mode: to where it belongs" "the slow device has it not"
expect "mode: two options, of which the superblock keeps one" 0 "^demo: idle-ms 1, now and until it is stopped: nothing is noted of it here$" set demo mode=writearound idle-ms=1
same "mode: and says so of the other" "$(sed -n 2p stdout)" "demo: mode writearound, now and from each start on"
head -c 65536 /dev/urandom >data
client 'h.pwrite(open("data", "rb").read(), 0)'
same_bytes && pass "mode: a write goes around" || fail "mode: a write goes around" "the slow device has it not"
sleep 1.5	# a tick writes the superblock
rests demo
kept writearound && pass "mode: it is kept" || fail "mode: it is kept" "$(field superblock.mode)"

# ---- a start that is told one; the default counts, too ----
expect "mode: a start with the default" 0 "started" start --fast fast --slow slow --mode writeback --idle-ms 0
same "mode: has that" "$(limits demo)" "mode writeback"
rests demo
same "mode: and keeps it" "$(field superblock.mode) $(field superblock.incompat)" "writeback 0x503"
expect "mode: with another" 0 "started" start --fast fast --slow slow --mode writearound --idle-ms 0
rests demo
expect "mode: with what is kept" 0 "started" start --fast fast --slow slow --idle-ms 0
same "mode: which is that" "$(limits demo)" "mode writearound (default writeback)"
rests demo

# ---- a record: it is asked before the superblock ----
uuid=$(field superblock.uuid | tr -d -)
mkdir -p "$XPCACHE_ETC"
record=$XPCACHE_ETC/$uuid.json
echo '{"name": "demo", "uuid": "'"$uuid"'", "start": "no", "slow": {"hardware": "DISK", "sectors": 524288, "logical_size": 512}}' >"$record"
noted() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1])).get("limits"))' "$record"; }
same "mode: nothing is noted" "$(shown)" "- kept writeback"
expect "mode: of one that does not run" 0 "^demo: mode writethrough, from the next start on$" set demo mode=writethrough
same "mode: it is noted" "$(noted) $(shown)" "{'mode': 'writethrough'} - writethrough writeback"
expect "mode: a start by the record" 0 "started" start --fast fast --slow slow
same "mode: has it" "$(limits demo)" "mode writethrough (default writeback)"
expect "mode: now and later" 0 "^demo: mode writearound, now and from each start on$" set demo mode=writearound
same "mode: both are noted" "$(noted) $(shown)" "{'mode': 'writearound'} writearound writearound writeback"
rests demo
expect "mode: the default, of one that does not run" 0 "^demo: mode writeback, from the next start on$" set demo mode=default
same "mode: is noted, for the superblock has another" "$(noted) $(shown)" "{'mode': 'writeback'} - writeback writeback"
expect "mode: a start by that record" 0 "started" start --fast fast --slow slow
same "mode: has the default" "$(limits demo)" "mode writeback"
rests demo
rm -r "$XPCACHE_ETC"

flushing_is() { test "$(json "['counters']['flushing']")" = "$1"; }
brought_home() { test "$(json "['counters']['dirty']")" = 0; }

# A change that waits, before a disk that fails until ./broken is gone: its process is $set.
switch_waits()
{
	fresh --name demo
	LD_PRELOAD=$faulty FAULTY="/slow 2 1 $dir/broken" expect "mode: a start before a disk that will fail" 0 "started" start --fast fast --slow slow --idle-ms 0
	client 'h.pwrite(b"s" * 65536, 0); h.flush()'
	touch broken
	"$xpcache" set demo mode=writethrough >out.set 2>said &
	set=$!
	wait_until 20 flushing_is 1
}

# ---- somebody else sets another meanwhile ----
switch_waits
expect "mode: somebody else's" 0 "^demo: mode writeback, now" set demo mode=writeback
rm broken
wait $set
same "mode: who waits hears of it" "$? $(cat said)" \
	"1 xpcache: it was set to writeback meanwhile: demo: xpcache set demo mode=writethrough, once more"
expect "mode: typed once more" 0 "^demo: every block is written back" set demo mode=writethrough
rests demo

# ---- the waiting ends, by a signal ----
switch_waits
kill -INT $set
wait $set
same "mode: the waiting is interrupted" "$? $(cat said)" \
	"130 xpcache: not waited for, 16 blocks (64.0 KiB) are dirty still: demo: writeback goes on, and new writes are in the new mode already; xpcache flush demo shows when it is done"
same "mode: the mode is the new one" "$(limits demo) $(json "['counters']['dirty']") $(json "['counters']['flushing']")" "mode writethrough (default writeback) 16 0"
rm broken
wait_until 20 brought_home
same "mode: and is written back all the same" "$(json "['counters']['dirty']")" 0
expect "mode: once more" 0 "^demo: every block is written back: from now on the slow device alone is complete$" set demo mode=writethrough
rests demo
