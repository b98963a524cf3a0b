// SPDX-License-Identifier: GPL-2.0-only
// page.js - the page, from top to bottom. What the result does not have is not shown.

function section(id, title, lead, content) {
	if (!content.length) return null;
	return el(
		"section",
		{ id },
		el("h2", {}, title),
		lead ? el("p", { class: "lead" }, lead) : null,
		content,
	);
}

function masthead() {
	return el(
		"header",
		{},
		el("span", { class: "brand" }, "xpcache bench"),
		result.target.name ? el("span", { class: "target" }, result.target.name) : null,
		result.quick ? el("strong", { class: "stamp" }, "QUICK \u00b7 not comparable") : null,
		el("time", { datetime: result.date }, result.date.slice(0, 10)),
	);
}

function contents(sections) {
	return el(
		"nav",
		{ "aria-label": "Sections" },
		sections
			.filter((s) => s.id !== "headline")
			.map((s) => el("a", { href: "#" + s.id }, s.querySelector("h2").textContent)),
	);
}

function show() {
	const sections = [
		headlineSection() || devicesSection(),
		percentileSection(),
		distributionSection(),
		waterfallSection(),
		warmupSection(),
		workingSetSection(),
		writesSection(),
		fillSection(),
		sizesSection(),
		crystalSection(),
		methodSection(),
	].filter((s) => s);
	const [top, ...rest] = sections;

	document.title = result.headline
		? result.headline.sentence
		: "xpcache bench: " + top.querySelector("h1").textContent;
	document.body.prepend(el("main", {}, masthead(), warnings(), top, contents(rest), rest));
	drawAll();
	document.getElementById("undrawn").remove();
	watchScreen();
}

show();
