#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The core imports only what core/platform.h names, and LD and NM of its CPU see.

set -euo pipefail
cd "$(dirname "$0")/../.."

allowed=$(sed -n 's/^ \* XP_PLATFORM_SYMBOLS: //p' core/platform.h | tr ' ' '\n' | sort -u)
"${LD:-ld}" -r -o build/core/all.o $(ls build/core/*.o | grep -v /all.o)
used=$("${NM:-nm}" -u build/core/all.o | awk '{ print $2 }' | sort -u)
[ -n "$used" ] && [ -n "$allowed" ]
extra=$(comm -23 <(echo "$used") <(echo "$allowed"))
if [ -n "$extra" ]; then
	echo "FAIL unit symbols: the core imports what core/platform.h does not name:" $extra
	exit 1
fi
echo "PASS unit symbols: nm -u of the core lists only what core/platform.h names"
