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
