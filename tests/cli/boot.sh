# SPDX-License-Identifier: GPL-2.0-only
# What a machine knows of its caches: the records, what keeps a slow device from others, and what
# starts at boot. Before a device mapper that only remembers: tests/cli/holding.c.

export HOLDING=$dir/mapper
mkdir -p "$XPCACHE_ETC" "$HOLDING"
one=11111111111111111111111111111111 two=22222222222222222222222222222222

# record UUID NAME START [SLOW]: a cache that this machine knows, of a disk that nobody has, or of
# what is in the file slow
record()
{
	mkdir -p "$XPCACHE_ETC"
	local slow=${4:-'"hardware": "OLD_DISK", "sectors": 7, "logical_size": 512'}
	echo '{"name": "'"$2"'", "uuid": "'"$1"'", "start": "'"$3"'", "slow": {'"$slow"'}}' >"$XPCACHE_ETC/$1.json"
}
forgotten() { rm -rf "$XPCACHE_ETC" "$HOLDING"; mkdir "$XPCACHE_ETC" "$HOLDING"; }
silent() { "$xpcache" "${@:2}" >out 2>&1 </dev/null; same "$1" "$? $(cat out)" "0 "; }
held() { LD_PRELOAD=$holding expect "$@"; }
# holds NAME EXPECTED: the devices that hold a slow device, and their tables
holds() { same "$1" "$(cd "$HOLDING" && for f in xpcache-fence-*; do [ ! -e "$f" ] || echo "$f" $(cat "$f"); done)" "$2"; }

# ---- start --boot ----
LD_PRELOAD=$holding silent "boot: nothing is known" start --boot
record $one lost boot
SECONDS=0
held "boot: without its fast device" 5 "its fast device is not here, and may have what its slow device .OLD_DISK, 3.50 KiB.*: lost: connect it; if it is lost for good, xpcache forget" start --boot --wait 1
same "boot: it waits so long, and no longer" "$((SECONDS >= 1 && SECONDS < 20))" 1
record $one lost no
LD_PRELOAD=$holding silent "boot: not one that does not start by itself" start --boot --wait 1
record $one lost initramfs
held "boot: one of the initramfs" 5 "lost: connect it" start --boot --wait 0.1
expect "boot: of all, not of one" 2 "no name" start --boot lost
expect "boot: --wait alone" 2 "nothing else waits for devices: --wait: give --boot too" start lost --wait 3
expect "boot: no such time" 2 "0.1 to 86400 seconds, not \"0\": --wait" start --boot --wait 0
expect "boot: stop, of all" 2 "no name: --boot" stop --boot lost
expect "boot: flush, of all" 2 "no name: --boot" flush --boot lost
LD_PRELOAD=$holding silent "boot: stop, and none runs" stop --boot
LD_PRELOAD=$holding silent "boot: flush, and none runs" flush --boot

