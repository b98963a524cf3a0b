# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# lib.sh - what jobs share. A job reports each thing it proves: PASS name, or
# FAIL name: why. It goes on after a failure unless the rest depends on it.
#
# No step has a time limit of its own: the clock here goes on while a busy host runs something else,
# and what timeout(1) has cut looks like a wrong answer. A step that hangs is ended by the limit of
# the job, which leaves out that time.

set -uo pipefail

FAST=${FAST:-/dev/nvme0n1}
SLOW=/dev/sda
CACHE=/dev/mapper/xpcache0

report()
{
	printf '%s\n' "$*" >"$REPORT"
	echo "### $*"
}

pass() { report "PASS $1"; }
fail() { report "FAIL $1: ${*:2}"; }
note() { report "NOTE $*"; }

# die NAME WHY - reports a failure that the rest of the job cannot do without.
die()
{
	fail "$@"
	exit 1
}

# try NAME COMMAND... - the command must succeed.
try()
{
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "status $?: $(tail -n 1 <<<"$out")"
		echo "$out"
		return 1
	fi
}

# must COMMAND... - a step that has no name of its own, and must succeed.
must()
{
	local out
	out=$("$@" 2>&1) || die "step" "'$*' ended with status $?: $(tail -n 1 <<<"$out")"
	echo "$out"
}

# equal NAME WANTED GOT - two texts.
equal()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		# Of long texts only what differs.
		fail "$1" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") |
			sed -n -e 's/^< /wanted: /p' -e 's/^> /got: /p' | head -n 4 | tr '\n' ' ')"
	fi
}

# read_blocks FROM COUNT [OPTION...] - of 4 KiB; of DEV, if it is not the cache.
read_blocks() { dd if="${DEV:-$CACHE}" bs=4k skip="$1" count="$2" iflag=direct status=none "${@:3}"; }
write_blocks() { dd of=$CACHE bs=4k seek="$1" count="$2" oflag=direct conv=notrunc status=none "${@:3}"; }
wanted() { dd if=/tmp/wanted bs=4k skip="$1" count="$2" status=none | md5sum; }

# ends_in_error NAME COMMAND... - soon, and with I/O's own error.
ends_in_error()
{
	local out status
	out=$("${@:2}" 2>&1 >/dev/null)
	status=$?
	[ $status -eq 1 ] && grep -q 'Input/output error' <<<"$out" && pass "$1" ||
		fail "$1" "status $status: $(tail -n 1 <<<"$out")"
}

# Of what the program powercut says in $PROGRESS: so many operations; last LETTER - of each worker,
# with a comma between; what it reports after a failure means nothing. (A worker's part is 65,536 sectors.)
acknowledged() { [ "$(grep -c ^a $PROGRESS)" -ge "$1" ]; }
last()
{
	awk -v letter="$1" '
		$1 == "FAIL" { failed[int($4 / 65536)] = 1 }
		$1 == letter && !failed[$2] { n[$2] = $3 }
		END { printf "%d,%d,%d,%d", n[0], n[1], n[2], n[3] }' $PROGRESS
}

