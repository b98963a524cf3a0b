# SPDX-License-Identifier: GPL-2.0-only
# check and dump of sound caches.

fresh
expect "check an empty cache" 0 "^fast: sound" check fast
"$forge" fast write 0 300
expect "check a dirty one" 0 "map: 300 blocks .1.17 MiB. dirty, 0 blocks" check fast
same "dump: mappings" "$(field mappings.length)" "300"
"$xpcache" dump fast >out
same "dump: lines of mappings" "$(grep -cE '^ +[0-9]+ +[0-9]+ dirty$' out)" "300"
"$xpcache" dump fast --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
m = d["mappings"]
assert sorted(x["lba"] for x in m) == list(range(300)), "lbas"
assert len({x["slot"] for x in m}) == 300, "slots"
assert all(x["dirty"] and not x["zeros"] for x in m), "dirty"
assert d["superblock"]["nr_slots"] > 300
assert d["journal"]["seq"] >= d["journal"]["durable_seq"] > 0
assert d["fingerprint"]["seq"] == 1 and 64 < d["fingerprint"]["blocks"] <= 251, "fingerprint"
' 2>out && pass "dump: every block once" || fail "dump: every block once" "wrong JSON"
before=$(sha256sum <fast)
"$xpcache" check fast >out
"$xpcache" dump fast >out
same "check and dump write nothing" "$(sha256sum <fast)" "$before"
"$forge" fast write 299 3
same "a second life" "$(field mappings.length)" "302"
expect "check a second life" 0 "map: 302 blocks" check fast
expect "check what is no cache" 5 "no xpcache on this device: slow" check slow
expect "dump what is no cache" 5 "no xpcache on this device: slow" dump slow
expect "check nothing" 5 "no such device: nowhere" check nowhere
"$xpcache" dump fast >/dev/full 2>stderr
same "dump to a full disk" "$? $(cut -c1-31 stderr)" "1 xpcache: cannot write: No space"
