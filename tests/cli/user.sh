# SPDX-License-Identifier: GPL-2.0-only
# The engine in user space: caches in files, without root or a kernel module.

uri="nbd+unix:///?socket=$dir/run/xpcache0.sock"
trap 'pkill -f "xpcached serve.*$dir" ; rm -rf "$dir"' EXIT

status_of() { "$xpcache" status xpcache0 --json | python3 -c "import json,sys; print(json.load(sys.stdin)['caches'][0]$1)"; }

head -c 20M /dev/urandom >data
devices
expect "user: create says what to use" 0 "from now on use 'nbd.unix:///.socket=$dir/run/xpcache0.sock' and not slow" create --fast fast --slow slow --idle-ms 0
expect "user: list" 0 "xpcache0 +running +$dir/fast +$dir/slow +256 MiB +0 B" list
expect "user: status" 0 "clean +0 blocks" status xpcache0
same "user: engine in JSON" "$(status_of "['engine']")" "user"
same "user: limits in JSON" "$(status_of "['limits']['idle_ms']")" "0"
same "user: sockets are this user's alone" "$(stat -c %a run run/xpcache0.sock run/xpcache0.control | xargs)" "700 600 600"
truncate -s 256M slow2
expect "user: the name is taken" 3 "a cache or a device of this name" create --fast data --slow slow2 --name xpcache0 --engine user --force
expect "user: its fast device is taken" 3 "in use by another program|fast device of the xpcache" create --fast fast --slow data --name other
expect "user: --force does not take what is in use" 3 "in use by another program: fast" create --fast fast --slow slow2 --force --name other
expect "user: nor does remove" 3 "running already|in use" remove --fast fast xpcache0
nbdcopy data "$uri" >out 2>&1 && pass "user: written" || fail "user: written" "nbdcopy"
nbdcopy "$uri" back >out 2>&1
cmp -n $((20 << 20)) data back >out && pass "user: read back" || fail "user: read back" "it differs"
expect "user: histogram" 0 "^write +[1-9]" histogram xpcache0
expect "user: histogram in JSON" 0 '"recording": *true' histogram xpcache0 --json
expect "user: top" 0 "xpcache0 +running" top --count 2 --interval 0.2

python3 - "$dir/run/xpcache0.sock" >holding 2>&1 <<'PY' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.recv(18)
print("connected", flush=True)
time.sleep(60)
PY
holder=$!
for _ in $(seq 50); do grep -q connected holding && break; sleep 0.1; done
expect "user: stop, with a client" 3 "in use, by 1 clients: xpcache0" stop xpcache0
kill $holder
wait $holder 2>/dev/null
for _ in $(seq 50); do [ "$("$xpcache" status xpcache0 --json | grep -c '"open_count": *0')" = 1 ] && break; sleep 0.1; done
expect "user: stop" 0 "dirty stay on $dir/fast" stop xpcache0
expect "user: no socket is left" 0 "^no cache found" list
[ ! -e run/xpcache0.sock ] && [ ! -e run/xpcache0.control ] && pass "user: sockets are gone" || fail "user: sockets are gone" "$(ls run)"
expect "user: check it" 0 "sound" check fast --slow slow --data
expect "user: start needs the slow device" 5 "name it by --slow" start --fast fast
truncate -s 128M short
expect "user: start with another" 3 "not the slow device of xpcache0" start --fast fast --slow short
expect "user: start" 0 "started, fast before slow: nbd" start --fast fast --slow slow
expect "user: start twice" 3 "running already, as nbd" start --fast fast --slow slow
expect "user: check what runs" 3 "running as xpcache0" check fast
nbdcopy "$uri" back >out 2>&1
cmp -n $((20 << 20)) data back >out && pass "user: after a start" || fail "user: after a start" "it differs"

# Discards are offered where the slow device has them.
offers() { PATH=/usr/bin:$PATH nbdsh -u "$uri" -c 'print(h.can_trim(), h.can_zero())' 2>/dev/null; }
same "user: it discards, as a file does" "$(offers)" "True True"

