# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M timeout=600 quick=no sanitized=no
#
# What xpcache bench refuses of real devices, whatever it is told: to write a result over
# one, to write one that another program has, or half of a cache, or a file behind a loop
# device; and to go on with a cache that is another by now.

. ./lib.sh

export LC_ALL=C

# refused NAME CODE TEXT ARGUMENT...
refused()
{
	local name=$1 code=$2 text=$3 got
	shift 3
	xpcache bench "$@" >/tmp/said 2>&1 </dev/null
	got=$?
	cat /tmp/said
	if [ $got -ne "$code" ]; then
		fail "$name" "exit code $got, not $code: $(head -n 1 /tmp/said)"
	elif ! grep -qE -e "$text" /tmp/said; then
		fail "$name" "it does not say \"$text\": $(head -n 1 /tmp/said)"
	else
		pass "$name"
	fi
}

destroy="--destructive --force --test mixed --seconds 0.2"
must modprobe loop
truncate -s 8M /tmp/plain
ln -sf $FAST /tmp/link

# ---------------------------------------------------------------- results ----

fast=$(checksum $FAST)
for option in -o --html; do
	for path in $FAST /tmp/link; do
		refused "result-over-a-device$option-${path##*/}" 3 "not a file: $path: give a file" \
			/tmp/plain --seconds 0.1 $option $path
	done
done
truncate -s 16M /tmp/backing
loop=$(losetup -f --show /tmp/backing) || die loop losetup
refused result-over-a-backing-file 3 "in use, behind $loop: /tmp/backing" /tmp/plain --seconds 0.1 -o /tmp/backing
refused result-over-what-is-measured 3 "in use, behind $loop: /tmp/backing" $loop --seconds 0.1 -o /tmp/backing
equal fast-untouched "$fast" "$(checksum $FAST)"

# ------------------------------------------------------------- who has it ----

# shellcheck disable=SC2086 # they are words
{
	refused backing-file 3 "in use, behind $loop: /tmp/backing" /tmp/backing $destroy
	ln /tmp/backing /tmp/another
	rm /tmp/backing
	refused backing-file-by-another-name 3 "in use, behind $loop: /tmp/another" /tmp/another $destroy
	exec 8<>$loop
	refused open-elsewhere 3 "in use, open by .*, pid $$: $loop: end that first" $loop $destroy
	exec 8<&-
	echo ';' | sfdisk -q --label dos $SLOW || die partition "sfdisk"
	settled test -b ${SLOW}1
	exec 8<>${SLOW}1
	refused partition-open-elsewhere 3 "in use, open by .*, pid $$: ${SLOW}1" $SLOW $destroy
	exec 8<&-
	refused closed 0 "mixed/1/50%" $loop $destroy
}
losetup -d $loop

# ------------------------------------------------------------------ caches ----

dd if=/dev/urandom of=$SLOW bs=1M count=8 oflag=direct status=none
blockdev --rereadpt $SLOW
must mkfs.ext4 -q -F $SLOW
create --idle-ms 0 --dirty-low 80 --dirty-high 90
must dd if=/dev/urandom of=$CACHE bs=1M count=8 seek=100 oflag=direct
equal dirty 2048 "$(counter dirty)"
sum=$(checksum $CACHE)
must xpcache stop xpcache0
# shellcheck disable=SC2086
{
	refused fast-of-a-dirty-cache 3 "device of the xpcache xpcache0 with 2,048 blocks .* dirty: $FAST" $FAST $destroy
	refused slow-of-a-stopped-cache 3 "it is the slow device of the xpcache xpcache0 on $FAST: $SLOW" $SLOW $destroy
}
start
equal nothing-was-lost "$sum" "$(checksum $CACHE)"

# shellcheck disable=SC2086
refused slow-of-a-running-cache 3 "in use, part of $CACHE: $SLOW" $SLOW $destroy
# shellcheck disable=SC2086
refused the-cache-itself-may-go 0 "mixed/1/50%" $CACHE $destroy

# ---------------------------------------------- a cache that is another now ----

xpcache bench xpcache0 --test headline,random --seconds 2 -o /tmp/r.json >/tmp/said 2>&1 </dev/null &
bench=$!
settled test -s /tmp/r.json.state
kill -TERM $bench
wait $bench
equal interrupted 130 $?
must xpcache remove xpcache0
create
refused another-cache-of-the-name 3 'its identity was "[^"]+", and is "[^"]+" now: '$CACHE --resume /tmp/r.json.state
must xpcache remove xpcache0

# -------------------------------------------------------- sectors of 4 KiB ----

truncate -s 64M /tmp/big
loop=$(losetup -f --show -b 4096 /tmp/big) || die loop losetup
must mkfs.ext4 -q -b 4096 $loop
must mount $loop /mnt
dd if=/dev/zero of=/mnt/file bs=1M count=8 status=none
refused sectors-of-4K 0 "transfer-size/1/read-aligned-4K" /mnt/file --test transfer-size --seconds 0.1
equal no-smaller-requests 0 "$(grep -cE 'aligned-(512B|[12]K)' /tmp/said)"
must umount /mnt
losetup -d $loop
