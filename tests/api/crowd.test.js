// A whole class at once: hundreds of streams, a hundred clients, ten thousand requests, and clients that misbehave.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, longTraining, smallTraining, setCookies, until } from "../support/client.js";
import { isSanitized, startDaemon } from "../support/daemon.js";

/** Its client opens a connection for each call: the daemon might close a kept one as idle just as the next call is sent. */
async function start(t, ...args) {
    const daemon = await startDaemon({ args });
    t.after(() => daemon.stop());
    return { daemon, client: new Client(daemon.url, { Connection: "close" }) };
}

const residentBytes = async (pid) =>
    1024 * Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))[1]);

/** An event stream on a connection of its own: the text received, and how it ended. */
function follow(url, path, headers = {}) {
    const stream = { text: "", request: null };
    stream.opened = new Promise((resolve, reject) => {
        stream.request = http.get(url + path, { agent: new http.Agent(), headers }, (response) => {
            stream.response = response;
            response.on("error", () => {}); // cut off: "close" follows
            stream.ended = new Promise((end) => {
                response.on("data", (chunk) => (stream.text += chunk));
                response.on("close", end);
            });
            resolve(response.statusCode);
        });
        stream.request.on("error", reject);
    });
    stream.ids = (kinds = /./) =>
        [...stream.text.matchAll(/^id: (\d+)\nevent: (\w+)$/gm)].filter(([, , kind]) => kinds.test(kind)).map(([, id]) => BigInt(id));
    return stream;
}

/** Sends raw bytes; resolves to all that comes back until the server closes or `milliseconds` have passed. */
function sendRaw(url, bytes, milliseconds = 10000) {
    const { hostname, port } = new URL(url);
    return new Promise((resolve) => {
        const socket = net.connect(Number(port), hostname, () => socket.write(bytes));
        let text = "";
        socket.setTimeout(milliseconds, () => socket.destroy());
        socket.on("data", (chunk) => (text += chunk));
        socket.on("error", () => {});
        socket.on("close", () => resolve(text));
    });
}

test("500 streams on one run, while two workers train, get every event in order", async (t) => {
    const { daemon, client } = await start(t, "--workers", "2");
    const run = await client.create("api/runs", { ...smallTraining, train_examples: 2000, sequence_length: 20, epochs: 25 });
    const other = await client.create("api/runs", longTraining);
    const streams = Array.from({ length: 500 }, () => follow(daemon.url, `api/runs/${run.id}/events`));
    for (const status of await Promise.all(streams.map(({ opened }) => opened))) assert.equal(status, 200);
    await Promise.all(streams.map(({ ended }) => ended));
    assert.equal((await client.get(`api/runs/${other.id}`)).state, "running");
    assert.equal((await client.get(`api/runs/${run.id}`)).state, "succeeded");
    const all = (await client.events(`api/runs/${run.id}/events`)).filter(({ event }) => event !== "step").map(({ id }) => BigInt(id));
    assert.equal(all.length, 2 + 26 + 26 + 2); // queued and running, epochs, attention, succeeded and the end
    for (const stream of streams) {
        assert.deepEqual(stream.ids(/state|epoch|attention|end/), all);
        const ids = stream.ids();
        assert.ok(ids.every((id, i) => i === 0 || id > ids[i - 1]));
    }
    if (!isSanitized()) assert.ok((await residentBytes(daemon.pid)) < 150 << 20);
    assert.match(await client.text("metrics"), /^attnlab_event_streams 0$/m);
});

test("a reader that stops reading is disconnected and can resume; others do not wait for it", async (t) => {
    // Long enough for the active reader: on a busy machine it may not read for a second.
    const { daemon, client } = await start(t, "--workers", "1", "--idle-timeout", "5");
    const run = await client.create("api/runs", { ...smallTraining, train_examples: 16, epochs: 4000 });
    const lazy = follow(daemon.url, `api/runs/${run.id}/events`);
    await lazy.opened;
    lazy.response.pause();
    const keen = follow(daemon.url, `api/runs/${run.id}/events`);
    await keen.opened;
    await keen.ended;
    assert.match(keen.text, /^event: end$/m, "the active reader got everything");
    await until(async () => /^attnlab_event_streams 0$/m.test(await client.text("metrics")), "the idle reader is disconnected");
    lazy.response.resume();
    await lazy.ended;
    const whole = lazy.text.matchAll(/^id: (\d+)\n(?=event: (?!step).*\ndata: .*\n)/gm);
    const got = [...whole].map(([, id]) => BigInt(id));
    const all = keen.ids(/state|epoch|attention|end/);
    assert.ok(got.length < all.length, "the buffer was bounded");
    const rest = await client.events(`api/runs/${run.id}/events`, { lastEventId: String(got.at(-1)) });
    const resumed = rest.filter(({ event }) => event !== "step").map(({ id }) => BigInt(id));
    assert.deepEqual([...got, ...resumed], all);
});

