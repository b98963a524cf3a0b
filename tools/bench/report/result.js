// SPDX-License-Identifier: GPL-2.0-only
// result.js - what `xpcache bench` measured; the page holds it as it was written.

const result = JSON.parse(document.getElementById("result").textContent);
