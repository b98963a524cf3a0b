# SPDX-License-Identifier: GPL-2.0-only
# A cache of an older version becomes one of this, and back: nothing is lost on the way, whatever it is cut by.

trap 'pkill -f "xpcached serve.*$dir"; rm -rf "$dir"' EXIT

client() { PATH=/usr/bin:$PATH nbdsh -u "nbd+unix:///?socket=$dir/run/demo.sock" -c "$1"; }
begin() { "$xpcache" start --fast fast --slow slow --idle-ms 0 "$@" >out 2>&1 || fail "format: start" "$(cat out)"; }
bits() { field superblock.incompat; }
# Mappings that lack sectors, and dirty ones.
lacking() { "$xpcache" dump fast --json | python3 -c 'import json, sys
m = json.load(sys.stdin)["mappings"]
print(sum(1 for x in m if x.get("lacks")), sum(1 for x in m if x["dirty"]))'; }
# Records of the ring that an older version takes for damage.
unknown_records() { python3 - "$(field superblock.journal_start)" "$(field superblock.journal_blocks)" <<'PY'
import struct, sys
start, blocks = int(sys.argv[1]), int(sys.argv[2])
fast = open("fast", "rb").read()
n = 0
for i in range(start, start + blocks):
    block = fast[4096 * i:4096 * (i + 1)]
    count = struct.unpack_from("<H", block, 4)[0] if block[:4] != bytes(4) else 0
    n += sum(1 for k in range(min(count, 168)) if block[64 + 24 * k + 7] or block[64 + 24 * k + 6] & 0x20)
print(n)
PY
}
# write_all: parts and whole blocks, in ./wanted as well; the seed is the content.
write_all()
{
	client "
wanted = open('wanted', 'r+b')
def put(sector, data):
    h.pwrite(data, 512 * sector)
    wanted.seek(512 * sector)
    wanted.write(data)
for n in range(40):
    put(16 * n + $1 % 7, bytes([$1 + n]) * 512)
put(4096, bytes([$1]) * 65536)
h.flush()"
}
# holds: a client reads what was written
holds() { client "
import sys
sys.exit(bytes(h.pread(4 << 20, 0)) != open('wanted', 'rb').read(4 << 20))"; }

fresh --name demo
dd if=/dev/urandom of=slow bs=1M count=4 conv=notrunc status=none
cp --sparse=always slow wanted
begin
write_all 3
rests demo
same "format: a new cache" "$(bits), parts $(lacking | cut -d ' ' -f 1)" "0x503, parts 40"
[ "$(unknown_records)" -ge 40 ] && pass "format: its records say so" || fail "format: its records say so" "$(unknown_records)"
cp --sparse=always fast fast.then
cp --sparse=always slow slow.then

# ---- back ----
begin
expect "format: one that is none" 2 "^xpcache: this version knows no format \"3\": --format: give 1 or 2$" stop --format 3 demo
expect "format: a word" 2 "^xpcache: this version knows no format \"old\": --format: give 1 or 2$" stop --format old demo
expect "format: of all that start at boot" 2 "^xpcache: it goes with one cache: --format: name the cache$" stop --boot --format 1
expect "format: it has it" 0 "stopped" stop --format 2 demo
same "format: and keeps it" "$(bits)" "0x503"
begin
expect "format: back" 0 "^demo: an older version can start it now$" stop --format 1 demo
same "format: back, in the superblock" "$(bits)" "0x3"
same "format: back, in the journal" "$(unknown_records)" "0"
expect "format: back, and sound" 0 "" check fast --slow slow --data
begin
holds && pass "format: back, and all is there" || fail "format: back, and all is there" "it reads something else"

# ---- as it is then ----
write_all 11
expect "format: no start but one converts it" 3 "^xpcache: it has the format 1, and only a start converts it: demo: xpcache stop demo, then xpcache start demo --fast $dir/fast --slow $dir/slow --convert$" \
	stop --format 2 demo
rests demo
same "format: an old one has no parts" "$(bits) $(unknown_records) $(lacking | cut -d ' ' -f 1)" "0x3 0 0"
dirty=$(lacking | cut -d ' ' -f 2)
begin
expect "format: what is whole stays dirty" 0 "" stop --format 1 demo
same "format: as much as there was" "$(lacking | cut -d ' ' -f 2)" "$dirty"

# ---- to ours ----
expect "format: converted" 0 "^demo: converted; xpcache stop --format 1 demo takes it back, for an older version$" \
	start --convert --fast fast --slow slow --idle-ms 0
holds && pass "format: converted, and all is there" || fail "format: converted, and all is there" "it reads something else"
client "h.zero(4 << 20, 4 << 20); h.flush()"
write_all 19
client "h.pwrite(b'x' * 512, (8 << 20) + 512); h.flush()"
rests demo
same "format: converted, in the superblock" "$(bits)" "0x503"
[ "$(lacking | cut -d ' ' -f 1)" -ge 1 ] && pass "format: and it has parts" || fail "format: and it has parts" "none"
expect "format: once more is no error" 0 "^demo: started" start --convert --fast fast --slow slow --idle-ms 0
holds && pass "format: and all is there still" || fail "format: and all is there still" "it reads something else"
rests demo

# ---- a question ----
begin
expect "format: back for a question" 0 "" stop --format 1 demo
python3 - "$xpcache" >answer 2>&1 <<'PY'
import os, pty, sys
for answer in (b"n\n", b"y\n"):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1], "start", "--fast", "fast", "--slow", "slow", "--idle-ms", "0"])
    os.write(fd, answer)
    seen = b""
    try:
        while some := os.read(fd, 4096):
            seen += some
    except OSError:
        pass
    os.waitpid(pid, 0)
    print(seen.decode().count("Convert it?"), seen.decode().count("demo: converted"), seen.decode().count("demo: started"))
    os.system(sys.argv[1] + " stop demo >/dev/null")