test("a reader that stops in the middle of a large answer is disconnected with only part of it", async (t) => {
    const { daemon, client } = await start(t, "--workers", "1", "--idle-timeout", "1");
    const { id } = await client.run({ experiment: "attention-steps", tokens: 384, width: 384 });
    const answer = await new Promise((resolve, reject) => http.get(`${daemon.url}api/runs/${id}`, resolve).on("error", reject));
    answer.pause();
    await until(async () => /^attnlab_connections 1$/m.test(await client.text("metrics")), "only the connection that asks is left");
    const ended = new Promise((resolve) => answer.on("error", resolve).on("end", () => resolve(null)));
    let bytes = 0;
    answer.on("data", (chunk) => (bytes += chunk.length)).resume();
    assert.equal((await ended)?.code, "ECONNRESET");
    const whole = (await client.text(`api/runs/${id}`)).length;
    assert.ok(bytes > 0 && bytes < whole / 2, `${bytes} bytes of ${whole}`);
});

test("of 100 clients' runs each is queued or refused with 429, none is lost, and a client with fifty takes turns", async (t) => {
    const args = ["--workers", "1", "--access", "token", "--students", "run", "--student-queued-runs", "50"];
    const daemon = await startDaemon({ args, env: { ATTNLAB_TOKEN: "the-token-of-the-lecturer" } });
    t.after(() => daemon.stop());
    const lecturer = { Authorization: "Bearer the-token-of-the-lecturer" };
    const client = new Client(daemon.url);
    const post = async (body, headers) => {
        const answer = await client.post("api/runs", body, headers);
        return { status: answer.status, run: await answer.json() };
    };
    const student = async () => {
        const cookie = setCookies(await client.fetch("api/session"))[0];
        return { Cookie: cookie.split(";")[0] };
    };
    const students = await Promise.all(Array.from({ length: 100 }, student));
    const short = { experiment: "attention-steps" };
    const blocker = (await post(longTraining, lecturer)).run;
    const many = await Promise.all(Array.from({ length: 60 }, () => post(short, students[0])));
    assert.equal(many.filter(({ status }) => status === 201).length, 50);
    assert.equal(many.filter(({ status }) => status === 429).length, 10);
    const single = await Promise.all(students.slice(1).map((headers) => post(short, headers)));
    assert.ok(single.every(({ status }) => status === 201));
    await client.post(`api/runs/${blocker.id}/cancel`, {}, lecturer);
    const accepted = [...many, ...single].filter(({ status }) => status === 201).map(({ run }) => run.id);
    let runs = [];
    await until(async () => {
        runs = (await client.get("api/runs?limit=500&state=succeeded")).runs;
        return runs.length >= accepted.length;
    }, "all runs have ended");
    assert.deepEqual(runs.map(({ id }) => id).sort(), accepted.sort());
    const greedy = new Set(many.map(({ run }) => run.id));
    const order = runs.sort((a, b) => a.started_at.localeCompare(b.started_at) || a.id.localeCompare(b.id)).map(({ id }) => greedy.has(id));
    // All single runs end before the greedy client's third; times in milliseconds leave some doubt.
    assert.ok(order.slice(0, order.lastIndexOf(false)).filter(Boolean).length <= 10, order.join());
});

