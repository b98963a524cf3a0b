# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M slow-iops=2000 extra=256M,64M usr=host campaign=stack timeout=1800
#
# What lies below and on a running cache is suspended, reloaded and moved to other
# disks while two sides read and write on top of it all:
#
#	crypt (fio writes here) -- xpcache0 -- volume fast: /dev/nvme0n1, then /dev/vdb
#	                                   `-- crypt "slow", on volume slow: /dev/sda, then /dev/vda

. ./lib.sh
. ./layers.sh

ROUNDS=${ROUNDS:-3}
TOP=/dev/mapper/top
KEY=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

# encrypted NAME DEVICE
encrypted()
{
	must dmsetup create "$1" --table \
		"0 $(blockdev --getsz "$2") crypt aes-xts-plain64 $KEY 0 $2 0 1 allow_discards"
}

build()
{
	must pvcreate -q -y $FAST /dev/vdb $SLOW /dev/vda
	must vgcreate -q fast $FAST /dev/vdb
	must vgcreate -q slow $SLOW /dev/vda
	must lvcreate -q -y -l '100%PVS' -n volume fast $FAST
	must lvcreate -q -y -l '100%PVS' -n volume slow $SLOW
	encrypted slow /dev/slow/volume
	must xpcache create --fast /dev/fast/volume --slow /dev/mapper/slow --idle-ms 500
	encrypted top $CACHE
}

# reload NAME [SUSPEND-OPTION...] - the same table once more, as a key change or a
# move would load it.
reload()
{
	must dmsetup suspend "${@:2}" "$1"
	sleep 0.3
	dmsetup table --showkeys "$1" | dmsetup load "$1" || die reload "$1"
	must dmsetup resume "$1"
}

alive()
{
	kill -0 $load 2>/dev/null && pass "$1" || fail "$1" "fio has ended: $(tail -n 1 /tmp/fio.log)"
}

reload_each()
{
	local n name
	for ((n = 1; n <= ROUNDS; n++)); do
		for name in fast-volume slow-volume slow xpcache0 top; do
			reload $name
			reload $name --noflush --nolockfs
		done
	done
	alive load-beside-reloads
}

# A cache writes while it is suspended: with a device below it held, that waits,
# fails for nobody, and ends when the device goes on.
suspend_over_suspended()
{
	local name waiter
	for name in fast-volume slow; do
		must dmsetup suspend --noflush --nolockfs $name
		dmsetup suspend xpcache0 &
		waiter=$!
		sleep 2
		must dmsetup resume $name
		settled ended $waiter && pass "suspend-over-suspended-$name" ||
			die "suspend-over-suspended-$name" "it hangs a minute after $name was resumed"
		must dmsetup resume xpcache0
	done
	alive load-beside-held-devices
}
ended() { ! kill -0 "$1" 2>/dev/null; }

# move NAME FROM TO - all of a volume, while it is used.
move()
{
	try "move-$1" pvmove -q -i 1 -n volume "$2" "$3"
	equal "moved-$1" "$3" "$(lvs --noheadings -o devices "$1/volume" | sed 's/ *\(.*\)(0)/\1/')"
}

build
verified_load $TOP &
load=$!
sleep 3
reload_each
suspend_over_suspended
move fast $FAST /dev/vdb
move slow $SLOW /dev/vda
alive load-beside-moves

end_load $load
no_errors errors
must dmsetup remove top
before=$(checksum $CACHE)
remove
equal same-without-cache "$before" "$(checksum /dev/mapper/slow)"
