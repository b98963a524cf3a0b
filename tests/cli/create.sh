# SPDX-License-Identifier: GPL-2.0-only
# What create makes in files, what it refuses, and that the slow device is only read.

make_slow() {
	rm -f slow
	truncate -s 256M slow
	mkfs.ext4 -q -U 11111111-2222-3333-4444-555555555555 slow
}

rm -f fast slow
truncate -s 64M fast
make_slow
before=$(sha256sum <slow)
expect "create in files" 0 "^xpcache0: fast .* made to cache slow .256 MiB" create --fast fast --slow slow --no-start
same "the slow device is untouched" "$(sha256sum <slow)" "$before"
same "its content is recorded" "$(field superblock.slow.content)" "ext4:11111111-2222-3333-4444-555555555555"
same "its size is recorded" "$(field superblock.slow.sectors)" "524288"
same "default name" "$(field superblock.name)" "xpcache0"
expect "its memory is told" 0 "^it takes 483 KiB of memory while it runs" create --fast fast --slow slow --no-start --force
expect "a cache is not overwritten" 3 "fast device of the xpcache xpcache0: fast: .*--force" \
	create --fast fast --slow slow --no-start
uuid=$(field superblock.uuid)
expect "--force overwrites an empty one" 0 "made to cache" create --fast fast --slow slow --no-start --force --name second_1
same "under its name" "$(field superblock.name)" "second_1"
if [ "$(field superblock.uuid)" != "$uuid" ]; then pass "with a new uuid"; else fail "with a new uuid" "$uuid"; fi

echo 'MemTotal: 700 kB' >meminfo
rm fast
truncate -s 64M fast
XPCACHE_MEMINFO=meminfo expect "a cache of half the memory" 3 "takes 483 KiB of the 700 KiB of memory as long as it runs: fast: --fast-size [0-9]+K takes less; --force makes it all the same" \
	create --fast fast --slow slow --no-start
expect "no cache was made of it" 5 "no xpcache" check fast
XPCACHE_MEMINFO=meminfo expect "--force makes it" 0 "made to cache" create --fast fast --slow slow --no-start --force

fresh
"$forge" fast write 100 7
expect "dirty blocks are not overwritten" 3 "7 blocks .28.0 KiB. dirty: fast: .*--discard-dirty" \
	create --fast fast --slow slow --no-start --force
same "they are still there" "$(field mappings.length)" "7"
expect "--discard-dirty alone is not enough" 3 "--force --discard-dirty loses them" create --fast fast --slow slow --no-start --discard-dirty
expect "--force --discard-dirty" 0 "made to cache" create --fast fast --slow slow --no-start --force --discard-dirty
same "they are gone" "$(field mappings.length)" "0"

for fs in ext4 xfs swap; do
	rm -f fast
	truncate -s 320M fast
	case $fs in
	swap) mkswap fast >/dev/null 2>&1 ;;
	xfs) mkfs.xfs -q fast ;;
	*) mkfs.$fs -q fast ;;
	esac
	expect "fast device holds $fs" 3 "holds data: $fs .*: fast: .*--force" create --fast fast --slow slow --no-start
	expect "no cache was made on $fs" 5 "no xpcache" check fast
	expect "--force takes $fs away" 0 "made to cache" create --fast fast --slow slow --no-start --force
	same "no $fs is left" "$(blkid -p -o value -s TYPE fast)" ""
	expect "and the cache on it is sound" 0 ": sound" check fast
done
for label in gpt dos; do
	rm -f fast
	truncate -s 64M fast
	echo ';' | sfdisk -q --label $label fast
	expect "fast device holds $label" 3 "holds data: .*$label partition table" create --fast fast --slow slow --no-start
	expect "--force takes $label away" 0 "made to cache" create --fast fast --slow slow --no-start --force
	same "no $label is left" "$(blkid -p -o value -s PTTYPE fast)" ""
done

rm -f fast
truncate -s 64M fast
ln -f slow hardlink
expect "the same file twice" 3 "are the same" create --fast slow --slow slow --no-start
expect "the same file under two names" 3 "are the same" create --fast slow --slow hardlink --no-start
rm -f hardlink
expect "no such fast device" 5 "no such device: nowhere" create --fast nowhere --slow slow --no-start
expect "no such slow device" 5 "no such device: nowhere" create --fast fast --slow nowhere --no-start
expect "a directory" 2 "not a block device: /" create --fast / --slow slow --no-start
expect "a terminal" 2 "not a block device: /dev/null" create --fast /dev/null --slow slow --no-start
truncate -s 2M small
expect "too small a fast device" 3 "too small: at least [0-9]+ KiB" create --fast small --slow slow --no-start
expect "nothing is on it" 5 "no xpcache" check small
: >empty
expect "an empty fast device" 3 "too small" create --fast empty --slow slow --no-start
expect "an empty slow device" 3 "the slow device is empty" create --fast fast --slow empty --no-start
fresh
truncate -s 64M other
expect "the two the wrong way round" 3 "fast device of the xpcache xpcache0: .*right way round" \
	create --fast other --slow fast --no-start
if [ "$(id -u)" -eq 0 ]; then
	expect "files do not run in the kernel" 2 "not a block device: other" create --fast other --slow slow --engine kernel
else
	expect "only root" 1 "only root can do this" create --fast other --slow slow --engine kernel
	chmod a-w other
	expect "read-only" 3 "read-only: other" create --fast other --slow slow --no-start
	expect "own caches: list" 0 "no cache found" list
	expect "own caches: status" 0 "no cache is running" status
	expect "only root: start" 1 "only root" start
fi
rm -f other small empty
