# SPDX-License-Identifier: GPL-2.0-only
# set: options of a cache that runs, and of its later starts, by what is noted of it; and what status says of them.

trap 'pkill -f "xpcached serve.*$dir"; rm -rf "$dir"' EXIT

# now NAME: its options, as status has them
now() { "$xpcache" status "$1" | sed -n 's/^  limits  *//p'; }
# json WORD...: of status --json, by a path
json() { "$xpcache" status demo --json | python3 -c "import json,sys; print(json.load(sys.stdin)['caches'][0]$1)"; }
# shown: the list of set, a line an option: now, next start, default
shown() { "$xpcache" set demo | awk 'NR > 1 { printf "%s%s:%s:%s:%s", (NR > 2 ? " " : ""), $1, $2, $3, $4 }'; }
# untouched NAME CODE TEXT OPTION=VALUE...: refused, and all is as before
untouched()
{
	local before
	before=$(shown)
	expect "$1" "$2" "$3" set demo "${@:4}"
	same "$1: nothing has changed" "$(shown)" "$before"
}

# ---- words ----
expect "set: what" 2 "a name or a device is missing: set" set
expect "set: no name" 2 "the name of the cache comes first: idle-ms=1: xpcache set NAME" set idle-ms=1
for word in colour=1 dirty_low=1 --dirty-low=1 mark=1 =1; do
	expect "set: $word" 2 "no such option: $word: one of dirty-low= dirty-high= idle-ms= histogram= stream-kib= writeback-delay= mode= verify=$|wrong option" set demo "$word"
done
expect "set: no value" 2 "an option has a value: idle-ms: one of" set demo idle-ms
for value in "" x -1 1.5 86400001 Default; do
	expect "set: idle-ms=$value" 2 "idle_ms is a number from 0 to 86400000, not \"$value\": idle-ms=$value: give another value, or default" \
		set demo "idle-ms=$value"
done
expect "set: a right word and a wrong one" 2 "no such option: speed=1" set demo idle-ms=1 speed=1
expect "set: --json is for a list" 2 "give it alone" set demo idle-ms=1 --json
expect "set: none of this name" 5 "no cache of this name runs, or is known here: demo: xpcache list shows all" set demo
expect "set: none of this name, with an option" 5 "no cache of this name runs" set demo idle-ms=1

# ---- it runs, and nothing is noted of it ----
fresh --name demo
expect "set: start" 0 "started" start --fast fast --slow slow --dirty-low 15
same "set: status has each, and the defaults of those that differ" "$(now demo)" \
	"dirty-low 15 (default 10), dirty-high 80, idle-ms 5000, histogram 1, stream-kib 4096, writeback-delay 0, mode writeback, verify 0"
same "set: JSON has their names" "$(json "['limits_set']")" "['dirty_low']"
same "set: a list" "$(shown)" "dirty-low:15:-:10 dirty-high:80:-:80 idle-ms:5000:-:5000 histogram:1:-:1 stream-kib:4096:-:4096 writeback-delay:0:-:0 mode:writeback:-:writeback verify:0:-:0"
expect "set: it runs" 0 "^demo: dirty-low 20, idle-ms 0, now and until it is stopped: nothing is noted of it here$" set demo idle-ms=0 dirty-low=20
same "set: at once" "$(now demo)" \
	"dirty-low 20 (default 10), dirty-high 80, idle-ms 0 (default 5000), histogram 1, stream-kib 4096, writeback-delay 0, mode writeback, verify 0"
same "set: and JSON says so" "$(json "['limits_set']") $(json "['limits']['dirty_low']")" "['dirty_low', 'idle_ms'] 20"
expect "set: again" 0 "^demo: dirty-low 20, now" set demo dirty-low=20
expect "set: the last of two" 0 "^demo: dirty-low 25, now" set demo dirty-low=90 dirty-low=25
expect "set: back" 0 "^demo: dirty-low 10, idle-ms 5000, now" set demo dirty-low=default idle-ms=default
same "set: to the defaults" "$(json "['limits_set']")" "[]"
expect "set: together" 0 "^demo: dirty-low 85, dirty-high 90, now" set demo dirty-low=85 dirty-high=90
expect "set: recording" 0 "^demo: histogram 0, stream-kib 0, now" set demo histogram=0 stream-kib=0
expect "set: it is off" 0 '"recording": *false' histogram demo --json
expect "set: by its uuid" 0 "^demo: idle-ms 7, now" set "$("$xpcache" status demo --json | sed -n 's/.*"uuid": *"\([0-9a-f]*\)".*/\1/p')" idle-ms=7
untouched "set: low above high" 2 "as it runs: dirty_low, 95, is not below dirty_high, 90: demo: give dirty-low and dirty-high, both" idle-ms=1 dirty-low=95
untouched "set: high below low" 2 "as it runs: dirty_low, 85, is not below dirty_high, 80: demo" dirty-high=default
untouched "set: what a start sets" 3 "verify is set by a start, and nothing is noted here for the next one: demo: xpcache stop demo, then xpcache start demo --fast $dir/fast --slow $dir/slow --dirty-low 85 --dirty-high 90 --idle-ms 7 --histogram 0 --stream-kib 0 --verify 1$" verify=1
expect "set: what it has" 0 "^demo: verify 0, now" set demo verify=0
expect "set: JSON" 0 '"name": *"demo"' set demo --json
same "set: JSON of a list" "$(python3 -c 'import json
o = json.load(open("stdout"))["options"]
print(sorted(o), list(o["dirty_low"].items()))')" \
	"['dirty_high', 'dirty_low', 'histogram', 'idle_ms', 'mode', 'stream_kib', 'verify', 'writeback_delay'] [('now', 85), ('next_start', None), ('default', 10)]"
