# SPDX-License-Identifier: GPL-2.0-only
# Every advice works: what a refusal of create, start, flush, remove, check or stop says to type is taken out of the
# line, typed as it stands there by a shell, and it helps. Paths have a blank and a quote in them.
#
# What cannot be typed here, and why: no message but these may advise what nobody types below.
cat >not-walked <<'LIST'
modprobe | it changes this machine's kernel
or give --engine user | without the target it depends on this machine's kernel: tests/debian/jobs/nomodule.sh
dmsetup resume | of the kernel's engine: tests/vm/jobs/suspend.sh
swapoff | it would be this machine's swap
xpcache partitions %s --hide | of the kernel's engine: tests/vm/jobs/partitions.sh
xpcache forget %s lets go of it | of the kernel's device mapper: tests/vm/fences
xpcache adopt --undo | after an adopt and a boot: tests/cli/boot.sh, tests/debian/adopted
xpcache forget --force gives | the same
xpcache forget the cache | the same
xpcache remove ends it | a refusal of forget
xpcache stop ends that | the same
xpcache remove writes them back | the same
--force gives up what it has | the same
--force lets go of the slow | the same
xpcache list shows all; what the initramfs | the same
xpcache start sets that right | of a daemon without the tool before it
xpcache create --force --discard-dirty | which cache is to come is for the user to say: tests/cli/user.sh types it
xpcache check %s --slow %s tells more, --discard-dirty | a mark beside dirty blocks, which no engine leaves: tests/cli/failing.sh
and xpcache start %s starts it | a finding, no refusal: tests/cli/words.sh
dmzadm --format, dmzadm --start | needs a zoned disk: tests/vm/jobs/limits.sh
give them to xpcache start | half a command: the cache is yet to be made
give --ublk to xpcache start | needs the kernel's driver: tests/vm/jobs/ublk.sh
give --engine user, or none | the same
are --fast and --slow the right | a question
if you know that --slow | a condition
xpcache check names | a line of the log: tests/cli/rescue.sh types it
by xpcache check | half a command: which cache is for the user to say
or --all; | it would start what else is stopped on this machine
and no --all | what is wrong, not what to do
not given (--slow) | the same
--prefer-cache that did not end | the same
--discard-dirty says the opposite | the same
--rescue says the opposite | the same
or --boot | the name is typed
give --boot too | it would start what else this machine knows
; --force makes it all the same | a fast device that takes half of the memory
--fast-size %s is all of it, as is no --fast-size | a number, of a refusal that names it: tests/cli/fastsize.sh
it has %s, and --fast-size says %s | the same
--fast-size %s is the least | the same
--fast-size %s takes less | the same
--fast-size %s if the cache has all of it | both superblocks are gone: tests/cli/fastsize.sh
give --fast-size too: | the same
leave --fast-size out | the same
and --fast-size says | the same
take less of it by --fast-size | the room is for the user to make: tests/cli/room.sh
xpcache stop %s, then xpcache resize %s --fast-size %s | the size that was typed: tests/cli/fastsize.sh
xpcache remove %s %s, then xpcache create --fast-size %s | the size that was typed: tests/cli/fastsize.sh
%s --fast-size SIZE gives it more | the same
cryptsetup luksFormat --sector-size | it makes another device, and destroys this one
leave it out, or give --rescue | what was typed is to be left out
or leave --ublk out | the daemon is built anew: tests/daemon/without
give a lower one, or a higher --dirty-high | a number is for the user to say
--threads | a number, of a refusal that names it
give --rescue alone | what was typed is to be left out
xpcache flush --offline --fast DEV --slow DEV | both devices are for the user to say
xpcached | of the daemon by itself: tests/daemon/watch/run
give the right --slow, or --force if it is an exact copy | of the daemon by itself: tests/cli/user.sh
xpcache list shows the caches | a device mapper's device of another kind
; xpcache stop %s --force, then | a flush that fails once, of what went around the cache: tests/daemon/watch/run
xpcache remove %s, and use the slow device | whether it is to end is for the user to say: tests/cli/user.sh removes it
dmsetup clear | of the kernel's engine: another program's table for it
xpcache resize %s tries again | of the kernel's engine: tests/vm/jobs/resize.sh
xpcache flush %s shows when | of a hibernation: tests/vm/jobs/hibernate.sh
xpcache stop %s, then xpcache remove %s --fast %s | of the kernel's engine: tests/vm/jobs/detach.sh
or xpcache stop %s first | the same
xpcache replace %s --fast DEV | which device is for the user to say: tests/vm/jobs/replace.sh
xpcache forget %s, and create one anew | of the kernel's engine: tests/vm/jobs/replace.sh
xpcache stop %s, xpcache forget %s | the same
xpcache forget %s --force gives the cache up | after a record of it: tests/vm/jobs/replace.sh
xpcache list shows where it is; xpcache create | which of the two is meant is for the user to say: tests/vm/jobs/replace.sh
then xpcache forget %s --force | the same: a device that takes no write, and both are here
xpcache stop %s if it runs | after a device that takes no write: tests/vm/jobs/replace.sh
xpcache attach %s says more | of the kernel's engine: the fast device was used by another machine meanwhile
xpcache status %s shows where it is | of two that run at the same time
xpcache remove %s writes all back and ends it | whether it is to end is for the user to say: tests/cli/format.sh
xpcache stop --format 1 %s | no refusal: tests/cli/format.sh
xpcache attach %s first | of the kernel's engine: tests/vm/jobs/detach.sh
xpcache stop %s, then %s --convert | what was typed asked for the contrary: tests/cli/format.sh
xpcache remove %s, and create it anew | whether it is to end is for the user to say
xpcache set %s mode=%s, once more | of a mode that somebody else has changed meanwhile: tests/cli/mode.sh
LIST