# Killed, then brought home without any engine running it.
kill_daemon "$dir"
sleep 0.2
cmp -s -n $((20 << 20)) data slow && fail "user: still dirty" "the slow device has it all" || pass "user: still dirty"
expect "user: flush a cache that does not run" 5 "no running cache of this name" flush xpcache0 --force
expect "user: flush --offline, of what" 2 "the fast device is missing" flush --offline
expect "user: flush --offline, by name" 2 "the devices say which: xpcache0" flush xpcache0 --offline --fast fast
expect "user: flush --fast without it" 2 "a running cache has a name" flush --fast fast
# Interrupted while it waits for the engine to start: that must not run on.
"$xpcache" flush --offline --fast fast --slow slow >out 2>&1 &
flush=$!
until pgrep -f "xpcached serve.*$dir" >/dev/null; do :; done
kill -INT $flush
wait $flush
case "$? $(cat out)" in	# it may have been quicker
*"130 xpcache: stopped, "*" stay dirty: "* | "0 "*": every block is written back, "*) pass "user: flush --offline, interrupted at once" ;;
*) fail "user: flush --offline, interrupted at once" "$(cat out)" ;;
esac
for _ in $(seq 50); do pgrep -f "xpcached serve.*$dir" >/dev/null || break; sleep 0.1; done	# it answers, and ends
pgrep -f "xpcached serve.*$dir" >/dev/null && fail "user: and nothing runs on" "xpcached does" || pass "user: and nothing runs on"
# The initramfs keeps complaints in a file, and its console is stdout.
cp fast fast5
cp slow slow5
script -qec "'$xpcache' flush --offline --fast fast5 --slow slow5 2>stderr" /dev/null >out </dev/null
same "user: how far it is, where only stdout is a terminal" "$? $(grep -c '\] .* left' out) $(cat stderr)" "0 1 "
rm fast5 slow5
expect "user: flush --offline" 0 "every block is written back" flush --offline --fast fast --slow slow
cmp -n $((20 << 20)) data slow >out && pass "user: home" || fail "user: home" "it differs"
expect "user: nothing runs after it" 0 "^no cache found" list
expect "user: nothing is dirty after it" 0 "0 blocks .0 B. dirty|map: 0 dirty|sound" check fast --slow slow --data
flock run sleep 60 &
holder=$!
until ! flock -n run true; do :; done
expect "user: a directory that stays locked" 0 "started" start --fast fast --slow slow
pkill -P $holder
wait $holder 2>/dev/null
expect "user: flush" 0 "every block is written back" flush xpcache0
PATH=/usr/bin:$PATH nbdsh -u "$uri" -c 'import os, time
while not os.path.exists("enough"):
    for i in range(4): h.pwrite(os.urandom(4096), i << 20)
    time.sleep(0.005)' &
writer=$!
until ! kill -0 $writer 2>/dev/null || [ "$(status_of "['counters']['dirty']")" -gt 0 ]; do :; done
expect "user: flush while a client writes" 0 "every block (is|was) written back" flush xpcache0
touch enough
wait $writer
same "user: it did write" "$?" 0
expect "user: it cannot be detached" 3 "clients talk to xpcached, and nothing can lead them elsewhere: xpcache0: xpcache remove xpcache0, and use the slow device itself" detach xpcache0
expect "user: it is attached" 0 "^xpcache0: it is attached already" attach xpcache0
expect "user: no such cache is detached" 5 "no running cache" detach nosuch
expect "user: remove" 0 "removed; $dir/slow is a plain disk again, $dir/fast is free" remove xpcache0
expect "user: nothing is left" 5 "no xpcache on this device" check fast

