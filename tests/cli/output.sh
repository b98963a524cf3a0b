# SPDX-License-Identifier: GPL-2.0-only
# Output that cannot be written, and standard streams that are closed.

# unwritten NAME ARGUMENT...: to a full disk, one line and exit code 1
unwritten() {
	local name=$1
	shift
	"$xpcache" "$@" >/dev/full 2>stderr </dev/null
	same "output: $name to a full disk" "$? $(grep -c . stderr) $(cut -c1-42 stderr)" \
		"1 1 xpcache: cannot write: No space left on de"
}

trap 'pkill -f "xpcached serve.*$dir" ; rm -rf "$dir"' EXIT

devices
unwritten create create --fast fast --slow slow --name full
expect "output: which has made it all the same" 0 "full +running" list
for words in list "list --json" status "status full" "status full --json" "histogram full" \
	"histogram full --json" "top --count 1 --interval 0.2" "top --count 1 --interval 0.2 --json" version help "help create" \
	"create --help" "flush full" "bench diff --help"; do
	unwritten "$words" $words
done
unwritten stop stop full
for words in "check fast" "check fast --json" "check fast --slow slow --data" "dump fast" "dump fast --json" "list"; do
	unwritten "$words" $words
done
unwritten start start --fast fast --slow slow
unwritten remove remove full
devices
expect "output: create again" 0 "is made to cache" create --fast fast --slow slow --name full --no-start
unwritten "flush --offline" flush --offline --fast fast --slow slow
unwritten "flush --rescue" flush --offline --rescue --fast fast --slow slow
for words in --help --version "serve --help" "watch --help"; do
	"$(dirname "$xpcache")/xpcached" $words >/dev/full 2>stderr
	same "output: xpcached $words to a full disk" "$? $(cut -c1-31 stderr)" "1 xpcache: cannot write: No space"
done
expect "output: what failed keeps its code" 5 "no such device" check nowhere
"$xpcache" check nowhere >/dev/full 2>stderr
same "output: and its one line" "$? $(grep -c . stderr)" "5 1"

# A reader that goes away ends no work.
"$forge" fast write 0 3000 >out 2>&1 || fail "output: forge" "it does not write"
(trap '' TERM; "$xpcache" dump fast 2>stderr; echo $? >code) | head -n 1 >/dev/null
same "output: dump to a reader that goes away" "$(cat code) $(cut -c1-35 stderr)" "1 xpcache: cannot write: Broken pipe:"
(sleep 1; "$xpcache" flush --offline --rescue --fast fast --slow slow 2>stderr; echo $? >code) | true
same "output: rescue to a reader that has gone away" "$(cat code) $(cut -c1-34 stderr)" "1 xpcache: cannot write: Broken pipe"

# Whoever has closed a standard stream must not get a device in its place: what is said would be written there.
before=$(sha256sum <slow)
"$xpcache" list >&- 2>stderr
same "output: to nothing" "$? $(cut -c1-42 stderr)" "1 xpcache: cannot write: Bad file descriptor"
for words in "check fast --data" "dump fast" "flush --offline --rescue --fast fast --slow slow" "check slow"; do
	"$xpcache" $words <&- >&- 2>&-
done
same "output: nothing is said into a device" "$(sha256sum <slow)" "$before"
before=$(head -c 4096 fast | sha256sum)
"$(dirname "$xpcache")/xpcached" serve --fast fast --slow slow --control nowhere/control >&- 2>&-
same "output: a daemon says nothing into a device" "$? $(head -c 4096 fast | sha256sum)" "1 $before"
devices
"$xpcache" create --fast fast --slow slow --name closed <&- >&- 2>&-
daemon=$(pgrep -f "xpcached serve.*$dir/run/closed.sock")
same "output: a daemon started without any" "$(readlink /proc/"$daemon"/fd/0 /proc/"$daemon"/fd/1 /proc/"$daemon"/fd/2 | xargs)" \
	"/dev/null /dev/null $dir/run/closed.log"
expect "output: it runs" 0 "closed: stopped" stop closed
expect "output: and is whole" 0 "sound" check fast --slow slow --data
