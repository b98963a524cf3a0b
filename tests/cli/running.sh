# SPDX-License-Identifier: GPL-2.0-only
# What asks a running cache, before a device mapper of our own: tests/cli/running.c.

export RUNNING=$dir/running

# answers STEP...: the target's histograms after each step, a number of reads that hit
# (10 us) and of such that miss (8 ms); and its status.
answers()
{
	rm -rf "$RUNNING"
	mkdir "$RUNNING"
	echo xpcache0 >"$RUNNING/list"
	python3 - "$@" <<'END'
import os, sys

classes = ("read-hit read-miss read-bypass write write-bypass write-stalled flush discard "
           "fast-read fast-write slow-read slow-write slow-flush").split()
times = {"read-hit": 10000, "fast-read": 9000, "read-miss": 8000000, "slow-read": 7900000}

def bin_of(ns):
    e = max(0, ns.bit_length() - 7)
    return (e << 6) + (ns >> e)

def line(name, n):
    if not n:
        return f"{name} 0 0 0 0\n"
    ns = times[name]
    return f"{name} {n} {n * ns} {ns} {ns} {bin_of(ns)}:{n}\n"

hits = misses = 0
for i, step in enumerate(sys.argv[1:], 1):
    more = [int(n) for n in step.split(",")]
    hits, misses = hits + more[0], misses + more[1]
    count = {"read-hit": hits, "fast-read": hits, "read-miss": misses, "slow-read": misses}
    with open(f"{os.environ['RUNNING']}/xpcache0.histogram.{i}", "w") as f:
        f.write(f"histogram on tsc {10 ** 9 * i}\n")
        f.writelines(line(name, count.get(name, 0)) for name in classes)
    with open(f"{os.environ['RUNNING']}/xpcache0.status.{i}", "w") as f:
        f.write(f"running slots 1000 dirty 250 clean 750 free 0 journal_blocks 100 journal_used 50 "
                f"read_hits {hits} read_misses {misses} writes 0 written_back 0 pressure 0 memory 24000\n")
END
}

# ask NAME CODE TEXT ARGUMENT...: as expect, of the cache that runs
ask() { LD_PRELOAD=$running expect "$@"; }

# value EXPRESSION: of the JSON in stdout, a list of a line each
value()
{
	python3 -c '
import json, sys
v = [json.loads(line) for line in open("stdout") if line.startswith("{")] if sys.argv[2] == "lines" else json.load(open("stdout"))
print(eval(sys.argv[1]))' "$1" "${2:-one}"
}

answers 9700,300 100,100 0,50
ask "status tells latencies" 0 "^  p50, p99  hits 10.0 us, 10.0 us; misses 8.00 ms, -; writes -, -$" status xpcache0
same "status tells hits by time" "$(grep -c 'hits are 97.0 % of reads and 3.9 % of the time' stdout)" 1
ask "status --json tells them" 0 latency status xpcache0 --json
same "status --json: figures" "$(value '[v["caches"][0]["latency"]["read-miss"][k] for k in ("count", "p50", "p99", "max_ns")]')" \
	"[300, 8000000.0, None, 8000000]"
ask "status of an older module" 0 "^  ghosts    - hits; a quarter more slots would hit about - of the misses$" status xpcache0
same "status of an older module: what else is not known" "$(grep -E '^  (cost|streams) ' stdout)" \
	"  cost      - fills a hit; - bytes to the fast device a user byte
  streams   -, and - of them bypassed the cache; of written ones -"
ask "status --json of an older module" 0 '"ghost_hit_ratio":null' status xpcache0 --json
same "status --json of an older module: null" "$(value '[v["caches"][0][k] for k in ("fills_per_hit", "fast_bytes_per_user_byte")]')" \
	"[None, None]"
