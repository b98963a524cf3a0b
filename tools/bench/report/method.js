// SPDX-License-Identifier: GPL-2.0-only
// method.js - warnings, and how it was measured: what one needs to believe it, or to do it again.

function warnings() {
	if (!result.warnings.length) return null;
	return el(
		"ul",
		{ class: "warnings", "aria-label": "Warnings" },
		result.warnings.map((w) => el("li", { "data-code": w.code }, w.text)),
	);
}

function known(path, format) {
	return datum(path, format || String);
}

function deviceWords(d, i) {
	const path = ["target", "devices", i];
	const words = [
		d.model === null ? null : known([...path, "model"]),
		known([...path, "bytes"], bytes),
		d.scheduler === null ? null : ["scheduler ", known([...path, "scheduler"])],
		d.rotational === null ? null : d.rotational ? "rotating" : "not rotating",
		d.volatile_cache === null ? null : d.volatile_cache ? "volatile cache" : "no volatile cache",
	];

	return [el("code", {}, d.path), ...words.filter((w) => w !== null).map((w) => [", ", w])].flat();
}

function cacheWords(when) {
	const c = result.target.cache[when],
		path = ["target", "cache", when];

	if (!c) return "not known";
	const part = (n) => (c.slots ? ` (${percent(n / c.slots)})` : "");

	return [
		known([...path, "slots"], count),
		" blocks: ",
		known([...path, "clean"], count),
		` clean${part(c.clean)}, `,
		known([...path, "dirty"], count),
		` dirty${part(c.dirty)}, `,
		known([...path, "free"], count),
		` free${part(c.free)}`,
	];
}

function span(values, format) {
	const least = Math.min(...values),
		most = Math.max(...values);

	return format(least) + (most > least ? " to " + format(most) : "");
}

function runWords() {
	const runs = result.runs,
		all = (key) => [...new Set(runs.map((run) => run[key]))].sort();
	const samples = runs.reduce(
		(sum, run) => sum + (run.read ? run.read.count : 0) + (run.write ? run.write.count : 0),
		0,
	);
	const errors = runs.reduce((sum, run) => sum + run.errors, 0);

	return [
		[
			"Runs",
			`${count(runs.length)}, of ${span(
				runs.map((run) => run.seconds),
				seconds,
			)}; the first ` +
				`${span(
					runs.map((run) => run.dropped_seconds),
					seconds,
				)} of each dropped`,
		],
		[
			"Samples",
			`${count(samples)}, each timed from submission to completion; ${errors ? count(errors) + " I/O errors" : "no I/O errors"}`,
		],
		[
			"I/O",
			`${all("engine").join(" and ")}, ${runs.every((run) => run.direct) ? "direct" : runs.some((run) => run.direct) ? "direct and buffered" : "buffered"}, seed ${result.seed}`,
		],
	];
}

// What was done to the devices before is among the runs.
function preconditioning() {
	const before = result.runs.filter((run) => run.test === "precondition");

	return before.length ? `${workload(before[0])}, ${count(before.length)} runs` : "none";
}

function hostRows() {
	const h = result.host;

	return [
		[
			"Processor",
			[
				known(["host", "cpu"]),
				h.cpus ? [", ", known(["host", "cpus"], count), " logical"] : [],
				h.memory_bytes
					? [", ", known(["host", "memory_bytes"], bytes), " of memory"]
					: [],
			].flat(),
		],
		["Kernel", known(["host", "kernel"])],
		["Governor", known(["host", "governor"])],
		["Clock source", known(["host", "clocksource"])],
	];
}

const ROLE = { cached: "Cached device", slow: "Slow device", fast: "Fast device", device: "Device" };

function methodSection() {
	const rows = [
		["Command", el("code", {}, result.command)],
		[
			"Version",
			[
				known(["version"]),
				", ",
				el(
					"time",
					{ datetime: result.date },
					result.date.replace("T", " ").replace("Z", " UTC"),
				),
			],
		],
		...runWords(),
		["Preconditioning", preconditioning()],
		...hostRows(),
		...result.target.devices.map((d, i) => [ROLE[d.role] || d.role, deviceWords(d, i)]),
		...(result.target.cache
			? [
					["Cache before", cacheWords("before")],
					["Cache after", cacheWords("after")],
				]
			: []),
	];

	return section("method", "Method", null, [
		el(
			"dl",
			{},
			rows.map(([name, words]) => el("div", {}, el("dt", {}, name), el("dd", {}, words))),
		),
		allRuns(),
	]);
}
