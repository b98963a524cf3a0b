// SPDX-License-Identifier: GPL-2.0-only
// runs.js - the runs of the result: found, named, coloured, and all of them as a table.

const LEGS = ["U", "C", "R"];
const LEG_COLOUR = { U: "without", C: "with", R: "fast" };

function runIndex(id) {
	return result.runs.findIndex((run) => run.id === id);
}

// What a run is drawn as: the leg's colour, or the device's.
function look(run) {
	if (run.leg) return { colour: LEG_COLOUR[run.leg], dash: run.leg === "R" ? [6, 4] : undefined };
	const device = Math.max(
		0,
		result.target.devices.findIndex((d) => d.path === run.device),
	);

	return { colour: "device" + (device % 6), dash: device >= 6 ? [6, 4] : undefined };
}

function mainTiming(run) {
	return run.read || run.write;
}

function timingName(run) {
	return run.read ? "read" : "write";
}

function atATime(run) {
	const n = run.depth * run.threads;

	return run.rate ? `${count(run.rate)} a second` : n === 1 ? "one at a time" : `${n} at a time`;
}

// "4K random read, one at a time"
function workload(run) {
	const op = run.op === "mixed" ? `mixed, ${run.read_percent}% reads` : run.op;

	return `${sizeName(run.size)} ${run.pattern} ${op}, ${atATime(run)}${run.load ? `, beside ${run.load}` : ""}`;
}

// Its reads and its writes, each { run, which, timing, rate }.
function sides(run) {
	const both = ["read", "write"].filter((which) => run[which]);
	const all = both.reduce((sum, which) => sum + run[which].count, 0);

	return both.map((which) => ({
		run,
		which,
		timing: run[which],
		rate: (run.iops * run[which].count) / all,
	}));
}

/*
 * What differs in leg or device only, one of each, in the order of the result. Tests may draw the same
 * workload from other places, and then stay apart.
 */
function alike(tests) {
	const groups = new Map();

	for (const side of result.runs.filter((run) => tests.includes(run.test)).flatMap(sides)) {
		const { test } = side.run,
			name = workload(side.run) + (side.run.op === "mixed" ? `: ${side.which}s` : "");
		const group = groups.get(test + name) || { test, name, of: new Map() },
			key = side.run.leg || side.run.device;

		if (!group.of.has(key)) group.of.set(key, side);
		groups.set(test + name, group);
	}
	return [...groups.values()].map(({ test, name, of }) => ({
		sides: [...of.values()],
		name:
			[...groups.values()].filter((other) => other.name === name).length > 1
				? `${name} (${test})`
				: name,
	}));
}

function runRow(run, which) {
	const path = ["runs", result.runs.indexOf(run)],
		timing = run[which];

	return [
		`${run.label}`,
		run.test,
		`${workload(run)}${run.op === "mixed" ? ": " + which + "s" : ""}`,
		datum([...path, "iops"], (x) => count(x)),
		datum([...path, "bytes_per_second"], (x) => digits3(x / 1e6)),
		datum([...path, which, "mean_ns"], time),
		...QUANTILES.map((q) => quantile([...path, which], timing, q)),
		datum([...path, which, "max_ns"], time),
		datum([...path, which, "count"], count),
	];
}

function allRuns() {
	const head = [
		"",
		"Test",
		"Workload",
		"IOPS",
		"MB/s",
		"Mean",
		...QUANTILES.map(quantileName),
		"Longest",
		"Samples",
	];
	const rows = result.runs.flatMap((run) =>
		["read", "write"].filter((w) => run[w]).map((w) => runRow(run, w)),
	);

	return el(
		"details",
		{ class: "all" },
		el("summary", {}, `All ${count(result.runs.length)} runs`),
		table(head, rows, "All runs"),
	);
}