# A stopped one with dirty blocks is brought home where nobody can come to it.
expect "user: create once more" 0 "now caches" create --fast fast --slow slow --name again --idle-ms 0
nbdcopy data "nbd+unix:///?socket=$dir/run/again.sock" >out 2>&1
kill_daemon "$dir"
mkdir beside
cp "$xpcache" beside
printf '#!/bin/sh\necho "$*" >>%s/served\nexec %s "$@"\n' "$dir" "$(dirname "$xpcache")/xpcached" >beside/xpcached
chmod +x beside/xpcached
xpcache=$dir/beside/xpcache expect "user: remove a stopped one that is dirty" 0 "dirty must be written back first" remove --fast fast --slow slow again
same "user: it is removed" "$(tail -n 1 stdout)" "again: removed; its slow device is a plain disk again, fast is free"
same "user: nobody could come to it meanwhile" "$(grep -c . served) $(grep -cE -e '--socket|--ublk' served)" "1 0"
cmp -n $((20 << 20)) data slow >out && pass "user: all is home after it" || fail "user: all is home after it" "it differs"
rm -r beside served run/again.*

# What cannot be started leaves no cache behind.
mkdir -m 777 open
XPCACHE_RUNTIME_DIR=$dir/open expect "user: a directory that others may write" 3 "others may write here" create --fast fast --slow slow
expect "user: and there is no cache" 5 "no xpcache on this device" check fast
expect "user: no such engine" 2 "no engine \"turbo\"" create --fast fast --slow slow --engine turbo
expect "user: the kernel cannot have files" 2 "not a block device" create --fast fast --slow slow --engine kernel
expect "user: a fast device that is remote" 5 "no such device" create --fast "$uri" --slow slow
expect "user: a server that is not there" 1 "is its server running" create --fast fast --slow "nbd+unix:///?socket=$dir/none"

# A block device, of a kernel that has none to give.
no_ublk="no ublk in the running kernel .*: /dev/ublk-control: modprobe ublk_drv; it takes Linux 6.x with CONFIG_BLK_DEV_UBLK"
LD_PRELOAD=$noublk expect "user: --ublk without ublk" 1 "$no_ublk" create --fast fast --slow slow --ublk
expect "user: then no cache was made" 5 "no xpcache on this device" check fast
expect "user: --ublk is of this engine" 2 "needs no such device: --ublk: give --engine user" create --fast fast --slow slow --ublk --engine kernel
expect "user: --ublk of what does not run" 2 "give --ublk to xpcache start" create --fast fast --slow slow --ublk --no-start
"$xpcache" create --fast fast --slow slow --no-start >out 2>&1
LD_PRELOAD=$noublk expect "user: start --ublk without ublk" 1 "$no_ublk" start --fast fast --slow slow --ublk
LD_PRELOAD=$noublk "$(dirname "$xpcache")/xpcached" serve --fast fast --slow slow --ublk --control "$dir/run/c" >out 2>&1
same "user: serve --ublk without ublk" "$? $(grep -cE "$no_ublk" out) $(grep -c . out)" "1 1 1"
same "user: and left nothing" "$(ls run | grep -v "log\|^hibernate.lock$")" ""
expect "user: nor does it run" 0 "^no cache found" list
expect "user: the cache is as it was" 0 "sound" check fast --slow slow --data
devices

# A remote slow device.
devices
head -c 8M /dev/urandom | dd of=slow conv=notrunc status=none
cp slow was
nbdkit -U "$dir/slow.sock" -P nbdkit.pid file slow
for _ in $(seq 50); do [ -s nbdkit.pid ] && break; sleep 0.1; done
remote="nbd+unix:///?socket=$dir/slow.sock"
truncate -s 64M fast4
expect "user: a second cache, that is not started" 0 "made to cache" create --fast fast4 --slow "$remote" --name second --no-start
expect "user: create before a remote disk" 0 "now caches" create --fast fast --slow "$remote"
truncate -s 64M fast3
expect "user: two caches before one export" 3 "it is the slow device of the xpcache xpcache0, which runs" create --fast fast3 --slow "$remote"
expect "user: nor by other words" 3 "slow device of the xpcache xpcache0" create --fast fast3 --slow "nbd+unix://?socket=$dir/slow.sock"
expect "user: it has left nothing behind" 5 "no xpcache on this device" check fast3
expect "user: nor may a second be started" 3 "slow device of the xpcache xpcache0" start --fast fast4 --slow "$remote"
expect "user: made, and not started" 3 "slow device of the xpcache xpcache0" create --fast fast3 --slow "$remote" --no-start
nbdcopy "$uri" back >out 2>&1
cmp -n $((8 << 20)) was back >out && pass "user: a remote disk's data" || fail "user: a remote disk's data" "it differs"
nbdcopy data "$uri" >out 2>&1
expect "user: remove it from there" 0 "removed" remove xpcache0
kill "$(cat nbdkit.pid)"
nbdkit -U "$dir/odd.sock" -P odd.pid --filter=blocksize-policy file slow blocksize-minimum=8192 blocksize-preferred=8192
for _ in $(seq 50); do [ -s odd.pid ] && break; sleep 0.1; done
expect "user: a server of big requests only" 1 "no requests of 4 KiB" create --fast fast --slow "nbd+unix:///?socket=$dir/odd.sock"
kill "$(cat odd.pid)"
cmp -n $((20 << 20)) data slow >out && pass "user: a remote disk is complete" || fail "user: a remote disk is complete" "it differs"

