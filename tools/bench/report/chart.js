// SPDX-License-Identifier: GPL-2.0-only
// chart.js - figures: a chart by uPlot with its switches, its words, and its numbers as a table.

const drawn = []; // every figure's draw(), for when colours or widths change

function colour(name) {
	return getComputedStyle(document.documentElement)
		.getPropertyValue("--" + name)
		.trim();
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// 1, 10, 100...; of less than two decades 2 and 5 too.
function decades(u, axis, min, max) {
	const steps = max / min < 99 ? [1, 2, 5] : [1],
		all = [];

	for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++)
		all.push(...steps.map((s) => Number((s * Math.pow(10, e)).toPrecision(1))));
	return all.filter((v) => v >= min * 0.999 && v <= max * 1.001);
}

function doublings(u, axis, min, max) {
	const all = [];

	for (let e = Math.ceil(Math.log2(min) - 1e-9); e <= Math.log2(max) + 1e-9; e++)
		all.push(Math.pow(2, e));
	return all.length > 8 && u.width < 560 ? all.filter((v, i) => i % 2 === 0) : all;
}

const BOTTOM = 2,
	LEFT = 3; // as uPlot numbers them

// @how: { label, text(value), splits, side, space }
function axis(how) {
	const side = how.side || LEFT;

	return {
		label: how.label,
		font: FONT,
		labelFont: FONT,
		labelSize: 22,
		labelGap: 2,
		side,
		size: side === BOTTOM ? 30 : 58,
		gap: 6,
		space: how.space || (side === BOTTOM ? 64 : 34),
		stroke: () => colour("quiet"),
		splits: how.splits,
		grid: { stroke: () => colour("grid"), width: 1, filter: (u, splits) => splits },
		ticks: { show: false },
		filter: (u, splits) => splits,
		values: (u, splits) => splits.map((v) => (v === null ? "" : how.text(v))),
	};
}

function timeText(ns) {
	return time(ns).replace(/\.0+(?=\u00a0)/, "");
}

function plainCount(n) {
	return n >= 1e6
		? n / 1e6 + "M"
		: n >= 1e4
			? n / 1e3 + "k"
			: n >= 1
				? count(n)
				: String(Number(n.toPrecision(1)));
}

const logScale = (range) => ({ distr: 3, log: 10, time: false, range });
const linearScale = (range) => ({ time: false, range });
const whole = (u, min, max) => [min, max];

// Whole decades about what is there.
function decadesAbout(u, min, max) {
	if (min === null || !(max > 0)) return [1, 10];
	const low = Math.floor(Math.log10(min) + 1e-9),
		high = Math.ceil(Math.log10(max) - 1e-9);

	return [Math.pow(10, low), Math.pow(10, Math.max(high, low + 1))];
}

function fromZero(u, min, max) {
	return [0, max > 0 ? max * 1.05 : 1];
}

function line(label, stroke, more) {
	return {
		label,
		stroke: () => colour(stroke),
		width: 2,
		pxAlign: 0,
		points: { show: false },
		...more,
	};
}

function faded(name, alpha) {
	const part = Math.round(alpha * 255)
		.toString(16)
		.padStart(2, "0");

	return () => colour(name) + part;
}

const SCALES = [
	["log", "Log"],
	["linear", "Linear"],
];

// Buttons of which one is on.
function choice(label, options, state, key, changed) {
	const buttons = options.map(([value, text]) => {
		const b = el(
			"button",
			{ type: "button", "aria-pressed": String(state[key] === value) },
			text,
		);

		b.addEventListener("click", () => {
			state[key] = value;
			buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === b)));
			changed();
		});
		return b;
	});

	return el("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

function onPaper() {
	return document.documentElement.classList.contains("paper");
}

// In the legend, as the line is drawn: dashed or not.
function marker(series) {
	const c = series.stroke();

	return series.dash ? `repeating-linear-gradient(90deg, ${c} 0 6px, transparent 6px 9px)` : c;
}

function plotInto(host, made) {
	host.textContent = "";
	return new uPlot(
		{
			width: Math.max(240, Math.floor(host.clientWidth)),
			height: Math.round((made.height || 340) * (onPaper() ? 0.75 : 1)),
			legend: {
				live: true,
				markers: { width: 0, fill: (u, i) => marker(made.options.series[i]) },
			},
			cursor: {
				drag: { x: true, y: false },
				points: { size: 7 },
				sync: made.sync ? { key: made.sync } : undefined,
			},
			padding: [12, 24, 0, 0],
			...made.options,
		},
		made.data,
		host,
	);
}

/*
 * @how: { title, words: for who sees nothing, and below the chart unless there is a note, choices: [[label, key,
 * options]], state, chart(state): { options, data, height, sync }, numbers(state): [head, rows], redraws: a list
 * for who switches several }
 */
function figure(how) {
	const host = el("div", { class: "plot", role: "img", "aria-label": `${how.title}. ${how.words}` });
	const numbers = el("div", {});
	const state = how.state || {};
	let plot = null;

	const draw = () => {
		if (plot) plot.destroy();
		plot = plotInto(host, how.chart(state));
		if (how.numbers) numbers.replaceChildren(table(...how.numbers(state), how.title));
	};
	const switches = (how.choices || []).map(([label, key, options]) =>
		choice(label, options, state, key, draw),
	);

	drawn.push(draw);
	if (how.redraws) how.redraws.push(draw);
	return el(
		"figure",
		{},
		el(
			"div",
			{ class: "bar" },
			el("h3", {}, how.title),
			switches.length ? el("div", { class: "choices" }, switches) : null,
		),
		host,
		how.note === "" ? null : el("figcaption", {}, how.note || how.words),
		how.numbers ? el("details", {}, el("summary", {}, "Numbers"), numbers) : null,
	);
}

// Every @n-th of many, and the last.
function thinned(all, most) {
	const n = Math.ceil(all.length / most);

	return all.filter((_, i) => i % n === 0 || i === all.length - 1);
}

function drawAll() {
	drawn.forEach((draw) => draw());
}

// Paper is white and narrow, whatever the screen is.
function setPaper(paper) {
	document.documentElement.classList.toggle("paper", paper);
	drawAll();
}

function watchScreen() {
	let width = document.documentElement.clientWidth,
		waits = 0;

	window.addEventListener("resize", () => {
		if (document.documentElement.clientWidth === width) return;
		width = document.documentElement.clientWidth;
		cancelAnimationFrame(waits);
		waits = requestAnimationFrame(drawAll);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
	window.addEventListener("beforeprint", () => setPaper(true));
	window.addEventListener("afterprint", () => setPaper(false));
}
