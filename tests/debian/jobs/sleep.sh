# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: slow-iops=300 timeout=2400
#
# /, swap and /home are on a cache, and the machine sleeps: in memory, and on disk. Boot 2 and 3 are
# one life, and boot 4 with what boot 5 finds.

# From memory: the folder of the host's does not outlive a hibernation.
if [ "$0" = /mnt/job.sh ]; then
	mkdir /run/job
	cp /mnt/* /run/job
	exec bash -u /run/job/job.sh
fi
umount /mnt
mount --bind /run/job /mnt
. /mnt/desktop.sh

swap() { echo ${CACHE}p$SWAP; }
up_for() { cut -d . -f 1 /proc/uptime; }
state() { xpcache list | awk '$1 == "xpcache0" { print $2 }'; }

# What this life remembers, in memory and on disk.
remember()
{
	fill /dev/shm/kept 20 1024
	fill /root/kept 20 300
	fill /home/kept 20 300
	kept=$(tree /dev/shm/kept; tree /root/kept; tree /home/kept)
	sync
	fill /home/late 20 300	# not synced
	late=$(tree /home/late)
	life=$RANDOM$RANDOM
	began=$(up_for)
}

remembers()
{
	equal "$1-kept" "$kept" "$(tree /dev/shm/kept; tree /root/kept; tree /home/kept)"
	equal "$1-late" "$late" "$(tree /home/late)"
	equal "$1-up-since" yes "$([ "$(up_for)" -ge "$began" ] && echo yes)"
	all_on ${CACHE}p
	equal "$1-state" running "$(state)"
}

# After a sleep in memory QEMU does not power off; a restart ends the machine as well.
off_by_restart()
{
	mkdir -p /etc/systemd/sleep.conf.d
	printf '[Sleep]\nHibernateMode=reboot\n' >/etc/systemd/sleep.conf.d/test.conf
}

hibernates() { off_by_restart && systemctl start systemd-hibernate.service; }

case $BOOT in
1)
	# A machine that is emulated on a loaded host takes its time.
	sed -i 's/ sw  */&,x-systemd.device-timeout=15min /; s/ sw  *,/ sw,/; s/ defaults  */ defaults,x-systemd.device-timeout=15min /' /etc/fstab
	must xpcache adopt --fast $FAST --yes
	reboot_now
	;;
2)
	up
	remember
	try to-memory rtcwake -m mem -s 20
	remembers after-memory

	hook=/usr/lib/systemd/system-sleep/xpcache
	mv $hook /root/hook
	if hibernates; then fail refused "it hibernated with a cache"; else pass refused; fi
	equal refused-says yes "$(dmesg | grep -q 'xpcache0: a cache does not outlive a hibernation' && echo yes)"
	mv /root/hook $hook
	remembers after-refusal

	report SLEEP
	hibernates || die hibernates "$(journalctl -b -u systemd-hibernate -o cat | tail -n 3)"
	# ------------------------------------------------ boot 3
	pass woken
	remembers after-disk
	equal began-with-nothing yes "$(journalctl -b -t systemd-sleep -o cat | grep -q 'xpcache0: reattached' && echo yes)"
	reboot_now
	;;
4)
	up
	all_on ${CACHE}p
	equal kept-rebooted 40 "$(find /root/kept /home/kept -type f | wc -l)"
	touch /forcefsck
	remember
	(tree /root/kept; tree /home/kept) >/root/sums
	sed -i 's/^GRUB_CMDLINE_LINUX="/&noresume /' /etc/default/grub
	must update-grub
	must xpcache flush --boot
	sync
	report SLEEP
	hibernates || die hibernates-again "$(journalctl -b -u systemd-hibernate -o cat | tail -n 3)"
	die noresume "it was restored all the same"
	;;
5)
	up
	all_on ${CACHE}p
	equal not-restored yes "$([ "$(up_for)" -lt 600 ] && echo yes)"
	equal synced "$(cat /root/sums)" "$(tree /root/kept; tree /home/kept)"
	equal no-image swap "$(blkid -p -o value -s TYPE "$SLOW$SWAP")"
	equal file-system clean "$(dumpe2fs -h ${CACHE}p$ROOT 2>/dev/null | sed -n 's/^Filesystem state: *//p')"
	;;
esac
