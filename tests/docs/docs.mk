# SPDX-License-Identifier: GPL-2.0-only
# The documents: their pictures are what their sources say.

.PHONY: docs-test
docs-test: ## pictures of docs/ are drawn from what is beside them, and name files that are there
	@tests/docs/pictures
