# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=12M slow=40M timeout=5400 campaign=fault
#
# Failing disks under a cache at work: {slow, fast} x {read, write, flush} x {once,
# forever, gone}, each a cell with a line of its own. tests/vm/guest/ledger.c reads,
# writes and flushes, and keeps book of what it was told, while blocks are filled,
# written back and evicted. Then the disk fails:
#
#   once      until the cache has counted an error
#   forever   for FAULT_SECONDS; then it is repaired
#   gone      it is taken out; then it is plugged in again, under another name
#
# Every request ends, with the right data or an error. `xpcache status` says which
# disk it was. When the disk is back so is the cache: by itself, or after a stop and
# a start where the disk was gone or the journal could not be written. Then nothing
# that was flushed is missing, no dirty block stays, and the slow disk alone is right.
#
# slow-flush-commit has a file system instead.
#
# CELLS=slow-write-once,fast-flush-gone runs those only.
#
# Once and forever: over each disk lies a dm-delay without a delay, which takes one
# device for reads, one for writes and one for flushes. Those that are to fail are a
# dm-error, or for flushes a dm-flakey that is never up: a dm-error has no volatile
# cache, so that the block layer answers a flush itself. dm-flakey alone cannot fail
# flushes without writes, nor, on 6.1, reads without writes.

. ./lib.sh

BOOK=/tmp/book
FAULT_SECONDS=${FAULT_SECONDS:-8}

# ------------------------------------------------------------ the disks ----

disk() { if [ "$1" = fast ]; then echo $FAST; else echo $SLOW; fi; }

# table SIDE FAILS [FROM] - the layer over a disk: which of read, write and flush end
# in an error, from sector FROM on.
table()
{
	local disk sectors class from=${3:-0}
	local -A on
	disk=$(disk "$1")
	sectors=$(blockdev --getsz "$disk")
	on=([read]=$disk [write]=$disk [flush]=$disk)
	for class in $2; do
		on[$class]=/dev/mapper/dead-$class-$1
	done
	[ "$from" = 0 ] || echo "0 $from linear $disk 0"
	echo "$from $((sectors - from)) delay ${on[read]} $from 0 ${on[write]} $from 0 ${on[flush]} $from 0"
}

layer()
{
	local sectors
	sectors=$(blockdev --getsz "$(disk "$1")")
	must dmsetup create "dead-read-$1" --table "0 $sectors error"
	must dmsetup create "dead-write-$1" --table "0 $sectors error"
	must dmsetup create "dead-flush-$1" --table "0 $sectors flakey $(disk "$1") 0 0 1"
	must dmsetup create "layer-$1" --uuid "FAULT-$1" --table "$(table "$1" "")"
}

unlayer()
{
	must dmsetup remove "layer-$1"
	must dmsetup remove "dead-read-$1"
	must dmsetup remove "dead-write-$1"
	must dmsetup remove "dead-flush-$1"
}

# turn SIDE FAILS [FROM] - from now on.
turn()
{
	must dmsetup suspend --noflush --nolockfs "layer-$1"
	must dmsetup load "layer-$1" --table "$(table "$@")"
	must dmsetup resume "layer-$1"
}

# Where the slots begin: what is before them is the journal, and without that the
# cache accepts no more writes.
first_slot() { dumped $FRONT data_start; }

# scsi_debug is a disk in memory whose driver can be told what to do to commands.
debug_disk()
{
	local model
	modprobe scsi_debug dev_size_mb=40 delay=0 medium_error_start=24576 \
		medium_error_count=4096
	settled grep -q scsi_debug /sys/block/sd*/device/model || return
	model=$(grep -l scsi_debug /sys/block/sd*/device/model)
	echo 2 >"${model%model}timeout"
	echo "/dev/$(cut -d / -f 4 <<<"$model")"
}

# debug OPTION VALUE
debug() { echo "$2" >"/sys/bus/pseudo/drivers/scsi_debug/$1"; }

# --------------------------------------------------------------- a cell ----

# blame WHAT... - it was wrong; the cell goes on, and says so at its end.
blame()
{
	echo "!!! $CELL: $*"
	BLAME+="${BLAME:+; }$*"
}

# step COMMAND... - must succeed.
step()
{
	local out
	out=$("$@" 2>&1) && { echo "$out"; return; }
	blame "'$*' ended with status $?: $(tail -n 1 <<<"$out")"
	echo "$out"
	return 1
}

load_begin()
{
	ledger load $CACHE $BOOK "$1" >/tmp/load 2>&1 &
	LOAD=$!
}

# Ends it, and judges what it saw; how many of its requests failed is in FAILED.
load_end()
{
	kill -TERM $LOAD
	wait $LOAD || blame "${1:-load}: $(grep -m 1 . /tmp/load)"
	cat /tmp/load
	if grep -q 'has not ended' /tmp/load; then
		echo w >/proc/sysrq-trigger	# where they wait
		die "$CELL" "$BLAME"
	fi
	FAILED=$(awk '/-failed/ { for (i = 4; i <= NF; i += 4) n += $i } END { print n + 0 }' /tmp/load)
}

