// SPDX-License-Identifier: GPL-2.0-only
// histogram.js - what a list of [from, to, count] in ns says; as lib/latency/timing.c has it.

const PER_DECADE = 50;
const BEYOND = 10; // requests at least, above a percentile that is drawn

// The edges of a bin, cut to what is known of all.
function edges(timing, bin) {
	const from = Math.max(bin[0], timing.min_ns);

	return [from, Math.max(from, Math.min(bin[1], timing.max_ns))];
}

// Latency by the share of what @weigh says of a bin's requests: their number, or their time.
function latencyBy(timing, weigh) {
	const weights = timing.bins.map((bin) => bin[2] * weigh(...edges(timing, bin)));
	const total = weights.reduce((sum, w) => sum + w, 0);

	return (shares) => {
		// ascending
		let i = 0,
			below = 0;

		return shares.map((share) => {
			while (i < weights.length - 1 && below + weights[i] < share * total)
				below += weights[i++];
			const [from, to] = edges(timing, timing.bins[i]);
			const part = weights[i] > 0 ? (share * total - below) / weights[i] : 0;

			return from + (to - from) * Math.min(1, Math.max(0, part));
		});
	};
}

function byCount(timing) {
	return latencyBy(timing, () => 1);
}

function byTime(timing) {
	return latencyBy(timing, (from, to) => (from + to) / 2);
}

// The last share that has enough requests beyond it.
function lastKnown(timing) {
	return 1 - BEYOND / timing.count;
}

function decadeEdge(i) {
	return Math.pow(10, i / PER_DECADE);
}

// Requests a bin of 50 to the decade; a bin across an edge is split in proportion.
function byDecade(timing) {
	const n = [];

	for (const [from, to, requests] of timing.bins) {
		for (let i = Math.max(0, Math.floor(Math.log10(Math.max(1, from)) * PER_DECADE)); ; i++) {
			const low = i ? Math.max(from, decadeEdge(i)) : from,
				high = Math.min(to, decadeEdge(i + 1));

			if (high > low) n[i] = (n[i] || 0) + (requests * (high - low)) / (to - from);
			if (high >= to) break;
		}
	}
	return n;
}
