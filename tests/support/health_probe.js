// A process of its own that asks GET /api/health again and again, so that what the test does meanwhile delays no
// question: health_probe.js URL. On a line of its input it answers with a line: the milliseconds of the slowest
// question since the last.
import http from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const agent = new http.Agent({ keepAlive: true });
let slowest = 0;
let started = null;

const ask = () =>
    new Promise((resolve, reject) => {
        http.get(`${process.argv[2]}api/health`, { agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
    });

createInterface(process.stdin).on("line", () => {
    // A question that is still open counts for as long as it has waited.
    const waiting = started === null ? 0 : performance.now() - started;
    console.log(Math.max(slowest, waiting));
    slowest = 0;
    if (started !== null) started = performance.now();
});
for (;;) {
    started = performance.now();
    await ask();
    slowest = Math.max(slowest, performance.now() - started);
    started = null;
    await sleep(2);
}
