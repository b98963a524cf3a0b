// SPDX-License-Identifier: GPL-2.0-only
// headline.js - the answer: one sentence, three bars, and what it does not say by itself.

const VERDICT_MOOD = {
	"As fast as the fast drive": "good",
	"Mostly hidden": "good",
	"Partly hidden": "fair",
	"Not helping": "poor",
	"Slower than no cache": "poor",
};

function headlineRuns() {
	const h = result.headline;

	return [h.u, h.c, h.r]
		.map(runIndex)
		.filter((at) => at >= 0)
		.map((at) => ({ at, run: result.runs[at] }));
}

// The mean of each of @all, { run, which, timing }; @beside(run): a remark.
function bars(all, beside) {
	const longest = Math.max(...all.map(({ timing }) => timing.mean_ns));

	return el(
		"div",
		{ class: "bars" },
		all.map(({ run, which, timing }) =>
			el(
				"div",
				{ class: "row" + (run.leg === "C" ? " with" : "") },
				el("span", { class: "name" }, run.label),
				el(
					"span",
					{ class: "mean" },
					datum(["runs", result.runs.indexOf(run), which, "mean_ns"], time),
				),
				el(
					"span",
					{ class: "track", "aria-hidden": "true" },
					el("span", {
						class: "fill",
						style: `width:${((timing.mean_ns / longest) * 100).toFixed(3)}%;background:var(--${look(run).colour})`,
					}),
				),
				el("span", { class: "beside" }, beside(run)),
			),
		),
	);
}

function threeBars() {
	const beside = {
		C: [datum(["headline", "faster"], times), " as fast"],
		R: [datum(["headline", "limit"], times), " is the limit"],
	};

	return bars(
		headlineRuns().map(({ run }) => sides(run)[0]),
		(run) => beside[run.leg] || "",
	);
}

function tile(value, label, words) {
	return el(
		"div",
		{ class: "tile" },
		el("div", { class: "value" }, value),
		el("div", { class: "label" }, label),
		words ? el("div", { class: "words" }, words) : null,
	);
}

function unknown(why) {
	return el("span", { class: "none" }, why);
}

function hidden(name) {
	if (result.headline.hidden[name] !== null) return datum(["headline", "hidden", name], percent);
	const few = headlineRuns().some(({ run }) => mainTiming(run).percentiles[name] === null);

	return unknown(few ? "too few samples" : "not meaningful");
}

function tiles() {
	const h = result.headline;

	return el(
		"div",
		{ class: "tiles" },
		tile(
			hidden("mean"),
			"of the disk\u2019s wait hidden",
			"of what the fast drive could hide, by the mean",
		),
		tile(
			datum(["headline", "time_waiting"], percent),
			"of the wait that is left is misses",
			"requests that wait for the disk",
		),
		tile(
			datum(["headline", "cover"], percent),
			"answered at the fast drive\u2019s pace",
			h.hit_ratio === null
				? "by the histogram"
				: ["the cache itself counted ", datum(["headline", "hit_ratio"], percent)],
		),
		tile(
			h.tax_ns === null ? unknown("not known") : datum(["headline", "tax_ns"], signedTime),
			"for going through the cache",
			"median hit, over the bare fast drive",
		),
	);
}

// "1 in 37 reads still waits for the disk; those are 96.1% of the waiting left."
function honest() {
	const h = result.headline,
		missing = 1 - h.cover;
	const what = headlineRuns().some(({ run }) => run.op === "write") ? "write" : "read";

	if (!(missing > 0)) return `No ${what} waited for the disk.`;
	if (h.hit_ratio !== null && h.hit_ratio >= 1)
		return [
			`No ${what} waited for the disk, but 1 in ${count(1 / missing)} took as long: `,
			datum(["headline", "time_waiting"], percent),
			" of the waiting left.",
		];
	if (missing > 0.5)
		return [
			`${percent(missing)} of the ${what}s wait for the disk; those are `,
			datum(["headline", "time_waiting"], percent),
			" of the waiting.",
		];
	return [
		`1 in ${count(1 / missing)} ${what}s still waits for the disk; those are `,
		datum(["headline", "time_waiting"], percent),
		" of the waiting left.",
	];
}

function headlineTable() {
	const columns = ["", "Mean", ...QUANTILES.map(quantileName), "Samples"];
	const rows = headlineRuns().map(({ at, run }) => {
		const path = ["runs", at, timingName(run)];

		return [
			run.label,
			datum([...path, "mean_ns"], time),
			...QUANTILES.map((q) => quantile(path, mainTiming(run), q)),
			datum([...path, "count"], count),
		];
	});
	const part = (q) => (q in result.headline.hidden ? hidden(q) : "");

	rows.push(["Hidden", hidden("mean"), ...QUANTILES.map(part), ""]);
	return table(columns, rows, "Latency by percentile");
}

function headlineSection() {
	const h = result.headline,
		legs = h ? headlineRuns() : [];

	if (!legs.length) return null;
	return el(
		"section",
		{ id: "headline", class: "headline" },
		el("p", { class: "verdict " + (VERDICT_MOOD[h.verdict] || "fair") }, h.verdict),
		el("h1", {}, h.sentence.replace(/'/g, "\u2019")),
		el("p", { class: "under" }, `${workload(legs[0].run)}; mean latency, less is better`),
		threeBars(),
		el("p", { class: "honest" }, honest()),
		tiles(),
		headlineTable(),
	);
}

// Without a headline the page is about the devices themselves.
function devicesSection() {
	const list = result.target.devices,
		name = (d) =>
			(result.runs.find((run) => run.device === d.path) || {}).label || d.model || d.path;
	const title =
		result.target.kind === "cache"
			? result.target.name
			: list.length === 1
				? name(list[0])
				: `${list.length} devices, side by side`;
	const group = alike(OVERLAID).find((g) => together(g.sides[0].run) === 1);
	const key = (d, i) =>
		el("span", {}, el("i", { class: "key", style: `background:var(--device${i % 6})` }), name(d));

	return el(
		"section",
		{ id: "headline", class: "headline" },
		el("h1", {}, title),
		group
			? [
					el(
						"p",
						{ class: "under" },
						`${group.name}; mean latency, less is better`,
					),
					bars(group.sides, ({ iops: rate }) => iops(rate)),
				]
			: null,
		table(
			["", "Path", "Size"],
			list.map((d, i) => [key(d, i), d.path, bytes(d.bytes)]),
			"Devices",
		),
	);
}
