# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=8M timeout=1800 kernel=debug
#
# No memory, one allocation at a time: a command whose first, second, ... allocation
# in the kernel fails does its work or says in one line why not, and the cache is
# as good as before. Then under load, where nothing may be seen of it. EVERY=n tries
# only every n-th of what is most alike (17).

. ./lib.sh

EVERY=${EVERY:-17}
DEBUGFS=/sys/kernel/debug
PLENTY=1000000000

# ---- what fails ----

# knob NAME VALUE - of both kinds of allocation.
knob()
{
	echo "$2" >$DEBUGFS/failslab/"$1" && echo "$2" >$DEBUGFS/fail_page_alloc/"$1" ||
		die knob "cannot set $1 to $2"
}

# below START END - only allocations with a function from there among their callers.
below()
{
	knob require-start "$1"
	knob require-end "$2"
}

# No other module is loaded: beyond its code there is nobody's.
below_module()
{
	local start
	start=$(cat /sys/module/dm_xpcache/sections/.text)
	below "$start" "$(printf '0x%x' $((start + $(cat /sys/module/dm_xpcache/coresize))))"
}

# range_of FUNCTION - where it begins and the next one does; they are in order.
range_of()
{
	grep -m 1 -A 1 " $1\$" /proc/kallsyms | sed 's/^\([^ ]*\).*/0x\1/'
}

# What dm's ioctls do. Not in the making of a slab: when that fails, Linux 6.12 says
# so with a stack trace, and loses the eight bytes of the slab's name.
below_ioctl()
{
	local where
	mapfile -t where < <(range_of ctl_ioctl)
	below "${where[@]}"
	mapfile -t where < <(range_of __kmem_cache_create_args)
	knob reject-start "${where[0]}"
	knob reject-end "${where[1]}"
}

everywhere()
{
	below 0 0xffffffffffffffff
	knob reject-start 0
	knob reject-end 0
}

quiet() { knob probability 0; }

# How many have failed since count_from_zero.
injected()
{
	echo $((2 * PLENTY - $(<$DEBUGFS/failslab/times) - $(<$DEBUGFS/fail_page_alloc/times)))
}
count_from_zero() { knob times $PLENTY; }

# ---- the cache ----

running() { dmsetup status xpcache0 2>/dev/null | grep -q running; }
at_rest() { xpcache check $FAST >/dev/null 2>&1; }

# Whatever was there before: a cache that runs, with something dirty; one at rest; none.
up()
{
	running && return
	dmsetup resume xpcache0 2>/dev/null
	running && return
	if at_rest; then start; else create --idle-ms 0; fi
	dd if=/dev/urandom of=$CACHE bs=64k count=8 seek=$((RANDOM % 100)) oflag=direct \
		conv=notrunc,fsync status=none || die up "cannot write"
	wanted=$(checksum $CACHE)
}
down() { up && stop >/dev/null; }
none()
{
	if running; then remove; elif at_rest; then must xpcache remove xpcache0 --fast $FAST; fi
} >/dev/null

data() { checksum "$(running && echo $CACHE || echo $SLOW)"; }

# ---- one command, one allocation ----

# failing N COMMAND... - its N-th allocation fails. Its status.
failing()
{
	count_from_zero
	bash -c 'echo "$0" >/proc/thread-self/fail-nth && exec "$@"' "$@" \
		>/tmp/out 2>/tmp/err
}

