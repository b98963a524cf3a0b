# SPDX-License-Identifier: GPL-2.0-only
# A fast file has all of its room from create on, or no cache comes of it and what was taken is given back.

trap 'pkill -f "xpcached serve.*$dir" ; rm -rf "$dir"' EXIT
# A file system may keep a block or two of its own lists, which stat counts in.
nearly() { echo $((($(stat -c %b "$1") + 1024) >> 11)); }
blocks_of() { stat -c %b "$1"; }

devices 64M
expect "room: create" 0 "is made to cache" create --fast fast --slow slow --no-start
same "room: all of the file is there" "$(($(blocks_of fast) * 512 >= 64 << 20)) $(stat -c %s fast)" "1 $((64 << 20))"
same "room: nothing of the slow one" "$(blocks_of slow)" 0

# More than any disk here has. What is there already, data or room, stays as it was.
devices 64M
head -c 3M /dev/urandom | dd of=fast bs=1M seek=7 conv=notrunc status=none
fallocate -o 20M -l 5M fast
truncate -s 8T fast
before="$(head -c 64M fast | sha256sum) $(blocks_of fast)"
expect "room: more than there is" 3 "TiB of the file are holes, and .*, its file system, has .* free: [0-9]{12,} bytes are missing: fast: make room" \
	create --fast fast --slow slow --no-start --force
same "room: the file is as it was" "$(head -c 64M fast | sha256sum) $(blocks_of fast)" "$before"

# 700 MiB are three pieces: the second finds none left, which nobody could foresee.
devices 64M
head -c 3M /dev/urandom | dd of=fast bs=1M seek=7 conv=notrunc status=none
fallocate -o 20M -l 5M fast
truncate -s 700M fast
before="$(sha256sum <fast) $(nearly fast)"
LD_PRELOAD=$noroom NOROOM_AFTER=3 expect "room: none in the middle" 3 "cannot give the file all of its room, .*: it is full, or a quota is: fast: make room" \
	create --fast fast --slow slow --no-start
same "room: what was taken is given back" "$(sha256sum <fast) $(nearly fast)" "$before"
for signal in INT TERM HUP; do
	LD_PRELOAD=$noroom NOROOM_MS=400 "$xpcache" create --fast fast --slow slow --no-start >stdout 2>stderr &
	create=$!
	for _ in $(seq 100); do [ "$(blocks_of fast)" -gt $((30 << 11)) ] && break; sleep 0.02; done
	bash -c "kill -$signal $create"
	wait $create
	same "room: SIG$signal meanwhile" "$? $(cut -c1-67 stderr)" "130 xpcache: stopped, and what was allocated is given back: fast: the s"
	same "room: that is given back, too" "$(sha256sum <fast) $(nearly fast)" "$before"
done
script -qec "LD_PRELOAD=$noroom NOROOM_MS=900 '$xpcache' create --fast fast --slow slow --no-start" /dev/null >out </dev/null
same "room: how far it is, if it takes long" "$? $(grep -cE '\] .* left, .*/s, ETA ' out)" "0 1"

# No cache comes of it for another reason.
devices 64M
mkdir -p run
mkdir run/taken.sock
expect "room: no cache comes of it" 3 "it is no socket" create --fast fast --slow slow --name taken
same "room: it has no room either" "$(blocks_of fast)" 0
rmdir run/taken.sock

devices 64M
LD_PRELOAD=$noroom NOROOM_UNKNOWN=1 expect "room: a file system that cannot" 0 "^fast: .* cannot allocate a file's room: when it is full, the cache fails" \
	create --fast fast --slow slow --no-start

# One that is sparse already: of an older version, or copied so.
same "room: it is sparse" "$(($(blocks_of fast) * 512 < 8 << 20))" 1
LD_PRELOAD=$noroom NOROOM_AFTER=0 expect "room: start without any" 3 "cannot give the file all of its room.*--force starts it all the same; xpcache flush --offline" \
	start --fast fast --slow slow
ln -s fast "a fast"
LD_PRELOAD=$noroom NOROOM_AFTER=0 expect "room: what it advises can be typed" 3 "flush --offline --fast '[^ ]*a fast' --slow [^ ]*slow needs less" \
	start --fast "a fast" --slow slow
rm "a fast"
LD_PRELOAD=$noroom NOROOM_AFTER=0 expect "room: start, by the user's word" 0 "started" start --fast fast --slow slow --force
PATH=/usr/bin:$PATH nbdsh -u "nbd+unix:///?socket=$dir/run/xpcache0.sock" -c 'for i in range(64): h.pwrite(b"%08d" % i * 8192, i << 16)' >out 2>&1 ||
	fail "room: writes" "nbdsh"
kill_daemon "$dir"
LD_PRELOAD=$noroom NOROOM_AFTER=0 expect "room: flush --offline without any" 3 "or give --rescue, which needs none" flush --offline --fast fast --slow slow
LD_PRELOAD=$noroom NOROOM_AFTER=8 expect "room: flush --offline with that of the metadata" 0 "every block is written back" flush --offline --fast fast --slow slow
same "room: it took no more" "$(($(blocks_of fast) * 512 < 32 << 20))" 1
expect "room: start takes it" 0 "started" start --fast fast --slow slow
same "room: all is there" "$(($(blocks_of fast) * 512 >= 64 << 20))" 1
expect "room: remove" 0 "removed" remove xpcache0
