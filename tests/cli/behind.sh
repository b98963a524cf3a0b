# SPDX-License-Identifier: GPL-2.0-only
# The slow device is written while the cache does not run. A life ends in order (stop) or not
# (killed); the cache has dirty blocks or none.

behind_uri="nbd+unix:///?socket=$dir/run/behind.sock"
head -c 4M /dev/urandom >data

behind_does() { PATH=/usr/bin:$PATH nbdsh -u "$behind_uri" -c "$1; h.flush(); h.shutdown()" >out 2>&1; }

behind_clean() { "$xpcache" status behind --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["caches"][0]["counters"]["clean"])'; }

# A cache that holds its disk, as what is read from one end to the other stays: an ext4, and 4 MiB behind
# it, at 48 MiB, dirty. Read by one request at a time: of many at once some are not admitted. Nor are all
# where the host is busy: then once more.
behind_cache() {
	local write='h.pwrite(open("data", "rb").read(), 48 << 20)'
	[ "${1:-}" != clean ] || write=pass
	rm -f fast slow
	truncate -s 64M fast
	truncate -s 56M slow
	mkfs.ext4 -qF slow 40M
	head -c 16M /dev/urandom | dd of=slow bs=1M seek=40 conv=notrunc iflag=fullblock status=none
	"$xpcache" create --fast fast --slow slow --name behind --idle-ms 0 --dirty-low 70 --stream-kib 0 >out 2>&1 ||
		fail "behind: create" "no cache"
	for _ in {1..20}; do
		behind_does '[h.pread(256 << 10, n << 18) for n in range(224)]'
		[ "$(behind_clean)" -lt 10000 ] || break
	done
	behind_does "$write"
}

behind_stop() { "$xpcache" stop behind >out 2>&1 || fail "behind: stop" "it does not"; }

behind_kill() {
	kill_daemon "$dir/run/behind"
}

# As mount and unmount do: a mount more, at its time, and a kilobyte written.
somebody_mounts() {
	python3 - <<'PY'
import struct
with open("slow", "r+b") as f:
    f.seek(1024)
    sb = bytearray(f.read(1024))
    struct.pack_into("<I", sb, 0x2c, 0x6a000000)
    struct.pack_into("<H", sb, 0x34, struct.unpack_from("<H", sb, 0x34)[0] + 1)
    struct.pack_into("<Q", sb, 0x178, struct.unpack_from("<Q", sb, 0x178)[0] + 1)
    f.seek(1024)
    f.write(sb)
PY
}

holds() { nbdcopy "$behind_uri" back >out 2>&1 && cmp -s -n $((4 << 20)) -i 0:$((48 << 20)) data back; }

# Starts, and nothing was found.
behind_quiet() {
	expect "$1" 0 "^behind: started" start --fast fast --slow slow --stream-kib 0
	grep -q "without the cache" out && fail "$1" "it takes the disk for another"
}

behind_start() { expect "$1" "$2" "$3" start --fast fast --slow slow --stream-kib 0 "${@:4}"; }

behind_cache
behind_stop
behind_quiet "behind: nobody wrote"
behind_stop
before=$(sha256sum fast)
somebody_mounts
after=$(sha256sum slow)
behind_start "behind: written, and dirty blocks" 3 "written without the cache behind .it holds something else at 0 B., while 1,024 blocks .4.00 MiB. are dirty on fast.*--prefer-cache.*--discard-dirty"
expect "behind: nor is it flushed" 3 "written without the cache" flush --offline --fast fast --slow slow
expect "behind: nor removed" 3 "written without the cache" remove --fast fast --slow slow behind
same "behind: nothing was changed" "$(sha256sum fast slow)" "$(printf '%s\n%s' "$before" "$after")"
cp fast fast.then
cp slow slow.then
behind_start "behind: the disk is preferred" 0 "and 1,024 blocks .4.00 MiB. that were dirty" --discard-dirty
nbdcopy "$behind_uri" back >out 2>&1
cmp -s slow back && pass "behind: it holds what the disk holds" || fail "behind: it holds what the disk holds" "it differs"
behind_stop
behind_quiet "behind: it is asked once"
behind_stop
cp fast.then fast
behind_start "behind: the cache is preferred" 0 "1,024 blocks .4.00 MiB. are written back to slow" --prefer-cache
expect "behind: and nothing else is cached" 0 "clean +0 blocks" status behind
holds && pass "behind: what was dirty is there" || fail "behind: what was dirty is there" "it differs"
behind_stop
cmp -s <(head -c 40M slow) <(head -c 40M back) && pass "behind: around it is what the disk held" || fail "behind: around it is what the disk held" "it differs"

# Begun, and not ended: what it has found is not found out again.
cp fast.then fast
cp slow.then slow
somebody_mounts
XPCACHE_RUNTIME_DIR=/dev/null/there behind_start "behind: the cache is preferred, in vain" 1 "cannot make the directory" --prefer-cache
cp slow.then slow
serve=$(dirname "$xpcache")/xpcached
"$serve" serve --fast fast --slow slow --control run/behind.control --socket run/behind.sock --detach >out 2>&1
behind_stop
same "behind: it can be seen" "$(field fingerprint.stale)" "True"
behind_start "behind: that is remembered" 3 "before a --prefer-cache that did not end"
behind_start "behind: and gone on with" 0 "1,024 blocks .4.00 MiB. are written back to slow" --prefer-cache
expect "behind: nothing else is cached then" 0 "clean +0 blocks" status behind
behind_stop
behind_quiet "behind: and forgotten"
behind_stop

