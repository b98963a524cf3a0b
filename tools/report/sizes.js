// SPDX-License-Identifier: GPL-2.0-only
// sizes.js - the same figure against the size of a request, and against how many at a time.

const METRICS = {
	rate: { text: "MB/s", label: "Throughput (MB/s)", value: (run) => run.bytes_per_second / 1e6, show: (v) => digits3(v) + "\u00a0MB/s", tick: plainCount },
	iops: { text: "IOPS", label: "I/Os per second", value: (run) => run.iops, show: iops, tick: plainCount },
	mean: { text: "Mean", label: "Mean latency", value: (run) => mainTiming(run).mean_ns, show: time, tick: timeText },
	...Object.fromEntries(["50", "99", "99.999"].map((q) => ["p" + q, { text: quantileName(q).replace("m", "M"), label: `Latency, ${quantileName(q)}`,
		value: (run) => mainTiming(run).percentiles[q], show: time, tick: timeText }])),
};

const TEST_TITLE = { random: "Random", sequential: "Sequential", "transfer-size": "Transfer size" };

function together(run) {
	return run.depth * run.threads;
}

// Every figure of one test: runs that differ along one axis only.
function sweeps(test) {
	const groups = new Map();

	for (const run of result.runs) {
		if (run.test !== test || !mainTiming(run))
			continue;
		const unaligned = run.align % Math.min(run.size, 4096) !== 0, name = `${run.pattern} ${run.op}`;
		const add = (key, title, x) => {
			const group = groups.get(key) || { title, x, runs: [] };

			group.runs.push(run);
			groups.set(key, group);
		};

		if (together(run) === 1)
			add(`size ${name} ${unaligned}`, `${name}${unaligned ? `, aligned to ${sizeName(run.align)}` : ""}, one at a time`, "size");
		add(`depth ${name} ${run.size} ${unaligned}`, `${sizeName(run.size)} ${name}`, "depth");
	}
	return [...groups.values()].filter((g) => new Set(g.runs.map((run) => (g.x === "size" ? run.size : together(run)))).size > 1);
}

function sweepLines(runs) {
	const lines = new Map();

	for (const run of runs) {
		const key = run.leg || run.device;

		lines.set(key, [...(lines.get(key) || []), run]);
	}
	return [...lines.values()];
}

function sweepChart(group, state) {
	const metric = METRICS[state.metric], at = (run) => (group.x === "size" ? run.size : together(run));
	const lines = sweepLines(group.runs), x = [...new Set(group.runs.map(at))].sort((a, b) => a - b);
	const y = lines.map((runs) => x.map((v) => {
		const run = runs.find((r) => at(r) === v);

		return run ? metric.value(run) : null;
	}));

	return {
		data: [x, ...y], height: 270,
		options: {
			scales: { x: { ...logScale((u, min, max) => [min, max]), log: 2 }, y: state.scale === "log" ? logScale(decadesAbout) : linearScale(fromZero) },
			axes: [axis({ side: BOTTOM, label: group.x === "size" ? "Size of a request (bytes)" : "Requests at a time", splits: doublings, space: 24,
				text: group.x === "size" ? (v) => sizeName(v).replace("\u00a0B", "") : String }),
			axis({ label: metric.label, text: metric.tick, splits: state.scale === "log" ? decades : undefined })],
			series: [{ label: group.x === "size" ? "Size" : "At a time", value: (u, v) => (v === null ? "" : group.x === "size" ? sizeName(v) : String(v)) },
				...lines.map(([run]) => line(run.label, look(run).colour, { dash: look(run).dash, points: { show: true, size: 5 },
					value: (u, v) => (v === null ? "" : metric.show(v)) }))],
		},
	};
}

function sweepNumbers(group) {
	const rows = group.runs.map((run) => {
		const path = ["runs", result.runs.indexOf(run)], timing = [...path, timingName(run)];

		return [`${run.label}, ${group.x === "size" ? sizeName(run.size) : count(together(run)) + " at a time"}`,
			datum([...path, "bytes_per_second"], megabytes), datum([...path, "iops"], iops), datum([...timing, "mean_ns"], time),
			...["50", "99", "99.999"].map((q) => quantile(timing, mainTiming(run), q))];
	});

	return [["", "MB/s", "IOPS", "Mean", "Median", "p99", "p99.999"], rows];
}

function sweepFigures(test, state, redraws) {
	return sweeps(test).map((group) => figure({
		title: group.title[0].toUpperCase() + group.title.slice(1),
		words: `${sweepLines(group.runs).map(([run]) => run.label).join(", ")}; the table has the figures.`, note: "", state, redraws,
		chart: () => sweepChart(group, state), numbers: () => sweepNumbers(group),
	}));
}

// One pair of switches for all of them.
function sizesSection() {
	const state = { metric: "rate", scale: "log" }, redraws = [], redraw = () => redraws.forEach((draw) => draw());
	const parts = Object.keys(TEST_TITLE).map((test) => [test, sweepFigures(test, state, redraws)]).filter(([, figures]) => figures.length);

	if (!parts.length)
		return null;
	return section("sizes", "Sizes and depths", "From small requests to large, from one at a time to many.", [
		el("div", { class: "choices" },
			choice("What is drawn", Object.entries(METRICS).map(([key, m]) => [key, m.text]), state, "metric", redraw),
			choice("Its axis", SCALES, state, "scale", redraw)),
		...parts.flatMap(([test, figures]) => [el("h3", { class: "part" }, TEST_TITLE[test]), el("div", { class: "two" }, figures)])]);
}