echo "running slots 1000 requests_read_hit 9 read_blocks_fast 3000 read_blocks_slow 1000 write_blocks 700 write_bypass_blocks 300" \
	"fills 600 fast_bytes_written 10240000 streams_seen 7 stream_bypass_blocks 262144 stream_bypass_written 131072 ghost_hits 1234 ghost_hits_quarter 31" \
	>"$RUNNING/xpcache0.status.1"
ask "status tells ghost hits" 0 "^  ghosts    1,234 hits; a quarter more slots would hit about 3.1 % of the misses$" status xpcache0
same "status tells what is kept" "$(grep -E '^  (cost|streams) ' stdout)" \
	"  cost      0.20 fills a hit; 0.50 bytes to the fast device a user byte
  streams   7, and 1.00 GiB of them bypassed the cache; of written ones 512 MiB"
ask "status --json tells ghost hits" 0 '"ghost_hits_quarter":31' status xpcache0 --json
same "status --json tells what is kept" \
	"$(value '[v["caches"][0][k] for k in ("ghost_hit_ratio", "fills_per_hit", "fast_bytes_per_user_byte")]')" "[0.031, 0.2, 0.5]"
answers 9700,300 100,100 0,50
ask "histogram" 0 "^hit minus fast leg: \+1.00 us is our own cost" histogram xpcache0
same "histogram: bars" "$(grep -cE '^  (7.94 ms|10.0 us)  #{46} 100.0 %  p50' stdout)" 2
ask "histogram: a class by its first name" 0 "" histogram xpcache0 --class write-through --csv
LC_ALL=C.UTF-8 ask "histogram in UTF-8" 0 "^  10.0 µs  █{46} 100.0 %  p50..max$" histogram xpcache0 --class read-hit
ask "histogram --json" 0 '"classes"' histogram xpcache0 --json
same "histogram --json: figures" \
	"$(value '[v["name"], v["recording"], v["clock"], v["seconds"], len(v["classes"]), v["classes"]["read-hit"]["bins"]]')" \
	"['xpcache0', True, 'tsc', 1.0, 14, [[9984, 10112, 9700]]]"
ask "histogram --csv" 0 "^read-miss,7995392,8060928,300,100.000000$" histogram xpcache0 --csv
same "histogram --csv: names" "$(head -n 1 stdout)" "class,from_ns,to_ns,count,cumulative_percent"
ask "histogram --hgrm" 0 "^ +8000.000 1.000000000000 +300$" histogram xpcache0 --hgrm --class read-miss
ask "intervals" 0 '"seconds":1.0' histogram xpcache0 --json --interval 0.1 --count 2
same "intervals: what came in each" \
	"$(value '[[l["classes"][c]["count"] for c in ("read-hit", "read-miss")] for l in v]' lines)" "[[100, 100], [0, 50]]"
ask "totals" 0 '"seconds":3.0' histogram xpcache0 --json --interval 0.1 --count 2 --total
same "totals: all at each" \
	"$(value '[[l["classes"][c]["count"] for c in ("read-hit", "read-miss")] for l in v]' lines)" "[[9800, 400], [9800, 450]]"
ask "intervals in words" 0 "^xpcache0: latency in the last 1.0 s$" histogram xpcache0 --interval 0.1 --count 1
ask "intervals as CSV" 0 "^2.000,read-hit,9984,10112,100,100.000000$" histogram xpcache0 --interval 0.1 --count 1 --csv
ask "top" 0 "^read-miss +[0-9.]+ +>99%  +8.00 ms" top --interval 0.1 --count 1
same "top: hits by time" "$(grep -c 'hits: 50.0 % of reads, 0.1 % of time' stdout)" 1
ask "top --json" 0 '"dirty_ratio":0.25,"journal_ratio":0.5,' top --interval 0.1 --count 2 --json
same "top --json: hits" "$(value '[l["caches"][0]["hit_ratio"] for l in v]' lines)" "[0.5, 0.0]"
answers 100,0 200,0
echo "histogram on tsc 5" >"$RUNNING/xpcache0.histogram.2"
ask "half an answer" 1 "does not tell latencies as version .*: xpcache0: load the module" histogram xpcache0 --interval 0.1
ask "histogram of no cache" 5 "no running cache" histogram xpcache1

