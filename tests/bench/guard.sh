# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by run
# What may be destroyed is what was looked at, and nobody else has a hand on it.

# ---------------------------------------------- a path that leads elsewhere ----

truncate -s 8M approved spared
before=$(sha256sum <spared)
ln -sfn approved way
"$xpcache" bench ./way --destructive --force --test mixed --seconds 0.3 -o way.json >out 2>&1 </dev/null &
pid=$!
for _ in $(seq 200); do
	[ -s way.json.state ] && break
	sleep 0.02
done
ln -sfn spared way
wait $pid
same "it writes what was approved: exit code" $? 0
same "not where its path leads by now" "$(sha256sum <spared)" "$before"
rm -f way way.json

# --------------------------------------------------- another program has it ----

truncate -s 8M busy
exec 8<>busy
expect "open in another program" 3 "in use, open by .*, pid $$: ./busy: end that first" \
	./busy --destructive --force --test mixed --seconds 0.1
exec 8<&-
expect "and when it is closed" 0 "mixed/1/50%" ./busy --destructive --force --test mixed --seconds 0.1

# ------------------------------------------------------ half of a cache ----

# cache BLOCKS: one at rest in ./half, so many of its blocks dirty
cache() {
	rm -f half whole
	truncate -s 64M half
	truncate -s 256M whole
	"$xpcache" create --fast half --slow whole --no-start --name atrest >out 2>&1 &&
		{ [ "$1" -eq 0 ] || "$forge" half write 100 "$1"; } || fail "cache" "cannot make a cache in files"
}
destroy="--destructive --test mixed --seconds 0.1"
cache 7
before=$(sha256sum <half)
# shellcheck disable=SC2086 # they are words
expect "dirty blocks of a cache" 3 "device of the xpcache atrest with 7 blocks .28.0 KiB. dirty: ./half: .*start and remove" \
	./half $destroy --force
printf x | dd of=half bs=1 seek=16 conv=notrunc status=none
printf x | dd of=half bs=1 seek=$((16 * 4096 + 16)) conv=notrunc status=none
before=$(sha256sum <half)
# shellcheck disable=SC2086
expect "a damaged cache" 3 "damaged or unknown.*cannot be told: ./half: xpcache check" ./half $destroy --force
same "neither is written" "$(sha256sum <half)" "$before"
cache 0
# shellcheck disable=SC2086
expect "a clean one is named" 3 "it holds: the fast device of the xpcache atrest: ./half" ./half $destroy
# shellcheck disable=SC2086
expect "and may go" 0 "mixed/1/50%" ./half $destroy --force
rm -f half whole