test("10,000 requests do not grow resident memory", async (t) => {
    const { daemon, client } = await start(t, "--workers", "1");
    const run = await client.run(smallTraining);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
    t.after(() => agent.destroy());
    const paths = ["api/health", "", "api/runs", `api/runs/${run.id}`, `api/runs/${run.id}/metrics`, "api/nothing", `api/runs/${run.id}/attention`, "api/session", "metrics", "api/runs?limit=x"];
    const ask = (path) =>
        new Promise((resolve, reject) => {
            http.get(daemon.url + path, { agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
        });
    const askMany = async (count) => {
        for (let i = 0; i < count; i += 100) await Promise.all(Array.from({ length: 100 }, (_, j) => ask(paths[j % paths.length])));
    };
    await askMany(3000);
    const before = await residentBytes(daemon.pid);
    await askMany(10000);
    const growth = (await residentBytes(daemon.pid)) - before;
    if (!isSanitized()) assert.ok(growth < 2 << 20, `grew by ${growth} bytes`);
});

test("clients that are slow or silent are disconnected; others are served meanwhile", async (t) => {
    const { daemon, client } = await start(t, "--workers", "1", "--request-timeout", "1", "--idle-timeout", "2");
    const { hostname, port } = new URL(daemon.url);
    const lifetime = (first, drip) =>
        new Promise((resolve) => {
            const started = performance.now();
            const socket = net.connect(Number(port), hostname, () => socket.write(first));
            const timer = drip && setInterval(() => socket.write(drip), 200);
            socket.resume();
            socket.on("error", () => {});
            socket.on("close", () => {
                clearInterval(timer);
                resolve((performance.now() - started) / 1000);
            });
        });
    const head = `Host: ${hostname}\r\nContent-Type: application/json\r\n`;
    const clients = {
        "nothing is sent": lifetime(""),
        "half a head": lifetime("GET / HT"),
        "a head that never ends": lifetime("GET / HTTP/1.1\r\n", "X-A: b\r\n"),
        "a body that never ends": lifetime(`POST /api/runs HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n`, " "),
        "a refused body that never ends": lifetime(`POST /api/nothing HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n`, " "),
        "a chunked body that stops": lifetime(`POST /api/runs HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`, ""),
        "an idle connection": lifetime(`GET /api/health HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`),
    };
    for (let i = 0; i < 10; i++) {
        await client.get("api/health");
        await sleep(50);
    }
    // After 1 to 3 s; by default it would be 20 and 60.
    for (const [name, closed] of Object.entries(clients)) assert.ok((await closed) < 15, name);
    assert.match(await client.text("metrics"), /^attnlab_connections_overdue_total [1-9]/m);
});

test("connections are limited in total and per address, and freed again", async (t) => {
    const { daemon } = await start(t, "--workers", "1", "--connections-per-address", "10");
    const { hostname, port } = new URL(daemon.url);
    const open = () =>
        new Promise((resolve) => {
            const socket = net.connect(Number(port), hostname, () => socket.write(`GET /api/health HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`));
            let text = "";
            const end = () => resolve({ socket, text, isServed: text.startsWith("HTTP/1.1 200 ") });
            socket.on("data", (data) => (text += data).includes("\r\n\r\n") && end());
            socket.on("error", () => {});
            socket.on("close", end);
        });
    const opened = [];
    for (let i = 0; i < 15; i++) opened.push(await open());
    assert.equal(opened.filter(({ isServed }) => isServed).length, 10);
    const refused = opened.filter(({ isServed }) => !isServed);
    for (const { text } of refused) assert.match(text, /^HTTP\/1\.1 429 Too Many Requests\r\n(?:.+\r\n)*Content-Type: application\/problem\+json\r\n(?:.+\r\n)*Retry-After: \d/);
    for (const { socket } of opened) socket.destroy();
    await until(async () => {
        const { socket, isServed } = await open();
        socket.destroy();
        return isServed;
    }, "a new connection is served");
});

test("connections above the limit wait until another one closes", async (t) => {
    const { daemon } = await start(t, "--workers", "1", "--connections", "8");
    const { hostname, port } = new URL(daemon.url);
    const ask = () => {
        const one = { socket: net.connect(Number(port), hostname), text: "" };
        one.socket.write(`GET /metrics HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
        one.socket.on("error", () => {});
        one.answered = new Promise((resolve) => one.socket.on("data", (data) => resolve((one.text += data))));
        return one;
    };
    const kept = Array.from({ length: 8 }, ask);
    for (const { answered } of kept) assert.match(await answered, /^HTTP\/1\.1 200 /);
    const late = ask();
    await sleep(500);
    assert.equal(late.text, "", "the ninth waits");
    kept[0].socket.destroy();
    assert.match(await late.answered, /^HTTP\/1\.1 200 /);
    for (const { socket } of [...kept, late]) socket.destroy();
});

test("idle connections are closed to make room for others", async (t) => {
    const { daemon, client } = await start(t, "--workers", "1", "--connections", "8", "--idle-timeout", "1");
    const { hostname, port } = new URL(daemon.url);
    const idle = Array.from({ length: 30 }, () => net.connect(Number(port), hostname));
    for (const socket of idle) socket.on("error", () => {});
    await client.get("api/health"); // served once the idle ones before it are closed
    for (const socket of idle) socket.destroy();
});

test("HTTP/1.0, keep-alive, pipelining and HEAD work", async (t) => {
    const { daemon } = await start(t, "--workers", "1");
    const count = (text) => text.split("HTTP/1.1 200 OK").length - 1;
    const old = await sendRaw(daemon.url, "GET /api/health HTTP/1.0\r\n\r\n");
    assert.match(old, /^HTTP\/1\.[01] 200 OK\r\n.*"status":"ok"/s);
    const kept = "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const last = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert.equal(count(await sendRaw(daemon.url, kept.repeat(20) + last)), 21);
    const head = await sendRaw(daemon.url, last.replace("GET", "HEAD"));
    assert.match(head, /^HTTP\/1.1 200 OK\r\n(?:.+\r\n)+\r\n$/);
    assert.match(await sendRaw(daemon.url, "GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n"), /^HTTP\/1.1 400 /);
});

/** A daemon for a class, and what its lecturer and its students send with every call. */
async function startClass(t, ...args) {
    const token = "the-token-of-the-lecturer";
    const daemon = await startDaemon({ args: ["--workers", "2", "--access", "token", "--students", "run", ...args], env: { ATTNLAB_TOKEN: token } });
    t.after(() => daemon.stop());
    const client = new Client(daemon.url, { Connection: "close" });
    const student = async () => ({ Cookie: setCookies(await client.fetch("api/session"))[0].split(";")[0] });
    return { daemon, client, token, lecturer: { Authorization: `Bearer ${token}` }, student };
}

/** Keeps `count` connections busy with GETs of `path(i)`; returns a function that ends them. */
function keepAsking(url, count, path, headers) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: count });
    let [asked, isOver] = [0, false];
    const ask = () => {
        if (isOver) return;
        const request = http.get(url + path(asked++), { agent, headers }, (response) => response.resume().on("close", ask));
        request.on("error", () => {});
    };
    for (let i = 0; i < count; i++) ask();
    return () => {
        isOver = true;
        agent.destroy();
    };
}

// No two are the same, so that none is found drawn already.
const expensiveExamples = (i) => `api/datasets/first-element/examples?split=train&offset=19900&train_examples=19999&test_examples=1&sequence_length=512&train_seed=${i}`;

test("a crowd: a student's 100 connections of expensive reads do not hold up cancelling, starting and signing in", async (t) => {
    const { daemon, client, token, lecturer, student } = await startClass(t);
    const [attacker, other] = [await student(), await student()];
    const stop = keepAsking(daemon.url, 100, expensiveExamples, attacker);
    t.after(stop);
    await sleep(500);
    const times = { post: [], cancel: [], signIn: [] };
    const timed = async (kind, ...call) => {
        const started = performance.now();
        const response = await client.post(...call);
        const text = await response.text();
        times[kind].push(performance.now() - started);
        assert.ok(response.ok, text);
        return JSON.parse(text);
    };
    for (let i = 0; i < 9; i++) {
        const run = await timed("post", "api/runs", longTraining, lecturer);
        await timed("cancel", `api/runs/${run.id}/cancel`, {}, lecturer);
        await timed("post", "api/runs", { experiment: "attention-steps" }, other);
        await timed("signIn", "api/session", { token });
    }
    // A few milliseconds on an idle machine. In one queue with the reads each took ten seconds and more.
    for (const [kind, list] of Object.entries(times)) {
        const median = list.sort((one, two) => one - two)[list.length >> 1];
        assert.ok(median < 2000, `${kind}: ${list.map(Math.round)}`);
    }
    // Another student's read has a turn after one of the attacker's, not after a hundred.
    const started = performance.now();
    assert.equal((await client.fetch("api/runs?limit=1", { headers: other })).status, 200);
    assert.ok(performance.now() - started < 5000);
});

test("a crowd: work for a reader who has left is not done", async (t) => {
    const { daemon, client, lecturer, student } = await startClass(t);
    const left = await student();
    const sockets = Array.from({ length: 60 }, (_, i) => {
        const { hostname, port } = new URL(daemon.url);
        const socket = net.connect(Number(port), hostname, () => socket.write(`GET /${expensiveExamples(i)} HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${left.Cookie}\r\n\r\n`));
        socket.on("error", () => {});
        return socket;
    });
    const metric = async (name) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(await client.text("metrics", { headers: lecturer }))[1]);
    await until(async () => (await metric("attnlab_connections")) > 60, "all have asked");
    for (const socket of sockets) socket.destroy();
    await until(async () => (await metric("attnlab_http_abandoned_total")) >= 30, "most are given up");
    await until(async () => (await metric("attnlab_connections")) < 10, "their connections are closed");
});
