# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.1,6.12 usr=host clock=instructions memory=2G fast=16M slow=16M timeout=600 quick=6.12
#
# The target's histograms: what was planted is found, request by request, in its bins. The
# fast device takes 10 us, the slow one 8 ms; an instruction takes 1 ns.

. ./lib.sh
. ./labdevices.sh

MIB=$((1 << 20))

# of CLASS FIELD - 2: count, 3: sum, 4: least, 5: most; of the target's answer.
of() { dmsetup message xpcache0 0 histogram | awk -v c="$1" -v f="$2" '$1 == c { print $f }'; }

# between CLASS FROM TO - requests in bins that lie between these times, ns.
between()
{
	dmsetup message xpcache0 0 histogram | awk -v c="$1" -v from="$2" -v to="$3" '
	function low(bin,   e, n) {
		e = bin < 128 ? 0 : int(bin / 64) - 1
		for (n = bin - e * 64; e; e--)
			n *= 2
		return n
	}
	$1 == c { for (i = 6; i <= NF; i++) { split($i, b, ":"); if (low(b[1]) >= from && low(b[1] + 1) <= to) n += b[2] } }
	END { print n + 0 }'
}

# requests OP FIRST SPAN COUNT [WITHIN] - the places in MiB; prints the figures, ns.
requests() { latency $CACHE "$1" 4096 $(($2 * MIB)) $(($3 * MIB)) "$4" 1 ${5:+"$5"} || die "$1" "it could not be done"; }

# figure NAME JSON
figure() { sed "s/.*\"$1\":\([0-9]*\).*/\1/" <<<"$2"; }

# within NAME VALUE FROM TO
within() { [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] && pass "$1" || fail "$1" "$2, not from $3 to $4"; }

# in_bins NAME CLASS FROM TO SENT SHORT BEFORE - of SENT requests none was shorter than the device, and
# those that the program had back in time, nearly all, lie in these bins; BEFORE lay there already. (The
# kernel has work of its own: one in a hundred thousand waits for it. Then the program has waited, too.)
in_bins()
{
	local in=$(($(between "$2" "$3" "$4") - $7))

	if [ "$(between "$2" 0 "$3")" -eq 0 ] && [ "$6" -ge $(($5 * 99 / 100)) ] && [ $in -ge "$6" ] && [ $in -le "$5" ]; then
		pass "$1"
	else
		fail "$1" "$5 sent, $6 back in time, $in in their bins, $(between "$2" 0 "$3") in shorter ones"
	fi
}

MODEL=disk
devices
up_xpcache --dirty-low 80 --dirty-high 95 --idle-ms 0
must latency $CACHE write 4096 0 $((16 * MIB)) 4096 1

# Two modes, planted: 3000 hits, 150 misses; one more is the look for a partition table at the start.
missed=151
was=$(of read-hit 2)
hits=$(requests read 0 16 3000 196000)		# a bin less than 200 us
look=$(between read-miss 7900000 8200000)
misses=$(requests read 512 256 150 8068000)	# a bin less than 8.2 ms
equal hits-counted 3000 $(($(of read-hit 2) - was))
equal misses-counted $missed "$(of read-miss 2)"
in_bins hits-in-their-bins read-hit 10000 200000 3000 "$(figure within "$hits")" 0
in_bins misses-in-their-bins read-miss 7900000 8200000 150 "$(figure within "$misses")" "$look"
equal writes-counted 4096 "$(of write 2)"
equal no-other-reads 0 "$(of read-bypass 2)"

# The program's own clock: what is around the target costs the rest.
mean=$(($(of read-hit 3) / 3000))
within hits-mean "$mean" 10000 "$(figure mean "$hits")"
within misses-mean $(($(of read-miss 3) / missed)) 8000000 "$(figure mean "$misses")"
within hits-longest "$(of read-hit 5)" "$mean" "$(figure max "$hits")"
# Of a hit all but the map is the device's.
within hit-minus-leg $((mean - $(of fast-read 3) / $(of fast-read 2))) 50 2000
equal legs-of-misses $missed "$(of slow-read 2)"

# Each ends in its class.
requests sync 32 8 500 >/dev/null
equal syncs-are-writes 4596 "$(of write 2)"
equal flushes-counted 500 "$(of flush 2)"
# Those that were seen coming found all done: their write had taken its record along.
within flush-longest "$(of flush 5)" 10000 1000000
blkdiscard -o 0 -l $MIB $CACHE
equal discards-counted 1 "$(of discard 2)"
equal nothing-around 0 "$(of write-bypass 2)"
must xpcache flush xpcache0
within writeback-timed $(($(of slow-write 3) / $(of slow-write 2))) 8000000 200000000
[ "$(of slow-flush 2)" -gt 0 ] && pass slow-flush-timed || fail slow-flush-timed "none"

# What the tool makes of it.
json() { xpcache histogram xpcache0 --json | tr -d ' \n' | sed "s/.*\"$1\":{\"count\":\([0-9]*\).*/\1/"; }
for class in read-hit read-miss write flush slow-write; do
	equal "tool-counts-$class" "$(of $class 2)" "$(json $class)"
done
equal tool-bins-misses "$(of read-miss 2)" "$(xpcache histogram xpcache0 --csv | awk -F, '$1 == "read-miss" { n += $4 } END { print n }')"
try tool-shows xpcache histogram xpcache0
xpcache histogram xpcache0
try status-shows xpcache status xpcache0
xpcache status xpcache0
requests read 0 8 1000 >/dev/null &
try top-shows xpcache top --count 2
wait
xpcache top --count 1

# Off: nothing moves, and what was recorded stays.
equal says-on 'histogram on' "$(dmsetup message xpcache0 0 histogram | awk 'NR == 1 { print $1, $2 }')"
must dmsetup message xpcache0 0 histogram_off
was=$(dmsetup message xpcache0 0 histogram | tail -n +2)
requests read 16 8 200 >/dev/null
equal off-records-nothing "$was" "$(dmsetup message xpcache0 0 histogram | tail -n +2)"
equal says-off 'histogram off' "$(dmsetup message xpcache0 0 histogram | awk 'NR == 1 { print $1, $2 }')"
must dmsetup message xpcache0 0 histogram_on
hits=$(of read-hit 2)
requests read 16 8 200 >/dev/null
equal on-again $((hits + 200)) "$(of read-hit 2)"
must xpcache stop xpcache0

# From the start without: no memory for it either.
must xpcache start xpcache0 --fast "$FASTDEV" --slow "$SLOWDEV" --histogram 0
equal none-from-the-start 'histogram off' "$(dmsetup message xpcache0 0 histogram | awk 'NR == 1 { print $1, $2 }')"
equal table-option '2 histogram 0' "$(dmsetup table xpcache0 | cut -d ' ' -f 6-)"
equal no-memory 0 "$(counter histogram_memory)"
must dmsetup message xpcache0 0 histogram_on
within memory "$(counter histogram_memory)" $((13 * 16384)) $((13 * 17000 * $(nproc)))
requests read 4 4 100 >/dev/null
equal switched-on-later 100 "$(of read-hit 2)"
must xpcache remove xpcache0
