# SPDX-License-Identifier: GPL-2.0-only
# The latency lab: a machine whose clock counts instructions.

.PHONY: lab
lab: vm-build ## what a request costs, to the instruction, beside dm-linear and peers; docs/LATENCY.md anew
	@scripts/bootstrap lab
	@tests/lab/lab && tests/lab/scale && tests/lab/lab --docs

.PHONY: lab-profile
lab-profile: vm-build ## where the instructions of a hit, a write and a sync go, by function
	@scripts/bootstrap lab
	@tests/lab/profile
