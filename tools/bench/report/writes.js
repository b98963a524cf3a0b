// SPDX-License-Identifier: GPL-2.0-only
// writes.js - latency while writing on and on, and of a device that fills.

// Where the mean leaves its level: three points in a row over three times the median so far. -1: nowhere.
// In a second that nothing ended in there is no mean, and it is no fast one.
function cliff(points) {
	const slow = (i) => {
		const before = points
			.slice(0, i)
			.map((p) => (p.mean_ns === null ? Infinity : p.mean_ns))
			.sort((a, b) => a - b);

		return (
			before.length >= 5 &&
			points.slice(i, i + 3).every((p) => p.mean_ns === null || p.mean_ns > 3 * before[before.length >> 1])
		);
	};

	return points.findIndex((p, i) => i + 2 < points.length && slow(i));
}

const latencyAxis = axis({ label: "Latency", text: timeText, splits: decades });
const inTime = (u, v) => (v === null ? "" : time(v));

function writesChart(points, edge) {
	return {
		data: [points.map((p) => p.gb), points.map((p) => p.mean_ns), points.map((p) => p.p99_ns)],
		options: {
			scales: { x: linearScale(whole), y: logScale(decadesAbout) },
			axes: [
				axis({ side: BOTTOM, label: "Written (GB)", text: (v) => String(v) }),
				latencyAxis,
			],
			series: [
				{ label: "Written", value: (u, v) => (v === null ? "" : digits3(v) + " GB") },
				line("Mean", "with", { value: inTime }),
				line("p99", "with", { width: 1, dash: [4, 3], value: inTime }),
			],
			plugins:
				edge < 0
					? []
					: [
							mark(
								points[edge].gb,
								`slower from ${digits3(points[edge].gb)} GB on`,
							),
						],
		},
	};
}

function writesFigure(w, i) {
	const run = result.runs.find((r) => r.id === w.run),
		edge = cliff(w.points),
		at = (point) => ["writes", i, "points", w.points.indexOf(point)];
	const rows = thinned(w.points, 14).map((p) => [
		datum([...at(p), "gb"], (v) => digits3(v) + "\u00a0GB"),
		datum([...at(p), "mean_ns"], time),
		datum([...at(p), "p99_ns"], time),
	]);

	return figure({
		title: run ? run.label : w.run,
		words: "Latency against what was written: the mean, and the 99th percentile dashed.",
		note: [
			"The mean, and the 99th percentile dashed. ",
			edge < 0
				? "It keeps its level to the end."
				: [
						"It leaves its level after ",
						datum([...at(w.points[edge]), "gb"], (v) => digits3(v) + "\u00a0GB"),
						".",
					],
		],
		chart: () => writesChart(w.points, edge),
		numbers: () => [["Written", "Mean", "p99"], rows],
	});
}

function writesSection() {
	const all = (result.writes || []).flatMap((w, i) => (w.points.length ? [writesFigure(w, i)] : []));

	return section("writes", "Writing on and on", "Latency, second by second, as more and more is written.", all);
}

function fillChart(rows) {
	const value = {
		Mean: (t) => t.mean_ns,
		p99: (t) => t.percentiles["99"],
		"p99.9": (t) => t.percentiles["99.9"],
	};

	return {
		data: [
			rows.map((r) => r.full * 100),
			...Object.values(value).map((of) => rows.map((r) => of(r.timing))),
		],
		options: {
			scales: { x: linearScale(whole), y: logScale(decadesAbout) },
			axes: [axis({ side: BOTTOM, label: "Full (%)", text: (v) => v + "%" }), latencyAxis],
			series: [
				{ label: "Full", value: (u, v) => (v === null ? "" : v + "%") },
				...Object.keys(value).map((name, i) =>
					line(name, "device" + i, {
						points: { show: true, size: 6 },
						value: inTime,
					}),
				),
			],
		},
	};
}

function fillFigure(rows) {
	const numbers = rows.map((r) => {
		const path = ["runs", result.runs.indexOf(r.run), r.which];

		return [
			datum(["fill", r.place, "full"], percent),
			datum([...path, "mean_ns"], time),
			...["50", "99", "99.9"].map((q) => quantile(path, r.timing, q)),
		];
	});

	return figure({
		title: rows[0].run.label,
		words: `${workload(rows[0].run)}: mean and two percentiles, by how full it is.`,
		chart: () => fillChart(rows),
		numbers: () => [["Full", "Mean", "Median", "p99", "p99.9"], numbers],
	});
}

function fillSection() {
	const rows = (result.fill || []).flatMap(({ full, run }, place) =>
		result.runs
			.filter((r) => r.id === run)
			.flatMap(sides)
			.map((side) => ({ ...side, full, place })),
	);

	return section(
		"fill",
		"As it fills",
		"Latency, by how much of the device has been written.",
		byDevice(rows).map(fillFigure),
	);
}
