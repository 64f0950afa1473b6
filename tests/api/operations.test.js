// Operating the service: counters, log lines, a clean shutdown, and a proxy in front.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, longTraining, smallTraining, setCookies, until } from "../support/client.js";
import { endingMs, repository, startDaemon } from "../support/daemon.js";

const token = "correct-horse-battery-staple";

test("all runs together stay within the memory limit: each worker's run has its share", async (t) => {
    const start = async (...args) => {
        const daemon = await startDaemon({ args: ["--memory-mb", "100", ...args] });
        t.after(() => daemon.stop());
        return new Client(daemon.url);
    };
    const wide = { ...smallTraining, model: "rnn", width: 1024, epochs: 1 };
    const problem = await (await start("--workers", "4")).postProblem(422, "api/runs", wide);
    const [, taken, allowed] = /would take ([0-9.]+) MB of memory, at most ([0-9.]+) MB/.exec(problem.errors[0].message);
    assert.equal(Number(allowed), 26.2); // 25 MiB
    assert.ok(Number(taken) > 26.2 && Number(taken) < 104.8, taken);
    const alone = await start("--workers", "1");
    const { id } = await alone.create("api/runs", wide);
    await alone.post(`api/runs/${id}/cancel`);
    const { workers } = await (await start()).get("api/health");
    assert.equal(workers, 1, "no more workers than the memory is enough for, however many cores there are");
});

test("the counters count requests, runs, streams, bytes and steps", async (t) => {
    const daemon = await startDaemon({ args: ["--workers", "1"] });
    t.after(() => daemon.stop());
    const client = new Client(daemon.url);
    const read = async () => {
        const lines = (await client.text("metrics")).trim().split("\n").filter((line) => !line.startsWith("#"));
        return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
    };
    const before = await read();
    const run = await client.run(smallTraining);
    await client.problem(404, "api/runs/nobody");
    const stream = await client.fetch("api/events");
    const after = await read();
    await stream.body.cancel();
    const grew = (name) => after[name] - (before[name] ?? 0);
    assert.equal(grew('attnlab_http_requests_total{method="POST",route="/api/runs",status="201"}'), 1);
    assert.equal(grew('attnlab_http_requests_total{method="GET",route="/api/runs/{id}",status="404"}'), 1);
    assert.equal(after['attnlab_http_request_seconds_count{method="POST",route="/api/runs"}'], 1);
    assert.equal(after['attnlab_http_request_seconds_bucket{method="POST",route="/api/runs",le="+Inf"}'], 1);
    assert.equal(grew('attnlab_runs_ended_total{state="succeeded"}'), 1);
    assert.deepEqual([after['attnlab_runs{state="running"}'], after['attnlab_runs{state="queued"}']], [0, 0]);
    assert.equal(grew("attnlab_training_epochs_total"), 3) /* including the one before training */;
    assert.equal(grew("attnlab_training_steps_total"), run.result.steps);
    assert.equal(after.attnlab_event_streams, 1);
    assert.ok(grew("attnlab_received_bytes_total") >= JSON.stringify(smallTraining).length);
    assert.ok(grew("attnlab_sent_bytes_total") > 1000);
    assert.ok(after.attnlab_connections >= 2);

    const long = await client.create("api/runs?wait=1", longTraining);
    await client.problem(413, `api/runs/${long.id}/cancel`, { method: "POST", body: "x".repeat(100000) });
    await client.post(`api/runs/${long.id}/cancel`);
    const later = await read();
    const within = (bound) => later[`attnlab_http_request_seconds_bucket{method="POST",route="/api/runs",le="${bound}"}`];
    const bounds = Object.keys(later).flatMap((name) => /_bucket\{method="POST",route="\/api\/runs",le="([0-9.]+)"\}$/.exec(name)?.[1] ?? []);
    assert.deepEqual(bounds, ["0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1", "5", "30"]);
    for (let i = 1; i < bounds.length; i++) assert.ok(within(bounds[i]) >= within(bounds[i - 1]), bounds[i]);
    assert.ok(within("0.5") <= 1, "a wait of one second does not count as within 0.5 s");
    assert.deepEqual([within("30"), within("+Inf")], [2, 2]);
    assert.ok(later['attnlab_http_request_seconds_sum{method="POST",route="/api/runs"}'] >= 1);
    assert.ok(later.attnlab_received_bytes_total - after.attnlab_received_bytes_total >= 100000, "a refused body counts as received");
});