advice_dir="$dir/it's here"
mkdir -p "$advice_dir"
: >walked
trap 'pkill -f "xpcached serve.*$dir"; rm -rf "$dir"' EXIT

# anew OPTION...: a cache in files that is not started
anew() {
	rm -f "$advice_dir"/*
	truncate -s 16M "$advice_dir/fast"
	truncate -s 64M "$advice_dir/slow"
	[ "${1-}" = none ] || "$xpcache" create --fast "$advice_dir/fast" --slow "$advice_dir/slow" --no-start "$@" >out 2>&1 || fail "advice: anew" "no cache"
}
F="$advice_dir/fast" S="$advice_dir/slow"
writes() { (cd "$advice_dir" && "$forge" fast write "$@"); }
# is_home LBA: what forge has written there is on the slow device
is_home() { [ "$(dd if="$S" bs=4096 skip="$1" count=1 status=none | tr -d '\0' | wc -c)" -gt 0 ] && echo home || echo lost; }

# refused CODE ARGUMENT...: and what it says stays
refused() {
	local code=$1
	shift
	base=$(printf '%q ' "$@")
	"$xpcache" "$@" >tip 2>said </dev/null
	same "advice: refused, ${*//$dir/}" "$?" "$code"
}
# types N CODE TEXT [WORD]: the N-th advice of what was said; WORD in place of DEV or NAME
types() {
	local picked kind start end text got
	picked=$(python3 "$here/advice.py" pick "$xpcache" said "$1" "${@:4}" 2>out) || { fail "advice $1 of: $(cat said)" "there is none"; return; }
	read -r kind start end text <<<"$picked"
	[ "$kind" = command ] || text="xpcache $base$text"
	PATH=$dir/bin:$PATH bash -c "$text" >out 2>&1 </dev/null
	got=$?
	if [ $got -ne "$2" ]; then
		fail "advice: ${text//$dir/}" "exit code $got, not $2, of: $(cat said)"
	elif [ -n "$3" ] && ! grep -qE -e "$3" out; then
		fail "advice: ${text//$dir/}" "does not say \"$3\""
	else
		pass "advice: ${text//$dir/}"
		echo "$start $end $(head -n 1 said)" >>walked
	fi
}
works() { expect "advice: then it works, ${*:2}" "$1" "" "${@:2}"; }
ended() { "$xpcache" stop "$1" --force >out 2>&1 || fail "advice: stop $1" "it does not"; }

started() { "$xpcache" start --fast "$F" --slow "$S" --idle-ms 0 "$@" >out 2>&1 || fail "advice: start" "it does not"; }
holds() { PATH=/usr/bin:$PATH nbdsh -u "nbd+unix:///?socket=$dir/run/$1.sock" -c "$2" >out 2>&1; }
over() { head -c 8192 /dev/urandom | dd of="$S" bs=4096 conv=notrunc status=none; }	# somebody else's write
dirty_behind() {	# a cache with a dirty block, whose disk was written without it
	anew
	started
	holds xpcache0 'h.pwrite(b"d" * 4096, 20 * 4096); h.flush()' || fail "advice: a write" "it fails"
	rests xpcache0
	over
}

