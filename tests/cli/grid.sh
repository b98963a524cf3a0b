# SPDX-License-Identifier: GPL-2.0-only
# A disk whose partitions begin off 4 KiB: the blocks of its cache begin where those of the partitions do. What
# is written to it there needs no slot in part, and is where it should be on the slow device, whoever brings it there.

grid_uri="nbd+unix:///?socket=$dir/run/grid.sock"
grid_does() { PATH=/usr/bin:$PATH timeout 300 nbdsh -u "$grid_uri" -c "$1" >out 2>&1 || fail "grid: nbdsh" "$(cat out)"; }
grid_kill() { kill_daemon "$dir/run/grid"; }
field() { "$xpcache" dump fast --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["superblock"][sys.argv[1]])' "$1"; }
mapped() { "$xpcache" dump fast --json | python3 -c 'import json, sys
print(*sorted((m["lba"], m["lacks"] if "lacks" in m else 0) for m in json.load(sys.stdin)["mappings"] if m["dirty"]))'; }

# disk SECTORS START... - a disk of 4,099 sectors more than that, each with its number, and partitions that end where the next begins.
grid_disk() {
	python3 - "$@" <<'PY'
import struct, sys
total, starts = int(sys.argv[1]), list(map(int, sys.argv[2:]))
data = bytearray(b"".join(b"%511d\n" % s for s in range(total)))
mbr = bytearray(512)
for i, (start, end) in enumerate(zip(starts, starts[1:] + [total])):
    mbr[446 + 16 * i:462 + 16 * i] = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + struct.pack("<II", start, end - start)
mbr[510:] = b"\x55\xaa"
data[:512] = mbr
open("slow", "wb").write(data)
PY
	cp slow slow.first
	rm -f fast
	truncate -s 64M fast
}
# Sector numbers of the slow device that are not as at first.
changed() { python3 -c '
a, b = open("slow", "rb").read(), open("slow.first", "rb").read()
n = [i for i in range(len(a) // 512) if a[512 * i:512 * i + 512] != b[512 * i:512 * i + 512]]
print(f"{n[0]}-{n[-1]} {len(n)}" if n else "none")'; }

for start in 63 2048 2049 2055; do
	grid_disk 40001 $start
	expect "grid: a partition at $start" 0 "" create --fast fast --slow slow --name grid --no-start
	same "grid: a partition at $start: sector $((start % 8))" "$(field grid)" "$((start % 8))"
done
grid_disk 40001 63 10000
expect "grid: of two partitions the larger" 0 "" create --fast fast --slow slow --name grid --no-start
same "grid: of two partitions the larger, at 10000" "$(field grid)" "0"
grid_disk 40001 64 12000 24063
expect "grid: of three the two that are aligned alike" 0 "" create --fast fast --slow slow --name grid --no-start
same "grid: of three the two at 64 and 12000" "$(field grid)" "0"

# Of a remote disk, which libblkid cannot read: the same, logical partitions as well. One that is addressed by blocks has none.
# remote NAME GRID OPTION... - of nbdkit.
grid_remote()
{
	rm -f fast nbdkit.pid nbd.sock
	truncate -s 64M fast
	PATH=/usr/sbin:$PATH nbdkit -P nbdkit.pid -U "$dir/nbd.sock" ${3:+"$3"} file slow "${@:4}" || fail "grid: $1: nbdkit" "it does not start"
	for _ in $(seq 50); do [ -s nbdkit.pid ] && break; sleep 0.1; done
	expect "grid: $1" 0 "" create --fast fast --slow "nbd+unix:///?socket=$dir/nbd.sock" --name grid --no-start
	same "grid: $1: sector $2" "$(field grid)" "$2"
	kill "$(cat nbdkit.pid)"
}
grid_disk 40001 63
grid_remote "a remote disk" 7
grid_disk 40000 63
grid_remote "a remote disk of 4,096 bytes" 0 --filter=blocksize-policy blocksize-minimum=4096 blocksize-preferred=4096 blocksize-maximum=1048576 blocksize-error-policy=error
python3 - <<'PY'
import struct
def table(*entries):
    data = b"".join(struct.pack("<4xB3xII", *entry) for entry in entries)
    return data + bytes(64 - len(data)) + b"\x55\xaa"
with open("slow", "r+b") as file:
    for sector, entries in ((0, [(0x83, 2048, 2000), (5, 4096, 35000)]), (4096, [(0x83, 63, 2000), (5, 3000, 30000)]), (7096, [(0x83, 7, 25000)])):
        file.seek(sector * 512 + 446)
        file.write(table(*entries))
PY
expect "grid: logical partitions" 0 "" create --fast fast --slow slow --name grid --no-start --force
same "grid: logical partitions: the larger one, at 7103" "$(field grid)" "7"
grid_remote "logical partitions of a remote disk" 7

grid_disk 40001 63
expect "grid: create says so" 0 "^its blocks begin at sector 7 of slow, as most of its partitions do\$" create --fast fast --slow slow --name grid --no-start
expect "grid: start" 0 "grid: started" start --fast fast --slow slow --idle-ms 0
grid_does "h.pwrite(b'A' * 4096, (63 + 800) * 512)		# a block
h.pwrite(b'B' * 20480, (63 + 1600) * 512)	# five
h.pwrite(b'C' * 512, (63 + 2402) * 512)		# a sector
h.pwrite(b'D' * 512, 3 * 512)			# before the first block
h.pwrite(b'E' * 1024, 40001 * 512 - 1024)	# and behind the last
h.flush()
data = bytearray(open('slow.first', 'rb').read())
for at, n, c in ((863, 8, b'A'), (1663, 40, b'B'), (2465, 1, b'C'), (3, 1, b'D'), (39999, 2, b'E')):
    data[at * 512:(at + n) * 512] = c * 512 * n
open('wanted', 'wb').write(data)"
grid_kill
same "grid: what is written to the partition is whole" "$(mapped)" "(108, 0) (208, 0) (209, 0) (210, 0) (211, 0) (212, 0) (308, 251)"
cp --sparse=always fast fast.kept
cp slow slow.kept
again() { cp --sparse=always fast.kept fast; cp slow.kept slow; }
expect "grid: check" 0 "map: 7 blocks .28.0 KiB. dirty" check fast --slow slow --data
expect "grid: flush --offline" 0 "every block is written back" flush --offline --fast fast --slow slow
same "grid: flush --offline brings it there" "$(cmp slow wanted && echo same)" "same"
again
expect "grid: rescue" 0 "every block is written back" flush --offline --rescue --fast fast --slow slow
same "grid: a rescue brings it there" "$(cmp slow wanted && echo same)" "same"
again
bad() { LD_PRELOAD=$badread BADREAD=$1 BADREAD_ENDS=/fast "${@:2}"; }
bad "0 16" expect "grid: by the journal alone" 0 "every block is written back" flush --offline --rescue --fast fast --slow slow --force
same "grid: by the journal alone it is there, too" "$(cmp slow wanted && echo same)" "same"
again
expect "grid: start again" 0 "grid: started" start --fast fast --slow slow --idle-ms 0
# The first of the reads is of the block whose other sectors the cache lacks: the slow device gives them.
grid_does "import random
data = open('wanted', 'rb').read()
random.seed(1)
for n in range(300):
    at, nr = (2463, 8) if not n else (random.randrange(40001), random.randrange(1, 30))
    nr = min(nr, 40001 - at)
    assert h.pread(nr * 512, at * 512) == data[at * 512:(at + nr) * 512], (at, nr)"
[ -s out ] && fail "grid: it reads what was written" "$(cat out)" || pass "grid: it reads what was written"
expect "grid: flush" 0 "every block is written back" flush grid
rests grid
same "grid: the daemon brings it there" "$(cmp slow wanted && echo same)" "same"

# What is measured as cached is: reads of 4 KiB are those of its blocks.
expect "grid: start to measure" 0 "" start --fast fast --slow slow --idle-ms 0
grid_does "for n in range(0, 3000, 2): h.pwrite(b'z' * 4096, (63 + 8 * n) * 512)
h.flush()"
"$xpcache" bench grid --places cached --quick --seconds 1 --test headline --json >bench.json 2>out || fail "grid: bench" "$(cat out)"
same "grid: bench reads what is cached" "$(python3 -c 'import json
runs = json.load(open("bench.json"))["runs"]
print(sum(r.get("hits") or 0 for r in runs) > 100, sum(r.get("misses") or 0 for r in runs))')" "True 0"
expect "grid: flush after it" 0 "every block is written back" flush grid
rests grid
cp slow wanted

# Who writes to the partition meanwhile is seen.
python3 -c 'f = open("slow", "r+b"); f.seek(63 * 512); f.write(b"X" * 512)'
expect "grid: somebody wrote to it" 0 "slow was written without the cache .it holds something else at 31.5 KiB.: .* dropped" start --fast fast --slow slow --idle-ms 0
rests grid
rm -f fast slow slow.first slow.kept fast.kept wanted bench.json
