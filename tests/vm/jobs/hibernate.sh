# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=2G quick=no extra=900M,16M timeout=2400 memory=768M watch=no sanitized=no
#
# Hibernation: a machine that does it has no cache, and what can happen on the way to that and back.
# Boots 1 and 2 are one life, as far as its memory goes; so are 5 and 6.

. ./sleeping.sh

P1=${CACHE}p1 P2=${CACHE}p2 P3=${CACHE}p3
OTHER=/dev/vda RECORDS=/dev/vdb
LIMITS="--idle-ms 20 --dirty-low 5 --dirty-high 60"

# cached PLACE - it is in the cache, and clean or dirty.
cached() { dd if=$P2 of=/dev/null bs=64k skip="$1" count=64 iflag=direct status=none; }

set_up()
{
	must sfdisk -q --force $SLOW <<<"label: gpt
start=2048,size=1400000
start=1404928,size=600000
start=2006016,size=2000000"
	blockdev --rereadpt $SLOW
	# shellcheck disable=SC2086 # words
	must xpcache create --fast $FAST --slow $SLOW $LIMITS
	keep_records $RECORDS
	must mkswap $P1
	must mkfs.ext4 -q -F $P3
}

# To the swap with what is in its file. A limit would do the same, and be an alarm in the log where the swap is too slow.
swap_out() { echo 40M >/cg/small/memory.reclaim || true; } 2>/dev/null	# EAGAIN: not all of it went

# What this life remembers: in memory, in pages that are out on the swap, and in a file.
remember()
{
	pattern memory 8 >/tmp/memory
	mkdir -p /mem /cg
	mount -t tmpfs -o size=64m tmpfs /mem
	mount -t cgroup2 cgroup2 /cg 2>/dev/null
	echo +memory >/cg/cgroup.subtree_control
	mkdir -p /cg/small
	(echo "$BASHPID" >/cg/small/cgroup.procs; pattern swapped 40 >/mem/swapped)
	swap_out
	must mount $P3 /mnt
	pattern file 6 >/mnt/file
	sync
	note "$(awk 'END { print $4 }' /proc/swaps) KiB are on the swap"
}

remembers()
{
	equal "$1-memory" "$(pattern memory 8 | sha256sum)" "$(sha256sum </tmp/memory)"
	equal "$1-swapped" "$(pattern swapped 40 | sha256sum)" "$(sha256sum </mem/swapped)"
	swap_out
	echo 3 >/proc/sys/vm/drop_caches
	equal "$1-file" "$(pattern file 6 | sha256sum)" "$(sha256sum </mnt/file)"
}

refuses()
{
	image_to $P1
	if hibernates shutdown; then
		fail refuses "it hibernated with a cache"
	elif dmesg | grep -q 'xpcache0: a cache does not outlive a hibernation'; then
		pass refuses
	else
		fail refuses "$(cat /tmp/error)"
	fi
	is_awake refused
}

begins_and_ends()
{
	local uuid before
	must dmsetup message xpcache0 0 stream_kib 8192
	uuid=$(dmsetup info -c --noheadings -o uuid,major,minor xpcache0)
	before=$(xpcache status --json xpcache0 | grep -A 5 '"limits"')
	writes first 0
	try begin xpcache hibernate --begin
	is_asleep begun
	equal same-device "$uuid" "$(dmsetup info -c --noheadings -o uuid,major,minor xpcache0)"
	equal fast-is-free "" "$(ls /sys/class/block/nvme0n1/holders)"
	equal nothing-cached "0 0 " "$(xpcache check $FAST --json | sed -n 's/^ *"\(dirty\|clean\)":\([0-9]*\).*/\2/p' | tr '\n' ' ')"
	holds asleep first 0
	holds at-home first 0 ${SLOW}2
	remembers asleep
	writes second 64
	refused stop-asleep 3 "in use" xpcache stop xpcache0
	refused forget-asleep 3 "it is detached" xpcache forget xpcache0
	refused remove-asleep 3 "it is detached for hibernation" xpcache remove xpcache0
	try flush-asleep xpcache flush xpcache0
	try status-asleep xpcache status xpcache0
	try begin-again xpcache hibernate --begin
	is_asleep begun-again
	try end xpcache hibernate --end
	is_awake ended
	equal same-limits "$before" "$(xpcache status --json xpcache0 | grep -A 5 '"limits"')"
	try end-again xpcache hibernate --end
	must xpcache hibernate --begin
	try start-wakes xpcache start xpcache0
	is_awake started
	holds first-awake first 0
	holds second-awake second 64
	remembers awake
}

