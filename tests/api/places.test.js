// A crowd: neither one client address, nor all students together, can hold so many requests and event streams that nobody
// else is answered. Behind a proxy the address is the one that the proxy saw, whatever the client claims.
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { Client, longTraining, until } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

const token = "the-token-of-the-lecturer";
const lecturer = { Authorization: `Bearer ${token}` };

async function startClass(t, ...args) {
    const options = ["--workers", "1", "--access", "token", "--students", "run", ...args];
    const daemon = await startDaemon({ args: options, env: { ATTNLAB_TOKEN: token } });
    t.after(() => daemon.stop());
    return { daemon, client: new Client(daemon.url, { Connection: "close" }) };
}

/** Asks for a stream; resolves once its head has come: { status, headers, body, close }. The body only of a refusal. */
function open(daemon, headers = {}, path = "api/events") {
    return new Promise((resolve, reject) => {
        const request = http.get(daemon.url + path, { agent: new http.Agent(), headers }, async (response) => {
            const { statusCode: status, headers: answered } = response;
            response.on("error", () => {}); // cut off
            let body = "";
            if (status !== 200) for await (const chunk of response) body += chunk;
            resolve({ status, headers: answered, body, close: () => request.destroy() });
        });
        request.on("error", reject);
    });
}

async function openMany(daemon, count, headers) {
    const opened = [];
    for (let i = 0; i < count; i++) opened.push(await open(daemon, headers));
    return opened;
}

/** Asserts that the status is of these problems, and that the client is told when to come back. */
function assertRefused({ status, headers, body }, expected) {
    assert.equal(status, expected, body);
    assert.equal(headers["content-type"], "application/problem+json");
    assert.ok(Number(headers["retry-after"]) > 0);
    assert.equal(JSON.parse(body).status, expected);
}

const from = (address) => ({ "X-Forwarded-For": address });

test("a crowd behind a proxy: one address has its share of the streams, and still its ordinary requests", async (t) => {
    const { daemon, client } = await startClass(t, "--behind-proxy", "yes", "--connections-per-address", "12");
    const streams = await openMany(daemon, 9, from("203.0.113.7"));
    for (const { status } of streams) assert.equal(status, 200);
    for (const forged of ["203.0.113.7", "198.51.100.1, 203.0.113.7", "unknown,198.51.100.2 , 203.0.113.7"]) {
        assertRefused(await open(daemon, from(forged)), 429);
    }
    const waiting = await new Client(daemon.url, lecturer).create("api/runs", longTraining);
    assertRefused(await open(daemon, from("203.0.113.7"), "api/runs?wait=1&limit=1"), 429);
    for (const headers of [from("203.0.113.7"), from("203.0.113.8")]) {
        assert.equal((await client.fetch(`api/runs/${waiting.id}`, { headers })).status, 200);
    }
    streams[0].close();
    await until(async () => {
        const next = await open(daemon, from("203.0.113.7"));
        if (next.status === 200) streams.push(next);
        return next.status === 200;
    }, "the place of a stream that ended is free");
    for (const { close } of streams) close();
});

test("a crowd behind a proxy: all students together leave places, and the lecturer needs none", async (t) => {
    const { daemon, client } = await startClass(t, "--behind-proxy", "yes", "--connections", "40", "--connections-per-address", "20");
    const streams = [];
    for (let i = 0; i < 27; i++) streams.push(await open(daemon, from(`203.0.113.${i % 5}`)));
    for (const { status, body } of streams) assert.equal(status, 200, body);
    assertRefused(await open(daemon, from("203.0.113.9")), 503);
    const events = await open(daemon, { ...from("203.0.113.0"), ...lecturer });
    assert.equal(events.status, 200);
    assert.equal((await client.fetch("api/runs", { headers: from("203.0.113.9") })).status, 200);
    const run = await new Client(daemon.url, lecturer).create("api/runs", longTraining);
    const cancelled = await client.post(`api/runs/${run.id}/cancel`, {}, { ...from("203.0.113.0"), ...lecturer });
    assert.equal(cancelled.status, 200);
    assert.equal((await client.post("api/session", { token }, from("203.0.113.0"))).status, 200);
    for (const { close } of [...streams, events]) close();
});

test("a crowd without a proxy: X-Forwarded-For is not believed, and IPv6 addresses of one network count together", async (t) => {
    const { daemon } = await startClass(t, "--connections-per-address", "8");
    const streams = [];
    for (let i = 0; i < 6; i++) streams.push(await open(daemon, from(`203.0.113.${i}`)));
    for (const { status } of streams) assert.equal(status, 200);
    assertRefused(await open(daemon, from("203.0.113.99")), 429);
    for (const { close } of streams) close();

    const proxied = (await startClass(t, "--behind-proxy", "yes", "--connections-per-address", "4")).daemon;
    const sixth = [];
    for (let i = 0; i < 3; i++) sixth.push(await open(proxied, from(`2001:db8:1:2::${i}`)));
    for (const { status } of sixth) assert.equal(status, 200);
    assertRefused(await open(proxied, from("2001:db8:1:2:ffff::1")), 429);
    const other = await open(proxied, from("2001:db8:1:3::1"));
    assert.equal(other.status, 200);
    for (const { close } of [...sixth, other]) close();
});
