// SPDX-License-Identifier: GPL-2.0-only
// hour.js - the last hour: latency by class, as a heat map, and what of it the cache answered.

const FIGURES = [
	["p50", "Median"],
	["p99", "p99"],
	["mean", "Mean"],
];
const KINDS = [
	["read_heat", "Reads"],
	["write_heat", "Writes"],
];

const minutesAgo = (c) => (c.time - view.answer.time) / 60;
const minutesText = (v) => (v === 0 ? "now" : `${-v} min`);

function hourAxis() {
	return axis({ side: BOTTOM, label: "Ago", text: minutesText });
}

const hourScale = () => linearScale(() => [-60, 0]);
const inMinutes = { label: "Ago", value: (u, v) => (v === null ? "" : `${Math.round(-v)} min`) };

// A column that is missing is a gap, not a slope.
function spaced(columns, values) {
	const x = [],
		y = values.map(() => []);

	columns.forEach((c, i) => {
		const before = columns[i - 1];

		if (before && c.time - before.time > 2.5 * c.seconds + 5) {
			x.push(minutesAgo(before) + 0.01);
			y.forEach((all) => all.push(null));
		}
		x.push(minutesAgo(c));
		y.forEach((all, k) => all.push(values[k](c)));
	});
	return [x, ...y];
}

const ofClass = (name, key) => (c) => (c.classes[name] ? c.classes[name][key] : null);
const held = (columns) => REQUESTS.filter((name) => columns.some((c) => c.classes[name]));

function latencyChart({ key }) {
	const columns = shownHour(),
		names = held(columns);

	return {
		data: spaced(columns, names.map((name) => ofClass(name, key))),
		height: 320,
		sync: "hour",
		options: {
			scales: { x: hourScale(), y: logScale(decadesAbout) },
			axes: [hourAxis(), axis({ label: "Latency", text: timeText, splits: decades })],
			series: [
				inMinutes,
				...names.map((name) =>
					line(CLASSES[name][0], CLASSES[name][1], {
						value: (u, v) => (v === null ? "" : time(v)),
						points: { show: (u) => u.data[0].length < 30, size: 5 },
					}),
				),
			],
		},
	};
}

function latencyNumbers({ key }) {
	const columns = thinned(shownHour(), 12),
		names = held(columns);

	return [
		["", ...names.map((name) => CLASSES[name][0])],
		columns.map((c) => [
			`${Math.round(-minutesAgo(c))} min ago`,
			...names.map((name) => orDash(ofClass(name, key)(c), time)),
		]),
	];
}

function heatChart({ kind }) {
	const columns = shownHour().map((c) => ({ ...c, heat: c[kind] }));
	const any = columns.some((c) => c.heat.length > 0);

	return {
		data: spaced(columns, [() => null]),
		height: 320,
		sync: "hour",
		options: {
			scales: { x: hourScale(), y: logScale(any ? heatRange(columns) : () => [1e3, 1e7]) },
			axes: [hourAxis(), axis({ label: "Latency", text: timeText, splits: decades })],
			series: [inMinutes, line("Requests", "heat", { value: () => "" })],
			plugins: any ? [heatMap(columns, (c) => [minutesAgo(c) - c.seconds / 60, minutesAgo(c)])] : [],
			legend: { show: false },
		},
	};
}

function heatNumbers({ kind }) {
	return [
		["", "Requests", "Shortest", "Longest"],
		thinned(shownHour(), 12).map((c) => {
			const bins = c[kind];

			return [
				`${Math.round(-minutesAgo(c))} min ago`,
				count(bins.reduce((sum, [, n]) => sum + n, 0)),
				bins.length ? time(heatEdge(bins[0][0])) : DASH,
				bins.length ? time(heatEdge(bins[bins.length - 1][0] + 1)) : DASH,
			];
		}),
	];
}

const HITS = [
	["Hits, of reads", "hits", (c) => (c.hit_ratio === null ? null : c.hit_ratio * 100)],
	["Hits, of their time", "misses", (c) => (c.hit_ratio_by_time === null ? null : c.hit_ratio_by_time * 100)],
	["Slots dirty", "device4", (c) => (c.dirty_ratio === null ? null : c.dirty_ratio * 100)],
];

function hitsChart() {
	return {
		data: spaced(shownHour(), HITS.map(([, , of]) => of)),
		height: 240,
		sync: "hour",
		options: {
			scales: { x: hourScale(), y: linearScale(() => [0, 100]) },
			axes: [hourAxis(), axis({ label: "Part", text: (v) => v + "%" })],
			series: [
				inMinutes,
				...HITS.map(([label, tone]) =>
					line(label, tone, {
						value: (u, v) => (v === null ? "" : v.toFixed(1) + "%"),
						points: { show: (u) => u.data[0].length < 30, size: 5 },
					}),
				),
			],
		},
	};
}

function hitsNumbers() {
	return [
		["", ...HITS.map(([label]) => label)],
		thinned(shownHour(), 12).map((c) => [
			`${Math.round(-minutesAgo(c))} min ago`,
			...HITS.map(([, , of]) => orDash(of(c), (v) => v.toFixed(1) + "%")),
		]),
	];
}

function hourSection() {
	return el(
		"section",
		{ id: "hour" },
		el("h2", {}, "The last hour"),
		figure({
			title: "Latency by class",
			words: "Each point is ten seconds of requests; a class is shown where there were enough of them.",
			choices: [["Figure", "key", FIGURES]],
			state: { key: "p50" },
			chart: latencyChart,
			numbers: latencyNumbers,
		}),
		figure({
			title: "Where latencies lie",
			words: "Each column is ten seconds of requests: darker is more.",
			choices: [["Requests", "kind", KINDS]],
			state: { kind: "read_heat" },
			chart: heatChart,
			numbers: heatNumbers,
		}),
		figure({
			title: "Hits, and what is dirty",
			words: "By reads and by the time they take: few misses can be most of the waiting.",
			chart: hitsChart,
			numbers: hitsNumbers,
		}),
	);
}