# Ctrl-C and the like: the usual end.
rm "$RUNNING/asked"
LD_PRELOAD=$running "$xpcache" top --interval 60 >out 2>&1 </dev/null &
pid=$!
for _ in $(seq 100); do
	grep -qs histogram "$RUNNING/asked" && break
	sleep 0.1
done
sleep 0.2
kill -TERM $pid
wait $pid
same "ended from elsewhere, top is content" "$?" 0

# A module that does not know the message says so in the kernel's log, each time.
answers 10,10 10,10 10,10 10,10
rm "$RUNNING"/xpcache0.histogram.*
ask "histogram, older module" 1 "does not tell latencies .*: xpcache0: load the module" histogram xpcache0
ask "status, older module" 0 "^  errors" status xpcache0
same "status, older module: nothing of latencies" "$(grep -c 'p50' stdout)" 0
ask "status --json, older module" 0 '"counters"' status --json
same "status --json, older module: no latency" "$(value '"latency" in v["caches"][0]')" False
rm "$RUNNING/asked"
ask "top, older module" 0 "^latency: this module does not tell it$" top --interval 0.1 --count 3
same "top, older module: asked once" "$(grep -c histogram "$RUNNING/asked")" 1
same "top, older module: hits" "$(grep -c 'hits: 50.0 % of reads$' stdout)" 3

# Asleep, for a hibernation.
answers 10,10
touch "$RUNNING/asleep"
ask "list of one asleep" 0 "^xpcache0 +asleep +- " list
ask "status of one asleep" 0 "leads there alone, for a hibernation" status xpcache0
ask "status --json of one asleep" 0 '"state":"asleep"|"state": *"asleep"' status xpcache0 --json
ask "flush of one asleep" 0 "nothing is dirty: it is detached" flush xpcache0
ask "list --json of one asleep" 0 '"state": *"asleep"' list --json
same "list --json of one asleep: it has no fast device" "$(grep -c '"fast": *null' stdout)" 1
ask "stop of one asleep" 0 "stopped; it was detached, and has no dirty block" stop xpcache0
for verb in remove histogram partitions detach; do
	ask "$verb of one asleep" 3 "it is detached for hibernation, .*: xpcache0: xpcache hibernate --end reattaches it" $verb xpcache0
done
rm "$RUNNING/asleep"

# / is on it, and an xpcached beside does not answer as it should: it is not taken for one that rests,
# which would be given up.
uuid=00000000000000000000000000000001
mkdir -p "$XPCACHE_RUNTIME_DIR" "$XPCACHE_ETC"
echo '{"name": "xpcache0", "uuid": "'$uuid'", "start": "initramfs", "slow": {"hardware": "OLD_DISK", "sectors": 7, "logical_size": 512}}' >"$XPCACHE_ETC/$uuid.json"
python3 -c '
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind(os.environ["XPCACHE_RUNTIME_DIR"] + "/other.control")
s.listen()
while True:
    c, _ = s.accept()
    c.recv(200)
    c.sendall(b"error 5\n")
    c.close()' &
troubled=$!
for _ in $(seq 100); do [ ! -e "$XPCACHE_RUNTIME_DIR/other.control" ] || break; sleep 0.1; done
XPCACHE_INITRAMFS=$(type -P true) ask "undo beside an xpcached in trouble" 0 "xpcache0: at the next boot every block is written back" adopt --undo
kill $troubled
wait $troubled 2>/dev/null
rm -r "$XPCACHE_RUNTIME_DIR/other.control" "$XPCACHE_RUNTIME_DIR/initramfs.lock" "$XPCACHE_ETC"
