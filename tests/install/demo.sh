# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The demonstration in user space, as README.md has it: it leaves a result and a page, and the disk as it was.

rm -rf "$root/build/demo"
ok "demo: make demo-user" make -C "$root" --no-print-directory demo-user
same "demo: the disk is what it was" "$(grep -c '^the disk holds what it held$' out)" 1
grep -qE '^(As fast as the fast drive|Mostly hidden)' out && pass "demo: the cache hides the disk" ||
	fail "demo: the cache hides the disk" "$(grep hides out | tail -n 1)"
grep -q '</html>' "$root/build/demo/demo.html" && pass "demo: a page" || fail "demo: a page" "none in build/demo"
