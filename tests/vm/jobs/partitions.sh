# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M timeout=900 usr=host quick=no sanitized=no
#
# The partitions of a cached disk: /dev/mapper/xpcache0p1 and so on, of GPT and of MBR with logical
# ones, aligned to nothing. They come with create and start, go with stop and remove, and are all
# there whatever those refuse.

. ./lib.sh

P1=${CACHE}p1
P2=${CACHE}p2
LIMITS="--idle-ms 0 --dirty-low 80 --dirty-high 90"	# nothing goes home by itself
AT2=300001	# where the second one begins: in the middle of a block

# sleeps PID - it has opened what it is to hold: that comes before the program.
sleeps() { until [ "$(cat /proc/$1/comm)" = sleep ]; do :; done; }

# Those with a node, and those that device mapper knows.
nodes() { (cd /dev/mapper && ls -d xpcache0p* 2>/dev/null) | sort -V | xargs; }
devices() { dmsetup ls | cut -f 1 | grep '^xpcache0p' | sort -V | xargs; }

# are NAME WANTED - the partitions that there are.
are() { equal "$1" "$2 | $2" "$(nodes) | $(devices)"; }

# says NAME CODE TEXT COMMAND...
says()
{
	local name=$1 code=$2 text=$3 out got
	shift 3
	out=$("$@" 2>&1)
	got=$?
	echo "\$ $* -> $got: $out"
	if [ $got -eq "$code" ] && grep -qE -e "$text" <<<"$out"; then
		pass "$name"
	else
		fail "$name" "status $got: $out"
	fi
}

# blocks FILE FIRST - the sum of 256 blocks of 512 bytes, past the page cache.
blocks() { dd if="$1" bs=512 skip="$2" count=256 iflag=direct status=none | md5sum; }

# shellcheck disable=SC2086 # words
make() { says "$1" 0 "$2" xpcache create --fast $FAST --slow $SLOW $LIMITS; }

two_partitions()
{
	must sfdisk -q --force $SLOW <<<"label: gpt
start=2048,size=200000
start=$AT2,size=200001"
	must partx -u $SLOW
	must mkfs.ext4 -q -F ${SLOW}1
}

come_and_go()
{
	two_partitions
	must mount ${SLOW}1 /mnt
	fill /mnt/files 10 100
	tree /mnt/files >/tmp/wanted
	# shellcheck disable=SC2086
	refused create-while-a-partition-is-mounted 3 "mounted at /mnt: ${SLOW}1" \
		xpcache create --fast $FAST --slow $SLOW $LIMITS
	must umount /mnt
	make create "^  $P1 and not ${SLOW}1: ext4$"
	are there "xpcache0p1 xpcache0p2"
	equal sizes "200000 200001" "$(blockdev --getsz $P1) $(blockdev --getsz $P2)"
	says not-in-use 0 "not in use" xpcache status xpcache0
	says status 0 "^  parts +$P1, $P2$" xpcache status xpcache0
	equal status-in-json "$P1 $P2" "$(xpcache status --json | grep -oE "$CACHE"'p[0-9]+' | xargs)"
	must mount $P1 /mnt
	equal files "$(cat /tmp/wanted)" "$(tree /mnt/files)"
	says in-use 0 "xpcache0 +running +$CACHE\$" xpcache status xpcache0
	says list-shows-one 0 "^xpcache0 " xpcache list
	equal list-shows-no-partition "" "$(xpcache list | grep xpcache0p)"
	refused stop-while-mounted 3 "in use, mounted at /mnt: xpcache0p1: unmount it first" xpcache stop xpcache0
	refused remove-while-mounted 3 "in use, mounted at /mnt" xpcache remove xpcache0
	refused hide-while-mounted 3 "in use, mounted at /mnt" xpcache partitions xpcache0 --hide
	are after-that "xpcache0p1 xpcache0p2"
	fill /mnt/more 5 100
	tree /mnt >/tmp/wanted
	must umount /mnt
	sleep 1000 <$P2 &
	sleeps $!
	refused stop-while-open 3 "in use, open by sleep, pid $!: xpcache0p2" xpcache stop xpcache0
	kill $!
	wait $! 2>/dev/null
	are after-that-too "xpcache0p1 xpcache0p2"
	must xpcache stop xpcache0
	are gone-after-stop ""
	# shellcheck disable=SC2086
	must xpcache start --fast $FAST $LIMITS
	are there-after-start "xpcache0p1 xpcache0p2"
	must mount $P1 /mnt
	equal files-after-start "$(cat /tmp/wanted)" "$(tree /mnt)"
	must umount /mnt
}

