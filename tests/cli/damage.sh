# SPDX-License-Identifier: GPL-2.0-only
# Metadata that does not verify: named, refused, and never touched.

journal_start() { field superblock.journal_start; }

fresh
"$forge" fast write 10 5
damage fast 0
expect "first superblock damaged" 4 "block 0, superblock: checksum is wrong" check fast
same "the second will do" "$(field mappings.length)" "5"
fresh
"$forge" fast write 10 5
damage fast 16
expect "second superblock damaged" 4 "block 16, superblock: checksum is wrong" check fast
same "the first will do" "$(field mappings.length)" "5"
damage fast 0
before=$(sha256sum <fast)
expect "both damaged" 4 "checksum is wrong" check fast
expect "both damaged: dump" 4 "checksum is wrong" dump fast
expect "both damaged: create" 3 "fast device of the xpcache .damaged" create --fast fast --slow slow --no-start
expect "both damaged: create --force" 3 "cannot be told.*--discard-dirty" create --fast fast --slow slow --no-start --force
same "and nothing was written" "$(sha256sum <fast)" "$before"
expect "both damaged: --discard-dirty" 0 "made to cache" create --fast fast --slow slow --no-start --force --discard-dirty

fresh
"$forge" fast write 10 5
dd if=/dev/zero of=fast bs=4096 count=1 conv=notrunc status=none
expect "first superblock overwritten" 4 "block 0, superblock: no xpcache superblock" check fast
same "the second is enough" "$(field mappings.length)" "5"

fresh
"$forge" fast write 10 5
"$forge" fast set incompat 0x8000
for verb in check dump; do
	expect "unknown incompat bit: $verb" 4 "incompat features unknown .*0x8000" $verb fast
done
expect "unknown incompat bit: create --force" 3 "cannot be told" create --fast fast --slow slow --no-start --force
fresh
"$forge" fast set version 3
expect "unknown version" 4 "version unknown" check fast
fresh
"$forge" fast set compat 1
expect "unknown compat bit does no harm" 0 ": sound" check fast
fresh
"$forge" fast set nr_slots 99999999
expect "geometry past the end" 4 "superblock: " check fast
fresh
truncate -s 63M fast
expect "the fast device shrank" 4 "fast device shrank" check fast

# Block 2 of the ring is the first that a running cache writes; the newest
# block says that all before it were durable.
fresh
"$forge" fast write 10 200
"$forge" fast write 400 200
start=$(journal_start) newest=$(field journal.seq)
used=$(field journal.used)
tail=$((newest - used + 1))
damage fast $((start + newest - 1))
expect "journal block damaged below durable" 4 "journal block $((newest - 1)) .at block $((start + newest - 1)) of the fast device" check fast
expect "the same for dump" 4 "journal block $((newest - 1)) " dump fast
damage fast $((start + newest - 1))
expect "healed" 0 ": sound" check fast
damage fast $((start + tail))
expect "oldest journal block damaged" 4 "journal block" check fast
damage fast $((start + tail))
damage fast $((start + newest + 1))
expect "a block beyond the chain" 0 ": sound" check fast

fresh
damage fast $((start + 1))
expect "no journal at all" 4 "journal: no block from which the mapping can be rebuilt, in blocks $start" check fast
expect "no journal: create --force" 3 "cannot be told" create --fast fast --slow slow --no-start --force