# A fast file in memory whose bytes are gone, and come back as zeros.
memory=$(mktemp -d /dev/shm/xpcache-cli.XXXXXX)
trap 'pkill -f "xpcached serve.*$dir" ; rm -rf "$dir" "$memory"' EXIT
rm -f slow
truncate -s 64M "$memory/fast"
truncate -s 256M slow
expect "user: create in memory" 0 "now caches" create --fast "$memory/fast" --slow slow --idle-ms 0
expect "user: status says that it is memory" 0 "fast +$memory/fast, 64.0 MiB, as memory" status xpcache0
nbdcopy data "$uri" >out 2>&1
expect "user: stop it" 0 "dirty stay" stop xpcache0
fallocate -p -o 32M -l 4M "$memory/fast"
expect "user: a file that has lost a part" 1 "lost a part of its file, 61440 of 65536 KiB are there: bring it back whole" start --fast "$memory/fast" --slow slow
expect "user: and the next time" 1 "lost a part of its file" start --fast "$memory/fast" --slow slow
expect "user: given up" 0 "now caches" create --fast "$memory/fast" --slow slow --force --discard-dirty
expect "user: it begins with nothing" 0 "removed" remove xpcache0
rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
LD_PRELOAD=$noroom NOROOM_PUNCH=1 expect "user: on a file system without holes" 0 "now caches" create --fast fast --slow slow --idle-ms 0
same "user: discards are not offered" "$(offers)" "False True"
expect "user: remove that" 0 "removed" remove xpcache0
rm -rf "$memory"
trap 'rm -rf "$dir"' EXIT

# By itself the daemon knows the slow device too, by what that holds: also where it reads with O_DIRECT.
rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
mkfs.ext4 -qF slow
"$xpcache" create --fast fast --slow slow --name knows --no-start >out 2>&1
cp --sparse=always slow another
tune2fs -U random another >out 2>&1
knows() { "$dir/bin/xpcached" serve --fast fast --slow "$1" --control "$dir/knows.ctl" --detach "${@:2}" >out 2>&1; }
knows another
same "user: the daemon is given another slow device" "$? $(grep -c '^xpcache: not the slow device of this cache: it holds .*/fast: give the right --slow, or --force if it is an exact copy$' out)" "5 1"
trap 'pkill -f "xpcached serve.*$dir"; rm -rf "$dir"' EXIT
knows another --force
same "user: a copy, and it is told so" "$?" 0
pkill -f "xpcached serve.*$dir/knows.ctl"
for _ in $(seq 100); do pgrep -f "xpcached serve.*$dir/knows.ctl" >/dev/null || break; sleep 0.1; done
knows slow
same "user: its own" "$?" 0
pkill -f "xpcached serve.*$dir/knows.ctl"
for _ in $(seq 100); do pgrep -f "xpcached serve.*$dir/knows.ctl" >/dev/null || break; sleep 0.1; done
trap 'rm -rf "$dir"' EXIT
