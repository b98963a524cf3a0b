# SPDX-License-Identifier: GPL-2.0-only
# create killed before any of its writes leaves no cache, or a good one.

# Is what ./fast holds no cache, a good one, or neither?
judge() {
	"$xpcache" check fast >out 2>&1
	case $? in
	0) echo good ;;
	5) echo none ;;
	*) # with one superblock of two all but check are content
		if "$xpcache" dump fast >/dev/null 2>&1; then echo good; else echo bad; fi ;;
	esac
}

# kill_each NAME WANTED OPTION...: ./image is what the fast device holds before
kill_each() {
	local name=$1 wanted=$2 n=0 seen=""
	shift 2
	while [ $n -lt 50 ]; do
		n=$((n + 1))
		cp --sparse=always image fast
		if DIEAT=$n LD_PRELOAD=$dieat "$xpcache" create --fast fast --slow slow --no-start "$@" >/dev/null 2>&1; then
			break
		fi
		seen="$seen $(judge)"
	done 2>/dev/null	# bash tells of each that was killed
	same "create killed before each write, $name" "$seen" " $wanted"
	same "and then it is whole, $name" "$(judge)" "good"
}

rm -f fast slow image
truncate -s 64M image
truncate -s 256M slow
kill_each "blank device" "none none none none good good good"

mkfs.ext4 -q image
cp --sparse=always image fast
kill_each "over ext4" "none none none none good good good" --force

fresh
cp --sparse=always fast image
kill_each "over an older cache" "good good none none good good good" --force

# Signals that can be caught wait until it is whole.
for sig in 1 2 3 15; do
	cp --sparse=always image fast
	DIEAT=2 DIEAT_SIGNAL=$sig LD_PRELOAD=$dieat "$xpcache" create --fast fast --slow slow --no-start --force >/dev/null 2>&1
	same "signal $sig while it writes waits" "$(judge)" "good"
done 2>/dev/null
rm -f image
