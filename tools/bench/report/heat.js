// SPDX-License-Identifier: GPL-2.0-only
// heat.js - a heat map of latencies over time: a column for each span of it, a cell for each bin.

const HEAT_PER_DECADE = 10;
const heatEdge = (bin) => Math.pow(10, bin / HEAT_PER_DECADE);

// Draws under the lines. Darker is more; by the logarithm, or single slow requests would not show.
// @span: where a column begins and ends.
function heatMap(columns, span) {
	const most = Math.max(...columns.flatMap((s) => s.heat.map(([, n]) => n)));

	return {
		hooks: {
			drawClear: (u) => {
				const x = (v) => u.valToPos(v, "x", true),
					y = (v) => u.valToPos(v, "y", true);

				u.ctx.save();
				u.ctx.beginPath();
				u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
				u.ctx.clip();
				u.ctx.fillStyle = colour("heat");
				columns.forEach((s, i) => {
					const [from, to] = span(s, i),
						left = Math.floor(x(from)),
						right = Math.floor(x(to));

					for (const [bin, n] of s.heat) {
						const top = Math.floor(y(heatEdge(bin + 1))),
							bottom = Math.floor(y(heatEdge(bin)));

						u.ctx.globalAlpha =
							0.1 + (0.8 * Math.log(1 + n)) / Math.log(1 + most);
						u.ctx.fillRect(left, top, right - left, bottom - top);
					}
				});
				u.ctx.restore();
			},
		},
	};
}

function heatRange(columns) {
	const bins = columns.flatMap((s) => s.heat.map(([bin]) => bin));
	const low = Math.floor(Math.min(...bins) / HEAT_PER_DECADE),
		high = Math.ceil((Math.max(...bins) + 1) / HEAT_PER_DECADE);

	return () => [Math.pow(10, low), Math.pow(10, high)];
}
