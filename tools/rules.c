// SPDX-License-Identifier: GPL-2.0-only
/* Which options of a verb need each other, and which exclude each other: one loop for the tables of all verbs. */
#include "tools/rules.h"
#include "lib/complain.h"
#include "tools/options.h"

static u32 given_of(const struct options *opt)
{
	const struct { u32 bit; bool given; } words[] = {
		{ GIVEN_ARG, opt->arg },
		{ GIVEN_FAST, opt->fast },
		{ GIVEN_SLOW, opt->slow },
		{ GIVEN_NAME, opt->name },
		{ GIVEN_ALL, opt->all },
		{ GIVEN_BOOT, opt->boot },
		{ GIVEN_WAIT, opt->wait > 0 },
		{ GIVEN_DISCARD, opt->discard_dirty },
		{ GIVEN_PREFER, opt->prefer_cache },
		{ GIVEN_OFFLINE, opt->offline },
		{ GIVEN_RESCUE, opt->rescue },
		{ GIVEN_JSON, opt->json },
		{ GIVEN_FAST_SIZE, opt->fast_size },
		{ GIVEN_NO_START, opt->no_start },
		{ GIVEN_TUNED_RUN, opt->tuned_run },
		{ GIVEN_UBLK, opt->ublk },
	};
	u32 given = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		given |= words[i].given ? words[i].bit : 0;
	return given;
}

static bool is_broken(const struct rule *rule, u32 given)
{
	return (!rule->given || rule->given & given) && (!rule->with || rule->with & given) && !(rule->without & given);
}

enum xc rules_check(const struct rule *rules, size_t n, const struct options *opt)
{
	u32 given = given_of(opt);

	for (size_t i = 0; i < n; i++)
		if (is_broken(&rules[i], given))
			return complain(XC_USAGE, rules[i].where, rules[i].todo, "%s", rules[i].what);
	return XC_OK;
}
