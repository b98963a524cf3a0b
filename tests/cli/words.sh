# SPDX-License-Identifier: GPL-2.0-only
# Words that others chose, and paths that are no UTF-8: none of it reaches a terminal as it is, forges a
# line or spoils JSON, and a cache so called can be used.

evil=$'\e]0;owned\a\e[2J\nforged: ok'
evil_path=$'/dev/\nforged: \r\e[31m\xc2\x9b\xe2\x80\xae\xff\xc0\x8ax'

# What is in ./stdout and ./stderr is judged at the end, all at once.
mkdir words.said
keep() { cp stdout "words.said/$1.out"; cp stderr "words.said/$1.err"; }

# says NAME CODE TEXT ARGUMENT...: as expect, and it is tame.
says() {
	expect "words: $1" "${@:2}"
	case " $* " in *" --json "*) keep "${1// /_}.json" ;; *) keep "${1// /_}" ;; esac
}

named=__0_owned___2J_forged__ok
poisoned() {
	fresh
	"$forge" fast write 0 300
	for field in name slow.path slow.content slow.hwid; do
		case $field in name) value=$evil ;; *) value=$evil_path ;; esac
		case $field in slow.hwid) continue ;; esac	# the files have none, and would not be known again
		"$forge" fast set $field "$value"
	done
}

poisoned
says "check" 0 "fast: the xpcache $named, .*" check fast
says "check tells of it" 0 "note +superblock in block 0: it has a name or words that no xpcache writes" check fast
says "check in JSON" 0 '"name": *"__0' check fast --json
says "check, the slow device too" 0 "sound" check fast --slow slow --data
says "dump" 0 "slow.path +/dev/.forged" dump fast
says "dump in JSON" 0 '"name": *"__0' dump fast --json
says "create over it" 3 "fast device of the xpcache $named" create --fast fast --slow slow --no-start
says "another name" 5 "fast device of $named, not of x" remove --fast fast x
says "list" 0 "no cache found" list
says "rescue" 0 "xpcache $named" flush --offline --rescue --fast fast --slow slow
says "rescue in JSON" 0 '"uuid"' flush --offline --rescue --fast fast --slow slow --json
says "start" 0 "$named: started, fast before slow" start --fast fast --slow slow
says "status" 0 "$named +running" status
says "status by its name" 0 "dirty +300 blocks" status "$named"
says "status in JSON" 0 '"name": *"__0' status --json
says "list what runs" 0 "$named" list
says "list in JSON" 0 '"name": *"__0' list --json
says "histogram" 0 "$named" histogram "$named"
says "histogram in JSON" 0 '"name": *"__0' histogram "$named" --json
says "top" 0 "$named" top --count 1
says "top in JSON" 0 '"name": *"__0' top --count 1 --json
says "check what runs" 3 "running as $named" check fast
says "flush" 0 "every block is written back" flush "$named"
says "stop" 0 "$named" stop "$named"
says "remove" 0 "$named: removed" remove --fast fast "$named"

poisoned
says "flush --offline" 0 "$named: every block is written back" flush --offline --fast fast --slow slow
same "words: it is home" "$(head -c $((300 * 4096)) slow | tr -d '\0' | wc -c | sed 's/^0$/nothing/; s/^[0-9]*$/data/')" data
poisoned
"$forge" fast set slow.sectors 8
says "another slow device" 4 "slow device" start --fast fast --slow slow
poisoned
"$forge" fast set-first uuid 7
says "superblocks of two caches" 4 "superblocks of two caches: block 0 has $named" check fast
fresh
"$forge" fast set version 99
"$forge" fast set name "$evil" 2>/dev/null
says "a version not known" 4 "version unknown" check fast

# What the user has typed.
n=0
for path in $'fa\nst' $'fa\e[2Jst' $'fa\x7fst' $'fa\xc2\x9bst'; do
	truncate -s 64M "$path"
	n=$((n + 1))
	says "create on a path with a control character $n" 2 "a control character, .* in a path or a name: fa.*st: rename it" create --fast "$path" --slow slow --no-start
	says "create before one $n" 2 "a control character" create --fast fast --slow "$path" --no-start --force
	says "start on one $n" 2 "a control character" start --fast "$path" --slow slow
	says "check one $n" 2 "a control character" check "$path"
	ln -s "$path" link
	says "create on a link to one $n" 2 "a control character" create --fast link --slow slow --force
	[ "$(head -c 4096 "$path" | tr -d '\0' | wc -c)" = 0 ] && pass "words: nothing is written there" || fail "words: nothing is written there" "a superblock"
	rm link "$path"
