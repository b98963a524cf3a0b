# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 fast=64M slow=420M usr=host with=xpcached,ublkwords.so,ublkstop timeout=2400 quick=no
#
# The block device of the engine in user space: what it says of itself, partitions, a file system,
# who may stop it; what a stop leaves, and a daemon that is killed; drivers of either kind.

. ./lib.sh

export XPCACHE_RUNTIME_DIR=/run/xpcache
NODE=/dev/ublkb0
URI="nbd+unix:///?socket=/run/xpcache/xpcache0.sock"
QUEUE=/sys/block/ublkb0/queue

LIMITS="--idle-ms 0 --dirty-low 90 --dirty-high 99"	# nothing goes home by itself
# shellcheck disable=SC2086 # words
up() { must xpcache start --engine user --ublk --fast $FAST --slow $SLOW $LIMITS; }
# serve WORD... - the daemon itself, with more words than xpcache has for it.
serve()
{
	must xpcached serve --fast $FAST --slow $SLOW --socket /run/xpcache/xpcache0.sock \
		--control /run/xpcache/xpcache0.control --log /run/xpcache/xpcache0.log --detach --ublk --idle-ms 0 "$@"
}
daemon() { pgrep -x xpcached; }
no_daemon() { ! daemon >/dev/null; }
gone() { [ ! -e $NODE ] && [ ! -e /dev/ublkc0 ]; }
# figure NAME - of status.
figure() { xpcache status xpcache0 --json | sed -n "s/^ *\"$1\": *\([0-9]*\).*/\1/p" | head -n 1; }
# of FILE - one line of sysfs.
of() { cat "$QUEUE/$1"; }
# verified NAME FIO-WORD...
verified()
{
	try "$1" fio --name=verify --ioengine=libaio --iodepth=16 --rw=randwrite --direct=1 --size=48m --fsync=32 \
		--verify=crc32c --verify_fatal=1 --serialize_overlap=1 "${@:2}"
}

# Two partitions, on the disk from before.
must sfdisk -q $SLOW <<<'label: gpt
size=340MiB
'
must dd if=/dev/urandom of=/run/piece bs=1M count=8 status=none
must dd if=/run/piece of=$SLOW bs=1M seek=200 conv=notrunc,fsync status=none

# ----------------------------------------------------------- what it says ----

# shellcheck disable=SC2086
said=$(xpcache create --engine user --ublk --fast $FAST --slow $SLOW $LIMITS 2>&1) || die create "$said"
echo "$said"
[ -b $NODE ] || die node "no $NODE after create"
equal create-says "from now on use $NODE, or '$URI', and not $SLOW" "$(tail -n 1 <<<"$said")"
equal size "$(blockdev --getsize64 $SLOW)" "$(blockdev --getsize64 $NODE)"
equal sectors "512 4096 4096 4096" \
	"$(of logical_block_size) $(of physical_block_size) $(of minimum_io_size) $(of optimal_io_size)"
equal cache "write back, fua 1, rotational 0" "$(of write_cache), fua $(of fua), rotational $(of rotational)"
# limit ATTRIBUTE MOST - of the slow device, as far as one request goes.
limit() { awk -v most="$2" '{ print $1 < most ? $1 : most }' "/sys/block/${SLOW##*/}/queue/$1"; }
equal requests "1024 $(limit discard_max_bytes 1073741824) $(limit write_zeroes_max_bytes 16777216)" \
	"$(of max_hw_sectors_kb) $(of discard_max_bytes) $(of write_zeroes_max_bytes)"
[ "$(of discard_max_bytes)" -gt 0 ] && pass discards-are-offered || fail discards-are-offered "the slow disk has none"
[ -b ${NODE}p1 ] && pass partitions-are-read || fail partitions-are-read "$(ls /dev/ublk*)"
equal content "$(md5sum </run/piece)" "$(dd if=$NODE bs=1M skip=200 count=8 iflag=direct status=none | md5sum)"
# But of the kernel's own workers, which run none of the daemon's code.
equal capabilities "CapEff: 0000000000004000 CapPrm: 0000000000004000" "$(cat /proc/"$(daemon)"/task/*/status |
	awk '/^Name/ { ours = $2 !~ /^iou-wrk/ } ours && /^Cap(Prm|Eff)/ { print $1, $2 }' | sort -u | xargs)"
