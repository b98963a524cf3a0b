# SPDX-License-Identifier: GPL-2.0-only
# What a machine needs to come up from a cache: udev's rules, systemd's unit, the hook of
# initramfs-tools and the module of dracut. The programs are named by their full path.

# Whose hooks are installed. Debian's other places, for new kernels and for GRUB's menu, go with initramfs-tools.
INITRAMFS ?= initramfs-tools dracut
udevdir	?= $(PREFIX)/lib/udev
initramfsdir ?= $(PREFIX)/share/initramfs-tools
dracutdir ?= $(PREFIX)/lib/dracut
dracut-module := $(dracutdir)/modules.d/90xpcache
# Who calls these looks for them nowhere else. A PREFIX of somebody's own has all below it.
of-system := $(filter /usr /usr/local,$(patsubst %/,%,$(PREFIX)))
sysconfdir ?= $(if $(of-system),/etc,$(PREFIX)/etc)
sleepdir ?= $(if $(of-system),/usr,$(PREFIX))/lib/systemd/system-sleep
# What both say where the boot stops, and what they ask of other kernels.
wordsdir ?= $(PREFIX)/lib/xpcache
# After those that write below /boot: they are run in the order of their names.
boot-changes := $(addprefix $(sysconfdir)/,kernel/postinst.d/zzz-xpcache kernel/postrm.d/zzz-xpcache \
	initramfs/post-update.d/zzz-xpcache)
boot-units := xpcache.service xpcache-left.service xpcache-boot-files.path xpcache-boot-files.service
boot-swap := $(unitdir)/swap.d/50-xpcache.conf
# What grub-mkconfig reads.
boot-menu := $(sysconfdir)/default/grub.d/xpcache.cfg
boot-rules := $(addprefix $(udevdir)/rules.d/,59-xpcache.rules 65-xpcache-md.rules)
boot-of-initramfs-tools := $(initramfsdir)/hooks/xpcache $(initramfsdir)/scripts/local-top/xpcache $(boot-changes) $(boot-menu)
boot-of-dracut := $(addprefix $(dracut-module)/,module-setup.sh xpcache-start.sh xpcache-started.sh)
boot-files := $(boot-rules) $(addprefix $(unitdir)/,$(boot-units)) $(foreach i,$(INITRAMFS),$(boot-of-$i)) \
	$(addprefix $(wordsdir)/,did-not-start boot-files-home kernels) $(sleepdir)/xpcache $(boot-swap)
boot-places := s,@SBINDIR@,$(sbindir),g; s,@WORDSDIR@,$(wordsdir),g; s,@SYSCONFDIR@,$(sysconfdir),g

.PHONY: boot-install boot-install-initramfs-tools boot-install-dracut
boot-install: $(INITRAMFS:%=boot-install-%)
	@install -d $(sort $(dir $(addprefix $(DESTDIR),$(boot-files))))
	for file in $(boot-rules); do sed '$(boot-places)' boot/$${file##*/} >$(DESTDIR)$$file; done
	for file in $(boot-units); do sed '$(boot-places)' boot/$$file >$(DESTDIR)$(unitdir)/$$file; done
	chmod 644 $(addprefix $(DESTDIR),$(boot-rules) $(addprefix $(unitdir)/,$(boot-units)))
	sed '$(boot-places)' boot/system-sleep >$(DESTDIR)$(sleepdir)/xpcache
	chmod 755 $(DESTDIR)$(sleepdir)/xpcache
	install -m 755 boot/did-not-start $(DESTDIR)$(wordsdir)/did-not-start
	for file in boot-files-home kernels; do \
		sed '$(boot-places)' boot/$$file >$(DESTDIR)$(wordsdir)/$$file; chmod 755 $(DESTDIR)$(wordsdir)/$$file; \
	done
	install -m 644 boot/swap-after-xpcache.conf $(DESTDIR)$(boot-swap)

boot-install-initramfs-tools:
	@install -d $(sort $(dir $(addprefix $(DESTDIR),$(boot-of-initramfs-tools))))
	sed '$(boot-places)' boot/initramfs-tools/hook >$(DESTDIR)$(initramfsdir)/hooks/xpcache
	chmod 755 $(DESTDIR)$(initramfsdir)/hooks/xpcache
	install -m 755 boot/initramfs-tools/local-top $(DESTDIR)$(initramfsdir)/scripts/local-top/xpcache
	for file in $(boot-changes); do \
		sed '$(boot-places)' boot/flush-boot-files >$(DESTDIR)$$file; chmod 755 $(DESTDIR)$$file; \
	done
	sed '$(boot-places)' boot/grub-default.cfg >$(DESTDIR)$(boot-menu)
	chmod 644 $(DESTDIR)$(boot-menu)

boot-install-dracut:
	@install -d $(DESTDIR)$(dracut-module)
	for file in module-setup.sh xpcache-start.sh xpcache-started.sh; do \
		sed '$(boot-places)' boot/dracut/$$file >$(DESTDIR)$(dracut-module)/$$file; \
		chmod 755 $(DESTDIR)$(dracut-module)/$$file; \
	done
