# SPDX-License-Identifier: GPL-2.0-only
# The fast device fails under the engine in user space: every operation of ./fast, while ./broken is there.

uri="nbd+unix:///?socket=$dir/run/failing.sock"

# up ARGUMENT...: the cache, by a daemon whose devices can fail.
up() { LD_PRELOAD=$faulty FAULTY="/fast 7 1 $dir/broken" "$xpcache" start --fast fast --slow slow "$@" >out 2>&1 || fail "failing: start" "it does not"; }
stays() { "$xpcache" status failing --json | python3 -c "import json,sys; print(json.load(sys.stdin)['caches'][0]$1)"; }
until_is() { local n; for n in $(seq 100); do [ "$(stays "$1")" = "$2" ] && return; sleep 0.1; done; fail "failing: $1 is $2" "it is $(stays "$1")"; }
# at OFFSET BYTES: what the cache says, or nothing
at() { PATH=/usr/bin:$PATH nbdsh -u "$uri" -c "import sys; sys.stdout.buffer.write(h.pread($2, $1))" 2>/dev/null; }
put() { PATH=/usr/bin:$PATH nbdsh -u "$uri" -c "h.pwrite(open('$2', 'rb').read(), $1)" 2>/dev/null; }
sync_it() { PATH=/usr/bin:$PATH nbdsh -u "$uri" -c "h.flush()" 2>/dev/null; }
fails() { local name=$1; shift; if "$@" >out 2>&1; then fail "$name" "it does not fail"; else pass "$name"; fi; }

rm -f fast slow broken
truncate -s 16M fast
head -c 64M /dev/urandom >slow
cp slow wanted
"$xpcache" create --fast fast --slow slow --name failing --no-start >out 2>&1 || fail "failing: create" "it does not"
up --idle-ms 0
PATH=/usr/bin:$PATH nbdsh -u "$uri" -c "for n in range(8): h.pread(65536, n * 65536)" >out 2>&1
until_is "['counters']['clean']" 128

touch broken
at 0 65536 >got
same "failing: what is clean is read from the slow device" "$(cksum <got)" "$(head -c 65536 wanted | cksum)"
until_is "['state']" failed
expect "failing: status says since when" 0 "^  failed +since 2[0-9]{3}-[0-9:-]* [0-9:]*: $dir/fast cannot be written" status failing
expect "failing: and that nothing is lost" 0 "nothing is dirty; reads go on" status failing
at 65536 65536 >got
same "failing: so it is afterwards" "$(cksum <got)" "$(head -c 131072 wanted | tail -c 65536 | cksum)"
at $((1 << 20)) 65536 >got
same "failing: and what was never cached" "$(cksum <got)" "$(head -c $(((1 << 20) + 65536)) wanted | tail -c 65536 | cksum)"
fails "failing: a write is an error" put 0 got
fails "failing: a flush is an error" sync_it
expect "failing: stop asks" 1 "the journal cannot be written" stop failing
expect "failing: stop --force" 0 "no dirty block" stop failing --force
rm broken

# With dirty blocks, which are there again when it is.
up --idle-ms 0
head -c 8192 /dev/urandom >new
put 8192 new && sync_it || fail "failing: a write before it fails" "it does"
touch broken
fails "failing: what is dirty is an error" at 8192 4096
until_is "['state']" failed
same "failing: so many are out of reach" "$(stays "['counters']['stranded']")" 2
expect "failing: status says so" 0 "2 blocks .8.00 KiB. are there alone" status failing
at 0 8192 >got
same "failing: what is beside it is not" "$(cksum <got)" "$(head -c 8192 wanted | cksum)"
"$xpcache" stop failing --force >out 2>&1 || fail "failing: stop with dirty blocks" "it does not"
rm broken
dd if=new of=wanted bs=8192 seek=1 conv=notrunc status=none
up --idle-ms 0
at 0 65536 >got
same "failing: put back it is all there" "$(cksum <got)" "$(head -c 65536 wanted | cksum)"
expect "failing: and goes home" 0 "" flush failing
same "failing: the slow device alone" "$(cksum <slow)" "$(cksum <wanted)"
expect "failing: remove" 0 "" remove failing