# ---- a flush that takes long, and one that cannot end: 15 s, while the rest goes on ----
anew --name stuck
mkdir -p "$dir/stuck disks"
mv "$F" "$S" "$dir/stuck disks"
F="$dir/stuck disks/fast" S="$dir/stuck disks/slow"
LD_PRELOAD=$faulty FAULTY="/slow 2 1 $dir/broken" started
holds stuck 'h.pwrite(b"s" * 65536, 0); h.flush()'
touch broken
"$xpcache" flush stuck >out.first 2>said.first &
first=$!
sleep 0.5
bash -c 'exec "$@" 2>said.second' - "$xpcache" flush stuck >out.second &
second=$!
# Before it catches them an interrupt ends it without a word; and bash, which it is first, catches them too.
until [ "/proc/$second/exe" -ef "$xpcache" ] && (( 0x0$(awk '/^SigCgt/ { print $2 }' /proc/$second/status) & 2 )); do
	sleep 0.1
done
kill -INT $second
wait $first $second
"$xpcache" flush stuck >out.third 2>said.third &
third=$!
F="$advice_dir/fast" S="$advice_dir/slow"

# ---- words ----
anew none
refused 2 create --fast "$F"
types 0 0 "now caches" "$S"
refused 3 check "$F"
types 0 0 "stopped"
started
refused 0 stop xpcache0
grep 'xpcache start' tip >said
types 0 0 "started"
refused 3 start --fast "$F" --slow "$S"
types 0 0 "xpcache0 +running"
refused 5 stop nobody
types 0 0 "xpcache0 +running"
refused 2 flush
types 0 0 "xpcache0 +running"
refused 5 start nobody
types 0 0 "xpcache0 +running"
refused 5 check "$S"
types 0 0 "xpcache0 +running"
refused 5 start --fast "$dir/nowhere"
types 0 0 "NAME"
refused 2 nothing
types 0 0 "xpcache flush"
refused 2 stauts
types 0 0 "xpcache flush"
refused 2 completion
types 0 0 "complete -F"
refused 2 completion ksh
types 0 0 "complete -F"
refused 2 completion bash fish
types 0 0 "complete -F"
refused 2 stop --wrong
types 0 0 "xpcache stop NAME"
refused 2 stop xpcache0 twice
types 0 0 "stopped" xpcache0
started
refused 2 stop
types 0 0 "stopped" xpcache0

# ---- set: what a start sets, of a cache of which nothing is noted; and of one of which something is ----
started
refused 2 set idle-ms=1
types 0 0 "NEXT START" xpcache0
refused 5 set nobody
types 0 0 "xpcache0 +running"
refused 3 set xpcache0 verify=1
types 0 0 "stopped"
types 1 0 "started"
works 0 set xpcache0 verify=1
noted=$("$xpcache" status xpcache0 --json | sed -n 's/.*"uuid": *"\([0-9a-f]*\)".*/\1/p')
mkdir -p "$XPCACHE_ETC"
echo '{"name": "xpcache0", "uuid": "'"$noted"'", "start": "no", "slow": {"hardware": "DISK", "sectors": 131072, "logical_size": 512}}' >"$XPCACHE_ETC/$noted.json"
refused 0 set xpcache0 verify=0
mv tip said
types 0 0 "stopped"
types 1 0 "started"
works 0 set xpcache0 verify=0
rm "$XPCACHE_ETC/$noted.json"
ended xpcache0

# ---- create: what is there already ----
refused 3 create --fast "$F" --slow "$S"
types 0 0 "removed"
works 0 create --fast "$F" --slow "$S" --no-start
refused 3 create --fast "$F" --slow "$S" --no-start
types 1 0 "is made to cache"
writes 5 3
for force in "" --force; do
	refused 3 create --fast "$F" --slow "$S" --no-start $force
	cp --sparse=always "$F" "$F.then"
	types 1 0 "is made to cache"
	mv "$F.then" "$F"
