// SPDX-License-Identifier: GPL-2.0-only
// warmup.js - warming up, from as the cache was: every second's requests as a column of a heat map, the mean over it.

// A line down at @at, with words at its top or, @low, at its foot.
function mark(at, text, low) {
	return {
		hooks: {
			draw: (u) => {
				const x = u.valToPos(at, "x", true),
					right = x < u.bbox.left + u.bbox.width * 0.6;

				if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
				u.ctx.save();
				u.ctx.strokeStyle = u.ctx.fillStyle = colour("ink");
				u.ctx.lineWidth = devicePixelRatio;
				u.ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
				u.ctx.beginPath();
				u.ctx.moveTo(x, u.bbox.top);
				u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
				u.ctx.stroke();
				u.ctx.font = `600 ${12 * devicePixelRatio}px system-ui, sans-serif`;
				u.ctx.textAlign = right ? "left" : "right";
				u.ctx.fillText(
					text,
					x + (right ? 7 : -7) * devicePixelRatio,
					u.bbox.top +
						(low
							? u.bbox.height - 10 * devicePixelRatio
							: 16 * devicePixelRatio),
				);
				u.ctx.restore();
			},
		},
	};
}

function secondsAxis(label) {
	return axis({ side: BOTTOM, label, text: (v) => String(Number(v.toFixed(1))) });
}

const inSeconds = { label: "Time", value: (u, v) => (v === null ? "" : seconds(v)) };

const eachSecond = (s, i) => [i, i + 1];

function warmupLatency(points, columns, hidden90) {
	const heat = columns.some((s) => s.heat.length > 0);

	return {
		data: [points.map((p) => p.seconds), points.map((p) => p.mean_ns)],
		height: 320,
		sync: "warmup",
		options: {
			scales: {
				x: linearScale((u, min, max) => [min <= 1 ? 0 : min, max]),
				y: logScale(heat ? heatRange(columns) : decadesAbout),
			},
			axes: [
				secondsAxis("Seconds since the start"),
				axis({ label: "Latency", text: timeText, splits: decades }),
			],
			series: [
				inSeconds,
				line("Mean", "ink", { value: (u, v) => (v === null ? "" : time(v)) }),
			],
			plugins: [
				...(heat ? [heatMap(columns, eachSecond)] : []),
				...(hidden90 === null
					? []
					: [mark(hidden90, `90 % hidden after ${seconds(hidden90)}`)]),
			],
		},
	};
}

function warmupHits(points) {
	return {
		data: [points.map((p) => p.seconds), points.map((p) => (p.hit_ratio === null ? null : p.hit_ratio * 100))],
		height: 200,
		sync: "warmup",
		options: {
			scales: {
				x: linearScale((u, min, max) => [min <= 1 ? 0 : min, max]),
				y: linearScale(() => [0, 100]),
			},
			axes: [
				secondsAxis("Seconds since the start"),
				axis({ label: "Hits", text: (v) => v + "%" }),
			],
			series: [
				inSeconds,
				line("Hits", "hits", {
					fill: faded("hits", 0.15),
					value: (u, v) => (v === null ? "" : v.toFixed(1) + "%"),
				}),
			],
		},
	};
}

function warmupSection() {
	const w = result.warmup;

	if (!w || !w.points.length) return null;
	const at = runIndex(w.run),
		columns = at < 0 ? [] : result.runs[at].per_second;
	const index = (p) => w.points.indexOf(p);
	const rows = () =>
		thinned(w.points, 12).map((p) => [
			seconds(p.seconds),
			datum(["warmup", "points", index(p), "hit_ratio"], percent),
			datum(["warmup", "points", index(p), "mean_ns"], time),
		]);
	const held = w.slots
		? ["The cache held ", datum(["warmup", "held_before"], count), " of ", datum(["warmup", "slots"], count), " blocks. "]
		: [];
	const words =
		w.hidden90_seconds === null
			? "Less than 90 % was hidden when the run ended."
			: [
					"90 % of the wait was hidden after ",
					datum(["warmup", "hidden90_seconds"], seconds),
					".",
				];

	return section("warmup", "Warming up", [held, words], [
		figure({
			title: "Latency, second by second",
			words: "Each column is one second\u2019s requests: darker is more. The line is their mean.",
			chart: () => warmupLatency(w.points, columns, w.hidden90_seconds),
			numbers: () => [["After", "Hits", "Mean"], rows()],
		}),
		figure({
			title: "Hits, second by second",
			words: "Share of the reads that the fast drive answered.",
			chart: () => warmupHits(w.points),
			numbers: () => [["After", "Hits"], rows().map((row) => row.slice(0, 2))],
		}),
	]);
}
