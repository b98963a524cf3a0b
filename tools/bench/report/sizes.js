// SPDX-License-Identifier: GPL-2.0-only
// sizes.js - the same figure against the size of a request, and against how many at a time,
// and against how many of them read.

// Of { run, which, timing, rate }, as sides() has it.
const METRICS = {
	rate: {
		text: "MB/s",
		label: "Throughput (MB/s)",
		value: (s) => (s.rate * s.run.size) / 1e6,
		show: (v) => digits3(v) + "\u00a0MB/s",
		tick: plainCount,
	},
	iops: { text: "IOPS", label: "I/Os per second", value: (s) => s.rate, show: iops, tick: plainCount },
	mean: {
		text: "Mean",
		label: "Mean latency",
		value: (s) => s.timing.mean_ns,
		show: time,
		tick: timeText,
	},
	...Object.fromEntries(
		["50", "99", "99.999"].map((q) => [
			"p" + q,
			{
				text: quantileName(q).replace("m", "M"),
				label: `Latency, ${quantileName(q)}`,
				value: (s) => s.timing.percentiles[q],
				show: time,
				tick: timeText,
			},
		]),
	),
};

const ACROSS = {
	size: {
		of: (run) => run.size,
		name: sizeName,
		label: "Size of a request (bytes)",
		text: (v) => sizeName(v).replace("\u00a0B", ""),
	},
	depth: {
		of: together,
		name: (v) => `${count(v)} at a time`,
		label: "Requests at a time",
		text: String,
	},
	share: {
		of: (run) => run.read_percent,
		name: (v) => v + "% reads",
		label: "Reads among the requests (%)",
		text: (v) => v + "%",
	},
};

const TEST_TITLE = {
	random: "Random",
	sequential: "Sequential",
	"transfer-size": "Transfer size",
	mixed: "Mixed",
};

function together(run) {
	return run.depth * run.threads;
}

// The figures that a point belongs to: [what goes across, title].
function places(side) {
	const { run } = side,
		unaligned = run.align % Math.min(run.size, 4096) !== 0,
		name = `${run.pattern} ${run.op}`;
	const aligned = unaligned ? `, aligned to ${sizeName(run.align)}` : "";

	if (run.test === "mixed")
		return [["share", `${side.which}s, ${sizeName(run.size)} ${run.pattern}, ${atATime(run)}`]];
	return [
		...(together(run) === 1 ? [["size", `${name}${aligned}, one at a time`]] : []),
		["depth", `${sizeName(run.size)} ${name}${aligned}`],
	];
}

// Every figure of one test: what differs along one axis only.
function sweeps(test) {
	const groups = new Map();

	for (const side of result.runs.filter((run) => run.test === test).flatMap(sides)) {
		for (const [x, title] of places(side)) {
			const group = groups.get(title) || {
				title,
				across: ACROSS[x],
				linear: x === "share",
				sides: [],
			};

			group.sides.push(side);
			groups.set(title, group);
		}
	}
	return [...groups.values()].filter(
		(g) => new Set(g.sides.map(({ run }) => g.across.of(run))).size > 1,
	);
}

// A line for each leg or device.
function byDevice(all) {
	const lines = new Map();

	for (const side of all) {
		const key = side.run.leg || side.run.device;

		lines.set(key, [...(lines.get(key) || []), side]);
	}
	return [...lines.values()];
}

function sweepData(group, lines, metric) {
	const { of } = group.across,
		x = [...new Set(group.sides.map(({ run }) => of(run)))].sort((a, b) => a - b);

	return [
		x,
		...lines.map((all) =>
			x.map((v) => {
				const side = all.find(({ run }) => of(run) === v);

				return side ? metric.value(side) : null;
			}),
		),
	];
}

function sweepChart(group, state) {
	const metric = METRICS[state.metric],
		{ across } = group,
		lines = byDevice(group.sides);

	return {
		data: sweepData(group, lines, metric),
		height: 270,
		options: {
			scales: {
				x: group.linear ? linearScale(whole) : { ...logScale(whole), log: 2 },
				y: state.scale === "log" ? logScale(decadesAbout) : linearScale(fromZero),
			},
			axes: [
				axis({
					side: BOTTOM,
					label: across.label,
					text: across.text,
					...(group.linear ? {} : { splits: doublings, space: 24 }),
				}),
				axis({
					label: metric.label,
					text: metric.tick,
					splits: state.scale === "log" ? decades : undefined,
				}),
			],
			series: [
				{ label: across.label, value: (u, v) => (v === null ? "" : across.name(v)) },
				...lines.map(([{ run }]) =>
					line(run.label, look(run).colour, {
						dash: look(run).dash,
						points: { show: true, size: 5 },
						value: (u, v) => (v === null ? "" : metric.show(v)),
					}),
				),
			],
		},
	};
}

function sweepNumbers(group) {
	const rows = group.sides.map((side) => {
		const { run, which, timing } = side,
			path = ["runs", result.runs.indexOf(run)];

		return [
			`${run.label}, ${group.across.name(group.across.of(run))}`,
			METRICS.rate.show(METRICS.rate.value(side)),
			iops(side.rate),
			datum([...path, which, "mean_ns"], time),
			...["50", "99", "99.999"].map((q) => quantile([...path, which], timing, q)),
		];
	});

	return [["", "MB/s", "IOPS", "Mean", "Median", "p99", "p99.999"], rows];
}

function sweepFigures(test, state, redraws) {
	return sweeps(test).map((group) =>
		figure({
			title: group.title[0].toUpperCase() + group.title.slice(1),
			words: `${byDevice(group.sides)
				.map(([{ run }]) => run.label)
				.join(", ")}; the table has the figures.`,
			note: "",
			state,
			redraws,
			chart: () => sweepChart(group, state),
			numbers: () => sweepNumbers(group),
		}),
	);
}

// One pair of switches for all of them.
function sizesSection() {
	const state = { metric: "rate", scale: "log" },
		redraws = [],
		redraw = () => redraws.forEach((draw) => draw());
	const parts = Object.keys(TEST_TITLE)
		.map((test) => [test, sweepFigures(test, state, redraws)])
		.filter(([, figures]) => figures.length);

	if (!parts.length) return null;
	return section(
		"sizes",
		"Sizes and depths",
		"From small requests to large, from one at a time to many.",
		[
			el(
				"div",
				{ class: "choices" },
				choice(
					"What is drawn",
					Object.entries(METRICS).map(([key, m]) => [key, m.text]),
					state,
					"metric",
					redraw,
				),
				choice("Its axis", SCALES, state, "scale", redraw),
			),
			...parts.flatMap(([test, figures]) => [
				el("h3", { class: "part" }, TEST_TITLE[test]),
				el("div", { class: "two" }, figures),
			]),
		],
	);
}
