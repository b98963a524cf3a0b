// SPDX-License-Identifier: GPL-2.0-only
// now.js - the present: tiles, and a row for each class of requests.

const CLASSES = {
	"read-hit": ["Read, hit", "hits"],
	"read-miss": ["Read, miss", "misses"],
	"read-bypass": ["Read, not cached", "device4"],
	write: ["Write", "fast"],
	"write-bypass": ["Write, to the slow device", "device5"],
	"write-stalled": ["Write, held up", "without"],
	flush: ["Flush", "device0"],
	discard: ["Discard", "less"],
	"fast-read": ["Fast device, read", "quiet"],
	"fast-write": ["Fast device, write", "quiet"],
	"slow-read": ["Slow device, read", "quiet"],
	"slow-write": ["Slow device, write", "quiet"],
	"slow-flush": ["Slow device, flush", "quiet"],
};
const REQUESTS = Object.keys(CLASSES).slice(0, 8);
const DEVICES = Object.keys(CLASSES).slice(8);

const ALARMS = {
	state: "it does not run as it should",
	"fast-errors": "errors of the fast device",
	"slow-errors": "errors of the slow device",
	dirty: "more is dirty than the limit allows",
	journal: "more of the journal is used than the limit allows",
	wear: "most of the fast device\u2019s life is used",
	warning: "the fast device warns (SMART)",
	endurance: "at this rate the fast device does not last",
};

const DASH = "\u2013";
const orDash = (value, format) => (value === null || value === undefined ? DASH : format(value));
const aSecond = (n) => (n > 0 && n < 99.5 ? digits3(n) : count(n)) + "/s";

function tile(value, label, words, poor) {
	return el(
		"div",
		{ class: poor ? "tile poor" : "tile" },
		el("div", { class: "value" }, value),
		el("div", { class: "label" }, label),
		words ? el("div", { class: "words" }, words) : null,
	);
}

function wearTile(c) {
	if (!c.wear) return tile(bytes(c.fast_bytes_written), "to the fast drive", "since it was started");
	const years = c.wear.years_left;

	return tile(
		c.wear.used_percent + "%",
		"of the fast drive\u2019s life used",
		years === null ? bytes(c.wear.written_bytes) + " written" : `lasts ${digits3(years)} years at this rate`,
		c.alarms.some((a) => a === "wear" || a === "warning" || a === "endurance"),
	);
}

function keptTiles(c) {
	const now = c.now,
		counts = c.counts || {};

	return [
		tile(orDash(now.ghost_hit_ratio, percent), "of misses would be hits", "with a quarter more slots, about"),
		tile(orDash(now.fills_per_hit, digits3), "fills a hit", "in blocks"),
		tile(orDash(now.fast_bytes_per_user_byte, digits3), "bytes to the fast drive", "for each that users read or wrote"),
		tile(
			orDash(counts.streams_seen, count),
			counts.streams_seen === 1 ? "stream" : "streams",
			`${orDash(counts.stream_bypass_blocks, (n) => bytes(4096 * n))} not cached, and ` +
				`${orDash(counts.stream_bypass_written, (n) => bytes(4096 * n))} written past it, since it was started`,
		),
	];
}

function tiles(c) {
	const now = c.now,
		errors = c.fast_errors + c.slow_errors;

	return [
		tile(
			orDash(now.hit_ratio, percent),
			"of reads are hits",
			`${orDash(now.hit_ratio_by_bytes, percent)} of their bytes, ` +
				`${orDash(now.hit_ratio_by_time, percent)} of the time that they take`,
		),
		tile(
			aSecond(now.reads_per_second),
			"reads",
			orDash(now.read_bytes_per_second, megabytes),
		),
		tile(
			aSecond(now.writes_per_second),
			"writes",
			orDash(now.write_bytes_per_second, megabytes),
		),
		tile(
			orDash(now.dirty_ratio, percent),
			"dirty",
			`${bytes(now.dirty_bytes)}; ${megabytes(now.writeback_bytes_per_second)} written back`,
			c.alarms.includes("dirty"),
		),
		tile(
			orDash(now.journal_ratio, percent),
			"of the journal used",
			null,
			c.alarms.includes("journal"),
		),
		tile(percent(now.pressure_ratio), "pressure on writers", null),
		...keptTiles(c),
		tile(
			count(errors),
			errors === 1 ? "device error" : "device errors",
			errors ? `fast ${count(c.fast_errors)}, slow ${count(c.slow_errors)}` : null,
			errors > 0,
		),
		wearTile(c),
	];
}

function classRow(name, c) {
	const timing = c.now.latency[name],
		[label, tone] = CLASSES[name];
	const quantiles = ["p50", "p99", "p99.9", "max_ns"].map((key) => orDash(timing[key], time));

	return [
		[el("span", { class: "swatch", style: `--tone: var(--${tone})` }), label],
		aSecond(timing.count / c.now.seconds),
		orDash(timing.mean_ns, time),
		...quantiles,
	];
}

const holding = (names, c) => names.filter((name) => c.now.latency[name] && c.now.latency[name].count > 0);

function classTable(c) {
	const latency = c.now.latency;

	if (!latency) return el("p", { class: "lead" }, "This cache\u2019s module does not tell latencies.");
	if (!c.now.recording) return el("p", { class: "lead" }, "Latencies are not recorded now.");
	const rows = [...holding(REQUESTS, c), ...holding(DEVICES, c)].map((name) => classRow(name, c));

	if (!rows.length) return el("p", { class: "lead" }, "Nothing is asked of it now.");
	return table(["", "Rate", "Mean", "Median", "p99", "p99.9", "Max"], rows, "Latency now");
}

function verdict(c) {
	const well = c.state === "running" && !c.alarms.length;
	const words = c.alarms.map((a) => ALARMS[a] || a).join("; ");

	return el(
		"p",
		{ class: "verdict " + (well ? "good" : "poor") },
		c.state[0].toUpperCase() + c.state.slice(1) + (words ? ": " + words : ""),
	);
}
