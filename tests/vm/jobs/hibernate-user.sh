# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M quick=no extra=400M with=xpcached timeout=900 watch=no sanitized=no
#
# What --begin refuses the kernel refuses, although nobody heeds the exit code: with an xpcached, and
# no cache of the kernel's that would say no.

. ./sleeping.sh

SWAP=/dev/vda

# no_hibernation NAME WHY
no_hibernation()
{
	dmesg -C
	if hibernates shutdown; then
		fail "$1" "it hibernated"
	elif dmesg | grep -q "$2"; then
		pass "$1"
	else
		fail "$1" "$(cat /tmp/error)"
	fi
	equal "$1-no-image" swap "$(blkid -p -o value -s TYPE $SWAP)"
}

must mkswap $SWAP
must swapon $SWAP
must xpcache create --fast $FAST --slow $SLOW --no-start
must xpcache hibernate --resume $SWAP
must xpcache start xpcache0
truncate -s 64M /tmp/fast
truncate -s 256M /tmp/slow
must xpcache create --engine user --name user --fast /tmp/fast --slow /tmp/slow
for was in "$(number $SWAP)" 0:0; do
	echo "$was" >/sys/power/resume || was=$(number $SWAP)	# 6.1 takes no 0:0
	refused "begin-$was" 3 "would not notice what happens meanwhile" xpcache hibernate --begin
	equal "nowhere-$was" 0:1 "$(cat /sys/power/resume)"
	no_hibernation "with-both-$was" "a cache does not outlive a hibernation"
	try "end-$was" xpcache hibernate --end
	equal "back-$was" "$was" "$(cat /sys/power/resume)"
done
must xpcache stop xpcache0
refused begin-user 3 "would not notice what happens meanwhile" xpcache hibernate --begin
refused begin-user-again 3 "would not notice what happens meanwhile" xpcache hibernate --begin
no_hibernation with-user-alone "Cannot find swap device"
must xpcache stop user
equal stop-puts-back "$was" "$(cat /sys/power/resume)"
try begin-without xpcache hibernate --begin
equal begin-puts-back "$was" "$(cat /sys/power/resume)"

# A start that failed, and was killed: a dirty cache is not led to the bare disk.
never_started()
{
	must dmsetup create xpcache0 --uuid "XPCACHE-$uuid" --notable
	must dmsetup load xpcache0 --table "0 $(($(blockdev --getsz $SLOW) - 8)) xpcache $FAST $SLOW"
	! dmsetup resume xpcache0
}

must xpcache start xpcache0 --idle-ms 0
uuid=$(dmsetup info -c --noheadings -o uuid xpcache0)
uuid=${uuid#XPCACHE-}
writes dirty 0 $CACHE
must dmsetup suspend xpcache0
refused begin-suspended 3 "another program has suspended it" xpcache hibernate --begin
try end-suspended xpcache hibernate --end
equal still-suspended Suspended "$(dmsetup info -c --noheadings -o suspended xpcache0)"
must dmsetup resume xpcache0
must xpcache stop xpcache0
try never-started never_started
try begin-sweeps xpcache hibernate --begin
equal swept "" "$(dmsetup ls | grep xpcache0)"
try never-started-again never_started
must dmsetup mknodes xpcache0
exec 5</dev/mapper/xpcache0
refused begin-never-started 3 "another program has suspended it" xpcache hibernate --begin
touch "/run/xpcache/$uuid.asleep"
refused begin-never-started-begun 1 "cannot resume it" xpcache hibernate --begin
equal not-led-past-it xpcache "$(table | cut -d ' ' -f 1)"
exec 5<&-
must xpcache start xpcache0
equal not-begun "" "$(ls /run/xpcache/*.asleep 2>/dev/null)"
holds dirty dirty 0 $CACHE
must xpcache stop xpcache0
try check xpcache check $FAST --slow $SLOW --data

# What the next boot could not see when it looks: a fast device, and a swap.
must dmsetup create below --table "0 $(blockdev --getsz $FAST) linear $FAST 0"
must xpcache start xpcache0
echo "cache $uuid" >>/run/xpcache/looked-for-image
refused begin-fast-not-seen 3 "made of other devices" xpcache hibernate --begin
must xpcache stop xpcache0
number /dev/mapper/below >/sys/power/resume
try begin-swap-not-seen xpcache hibernate --begin
printf xpasleep | dd of=$FAST bs=4k seek=31 conv=sync,fsync status=none
refused begin-swap-not-seen-torn 3 "it is not seen yet" xpcache hibernate --begin
dd if=/dev/zero of=$FAST bs=4k seek=31 count=1 conv=fsync status=none

# And a swap on a cache whose slow device it could not see.
must xpcache remove xpcache0
must dmsetup remove below
must dmsetup create under --table "0 $(blockdev --getsz $SLOW) linear $SLOW 0"
must xpcache create --fast $FAST --slow /dev/mapper/under
must mkswap $CACHE
must swapon $CACHE
number $CACHE >/sys/power/resume
refused begin-slow-not-seen 3 "the slow device of xpcache0 is encrypted, or made of other devices" xpcache hibernate --begin