PY
same "format: asked on a terminal: no, and yes" "$(tr '\n' ' ' <answer)" "1 0 1 1 1 1 "
same "format: that was a yes" "$(bits)" "0x503"

# ---- what cannot go back ----
python3 - <<'PY'
import struct
mbr = bytearray(512)
mbr[446:462] = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + struct.pack("<II", 63, 400000)
mbr[510:] = b"\x55\xaa"
with open("old", "wb") as f:
    f.write(mbr)
    f.truncate(256 << 20)
PY
rm -f fast
truncate -s 64M fast
"$xpcache" create --fast fast --slow old --no-start --name grid >out 2>&1
"$xpcache" start --fast fast --slow old --idle-ms 0 >out 2>&1
expect "format: a grid" 3 "^xpcache: its blocks do not begin with the slow device: no older version can read it: grid: xpcache remove grid writes all back and ends it$" \
	stop --format 1 grid
expect "format: a grid: what it advises" 0 "^grid: removed" remove grid

# ---- cut before each write, both ways ----
cut_before_each()	# WORD, and a command that is killed
{
	n=0 seen=""
	while [ $n -lt 200 ]; do
		n=$((n + 1))
		cp --sparse=always fast.then fast
		cp --sparse=always slow.then slow
		[ "$1" = convert ] || begin
		if DIEAT=$n DIEAT_OF=xpcache LD_PRELOAD=$dieat "$xpcache" "${@:2}" >out 2>&1; then
			n=$((n + 1000))
		fi
		! "$xpcache" status demo >out 2>&1 || rests demo
		"$xpcache" check fast --slow slow >out 2>&1 || seen="$seen check:$?"
		begin
		holds || seen="$seen wrong"
		rests demo
	done 2>/dev/null
	same "format: $1, killed before each write" "${seen:-right}" "right"
	[ "$n" -gt 1002 ] && pass "format: $1, killed in between" || fail "format: $1, killed in between" "$n"
	same "format: $1, in the end" "$(bits)" "$([ "$1" = back ] && echo 0x3 || echo 0x503)"
}
cp --sparse=always slow.then wanted
cp --sparse=always fast.then fast
cp --sparse=always slow.then slow
begin
write_all 3
rests demo
cut_before_each back stop --format 1 demo
cp --sparse=always fast fast.then
cp --sparse=always slow slow.then
cut_before_each convert start --convert --fast fast --slow slow --idle-ms 0
