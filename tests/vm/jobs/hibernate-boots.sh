# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=1G quick=no extra=900M,64M,256M,16M,64M timeout=1500 memory=768M watch=no sanitized=no
#
# The boots after a hibernation, of a machine whose caches the initramfs does not start: two of them,
# swap on another disk, a disk that comes late, and a second system that sleeps elsewhere.
# Boots 1 and 2 are one life; so are 3 and 4.

. ./sleeping.sh

SWAP=/dev/vda FAST2=/dev/vdb SLOW2=/dev/vdc RECORDS=/dev/vdd SWAP2=/dev/vde
CACHE2=/dev/mapper/other

notes() { dd if="$1" bs=4k skip=28 count=4 iflag=direct status=none | grep -ao xpasleep | grep -c .; }
type_of() { blkid -p -o value -s TYPE "$1"; }

set_up()
{
	must xpcache create --fast $FAST --slow $SLOW
	must xpcache create --name other --fast $FAST2 --slow $SLOW2
	keep_records $RECORDS
	must xpcache stop xpcache0
	must xpcache stop other
	must mkswap $SWAP
	must mkswap $SWAP2
}

# looks SWAP - as the initramfs of that system, at once: with no image there is nothing to wait for.
looks()
{
	SECONDS=0
	must xpcache hibernate --resume "$1"
	equal "looks-at-once-$BOOT" yes "$([ $SECONDS -lt 20 ] && echo yes || echo $SECONDS)"
}

case $BOOT in
1)
	set_up
	looks $SWAP
	must xpcache start --all
	must swapon $SWAP
	image_to $SWAP
	writes one 0 $CACHE
	writes two 0 $CACHE2
	must xpcache hibernate --begin
	is_asleep both
	is_asleep both-other other $SLOW2
	sleeps
	# ------------------------------------------ boot 2, the same life
	pass woken
	is_asleep woken
	holds woken-one one 0 $CACHE
	must xpcache hibernate --end
	is_awake woken
	is_awake woken-other other
	holds awake-one one 0 $CACHE
	holds awake-two two 0 $CACHE2
	equal no-notes "0 0" "$(notes $FAST) $(notes $FAST2)"
	# Killed when one sleeps and the other is suspended: nobody looks at that one's disk before it goes on.
	writes three 0 $CACHE
	writes four 0 $CACHE2
	try killed-at-the-second killed_at fdatasync:8
	equal one-sleeps linear "$(table other | cut -d ' ' -f 1)"
	equal one-is-suspended Suspended "$(dmsetup info -c --noheadings -o suspended xpcache0)"
	try end-after-the-second xpcache hibernate --end
	is_awake second
	is_awake second-other other
	holds second-three three 0 $CACHE
	holds second-four four 0 $CACHE2
	must xpcache hibernate --begin
	sleeps
	die woken-over-another-life "it was restored"
	;;
2)
	know $RECORDS
	refused remove 3 "the memory of a system that hibernates is here" xpcache remove xpcache0
	take_out $FAST
	refused without-one 5 "the fast device of xpcache0 is not here" xpcache hibernate --resume $SWAP
	equal stays swsuspend "$(type_of $SWAP)"
	put_in $FAST
	printf xpasleep | dd of=$FAST bs=4k seek=31 conv=sync,fsync status=none
	refused torn-note 5 "a note of xpcache0 that can be read" xpcache hibernate --resume $SWAP
	dd if=/dev/zero of=$FAST bs=4k seek=31 count=1 conv=fsync status=none
	take_out $FAST2
	rm /etc/xpcache/*
	refused without-record 5 "of 2 caches that slept with it only 1 are here" xpcache hibernate --resume $SWAP
	know $RECORDS
	(sleep 3; put_in $FAST2) &
	xpcache hibernate --resume $SWAP
	die restore "$(dmesg | tail -n 5)"
	;;
3)	# a second system, which does not see the first one's swap
	know $RECORDS
	take_out $SWAP
	looks $SWAP2
	equal two-notes "1 1" "$(notes $FAST) $(notes $FAST2)"
	must xpcache start --boot
	must xpcache stop xpcache0
	must xpcache stop other
	# --force loses what is here, and no proof of what is not.
	must xpcache start --force xpcache0
	must xpcache start --force other
	equal forced-notes "1 1" "$(notes $FAST) $(notes $FAST2)"
	holds second-three three 0 $CACHE
	writes second 0 $CACHE
	must swapon $SWAP2
	image_to $SWAP2
	must xpcache hibernate --begin
	equal four-notes "2 2" "$(notes $FAST) $(notes $FAST2)"
	must xpcache hibernate --end
	equal notes-kept "1 1" "$(notes $FAST) $(notes $FAST2)"
	must xpcache stop xpcache0
	must xpcache stop other
	must swapoff $SWAP2
	put_in $SWAP
	refused changed-meanwhile 3 "was started since" xpcache hibernate --resume $SWAP
	equal erased swap "$(type_of $SWAP)"
	# The first system again, with one cache.
	looks $SWAP
	must xpcache start xpcache0
	holds first-again second 0 $CACHE
	equal settled 0 "$(notes $FAST)"
	must swapon $SWAP
	image_to $SWAP
	writes first 0 $CACHE
	printf xpasleep | dd of=$FAST2 bs=4k seek=31 conv=sync,fsync status=none
	must xpcache hibernate --begin
	equal no-sleeper 0 "$(notes $FAST2)"
	sleeps
	# ------------------------------------------ boot 4, the same life
	pass restored-beside-another
	is_asleep beside
	must xpcache hibernate --end
	holds beside first 0 $CACHE
	must swapoff $SWAP
	must xpcache stop xpcache0
	try check xpcache check $FAST --slow $SLOW --data
	;;
4)	# without a note it is another system's, if / is on a cache; the second one sleeps, later
	know $RECORDS
	refused not-seen 3 "it is not seen yet, and xpcache0 may" xpcache hibernate --resume /dev/mapper/group-swap
	dd if=$FAST of=/tmp/notes bs=4k skip=28 count=4 iflag=direct status=none
	dd if=/dev/zero of=$FAST bs=4k seek=28 count=4 oflag=direct status=none
	looks /dev/mapper/group-swap
	sed -i 's/"start": *"boot"/"start": "initramfs"/' /etc/xpcache/*.json
	refused stranger 3 "not one that the caches slept with" xpcache hibernate --resume $SWAP
	dd if=/tmp/notes of=$FAST bs=4k seek=28 oflag=direct status=none
	know $RECORDS
	looks $SWAP2
	must xpcache start other
	must swapon $SWAP2
	image_to $SWAP2
	must xpcache hibernate --begin
	must xpcache stop other
	equal one-note-each "1 1" "$(notes $FAST) $(notes $FAST2)"
	xpcache hibernate --resume $SWAP
	die restore-beside "$(dmesg | tail -n 5)"
	;;
esac