# sweep NAME STEP PREPARE COMMAND... - until there is no N-th any more. After a
# command that failed all is as before it: the next one shows that. Counts what was
# $tried, and how often the command $failed.
sweep()
{
	local name=$1 step=$2 prepare=$3 n status=0 said
	tried=0 failed=0
	shift 3
	for ((n = 1; ; n += step)); do
		[ $status -ne 0 ] || $prepare
		failing $n "$@"
		status=$?
		[ "$(injected)" -gt 0 ] || break
		tried=$((tried + 1))
		[ $status -ne 0 ] || continue
		failed=$((failed + 1))
		mapfile -t said </tmp/err
		if [ $status -gt 125 ] || [ ${#said[@]} -ne 1 ]; then
			fail "$name" "with allocation $n failing: status $status, ${#said[@]} lines: ${said[*]}"
			return 1
		fi
		echo "$name $n: ${said[0]}"
	done
	note "$name: $tried of $((n - 1)) allocations failed, and $failed times the command"
	[ $status -eq 0 ] || fail "$name" "with no allocation failing: status $status: $(</tmp/err)"
}

# needs_memory NAME ... - as sweep; there is something to fail.
needs_memory()
{
	sweep "$@" || return
	[ $tried -gt 0 ] && pass "$1" || fail "$1" "no allocation was made to fail"
}

# needs_none NAME ... - as sweep; it works whatever fails.
needs_none()
{
	sweep "$@" || return
	[ $failed -eq 0 ] && pass "$1" || fail "$1" "it failed for want of memory, $failed times"
}

# verbs NAME STEP SWEEP - the kernel does for a create what it does for a start.
verbs()
{
	needs_memory "$1-create" $EVERY none xpcache create --fast $FAST --slow $SLOW --idle-ms 0
	needs_memory "$1-start" "$2" down xpcache start xpcache0
	"$3" "$1-stop" "$2" up xpcache stop xpcache0
	needs_none "$1-suspend" "$2" up dmsetup suspend xpcache0
	up
	"$3" "$1-commit" "$2" dirty dmsetup message xpcache0 0 commit
	"$3" "$1-flush" "$2" dirty xpcache flush xpcache0
	"$3" "$1-remove" "$2" up xpcache remove xpcache0
	up
	equal "$1-data" "$wanted" "$(data)"
}
dirty()
{
	up
	dd if=$CACHE of=/tmp/first bs=64k count=1 iflag=direct status=none
	dd if=/tmp/first of=$CACHE bs=64k count=1 oflag=direct conv=notrunc status=none
}

# ---- load ----

# Every way through the cache: whole blocks, parts, FUA, misses, runs.
fio_verify()
{
	fio --name=load --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 \
		--rw=randwrite --numjobs=2 --size=3m --offset_increment=4m --sync="$1" \
		--bssplit=512/20:4k/30:12800/20:64k/20:256k/10 --blockalign=512 --fsync=32 \
		--serialize_overlap=1 --randrepeat=0 \
		--verify=xxhash --verify_fatal=1 --verify_backlog=64
}

# under NAME - with the knobs as they are, from now on everything at once.
under()
{
	local n
	count_from_zero
	knob probability 100
	for n in 0 1; do
		fio_verify $n >/tmp/fio 2>&1 || {
			quiet
			cat /tmp/fio
			fail "$1" "fio: $(grep -m 1 -E 'verify|error' /tmp/fio)"
			return
		}
		xpcache flush xpcache0 >/dev/null 2>/tmp/err || fail "$1" "flush: $(cat /tmp/err)"
	done
	quiet
	note "$1: $(injected) allocations failed"
	[ "$(injected)" -gt 0 ] && pass "$1" || fail "$1" "no allocation was made to fail"
	equal "$1-fast-errors" 0 "$(counter fast_errors)"
	equal "$1-slow-errors" 0 "$(counter slow_errors)"
}

must mount -t debugfs debugfs $DEBUGFS
must modprobe dm-xpcache
must dd if=/dev/urandom of=$SLOW bs=1M oflag=direct conv=notrunc status=none count=8
quiet
knob verbose 0
knob ignore-gfp-wait N
echo N >$DEBUGFS/fail_page_alloc/ignore-gfp-highmem
echo 0 >$DEBUGFS/fail_page_alloc/min-order
up

# What ends a cache, or makes it safe, needs no memory.
below_module
verbs module 1 needs_none
below_ioctl
verbs dm "$EVERY" needs_memory

up
below_module
knob ignore-gfp-wait Y
under all-that-may-not-wait
knob ignore-gfp-wait N
knob interval 3
under every-third
everywhere
knob ignore-gfp-wait Y
knob interval 20
under every-twentieth-of-the-kernel

comes_home
try unload modprobe -r dm-xpcache