equal status-in-text "xpcache0  running  $NODE  (not in use)" "$(xpcache status xpcache0 | head -n 1)"
equal status-in-json "$NODE $URI" "$(xpcache status xpcache0 --json | sed -n 's/^ *"\(device\|uri\)": *"\(.*\)",*$/\2/p' | tr '\n' ' ' | sed 's/ $//')"
xpcache status xpcache0 | grep -q "^  parts  *${NODE}p1$" && pass status-of-partitions || fail status-of-partitions "$(xpcache status)"
refused partitions-are-the-kernels 2 "partitions of $NODE are the kernel's own" xpcache partitions xpcache0
xpcache list | grep -q "xpcache0 .*$NODE\$" && pass list || fail list "$(xpcache list)"
refused twice 3 "running already, as $NODE" xpcache start --engine user --ublk --fast $FAST --slow $SLOW

# ------------------------------------------------------------- a file system ----

verified verify --filename=$NODE --offset=350m --bsrange=512-64k --bs_unaligned=0 --blockalign=512 --number_ios=800
verified verify-big --filename=$NODE --offset=350m --bs=1m
verified verify-by-the-page-cache --filename=$NODE --offset=350m --ioengine=psync --direct=0 --bs=4k --size=8m --iodepth=1
try mkfs mkfs.xfs -q -f ${NODE}p1
must mount ${NODE}p1 /mnt
refused stop-while-mounted 3 "in use, mounted at /mnt: ${NODE}p1: unmount it first" xpcache stop xpcache0
refused remove-while-mounted 3 "in use, mounted at /mnt" xpcache remove xpcache0
equal in-use "xpcache0  running  $NODE" "$(xpcache status xpcache0 | head -n 1)"
fill /mnt/files 20 1500
verified verify-file --directory=/mnt --bsrange=4k-64k --number_ios=300
must rm /mnt/verify*
must sync
before=$(tree /mnt/files)
was=$(figure discards)
below() { awk '{ print $12 }' "/sys/block/${SLOW##*/}/stat"; }
was_below=$(below)
try fstrim fstrim /mnt
[ "$(below)" -gt "$was_below" ] && pass discards-go-down || fail discards-go-down "$was_below, $(below)"
[ "$(figure discards)" -gt "$was" ] && pass discards-arrive || fail discards-arrive "$was, $(figure discards)"
must umount /mnt
sleep 5 <$NODE &
refused stop-while-open 3 "in use, open by sleep, pid $!: $NODE: end that first" xpcache stop xpcache0
kill $!
wait $! 2>/dev/null
/host/bin/unshare -m --propagation private sh -c "mount ${NODE}p1 /mnt; exec sleep 1000" &
elsewhere=$!
mounted_elsewhere() { grep -q "^[^ ]*ublkb0p1 " /proc/$elsewhere/mounts; }
settled mounted_elsewhere || fail mounted-elsewhere "it is not"
refused stop-while-mounted-elsewhere 3 "in use" xpcache stop xpcache0
kill $elsewhere
wait $elsewhere 2>/dev/null
try repair xfs_repair -n ${NODE}p1
must mount ${NODE}p1 /mnt
equal files "$before" "$(tree /mnt/files)"
must umount /mnt

# Zeroes, and a FUA that is one.
must dd if=/run/piece of=$NODE bs=1M seek=350 oflag=direct status=none
must blkdiscard -z -o $((351 << 20)) -l $((2 << 20)) $NODE
cp /run/piece /run/zeroed
must dd if=/dev/zero of=/run/zeroed bs=1M seek=1 count=2 conv=notrunc status=none
equal zeroes "$(md5sum </run/zeroed)" \
	"$(dd if=$NODE bs=1M skip=350 count=8 iflag=direct status=none | md5sum)"
mount -t tracefs trace /sys/kernel/tracing
echo 1 >/sys/kernel/tracing/events/block/block_rq_issue/enable
must dd if=/run/piece of=$NODE bs=4k count=3 seek=$((350 * 256)) oflag=direct,dsync status=none
echo 0 >/sys/kernel/tracing/events/block/block_rq_issue/enable
major=$(printf '%d,%d' 0x"$(stat -c %t $NODE)" 0x"$(stat -c %T $NODE)")
equal fua-is-sent 3 "$(grep -cE "block_rq_issue: $major WFS? 4096 " /sys/kernel/tracing/trace)"
grep block_rq_issue: /sys/kernel/tracing/trace | tail -n 8