done
types 0 0 "removed" "$S"
same "advice: nothing was lost" "$(is_home 5) $(is_home 7)" "home home"
anew
for block in 0 16; do (cd "$advice_dir" && damage fast $block); done
refused 3 create --fast "$F" --slow "$S" --no-start
types 0 4 "superblock"
types 1 0 "is made to cache"
anew none
mkfs.ext4 -q "$F"
refused 3 create --fast "$F" --slow "$S" --no-start
types 0 0 "is made to cache"
tip_of_create() { refused 0 create --fast "$F" --slow "$S" --no-start --force; grep 'xpcache start' tip >said; }
tip_of_create
types 0 0 "started"
truncate -s 16M "$F.2"
truncate -s 64M "$S.2"
refused 3 create --fast "$F.2" --slow "$S.2" --name xpcache0 --engine user
types 0 0 "now caches" another
ended another
refused 3 start --fast "$F.2" --slow "$S.2" --name xpcache0
types 0 0 "started" another
ended another
ended xpcache0

# ---- a fast device that its cache has left, or has not reached ----
for bits in 0x43 0x83; do
	anew
	(cd "$advice_dir" && "$forge" fast set incompat $bits)
	refused 4 check "$F"
	types 0 0 ""
	refused 4 start --fast "$F" --slow "$S"
	types 0 0 "now caches" "$S"
	ended xpcache0
done
anew

# ---- start: which slow device, which engine ----
refused 5 start --fast "$F"
types 0 0 "started" "$S"
ended xpcache0
refused 2 start --fast "$F" --slow "$S" --engine kernel
types 0 0 "started"
ended xpcache0
anew none
mkfs.ext4 -q "$S"
"$xpcache" create --fast "$F" --slow "$S" --no-start >out 2>&1
cp --sparse=always "$S" "$S.copy"
tune2fs -U random "$S.copy" >out 2>&1
refused 3 start --fast "$F" --slow "$S.copy"
types 0 0 "started"
ended xpcache0

# ---- start: written without the cache ----
for n in 0 1; do
	dirty_behind
	refused 3 start --fast "$F" --slow "$S"
	types $n 0 "started"
	ended xpcache0
	[ $n = 1 ] || same "advice: what was dirty is home" "$(is_home 20)" home
done
dirty_behind
refused 3 flush --offline --rescue --fast "$F" --slow "$S"
types 0 0 "every block is written back"
same "advice: what was dirty is home, rescued" "$(is_home 20)" home
anew none
mkfs.ext4 -q "$S"
"$xpcache" create --fast "$F" --slow "$S" --idle-ms 0 >out 2>&1
holds xpcache0 'h.pwrite(b"d" * 4096, 20 * 4096); h.flush()'
rests xpcache0
tune2fs -U random "$S" >out 2>&1
refused 3 start --fast "$F" --slow "$S" --force --prefer-cache
base=${base/--prefer-cache/}	# of which it says the opposite
types 0 0 "started"
ended xpcache0

# ---- what cannot be read ----
place() { echo $((256 + $(cd "$advice_dir" && field journal.seq) + $1)); }
bad() { LD_PRELOAD=$badread BADREAD=$bad BADREAD_ENDS=/fast BADREAD_HEALED=$dir/healed "$@"; }
lost() { anew; writes 100 40; rm -f healed; bad=$(place 2); }
for n in 0 1; do
	lost
	bad refused 4 start --fast "$F" --slow "$S"
	bad types $n $((n * 4)) "started|doubtful +40 blocks"	# what nobody can be certain of is written
	[ $n = 1 ] || ended xpcache0