test("every request has a log line with its id and without secrets", async (t) => {
    const args = ["--workers", "1", "--access", "token", "--log-level", "info"];
    const daemon = await startDaemon({ args, env: { ATTNLAB_TOKEN: token } });
    t.after(() => daemon.stop("SIGKILL"));
    const client = new Client(daemon.url);
    const secret = { Authorization: `Bearer ${token}` };
    const answer = await client.fetch("api/runs?experiment=secret-query", { headers: secret });
    const id = answer.headers.get("x-request-id");
    const signedIn = await client.post("api/session", { token });
    const cookie = setCookies(signedIn)[0].split(";")[0];
    await client.fetch("api/runs/secret-id", { headers: { Cookie: cookie } });
    await client.fetch("secret-path");
    const { stderr, code } = await daemon.stop();
    assert.equal(code, 0);
    const lines = stderr.trim().split("\n");
    for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info) \S.*$/);
    assert.ok(lines.some((line) => new RegExp(` info request=${id} GET /api/runs 200 \\d+\\.\\dms$`).test(line)), stderr);
    assert.ok(lines.some((line) => line.includes(" GET /api/runs/{id} 404 ")), stderr);
    for (const word of [token, cookie.split("=")[1], "secret"]) assert.ok(!stderr.includes(word), word);
    assert.equal(new Set(stderr.match(/request=\S+/g)).size, 4);
});

test("on SIGTERM streams end so that they can resume, nothing is lost, and the program exits within 5 s", async (t) => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    let daemon = await startDaemon({ args: ["--workers", "1"], data });
    t.after(() => daemon.stop("SIGKILL"));
    let client = new Client(daemon.url);
    const { hostname, port } = new URL(daemon.url);
    const blocker = await client.create("api/runs", longTraining); // until all clients are connected
    const run = await client.create("api/runs", { ...smallTraining, train_examples: 2000, epochs: 800 });
    const texts = Array.from({ length: 50 }, async () => {
        const response = await client.fetch(`api/runs/${run.id}/events`);
        return response.text();
    });
    const lazy = net.connect(Number(port), hostname); // never reads
    lazy.on("error", () => {});
    lazy.write(`GET /api/runs/${run.id}/events HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    const waiting = client.post("api/runs?wait=300", longTraining);
    const half = net.connect(Number(port), hostname); // half a request
    half.on("error", () => {});
    half.write("POST /api/runs HTTP/1.1\r\n");
    const areIn = async () => (await client.get("api/health")).queued === 2 && /^attnlab_event_streams 51$/m.test(await client.text("metrics"));
    await until(areIn, "all clients are connected");
    await client.post(`api/runs/${blocker.id}/cancel`);
    await client.events(`api/runs/${run.id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });
    const started = performance.now();
    const { code, stderr } = await daemon.stop();
    const milliseconds = performance.now() - started;
    assert.ok(milliseconds < endingMs(), `${milliseconds} ms`);
    assert.deepEqual([code, stderr], [0, ""]);
    lazy.destroy();
    half.destroy();
    assert.equal((await waiting).status, 201);
    const first = await Promise.all(texts);
    for (const text of first) assert.match(text, /\n\n: the service is ending\nretry: \d+\n\n$/);
    daemon = await startDaemon({ args: ["--workers", "1"], data });
    client = new Client(daemon.url);
    const ids = [...first[0].matchAll(/^id: (\d+)\nevent: (?!step)/gm)].map(([, id]) => id);
    const rest = await client.events(`api/runs/${run.id}/events`, { lastEventId: ids.at(-1) });
    assert.equal(rest.at(-1).data.state, "succeeded");
    const all = (await client.events(`api/runs/${run.id}/events`)).filter(({ event }) => event !== "step");
    assert.deepEqual([...ids, ...rest.filter(({ event }) => event !== "step").map(({ id }) => id)], all.map(({ id }) => id));
    const epochs = all.filter(({ event }) => event === "epoch").map(({ data: { epoch } }) => epoch);
    assert.deepEqual(epochs, Array.from({ length: 801 }, (_, i) => i));
    await daemon.stop();
    await rm(data, { recursive: true });
});