# What was written without a sync is in the page cache while somebody has the device open; flush
# asks for it, and not by a FLUSH: what the slow device has lost is for a file system to hear.
exec 9<$NODE
must dd if=/run/piece of=$NODE bs=1M seek=360 conv=notrunc status=none
echo >/sys/kernel/tracing/trace
echo 1 >/sys/kernel/tracing/events/block/block_rq_issue/enable
try flush xpcache flush xpcache0
echo 0 >/sys/kernel/tracing/events/block/block_rq_issue/enable
exec 9<&-
equal flush-of-ours 0 "$(grep -cE "block_rq_issue: $major F" /sys/kernel/tracing/trace)"
equal flushed-with-the-page-cache "$(md5sum </run/piece)" \
	"$(dd if=$SLOW bs=1M skip=360 count=8 iflag=direct status=none | md5sum)"

# ------------------------------------------------------ stop, and start again ----

must dd if=/dev/urandom of=$NODE bs=1M seek=380 count=16 oflag=direct status=none
held=$(checksum $NODE)
[ "$(figure dirty)" -ge 4000 ] && pass dirty || fail dirty "$(figure dirty)"
must xpcache stop xpcache0
gone && pass device-is-gone || fail device-is-gone "$(ls /dev/ublk*)"
must xpcache start --engine user --fast $FAST --slow $SLOW --idle-ms 0
equal same-over-nbd "$held" "$(nbdcopy "$URI" - | md5sum | cut -d ' ' -f 1)"
must xpcache stop xpcache0
up
equal same-after-start "$held" "$(checksum $NODE)"

# SIGTERM asks nobody: the file system is told to write, and what was mounted is dead.
must mount ${NODE}p1 /mnt
must cp /run/piece /mnt/last
kill -TERM "$(daemon)"
settled no_daemon && pass ends-while-mounted || fail ends-while-mounted "it runs"
grep -q "$NODE: a partition of it is in use, and taken away all the same" /run/xpcache/xpcache0.log &&
	pass warns || fail warns "$(tail -n 3 /run/xpcache/xpcache0.log)"
up
NEXT=$(xpcache status xpcache0 --json | sed -n 's/^ *"device": *"\(.*\)",$/\1/p')
note "beside a dead device that is mounted: $NEXT"
umount /mnt
must mount "${NEXT}p1" /mnt
equal synced-by-the-end "$(md5sum </run/piece)" "$(md5sum </mnt/last)"
equal files-live-on "$before" "$(tree /mnt/files)"
must umount /mnt
must xpcache stop xpcache0
settled gone && pass nothing-is-left || fail nothing-is-left "$(ls /dev/ublk*)"

# Somebody takes it away: the cache runs on, and is flushed and stopped as one that never had it.
up
must ublkstop 0
settled [ ! -e $NODE ] && pass taken-away || fail taken-away "$(ls /dev/ublk*)"
equal only-the-socket "$URI" "$(xpcache status xpcache0 --json | sed -n 's/^ *"device": *"\(.*\)",$/\1/p')"
try flush-without-it xpcache flush xpcache0
try stop-without-it xpcache stop xpcache0

# Killed: the device dies, its number stays; the next start takes that away.
up
must mount ${NODE}p1 /mnt
must cp /run/piece /mnt/synced
must sync
cp /run/piece /mnt/not-synced
kill -9 "$(daemon)"
settled [ ! -e $NODE ] && pass dies-with-the-daemon || fail dies-with-the-daemon "$(ls /dev/ublk*)"
[ -e /dev/ublkc0 ] && pass a-number-is-left || fail a-number-is-left "none"
up	# while the dead one is mounted still
equal leftover-is-swept "/dev/ublkb1 /dev/ublkc1" "$(echo /dev/ublk[bc][0-9])"
equal content-beside-a-dead-mount "$(md5sum </run/piece)" \
	"$(dd if=/dev/ublkb1 bs=1M skip=360 count=8 iflag=direct status=none | md5sum)"