behind_start "behind: both at once" 2 "give one" --prefer-cache --discard-dirty
expect "behind: of all" 2 "name the cache whose disk" start --all --discard-dirty
behind_start "behind: nothing to choose" 0 "as the cache left it" --discard-dirty
expect "behind: flush of what runs" 2 "give --offline too" flush behind --discard-dirty
expect "behind: remove of what runs" 2 "when a stopped cache starts" remove behind --prefer-cache
behind_stop

# Space that was free may turn into zeros; nothing else may happen to it.
spread_lba() { python3 -c '
import struct
block = open("fast", "rb").read()[8 * 4096:9 * 4096]
lbas = [struct.unpack_from("<Q", block, 64 + 16 * i)[0] for i in range(struct.unpack_from("<I", block, 56)[0])]
print(next(lba for lba in lbas if lba > 11000))'; }
behind_cache clean
behind_stop
lba=$(spread_lba)
head -c 4096 /dev/urandom | dd of=slow bs=4096 seek="$lba" conv=notrunc status=none
behind_start "behind: one block, of no file system" 0 "slow was written without the cache"
nbdcopy "$behind_uri" null: >out 2>&1
behind_stop
dd if=/dev/zero of=slow bs=4096 seek="$lba" count=1 conv=notrunc status=none
behind_quiet "behind: it was trimmed"
nbdcopy "$behind_uri" null: >out 2>&1
behind_stop
head -c 4096 /dev/urandom | dd of=slow bs=4096 seek="$lba" conv=notrunc status=none
behind_start "behind: what was blank is not" 0 "slow was written without the cache"
behind_stop

# Where a partition begins nothing is free.
rm -f fast slow
truncate -s 64M fast
truncate -s 56M slow
printf 'label: gpt\nstart=2048, size=16M\nstart=40960\n' | sfdisk -q slow
head -c 4096 /dev/urandom | dd of=slow bs=1M seek=20 conv=notrunc status=none
"$xpcache" create --fast fast --slow slow --name behind --idle-ms 0 >out 2>&1 || fail "behind: create" "no cache"
behind_does 'h.pwrite(bytes(8192), 48 << 20)'
behind_stop
behind_quiet "behind: a partition that nobody wrote"
behind_stop
dd if=/dev/zero of=slow bs=4096 seek=5120 count=1 conv=notrunc status=none
behind_start "behind: a partition that is blank" 3 "it holds something else at 20.0 MiB"

# A boot loader is installed: its code in the first sector, the rest before the first partition or in
# one of its own. It knows no cache, and says nothing of file systems.
loader_disk() {
	rm -f fast slow
	truncate -s 64M fast
	truncate -s 56M slow
	printf "$1" | sfdisk -q slow
	"$xpcache" create --fast fast --slow slow --name behind --idle-ms 0 --dirty-low 70 >out 2>&1 || fail "behind: create" "no cache"
	loader_is_read
}
loader_is_read() {
	behind_does '[h.pread(256 << 10, n << 18) for n in range(6)]'
	behind_does 'h.pwrite(bytes(8192), 48 << 20)'
}
loader_is_installed() {
	head -c 440 /dev/urandom | dd of=slow conv=notrunc status=none
	head -c 8192 /dev/urandom | dd of=slow bs=1 seek="$1" conv=notrunc status=none
}
for kind in 'dos 512 label:\tdos\nstart=2048,size=16M\nstart=40960\n' \
	'gpt 1048576 label:\tgpt\nstart=2048,size=2048,type=21686148-6449-6E6F-744E-656564454649\nstart=40960\n'; do
	read -r table at script <<<"$kind"
	loader_disk "$script"
	behind_stop
	loader_is_installed "$at"
	behind_quiet "behind: a boot loader on $table"
	loader_is_read
	behind_kill
	loader_is_installed "$at"
	behind_quiet "behind: a boot loader on $table, killed"
	behind_kill
	printf '\x80' | dd of=slow bs=1 seek=446 conv=notrunc status=none
	behind_start "behind: and the table of $table" 3 "it holds something else at 0 B"
	printf '\x00' | dd of=slow bs=1 seek=446 conv=notrunc status=none
	behind_quiet "behind: back again, on $table"
	behind_stop
	head -c 512 /dev/urandom | dd of=slow bs=512 seek=40960 conv=notrunc status=none
	behind_start "behind: and a partition of $table" 3 "it holds something else at 20.0 MiB"
done

behind_cache clean
behind_stop
somebody_mounts
behind_start "behind: only clean blocks" 0 "slow was written without the cache .*[0-9],[0-9]* blocks .* of it dropped"
nbdcopy "$behind_uri" back >out 2>&1
cmp -s slow back && pass "behind: the disk is read" || fail "behind: the disk is read" "it differs"
behind_stop

# A change where the cache has nothing; and after a flush from user space.
rm -f fast slow
truncate -s 64M fast
truncate -s 56M slow
mkfs.ext4 -qF slow 40M
"$xpcache" create --fast fast --slow slow --name behind --idle-ms 0 >out 2>&1
PATH=/usr/bin:$PATH nbdsh -u "$behind_uri" -c 'h.pwrite(b"x" * 4096, 48 << 20); h.flush(); h.shutdown()' >out 2>&1
behind_stop
cp slow slow.then
somebody_mounts
behind_start "behind: where the cache has nothing" 3 "it holds something else at 0 B.*1 block"
cp slow.then slow
expect "behind: flush from user space" 0 "every block is written back" flush --offline --fast fast --slow slow
cp slow slow.then
behind_quiet "behind: it is at rest after it"
behind_stop
cp slow.then slow
somebody_mounts
behind_start "behind: written after it" 0 "slow was written without the cache .*1 block"
behind_stop

# Killed: what the fingerprint says is of an earlier rest.
behind_cache
behind_kill
"$xpcache" dump fast | grep -qE "^ +0 +[0-9]+" && pass "behind: it has the superblock" || fail "behind: it has the superblock" "no"
behind_quiet "behind: killed, and nobody wrote"
holds && pass "behind: nothing is lost" || fail "behind: nothing is lost" "it differs"
behind_kill
somebody_mounts
behind_start "behind: killed, and written" 3 "written without the cache"
behind_start "behind: killed, and the cache preferred" 0 "are written back to slow" --prefer-cache
holds && pass "behind: killed, and what was dirty is there" || fail "behind: killed, and what was dirty is there" "it differs"
behind_kill

# Its superblock is dirty: an older one on the disk is right, a newer one is somebody's.
superblock() { PATH=/usr/bin:$PATH nbdsh -u "$behind_uri" -c 'b = bytearray(h.pread(4096, 0)); b[1024 + 0x178] += '"$1${2:-}"'; h.pwrite(b, 0); h.flush(); h.shutdown()' >out 2>&1; }
behind_cache
superblock 2
behind_kill
behind_quiet "behind: a dirty superblock"
behind_kill
for _ in 1 2 3; do somebody_mounts; done
behind_start "behind: an even newer one" 3 "ext4 at 0 B, used since"

# Somebody went on from where the cache began: that is less than the cache has counted, but its first mount is another.
behind_cache
superblock 100 '; b[1024 + 0x34] += 1; b[1024 + 0x2f] = 0x6b'
behind_kill
behind_quiet "behind: a mount that is not home"
behind_kill
somebody_mounts
behind_start "behind: a mount of the disk in its place" 3 "ext4 at 0 B, used since"

# A superblock that somebody restored through the cache is older than that on the disk: so it should be.
behind_cache
superblock 5
expect "behind: its newer one is home" 0 "every block is written back" flush behind
behind_stop
behind_quiet "behind: it is at rest"
superblock -5
behind_kill
behind_quiet "behind: an older one was restored"
behind_kill

# What was noted may be damaged.
behind_cache
behind_stop
printf 'x' | dd of=fast bs=1 seek=$((8 * 4096 + 100)) conv=notrunc status=none
somebody_mounts
behind_start "behind: one copy of what was noted is damaged" 3 "written without the cache"
printf 'x' | dd of=fast bs=1 seek=$((24 * 4096 + 100)) conv=notrunc status=none
behind_start "behind: both are" 3 "written without the cache"

# One that never had it, as adopt makes them: the disk was in use, and the first start notes it.
no_fingerprint() { for block in 8 24; do dd if=/dev/zero of=fast bs=4096 seek=$block count=1 conv=notrunc status=none; done; }
behind_cache
behind_kill
no_fingerprint
behind_quiet "behind: none was noted, and nobody wrote"
behind_kill
no_fingerprint
head -c 4M data | tr '\0-\377' '\1-\377\0' | dd of=slow bs=1M seek=40 conv=notrunc status=none
behind_start "behind: none was noted, and a clean block is another" 3 "written without the cache .*, while 1,024 blocks .4.00 MiB. are dirty"
somebody_mounts
behind_start "behind: none was noted, and somebody mounted it" 3 "written without the cache"
rm -f fast slow
truncate -s 64M fast
truncate -s 56M slow
mkfs.ext4 -qF slow 40M
"$xpcache" create --fast fast --slow slow --name behind --no-start >out 2>&1
no_fingerprint
somebody_mounts
behind_quiet "behind: the first start of one that has nothing"
same "behind: notes what the disk holds" "$("$xpcache" dump fast --json | python3 -c 'import json, sys; print(bool(json.load(sys.stdin).get("fingerprint")))')" True
PATH=/usr/bin:$PATH nbdsh -u "$behind_uri" -c 'h.pwrite(b"x" * 4096, 48 << 20); h.flush(); h.shutdown()' >out 2>&1
behind_stop
somebody_mounts
behind_start "behind: so that is seen where the cache has nothing" 3 "it holds something else at 0 B.*1 block"
rm -f fast slow fast.then slow.then
