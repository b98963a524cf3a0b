# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# make install and make uninstall.

# What a machine would have installed, relative to the root.
there() { (cd "$1" && find . -type f -o -type l) | sed 's,^\./,,' | sort; }
in_root() { make -C "$root" --no-print-directory "$@" >out 2>&1; }
# Without the machine's own disks, of which others may make caches meanwhile.
alone() { unshare --mount sh -c 'mount -t tmpfs dev /dev && mknod -m 666 /dev/null c 1 3 && exec "$@"' sh "$@"; }

programs='sbin/xpcache
sbin/xpcached'
manuals=$(cd "$root/docs" && ls ./*.8 | sed 's,^\./,share/man/man8/,')
documents=$(cd "$root/docs" && ls ./*.md | sed 's,^\./,share/doc/xpcache/,'; echo share/doc/xpcache/README.md)
wanted=$(printf '%s\n' "$programs" "$manuals" "$documents" share/bash-completion/completions/xpcache \
	lib/systemd/system/xpcached-watch.service | sort)

in_root install DESTDIR="$dir/image" PREFIX=/usr || fail "folder: install" "status $?"
same "folder: install, and each file is where it belongs" "$(there image/usr)" "$wanted"
same "folder: and nowhere else" "$(ls image)" "usr"
same "folder: the unit names the daemon" "$(sed -n 's/^ExecStart=//p' image/usr/lib/systemd/system/*.service)" "/usr/sbin/xpcached watch"
same "folder: programs run" "$(image/usr/sbin/xpcache version | cut -d , -f 1) $(image/usr/sbin/xpcached --version)" \
	"xpcache $(dpkg-parsechangelog -l "$root/debian/changelog" -S Version) xpcached $(dpkg-parsechangelog -l "$root/debian/changelog" -S Version)"
same "folder: modes" "$(find image -type f -perm /111 -printf '%f %m\n' | sort | xargs) $(find image -type f ! -perm 644 | wc -l)" \
	"xpcache 755 xpcached 755 2"
in_root uninstall DESTDIR="$dir/image" PREFIX=/usr || fail "folder: uninstall" "status $?"
same "folder: uninstall leaves nothing" "$(there image)" ""

in_root install DESTDIR="$dir/image" PREFIX=/usr sbindir=/sbin mandir=/man unitdir=/units completiondir=/words docdir=/doc
same "folder: other places" "$(cd image && ls -d */* */*/* 2>/dev/null | grep -v -e '^doc/' -e '^man/man8$' -e '^usr' | xargs)" \
	"$(printf '%s\n' sbin/xpcache sbin/xpcached units/xpcached-watch.service words/xpcache $(cd "$root/docs" && ls ./*.8 | sed 's,^\./,man/man8/,') | sort | xargs)"

# Without DESTDIR it is this machine that a cache of may need the program.
in_root install PREFIX="$dir/prefix"
export XPCACHE_RUNTIME_DIR=$dir/run
truncate -s 64M fast
truncate -s 256M slow
cleanup+=("pkill -f 'xpcached serve.*$dir'")
ok "folder: a cache" prefix/sbin/xpcache create --fast fast --slow slow --name folder
says "folder: uninstall with a cache that runs" 2 "^xpcache: the cache runs, 0 blocks .0 B. dirty: folder: end what uses it, then xpcache flush folder" \
	alone make -C "$root" uninstall PREFIX="$dir/prefix"
same "folder: then all is there still" "$(there prefix)" "$wanted"
ok "folder: it stops" prefix/sbin/xpcache stop folder
ok "folder: uninstall then" alone make -C "$root" uninstall PREFIX="$dir/prefix"
same "folder: and nothing is left" "$(there prefix)" ""
unset XPCACHE_RUNTIME_DIR
