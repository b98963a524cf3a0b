# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by run
# A session that was interrupted: what it may go on with, and that nothing of it gets lost.

# begun FILE STATE ARGUMENT...: a session on FILE that ends after its first runs, with STATE
begun() {
	local file=$1 state=$2 pid
	shift 2
	"$xpcache" bench "$file" --test random --seconds 0.3 "$@" >out 2>stderr </dev/null &
	pid=$!
	sleep 1.5
	kill -TERM $pid
	wait $pid
	[ $? -eq 130 ] && [ -s "$state" ] || fail "begun" "no $state: $(cat stderr)"
}

# ------------------------------------------------------------- a full disk ----

truncate -s 8M measured
# limited KIB ARGUMENT...: where no file gets bigger
limited() {
	local kib=$1
	shift
	(ulimit -f "$kib"; trap '' XFSZ; exec "$xpcache" bench "$@" >out 2>&1 </dev/null)
}
few="--test random --rate 100 --seconds 0.1"	# requests make small results

echo older >full.json
# shellcheck disable=SC2086 # words
limited 8 ./measured $few -o full.json
same "a state that finds no room: exit code" $? 1
same "ends the session before its result" "$(cat full.json)" older
expect "what was stored before goes on" 0 "random/1/read-4K-QD16" --resume full.json.state
holds "to the end" full.json 'schema(j) and len(j["runs"]) == 11'
echo older >full.html
# shellcheck disable=SC2086
limited 64 ./measured $few -o full.json --html full.html
same "a page that finds no room: exit code" $? 1
same "the older page is as it was" "$(wc -c <full.html)" 6
expect "what was measured is written again" 0 "random/1/read-4K-QD16" --resume full.json.state
grep -q '</html>' full.html && pass "all of it" || fail "all of it" full.html
"$xpcache" bench ./measured --json --seconds 0.2 >/dev/full 2>stderr </dev/null
same "a pipe that takes nothing: exit code" $? 1
grep -q -- '--resume xpcache-bench.state writes it again' stderr && pass "what was measured is kept" ||
	fail "what was measured is kept" "$(cat stderr)"
expect "and written again" 0 '"xpcache_bench": 1' --resume xpcache-bench.state
[ ! -e xpcache-bench.state ] && pass "then it is gone" || fail "then it is gone" xpcache-bench.state

# A power cut: the name changes once the data is on the disk.
strace -f -o calls -e trace=fsync,rename,unlink "$xpcache" bench ./measured --seconds 0.2 -o synced.json >out 2>&1
order=$(grep -oE 'fsync|rename.*synced.json|unlink.*synced.json.state"' calls | sed 's/(.*//' | uniq | tr '\n' ' ')
if grep -qE '^(fsync rename )+fsync unlink $' <<<"$order"; then pass "synced before it takes its place"; else
	fail "synced before it takes its place" "$order"
fi

# ------------------------------------------------------ one beside another ----

begun ./measured one.json.state -o one.json
before=$(sha256sum <one.json.state)
expect "a state is not begun over" 3 "interrupted session is there: one.json.state: .*--resume one.json.state" \
	./measured -o one.json --seconds 0.2
begun ./measured xpcache-bench.state
begun ./measured xpcache-bench.2.state
grep -q 'bench --resume xpcache-bench.2.state goes on' stderr && pass "without a name it gets one of its own" ||
	fail "without a name it gets one of its own" "$(cat stderr)"
mv xpcache-bench.2.state renamed.state
expect "a renamed state goes on" 0 "random/1/read-4K-QD16" --resume renamed.state
[ ! -e renamed.state ] && pass "it goes when it is done" || fail "it goes when it is done" renamed.state
[ -e xpcache-bench.state ] && pass "not another's" || fail "not another's" xpcache-bench.state
same "nor the third" "$(sha256sum <one.json.state)" "$before"
rm xpcache-bench.state

# -------------------------------------------------- what may be gone on with ----

for option in "-o two.json" "--seconds 9" --quick --json "--resume one.json.state"; do
	# shellcheck disable=SC2086 # words
	expect "resume and $option" 2 "as it was begun: --resume" --resume one.json.state $option
done
"$xpcache" bench ./measured --json --seconds 0.1 >done.json
expect "resume of a result" 2 "no interrupted session: done.json" --resume done.json
[ -e done.json ] && pass "which stays" || fail "which stays" done.json
cp one.json.state one.json
expect "a state in the place of its result" 2 "goes on from is there: one.json: rename" --resume one.json
mv measured away
truncate -s 4M measured
expect "of another size" 3 'its bytes was "8388608", and is "4194304" now: ./measured' --resume one.json.state
rm measured
cp away measured
expect "another file" 3 'its identity was "inode [0-9]+", and is "inode [0-9]+" now: ./measured' --resume one.json.state
mv away measured
sed 's/"version": "[^"]*"/"version": "0.0"/g' one.json.state >older.state
expect "begun by another version" 3 "begun by xpcache 0.0, and this is .*: older.state" --resume older.state
python3 - <<-END
	import json
	j = json.load(open("one.json.state"))
	j["fill"] = [{"full": 0.5, "run": "x"}] * 5
	j["working_set"] = [{"ratio": 1, "run": "x"}]
	json.dump(j, open("one.json.state", "w"))
END
(cd / && "$xpcache" bench --resume "$dir/one.json.state" >"$dir/out" 2>&1)
same "from another directory: exit code" $? 0
holds "the result is where it was begun" one.json 'schema(j) and len(j["runs"]) == 11'
holds "its curves are drawn anew" one.json 'not j["fill"] and not j["working_set"]'
[ ! -e one.json.state ] && pass "no state is left behind" || fail "no state is left behind" one.json.state
