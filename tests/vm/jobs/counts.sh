# SPDX-License-Identifier: GPL-2.0-only
# vm: usr=host with=xpcached,xpcached-watch script=counts.py fast=64M slow=256M timeout=900 quick=6.12 sanitized=no
#
# What the kernel's cache counts of a known mix of requests, in every output (tests/counts.py). Each read or
# write is one bio, which the device mapper splits where the cache has its blocks in many places.

. ./lib.sh

URL=http://127.0.0.1:19798
ip link set lo up || ifconfig lo up

create --idle-ms 0 --stream-kib 2048
xpcached watch --interval 0.2 2>/tmp/watch.log &
pid=$!
settled grep -q "can be asked at $URL/" /tmp/watch.log || die listens "$(cat /tmp/watch.log)"

PYTHONDONTWRITEBYTECODE=1 python3 - $CACHE $URL >/tmp/said 2>/tmp/broken <<'END'
import fcntl, mmap, os, struct, subprocess, sys

sys.path.insert(0, "/job")
import counts

BLKDISCARD, BLKZEROOUT = 0x1277, 0x127f


class Device:
    """Each method is one bio."""

    largest = counts.MIB

    def __init__(self, path):
        self.fd, self.buffer = os.open(path, os.O_RDWR | os.O_DIRECT), memoryview(mmap.mmap(-1, counts.MIB))

    def read(self, at, n):
        assert os.preadv(self.fd, [self.buffer[:n]], at) == n

    def write(self, at, n):
        assert os.pwritev(self.fd, [self.buffer[:n]], at) == n

    def flush(self):
        os.fsync(self.fd)

    def discard(self, at, n):
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("QQ", at, n))

    def zero(self, at, n):
        fcntl.ioctl(self.fd, BLKZEROOUT, struct.pack("QQ", at, n))


def dmsetup(*words):
    return subprocess.run(["dmsetup", *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def judge(good, name, why=""):
    print("PASS" if good else "FAIL", name.replace(" ", "-").replace(":", ""), "" if good else why)


outputs = counts.Outputs("xpcache", "xpcache0", sys.argv[2], lambda: dmsetup("status", "xpcache0"),
                         lambda: dmsetup("message", "xpcache0", "0", "histogram"))
device = Device(sys.argv[1])
counts.run(device, outputs, judge)

# Without histograms they are counted all the same. What was evicted meanwhile may be a ghost.
dmsetup("message", "xpcache0", "0", "histogram_off")
before = outputs.status()
counts.reread(device)
device.read(0, counts.MIB)
got, wanted = counts.added(before, outputs.status(), {
    "requests_read_hit|requests_read_miss|requests_read_bypass": 201, "read_blocks_fast|read_blocks_slow": 6656,
    "ghost_hits|ghost_hits_quarter": None})
counts.same(judge, "without histograms", got, wanted)
END
code=$?
while read -r word name why; do
	[ "$word" = PASS ] && pass "$name" || fail "$name" "$why"
done </tmp/said
[ $code -eq 0 ] || fail mix "status $code: $(tail -n 3 /tmp/broken | tr '\n' ' ')"
cat /tmp/broken
kill -TERM $pid
wait $pid
remove
