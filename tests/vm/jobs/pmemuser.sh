# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 pmem=160M slow=192M extra=16M usr=host with=xpcached timeout=2400 quick=no
#
# The engine in user space on persistent memory: its fast device is a file of an ext4 that is mounted
# with dax, mapped without a page cache between. A load is verified; killed while four programs write
# and sync, the daemon's next life has what was synced; and over bad blocks the daemon says what
# it cannot read, gives from the slow disk what is there too, and goes on.

. ./lib.sh
persistent_memory

export XPCACHE_RUNTIME_DIR=/run/xpcache
NODE=/dev/ublkb0
NOTEBOOK=/dev/vda
PROGRESS=/run/said
PMEM=$FAST
FAST=/mnt/fast
LOG=/run/xpcache/xpcache0.log
LIMITS="--idle-ms 0 --dirty-low 98 --dirty-high 99"	# nothing goes home by itself

must mkfs.ext4 -q -b 4096 $PMEM
must mount -o dax $PMEM /mnt
must fallocate -l 96M $FAST

# up VERB [OPTION...]
up() { must xpcache "$1" --engine user --ublk --fast $FAST --slow $SLOW "${@:2}"; }
daemon() { pgrep -x xpcached; }
figure() { xpcache status xpcache0 --json | sed -n "s/^ *\"$1\": *\([0-9]*\).*/\1/p" | head -n 1; }
# --------------------------------------------------------- killed, and verified ----

must powercut init $SLOW $NOTEBOOK
up create
grep -A 30 " $FAST$" /proc/"$(daemon)"/smaps | grep -m 1 VmFlags | grep -q ' sf' && pass mapped-with-sync ||
	fail mapped-with-sync "$(grep -A 30 " $FAST$" /proc/"$(daemon)"/smaps | grep VmFlags)"
for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
	: >$PROGRESS
	REPORT=$PROGRESS powercut write $NODE $NOTEBOOK $round $((round * 77)) &
	settled acknowledged $((round * 40)) || die "acknowledged-$round" "$(tail -n 3 $PROGRESS)"
	kill -9 "$(daemon)"
	pkill -9 -x powercut	# which does not end by errors
	wait
	up start
	powercut check $NODE $NOTEBOOK $round $((round * 77)) "$(last i)" "$(last a)" && pass "nothing-lost-$round"
	note "killed after $(last a)"
done
round=$((round - 1))
must xpcache stop xpcache0
up start $LIMITS
powercut check $NODE $NOTEBOOK $round $((round * 77)) "$(last i)" "$(last a)" && pass nothing-lost-by-a-stop
try load-verified fio --name=verify --filename=$NODE --ioengine=libaio --iodepth=8 --rw=randwrite --direct=1 --size=40m \
	--bssplit=512/20:4k/50:64k/20:256k/10 --blockalign=512 --fsync=16 --serialize_overlap=1 --randrepeat=0 \
	--verify=xxhash --verify_fatal=1
must xpcache remove xpcache0

# ---------------------------------------------------------------------- poison ----

# What the disk shall hold; 48 MiB of it will lie in the fast file.
must dd if=/dev/urandom of=/run/want bs=1M count=48 status=none
# write_all - through the cache.
write_all() { must dd if=/run/want of=$NODE bs=64k oflag=direct conv=fsync status=none; }
# sectors MIB - where 8 MiB of the file's data, from there on, are on the memory: first and number.
sectors()
{
	filefrag -b512 -e $FAST | awk -v at=$(($1 << 11)) '
		$1 ~ /^[0-9]+:$/ { gsub(/[.:]/, " "); if (at >= $2 && at + 16384 <= $3 + 1) print $4 + at - $2, 16384 }'
}
# spoil - a later life meets bad blocks, wherever the 48 MiB lie in the 96; heal: there are none.
spoil()
{
	local at where
	for at in 24 72; do
		where=$(sectors $at)
		[ "$where" ] || die extent "$(filefrag -b512 -e $FAST)"
		echo "$where" >/sys/block/pmem0/badblocks || die badblocks "cannot be set"
	done
}
heal()
{
	local namespace
	namespace=$(basename "$(readlink /sys/block/pmem0/device)")
	must umount /mnt
	echo "$namespace" >/sys/bus/nd/drivers/nd_pmem/unbind
	echo "$namespace" >/sys/bus/nd/drivers/nd_pmem/bind
	settled test -b $PMEM || die heal "no $PMEM"
	must mount -o dax $PMEM /mnt
}
# differ FILE FILE - how many blocks of 4 KiB.
differ()
{
	perl -e 'open A, "<", shift; open B, "<", shift; while (read A, $a, 4096) { read B, $b, 4096; $n++ if $a ne $b }
		print $n + 0' "$@"
}
# wrong - of the 48 MiB, how many blocks of 4 KiB cannot be read, and how many are other ones.
wrong()
{
	dd if=$NODE of=/run/got bs=4k count=12288 iflag=direct conv=noerror,sync status=noxfer 2>/run/errors
	differ /run/got /run/want
}
unreadable() { grep -c 'Input/output error' /run/errors; }

up create $LIMITS
write_all
must xpcache flush xpcache0
must xpcache stop xpcache0
spoil
up start $LIMITS
was=$(daemon)
equal clean-comes-from-the-slow-disk "0 0" "$(wrong) $(unreadable)"
[ "$(figure fast_errors)" -gt 0 ] && pass poison-was-met || fail poison-was-met "fast_errors $(figure fast_errors)"
grep -q 'SIGBUS at byte' $LOG && pass said-where || fail said-where "$(tail -n 3 $LOG)"
equal goes-on "$was" "$(daemon)"
must xpcache stop xpcache0
heal

up start $LIMITS
must dd if=/dev/urandom of=/run/want bs=1M count=48 status=none
write_all
must xpcache stop xpcache0
spoil
up start $LIMITS
was=$(daemon)
bad=$(wrong)
[ "$bad" -gt 0 ] && [ "$bad" = "$(unreadable)" ] && pass dirty-is-an-error ||
	fail dirty-is-an-error "$bad blocks wrong, $(unreadable) unreadable"
note "$bad blocks unreadable"
equal goes-on-over-dirty "$was" "$(daemon)"
must xpcache stop xpcache0
heal
up start $LIMITS
equal all-there-when-healed "0 0" "$(wrong) $(unreadable)"
try remove xpcache remove xpcache0
equal complete-without-cache "$(md5sum </run/want)" "$(dd if=$SLOW bs=1M count=48 iflag=direct status=none | md5sum)"
