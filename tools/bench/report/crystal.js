// SPDX-License-Identifier: GPL-2.0-only
// crystal.js - the table that everybody knows: four tests, reads and writes, MB/s.

function crystalName(run) {
	const size = run.size >= 1 << 20 ? run.size / (1 << 20) + "M" : run.size / 1024 + "K";

	return `${run.pattern === "sequential" ? "SEQ" : "RND"}${size} Q${run.depth}T${run.threads}`;
}

function crystalSection() {
	const runs = result.runs.filter((run) => run.test === "crystal" && mainTiming(run));

	if (!runs.length) return null;
	const columns = byDevice(runs.flatMap(sides)).map(([side]) => side.run),
		names = [...new Set(runs.map(crystalName))];
	const most = Math.max(...runs.map((run) => run.bytes_per_second));
	const find = (name, op, like) =>
		runs.find(
			(run) =>
				crystalName(run) === name &&
				run.op === op &&
				run.leg === like.leg &&
				run.device === like.device,
		);
	const cell = (run) => {
		if (!run) return "\u2013";
		const path = ["runs", result.runs.indexOf(run)];

		return el(
			"div",
			{ class: "cell" },
			el("span", {
				class: "meter",
				"aria-hidden": "true",
				style: `width:${((run.bytes_per_second / most) * 100).toFixed(1)}%;background:var(--${look(run).colour})`,
			}),
			datum([...path, "bytes_per_second"], (v) => digits3(v / 1e6)),
			el("small", {}, datum([...path, timingName(run), "mean_ns"], time)),
		);
	};
	const of = (op) =>
		el(
			"div",
			{ class: "crystal" },
			table(
				[op === "read" ? "Read" : "Write", ...columns.map((run) => run.label)],
				names.map((name) => [
					name,
					...columns.map((like) => cell(find(name, op, like))),
				]),
				`${op === "read" ? "Reads" : "Writes"}, MB/s; below, the mean latency`,
			),
		);

	return section(
		"crystal",
		"At a glance",
		"The four usual tests, in MB/s.",
		["read", "write"].filter((op) => runs.some((run) => run.op === op)).map(of),
	);
}
