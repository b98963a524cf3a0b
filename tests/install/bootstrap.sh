# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What is installed to build and to test. The package managers are stand-ins, in a PATH that
# has nothing else: nothing is asked of a machine, or installed.

list=$root/scripts/packages
column() { awk -v part="$1" -v n="$2" '!/^#/ && $1 == part && $n != "-" { print $n }' "$list" | tr , '\n'; }
all_of() { awk -v n="$1" '!/^#/ && NF && $n != "-" { print $n }' "$list" | tr , '\n' | sort -u; }

# The lists.
same "bootstrap: a line has a name for each, and a reason" "$(awk '!/^#/ && NF && NF < 7 { print FNR }' "$list")" ""
for n in 2 3 4 5 6; do
	same "bootstrap: names of column $n are names" "$(all_of $n | grep -vE '^[a-z0-9][a-z0-9.+_-]+$')" ""
	same "bootstrap: no name of column $n holds a version" "$(all_of $n | grep -E '(^|-)[0-9]+([.][0-9]+)*(-|$)|[a-z](1[0-9]|2[0-9])(-|$)')" ""
done
same "bootstrap: what the package is built with is what a build asks for" \
	"$({ column least 2; column build 2; } | grep -vxE 'gcc|libc6-dev|make' | sort)" \
	"$(sed -n '/^Build-Depends:/,/^[^ B]/ s/^\(Build-Depends:\)\? *\([a-z0-9-]*\).*/\2/p' "$root/debian/control" |
		grep -vxE '|debhelper-compat|dh-dkms' | sort)"
if [ -n "$(apt-cache show gcc 2>/dev/null)" ]; then
	same "bootstrap: this Debian has all of them" \
		"$(all_of 2 | xargs apt-cache show 2>/dev/null | sed -n 's/^Package: //p' | sort -u | comm -13 - <(all_of 2))" ""
fi

for target in all=build demo-user=demo demo=test check=check test=test vm-build=test; do
	same "bootstrap: make ${target%=*} asks for no more than it needs" \
		"$(sed -n "s/^${target%=*}: bootstrap-\([a-z]*\) ##.*/\1/p" "$root/Makefile")" "${target#*=}"
done

# A tree with the script and what it reads, and a PATH with what it may call.
mkdir -p tree/scripts tree/debian tree/tests/vm bin
cp "$root/scripts/bootstrap" "$list" tree/scripts/
cp "$root/debian/control" tree/debian/
cp "$root/tests/vm/kernel" tree/tests/vm/
for tool in awk sed grep tr sort cat dirname mkdir touch mktemp rm tail env sh; do
	ln -s "$(command -v $tool)" bin/
done
# stand_in NAME SCRIPT
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
# machine UID - another one, without a package manager, and no part of ours done.
machine()
{
	rm -rf bin/apt-get bin/apt-cache bin/dpkg-query bin/dnf bin/zypper bin/rpm bin/pacman bin/apk bin/sudo tree/build called
	stand_in id "echo $1"
	: >called
}
bootstrap() { PATH=$dir/bin tree/scripts/bootstrap "$@"; }
# packages COLUMN PART... - all names that these parts have.
packages() { local n=$1 part; shift; for part; do column "$part" "$n"; done | awk '!seen[$0]++' | xargs; }

# By what each says of a package that is there: gcc and make are.
there='case $name in gcc|make) ;; *) exit 1 ;; esac'
# manager NAME UID - with this one.
manager()
{
	machine "$2"
	case $1 in
	dnf | zypper)
		stand_in "$1" "echo $1 \"\$@\" >>$dir/called"
		stand_in rpm "[ \"\$1 \$2\" = '-q --whatprovides' ] || exit 2; name=\$3; $there" ;;
	pacman)
		stand_in pacman "[ \"\$1\" = -T ] || { echo pacman \"\$@\" >>$dir/called; exit; }; shift
			for name; do case \$name in gcc|make) ;; *) echo \$name; false ;; esac; done; exit 127" ;;
	apk)
		stand_in apk "[ \"\$1 \$2\" = 'info -e' ] || { echo apk \"\$@\" >>$dir/called; exit; }; name=\$3; $there" ;;
	apt)
		stand_in apt-get "echo apt-get \"\$@\" >>$dir/called"
		stand_in apt-cache 'case $2 in linux-source-*) exit 100 ;; esac'
		stand_in dpkg-query 'printf "ii gcc \nii make \nrc curl \nii pkgconf "
			case $* in *Provides*) printf "pkg-config (= 1.8), pkgconf-bin\n" ;; esac' ;;
	esac
}
without() { xargs -n 1 | grep -vxE "$1" | xargs; }

