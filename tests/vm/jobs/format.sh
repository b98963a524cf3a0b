# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=24M slow=40M timeout=900 usr=host with=xpcached quick=newest
#
# A cache goes back to the format of an older version, and comes from there: by the kernel's target, with parts of blocks,
# whole ones, and dirty ones. And the module that has the cache reads no more of the ring than it has to (recovery_scan.c).

. ./lib.sh

bits() { xpcache dump $FAST --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["superblock"]["incompat"])'; }
lacking() { xpcache dump $FAST --json | python3 -c 'import json, sys
print(sum(1 for m in json.load(sys.stdin)["mappings"] if m.get("lacks")))'; }
parts() { dd if=/tmp/wanted of=$CACHE bs=512 seek="$1" skip="$1" count=1 oflag=direct conv=notrunc status=none; }
whole() { dd if=$CACHE bs=1M count=16 iflag=direct status=none | md5sum; }

must dd if=/dev/urandom of=/tmp/wanted bs=1M count=16 status=none
must xpcache create --fast $FAST --slow $SLOW --idle-ms 0 --dirty-low 90 --dirty-high 99
must dd if=/tmp/wanted of=$CACHE bs=1M count=4 oflag=direct status=none
for sector in $(seq 16385 16 24577); do parts "$sector"; done
must dd if=$CACHE of=/dev/null bs=1M count=16 skip=16 iflag=direct status=none
wanted=$(whole)
must xpcache stop xpcache0
[ "$(lacking)" -ge 500 ] && pass parts || fail parts "$(lacking)"
must xpcache start --idle-ms 0 --dirty-low 90 --dirty-high 99
try back xpcache stop --format 1 xpcache0
equal back-bits "0x3 0" "$(bits) $(lacking)"
try back-is-sound xpcache check $FAST --slow $SLOW --data
must xpcache start --idle-ms 0 --dirty-low 90 --dirty-high 99
equal back-holds "$wanted" "$(whole)"
parts 20000
must xpcache stop xpcache0
equal back-has-no-parts 0 "$(lacking)"

try converts xpcache start --convert --idle-ms 0 --dirty-low 90 --dirty-high 99
for sector in $(seq 26001 16 30000); do parts "$sector"; done
wanted=$(whole)
must xpcache stop xpcache0
equal converted-bits 0x503 "$(bits)"
[ "$(lacking)" -ge 50 ] && pass converted-has-parts || fail converted-has-parts "$(lacking)"
must xpcache start --idle-ms 0
equal converted-holds "$wanted" "$(whole)"
no_errors no-errors
must xpcache remove xpcache0
equal alone "$wanted" "$(dd if=$SLOW bs=1M count=16 iflag=direct status=none | md5sum)"
