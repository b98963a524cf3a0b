// SPDX-License-Identifier: GPL-2.0-only
// percentiles.js - latency from the fastest request to the slowest, runs over each other.

// Fine enough for the axis of percents and for that of nines, which goes to 7.
const SHARES = (() => {
	const all = new Set();

	for (let i = 0; i < 400; i++) all.add(i / 400);
	for (let i = 0; i <= 700; i++) all.add(1 - Math.pow(10, -i / 100));
	return [...all].sort((a, b) => a - b);
})();

const nines = (share) => -Math.log10(1 - share);
const NINES_NAME = ["0", "90%", "99%", "99.9%", "99.99%", "99.999%", "99.9999%", "99.99999%"];

// What is drawn: each run's service time, and of open loop that from the intended start.
function percentileLines(all) {
	return all.flatMap(({ run, which, timing, rate }) => {
		const { colour: stroke, dash } = look(run);
		const lines = [
			{ run, which, timing, label: `${run.label} \u00b7 ${iops(rate)}`, stroke, dash },
		];

		if (run.intended && run.op !== "mixed")
			lines.push({
				run,
				which: "intended",
				timing: run.intended,
				label: `${run.label}, from the intended start`,
				stroke,
				dash: [2, 3],
			});
		return lines;
	});
}

// null where too few requests are left to say.
function percentileData(lines, by) {
	const last = Math.max(...lines.map(({ timing }) => lastKnown(timing)));
	const shares = by === "nines" ? SHARES.filter((s) => s <= last) : [...SHARES, 1];
	const x = shares.map((s) => (by === "nines" ? nines(s) : s * 100));

	return [
		x,
		...lines.map(({ timing }) => {
			const y = (by === "time" ? byTime : byCount)(timing)(shares);

			return by === "time"
				? y
				: y.map((ns, i) => (shares[i] <= lastKnown(timing) ? Math.max(1, ns) : null));
		}),
	];
}

// Between what it was and what it is: only where it is better.
function gap(lines) {
	const at = (leg) => lines.findIndex(({ run, which }) => run.leg === leg && which !== "intended") + 1;

	return at("U") && at("C") ? [{ series: [at("U"), at("C")], fill: faded("with", 0.13) }] : [];
}

function percentileChart(lines, state) {
	const x = {
		count: { label: "Requests, fastest first (%)", text: (v) => v + "%" },
		time: {
			label: "Time spent waiting, on the fastest requests first (%)",
			text: (v) => v + "%",
		},
		nines: {
			label: "Requests, each step ten times rarer",
			text: (v) => NINES_NAME[v] || "",
			splits: (u, i, min, max) =>
				NINES_NAME.map((_, n) => n).filter((n) => n >= min && n <= max),
		},
	}[state.by];

	return {
		data: percentileData(lines, state.by),
		options: {
			scales: {
				x: linearScale(whole),
				y: state.scale === "log" ? logScale(decadesAbout) : linearScale(fromZero),
			},
			axes: [
				axis({ side: BOTTOM, ...x, space: state.by === "nines" ? 40 : 64 }),
				axis({
					label: "Latency",
					text: timeText,
					splits: state.scale === "log" ? decades : undefined,
				}),
			],
			series: [
				{
					label:
						state.by === "time"
							? "Share of the time"
							: "Share of requests",
					value: (u, v) =>
						v === null
							? ""
							: state.by === "nines"
								? nineText(v)
								: v.toFixed(1) + "%",
				},
				...lines.map((l) =>
					line(l.label, l.stroke, {
						dash: l.dash,
						value: (u, v) => (v === null ? "" : time(v)),
					}),
				),
			],
			bands: gap(lines),
		},
	};
}

function nineText(n) {
	return ((1 - Math.pow(10, -n)) * 100).toFixed(Math.min(6, Math.max(1, Math.ceil(n)))) + "%";
}

const TIME_SHARES = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

function percentileNumbers(lines, state) {
	if (state.by === "time")
		return [
			["", ...TIME_SHARES.map((s) => `${s * 100}% of the time`)],
			lines.map((l) => [l.label, ...byTime(l.timing)(TIME_SHARES).map((ns) => time(ns))]),
		];
	return [
		["", ...QUANTILES.map(quantileName)],
		lines.map((l) => {
			const path = ["runs", result.runs.indexOf(l.run), l.which];

			return [l.label, ...QUANTILES.map((q) => quantile(path, l.timing, q))];
		}),
	];
}

function percentileFigure(group) {
	const lines = percentileLines(group.sides);
	const legs = group.sides.map(({ run }) => run.leg);

	return figure({
		title: group.name,
		words:
			legs.includes("U") && legs.includes("C")
				? "The shaded gap is the wait that the cache takes away."
				: "Lines end where fewer than ten requests are left beyond.",
		state: { by: "count", scale: "log" },
		choices: [
			[
				"Across",
				"by",
				[
					["count", "By count"],
					["time", "By time"],
					["nines", "Nines"],
				],
			],
			["Latency axis", "scale", SCALES],
		],
		chart: (state) => percentileChart(lines, state),
		numbers: (state) => percentileNumbers(lines, state),
	});
}

const OVERLAID = ["headline", "percentile", "distribution", "background", "swap"];

function percentileSection() {
	return section(
		"percentiles",
		"Percentiles",
		[
			"How long a request takes, from the fastest to the slowest.",
			el(
				"span",
				{ class: "hint" },
				" Drag across a chart to zoom, double-click to go back.",
			),
		],
		alike(OVERLAID).map(percentileFigure),
	);
}