STEPS="mlockall:1 alarm:1 alarm:2 pwrite64:1 fdatasync:2 pwrite64:2 fdatasync:4 munlockall:1"
killed()
{
	local step n=0
	for step in $STEPS; do
		n=$((n + 1))
		writes "killed$n" 128
		try "killed-at-$step" killed_at $step
		equal "nowhere-after-$step" 0:1 "$(cat /sys/power/resume)"
		try "end-after-$step" xpcache hibernate --end
		is_awake "after-$step"
		holds "holds-after-$step" "killed$n" 128
	done
	for step in alarm:1 alarm:2 munlockall:1; do
		must xpcache hibernate --begin
		writes "waking$step" 128
		try "end-killed-at-$step" killed_at $step --end
		try "end-after-end-$step" xpcache hibernate --end
		is_awake "after-end-$step"
		holds "holds-after-end-$step" "waking$step" 128
	done
	# Killed where it is suspended, and then once more.
	killed_at alarm:2
	try begin-after-kill xpcache hibernate --begin
	is_asleep begun-after-kill
	must xpcache hibernate --end
}

# with_udev COMMAND... - as far as libdevmapper can tell; nobody would answer it.
with_udev()
{
	local status
	mkdir -p /run/udev
	touch /run/udev/control
	env -u DM_DISABLE_UDEV "$@"
	status=$?
	rm /run/udev/control
	return $status
}

without_semaphores()
{
	with_udev strace -o /tmp/strace -e trace=semget -e inject=semget:error=ENOSPC xpcache hibernate "$1" &&
		grep -q ENOSPC /tmp/strace
}

killed_before_resume()
{
	with_udev strace -o /dev/null -e trace=semget -e inject=semget:signal=KILL:when=1 \
		xpcache hibernate --begin >/dev/null 2>&1
	[ $? = 137 ]
}

# What a kill has left goes on, whatever is asked for next.
mended()
{
	writes mended 128
	try kill-for-flush killed_at fdatasync:4
	try flush-mends xpcache flush xpcache0
	is_awake flush-mended
	holds flush-mended mended 128
	writes again 192
	try kill-for-start killed_at fdatasync:4
	refused start-mends 3 "running already" xpcache start xpcache0
	is_awake start-mended
	holds start-mended again 192
	try kill-for-stop killed_at alarm:2
	refused stop-mends 3 "in use" xpcache stop xpcache0
	is_awake stop-mended
	writes loaded 128
	try kill-loaded killed_before_resume
	must dmsetup resume xpcache0
	is_asleep resumed-by-hand
	holds resumed-by-hand loaded 128
	writes by-hand 128
	must xpcache hibernate --end
	holds woken-by-hand by-hand 128
	try kill-loaded-again killed_before_resume
	try flush-clears xpcache flush xpcache0
	is_awake flush-cleared
	must xpcache hibernate --begin
	try end-killed-loaded killed_at alarm:1 --end
	equal loaded xpcache "$(dmsetup table --inactive xpcache0 | cut -d ' ' -f 3)"
	try flush-asleep-loaded xpcache flush xpcache0
	equal not-loaded "" "$(dmsetup table --inactive xpcache0)"
	is_asleep not-loaded
	try end-without-semaphores without_semaphores --end
	is_awake without-semaphores
	try begin-without-semaphores without_semaphores --begin
	is_asleep without-semaphores
	must xpcache hibernate --end
	holds mended by-hand 128
}

