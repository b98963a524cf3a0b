# SPDX-License-Identifier: GPL-2.0-only
# vm: nvdimm=64M fast=16M slow=512M extra=16M memory=1G driver=powercut
# shellcheck shell=bash
#
# As powercut.sh, and the fast device is memory, whose file outlives the machine.

. ./lib.sh
persistent_memory
KIND=${KIND#pmem-}
. ./powercut.sh
