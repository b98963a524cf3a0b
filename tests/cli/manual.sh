# SPDX-License-Identifier: GPL-2.0-only
# The manual page names every verb, option and exit code that the program has, and the page
# of a verb that has one of its own its options; each page formats, without warnings, and those
# named in another are there.

page=$root/docs/xpcache.8
verbs=$("$xpcache" help | sed -n 's/^  xpcache \([a-z]*\) .*/\1/p')
: >out
for verb in $verbs; do
	grep -qE "^\.(Cm|It Cm|It Ic|Ic) $verb\b" "$page" || echo "verb $verb" >>out
	"$xpcache" help "$verb" | sed -n 's/^  --\([a-z-]*\).*/\1/p' >options
	own=$root/docs/xpcache-$verb.8
	[ -e "$own" ] || own=$page
	while read -r option; do
		grep -qE "Fl Fl $option\b" "$own" || echo "option --$option" >>out
	done <options
done
for code in 0 1 2 3 4 5 6 130; do
	grep -qE "^\.It $code\$" "$page" || echo "exit code $code" >>out
done
[ -n "$verbs" ] && [ ! -s out ] && pass "manual page is complete" || fail "manual page is complete" "missing"
for page in "$root"/docs/*.8; do
	name=$(basename "$page" .8)
	man_warnings=$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)
	same "manual page $name formats" "$man_warnings" ""
	man_warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
	same "manual page $name has no warnings of man" "$man_warnings" ""
	same "manual page $name can be found by its name" "$(lexgrog "$page" 2>&1 | sed 's/.*"\([^ ]*\) .*/\1/')" "$name"
	missing=$(sed -n 's/^\.Xr \(xpcache[a-z-]*\) 8.*/\1/p' "$page" | while read -r other; do
		[ -e "$root/docs/$other.8" ] || echo "$other"
	done)
	same "manual page $name names pages that are there" "$missing" ""
done
