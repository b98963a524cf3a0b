# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=8M timeout=1800 quick=no sanitized=no
#
# The tool is killed at every point of its work: then there is no cache, or a
# good one, and the data is all there. ROUNDS=n points of each verb (5).

. ./lib.sh

ROUNDS=${ROUNDS:-5}

must mkfs.ext4 -q -F $SLOW
wanted=$(checksum $SLOW)

now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# kill_after MS COMMAND... - quiet about the death. Fails if it came too late.
kill_after()
{
	local pid
	"${@:2}" >/tmp/out 2>&1 &
	pid=$!
	sleep "$(awk -v ms="$1" 'BEGIN { print ms / 1000 }')"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ $? -eq 137 ]
}

# With a table: what was interrupted may leave an empty device, for the next
# command to take away.
running() { dmsetup status xpcache0 2>/dev/null | grep -q running; }
at_rest() { xpcache check $FAST >/tmp/check 2>&1; }

# However it was left: the cache runs, or can be started, or there is none.
recover()
{
	dmsetup mknodes		# as udev would: the tool may have died before it did
	running && return
	if at_rest; then
		xpcache start --all >/tmp/out 2>&1 && running && return
		fail "$1" "a good cache does not start: $(tail -n 1 /tmp/out)"
		return 1
	fi
	if ! grep -qiE 'no xpcache|not .*xpcache' /tmp/check; then
		fail "$1" "neither a cache nor none: $(tail -n 1 /tmp/check)"
		return 1
	fi
}

# Writes something that is dirty from now on.
change()
{
	dd if=/dev/urandom of=$CACHE bs=64k count=8 seek=$((RANDOM % 100)) oflag=direct \
		conv=notrunc,fsync status=none
	wanted=$(checksum $CACHE)
}

# interrupt VERB PREPARE COMMAND... - measures the verb, then kills it at ROUNDS
# points of that time.
interrupt()
{
	local verb=$1 prepare=$2 began took n killed=0 good=0
	shift 2
	for n in first second; do	# the first one may load the module
		$prepare || return
		began=$(now)
		must "$@"
		took=$(($(now) - began))
	done
	for ((n = 0; n < ROUNDS; n++)); do
		$prepare && kill_after $((took * n / ROUNDS)) "$@" && killed=$((killed + 1))
		recover "interrupted-$verb" || return
		if [ "$wanted" != "$(checksum "$(running && echo $CACHE || echo $SLOW)")" ]; then
			fail "interrupted-$verb" "data changed in round $n"
			return
		fi
		good=$((good + 1))
	done
	note "$verb takes $took ms; killed in $killed of $good rounds"
	[ $killed -gt 0 ] && pass "interrupted-$verb" ||
		fail "interrupted-$verb" "it was never killed in time"
}

none()
{
	running && { xpcache remove xpcache0 >/tmp/out 2>&1 || return; }
	at_rest && { xpcache remove xpcache0 --fast $FAST >/tmp/out 2>&1 || return; }
	return 0
}
up()
{
	recover up || return
	running || xpcache create --fast $FAST --slow $SLOW --idle-ms 0 >/tmp/out 2>&1 || return
	change
}
down() { up && xpcache stop xpcache0 >/tmp/out 2>&1; }

# A start that died between its table and its resume: its device holds the
# disks, and must not keep the next one out.
leftover()
{
	local uuid table
	up || return
	uuid=$(dmsetup info -c --noheadings -o uuid xpcache0)
	table=$(dmsetup table xpcache0)
	must xpcache stop xpcache0
	must dmsetup create xpcache0 --notable -u "$uuid"
	must dmsetup load xpcache0 --table "$table"
	try leftover-taken-away xpcache start --all
	equal data-after-a-leftover "$wanted" "$(checksum $CACHE)"
}

leftover
interrupt create none xpcache create --fast $FAST --slow $SLOW
interrupt stop up xpcache stop xpcache0
interrupt start down xpcache start xpcache0
interrupt flush up xpcache flush xpcache0
interrupt remove up xpcache remove xpcache0

none || fail end "$(tail -n 1 /tmp/out)"
equal data-at-the-end "$wanted" "$(checksum $SLOW)"
