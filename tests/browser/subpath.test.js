// A proxy may serve the page below a path of its own: /attnlab/ for the page, and /attnlab/api/... for the service.
import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { startPage } from "../support/browser.js";

const PREFIX = "/attnlab/";

/** Passes on what is below the prefix, without it, as nginx's `location /attnlab/ { proxy_pass http://…/; }` does. */
const proxy = (url) =>
    http.createServer((request, response) => {
        if (!request.url.startsWith(PREFIX)) return response.writeHead(404).end();
        const { hostname, port } = new URL(url);
        const { method, headers } = request;
        const path = request.url.slice(PREFIX.length - 1);
        const passed = http.request({ hostname, port, path, method, headers, agent: new http.Agent() }, (answer) => {
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        response.on("close", () => passed.destroy());
        passed.on("error", () => response.destroy());
        return request.pipe(passed);
    });

let lab, server;
before(async () => {
    lab = await startPage({
        through: async (url) => {
            server = proxy(url).listen(0, "127.0.0.1");
            await new Promise((resolve) => server.on("listening", resolve));
            return `http://127.0.0.1:${server.address().port}${PREFIX}`;
        },
    });
});
after(async () => {
    server.close();
    await lab.stop();
});

test("below a path of a proxy the page loads, runs an experiment and shows its curl line", async () => {
    const { page, faults, settle, close } = await lab.open("#attention-steps");
    await settle("attention-steps");
    const { runs } = await lab.client.get("api/runs?experiment=attention-steps");
    assert.ok(runs.length > 0, "the chapter has run its experiment");
    const line = await page.locator(".curl pre").first().textContent();
    assert.ok(line.includes(`'${new URL("api/runs", page.url()).href}`), line);
    assert.equal(await page.locator("#connection").textContent(), "");
    assert.deepEqual(faults, []);
    await close();
});
