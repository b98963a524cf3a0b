// SPDX-License-Identifier: GPL-2.0-only
// page.js - the live page: drawn once, its present told anew with each answer, its hour with each
// column. Nothing is asked while nobody can see it.

const POLL_MS = 1000,
	PATIENCE_MS = 5000;

const parts = {
	caches: el("div", { class: "choice", role: "group", "aria-label": "Caches" }),
	live: el("span", { class: "live", role: "status" }),
	top: el("div", { id: "top" }),
	now: el("section", { id: "now" }),
	hour: null,
};

// ---------------------------------------------------------- the present ----

function showCaches(caches, shown) {
	const names = caches.map((c) => c.name + c.uuid + c.alarms.length).join() + shown.uuid;

	if (parts.caches.dataset.names === names) return; // or the focus would be lost each second
	parts.caches.dataset.names = names;
	parts.caches.hidden = caches.length < 2;
	parts.caches.replaceChildren(
		...caches.map((c) => {
			const b = el(
				"button",
				{ type: "button", "aria-pressed": String(c === shown) },
				c.alarms.length ? c.name + " (!)" : c.name,
			);

			b.addEventListener("click", () => {
				view.uuid = c.uuid;
				ask();
			});
			return b;
		}),
	);
}

function showNow(c) {
	parts.top.replaceChildren(
		el("h1", {}, c.name),
		verdict(c),
		c.now ? el("div", { class: "tiles" }, tiles(c)) : el("p", { class: "lead" }, "Looking \u2026"),
	);
	if (!c.now) return;
	parts.now.replaceChildren(
		el("h2", {}, "Now"),
		el("p", { class: "lead" }, `Requests that ended in the last ${Number(c.now.seconds.toFixed(1))}\u00a0s.`),
		classTable(c),
	);
}

function showNone() {
	parts.top.replaceChildren(
		el("h1", {}, "No cache is running"),
		el("p", { class: "lead" }, "One that is started is shown here."),
	);
	parts.now.replaceChildren();
}

function showReached() {
	parts.live.classList.toggle("gone", !view.reached);
	parts.live.textContent = view.reached ? "live" : "xpcached does not answer";
}

// -------------------------------------------------------------- the hour ----

function showHour(c, more) {
	if (!c) {
		parts.hour.hidden = true;
		return;
	}
	const fresh = parts.hour.hidden || parts.hour.dataset.uuid !== c.uuid;

	parts.hour.hidden = false;
	parts.hour.dataset.uuid = c.uuid;
	if (fresh || more) drawAll();
}

function show(more) {
	const c = shownCache();

	document.title = c ? `${c.alarms.length ? "(!) " : ""}${c.name}: xpcache` : "xpcache";
	showReached();
	if (c) {
		showCaches(view.answer.caches, c);
		showNow(c);
	} else {
		parts.caches.hidden = true;
		showNone();
	}
	showHour(c, more);
}

// ---------------------------------------------------------------- asking ----

let timer = 0,
	asking = false;

async function answered() {
	const response = await fetch(question(), { signal: AbortSignal.timeout(PATIENCE_MS) });

	if (!response.ok) throw new Error(String(response.status));
	return response.json();
}

async function ask() {
	clearTimeout(timer);
	if (asking || document.visibilityState !== "visible") return;
	asking = true;
	try {
		const answer = await answered();

		view.answer = answer;
		view.reached = true;
		const c = shownCache(),
			another = c && c.uuid !== view.uuid;

		const more = takeHistory(answer.history, answer.time);

		if (c) view.uuid = c.uuid;
		show(more);
		timer = setTimeout(ask, another ? 0 : POLL_MS);
	} catch (e) {
		if (!(e instanceof TypeError || e instanceof DOMException || /^\d+$/.test(e.message))) throw e;
		view.reached = false;
		showReached();
		timer = setTimeout(ask, POLL_MS);
	} finally {
		asking = false;
	}
}

function begin() {
	parts.hour = hourSection();
	parts.hour.hidden = true;
	document.body.prepend(
		el(
			"main",
			{},
			el("header", {}, el("span", { class: "brand" }, "xpcache"), parts.caches, parts.live),
			parts.top,
			parts.now,
			parts.hour,
		),
	);
	document.getElementById("undrawn").remove();
	watchScreen();
	document.addEventListener("visibilitychange", ask);
	ask();
}

begin();
