# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# writing.sh - a program that writes files under /mnt all the time, each synced before the next, and what is there then: the
# newest FILES of them.

FILES=${FILES:-20}
echo 0 >/tmp/written

newest() { tail -n 1 /tmp/written; }

begin_to_write()
{
	rm -f /tmp/enough
	(
		n=$(newest)
		while [ ! -e /tmp/enough ]; do
			n=$((n + 1))
			pattern "file$n" 1 >/tmp/piece
			dd if=/tmp/piece of=/mnt/$((n % FILES)) bs=64k conv=fsync status=none || break
			echo "$n" >>/tmp/written
		done
	) 2>/tmp/writer &
	writer=$!
}

end_to_write()
{
	touch /tmp/enough
	wait $writer
	equal "$1-writer" "" "$(cat /tmp/writer)"
}

# written NAME - all files, as the device has them.
written()
{
	local n bad=0 last
	last=$(newest)
	echo 3 >/proc/sys/vm/drop_caches
	for n in $(seq $((last > FILES ? last - FILES + 1 : 1)) "$last"); do
		[ "$(pattern "file$n" 1 | sha256sum)" = "$(sha256sum </mnt/$((n % FILES)))" ] || bad=$((bad + 1))
	done
	equal "$1-files" 0 $bad
	[ "$last" -gt 4 ] && pass "$1-written" || fail "$1-written" "only $last"
	note "$last files were written"
}

# goes_on NAME - the writer has written since.
goes_on()
{
	local was
	was=$(newest)
	settled eval '[ "$(newest)" -gt '"$was"' ]' && pass "$1-goes-on" || fail "$1-goes-on" "it stopped at $was"
}
