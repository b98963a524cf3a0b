# SPDX-License-Identifier: GPL-2.0-only
# What a machine needs to come up from a cache: udev's rules, systemd's unit, the hook of
# initramfs-tools and the module of dracut. The programs are named by their full path.

udevdir	?= $(PREFIX)/lib/udev
initramfsdir ?= $(PREFIX)/share/initramfs-tools
dracutdir ?= $(PREFIX)/lib/dracut
dracut-module := $(dracutdir)/modules.d/90xpcache
# Who calls these looks for them nowhere else. A PREFIX of somebody's own has all below it.
of-system := $(filter /usr /usr/local,$(patsubst %/,%,$(PREFIX)))
sysconfdir ?= $(if $(of-system),/etc,$(PREFIX)/etc)
sleepdir ?= $(if $(of-system),/usr,$(PREFIX))/lib/systemd/system-sleep
# What both say where the boot stops.
wordsdir ?= $(PREFIX)/lib/xpcache
# After those that write below /boot: they are run in the order of their names.
boot-changes := $(addprefix $(sysconfdir)/,kernel/postinst.d/zzz-xpcache kernel/postrm.d/zzz-xpcache \
	initramfs/post-update.d/zzz-xpcache)
boot-units := xpcache.service xpcache-left.service xpcache-boot-files.path xpcache-boot-files.service
boot-swap := $(unitdir)/swap.d/50-xpcache.conf
boot-rules := $(addprefix $(udevdir)/rules.d/,59-xpcache.rules 65-xpcache-md.rules)
boot-files := $(boot-rules) $(addprefix $(unitdir)/,$(boot-units)) \
	$(initramfsdir)/hooks/xpcache $(initramfsdir)/scripts/local-top/xpcache \
	$(addprefix $(dracut-module)/,module-setup.sh xpcache-start.sh xpcache-started.sh) $(wordsdir)/did-not-start $(wordsdir)/boot-files-home \
	$(sleepdir)/xpcache $(boot-changes) $(boot-swap)
boot-places := s,@SBINDIR@,$(sbindir),g; s,@WORDSDIR@,$(wordsdir),g

.PHONY: boot-install
boot-install:
	@install -d $(sort $(dir $(addprefix $(DESTDIR),$(boot-files))))
	for file in $(boot-rules); do sed '$(boot-places)' boot/$${file##*/} >$(DESTDIR)$$file; done
	for file in $(boot-units); do sed '$(boot-places)' boot/$$file >$(DESTDIR)$(unitdir)/$$file; done
	sed '$(boot-places)' boot/initramfs-tools/hook >$(DESTDIR)$(initramfsdir)/hooks/xpcache
	sed '$(boot-places)' boot/system-sleep >$(DESTDIR)$(sleepdir)/xpcache
	chmod 755 $(DESTDIR)$(sleepdir)/xpcache
	install -m 755 boot/initramfs-tools/local-top $(DESTDIR)$(initramfsdir)/scripts/local-top/xpcache
	chmod 755 $(DESTDIR)$(initramfsdir)/hooks/xpcache
	chmod 644 $(addprefix $(DESTDIR),$(boot-rules) $(addprefix $(unitdir)/,$(boot-units)))
	install -m 755 boot/did-not-start $(DESTDIR)$(wordsdir)/did-not-start
	sed '$(boot-places)' boot/boot-files-home >$(DESTDIR)$(wordsdir)/boot-files-home
	chmod 755 $(DESTDIR)$(wordsdir)/boot-files-home
	install -m 644 boot/swap-after-xpcache.conf $(DESTDIR)$(boot-swap)
	for file in module-setup.sh xpcache-start.sh xpcache-started.sh; do \
		sed '$(boot-places)' boot/dracut/$$file >$(DESTDIR)$(dracut-module)/$$file; \
		chmod 755 $(DESTDIR)$(dracut-module)/$$file; \
	done
	for file in $(boot-changes); do \
		sed '$(boot-places)' boot/flush-boot-files >$(DESTDIR)$$file; chmod 755 $(DESTDIR)$$file; \
	done