must xpcache stop xpcache0
umount /mnt
up
equal number-is-free-again "/dev/ublkb0 /dev/ublkc0" "$(echo /dev/ublk[bc][0-9])"
must mount ${NODE}p1 /mnt
equal synced-before-the-kill "$(md5sum </run/piece)" "$(md5sum </mnt/synced)"
must umount /mnt
try repair-after-the-kill xfs_repair -n ${NODE}p1
must xpcache stop xpcache0

# ----------------------------------------------------------- kinds of drivers ----

for refuses in encoded plain; do
	LD_PRELOAD=/usr/bin/ublkwords.so UBLK_REFUSES=$refuses serve
	verified "verify-without-$refuses" --filename=$NODE --offset=350m --bs=4k --number_ios=300
	must xpcache stop xpcache0
	gone && pass "stop-without-$refuses" || fail "stop-without-$refuses" "$(ls /dev/ublk*)"
done
for refuses in all start fetch; do
	LD_PRELOAD=/usr/bin/ublkwords.so UBLK_REFUSES=$refuses refused "refuses-$refuses" 1 "no block device can be had" \
		xpcached serve --fast $FAST --slow $SLOW --ublk --control /run/xpcache/xpcache0.control --log /run/log --detach
	settled no_daemon && gone && pass "nothing-left-$refuses" || fail "nothing-left-$refuses" "$(ls /dev/ublk*; daemon)"
done

# --------------------------------------------------------------- two threads ----

serve --threads 2
equal two-queues "0 1" "$(ls /sys/block/ublkb0/mq | tr '\n' ' ' | sed 's/ $//')"
verified verify-two-threads --filename=$NODE --offset=350m --size=24m --offset_increment=24m --numjobs=2 \
	--bsrange=512-64k --bs_unaligned=0 --blockalign=512 --number_ios=400
equal files-by-two "$before" "$(mount -o ro ${NODE}p1 /mnt && tree /mnt/files; umount /mnt)"

must xpcache stop xpcache0

# --------------------------------------------------------------- how long ----

# Of hits, one at a time; the machine is emulated, so only beside one another.
median()
{
	fio --name=hits --filename="$1" --ioengine=libaio --iodepth=1 --rw=randread --bs=4k --direct=1 --size=4m \
		--offset=352m --number_ios=4000 --randrepeat=0 --norandommap --output-format=json "${@:2}" |
		sed -n 's/^ *"50.000000" : \([0-9]*\),*$/\1/p' | head -n 1
}
up
must dd if=/run/piece of=$NODE bs=1M seek=352 oflag=direct status=none
modprobe nbd
must nbd-client -unix /run/xpcache/xpcache0.sock /dev/nbd0
median $NODE >/dev/null
ublk=$(median $NODE)
nbd=$(median /dev/nbd0)
note "a hit of 4 KiB at depth 1: by ublk $ublk ns, by the kernel's NBD client $nbd ns: $((100 * ublk / nbd)) %"
must nbd-client -d /dev/nbd0
try bench xpcache bench xpcache0 --seconds 1
settled sh -c "xpcache status xpcache0 --json | grep -q '\"open_count\": *0'"
try remove xpcache remove xpcache0
must mount -o ro $SLOW"1" /mnt
equal files-on-the-disk "$before" "$(tree /mnt/files)"
must umount /mnt
sed 's/^/daemon: /' /run/xpcache/xpcache0.log

# ------------------------------------- a slow device that can neither discard nor zero ----

must modprobe scsi_debug dev_size_mb=64 lbpu=0 lbpws=0 lbpws10=0 delay=0
settled grep -q scsi_debug /sys/block/sd*/device/model || die scsi-debug "no disk"
SLOW=$(grep -l scsi_debug /sys/block/sd*/device/model | sed 's,/sys/block/\([a-z]*\)/.*,/dev/\1,')
must xpcache create --engine user --ublk --fast $FAST --slow "$SLOW" --idle-ms 0 --force
equal it-has-none 0 "$(cat "/sys/block/${SLOW##*/}/queue/discard_max_bytes")"
equal none-is-offered "0 $(limit write_zeroes_max_bytes 16777216)" "$(of discard_max_bytes) $(of write_zeroes_max_bytes)"
try remove-that xpcache remove xpcache0