rests demo
expect "set: it does not run, and a file is not found by its name" 5 "no cache of this name runs" set demo idle-ms=1

# ---- it is noted ----
uuid=$(field superblock.uuid | tr -d -)
mkdir -p "$XPCACHE_ETC"
record=$XPCACHE_ETC/$uuid.json
# noted LIMITS: what the record has
noted() { echo '{"name": "demo", "uuid": "'"$uuid"'", "start": "no", "limits": '"$1"', "slow": {"hardware": "DISK", "sectors": 524288, "logical_size": 512}}' >"$record"; }
limits() { python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(r.get("limits"), r["start"], r["slow"]["hardware"])' "$record"; }
noted '{"idle_ms": 0}'
same "set: a list of one that does not run" "$(shown)" "dirty-low:-:10:10 dirty-high:-:80:80 idle-ms:-:0:5000 histogram:-:1:1 stream-kib:-:4096:4096 writeback-delay:-:0:0 mode:-:kept:writeback verify:-:0:0"
expect "set: one that does not run" 0 "^demo: dirty-low 30, verify 1, from the next start on$" set demo verify=1 dirty-low=30
same "set: the record has it" "$(limits)" "{'dirty_low': 30, 'idle_ms': 0, 'verify': 1} no DISK"
untouched "set: against what is noted" 2 "as noted for its starts: dirty_low, 30, is not below dirty_high, 20" dirty-high=20
expect "set: it starts" 0 "started" start --fast fast --slow slow
same "set: with that" "$(json "['limits_set']")" "['dirty_low', 'idle_ms', 'verify']"
expect "set: both" 0 "^demo: dirty-low 40, now and from each start on$" set demo dirty-low=40
same "set: in what runs" "$(json "['limits']['dirty_low']")" 40
same "set: and in the record" "$(limits)" "{'dirty_low': 40, 'idle_ms': 0, 'verify': 1} no DISK"
expect "set: one now, the other later" 0 "^demo: idle-ms 5, now and from each start on$" set demo verify=default idle-ms=5
same "set: and how" "$(sed -n 2p stdout)" "demo: verify 0, from the next start on: xpcache stop demo, then xpcache start demo --fast $dir/fast --slow $dir/slow"
same "set: both are noted" "$(shown)" "dirty-low:40:40:10 dirty-high:80:80:80 idle-ms:5:5:5000 histogram:1:1:1 stream-kib:4096:4096:4096 writeback-delay:0:0:0 mode:writeback:kept:writeback verify:1:0:0"
expect "set: it may stay as it is" 0 "^demo: verify 1, now and from each start on$" set demo verify=1
# It runs otherwise than it is noted: only what is named changes, here and there.
rests demo
expect "set: a start with one of its own" 0 "started" start --fast fast --slow slow --stream-kib 8 --dirty-high 50
expect "set: of that" 0 "^demo: histogram 0, now and from each start on$" set demo histogram=0
same "set: each has its others" "$(shown)" "dirty-low:10:40:10 dirty-high:50:80:80 idle-ms:5000:5:5000 histogram:0:0:1 stream-kib:8:4096:4096 writeback-delay:0:0:0 mode:writeback:kept:writeback verify:0:1:0"
untouched "set: against what runs" 2 "as it runs: dirty_low, 60, is not below dirty_high, 50" dirty-low=60
untouched "set: against what is noted alone" 2 "as noted for its starts: dirty_low, 40, is not below dirty_high, 35" dirty-high=35
expect "set: both of them" 0 "^demo: dirty-low 20, dirty-high 35, now and from each start on$" set demo dirty-high=35 dirty-low=20
rests demo
expect "set: under another name" 0 "started" start --fast fast --slow slow --name other
expect "set: by the noted one" 0 "^other: idle-ms 6, now and from each start on$" set demo idle-ms=6
expect "set: by that one" 0 "^other: idle-ms 8, now and from each start on$" set other idle-ms=8
rests other
expect "set: defaults" 0 "from the next start on$" set demo dirty-low=default dirty-high=default idle-ms=default histogram=default verify=default
same "set: of which the record has none" "$(limits)" "None no DISK"

# ---- what is noted cannot be read, or written ----
noted '{"speed": 1}'
expect "set: a record that is wrong" 0 "unknown option \"speed\"" set demo
before=$(cat "$record")
expect "set: it is not written anew" 1 "unknown option \"speed\".*: $record: mend it$" set demo idle-ms=1
same "set: it stays" "$(cat "$record")" "$before"
noted '{"idle_ms": 1}'
expect "set: start once more" 0 "started" start --fast fast --slow slow
mkdir "$record.new"
expect "set: a record that cannot be written" 1 "cannot note its options: .*: demo: the next start has the options of before" set demo idle-ms=2
rmdir "$record.new"
same "set: it stays as well" "$(shown | grep -o 'idle-ms:[^ ]*')" "idle-ms:2:1:5000"

# ---- an engine of before the message ----
cat >older <<'PY'
import os, socket, sys, threading
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("ready", flush=True)
while True:
    c = s.accept()[0]
    line = c.recv(200).decode()
    if line == "table\n":
        c.sendall(b"ok\nfast /fast\nslow /slow\nuuid " + b"7" * 32 + b"\nsectors 8\nclients 0\noptions 2 dirty_low 33\n")
    elif line:
        c.sendall(b"error 22 unknown message\n")
    c.close()
PY
python3 older run/old.control >ready &
older=$!
wait_until 20 grep -q ready ready
expect "set: an older engine" 1 "what runs it is of an older version, and changes no options: old: xpcache stop old, then xpcache start old --fast /fast --slow .* --dirty-low 33 --idle-ms 4$" set old idle-ms=4
kill $older
wait $older 2>/dev/null
rm -f run/old.control
