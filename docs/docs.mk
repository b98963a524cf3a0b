# SPDX-License-Identifier: GPL-2.0-only
# The documents as a site. cmark-gfm reads Markdown as GitHub does, mandoc the manual pages; both are in
# Debian 12 and 13 and take 2 MiB. mdBook is in Debian 13 alone, and pandoc takes 170 MiB.

.PHONY: docs
docs: ## the documents and manual pages as a site: build/docs/index.html
	@scripts/bootstrap docs
	@scripts/docs build/docs
