# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M extra=16M memory=1G driver=powercut
# shellcheck shell=bash disable=SC2154 # variables from tests/vm/powercut
#
# One life of a cache that ends when the host kills the machine. KIND is raw (the
# device itself), ext4 or xfs; STEP is first, next or last.

. ./lib.sh

NOTEBOOK=/dev/vda
MOUNT=/mnt

raw_first() { must powercut init $SLOW $NOTEBOOK; }

raw_check()
{
	powercut check $CACHE $NOTEBOOK "$ROUND" "$SEED" "$ISSUED" "$ACKED" &&
		pass "nothing-lost"
	# what was never cached is no hit
	[ "${WAY:-through}" != through ] || [ "$(counter read_hits)" -gt 0 ] || fail warm "no read was a hit after the cut"
}

raw_write() { powercut write $CACHE $NOTEBOOK "$NEXT" "$NEXT_SEED"; }

# The plain disk, without the cache.
raw_alone()
{
	powercut check $SLOW $NOTEBOOK "$ROUND" "$SEED" "$ISSUED" "$ACKED" &&
		pass "complete-after-remove"
}

files_first()
{
	case $KIND in
	ext4)	must mkfs.ext4 -q -F $SLOW ;;
	xfs)	must mkfs.xfs -q -f $SLOW ;;
	esac
}

consistent()
{
	case $KIND in
	ext4)	e2fsck -fn "$1" ;;
	xfs)	xfs_repair -n "$1" ;;
	esac
}

# Mounting replays the file system's own log; after that fsck finds nothing.
files_check()
{
	must mount -t "$KIND" "$1" $MOUNT
	filecut check $MOUNT "$FILE_FIRST" "$FILE_LAST" && pass "fsynced-files$2"
	must umount $MOUNT
	try "fsck$2" consistent "$1"
}

files_write()
{
	must mount -t "$KIND" $CACHE $MOUNT
	filecut write $MOUNT "$NEXT_FILE"
}

# Now and then the dirty blocks are on their way home when the power goes.
type disturb >/dev/null 2>&1 || disturb()
{
	while [ "${FLUSHING:-0}" = 1 ]; do
		dmsetup message xpcache0 0 flush
		sleep 0.3
	done
}

if [ "$STEP" = first ]; then
	if [ "$KIND" = raw ]; then raw_first; else files_first; fi
	create
else
	report STARTING
	must xpcache start --all
	[ -b $CACHE ] || die start "no $CACHE after start"
	if [ "$KIND" = raw ]; then raw_check; else files_check $CACHE ""; fi
fi

type begin_mode >/dev/null 2>&1 && begin_mode
[ "$FAST" != /dev/pmem0 ] || [ "$(counter fast_access)" = memory ] || fail memory "it is used by $(counter fast_access)"

if [ "$STEP" = last ]; then
	must xpcache remove xpcache0
	if [ "$KIND" = raw ]; then raw_alone; else files_check $SLOW -after-remove; fi
	exit
fi

report GO
disturb &
if [ "$KIND" = raw ]; then raw_write; else files_write; fi
