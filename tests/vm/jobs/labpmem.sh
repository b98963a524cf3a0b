# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G nvdimm=272M fast=16M slow=16M timeout=3000
# shellcheck shell=bash
#
# The part pmem of the lab: the fast device is memory, with a namespace in mode fsdax; all
# else is as in the part flash. dm-writecache is told so (p): it knows two ways of working.

. ./lib.sh
persistent_memory
. ./lab.sh
