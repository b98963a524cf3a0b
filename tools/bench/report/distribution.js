// SPDX-License-Identifier: GPL-2.0-only
// distribution.js - how many I/Os a second take how long: 50 bins a decade, not smoothed. The area is the IOPS.

const KINDS = { hits: ["read-hit"], misses: ["read-miss", "read-bypass"] };

// What the target's own histogram saw of leg C, scaled to C's rate: the two took other times to begin.
function split(run, rate) {
	const bins = {},
		requests = {};
	let all = 0;

	for (const [kind, classes] of Object.entries(KINDS)) {
		const seen = classes.map((c) => run.classes[c]).filter((timing) => timing && timing.count);

		requests[kind] = seen.reduce((sum, timing) => sum + timing.count, 0);
		bins[kind] = byDecade({ bins: seen.flatMap((timing) => timing.bins) });
		all += requests[kind];
	}
	return Object.keys(KINDS)
		.filter((kind) => requests[kind])
		.map((kind) => ({
			kind,
			label: `${run.label}: ${kind}`,
			rate: (requests[kind] / all) * rate,
			one: rate / all,
			y: bins[kind].map((n) => (n / all) * rate),
		}));
}

function distributionLines(all) {
	return all.flatMap(({ run, which, timing, rate }) => {
		const { colour: stroke, dash } = look(run),
			one = rate / timing.count;
		const lines = [
			{
				label: `${run.label} \u00b7 ${iops(rate)}`,
				stroke,
				dash,
				rate,
				one,
				y: byDecade(timing).map((n) => n * one),
			},
		];

		if (run.classes && which === "read")
			lines.push(
				...split(run, rate).map((part) => ({
					...part,
					stroke: part.kind,
					filled: true,
				})),
			);
		return lines;
	});
}

// A log axis has no zero: what is less than one request in the run, a part of a split bin or none, is drawn on it.
function distributionData(lines, scale) {
	const present = lines.flatMap((l) => l.y.map((n, i) => (n > 0 ? i : null)).filter((i) => i !== null));
	const from = Math.min(...present) - 3,
		to = Math.max(...present) + 3;
	const floor = Math.pow(10, Math.floor(Math.log10(Math.min(...lines.map((l) => l.one)))));
	const x = [];

	for (let i = from; i <= to; i++) x.push(Math.pow(10, (i + 0.5) / PER_DECADE));
	return [
		x,
		...lines.map((l) =>
			x
				.map((_, k) => l.y[from + k] || 0)
				.map((n) => (scale === "log" ? Math.max(n, floor) : n)),
		),
	];
}

function distributionChart(lines, state) {
	const of = { value: (u, v) => (v === null ? "" : digits3(v) + "/s") };

	return {
		data: distributionData(lines, state.scale),
		options: {
			scales: {
				x: logScale(whole),
				y: state.scale === "log" ? logScale(decadesAbout) : linearScale(fromZero),
			},
			axes: [
				axis({ side: BOTTOM, label: "Latency", text: timeText, splits: decades }),
				axis({
					label: "I/Os per second, per bin",
					text: plainCount,
					splits: state.scale === "log" ? decades : undefined,
				}),
			],
			series: [
				{ label: "Latency", value: (u, v) => (v === null ? "" : time(v)) },
				...lines.map((l) =>
					line(l.label, l.stroke, {
						...of,
						dash: l.dash,
						width: l.filled ? 1 : 1.6,
						fill: l.filled ? faded(l.stroke, 0.22) : undefined,
					}),
				),
			],
		},
	};
}

// I/Os a second by decade of latency: they add up to the IOPS.
function distributionNumbers(lines) {
	const decade = (i) => Math.floor(i / PER_DECADE);
	const used = [
		...new Set(
			lines.flatMap((l) =>
				l.y.map((n, i) => (n > 0 ? decade(i) : null)).filter((d) => d !== null),
			),
		),
	].sort((a, b) => a - b);
	const sum = (l, d) => l.y.reduce((s, n, i) => (decade(i) === d ? s + n : s), 0);
	const rate = (n) => (n > 0 ? digits3(n) : "");

	return [
		["I/Os per second", ...used.map((d) => "from " + timeText(Math.pow(10, d))), "all"],
		lines.map((l) => [l.label, ...used.map((d) => rate(sum(l, d))), rate(l.rate)]),
	];
}

function distributionFigure(group) {
	const lines = distributionLines(group.sides);

	return figure({
		title: group.name,
		words:
			"50 bins to the decade, not smoothed: the area under a line is its IOPS." +
			(lines.some((l) => l.filled)
				? " Hits and misses as the cache itself timed them."
				: ""),
		state: { scale: "log" },
		choices: [["Rate axis", "scale", SCALES]],
		chart: (state) => distributionChart(lines, state),
		numbers: () => distributionNumbers(lines),
	});
}

function distributionSection() {
	return section(
		"distribution",
		"Distribution",
		"Every request, by how long it took.",
		alike(OVERLAID).map(distributionFigure),
	);
}
