// SPDX-License-Identifier: GPL-2.0-only
// working-set.js - is the cache big enough? Hits and latency against what is in use.

const SPREAD = {
	uniform: { label: "Uniform", colour: "device1" },
	zipf: { label: "Zipf", colour: "device0" },
};

function setData(rows, kinds, value) {
	const x = [...new Set(rows.map((r) => r.ratio))].sort((a, b) => a - b);
	const find = (ratio, kind) => rows.find((r) => r.ratio === ratio && r.distribution === kind);

	return [
		x,
		...kinds.map((kind) =>
			x.map((ratio) => {
				const row = find(ratio, kind);

				return row ? value(row) : null;
			}),
		),
	];
}

// Null where the set was not warm.
const hitsOf = (r) => (r.hit_ratio === null ? null : r.hit_ratio * 100);

function setChart(rows, value, y) {
	const kinds = Object.keys(SPREAD).filter((kind) => rows.some((r) => r.distribution === kind));

	return {
		data: setData(rows, kinds, value),
		height: 300,
		options: {
			scales: { x: { ...logScale(whole), log: 2 }, y: y.scale },
			axes: [
				axis({
					side: BOTTOM,
					label: "Data in use, in sizes of the cache",
					text: (v) => v + "\u00d7",
					splits: doublings,
					space: 30,
				}),
				axis({ label: y.label, text: y.text, splits: y.splits }),
			],
			series: [
				{
					label: "In use",
					value: (u, v) => (v === null ? "" : Number(v.toFixed(2)) + "\u00d7"),
				},
				...kinds.map((kind) =>
					line(SPREAD[kind].label, SPREAD[kind].colour, {
						points: { show: true, size: 7 },
						value: (u, v) => (v === null ? "" : y.value(v)),
					}),
				),
			],
			plugins: [mark(1, "size of the cache", true)],
		},
	};
}

function setRows(rows) {
	return rows.map((r, i) => [
		`${r.ratio}\u00d7, ${SPREAD[r.distribution] ? SPREAD[r.distribution].label : r.distribution}`,
		datum(["working_set", i, "hit_ratio"], percent),
		datum(["working_set", i, "mean_ns"], time),
	]);
}

function workingSetSection() {
	const rows = result.working_set;

	if (!rows || !rows.length) return null;
	const hits = {
		label: "Hits",
		text: (v) => v + "%",
		value: (v) => v.toFixed(1) + "%",
		scale: linearScale(() => [0, 100]),
	};
	const mean = {
		label: "Mean latency",
		text: timeText,
		value: time,
		scale: logScale(decadesAbout),
		splits: decades,
	};

	return section(
		"working-set",
		"Is the cache big enough?",
		"Reads of a part of the disk that is smaller or larger than the cache.",
		[
			el(
				"div",
				{ class: "two" },
				figure({
					title: "Hits",
					words: "Uniform: every block as likely. Zipf: some far more than others, as in life.",
					chart: () => setChart(rows, hitsOf, hits),
					numbers: () => [["In use", "Hits", "Mean"], setRows(rows)],
				}),
				figure({
					title: "Mean latency",
					words: "The same runs.",
					chart: () => setChart(rows, (r) => r.mean_ns, mean),
					numbers: () => [["In use", "Hits", "Mean"], setRows(rows)],
				}),
			),
		],
	);
}
