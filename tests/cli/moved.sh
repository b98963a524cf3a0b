# SPDX-License-Identifier: GPL-2.0-only
# A fast device that its cache has left, or has not reached: refused with a way out, and taken for a new one.

away=0x43 coming=0x83

for state in away coming; do
	[ $state = away ] && says="has moved from this device to another" other="connect that one" || says="has not moved to this device yet" other="connect the other too"
	fresh
	"$forge" fast write 10 5
	"$forge" fast set incompat ${!state}
	before=$(sha256sum <fast)
	expect "$state: check" 4 "$says.*: xpcache list shows where it is" check fast
	expect "$state: dump" 4 "$says" dump fast
	expect "$state: start" 4 "$says.*: $other.*xpcache create --fast fast --slow DEV --force takes this one" start --fast fast --slow slow --engine user
	expect "$state: flush" 4 "$says" flush --offline --fast fast --slow slow
	expect "$state: rescue" 4 "$says.*: xpcache list shows where it is" flush --offline --rescue --fast fast --slow slow
	expect "$state: rescue --force" 4 "$says.*: xpcache list shows where it is" flush --offline --rescue --force --fast fast --slow slow
	expect "$state: remove" 4 "$says" remove other --fast fast --slow slow
	"$(dirname "$xpcache")/xpcached" serve --fast fast --slow slow --socket s --control c --log l --detach >out 2>&1 &&
		fail "$state: the daemon by itself" "it starts"
	grep -q "$says" out || fail "$state: the daemon says why" "$(cat out)"
	expect "$state: create" 3 "a device .* the xpcache .*: --force overwrites it" create --fast fast --slow slow --no-start
	same "$state: nothing was written" "$(sha256sum <fast)" "$before"
	expect "$state: create --force" 0 "made to cache" create --fast fast --slow slow --no-start --force
	expect "$state: it is a new one" 0 ": sound" check fast
done

# A version that does not know them, as this one does not know the next bit.
fresh
"$forge" fast set incompat 0xd43
expect "moved, and more" 4 "incompat features unknown .*0x800" check fast
