# SPDX-License-Identifier: GPL-2.0-only
# What each program loads when it starts: udev runs xpcache for each disk, the initramfs holds xpcache and xpcached, and
# xpcached is in the data path. What a verb alone needs is that of a program of its own, or is loaded when it is needed.

# needs PROGRAM LIBRARY... - no more than these, without the C library's own.
needs()
{
	local program=$1 library more=
	shift
	for library in $(readelf -W -d "bin/$program" | sed -n 's/.*(NEEDED).*\[\(lib[^]]*\)\.so.*/\1/p'); do
		[[ " libc libm libpthread libdl ld-linux-x86-64 $* " = *" $library "* ]] || more+=" $library"
	done
	same "libraries: of $program" "$more" ""
}
base="libdevmapper libblkid libjson-c libxxhash liburing"
needs xpcache $base
needs xpcache-bench $base
needs xpcached $base libpmem libcap-ng
[ ! -e bin/xpcached-watch ] || needs xpcached-watch $base libmicrohttpd libsystemd libcap-ng
# With all that these load in turn.
ldd bin/xpcache >out 2>&1
same "libraries: of udev's, and no module loader, TLS or web server" "$(grep -c libdevmapper out) $(grep -E 'libkmod|libcrypto|libgnutls|libmicrohttpd|libsystemd|libnbd' out)" "1 "
ldd bin/xpcached >out 2>&1
same "libraries: of the data path's, and no web server" "$(grep -c libdevmapper out) $(grep -E 'libgnutls|libmicrohttpd|libsystemd|libnbd' out)" "1 "

# The programs of verbs, where they are installed, and where they are not.
mkdir -p installed/sbin installed/libexec/xpcache other/bin other/lib/xpcache none
cp bin/xpcache bin/xpcached installed/sbin
cp bin/xpcache-bench installed/libexec/xpcache
cp bin/xpcache other/bin
cp bin/xpcache-bench other/lib/xpcache
cp bin/xpcache bin/xpcached none
# Where this machine may have them installed.
sed -i 's,/\(lib\|libexec\)/xpcache\x00,/\1/nowhere\x00,' none/xpcache none/xpcached
same "libraries: bench, installed" "$(installed/sbin/xpcache bench --help | tail -n 1)" "$("$xpcache" help bench | tail -n 1)"
same "libraries: bench, installed as others do" "$(other/bin/xpcache help bench | tail -n 1)" "$("$xpcache" help bench | tail -n 1)"
ln -s ../installed/sbin/xpcache none/link
same "libraries: bench, by a link" "$(none/link bench 2>&1)" "$("$xpcache" bench 2>&1)"
none/xpcache bench fast >out 2>&1
same "libraries: no bench" "$? $(grep -c '^xpcache: the program is not there: xpcache-bench: install it' out) $(wc -l <out)" "1 1 1"
same "libraries: no bench, and where it belongs" "$(grep -cE ': install it beside this program, or in /.*/nowhere, as make install does$' out)" 1
if [ -e bin/xpcached-watch ]; then
	cp bin/xpcached-watch installed/libexec/xpcache
	same "libraries: watch, installed" "$(installed/sbin/xpcached watch --help | head -n 1)" "xpcached watch [OPTION...]"
	none/xpcached watch >out 2>&1
	same "libraries: no watch" "$? $(grep -c '^xpcache: the program is not there: xpcached-watch: install it' out) $(wc -l <out)" "1 1 1"
	bin/xpcached-watch --help >out 2>&1
	same "libraries: watch by itself" "$? $(grep -c '^xpcache: not to be run by itself' out)" "2 1"
fi
rm -rf installed other none