done
says "a name with a newline" 2 "not a name for a cache" create --fast fast --slow slow --force --name $'a\nforged: b'
fast=$'fast\xff\xfe\xe2\x80\xae' slow=$'slow\xe4'
truncate -s 64M "$fast"
truncate -s 64M "$slow"
"$xpcache" create --fast "$fast" --slow "$slow" --name odd >out 2>&1 && pass "words: create on paths that are no UTF-8" ||
	fail "words: create on paths that are no UTF-8" "exit code $?"
says "their status in JSON" 0 "/fast.{2,5}\"" status odd --json
says "their status" 0 "/slow." status odd
says "their list in JSON" 0 "/slow.\"" list --json
says "their list" 0 "odd " list
expect "words: stop them" 0 "odd" stop odd
says "check them in JSON" 0 '"sound"' check "$fast" --json
says "dump them in JSON" 0 '"path": *"slow.?"|"path": *".*slow.?"' dump "$fast" --json
says "rescue them in JSON" 0 '"slow": *"slow."' flush --offline --rescue --fast "$fast" --slow "$slow" --json
expect "words: remove them" 0 "removed" remove --fast "$fast" odd
rm -f "$fast" "$slow"

# What somebody else has written.
printf '{"xpcache_bench": 1, "host": {"kernel": "\\u001b[2J\\nforged", "cpu": "\\u009b31m</script><b>"}, "x\\n": ["\\u202e\\n"], "runs": []}' >theirs.json
"$xpcache" bench --html theirs.json -o page.html >stdout 2>stderr
keep bench--html
if [ -s page.html ]; then
	same "words: their page" "$(grep -c $'\e\|\xc2\x9b\|\xe2\x80\xae\|</script><b>\|u001b' page.html)" 0
fi
"$xpcache" bench diff theirs.json theirs.json >stdout 2>stderr
keep bench-diff

# A server's.
python3 "$here/rude.py" "$dir/rude" >rude.out 2>&1 &
rude=$!
for _ in $(seq 100); do grep -q listens rude.out && break; sleep 0.05; done
fresh
says "a server's words" 1 "server policy prevents" create --fast fast --slow "nbd+unix:///?socket=$dir/rude" --force
"$dir/bin/xpcached" serve --fast fast --slow "nbd+unix:///?socket=$dir/rude" --socket "$dir/sock" >stdout 2>stderr
grep -q "server policy prevents" stderr && pass "words: the daemon tells them" || { cat stderr >out; fail "words: the daemon tells them" "it does not"; }
keep daemon
kill $rude
wait $rude 2>/dev/null
rm -f fast slow

python3 - >out 2>&1 <<'PY' && pass "words: nothing but lines of ours" || fail "words: nothing but lines of ours" "it is not so"
import glob, json

def is_tame(n):
    return n >= 0x20 and not 0x7f <= n <= 0x9f and n != 0x61c and not 0x200e <= n <= 0x200f and \
        not 0x2028 <= n <= 0x202e and not 0x2066 <= n <= 0x2069

def texts(v):
    if isinstance(v, str):
        yield v
    for x in v.values() if isinstance(v, dict) else v if isinstance(v, list) else ():
        yield from texts(x)

bad, names = 0, sorted(glob.glob("words.said/*"))
assert len(names) > 120, names
for name in names:
    try:
        text = open(name, "rb").read().decode("utf-8")      # no other bytes
        assert all(ch == "\n" or is_tame(ord(ch)) for ch in text), text
        assert not any(line.startswith("forged") for line in text.splitlines()), text
        if name.endswith(".json.out"):
            for t in texts(json.loads(text)):
                assert all(is_tame(ord(ch)) for ch in t), t
    except (AssertionError, ValueError) as e:
        bad += 1
        print(f"{name}: {ascii(str(e))[:300]}")
assert not bad, f"{bad} of {len(names)}"
PY
rm -rf words.said