# What is written to one of them, or to the whole, is not forgotten in a page cache.
written_without_a_sync()
{
	local sum
	dd if=/dev/urandom of=/tmp/data bs=512 count=256 status=none
	sum=$(md5sum </tmp/data)
	must xpcache flush xpcache0
	exec 7<>$P2
	must dd if=/tmp/data of=$P2 bs=512 seek=4096 conv=notrunc status=none
	must dd if=/tmp/data of=$CACHE bs=512 seek=$((AT2 + 8191)) conv=notrunc status=none
	must xpcache flush xpcache0
	equal flush-brings-a-partition-home "$sum" "$(blocks $SLOW $((AT2 + 4096)))"
	equal flush-brings-the-whole-home "$sum" "$(blocks $SLOW $((AT2 + 8191)))"
	exec 7<&-
	must dd if=/tmp/data of=$CACHE bs=512 seek=$((AT2 + 16383)) conv=notrunc status=none
	says stop-knows-what-was-written 0 "up to 32 blocks .* dirty" xpcache stop xpcache0
	# shellcheck disable=SC2086
	must xpcache start --fast $FAST $LIMITS
	equal written-before-a-stop "$sum" "$(blocks $CACHE $((AT2 + 16383)))"
	equal the-same-by-the-partition "$sum" "$(blocks $P2 16383)"
}

# Who wants the whole device has them hidden; then they are what the table says.
hidden()
{
	truncate -s 1G /tmp/other
	refused bench-of-the-whole 3 "by its partition $CACHE.*--hide first" \
		xpcache bench $CACHE --destructive --force --seconds 0.1
	refused cache-of-a-partition 3 "a partition of a running cache: $P2" \
		xpcache create --force --fast $P2 --slow /tmp/other
	refused cache-of-what-it-lies-on 3 "the fast device lies on $FAST" \
		xpcache create --force --fast $P2 --slow $FAST
	says hide 0 "hidden" xpcache partitions xpcache0 --hide
	are none-while-hidden ""
	must sfdisk -q --delete $CACHE 2
	must sfdisk -q --append $CACHE <<<"start=$AT2,size=100001"
	must sfdisk -q --append $CACHE <<<"start=600000,size=3000"
	must dmsetup create --notable xpcache0p3
	refused name-taken 3 "xpcache0p3: dmsetup rename" xpcache partitions xpcache0
	equal others-are-there "xpcache0p1 xpcache0p2" "$(nodes)"
	must dmsetup remove xpcache0p3
	says shown-again 0 "^  ${CACHE}p3$" xpcache partitions xpcache0
	are after-fdisk "xpcache0p1 xpcache0p2 xpcache0p3"
	equal size-after-fdisk 100001 "$(blockdev --getsz $P2)"
	must sfdisk -q --no-reread --force --delete $CACHE 3
	says one-less 0 "$P2" xpcache partitions xpcache0
	are after-a-deletion "xpcache0p1 xpcache0p2"
}

# Of a kill in the wrong moment: one is away, or half-made.
after_a_kill()
{
	local uuid
	uuid=$(dmsetup info -c --noheadings -o uuid xpcache0)
	must dmsetup remove xpcache0p2
	refused start-while-it-runs 3 "running already" xpcache start xpcache0
	are missing-one "xpcache0p1 xpcache0p2"
	must dmsetup remove xpcache0p2
	must dmsetup create --notable -u "part2-$uuid" xpcache0p2
	sleep 1000 <$CACHE &
	sleeps $!
	says in-use-beside-a-half-made-one 0 "^xpcache0 +running +$CACHE\$" xpcache status xpcache0
	kill $!
	wait $! 2>/dev/null
	rm -f $P2
	says flush-beside-a-half-made-one 0 "every block is written back" xpcache flush xpcache0
	says none-is-stopped 0 "no stopped cache" xpcache start --all
	are half-made-one "xpcache0p1 xpcache0p2"
	try readable dd if=$P2 of=/dev/null bs=64k count=1 status=none
}

