# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=1G quick=no extra=900M,16M timeout=1200 memory=512M watch=no sanitized=no
#
# What happens while a cache is detached: a hibernation, a slow device that grows, a fast one that goes, a power cut.

. ./sleeping.sh
OTHER=/dev/vda RECORDS=/dev/vdb
DISK=$SLOW
SLOW=/dev/mapper/volume
P2=$CACHE
MIB=2048

volume() { echo "0 $1 linear $DISK 0"; }
becomes()
{
	must dmsetup suspend --noflush --nolockfs volume
	must dmsetup reload volume --table "$(volume "$1")"
	must dmsetup resume volume
}
kernel_looks() { equal "$1" "$2" "$(cat /sys/power/resume)"; }

if [ "$BOOT" = 1 ]; then
	must mkswap $OTHER
	must dmsetup create volume --uuid LVM-volume --table "$(volume $((400 * MIB)))"
	create --idle-ms 0 --dirty-low 60
	keep_records $RECORDS
	must xpcache stop xpcache0
	try look xpcache hibernate --resume $OTHER
	must xpcache start xpcache0
	must swapon $OTHER
	image_to $OTHER
	swap=$(number $OTHER)

	# ---- the kernel makes no image that nobody has announced ----
	must mkfs.ext4 -q -F $CACHE
	must mount $CACHE /mnt
	must xpcache detach xpcache0
	kernel_looks nowhere 0:1
	hibernates test_resume
	[ -s /tmp/error ] && pass unannounced || fail unannounced "it hibernated"
	try end xpcache hibernate --end
	is_asleep still
	kernel_looks still-nowhere 0:1
	try attach xpcache attach xpcache0
	kernel_looks back "$swap"
	must xpcache detach xpcache0

	# ---- the slow device grows ----
	becomes $((500 * MIB))
	try attach-grown xpcache attach xpcache0
	is_awake grown
	equal grown-size $((500 * MIB)) "$(blockdev --getsz $CACHE)"
	becomes $((520 * MIB))
	try detach-grown xpcache detach xpcache0
	try attach-grown-before xpcache attach xpcache0
	equal grown-before-size $((520 * MIB)) "$(blockdev --getsz $CACHE)"

	# ---- others are not kept waiting while it writes back, and an interrupt leaves it ----
	pattern dirty 16 >/mnt/dirty
	sync /mnt/dirty
	must dmsetup suspend --noflush --nolockfs volume
	xpcache detach xpcache0 >/tmp/out 2>&1 &
	detach=$!
	sleep 3
	try nobody-waits xpcache hibernate --end
	kill -INT $detach
	sleep 1
	must dmsetup resume volume
	wait $detach
	equal interrupted 130 $?
	is_awake interrupted

	# ---- its fast device goes ----
	must xpcache detach xpcache0
	take_out $FAST
	refused attach-without 5 "end what uses the cache, then xpcache stop xpcache0, and xpcache forget xpcache0" xpcache attach xpcache0
	put_in $FAST
	must umount /mnt

	# ---- and a power cut, with more on the slow device than the cache has ever had ----
	must xpcache attach xpcache0
	writes before 0
	must xpcache detach xpcache0
	writes past 0
	must dd if=/dev/null of=$CACHE conv=fsync,notrunc status=none
	cut_power
fi
must dmsetup create volume --uuid LVM-volume --table "$(volume $((520 * MIB)))"
know $RECORDS
must xpcache hibernate --resume $OTHER
try start-boot xpcache start --boot
is_awake after-the-cut
holds past-the-cache past 0
must xpcache remove xpcache0
