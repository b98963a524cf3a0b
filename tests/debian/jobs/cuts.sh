# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: disk=adopted slow-iops=150 timeout=900 debs=small
#
# The power goes CUTS times while apt installs packages, and each time it comes up in order.
. /mnt/desktop.sh

cuts=${CUTS:-2}
names=$(for deb in /mnt/*.deb; do dpkg-deb -f "$deb" Package; done | tr '\n' ' ')

# wrong - what dpkg finds wrong with packages that it holds for installed. The tree has no docs.
wrong()
{
	# shellcheck disable=SC2046
	dpkg --verify $(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | sed -n 's/^ii  //p') |
		grep -vE ' /usr/share/(doc|locale)/'
}

# shellcheck disable=SC2086
installs()
{
	while :; do
		apt-get -qq -y --no-install-recommends install /mnt/*.deb || return
		apt-get -qq -y purge $names || return
	done >/root/apt.log 2>&1
}

up
all_on ${CACHE}p
if [ "$BOOT" = 1 ]; then
	wrong >/root/wrong.before
else
	note "cut $((BOOT - 1)): $(dpkg -l $names 2>/dev/null | awk '/^[a-z]/ { print $1 }' | sort | uniq -c | tr -s ' \n' ' ')"
	equal file-system clean "$(dumpe2fs -h ${CACHE}p$ROOT 2>/dev/null | sed -n 's/^Filesystem state: *//p')"
	try configure dpkg --configure -a
	equal verified "$(cat /root/wrong.before)" "$(wrong)"
	# By dpkg: apt can neither reinstall nor remove what it has half removed, or half installed from
	# a file, with or without a cache. But dpkg alone does not begin with what others pre-depend on.
	try repair sh -c 'dpkg --install /mnt/cron-daemon-common_*.deb && dpkg --install /mnt/*.deb'
	equal verified-again "$(cat /root/wrong.before)" "$(wrong)"
fi
[ "$BOOT" -lt $((cuts + 1)) ] || exit 0
report "CUT 90"
installs
die installs "$(tail -n 1 /root/apt.log)"