# ---- records that cannot be read: one line each, and the others count ----
forgotten
rm -f slow
truncate -s 256M slow
mkfs.ext4 -q -U 11111111-2222-3333-4444-555555555555 slow
is_slow='"content": "ext4:11111111-2222-3333-4444-555555555555", "sectors": 524288, "logical_size": 512'
record $one good boot "$is_slow"
# broken NAME WORDS: that is what is wrong with the record of the second cache
broken()
{
	held "record: $1" 1 "$2: $XPCACHE_ETC/$two.json: mend it, or remove it" start --boot --wait 0.1
	LD_PRELOAD=$holding "$xpcache" fence slow >stdout 2>stderr
	same "record: $1, the other counts" "$? $(head -n 1 stdout) $(grep -c . stderr)" "0 XPCACHE_FENCED=good 1"
}
slow_is() { record $two bad boot "$1"; }
whole=$(record $two bad boot; cat "$XPCACHE_ETC/$two.json")
# Not of the good one: it is not here, which is another line.
sed -i 's/"boot"/"no"/' "$XPCACHE_ETC/$one.json"
for cut in 0 1 40 $((${#whole} - 1)); do
	echo -n "${whole:0:cut}" >"$XPCACHE_ETC/$two.json"
	broken "the first $cut bytes" "it is not JSON"
done
echo '["name"]' >"$XPCACHE_ETC/$two.json"
broken "an array" "its name is missing, or none for a cache"
head -c 1M /dev/zero | tr '\0' '[' >"$XPCACHE_ETC/$two.json"
broken "1 MiB of brackets" "it is not JSON"
record $two "$(printf 'x%.0s' $(seq 32))" boot
broken "a long name" "its name is missing, or none for a cache"
record $two 'a\nXPCACHE_UUID=b' boot
broken "a name of two lines" "its name is missing, or none for a cache"
record $two bad boot
sed -i 's/"bad"/7/' "$XPCACHE_ETC/$two.json"
broken "a number for a name" "its name is missing, or none for a cache"
for start in '"later"' null 1 '{}'; do
	record $two bad boot
	sed -i "s/\"boot\"/$start/" "$XPCACHE_ETC/$two.json"
	broken "start $start" "start is one of no, boot, initramfs, leave, gone"
done
record $two bad boot
sed -i "s/$two/$one/" "$XPCACHE_ETC/$two.json"
broken "the uuid of another" "its uuid is not that of the file's name"
record $two bad boot
sed -i 's/"slow"/"fast"/' "$XPCACHE_ETC/$two.json"
broken "no slow device" "slow is missing"
record $two bad boot
sed -i 's/"slow": .*/"slow": "sda"}/' "$XPCACHE_ETC/$two.json"
broken "a word for it" "sectors or logical_size of slow is missing"
slow_is '"hardware": "OLD", "sectors": "7", "logical_size": 512'
broken "a word for a size" "sectors or logical_size of slow is missing"
slow_is '"hardware": "OLD", "sectors": -7, "logical_size": 512'
broken "less than no size" "sectors or logical_size of slow is missing"
slow_is '"hardware": null, "content": [], "sectors": 7, "logical_size": 512'
broken "nothing to know it by" "slow has neither hardware nor content"
slow_is '"hardware": "'"$(printf 'x%.0s' $(seq 96))"'", "sectors": 7, "logical_size": 512'
broken "a long hardware" "a text of slow is too long"
# limits WORDS LIMITS: the defaults in place of these, and the disk is kept all the same
limits()
{
	record $two good no "$is_slow"
	sed -i "s/, \"slow\"/, \"limits\": $2&/" "$XPCACHE_ETC/$two.json"
	LD_PRELOAD=$holding "$xpcache" fence slow >stdout 2>stderr
	same "record: limits $2" "$? $(head -n 1 stdout) $(cat stderr)" \
		"0 XPCACHE_FENCED=good xpcache: $1; the cache has the defaults until then: $XPCACHE_ETC/$two.json: mend it"
}
mv "$XPCACHE_ETC/$one.json" .
limits 'unknown option "speed"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify, grid' '{"speed": 1}'
limits 'idle_ms is a number from 0 to 86400000, not "-1"' '{"idle_ms": -1}'
limits 'idle_ms is a number from 0 to 86400000, not "null"' '{"idle_ms": null}'
limits 'idle_ms is a number from 0 to 86400000, not "[ ]"' '{"idle_ms": []}'
limits 'dirty_low, 50, is not below dirty_high, 40' '{"dirty_low": 50, "dirty_high": 40}'
limits 'mode is not "kept", but one of writeback, writethrough, writearound' '{"mode": "kept"}'
limits 'mode is not "2", but one of writeback, writethrough, writearound' '{"mode": 2}'
limits 'limits is no object' 7
mv "$one.json" "$XPCACHE_ETC/"
record $two good boot	# what other files there are is nobody's
mv "$XPCACHE_ETC/$two.json" "$XPCACHE_ETC/$two.json.new"
echo x >"$XPCACHE_ETC/notes.json"
LD_PRELOAD=$holding silent "record: other files" start --boot --wait 0.1

# ---- fence ----
forgotten
record $one good boot "$is_slow"
held "fence: a slow device" 0 "^XPCACHE_FENCED=good$" fence slow
same "fence: and its cache" "$(sed -n 2p stdout)" "XPCACHE_UUID=$one"
holds "fence: a device of ours has a block of it" "xpcache-fence-11111111 XPCACHEFENCE-$one 0 8 linear $(stat -c '%Hd:%Ld' slow) 0"
held "fence: it is asked again" 0 "^XPCACHE_FENCED=good$" fence slow
same "fence: and says nothing else" "$(wc -l <stdout) $(cat stderr)" "2 "
truncate -s 256M other
LD_PRELOAD=$holding silent "fence: another device" fence other
LD_PRELOAD=$holding silent "fence: one that is gone" fence nowhere
# What udev is told of a fast device: no program is to take it for an empty disk.
rm -f fast
truncate -s 64M fast
"$xpcache" create --fast fast --slow other --name told --no-start >out 2>&1 || fail "fence: a cache" "$(cat out)"
dashes=$("$xpcache" dump fast --json | python3 -c 'import json, sys, uuid
print(uuid.UUID(json.load(sys.stdin)["superblock"]["uuid"]))')
held "fence: a fast device" 0 "^ID_FS_TYPE=xpcache$" fence fast
same "fence: in blkid's words" "$(xargs <stdout)" \
	"ID_FS_TYPE=xpcache ID_FS_USAGE=other ID_FS_VERSION=2 ID_FS_UUID=$dashes ID_FS_UUID_ENC=$dashes"
for property in DM_SUSPENDED DM_NOSCAN DM_UDEV_DISABLE_DISK_RULES_FLAG DM_UDEV_DISABLE_OTHER_RULES_FLAG DM_MULTIPATH_DEVICE_PATH; do
	export $property=1
	LD_PRELOAD=$holding silent "fence: a fast device that udev leaves alone, $property" fence fast
	export $property=0
	held "fence: and one that it does not" 0 "^ID_FS_UUID=" fence fast
	unset $property
done
ID_FS_TYPE=LVM2_member LD_PRELOAD=$holding silent "fence: one that udev has looked at" fence fast
cp fast whole
for other in "sfdisk -q fast" "mkfs.ext4 -q -F fast" "mkswap -q fast" "dd if=/dev/zero of=fast bs=4096 count=1 conv=notrunc status=none"; do
	cp whole fast
	$other <<<"label: gpt" >out 2>&1 || fail "fence: $other" "$(cat out)"
	LD_PRELOAD=$holding silent "fence: one that is something else by now, ${other%% *}" fence fast
done
rm whole
rm fast
rm "$HOLDING"/*
touch "$HOLDING/busy"
held "fence: one that others have" 0 "used by others, and its cache does not run: .*: slow" fence slow
same "fence: stays with them" "$(cat stdout)" ""
holds "fence: and nothing is left of ours" ""
mv "$HOLDING/busy" "$HOLDING/broken"
held "fence: that cannot be held" 0 "^XPCACHE_FENCED=good$" fence slow
same "fence: says so" "$(cut -d : -f 2 stderr)" " cannot be kept from who has its path"
rm "$HOLDING/broken"
echo "XPCACHEFENCE-$one" >"$HOLDING/xpcache-fence-11111111"	# of one that was killed
held "fence: after one that was killed" 0 "^XPCACHE_FENCED=good$" fence slow
same "fence: it is held then" "$(grep -c linear "$HOLDING/xpcache-fence-11111111")" 1
sed -i "s/linear .*/linear 4095:4095 0/" "$HOLDING/xpcache-fence-11111111"
held "fence: after the disk was taken out, and came again" 0 "^XPCACHE_FENCED=good$" fence slow
holds "fence: it is held as what it is now" "xpcache-fence-11111111 XPCACHEFENCE-$one 0 8 linear $(stat -c '%Hd:%Ld' slow) 0"
record $two worse no "$is_slow"
held "fence: of two caches" 0 "^XPCACHE_FENCED=worse$" fence slow

# ---- forget ----
held "forget: none of this name" 5 "no cache of this name is known.*made again" forget nobody
held "forget: what may be lost" 3 "its fast device is not here, and may have dirty blocks: good: .*--force" forget good
same "forget: it is known still" "$(ls "$XPCACHE_ETC" | wc -l) $(ls "$HOLDING" | wc -l)" "2 2"
touch "$HOLDING/readonly"
held "forget: a folder that cannot be changed" 1 "cannot take its record from .*: Read-only file system" forget good --force
rm "$HOLDING/readonly"
holds "forget: it is held still" "$(cd "$HOLDING" && for f in xpcache*; do echo "$f" $(cat "$f"); done)"
record $two good no "$is_slow"
held "forget: two of this name" 3 "2 caches of this name are known" forget good --force
held "forget: by the uuid" 0 "^good: forgotten; nothing keeps its slow device .* although its fast device is not here" forget $two --force
same "forget: that alone" "$(ls "$XPCACHE_ETC" 2>/dev/null) $(ls "$HOLDING")" "$one.json xpcache-fence-11111111"
held "forget: the other" 0 "^good: forgotten" forget good --force
same "forget: nothing is left, nor the folder by which udev tells that it need not ask" "$(ls -d "$XPCACHE_ETC" 2>/dev/null; ls "$HOLDING")" ""

# ---- list ----
record $one good boot
held "list: neither of its devices is here" 0 "^good +no-disks +missing +[?] +3.50 KiB +[?] +-$" list
held "list: the same for programs" 0 '"state": *"no-disks"' list --json
same "list: what is not known there" "$(python3 -c 'import json; print([[c[k] for k in ("name", "fast", "bytes", "dirty_bytes", "device")] for c in json.load(open("stdout"))["caches"]])')" \
	"[['good', None, 3584, None, None]]"
expect "list: not with --needed" 2 "give it alone" list --needed --json
rm "$XPCACHE_ETC"/*
held "list: none" 0 "^no cache found$" list
LD_PRELOAD=$holding silent "list: what is left" list --needed

# ---- uninstalling ----
record $one good initramfs
held "needed: the next boot is on it" 3 "the next boot starts the cache: good: xpcache adopt --undo" list --needed
for start in leave gone; do
	record $one good $start
	held "needed: $start" 3 "the boot is not yet without the cache: good: xpcache adopt --undo" list --needed
done
record $one good boot
held "needed: its fast device may have what nobody else has" 3 "the fast device of the cache is not here, and may have dirty blocks: good: connect it" list --needed
# after REMOVE_OR_UPGRADE: what the package does when its files are gone
after()
(
	mkdir -p debian-bin
	for name in dmsetup udevadm update-initramfs; do
		printf '#!/bin/sh\necho "%s $*" >>asked\n[ "$*" != "info -c --noheadings -o name -S uuid=~^XPCACHEFENCE-" ] || echo xpcache-fence-1\n' $name >debian-bin/$name
	done
	chmod +x debian-bin/*
	: >asked
	PATH=$dir/debian-bin:$PATH sh "$root/debian/xpcache.postrm" "$1" >out 2>&1
	echo "$?"
	cat asked
)
same "removed: its disks are free, and so they are in the images" "$(after remove)" "0
dmsetup info -c --noheadings -o name -S uuid=~^XPCACHEFENCE-
dmsetup remove xpcache-fence-1
udevadm control --reload
udevadm trigger --action=change --property-match=XPCACHE_FENCED=?* --sysname-match=loop*
udevadm trigger --action=change --property-match=XPCACHE_FENCED=?* --sysname-match=md*
udevadm trigger --action=change --property-match=XPCACHE_FENCED=?* --sysname-match=dm-*
udevadm trigger --action=add --property-match=XPCACHE_FENCED=?*
update-initramfs -u -k all"
same "upgraded: nothing of this" "$(after upgrade)" "0"
rm "$XPCACHE_ETC"/*
same "removed: no image knows a cache" "$(after remove | grep -c update-initramfs)" 0
rm -r debian-bin asked

# ---- remove, and create over it ----
fresh --name gone
record "$(field superblock.uuid)" gone boot "$is_slow"
touch "$HOLDING/readonly"
held "remove: its record cannot go" 1 "cannot take its record from .*the cache is still there" remove --fast fast gone
rm "$HOLDING/readonly"
expect "remove: and it is" 0 "sound" check fast
expect "remove" 0 "removed" remove --fast fast gone
same "remove: the record went too" "$(ls "$XPCACHE_ETC" 2>/dev/null)" ""
fresh --name gone
record "$(field superblock.uuid)" gone boot
expect "create: over it" 0 "made to cache" create --fast fast --slow slow --no-start --force
same "create: the record of what was there is gone" "$(ls "$XPCACHE_ETC" 2>/dev/null)" ""

# ---- adopt ----
expect "adopt: what" 2 "the fast device is missing: --fast: xpcache adopt --fast DEV" adopt
held "adopt: none to take back" 5 "no cache of this system was adopted" adopt --undo

# The images are made by a program that notes what the record says then, and ends as it is told.
export XPCACHE_INITRAMFS=$dir/update-initramfs
cat >update-initramfs <<'EOF2'
#!/bin/sh
sed -n 's/.*"start": *"\([a-z]*\)".*/\1/p' "$XPCACHE_ETC"/*.json >>"$HOLDING/../images"
case $(cat "$HOLDING/../ends")-$(tail -n 1 "$HOLDING/../images") in
fails-* | "fails with gone-gone") exit 1 ;;
dies-gone) kill -9 $PPID ;;
esac
EOF2
chmod +x update-initramfs
start_of() { sed -n 's/.*"start": *"\([a-z]*\)".*/\1/p' "$XPCACHE_ETC/$1.json" 2>/dev/null || echo none; }
record $one old initramfs "$is_slow"
echo fails >ends
held "undo: the images cannot be made" 1 "the initramfs could not be made, status 1" adopt --undo
same "undo: first they are made to leave it, and it is known still, to be left" "$(cat images) $(start_of $one)" "leave leave"
record $one old initramfs "$is_slow"
echo "fails with gone" >ends
held "undo: nor those made without it" 1 "the initramfs could not be made, status 1" adopt --undo
same "undo: some wait for it still, so the next are to leave it" "$(tail -n 1 images) $(start_of $one)" "gone leave"
record $one old initramfs "$is_slow"
echo dies >ends
{ LD_PRELOAD=$holding "$xpcache" adopt --undo >out 2>&1; } 2>/dev/null
same "undo: killed while they are made without it, it is known, and its end has begun" "$? $(start_of $one) $(tail -n 2 images)" "137 gone leave
gone"
LD_PRELOAD=$holding silent "undo: nothing is kept for it" fence slow
LD_PRELOAD=$holding silent "undo: nor does it start" start --boot --wait 0.1
same "undo: the next boot goes on with its end" "$(ls "$XPCACHE_RUNTIME_DIR"/*.left)" "$XPCACHE_RUNTIME_DIR/$one.left"
echo >ends
held "undo: a second time" 0 "there is no cache before it any more" adopt --undo
same "undo: then it is forgotten" "$(ls "$XPCACHE_ETC" 2>/dev/null)$(ls "$XPCACHE_RUNTIME_DIR"/*.left 2>/dev/null)" ""
record $one old initramfs "$is_slow"
held "undo: at once" 0 "old: taken back" adopt --undo
same "undo: and forgotten" "$(ls "$XPCACHE_ETC" 2>/dev/null)" ""
record $one old leave "$is_slow"
: >images
held "undo: one whose images were perhaps not all made to leave it" 0 "old: taken back" adopt --undo
same "undo: they all are before one knows nothing of it" "$(cat images)" "leave
gone"
# forget of one that the images start: in the same order, or an older kernel would start it, and the newest know nothing.
record $one old initramfs "$is_slow"
: >images
held "forget: an adopted one" 3 "it was adopted, and the boot may ask for it: old: xpcache adopt --undo ends it; --force gives up" forget old
same "forget: nothing was changed" "$(cat images) $(start_of $one)" " initramfs"
held "forget: an adopted one, by force" 0 "old: forgotten; .* although its fast device is not here" forget old --force
same "forget: all images leave it before one knows nothing of it, and then it is forgotten" "$(cat images) $(start_of $one)" "leave
gone none"
for ends in fails "fails with gone"; do
	record $one old initramfs "$is_slow"
	echo "$ends" >ends
	held "forget: an adopted one, and making the images $ends" 1 "the initramfs could not be made, status 1" forget old --force
	same "forget: it is known still, to be left" "$(start_of $one)" leave
done
echo >ends
: >"$XPCACHE_RUNTIME_DIR/$one.left"
held "forget: one whose end a boot goes on with" 0 "old: forgotten" forget old --force
same "forget: none goes on with it" "$(ls "$XPCACHE_RUNTIME_DIR"/*.left 2>/dev/null)" ""
# Who ends what a boot goes on with, and a user who says the same meanwhile.
cat >one-at-a-time <<'EOF2'
#!/bin/sh
mkdir "$HOLDING/../making" && sleep 0.5 && rmdir "$HOLDING/../making"
EOF2
chmod +x one-at-a-time
record $one old initramfs "$is_slow"
XPCACHE_INITRAMFS=$dir/one-at-a-time LD_PRELOAD=$holding "$xpcache" adopt --undo >first 2>&1 &
first=$!
until [ -d making ]; do sleep 0.05; done
XPCACHE_INITRAMFS=$dir/one-at-a-time held "undo: another is at it" 5 "another xpcache makes the initramfs; it is waited for" adopt --undo
wait $first
same "undo: which has ended it" "$? $(cat first) $(grep -c 'no cache of this system was adopted' out)" "0 old: taken back; the system boots without it 1"
# Packages that are installed meanwhile have images made too: as dpkg tells its front ends apart.
cat >front-end <<'EOF2'
import fcntl, os, sys, time
lock = open(sys.argv[1], "r+")
open("asked", "w").close()
begun = time.monotonic()
fcntl.lockf(lock, fcntl.LOCK_EX)
print("waited" if time.monotonic() - begun > 0.2 else "at once", os.path.exists(sys.argv[2]), flush=True)
time.sleep(float(sys.argv[3]))
EOF2
touch lock-frontend
export XPCACHE_PACKAGES_LOCK=$dir/lock-frontend
record $one old initramfs "$is_slow"
exec 7< <(python3 front-end lock-frontend making 1)
read -r -u 7 apt
SECONDS=0
XPCACHE_INITRAMFS=$dir/one-at-a-time held "undo: packages are being installed" 0 "packages are being installed, or may be; that is waited for: another program has locked $dir/lock-frontend" adopt --undo
same "undo: and it comes after them" "$apt $((SECONDS > 1))" "at once False 1"
# They are being made still when the lock is asked for, however busy the host is.
cat >until-asked <<'EOF2'
#!/bin/sh
mkdir "$HOLDING/../making"
until [ -e "$HOLDING/../asked" ]; do sleep 0.05; done
sleep 0.5
rmdir "$HOLDING/../making"
EOF2
chmod +x until-asked
rm asked
record $one old initramfs "$is_slow"
XPCACHE_INITRAMFS=$dir/until-asked LD_PRELOAD=$holding "$xpcache" adopt --undo >first 2>&1 &
first=$!
until [ -d making ]; do sleep 0.05; done
same "undo: packages wait for the images" "$(python3 front-end lock-frontend making 0) $(cat first)" "waited False old: taken back; the system boots without it"
wait $first
record $one old initramfs "$is_slow"
exec 7< <(python3 front-end lock-frontend making 60)
front_end=$!
read -r -u 7 apt
DPKG_MAINTSCRIPT_PACKAGE=xpcache held "undo: a package's own script does not wait for its dpkg" 0 "old: taken back" adopt --undo
record $one old initramfs "$is_slow"
DPKG_FRONTEND_LOCKED=true held "undo: nor does what apt calls" 0 "old: taken back" adopt --undo
# Who does not want to wait has changed nothing.
record $one old boot "$is_slow"
LD_PRELOAD=$holding "$xpcache" forget old --force >first 2>&1 &
first=$!
while kill -0 $first && ! grep -q "that is waited for" first; do sleep 0.05; done 2>/dev/null
kill $first 2>/dev/null
{ wait $first; } 2>/dev/null
same "forget: ended while it waits, it is known" "$? $(start_of $one)" "143 boot"
# What is so when it begins need not be so when it may go on.
LD_PRELOAD=$holding "$xpcache" forget old --force >first 2>&1 &
first=$!
while kill -0 $first && ! grep -q "that is waited for" first; do sleep 0.05; done 2>/dev/null
rm "$XPCACHE_ETC"/*
kill $front_end
wait $first
same "forget: it looks again when it has waited" "$? $(grep -c 'no cache of this name' first)" "5 1"
# Where nothing can be locked it does not wait for itself.
record $one old initramfs "$is_slow"
touch "$dir/no-folder"
XPCACHE_RUNTIME_DIR=$dir/no-folder/at-all LD_PRELOAD=$holding timeout -k 1 20 "$xpcache" adopt --undo >out 2>&1
same "undo: without a place for a lock of ours" "$? $(grep -c 'old: taken back' out)" "0 1"
unset XPCACHE_PACKAGES_LOCK

# ---- remove, and create over one that the images start ----
for from in initramfs leave gone; do
	forgotten
	fresh --name adopted
	uuid=$(field superblock.uuid)
	record "$uuid" adopted $from "$is_slow"
	: >images
	held "create: over an adopted one, $from" 3 "it is the xpcache adopted, which was adopted, .*: fast: xpcache adopt --undo ends it" create --fast fast --slow slow --no-start --force
	held "create: nor does it lose that, $from" 3 "which was adopted" create --fast fast --slow slow --no-start --force --discard-dirty
	held "remove: an adopted one, $from" 3 "it was adopted, and the boot may ask for it: adopted: xpcache adopt --undo" remove --fast fast adopted
	same "remove: nothing was changed, $from" "$(cat images) $(start_of "$uuid") $("$xpcache" check fast | grep -c sound)" " $from 1"
done

# ---- with disks: as root, on loop devices ----
forgotten
if [ "$(id -u)" -eq 0 ]; then
	rm -f fast slow
	truncate -s 64M fast
	truncate -s 256M slow copy
	mkfs.ext4 -q slow
	fast_disk=$(losetup -f --show fast) slow_disk=$(losetup -f --show slow)
	disks="$fast_disk $slow_disk"
	trap 'pkill -f "xpcached serve.*$dir"; losetup -d $disks; rm -rf "$dir"' EXIT
	echo >"$XPCACHE_ETC/$two.json"
	"$xpcache" create --fast "$fast_disk" --slow "$slow_disk" --engine user >stdout 2>stderr
	same "disks: a broken record is told of once" "$? $(grep -c "$two.json: mend it" stderr)" "0 1"
	rm "$XPCACHE_ETC/$two.json"
	"$xpcache" remove "$(sed -n '1s/^\([^:]*\): .*/\1/p' stdout)" >out 2>&1
	same "disks: removed" "$? $(ls "$XPCACHE_ETC" 2>/dev/null)" "0 "
	record $two other boot '"content": "ext4:'"$(blkid -p -o value -s UUID slow)"'", "sectors": 524288, "logical_size": 512'
	expect "disks: a list without the fast one" 0 "^other +no-fast +missing +[?] +256 MiB" list
	expect "disks: another cache has the slow one" 3 "slow device of the xpcache other, whose fast device is not here: $slow_disk: .*xpcache forget" create --fast "$fast_disk" --slow "$slow_disk" --engine user
	rm "$XPCACHE_ETC/$two.json"
	expect "disks: create" 0 "now caches" create --fast "$fast_disk" --slow "$slow_disk" --engine user --name disks --idle-ms 0
	record=$(ls "$XPCACHE_ETC"/*.json)
	same "disks: it is noted" "$(python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); print(r["name"], r["uuid"] in sys.argv[1], r["slow"]["path"], r["slow"]["sectors"])' "$record")" \
		"disks True $slow_disk 524288"
	same "disks: and its limits" "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["limits"])' "$record")" "{'idle_ms': 0}"
	same "disks: all may read it" "$(stat -c %a "$record")" 644
	sed -i 's/"no"/"boot"/' "$record"	# which is for caches of the kernel
	cp "$record" noted
	expect "disks: stop them at shutdown" 0 "disks: stopped" stop --boot
	cmp "$record" noted >out && pass "disks: stopped, it is known still" || fail "disks: stopped, it is known still" "no"
	expect "disks: start them at boot" 0 "disks: started" start --boot --engine user
	silent "disks: they run" start --boot --engine user
	idle_ms() { "$xpcache" status disks --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["caches"][0]["limits"]["idle_ms"])'; }
	same "disks: with the limits that create was given" "$(idle_ms)" 0
	expect "disks: flush them for the boot loader" 0 "every block is written back" flush --boot
	expect "disks: what runs is not forgotten" 3 "it is running: disks: xpcache remove" forget disks --force
	expect "disks: by its uuid" 0 "disks" status "$(basename "$record" .json)"
	"$xpcache" stop disks >out 2>&1
	sed -i 's/\("idle_ms": *\)0/\1 700/' "$record"
	cp "$record" noted
	"$xpcache" start disks --engine user >out 2>&1
	same "disks: with limits that were edited" "$(idle_ms)" 700
	"$xpcache" stop disks >out 2>&1
	"$xpcache" start disks --engine user --dirty-low 5 >out 2>&1
	same "disks: a start that is given one takes no other from there" "$(idle_ms)" 5000
	cmp "$record" noted >out && pass "disks: and leaves them there" || fail "disks: and leaves them there" "no"
	"$xpcache" stop disks >out 2>&1
	# / was on its disk alone, with something dirty: that is not given up.
	sed -i 's/"boot"/"initramfs"/' "$record"
	"$forge" fast write 1000 2
	blockdev --flushbufs "$fast_disk"
	: >images
	expect "disks: an adopted one that is dirty" 3 "it has dirty blocks, and / is on its disk alone: disks: boot with" adopt --undo
	same "disks: nothing was changed" "$(grep -c '"initramfs"' "$record") $(cat images)" "1 "
	sed -i 's/"initramfs"/"boot"/' "$record"
	# Who asks udev's question while it is being started is told that the disk is kept.
	mkdir mounted
	mount "$slow_disk" mounted
	udevadm monitor --kernel --subsystem-match=block >events &
	monitor=$!
	for _ in $(seq 100); do grep -q 'KERNEL - ' events && break; sleep 0.1; done
	held "disks: a start that fails" 3 "in use, mounted at $dir/mounted: $slow_disk" start disks --engine user
	kill $monitor
	wait $monitor 2>/dev/null
	same "disks: udev asks again" "$(grep -c "change .*/${slow_disk#/dev/} " events)" 1
	umount mounted
	# Nor is what is dirty given up when its end had begun, and an image of before has started it meanwhile.
	sed -i 's/"boot"/"gone"/' "$record"
	touch "$XPCACHE_RUNTIME_DIR/$(basename "$record" .json).left"
	expect "disks: one whose end had begun is dirty" 3 "it has dirty blocks, and / is on its disk alone: disks: boot with" adopt --undo
	same "disks: nor is that changed" "$(grep -c '"gone"' "$record") $(cat images) $("$xpcache" check "$fast_disk" | grep -c sound)" "1  1"
	rm "$XPCACHE_RUNTIME_DIR"/*.left
	# Two hold it, and one of them has all home, be it found first or last.
	cp --sparse=always fast copy
	cp --sparse=always slow slow-copy
	"$xpcache" flush --offline --fast copy --slow slow-copy >out 2>&1
	copy_disk=$(losetup -f --show copy)
	disks="$disks $copy_disk"
	expect "disks: a copy of it has all home" 3 "it has dirty blocks" adopt --undo
	sed -i 's/"gone"/"boot"/' "$record"
	expect "disks: which is not forgotten either" 3 " on $fast_disk are dirty" forget disks
	sed -i 's/"boot"/"gone"/' "$record"
	losetup -d "$fast_disk" "$copy_disk"
	first_disk=$(losetup -f --show copy) fast_disk=$(losetup -f --show fast)
	disks="$fast_disk $slow_disk $first_disk"
	expect "disks: the copy comes first" 3 "it has dirty blocks" adopt --undo
	sed -i 's/"gone"/"boot"/' "$record"
	expect "disks: which is not forgotten either" 3 " on $fast_disk are dirty" forget disks
	# Nor by what ends the copy.
	cp "$record" noted
	cp --sparse=always copy copy.kept
	truncate -s 256M elsewhere
	expect "disks: create over the copy, for a disk that is the other's" 3 "slow device of the xpcache disks" create --fast "$first_disk" --slow "$slow_disk" --engine user --force
	expect "disks: create over the copy" 0 "made to cache" create --fast "$first_disk" --slow elsewhere --no-start --force
	cmp "$record" noted >out && pass "disks: what the other holds is known" || fail "disks: what the other holds is known" "no"
	dd if=copy.kept of="$first_disk" bs=1M conv=fsync status=none
	expect "disks: remove of the one that is dirty, or is old" 3 "2 blocks .* on $fast_disk are dirty, and may be old: $first_disk holds the cache too" remove disks --fast "$fast_disk"
	"$xpcache" start disks --fast "$first_disk" --engine user --idle-ms 0 >out 2>&1
	expect "disks: remove of the copy while it runs" 0 "disks: removed from $first_disk, which is free; $fast_disk holds an older state of it, and will not start by itself" remove disks
	same "disks: what the other holds is known then" "$(start_of "$(basename "$record" .json)")" no
	cp noted "$record"
	dd if=copy.kept of="$first_disk" bs=1M conv=fsync status=none
	expect "disks: remove of the copy" 0 "disks: removed from $first_disk, which is free; $fast_disk holds it too" remove disks --fast "$first_disk"
	cmp "$record" noted >out && pass "disks: what the other holds is known still" || fail "disks: what the other holds is known still" "no"
	expect "disks: the copy is none any more" 5 "no xpcache on this device" check "$first_disk"
	dd if=copy.kept of="$first_disk" bs=1M conv=fsync status=none
	sed -i 's/"boot"/"gone"/' "$record"
	cp "$record" noted
	expect "disks: remove of the copy, whose end has begun" 0 "disks: removed from $first_disk" remove disks --fast "$first_disk"
	cmp "$record" noted >out && pass "disks: that is gone on with" || fail "disks: that is gone on with" "no"
	losetup -d "$first_disk"
	disks="$fast_disk $slow_disk"
	# An image of before its end runs it.
	"$xpcache" start disks --engine user --idle-ms 0 >out 2>&1
	for from in gone leave; do
		silent "disks: the boot of an image that is older than $from" start --boot --wait 0.1
		same "disks: then the next is to leave it, $from" "$(grep -c '"leave"' "$record") $(cat images) $(ls "$XPCACHE_RUNTIME_DIR"/*.left | wc -l)" "1  1"
		[ $from = leave ] || rm "$XPCACHE_RUNTIME_DIR"/*.left
	done
	expect "disks: what goes on with its end makes the images so" 0 "disks: at the next boot every block is written back" adopt --undo
	same "disks: it leaves, and no end goes on" "$(cat images) $(ls "$XPCACHE_RUNTIME_DIR"/*.left 2>/dev/null)" "leave "
	"$xpcache" stop disks >out 2>&1
	# And one that does not run any more, with / on neither.
	sed -i 's/"leave"/"gone"/' "$record"
	expect "disks: what is dirty when its end has begun goes home" 0 "disks: it is left; first every block is written back" start --boot
	same "disks: it is left" "$(grep -c '"leave"' "$record") $(ls "$XPCACHE_RUNTIME_DIR"/*.left | wc -l) $("$xpcache" check "$fast_disk" | grep -c ' 0 blocks (0 B) dirty')" "1 1 1"
	rm "$XPCACHE_RUNTIME_DIR"/*.left
	sed -i 's/"leave"/"boot"/' "$record"
	cp --sparse=always fast copy
	copy_disk=$(losetup -f --show copy)
	disks="$disks $copy_disk"
	expect "disks: a copy of the fast device" 3 "$fast_disk and $copy_disk both hold it: disks|$copy_disk and $fast_disk both" start --boot
	losetup -d "$copy_disk"
	losetup -d "$slow_disk"
	disks=$fast_disk
	expect "disks: a list without the slow one" 0 "^disks +no-slow +$fast_disk +$slow_disk +256 MiB" list
	expect "disks: the slow one is not here" 5 "its slow device is not here .ext4:.*: disks: connect it" start --boot --wait 1
	"$xpcache" start --boot --engine user --wait 20 >said 2>&1 &
	waits=$!
	for _ in $(seq 200); do grep -q "waiting up to 20 s" said && break; sleep 0.1; done
	slow_disk=$(losetup -f --show slow)	# it may be called otherwise
	disks="$fast_disk $slow_disk"
	wait $waits
	same "disks: it comes while we wait" "$? $(grep -c 'disks: started' said)" "0 1"
	expect "disks: remove" 0 "removed" remove disks
	same "disks: it is not known any more" "$(ls "$XPCACHE_ETC" 2>/dev/null)" ""
	"$xpcache" create --fast "$fast_disk" --slow "$slow_disk" --engine user --name running >out 2>&1
	sed -i 's/"no"/"initramfs"/' "$XPCACHE_ETC"/*.json
	expect "disks: remove of an adopted one that runs" 3 "it was adopted, and the boot may ask for it: running: xpcache adopt --undo" remove running
	expect "disks: it runs still" 0 "^running +running" list
	sed -i 's/"initramfs"/"no"/' "$XPCACHE_ETC"/*.json
	"$xpcache" remove running >out 2>&1
	echo fails >ends
	expect "disks: created, and the images cannot be made" 1 "the initramfs could not be made, status 1" create --fast "$fast_disk" --slow "$slow_disk" --engine user --name dirty --idle-ms 0
	expect "disks: it is there all the same" 0 "^dirty +" list
	echo >ends
	head -c 1M /dev/urandom >data
	nbdcopy data "nbd+unix:///?socket=$XPCACHE_RUNTIME_DIR/dirty.sock" >out 2>&1
	"$xpcache" stop dirty >out 2>&1
	expect "disks: remove a stopped one that is dirty" 0 "dirty: removed" remove dirty
	cmp -n $((1 << 20)) data "$slow_disk" >out && pass "disks: all of it is home" || fail "disks: all of it is home" "it differs"
	"$xpcache" create --fast "$fast_disk" --slow "$slow_disk" --no-start --name undone >out 2>&1
	record "$("$xpcache" dump "$fast_disk" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["superblock"]["uuid"])')" undone initramfs "$is_slow"
	echo fails >ends
	expect "disks: undo, and the images cannot be made" 1 "could not be made" adopt --undo
	expect "disks: it is as it was" 0 "sound" check "$fast_disk"
	echo >ends
	expect "disks: undo" 0 "undone: taken back" adopt --undo
	expect "disks: it is no more" 5 "no xpcache on this device" check "$fast_disk"
	same "disks: nor known" "$(ls "$XPCACHE_ETC" 2>/dev/null)" ""
	losetup -d $disks
	# What an initramfs keeps for a cache that nothing is noted of.
	disks=
	for dirty in 8 0; do
		rm -f fast slow
		truncate -s 64M fast
		truncate -s 256M slow
		mkfs.ext4 -q slow
		"$xpcache" create --fast fast --slow slow --no-start --name unnoted >out 2>&1
		[ $dirty -eq 0 ] || "$forge" fast write 0 $dirty
		uuid=$(field superblock.uuid)
		disks=$(losetup -f --show fast)
		hold="xpcache-fence-${uuid:0:8} XPCACHEFENCE-$uuid 0 8 linear 4095:0 0"
		echo "${hold#* }" >"$HOLDING/${hold%% *}"
		if [ $dirty -gt 0 ]; then
			held "disks: it is dirty, so it is noted" 5 "^unnoted: nothing was noted of it, and 8 blocks .* are dirty: now it is" start --boot --wait 0.1
			holds "disks: and its slow device stays kept" "$hold"
			same "disks: it starts by itself" "$(start_of "$uuid")" boot
			rm "$XPCACHE_ETC/$uuid.json"
		else
			LD_PRELOAD=$holding silent "disks: it has nothing" start --boot --wait 0.1
			holds "disks: so its slow device is let go" ""
		fi
		losetup -d $disks
		rm -f "$HOLDING"/*
	done
	trap 'rm -rf "$dir"' EXIT
else
	expect "disks: only root starts them" 1 "only root" start --boot
	expect "disks: only root forgets" 1 "only root" forget disks
	expect "disks: only root is asked by udev" 1 "only root" fence slow
fi
rm -f slow fast copy other
