# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A kernel without something that the module needs, or with another shape of it, is told in
# one line, with its name; and what the module needs is named whole. The headers are those of
# 6.12, doctored.

kver=$("$root/tests/vm/kernel" 6.12)
headers=$dir/doctored
cp -as "$root/build/kernel/6.12/root/usr" "$headers"
common=$headers/src/linux-headers-${kver%-amd64}-common/include/linux
# build - the module, with those headers.
build() {
	rm -rf "$root/build/module-doctored"
	make -C "$root" --no-print-directory module KDIR="$headers/src/linux-headers-$kver" module-name=doctored "$@" >out 2>&1
}
# lacks WHAT [MAKE...] - the build must fail, and say WHAT and nothing else of ours.
lacks() {
	build "${@:2}"
	same "needs: $1 ends the build" "$?" 2
	same "needs: $1" "$(grep -v -e '^make' -e '^ ' out)" "xpcache needs $1"
}
# doctor FILE EXPRESSION
doctor() {
	sed "$2" "$common/$1" >doctored.h
	! cmp -s doctored.h "$common/$1" || { : >out; fail "needs: doctoring $1" "'$2' changes nothing"; }
	rm "$common/$1"
	mv doctored.h "$common/$1"
}
undo() { ln -sf "$root/build/kernel/6.12/root/usr/src/linux-headers-${kver%-amd64}-common/include/linux/$1" "$common/$1"; }

ok 'needs: the module of 6.12 is built' build
ok 'needs: they are named whole' "$root/tests/vm/imports" build/module-doctored
sed 's/^NEEDS(msleep,.*//' "$root/dm-target/needs.c" >fewer.c
rm "$root/build/module-doctored/needs.c"
cp fewer.c "$root/build/module-doctored/needs.c"
make -C "$headers/src/linux-headers-$kver" M="$root/build/module-doctored" modules >out 2>&1
expects 'needs: what is not named is found' 1 'does not name what leads to: msleep$' "$root/tests/vm/imports" build/module-doctored
lacks 'Linux 6.1 or newer: this is '"$kver" MODULE_FLAGS='VERSION=5 PATCHLEVEL=10'

doctor device-mapper.h 's/\<dm_submit_bio_remap\>/dm_submit_bio_another/'
lacks "dm_submit_bio_remap: this kernel does not have it"
undo device-mapper.h
doctor device-mapper.h 's/\<accounts_remapped_io\>/accounts_another_io/'
lacks "accounts_remapped_io: this kernel does not have it"
undo device-mapper.h
doctor bio.h 's/^	      unsigned short max_vecs, blk_opf_t opf);/	      unsigned short max_vecs);/'
lacks "bio_init: this kernel has another one"
undo bio.h
mv "$common/xxhash.h" "$common/hidden.h"
lacks "<linux/xxhash.h>: this kernel does not have it"
rm -rf "$root/build/module-doctored"
