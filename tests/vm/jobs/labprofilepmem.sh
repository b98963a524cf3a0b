# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G nvdimm=272M fast=16M slow=32M timeout=900
# shellcheck shell=bash
#
# The same with a fast device that is memory.

. ./lib.sh
persistent_memory
. ./labprofile.sh
