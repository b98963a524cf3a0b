#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Not before: a disk below a cache that nothing has fenced would be taken.
[ -e /run/xpcache-started ]
