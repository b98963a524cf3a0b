# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=32M slow=256M timeout=900 quick=6.12
#
# The slow device, a volume, gets longer and shorter: at rest, and longer while two programs verify what they write.

. ./lib.sh

DISK=$SLOW
SLOW=/dev/mapper/volume
MIB=2048	# sectors

volume() { echo "0 $1 linear $DISK 0"; }
# becomes SECTORS
becomes()
{
	must dmsetup suspend volume
	must dmsetup reload volume --table "$(volume "$1")"
	must dmsetup resume volume
}
size() { blockdev --getsz "$1"; }
# fills FROM COUNT BYTE: MiB of the cache.
fills() { head -c $(($2 << 20)) /dev/zero | tr '\0' "$3" | dd of=$CACHE bs=1M seek="$1" iflag=fullblock oflag=direct status=none; }
# holds NAME DEVICE FROM COUNT BYTE
holds() { equal "$1" "$(head -c $(($4 << 20)) /dev/zero | tr '\0' "$5" | md5sum)" "$(dd if="$2" bs=1M skip="$3" count="$4" iflag=direct status=none | md5sum)"; }

must dmsetup create volume --uuid TEST-volume --table "$(volume $((84 * MIB)))"
create --idle-ms 0 --dirty-low 90 --dirty-high 95
must fills 10 4 a
must fills 82 2 b
stop

# ---- longer, at rest; with a last block that is none ----
becomes $((90 * MIB + 3))
start
equal longer "$((90 * MIB + 3))" "$(size $CACHE)"
holds longer-holds $CACHE 82 2 b
must dd if=/dev/urandom of=/tmp/end bs=512 count=3 status=none
must dd if=/tmp/end of=$CACHE bs=512 seek=$((90 * MIB)) oflag=direct status=none
must fills 88 2 c
stop

# ---- shorter ----
becomes $((86 * MIB))
refused shorter-dirty 3 "reach past its end.*make it as large as it was; or xpcache flush --offline --rescue" xpcache start xpcache0
# The target itself, past the tool.
if dmsetup create past --table "0 $((86 * MIB)) xpcache $FAST $SLOW" 2>/dev/null; then
	fail shorter-engine "it starts"
else
	dmesg | grep -q "512 dirty blocks reach past its end, in sectors $((88 * MIB)) to $((90 * MIB - 1)); make it as large" &&
		pass shorter-engine || fail shorter-engine "$(dmesg | tail -n 1)"
fi
dmsetup remove --retry past 2>/dev/null
becomes $((90 * MIB + 3))
start
holds as-large-as-it-was $CACHE 88 2 c
equal last-sectors "$(md5sum </tmp/end)" "$(dd if=$CACHE bs=512 skip=$((90 * MIB)) iflag=direct status=none | md5sum)"
try home xpcache flush xpcache0
must fills 20 2 d
stop
becomes $((85 * MIB))
try shorter-clean xpcache start xpcache0
equal shorter "$((85 * MIB))" "$(size $CACHE)"
holds shorter-holds $CACHE 20 2 d
stop

# ---- and longer again: what was cached there is somebody else's ----
must dd if=/dev/zero of=$DISK bs=1M seek=88 count=2 oflag=direct status=none
becomes $((90 * MIB))
start
holds not-believed $CACHE 88 2 '\0'

# ---- while it runs ----
verified_load $CACHE 20 &	# together more than the fast device has
load=$!
sleep 2
equal nothing-to-do "xpcache0: $SLOW has $((90 * MIB)) sectors, as before" "$(xpcache resize xpcache0)"
for to in $((94 * MIB)) $((94 * MIB + 5)) $((100 * MIB)); do
	becomes "$to"
	try "resize-to-$to" xpcache resize xpcache0
	equal "size-$to" "$to" "$(size $CACHE)"
	sleep 1
done
must fills 96 2 e

# A start of the new table that failed is tried again; all that uses the cache waits.
table=$(dmsetup table xpcache0 | cut -d ' ' -f 3-)
must dmsetup suspend xpcache0
must dmsetup reload xpcache0 --table "0 $((99 * MIB)) $table"
dmsetup resume xpcache0 2>/dev/null && fail fails "a table that is too short is taken"
try tries-again xpcache resize xpcache0
kill -0 $load 2>/dev/null && pass load-all-the-while || fail load-all-the-while "it ended early"
end_load $load
holds new-room $CACHE 96 2 e
holds stays $CACHE 82 2 b
[ "$(counter dirty)" -ge 512 ] && pass nothing-was-flushed || fail nothing-was-flushed "$(counter dirty) dirty"
becomes $((95 * MIB))
refused shorter-live 3 "shorter than it was, and xpcache0 runs.*xpcache stop xpcache0" xpcache resize xpcache0
becomes $((100 * MIB))
comes_home
