// SPDX-License-Identifier: GPL-2.0-only
// text.js - elements, and numbers in words. No locale: the same result reads the same everywhere.

function el(name, attributes, ...children) {
	const e = document.createElement(name);

	for (const [key, value] of Object.entries(attributes || {}))
		if (value !== null && value !== undefined && value !== false)
			e.setAttribute(key, value === true ? "" : value);
	e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
	return e;
}

function commas(text) {
	return text.replace(/\B(?=(\d{3})+$)/g, ",");
}

function count(n) {
	return commas(String(Math.round(n)));
}

// Three digits that matter: 8.20, 23.4, 234.
function digits3(x) {
	const a = Math.abs(x);

	return x.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
}

function scaled(x, base, units, join) {
	let i = 0;

	while (i < units.length - 1 && Number(digits3(Math.abs(x))) >= base) {
		x /= base;
		i++;
	}
	return (i === 0 && Number.isInteger(x) ? String(x) : digits3(x)) + join + units[i];
}

function time(ns) {
	return scaled(ns, 1000, ["ns", "\u00b5s", "ms", "s"], "\u00a0");
}

function signedTime(ns) {
	return (ns < 0 ? "\u2212" : "+") + time(Math.abs(ns));
}

function bytes(n) {
	return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], "\u00a0").replace(
		/\.0+(?=\u00a0)/,
		"",
	);
}

// 4K, 128K, 1M, as the tests are called.
function sizeName(n) {
	return n >= 1 << 20 ? n / (1 << 20) + "M" : n >= 1024 ? n / 1024 + "K" : n + "\u00a0B";
}

function megabytes(n) {
	return digits3(n / 1e6) + "\u00a0MB/s";
}

function iops(n) {
	return (n < 99.5 ? digits3(n) : count(n)) + "\u00a0IOPS";
}

// Less than all is never "100%", more than none never "0%".
function percent(part) {
	const a = Math.abs(part) * 100,
		sign = part < 0 ? "\u2212" : "";

	if (a > 0 && a < 0.001) return "under " + sign + "0.001%";
	if (a > 99.95 && a < 100) return sign + (Math.floor(a * 1000) / 1000).toFixed(3) + "%";
	return sign + (a < 0.1 ? String(Number(a.toPrecision(1))) : a.toFixed(a < 99.95 ? 1 : 0)) + "%";
}

function times(x) {
	return digits3(x) + "\u00d7";
}

function seconds(s) {
	return s < 120 ? Number(s.toFixed(1)) + "\u00a0s" : Math.round(s / 60) + "\u00a0min";
}

// A number of the result, with where it stands there.
function datum(path, format) {
	const value = path.reduce((o, key) => (o === null || o === undefined ? null : o[key]), result);

	if (value === null || value === undefined) return el("span", { class: "none" }, "\u2013");
	return el("data", { value, "data-from": JSON.stringify(path) }, format(value));
}

const QUANTILES = ["50", "90", "99", "99.9", "99.99", "99.999"];

function quantileName(name) {
	return name === "50" ? "median" : "p" + name;
}

// The result has no percentile with fewer than ten requests beyond it.
function quantile(path, timing, name) {
	if (timing.percentiles[name] !== null) return datum([...path, "percentiles", name], time);
	if (result.runs[path[1]].ended_by === "places")
		return el("span", { class: "none" }, "the range is too small");
	const needed = Math.ceil(10 / ((1 - Number(name) / 100) * timing.count) - 1e-6);

	return el("span", { class: "none" }, `needs ${count(needed)}\u00d7 longer`);
}

function table(head, rows, caption) {
	const cell = (name, scope) => (content) => el(name, scope ? { scope } : {}, content);

	return el(
		"div",
		{ class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
		el(
			"table",
			{},
			el("caption", {}, caption),
			el("thead", {}, el("tr", {}, head.map(cell("th", "col")))),
			el(
				"tbody",
				{},
				rows.map((row) =>
					el("tr", {}, cell("th", "row")(row[0]), row.slice(1).map(cell("td"))),
				),
			),
		),
	);
}