test("health is 503 during shutdown, and even a training step of many seconds does not delay the exit", async (t) => {
    const daemon = await startDaemon({ args: ["--workers", "1"] });
    t.after(() => daemon.stop("SIGKILL"));
    const client = new Client(daemon.url);
    const told = await client.run({ ...smallTraining, train_examples: 16, epochs: 4000 });
    const heavy = { experiment: "train", model: "lstm", width: 1024, sequence_length: 128, batch_size: 128, train_examples: 128, test_examples: 10 };
    const run = await client.create("api/runs", heavy);
    await client.events(`api/runs/${run.id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });
    await sleep(100); // the epoch before training is done, and the first step has begun
    const { hostname, port } = new URL(daemon.url);
    const lazy = net.connect(Number(port), hostname); // its unread megabyte of events delays the exit by a second
    t.after(() => lazy.destroy());
    lazy.on("error", () => {});
    lazy.write(`GET /api/runs/${told.id}/events HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    while (!/^attnlab_event_streams 1$/m.test(await client.text("metrics"))) await sleep(2);
    const started = performance.now();
    const stopped = daemon.stop();
    while ((await client.fetch("api/health")).status === 200) await sleep(2); // until the signal has arrived
    const problem = await client.problem(503, "api/health");
    assert.ok(problem.headers.get("retry-after"));
    await client.postProblem(503, "api/runs", smallTraining);
    await client.problem(503, `api/runs/${told.id}`, { method: "DELETE" });
    assert.equal((await client.fetch("api/events")).status, 200); // closes at once
    assert.equal((await stopped).code, 0);
    const milliseconds = performance.now() - started;
    assert.ok(milliseconds < endingMs(), `${milliseconds} ms`);
});

const hasNginx = spawnSync("nginx", ["-v"]).status === 0;

test("behind nginx, by the README's lines on another port, events arrive one by one, cookies are Secure, and streams are limited", { skip: !hasNginx && "nginx is not installed" }, async (t) => {
    const args = ["--workers", "1", "--access", "token", "--students", "run", "--behind-proxy", "yes", "--host", "lab.example"];
    const daemon = await startDaemon({ args, env: { ATTNLAB_TOKEN: token } });
    t.after(() => daemon.stop());
    const folder = await mkdtemp(path.join(tmpdir(), "attnlab-nginx-"));
    const free = net.createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => free.on("listening", resolve));
    const { port } = free.address();
    await new Promise((resolve) => free.close(resolve));
    const readme = await readFile(path.join(repository, "README.md"), "utf8");
    const server = /^```nginx\n([^]*?)^```/m.exec(readme)[1]
        .replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
        .replace(/ssl_.*\n/g, "")
        .replace("http://127.0.0.1:8080", new URL(daemon.url).origin)
        .replace("$scheme", "https")
        .replace(/limit_conn (\w+) \d+/, "limit_conn $1 20");
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
    await writeFile(
        path.join(folder, "nginx.conf"),
        `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
         http { access_log off; ${paths.join(" ")} ${server} }`,
    );
    const nginx = spawn("nginx", ["-p", folder, "-c", `${folder}/nginx.conf`, "-e", `${folder}/error.log`]);
    t.after(async () => {
        nginx.kill();
        await new Promise((resolve) => nginx.on("close", resolve));
        await rm(folder, { recursive: true });
    });
    const ask = (path, { method = "GET", headers = {}, body } = {}) =>
        new Promise((resolve, reject) => {
            const all = { Host: `lab.example:${port}`, Authorization: `Bearer ${token}`, ...headers };
            const sent = http.request({ host: "127.0.0.1", port, path, method, headers: all, agent: new http.Agent() }, resolve);
            sent.on("error", reject);
            sent.end(body);
        });
    await until(async () => (await ask("/api/health").catch(() => null))?.resume().statusCode === 200, "nginx answers");
    const session = await ask("/api/session");
    assert.match(session.resume().headers["set-cookie"][0], /; Secure$/);
    const write = { method: "POST", body: JSON.stringify(longTraining) };
    const json = { "Content-Type": "application/json" };
    assert.equal((await ask("/api/runs", { ...write, headers: { ...json, Origin: "https://evil.example" } })).resume().statusCode, 403);
    const created = await ask("/api/runs", { ...write, headers: { ...json, Origin: `https://lab.example:${port}` } });
    assert.equal(created.resume().statusCode, 201);
    const stream = await ask(`${created.headers.location}/events`);
    const chunks = [];
    stream.on("data", (chunk) => chunks.push(chunk.length));
    await until(() => chunks.length > 5, "six chunks have arrived");
    const bytes = chunks.slice(0, 6).reduce((sum, length) => sum + length);
    assert.ok(bytes < 8192, `nginx does not collect events in its buffers: ${chunks}`);
    stream.destroy();
    const forged = { Authorization: "", "X-Forwarded-For": "203.0.113.1" };
    const many = await Promise.all(Array.from({ length: 30 }, () => ask("/api/events", { headers: forged })));
    const refused = many.filter(({ statusCode }) => statusCode === 429).length;
    assert.ok(refused >= 10, `${refused} of 30 streams of one address are refused`);
    for (const one of many) one.destroy();
    const lecturer = new Client(daemon.url, { Authorization: `Bearer ${token}` });
    await until(async () => /^attnlab_event_streams 0$/m.test(await lecturer.text("metrics")), "the stream is closed");
});