# What passes no flush on is not over a cache; and its map needs memory.
flushless()
{
	local cache line
	cache=$(echo /sys/class/block/"${SLOW#/dev/}"/device/scsi_disk/*/cache_type)
	echo "temporary write through" >"$cache"
	must xpcache hibernate --begin
	must dmsetup create over --table "0 2048 linear $CACHE 2048"
	must dmsetup create above --table "0 2048 linear /dev/mapper/over 0"
	refused end-flushless 3 "passes no flush on" xpcache hibernate --end
	is_asleep flushless
	must dmsetup remove above
	must dmsetup remove over
	for line in "MemAvailable: 100" "Dirty: 99999999"; do	# what must be written first is not free
		sed "s/^${line% *} .*/$line kB/" /proc/meminfo >/tmp/meminfo
		must mount --bind /tmp/meminfo /proc/meminfo
		refused "end-without-memory-${line%%:*}" 1 "not enough memory" xpcache hibernate --end
		must umount /proc/meminfo
	done
	is_asleep without-memory
	must xpcache hibernate --end
	is_awake flushless
	echo "temporary write back" >"$cache"
}

busy()
{
	rm -f /tmp/enough
	for n in 0 1 2; do
		while [ ! -e /tmp/enough ]; do
			writes busy$n $((1000 + n * 64))
		done &
	done
	sleep 2
	try begin-busy xpcache hibernate --begin
	is_asleep begun-busy
	try end-busy xpcache hibernate --end
	touch /tmp/enough
	wait
	for n in 0 1 2; do holds busy$n busy$n $((1000 + n * 64)); done
}

tests_itself()
{
	must xpcache hibernate --begin
	writes tested 192
	image_to $P1
	try test-resume hibernates test_resume
	holds tested tested 192
	must xpcache hibernate --end
	holds tested-awake tested 192
}

# know_another - a cache whose devices are not here.
know_another()
{
	sed 's/"uuid": *"[^"]*"/"uuid": "00000000000000000000000000000000"/; s/"name": *"xpcache0"/"name": "away"/; s/"hardware": *"[^"]*"/"hardware": "none"/' \
		/etc/xpcache/*[1-9a-f]*.json >/etc/xpcache/00000000000000000000000000000000.json
}

# What cannot be restored is not begun.
not_begun()
{
	truncate -s 100M /mnt/looped
	must modprobe loop
	must losetup /dev/loop0 /mnt/looped
	image_to /dev/loop0
	refused begin-on-loop 3 "it is on the cache xpcache0" xpcache hibernate --begin
	losetup -d /dev/loop0
	rm /mnt/looped
	image_to $P1
	refused begin-without-initramfs 3 "would not restore" env -u XPCACHE_INITRAMFS xpcache hibernate --begin
	mv /run/xpcache/looked-for-image /tmp
	refused begin-not-looked 3 "did not look for a memory" xpcache hibernate --begin
	mv /tmp/looked-for-image /run/xpcache
	looked_at $OTHER
	refused begin-looked-elsewhere 3 "looked for an image at $OTHER" xpcache hibernate --begin
	equal nowhere 0:1 "$(cat /sys/power/resume)"
	try end-puts-back xpcache hibernate --end
	equal put-back "$(number $P1)" "$(cat /sys/power/resume)"
	looked_at /dev/disk/by-id/none
	refused begin-looked-by-id 3 "looked for an image at" xpcache hibernate --begin
	looked_at "UUID=$(blkid -p -o value -s UUID $P1)"
	sed -i 's/^cache /cache 0/' /run/xpcache/looked-for-image
	refused begin-not-known 3 "did not know it" xpcache hibernate --begin
	sed -i 's/^cache 0/cache /; s/^kernel .*/kernel 8:1/' /run/xpcache/looked-for-image
	refused begin-kernel-looks 3 "the kernel looks for an image by itself" xpcache hibernate --begin
	sed -i 's/^kernel .*/kernel 0:0/' /run/xpcache/looked-for-image
	number ${SLOW}1 >/sys/power/resume
	refused begin-raw 3 "on the disk below the cache" xpcache hibernate --begin
	image_to $P1
	know_another
	refused begin-another-missing 5 "its fast device is not here" xpcache hibernate --begin
	sed -i 's/"start": *"[a-z]*"/"start": "initramfs"/' /etc/xpcache/0*0.json
	refused begin-adopted 3 "restores no memory of before" xpcache hibernate --begin
	rm /etc/xpcache/0*0.json
	exec 6>/run/xpcache/hibernate.lock
	flock 6
	refused begin-waits 3 "a stop, a detach or another hibernate goes on" xpcache hibernate --begin
	equal nowhere-waits 0:1 "$(cat /sys/power/resume)"
	exec 6>&-
	is_awake not-begun
}

case $BOOT in
1)
	set_up
	must xpcache stop xpcache0
	try look xpcache hibernate --resume $P1
	must xpcache start xpcache0
	must swapon $P1
	remember
	refuses
	image_to $P1
	not_begun
	begins_and_ends
	killed
	mended
	flushless
	busy
	# 6.1 loses slots of swap by it, with or without a cache: swapoff never ends.
	[[ $(uname -r) == 6.1.* ]] || tests_itself
	writes first 0
	writes foreign-before 256
	cached 256
	writes begun 320
	image_to $P1
	must xpcache hibernate --begin
	writes asleep 384
	sleeps
	# ------------------------------------------ boot 2, the same life
	pass woken
	is_asleep woken
	holds woken-first first 0
	holds woken-foreign foreign 256
	try end-woken xpcache hibernate --end
	is_awake end-woken
	holds awake-first first 0
	holds awake-foreign foreign 256
	holds awake-begun begun 320
	holds awake-asleep asleep 384
	remembers woken
	must swapoff $P1
	must umount /mnt
	must mkswap $OTHER
	must swapon $OTHER
	image_to $OTHER
	writes before-other 448
	must xpcache hibernate --begin
	sleeps
	die woken-over-another-life "it was restored"
	;;
