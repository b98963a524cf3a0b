// SPDX-License-Identifier: GPL-2.0-only
// state.js - what the page knows: the last answer, and an hour of each cache that was looked at.

const HOUR = 3600;

const view = {
	answer: null, // the last of /live.json
	uuid: null, // of the cache that is shown
	hours: new Map(), // columns by uuid
	reached: true,
};

function shownCache() {
	const caches = view.answer ? view.answer.caches : [];

	return caches.find((c) => c.uuid === view.uuid) || caches[0] || null;
}

function shownHour() {
	return view.hours.get(view.uuid) || [];
}

// True: there is more to draw.
function takeHistory(history, now) {
	if (!history) return false;
	const had = view.hours.get(history.uuid) || [];
	const all = [...had, ...history.columns].filter((c) => c.time > now - HOUR);

	view.hours.set(history.uuid, all);
	return history.columns.length > 0 || all.length !== had.length;
}

function question() {
	const hour = shownHour();
	const since = hour.length ? hour[hour.length - 1].time : 0;

	return "live.json" + (view.uuid ? `?cache=${view.uuid}&since=${since}` : "");
}