for one in "dnf 3 dnf install" "pacman 4 pacman -S --needed" "zypper 5 zypper install" "apk 6 apk add"; do
	read -r name n command <<<"$one"
	for part in "build least build" "demo least demo" "check least build demo check" "test least build demo check test"; do
		read -r asked parts <<<"$part"
		manager "$name" 0
		expects "bootstrap: $name, $asked" 1 "^bootstrap: packages are missing: run: $command $(packages "$n" $parts | without 'gcc|make')$" bootstrap "$asked"
		same "bootstrap: $name is not called to install" "$(cat called)" ""
	done
	manager "$name" 1000
	stand_in sudo 'exit 1'
	expects "bootstrap: $name, not by root" 1 "^bootstrap: packages are missing: run: sudo $command libc|glibc|musl" bootstrap build
	rm bin/sudo
	expects "bootstrap: $name, not by root and without sudo" 1 "^bootstrap: packages are missing: as root run: $command " bootstrap build
	there=: manager "$name" 0
	[ "$name" != pacman ] || stand_in pacman ':'
	ok "bootstrap: $name, all is there" bootstrap test
	same "bootstrap: $name, and that is all it says" "$(grep -v '^bootstrap: no package here of ' out)" ""
	ok "bootstrap: $name, then it asks nobody" bootstrap test
	same "bootstrap: $name, and says nothing more" "$(cat out)" ""
	expects "bootstrap: $name, packages of Debian" 1 "^bootstrap: deb needs Debian's packages: run it on Debian$" bootstrap deb
done
manager pacman 0
expects "bootstrap: what a distribution does not have is named, with its use" 1 \
	"^bootstrap: no package here of Debian's libpmem-dev \(persistent memory as the fast device\):" bootstrap build

manager apt 0
ok "bootstrap: apt" bootstrap build
same "bootstrap: apt, what is missing is installed, and no more" "$(cat called)" "apt-get -q update
apt-get -qy -o DPkg::Lock::Timeout=300 install --no-install-recommends $(packages 2 least build | without 'gcc|make|pkg-config')"
same "bootstrap: apt, and it says so" "$(cat out)" "bootstrap: installing $(packages 2 least build | without 'gcc|make|pkg-config')"
: >called
ok "bootstrap: apt, again" bootstrap build
same "bootstrap: apt, and asks nobody" "$(cat called out)" ""
touch -d '+2 seconds' tree/scripts/packages
ok "bootstrap: apt, with another list" bootstrap build
same "bootstrap: apt, and looks again" "$(grep -c install called)" 1
manager apt 1000
expects "bootstrap: apt, not by root and without sudo" 1 "^bootstrap: packages are missing: as root run: apt-get install libc6-dev " bootstrap build
stand_in sudo 'exec "$@"'
ok "bootstrap: apt, not by root" bootstrap build
same "bootstrap: apt, by sudo" "$(grep -c install called)" 1
manager apt 0
stand_in apt-get 'echo no such package; exit 100'
expects "bootstrap: apt, that fails" 1 "^no such package$" bootstrap build
same "bootstrap: apt, then it is not done" "$(ls tree/build 2>/dev/null)" ""
manager apt 0
ok "bootstrap: apt, of a kernel's source that is gone" bootstrap vm-debug
same "bootstrap: apt, Debian's own is taken" "$(tail -n 1 called | xargs -n 1 | tail -n 1)" linux-source
manager apt 0
stand_in apt-cache :
ok "bootstrap: apt, of a kernel's source that is there" bootstrap vm-debug
same "bootstrap: apt, it is that of the tests" "$(tail -n 1 called | xargs -n 1 | tail -n 1)" \
	"$(sed -n 's,^archive=/usr/src/\(.*\)\.tar\.xz$,\1,p' "$root/tests/vm/kernel")"

machine 0
ok "bootstrap: none of them" bootstrap build
same "bootstrap: none of them, and it says where to look" "$(cat out)" \
	"bootstrap: neither apt, dnf, pacman, zypper nor apk is here: see scripts/packages for what is needed; going on"
expects "bootstrap: no such part" 2 "^bootstrap: no such part: everything \(there are: .*build check.* test" bootstrap everything
unset -f bootstrap manager machine
