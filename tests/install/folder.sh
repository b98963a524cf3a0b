# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# make install and make uninstall.

# What a machine would have installed, relative to the root.
there() { (cd "$1" && find . -type f -o -type l) | sed 's,^\./,,' | sort; }
in_root() { make -C "$root" --no-print-directory "$@" >out 2>&1; }
# Without the machine's own disks, of which others may make caches meanwhile.
alone()
{
	touch null
	unshare --mount $([ "$(id -u)" -eq 0 ] || echo --map-root-user) sh -c 'mount --bind /dev/null null && mount -t tmpfs dev /dev &&
		touch /dev/null && mount --bind null /dev/null && exec "$@"' sh "$@"
}

programs='sbin/xpcache
sbin/xpcached
libexec/xpcache/xpcache-bench
libexec/xpcache/xpcached-watch'
manuals=$(cd "$root/docs" && ls ./*.8 | sed 's,^\./,share/man/man8/,')
documents=$(cd "$root/docs" && ls ./*.md ./*.rst ./*.json ./pictures/*.svg ./prometheus/* | sed 's,^\./,share/doc/xpcache/,'; echo share/doc/xpcache/README.md)
wanted=$(printf '%s\n' "$programs" "$manuals" "$documents" share/bash-completion/completions/xpcache share/fish/vendor_completions.d/xpcache.fish \
	share/zsh/site-functions/_xpcache \
	$(printf 'lib/systemd/system/%s ' $units) $at_boot $of_system | sort)

in_root install DESTDIR="$dir/image" PREFIX=/usr || fail "folder: install" "status $?"
same "folder: install, and each file is where it belongs" "$(there image/usr; there image/etc | sed 's,^,etc/,')" "$(printf '%s\n' "$(grep -v ^etc/ <<<"$wanted")" "$(grep ^etc/ <<<"$wanted")")"
same "folder: and nowhere else" "$(ls image | xargs)" "etc usr"
same "folder: the unit names the daemon" "$(sed -n 's/^ExecStart=//p' image/usr/lib/systemd/system/xpcached-watch.service)" "/usr/sbin/xpcached watch"
same "folder: no place is left to be filled in" "$(grep -rIlE '@[A-Z]+@' image | grep -v /doc/)" ""
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$root/debian/changelog")
same "folder: programs run" "$(image/usr/sbin/xpcache version | cut -d , -f 1) $(image/usr/sbin/xpcached --version)" \
	"xpcache $version xpcached $version"
same "folder: and what they run" "$(image/usr/sbin/xpcache help bench | head -n 1 | cut -d ' ' -f 1,2) $(image/usr/sbin/xpcached watch --help | head -n 1)" \
	"xpcache bench xpcached watch [OPTION...]"
same "folder: what is to be run can be" "$(cd image && find . -type f -perm /111 -printf '%P\n' | sed 's,^usr/,,' | sort | xargs)" \
	"$(printf '%s\n' $programs $at_boot $of_system | grep -v -e '[.]rules$' -e '[.]conf$' -e '[.]cfg$' | sort | xargs)"
same "folder: modes" "$(find image -type f -printf '%m\n' | sort -u | xargs)" "644 755"
in_root uninstall DESTDIR="$dir/image" PREFIX=/usr || fail "folder: uninstall" "status $?"
same "folder: uninstall leaves nothing" "$(there image)" ""

in_root install DESTDIR="$dir/image" PREFIX=/usr sbindir=/sbin mandir=/man unitdir=/units completiondir=/words fishdir=/fish zshdir=/zsh docdir=/doc
same "folder: other places" "$(there image | grep -v -e '^doc/' -e '^usr/' -e '^etc/' | xargs)" \
	"$(printf '%s\n' fish/xpcache.fish zsh/_xpcache sbin/xpcache sbin/xpcached $(printf 'units/%s ' $units) units/swap.d/50-xpcache.conf words/xpcache $(cd "$root/docs" && ls ./*.8 | sed 's,^\./,man/man8/,') | sort | xargs)"

# Without DESTDIR it is this machine that a cache of may need the program. A place of one's own has all
# of it, and needs nobody else.
mkdir prefix
somebody=
if [ "$(id -u)" -eq 0 ] && setpriv --reuid nobody --clear-groups test -r "$root/Makefile"; then
	chmod 755 "$dir"
	chown nobody prefix
	somebody='setpriv --reuid nobody --clear-groups'
fi
ok "folder: in a place of one's own" $somebody make -C "$root" install PREFIX="$dir/prefix"
export XPCACHE_RUNTIME_DIR=$dir/run
truncate -s 64M fast
truncate -s 256M slow
at_end "pkill -f 'xpcached serve.*$dir'"
ok "folder: a cache" prefix/sbin/xpcache create --fast fast --slow slow --name folder
expects "folder: uninstall with a cache that runs" 2 "^xpcache: the cache runs, 0 blocks .0 B. dirty: folder: end what uses it, then xpcache flush folder" \
	alone make -C "$root" uninstall PREFIX="$dir/prefix"
same "folder: then all is there still" "$(there prefix)" "$wanted"
ok "folder: it stops" prefix/sbin/xpcache stop folder
ok "folder: uninstall then" alone make -C "$root" uninstall PREFIX="$dir/prefix"
same "folder: and nothing is left" "$(there prefix)" ""
unset XPCACHE_RUNTIME_DIR