2)
	know $RECORDS
	refused start-refused 3 "the memory of a system that hibernates is here" xpcache start xpcache0
	writes foreign 256 ${SLOW}2
	xpcache hibernate --resume $P1
	die restore "$(dmesg | tail -n 5)"
	;;
3)	# another life: it is started, and used, by a system that cannot see the swap
	know $RECORDS
	take_out $OTHER
	must xpcache start
	holds other-before before-other 448
	writes other-life 448
	must xpcache stop xpcache0
	put_in $OTHER
	equal image-there swsuspend "$(blkid -p -o value -s TYPE $OTHER)"
	refused start-other-refused 3 "the memory of a system that hibernates is here" xpcache start xpcache0
	refused not-restored 3 "was started since" xpcache hibernate --resume $OTHER
	equal image-erased swap "$(blkid -p -o value -s TYPE $OTHER)"
	must xpcache hibernate --resume $P1
	must xpcache start
	holds other-life other-life 448
	holds other-first first 0
	# The power goes while it is suspended, and has forgotten.
	must swapon $P1
	image_to $P1
	writes cut 512
	killed_at fdatasync:4 || fail cut-killed "it was not killed"
	cut_power
	;;
4)
	know $RECORDS
	must xpcache hibernate --resume $P1
	must xpcache start
	holds after-cut cut 512
	must swapon $P1
	image_to $P1
	writes cut-asleep 512
	killed_at munlockall:1 || fail cut-killed-2 "it was not killed"
	is_asleep cut-asleep
	writes past-the-cache 576
	cut_power
	;;
5)
	know $RECORDS
	must xpcache hibernate --resume $P3
	try check-after-cuts xpcache check $FAST --slow $SLOW
	must xpcache start
	holds after-cut-2 cut-asleep 512
	holds past-the-cache past-the-cache 576
	equal no-errors 0 "$(counter slow_errors)"
	# A file, and its fast disk goes.
	must mount $P3 /mnt
	must fallocate -l 600M /mnt/swap
	chmod 600 /mnt/swap
	must mkswap /mnt/swap
	must swapon /mnt/swap
	image_to $P3 "$(filefrag -v /mnt/swap | awk '$1 == "0:" { sub("[.]+", "", $4); print $4 }')"
	pattern memory 8 >/tmp/memory
	writes to-file 640
	must xpcache hibernate --begin
	sleeps
	# ------------------------------------------ boot 6, the same life
	pass woken-from-file
	holds woken-to-file to-file 640
	equal memory-from-file "$(pattern memory 8 | sha256sum)" "$(sha256sum </tmp/memory)"
	take_out $FAST
	refused end-without-fast 5 "its fast device is not here" xpcache hibernate --end
	is_asleep without-fast
	writes without-fast 704
	refused begin-without-fast 5 "its fast device is not here" xpcache hibernate --begin
	if hibernates shutdown; then fail nowhere-to "it hibernated"; else pass nowhere-to; fi
	put_in $FAST
	try end-with-fast xpcache hibernate --end
	is_awake with-fast
	holds with-fast without-fast 704
	holds with-fast-first first 0
	must swapoff /mnt/swap
	must umount /mnt
	# One that never comes back: it can be ended all the same.
	must swapon $P1
	image_to $P1
	must xpcache hibernate --begin
	must swapoff $P1
	take_out $FAST
	try stop-without-fast xpcache stop xpcache0
	equal stopped "" "$(dmsetup ls | grep xpcache)"
	put_in $FAST
	must xpcache start xpcache0
	holds after-stop without-fast 704
	must xpcache stop xpcache0
	try check-at-the-end xpcache check $FAST --slow $SLOW --data
	;;
6)
	know $RECORDS
	xpcache hibernate --resume $P3
	die restore-from-file "$(dmesg | tail -n 5)"
	;;
esac