# check VERB DEVICE WHEN
check()
{
	local out
	out=$(ledger "$1" "$2" $BOOK 2>&1) || blame "$3: $(grep -m 1 . <<<"$out")"
	echo "$3: $out"
}

# counted SIDE - the cache has seen an error of that disk.
counted() { [ "$(counter "$1_errors")" -gt 0 ]; }

await_error()
{
	local end=$((SECONDS + 60))
	until counted "$1"; do
		[ $SECONDS -lt $end ] || { blame "no error was counted in 60 s"; return; }
		sleep 0.1
	done
}

# says STATE SIDE - what people see.
says()
{
	local text state fast slow
	text=$(xpcache status xpcache0 2>&1)
	echo "$text"
	state=$(awk 'NR == 1 { print $2 }' <<<"$text")
	read -r fast slow < <(sed -n 's/^ *errors *\([0-9]*\)[0-9,.kM]* of the fast device, \([0-9]*\)[0-9,.kM]* of the slow.*/\1 \2/p' <<<"$text")
	[ "$state" = "$1" ] || blame "status says '$state', not '$1'"
	case $2 in
	fast)	[ "${fast:-0}" -gt 0 ] && [ "${slow:-1}" -eq 0 ] ;;
	slow)	[ "${slow:-0}" -gt 0 ] && [ "${fast:-1}" -eq 0 ] ;;
	esac || blame "status counts $fast errors of the fast disk, $slow of the slow"
}

# stop_cache WHY - where it cannot write down all it has acknowledged, the tool says
# why, and wants to be told twice. What is then missing is what the journal did not
# get; the emulated disk keeps what was written past a full cache.
stop_cache()
{
	local out
	if out=$(xpcache stop xpcache0 2>&1); then
		[ "$STATE" = running ] || blame "a failed cache stops as if nothing were"
	else
		[ "$STATE" = running ] || HOW=check-cut
		grep -q "$1" <<<"$out" || blame "'xpcache stop' says: $out"
		step xpcache stop xpcache0 --force
	fi
	echo "$out"
}

refuses()
{
	local out
	out=$("${@:2}" 2>&1) && blame "'${*:2}' succeeds" ||
		grep -qE "$1" <<<"$out" || blame "'${*:2}' says: $out"
	echo "$out"
}

begin()
{
	must ledger open $BACK $BOOK
	must xpcache create --fast $FRONT --slow $BACK --idle-ms 1000
	load_begin "$1"
	sleep 3
	kill -0 $LOAD || die "$CELL" "$(cat /tmp/load)"
	counted slow || counted fast && blame "errors before there is a fault"
}

# What happens while the disk fails. Whether the cache fails with it is in STATE.
fail_once()
{
	local from=0
	[ "$CELL" = fast-write-once ] && from=$(($(first_slot) * 8))
	turn "$1" "$2" "$from"
	await_error "$1"
	turn "$1" ""
	sleep 2
	load_end
}

fail_forever()
{
	turn "$1" "$2"
	sleep "$FAULT_SECONDS"
	load_end
	says "$STATE" "$1"
	# With somebody else's I/O at rest, so that it can only be the disk.
	[ "$1 $2" = "slow write" ] || [ "$1 $2" = "slow flush" ] &&
		refuses 'I/O errors, and .* stay dirty|cannot sync it' xpcache flush xpcache0
	turn "$1" ""
}

fail_gone()
{
	take_out "$1"
	sleep "$FAULT_SECONDS"
	load_end
	says "$STATE" "$1"
	plug_in "$1"
}

# 2 MiB cannot be read. The error is not EIO.
fail_badsectors()
{
	debug opts 2
	await_error slow
	sleep 2
	load_end
	debug opts 0
}

# Reads and writes get no answer. The kernel gives each one up after some seconds, and
# then the disk; it is told to try again.
fail_unanswered()
{
	debug opts 128
	debug every_nth -1
	await_error slow
	debug every_nth 0
	debug opts 0
	echo running >"/sys/block/${BACK##*/}/device/state"
	sleep 2
	load_end
}

# Back at work: by itself, or by a stop and a start.
heal()
{
	HOW=check
	if [ "$STATE" = failed ]; then
		stop_cache 'journal cannot be written'
	elif [ "$1" = gone ]; then
		stop_cache 'slow device cannot be flushed'
	fi
	if ! dmsetup status xpcache0 >/dev/null 2>&1; then
		[ "$1" != gone ] || { FRONT=$FAST BACK=$SLOW; }
		step xpcache start --all --idle-ms 1000
	fi
	step xpcache flush xpcache0
	check $HOW $CACHE "after it healed"
	hear
}