# The journal's device fails: the stop is refused, and nothing is missing.
stop_fails()
{
	local all
	must xpcache stop xpcache0
	all="0 $(blockdev --getsz $FAST)"
	must dmsetup create layer --table "$all linear $FAST 0"
	# shellcheck disable=SC2086
	must xpcache start --fast /dev/mapper/layer $LIMITS
	must dd if=/tmp/data of=$P2 bs=512 seek=64 oflag=direct conv=notrunc status=none
	must dmsetup suspend --noflush --nolockfs layer
	must dmsetup load layer --table "$all error"
	must dmsetup resume layer
	must dd if=/tmp/data of=$CACHE bs=4k seek=$((AT2 / 8 + 512)) count=2 conv=notrunc status=none
	says stop-tells-what-is-lost 1 "cannot write out what programs wrote there.*: $CACHE" xpcache stop xpcache0
	says stop-refused 1 "journal cannot be written" xpcache stop xpcache0
	are there-after-a-failed-stop "xpcache0p1 xpcache0p2"
	must dmsetup suspend --noflush --nolockfs layer
	must dmsetup load layer --table "$all linear $FAST 0"
	must dmsetup resume layer
	must xpcache stop xpcache0 --force
	must dmsetup remove layer
	# shellcheck disable=SC2086
	must xpcache start --fast $FAST $LIMITS
}

gone_for_good()
{
	must xpcache remove xpcache0
	are gone-after-remove ""
	must partx -u $SLOW
	try sound-alone e2fsck -fn ${SLOW}1
}

mbr()
{
	must wipefs -qa $SLOW
	must sfdisk -q --force $SLOW <<<'label: dos
start=63,size=100000
start=100063,size=800000,type=5
start=100126,size=200000
start=300189,size=200000'
	make create-of-mbr "^  ${CACHE}p6 and not ${SLOW}6"
	are parts-of-mbr "xpcache0p1 xpcache0p5 xpcache0p6"
	equal where-it-begins "300189" "$(dmsetup table xpcache0p6 | cut -d ' ' -f 5)"
	must xpcache remove xpcache0
	are mbr-gone ""
}

# The disk as a whole is something; the table in its first blocks is old, or not its own.
no_table()
{
	must mkfs.ext4 -q -F $SLOW
	must sfdisk -q --force --wipe never $SLOW <<<'label: dos
start=2048,size=100000'
	make create-of-a-file-system "from now on use"
	are file-system-with-an-old-table ""
	must xpcache remove xpcache0
	must wipefs -qa $SLOW
	two_partitions
	printf 'LUKS\272\276\0\2' | dd of=$SLOW conv=notrunc,fsync status=none
	make create-of-luks "from now on use"
	are encrypted ""
	says no-partitions 0 "xpcache0: no partitions" xpcache partitions xpcache0
	must xpcache remove xpcache0
}

if [ "$BOOT" -eq 1 ]; then
	come_and_go
	written_without_a_sync
	hidden
	if [ "${PASSES:-1}" -gt 1 ]; then	# the campaign
		after_a_kill
		stop_fails
	fi
	gone_for_good
	mbr
	[ "${PASSES:-1}" -gt 1 ] || exit 0
	no_table
	must wipefs -qa $SLOW
	two_partitions
	make create-before-a-cut "$P2"
	must mount $P1 /mnt
	fill /mnt/files 10 100
	sync
	cut_power
fi
# shellcheck disable=SC2086
must xpcache start --fast $FAST $LIMITS
are there-after-a-cut "xpcache0p1 xpcache0p2"
must mount $P1 /mnt
equal files-after-a-cut 10 "$(find /mnt/files -type f -size 100k | wc -l)"
must umount /mnt
try sound-after-a-cut e2fsck -fn $P1
must xpcache remove xpcache0
