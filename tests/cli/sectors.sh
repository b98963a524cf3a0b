# SPDX-License-Identifier: GPL-2.0-only
# A fast device with logical sectors of 4096 bytes before a slow one of 512, through xpcached: every request of any
# sectors does what it does elsewhere, by either way of I/O, and after a kill. Loop devices: as root, where there are any.

sectors_uri="nbd+unix:///?socket=$dir/run/sectors.sock"
sectors_kill() {
	kill_daemon "$dir/run/sectors"
}
rm -f fast slow
truncate -s 24M fast
truncate -s $(((16 << 20) + 1536)) slow		# the last block is short
if [ "$(id -u)" -eq 0 ] && four=$(losetup --sector-size 4096 --direct-io=on -f --show fast 2>/dev/null); then
	trap 'losetup -d "$four"; rm -rf "$dir"' EXIT
	cat >sectors.py <<'PY'
import os, random
rng = random.Random(int(open("round").read()))
size = h.get_size() >> 9
have = bytearray(open("have", "rb").read()) if os.path.exists("have") else bytearray(size << 9)
def place():
    n = rng.choice((1, 2, 3, 7, 8, 9, 16, 40, 129, 300, 2000))
    s = rng.choice((rng.randrange(size), 8 * rng.randrange(size // 8), size - n, rng.randrange(64)))
    return max(0, min(s, size - n)), n
def compare(s, n):
    got = h.pread(n << 9, s << 9)
    assert got == have[s << 9:(s + n) << 9], (s, n)
h.set_strict_mode(0)
for i in range(1500):
    s, n = place()
    op = rng.randrange(100)
    if op < 45:
        compare(s, n)
    elif op < 85:
        data = rng.randbytes(n << 9)
        h.pwrite(data, s << 9, nbd.CMD_FLAG_FUA if rng.randrange(4) == 0 else 0)
        have[s << 9:(s + n) << 9] = data
    elif op < 93:
        h.zero(n << 9, s << 9)
        have[s << 9:(s + n) << 9] = bytes(n << 9)
    else:
        h.flush()
# Many at once, each from its own place.
pending, buffers = [], []
for i in range(200):
    s, n = place()
    b = nbd.Buffer(n << 9)
    buffers.append((b, s, n))
    pending.append(h.aio_pread(b, s << 9))
while h.aio_in_flight(): h.poll(-1)
for c in pending: assert h.aio_command_completed(c)
for b, s, n in buffers: assert b.to_bytearray() == have[s << 9:(s + n) << 9], (s, n)
h.flush()
open("have", "wb").write(have)
PY
	expect "sectors: create" 0 "is made to cache" create --fast "$four" --slow slow --name sectors --no-start --force
	for round in 1 2 3 4 5 6; do
		echo $round >round
		with=(--verify $((round % 3 == 0)))
		case $round in
		[246]) by=threads; "$noring" 1 "$xpcache" start --fast "$four" --slow slow --idle-ms 0 "${with[@]}" >out 2>&1 || fail "sectors: start" "$round" ;;
		*) by=io_uring; "$xpcache" start --fast "$four" --slow slow --idle-ms $((round == 5 ? 100 : 0)) "${with[@]}" >out 2>&1 || fail "sectors: start" "$round" ;;
		esac
		PATH=/usr/bin:$PATH timeout 120 nbdsh -u "$sectors_uri" -c 'exec(open("sectors.py").read())' >out 2>&1
		same "sectors: requests of any sectors, round $round, $by, ${with[*]}" "$? $(tail -n 1 out)" "0 "
		same "sectors: the fast device has refused none, round $round" "$("$xpcache" status sectors --json | python3 -c 'import json, sys
c = json.load(sys.stdin)["caches"][0]["counters"]
print(c["fast_errors"], c["slow_errors"], c["write_blocks"] > 0, c["read_hits"] > 0)')" "0 0 True True"
		[ $round = 3 ] && rests sectors || sectors_kill
	done
	expect "sectors: check" 0 "sound" check "$four" --slow slow --data
	expect "sectors: home" 0 "every block is written back" flush --offline --fast "$four" --slow slow
	same "sectors: the slow device alone" "$(cmp slow have && echo same)" "same"
	# The other way round: the cache has the larger sectors too.
	rm -f fast.small
	truncate -s 24M fast.small
	truncate -s 16M slow.four
	large=$(losetup --sector-size 4096 --direct-io=on -f --show slow.four)
	trap 'losetup -d "$four" "$large"; rm -rf "$dir"' EXIT
	expect "sectors: a slow device of 4096" 0 "now caches" create --fast fast.small --slow "$large" --name sectors --engine user
	PATH=/usr/bin:$PATH timeout 60 nbdsh -u "$sectors_uri" -c 'assert h.get_block_size(nbd.SIZE_MINIMUM) == 4096
h.pwrite(b"4" * 8192, 4096); assert h.pread(8192, 4096) == b"4" * 8192; h.flush()' >out 2>&1
	same "sectors: a slow device of 4096: it is used" "$? $(tail -n 1 out)" "0 "
	rests sectors
	truncate -s 16M slow.copy
	expect "sectors: a copy with smaller ones" 3 "not the slow device of sectors: its logical sector is 512 bytes, and was 4096: slow.copy: give the right one.* a copy of it needs sectors of 4096 bytes, by nvme format or cryptsetup luksFormat --sector-size 4096, which destroy what is there" \
		start --fast fast.small --slow slow.copy --force
	# Larger than a block is too large, in whatever way it is given.
	too_wide() { LD_PRELOAD=$wide WIDE=$2 expect "sectors: $1, of 8192" 3 "its logical sector is 8192 bytes, and a cache takes at most 4096: $2: take another" "${@:3}"; }
	for disk in "$four" "$large"; do
		too_wide "create, $disk" "$disk" create --fast "$four" --slow "$large" --no-start --force
		too_wide "check, $disk" "$disk" check "$four" --slow "$large"
		LD_PRELOAD=$wide WIDE=$disk "${xpcache}d" serve --fast "$four" --slow "$large" --control run/wide.control >out 2>&1
		same "sectors: the daemon, $disk, of 8192" "$? $(grep -c "its logical sector is 8192 bytes, and a cache takes at most 4096: $disk: take another" out)" "3 1"
	done
	too_wide "start" "$four" start --fast "$four" --slow "$large" --engine user
	losetup -d "$four" "$large"
	trap 'rm -rf "$dir"' EXIT
fi
rm -f fast slow fast.small slow.four slow.copy have round sectors.py
