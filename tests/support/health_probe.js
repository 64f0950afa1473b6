// health_probe.js URL: requests GET /api/health again and again, in a process of its own, so that the test's own work delays
// no request. It answers each line of input with a line: the milliseconds of the slowest request since the previous line.
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
    // A request that is still pending counts with the time that it has waited so far.
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