# Of writes around the cache that the slow disk may have lost the next FLUSH of a caller hears, if none has; and until the
# second tick after that a write fails that may be ordered behind it.
hear()
{
	dd if=/dev/null of=$CACHE conv=fsync,notrunc status=none 2>/dev/null || sleep 3
}

at_work()
{
	load_begin write
	sleep 2
	load_end "load after it healed"
	[ "$FAILED" = 0 ] || blame "$FAILED requests failed after it healed"
	step xpcache flush xpcache0
	[ "$(counter dirty)" = 0 ] || blame "$(counter dirty) blocks stay dirty"
	check check $CACHE "at work again"
}

end()
{
	step xpcache stop xpcache0
	step xpcache start --all --idle-ms 1000
	check check $CACHE "after stop and start"
	step xpcache remove xpcache0
	check check $BACK "the slow disk alone"
}

# As before the first cell, whatever happened.
clean_up()
{
	[ -n "$BLAME" ] || return
	dmsetup remove --force xpcache0 >/dev/null 2>&1
	dd if=/dev/zero of=$FRONT bs=1M count=1 oflag=direct status=none
}

# Where the journal cannot be written the cache fails; no cell of the slow disk's.
state_of()
{
	case $1 in
	fast-write-forever | fast-flush-* | fast-*-gone) echo failed ;;
	*) echo running ;;
	esac
}

# Who asks for something that cannot be done is told. Writes to the slow disk are
# the cache's own: callers see them fail only when it is full. What cannot be read from the
# fast disk is read from the slow one, unless it is dirty.
callers_told()
{
	case $CELL in
	slow-write-* | slow-flush-* | fast-read-once | fast-read-forever) ;;
	*) [ "$FAILED" -gt 0 ] || blame "no request failed" ;;
	esac
}

cell()
{
	local side class span told began=$SECONDS
	CELL=$1 BLAME="" FRONT=/dev/mapper/layer-fast BACK=/dev/mapper/layer-slow
	IFS=- read -r side class span <<<"$1"
	STATE=$(state_of "$1")
	case $span in
	gone) FRONT=$FAST BACK=$SLOW ;;
	badsectors | unanswered) BACK=$(debug_disk) || die "$CELL" "no scsi_debug" ;;
	esac
	echo "=== $CELL"
	begin "$class"
	"fail_$span" "$side" "$class"
	told=$FAILED
	callers_told
	[ "$span" = gone ] || says "$STATE" "$side"
	heal "$span"
	at_work
	end
	clean_up
	[ -z "$BLAME" ] && pass "$CELL" || fail "$CELL" "$BLAME"
	note "$CELL: $((SECONDS - began)) s, $told requests failed"
}

# ---------------------------------------------------- a file system ----

told() { dd if=/dev/zero of=/mnt/file bs=4k count=1 conv=fsync status=none; }

# A journal's commit is a preflush with data, and the device mapper does not say when
# the first half failed: the cache fails the second.
commit_cell()
{
	local around
	CELL=$1 BLAME="" FRONT=/dev/mapper/layer-fast
	echo "=== $CELL"
	must xpcache create --fast /dev/mapper/layer-fast --slow /dev/mapper/layer-slow --idle-ms 0
	must mkfs.ext4 -q -F $CACHE 24M
	must mount $CACHE /mnt
	must told
	around=$(counter discards)
	turn slow flush
	must blkdiscard -f -o 32M -l 1M $CACHE	# around the cache; no flush makes up for it
	[ "$(counter discards)" -gt "$around" ] || blame "nothing went around the cache"
	told && blame "an fsync ended well that no flush came before"
	counted slow || blame "no error was counted"
	turn slow ""
	umount /mnt
	sleep 3				# two ticks, and a flush that succeeds
	e2fsck -f -p $CACHE || [ $? = 1 ] || blame "e2fsck ended with status $?"
	must mount $CACHE /mnt
	step told
	must umount /mnt
	step xpcache remove xpcache0
	clean_up
	[ -z "$BLAME" ] && pass "$CELL" || fail "$CELL" "$BLAME"
}

# A cell of the debug disk leaves nothing behind: it would be taken for the slow one.
run()
{
	local name
	for name in $cells; do
		[[ $name = *-@($1) ]] || continue
		if [[ $name = *-commit ]]; then
			commit_cell "$name"
		else
			cell "$name"
		fi
		[[ $name != *-@(badsectors|unanswered) ]] || must modprobe -r scsi_debug
	done
}

modprobe -a dm-delay dm-flakey || die modules "not in this kernel's initramfs"
cells=${CELLS:-$(echo {slow,fast}-{read,write,flush}-{once,forever,gone}) slow-read-badsectors slow-write-unanswered slow-flush-commit}
cells=${cells//,/ }
layer fast
layer slow
run 'once|forever|badsectors|unanswered|commit'
unlayer fast
unlayer slow
run gone
