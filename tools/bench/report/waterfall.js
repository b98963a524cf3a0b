// SPDX-License-Identifier: GPL-2.0-only
/*
 * waterfall.js - from the mean without a cache to the mean with it. The steps add up exactly: with the
 * share h of requests at the fast drive's pace, U - h(U - R) + (misses - (1 - h)U) + (hits - hR) = C.
 */
function meanSteps() {
	const h = result.headline,
		[u, c, r] = ["u", "c", "r"].map((key) => mainTiming(result.runs[runIndex(h[key])]).mean_ns);
	const misses = h.time_waiting * c,
		hits = c - misses;

	return {
		u,
		c,
		r,
		misses,
		saved: -h.cover * (u - r),
		penalty: misses - (1 - h.cover) * u,
		tax: hits - h.cover * r,
		floor: h.cover * r,
	};
}

function step(label, text, from, to, scale, kind) {
	const low = Math.min(from, to),
		wide = Math.abs(to - from);

	return el(
		"div",
		{ class: "row " + kind },
		el("span", { class: "name" }, label),
		el("span", { class: "mean" }, text),
		el(
			"span",
			{ class: "track", "aria-hidden": "true" },
			el("span", {
				class: "fill",
				style: `margin-left:min(${((low / scale) * 100).toFixed(3)}%, 100% - 3px);width:${((wide / scale) * 100).toFixed(3)}%`,
			}),
		),
	);
}

function at(key) {
	const i = runIndex(result.headline[key]);

	return datum(["runs", i, timingName(result.runs[i]), "mean_ns"], time);
}

function waterfall(s) {
	const after = s.u + s.saved,
		scale = Math.max(s.u, s.c, after + s.penalty);

	return el(
		"div",
		{ class: "bars steps" },
		step("Without cache", at("u"), 0, s.u, scale, "without"),
		step("Hidden by hits", signedTime(s.saved), s.u, after, scale, "less"),
		step(
			"Misses, over a plain disk",
			signedTime(s.penalty),
			after,
			after + s.penalty,
			scale,
			"more",
		),
		step("Going through the cache", signedTime(s.tax), after + s.penalty, s.c, scale, "more"),
		step("With xpcache", at("c"), 0, s.c, scale, "with"),
		step("Fast drive: the floor", at("r"), 0, s.r, scale, "fast"),
	);
}

// The same for what is left, which is a sliver above.
function whatIsLeft(s) {
	const row = (label, ns, from, kind) =>
		step(label, `${time(ns)} \u00b7 ${percent(ns / s.c)}`, from, from + ns, s.c, kind);

	return el(
		"div",
		{ class: "bars steps" },
		row("Misses", s.misses, 0, "misses"),
		row("Hits, at the drive\u2019s own time", s.floor, s.misses, "hits"),
		row("Hits, through the cache", Math.max(0, s.tax), s.misses + s.floor, "more"),
	);
}

function plainFigure(title, picture, words) {
	return el(
		"figure",
		{},
		el("div", { class: "bar" }, el("h3", {}, title)),
		picture,
		el("figcaption", {}, words),
	);
}

function waterfallSection() {
	if (!result.headline || headlineRuns().length < 3) return null;
	const s = meanSteps();

	return section("waterfall", "Where the time goes", "The mean latency, taken apart.", [
		plainFigure(
			"From uncached to cached",
			waterfall(s),
			"Each request\u2019s share of the mean, on one scale. The steps add up exactly.",
		),
		plainFigure("What is left, enlarged", whatIsLeft(s), [
			"The mean with xpcache, ",
			at("c"),
			", over the whole width. \u201cThrough the cache\u201d is here by the mean; above, by the median.",
		]),
	]);
}
