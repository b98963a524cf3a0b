# SPDX-License-Identifier: GPL-2.0-only
# Without io_uring, as in a container: each verb does the same, and says once why it is slower.

trap 'pkill -f "xpcached serve.*$dir" ; rm -rf "$dir"' EXIT
rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
head -c 24M /dev/urandom >data
cat >without <<END
#!/bin/bash
exec "$noring" "\$REFUSED" "$xpcache" "\$@"
END
chmod +x without
with_ring=$xpcache
said="^xpcached: io_uring cannot be used: "

# without NAME CODE TEXT ARGUMENT...: it does that, and nothing is said on stderr but that one line, once
without() {
	local name=$1 code=$2 text=$3
	shift 3
	xpcache=$dir/without expect "noring: $name, refused by $REFUSED" "$code" "$text" "$@"
}
once() { same "noring: said once, $1" "$(grep -c . stderr) $(grep -cE "$said$2" stderr)" "1 1"; }

export REFUSED=1
for why in "1 .*a filter of system calls" "38 .*the kernel, or the container, has none" "12 .*ulimit -l" "register .*a filter"; do
	REFUSED=${why%% *}
	without create 0 "now caches" create --fast fast --slow slow --name ring --idle-ms 0 --force --discard-dirty
	once "$REFUSED" "${why#* }"
	uri="nbd+unix:///?socket=$dir/run/ring.sock"
	nbdcopy data "$uri" >out 2>&1 && nbdcopy "$uri" back >out 2>&1
	cmp -s -n $((24 << 20)) data back && pass "noring: through it, $REFUSED" || fail "noring: through it, $REFUSED" "it differs"
	"$with_ring" stop ring --force >out 2>&1
done
REFUSED=1
without check 0 "sound" check fast --slow slow --data
without dump 0 "mappings: [1-9]" dump fast
cp --sparse=always fast fast2
cp --sparse=always slow slow2
without rescue 0 "every block is written back" flush --offline --rescue --fast fast2 --slow slow2
cmp -s -n $((24 << 20)) data slow2 && pass "noring: rescued" || fail "noring: rescued" "it differs"
without "flush --offline" 0 "every block is written back" flush --offline --fast fast --slow slow
cmp -s -n $((24 << 20)) data slow && pass "noring: home" || fail "noring: home" "it differs"
without start 0 "started" start --fast fast --slow slow
nbdcopy data "nbd+unix:///?socket=$dir/run/ring.sock" >out 2>&1
without status 0 "ring +running" status
without stop 0 "stopped" stop ring
without remove 0 "removed" remove ring --fast fast --slow slow
without "bench of one at a time" 0 "." bench ./slow --seconds 0.1 --test randread --engine psync
./without bench ./slow --seconds 0.1 --depth 4 >stdout 2>stderr	# each of its runs says it
same "noring: bench of many names the cause" "$? $(grep -cvE 'io_uring is refused: .*a filter of system calls.*: give --engine psync' stderr)" "1 0"
# A client that says nothing, one that goes, one that is told to: what an io_uring would wait for.
rm -f fast slow fast2 slow2
truncate -s 64M fast
truncate -s 256M slow
without "create again" 0 "now caches" create --fast fast --slow slow --name ring
python3 - "$dir/run/ring.sock" >out 2>&1 <<'PY'
import socket, sys, time
begun = time.monotonic()
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(20)
assert len(s.recv(18)) == 18
assert s.recv(1) == b""
assert 9 < time.monotonic() - begun < 12
PY
same "noring: who is silent in the handshake is sent away" "$?" 0
without "remove, again" 0 "removed" remove ring
rm -f without data back