done
lost
bad refused 4 check "$F"
bad types 0 0 "started" "$S"
ended xpcache0
both_gone() { anew; writes 100 40; for block in 0 16; do (cd "$advice_dir" && damage fast $block); done; }
both_gone
refused 4 start --fast "$F" --slow "$S"
types 0 0 "every block is written back"
same "advice: all of it" "$(is_home 100) $(is_home 139)" "home home"
both_gone
refused 4 check "$F" --slow "$S"
types 0 0 "every block is written back"
both_gone
refused 4 flush --offline --rescue --fast "$F" --slow "$S"
types 0 0 "every block is written back"
both_gone
refused 4 flush --offline --fast "$F" --slow "$S"
types 0 0 "every block is written back"
anew
writes 100 4
(cd "$advice_dir" && "$forge" fast record "$(field journal.seq)" 0 lba 99999999)
refused 4 start --fast "$F" --slow "$S"
types 0 4 "xpcache start --accept-loss"
anew
writes 50 4
(cd "$advice_dir" && "$forge" fast cut 51 1)
newest_of_51() { (cd "$advice_dir" && python3 -c '
import struct, sys
block, data = map(int, sys.argv[1:])
head = open("fast", "rb").read()[block * 4096:(block + 1) * 4096]
records = [struct.unpack_from("<QI", head, 64 + 24 * i) for i in range(struct.unpack_from("<H", head, 4)[0])]
print(data + [slot for word, slot in records if word & (1 << 40) - 1 == 51][-1])' "$(place 0)" "$(field superblock.data_start)"); }
bad=$(newest_of_51)
cp --sparse=always "$F" "$F.then"
bad refused 4 check "$F" --slow "$S"
bad types 0 0 "started"
ended xpcache0
mv "$F.then" "$F"
base=$(printf '%q ' start --fast "$F" --slow "$S")	# "xpcache start ..., with --accept-older"
bad types 1 0 "started"
ended xpcache0
anew none
head -c 1M /dev/urandom | dd of="$S" conv=notrunc status=none	# which it is known by
"$xpcache" create --fast "$F" --slow "$S" --no-start >out
writes 300 2
truncate -s 32M "$S.2"
refused 4 check "$F" --slow "$S.2"
types 0 0 "removed" "$S"
same "advice: and its blocks are home" "$(is_home 300)" home

# ---- a slow device that is too short for its dirty blocks ----
for n in 0 1; do
	anew
	writes 16000 4
	truncate -s 62M "$S"
	refused 3 start --fast "$F" --slow "$S"
	[ $n = 1 ] || types 0 4 "unwritable +4 blocks"
	types 1 0 "started"
	ended xpcache0
done

# ---- resize, of one that is shorter while it runs ----
anew
started
truncate -s 62M "$S"
refused 3 resize xpcache0
types 0 0 "brings it back"
types 1 0 "started"
ended xpcache0

# ---- resize, of one whose fast device has grown ----
anew
started
truncate -s 32M "$F"
"$xpcache" resize xpcache0 2>&1 | tail -n 1 >said
base="resize xpcache0 "
types 0 0 "brings it back"
types 1 0 "is laid out anew"

# ---- flush --offline ----
for word in --rescue "" --accept-loss; do
	anew
	writes 60 2
	refused 2 flush $word --fast "$F" --slow "$S"
	types 0 0 "every block is written back"
	same "advice: it is" "$(is_home 60)" home
done
refused 2 flush --prefer-cache
base="flush --fast $(printf %q "$F") --slow $(printf %q "$S") --prefer-cache "	# devices are needed, too
types 0 0 "every block is written back"
refused 2 flush --offline --fast "$F" --slow "$S" --json
types 0 0 '"home"'
refused 2 flush --offline xpcache0 --fast "$F" --slow "$S"
types 0 0 "every block is written back"
refused 2 flush --offline --rescue --fast "$F"
types 0 0 "every block is written back" "$S"

# ---- no room ----
sparse() { anew; writes 70 2; cp --sparse=always "$F" "$F.sparse"; mv "$F.sparse" "$F"; }
sparse
LD_PRELOAD=$noroom NOROOM_AFTER=0 refused 3 start --fast "$F" --slow "$S"
LD_PRELOAD=$noroom NOROOM_AFTER=8 types 1 0 "every block is written back"
same "advice: in the metadata's room" "$(is_home 70)" home
LD_PRELOAD=$noroom NOROOM_AFTER=0 types 0 0 "started"
ended xpcache0
sparse
LD_PRELOAD=$noroom NOROOM_AFTER=0 refused 3 flush --offline --fast "$F" --slow "$S"
LD_PRELOAD=$noroom NOROOM_AFTER=0 types 0 0 "every block is written back"
same "advice: without any" "$(is_home 70)" home

# ---- stop: of what cannot be written ----
anew
LD_PRELOAD=$faulty FAULTY="/fast 6 1 $dir/torn" started
touch torn
holds xpcache0 'h.pwrite(b"t" * 4096, 0); h.flush()' && fail "advice: a broken journal" "it is none"
refused 1 stop xpcache0
types 0 0 "stopped"
rm torn
anew
LD_PRELOAD=$faulty FAULTY="/slow 4 1 $dir/torn" started
holds xpcache0 'h.zero(1 << 22, 1 << 23)'
touch torn
refused 1 stop xpcache0
types 0 0 "stopped"
rm -f torn

# ---- a remote slow device ----
nbdkit -U "$dir/advice.sock" -P advice.pid file "$S"
for _ in $(seq 50); do [ -s advice.pid ] && break; sleep 0.1; done
remote="nbd+unix:///?socket=$dir/advice.sock"
anew none
"$xpcache" create --fast "$F" --slow "$remote" >out 2>&1 || fail "advice: a remote one" "it is refused"
truncate -s 16M "$F.2"
refused 3 create --fast "$F.2" --slow "$remote"
types 0 0 "removed"
works 0 create --fast "$F.2" --slow "$remote" --no-start
kill "$(cat advice.pid)"

# ---- disks ----
if [ "$(id -u)" = 0 ]; then
	anew none
	mkfs.ext4 -q "$S"
	truncate -s 16M "$F.2"
	loops="$(losetup -f --show "$F") $(losetup -f --show "$S") $(losetup -f --show "$F.2")"
	# A loop device stays read-only when its file is gone, for whoever gets it next.
	leave() { blockdev --setrw $loops; losetup -d $loops; }
	trap 'pkill -f "xpcached serve.*$dir"; leave; rm -rf "$dir"' EXIT
	read -r disk slow_disk other <<<"$loops"
	for ro in $disk $slow_disk; do
		blockdev --setro "$ro"
		refused 3 create --fast "$disk" --slow "$slow_disk" --engine user --name loops
		types 0 0 ""
		same "advice: it can be written" "$(blockdev --getro "$ro")" 0
		blockdev --setrw "$ro"
	done
	works 0 create --fast "$disk" --slow "$slow_disk" --engine user --name loops
	refused 0 stop loops
	grep 'xpcache start' tip >said
	same "advice: what it finds by itself it is not told" "$(cat said)" "xpcache start loops brings it back"
	types 0 0 "started"
	"$xpcache" stop loops >out 2>&1
	refused 3 create --fast "$other" --slow "$slow_disk" --engine user
	types 0 0 "removed"
	"$xpcache" create --fast "$disk" --slow "$slow_disk" --no-start --name loops >out 2>&1
	dd if="$disk" of="$other" bs=1M conv=fsync status=none
	refused 2 start --engine user
	types 1 0 "^loops +stopped"	# the other would start what this machine has besides
	refused 3 start loops --engine user
	types 1 0 "^loops +stopped"
	types 0 0 "started" "$disk"
	"$xpcache" stop loops >out 2>&1
	head -c 16M /dev/zero >"$other"
	losetup -d "$slow_disk"
	loops="$disk $other"
	refused 5 start loops --engine user
	slow_disk=$(losetup -f --show "$S")
	loops="$disk $other $slow_disk"
	types 0 0 "started" "$slow_disk"
	"$xpcache" stop loops >out 2>&1
	cp --sparse=always "$S" "$S.twin"
	twin=$(losetup -f --show "$S.twin")
	loops="$disk $other $slow_disk $twin"
	refused 3 start loops --engine user
	types 0 0 "started" "$slow_disk"
	"$xpcache" stop loops >out 2>&1
	works 0 remove loops --fast "$disk"
	leave
	trap 'pkill -f "xpcached serve.*$dir"; rm -rf "$dir"' EXIT
else
	echo "xpcache list shows them | needs root" >>not-walked
	echo "say which by | needs root" >>not-walked
	echo "connect it, or name it by --slow DEV | needs root" >>not-walked
	echo "blockdev --setrw | needs root" >>not-walked
	echo "xpcache remove %s --fast %s first | needs root" >>not-walked
fi

# ---- the flushes of above ----
wait $third	# it gives up by itself: the disk is broken until then
rm -f broken
for which in first second third; do
	cp said.$which said
	base="flush stuck "
	types 0 0 "every block"
done
ended stuck

python3 "$here/advice.py" guard "$xpcache" "$root" walked not-walked >out && pass "advice: each is typed, or it is said why not" ||
	fail "advice: each is typed, or it is said why not" "these are not"
trap 'rm -rf "$dir"' EXIT
rm -rf "$advice_dir" "$dir/stuck disks" walked not-walked
