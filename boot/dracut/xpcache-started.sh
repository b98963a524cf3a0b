#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Not before: a disk below a cache that nothing has fenced would be taken.
# shellcheck disable=SC2154 # hookdir is dracut's
[ -e "$hookdir/xpcache-started" ]