# counter NAME - one figure of the target's status line.
counter()
{
	local line
	line="$(dmsetup status xpcache0) " || return
	[[ $line = *" $1 "* ]] || return 0
	line=${line#*" $1 "}
	echo "${line%% *}"
}

# no_errors NAME - neither device has failed a request of the cache.
no_errors() { equal "$1" "0 0" "$(counter fast_errors) $(counter slow_errors)"; }

# loads SECONDS - each mix of the ledger on the cache for so long; then all that its book knows is compared.
loads()
{
	local mix load
	must ledger open $CACHE /tmp/book
	for mix in read write flush; do
		ledger load $CACHE /tmp/book $mix >/tmp/load 2>&1 &
		load=$!
		sleep "$1"
		kill -TERM $load
		wait $load && pass "ledger-$mix" || fail "ledger-$mix" "$(grep -m 1 . /tmp/load)"
		note "$(tail -n 1 /tmp/load)"
	done
	try ledger-check ledger check $CACHE /tmp/book
}

# dumped DEVICE KEY - a number that the dump of a fast device has, such as journal_start: in blocks.
dumped() { xpcache dump "$1" --json | sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p" | head -n 1; }

# What the cache is at, as its status line says; all_home - and the journal says so.
state() { dmsetup status xpcache0 | cut -d ' ' -f 4; }
failed() { [ "$(state)" = failed ]; }
all_home() { xpcache flush xpcache0 >/dev/null && dmsetup message xpcache0 0 commit && [ "$(counter dirty)" = 0 ]; }

# take_out SIDE - fast or slow: of the machine, as by hand.
take_out()
{
	if [ "$1" = fast ]; then
		echo 1 >"/sys/block/${FAST##*/}/device/device/remove"
	else
		echo 1 >"/sys/block/${SLOW##*/}/device/delete"
	fi
}

# The name that a disk has today. While the cache holds the disk that was taken
# out, the next one gets another.
find_disk()
{
	local node glob="/dev/sd[a-z]"
	[ "$1" = slow ] || glob="/dev/nvme*n[0-9]"
	for node in $glob; do
		dd if="$node" of=/dev/null bs=4k count=1 iflag=direct status=none 2>/dev/null || continue
		echo "$node"
		return
	done
	return 1
}

plug_in()
{
	local host
	if [ "$1" = fast ]; then
		echo 1 >/sys/bus/pci/rescan
	else
		for host in /sys/class/scsi_host/*/scan; do
			echo "- - -" >"$host"
		done
	fi
	settled find_disk "$1" >/dev/null || die plug-in "the $1 disk did not come back"
	FAST=$(find_disk fast)
	SLOW=$(find_disk slow)
}

# tree FOLDER - the sha256 of every file below it, in an order of its own.
tree()
{
	(cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}

# fill FOLDER COUNT KIB - files of random bytes.
fill()
{
	local n
	mkdir -p "$1"
	for ((n = 0; n < $2; n++)); do
		dd if=/dev/urandom of="$1/file$n" bs=1k count="$3" status=none
	done
}

create()
{
	must xpcache create --fast $FAST --slow $SLOW "$@"
	[ -b $CACHE ] || die create "no $CACHE after create"
}

# persistent_memory - FAST is memory: what `# vm: pmem=` or `nvdimm=` has asked for. An
# NVDIMM is a raw one without a place for bad blocks until it has a namespace.
persistent_memory()
{
	modprobe -a nd_e820 nfit nd_pmem || die persistent-memory "its drivers are not here"
	FAST=/dev/pmem0
	if [ -e /sys/bus/nd/devices/nmem0 ] && ! ndctl list -N | grep -q fsdax; then
		must ndctl disable-region all
		must ndctl init-labels -f all
		must ndctl enable-region all
		must ndctl create-namespace -m fsdax -M mem
	fi
	settled test -b $FAST || die persistent-memory "no $FAST"
}

# cut_power - the power goes here; the job runs again from its start, with BOOT one
# higher, on the same disks.
cut_power()
{
	report CUT
	sleep infinity
}

# start_says NAME CODE TEXT OPTION... - TEXT quiet: it starts, and finds nothing
start_says()
{
	local name=$1 code=$2 text=$3 out got
	shift 3
	out=$(xpcache start --fast $FAST --slow $SLOW "$@" 2>&1)
	got=$?
	if [ "$text" = quiet ] && grep -q "without the cache" <<<"$out"; then
		fail "$name" "it takes the disk for another: $out"
	elif [ $got -eq "$code" ] && grep -q "${text/quiet/started}" <<<"$out"; then
		pass "$name"
	else
		fail "$name" "status $got: $out"
	fi
}

# settled COMMAND... - waits until it succeeds, at most 60 s.
settled()
{
	local n
	for ((n = 0; n < 600; n++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

checksum()
{
	dd if="$1" bs=1M iflag=direct status=none | md5sum | cut -d ' ' -f 1
}

start()
{
	must xpcache start --all
	[ -b $CACHE ] || die start "no $CACHE after start"
}

stop() { must xpcache stop xpcache0; }
remove() { must xpcache remove xpcache0; }

# comes_home - what the cache holds is there after a stop and a start, and on the
# slow disk alone.
comes_home()
{
	local held
	held=$(checksum $CACHE)
	stop
	start
	equal same-after-start "$held" "$(checksum $CACHE)"
	remove
	equal same-without-cache "$held" "$(checksum $SLOW)"
}

# verified_load DEVICE [MIB] - writes of all sizes, read back and verified, round after
# round, until end_load: two writers, each to so much of the device. What fio says is in
# /tmp/fio.log. A round is not cut short, and 2 x 40 MiB take a minute and more.
verified_load()
{
	local mib=${2:-40}

	while [ ! -e /tmp/enough ]; do
		fio --name=load --filename="$1" --direct=1 --ioengine=libaio --iodepth=8 \
			--rw=randwrite --numjobs=2 --size="${mib}m" --offset_increment="${mib}m" \
			--bssplit=512/20:4k/50:64k/20:256k/10 --blockalign=512 --fsync=16 \
			--serialize_overlap=1 --randrepeat=0 \
			--verify=xxhash --verify_fatal=1 --verify_backlog=64 || return
	done >/tmp/fio.log 2>&1
}

# end_load PID
end_load()
{
	touch /tmp/enough
	if wait "$1"; then
		pass load-verified
	else
		fail load-verified "$(grep -m 1 -E 'verify|error' /tmp/fio.log)"
		cat /tmp/fio.log
	fi
}

# refused NAME CODE PATTERN COMMAND... - the tool says no: with this exit code,
# and one line that matches.
refused()
{
	local name=$1 code=$2 pattern=$3 out status
	shift 3
	out=$("$@" 2>&1 >/dev/null)
	status=$?
	echo "\$ $* -> $status: $out"
	if [ $status -ne "$code" ]; then
		fail "$name" "exit code $status instead of $code: $out"
	elif [ "$(wc -l <<<"$out")" -ne 1 ]; then
		fail "$name" "not one line: ${out//$'\n'/ / }"
	elif ! grep -qE "$pattern" <<<"$out"; then
		fail "$name" "'$pattern' is not in: $out"
	else
		pass "$name"
	fi
}
