// Nothing that a user sends becomes a path, SQL, HTML or a header.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Client, longTraining, smallTraining, without } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

const hostile = [
    "'; DROP TABLE runs; --",
    '" OR 1=1 --',
    "../../../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "attnlab.sqlite3",
    "attnlab.token",
    "C:\\con",
    "a/b",
    "<script>alert(1)</script>",
    "%2e%2e%2f",
    "%00",
    "x\r\nSet-Cookie: a=b",
    "%s%n%1000000d",
    "\u202enorth",
    "\u{1f600}",
    "x".repeat(5000),
    " ",
];

let data, daemon, client;
before(async () => {
    data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    await writeFile(path.join(data, "attnlab.token"), "correct-horse-battery-staple\n", { mode: 0o600 });
    await symlink("/etc/passwd", path.join(data, "link.h5"));
    daemon = await startDaemon({ args: ["--workers", "1", "--host", "lab.example"], data });
    client = new Client(daemon.url);
});
after(async () => {
    const { stderr, code } = await daemon.stop();
    assert.deepEqual([code, stderr], [0, ""]);
    await rm(data, { recursive: true });
});

/** Asserts that the answer leaks nothing from outside the service, and is not a 5xx. */
async function ask(address, options) {
    const response = await client.fetch(address, options);
    const text = await response.text();
    assert.ok(response.status < 500, `${address}: ${response.status} ${text}`);
    assert.ok(!/root:x:|correct-horse|SQLite format/.test(text), address);
    assert.equal(response.headers.get("set-cookie"), null);
    assert.doesNotMatch(response.headers.get("content-type") ?? "", /html/);
    return { status: response.status, text };
}

test("hostile text as an id or a name in a path does no harm", async () => {
    const { id } = await client.run(smallTraining);
    for (const name of hostile.filter((one) => !/^\.+$/.test(one))) { // the client itself resolves segments of dots
        const one = encodeURIComponent(name);
        for (const [method, address] of [
            ["GET", `api/runs/${one}`],
            ["DELETE", `api/runs/${one}`],
            ["POST", `api/runs/${one}/cancel`],
            ["GET", `api/runs/${one}/metrics.csv`],
            ["GET", `api/comparisons/${one}`],
            ["GET", `api/datasets/${one}/examples`],
            ["DELETE", `api/datasets/${one}`],
            ["GET", `vendor/${one}`],
        ]) {
            const { status } = await ask(address, { method });
            assert.ok([404, 405, 409].includes(status), `${method} ${address}: ${status}`);
        }
    }
    assert.equal((await client.get("api/runs")).runs[0].id, id);
});

test("hostile text as a query argument does no harm", async () => {
    const { id } = await client.run(smallTraining);
    for (const name of hostile) {
        const one = encodeURIComponent(name);
        for (const query of [`experiment=${one}`, `comparison=${one}`, `before=${one}`, `state=${one}`, `${one}=1`, `limit=${one}`]) {
            await ask(`api/runs?${query}`);
        }
        for (const query of [`epoch=${one}`, `head=${one}`, `example=${one}`]) await ask(`api/runs/${id}/attention?${query}`);
        await ask(`api/events?after=${one}x`);
        await ask(`api/datasets/reviews/examples?split=${one}`);
    }
});

test("a run opens only plain file names in the data directory, and none of the service's own files", async () => {
    for (const name of hostile) {
        const body = JSON.stringify({ experiment: "retrieval", weights: name, images: name, labels: name });
        const { status, text } = await ask("api/runs?wait=200", { method: "POST", headers: { "Content-Type": "application/json" }, body });
        assert.ok(status === 422 || JSON.parse(text).state === "failed", name);
        await client.postProblem(422, "api/runs", { ...smallTraining, task: name });
    }
    const link = JSON.stringify({ experiment: "retrieval", weights: "link.h5" });
    await ask("api/runs?wait=200", { method: "POST", headers: { "Content-Type": "application/json" }, body: link });
});

test("hostile text as the name of a data set does no harm", async () => {
    const before = await readdir(data);
    const csv = { method: "POST", headers: { "Content-Type": "text/csv" }, body: "text,label\ngood,1\nbad,0\n" };
    for (const name of hostile) {
        const { status } = await ask(`api/datasets?name=${encodeURIComponent(name)}`, csv);
        const isPlain = /^[A-Za-z0-9][\w.-]{0,63}$/.test(name);
        assert.equal(status, isPlain ? 201 : 422, name);
    }
    assert.deepEqual(await readdir(data), before, "uploading makes no file");
});

test("hostile text as a run's name, a label or a word is kept unchanged, and sent only as JSON or CSV", async () => {
    for (const name of hostile.filter(({ length }) => length <= 200)) {
        const run = await client.create("api/runs", { ...longTraining, name });
        assert.equal(run.name, name);
        assert.equal((await client.get(`api/runs/${run.id}`)).name, name);
        await client.post(`api/runs/${run.id}/cancel`, {});
        const [event] = await client.events(`api/runs/${run.id}/events`, { enough: (events) => events.length > 0 });
        assert.equal(event.data.name, name);
    }
    const label = '<b>"x",\r\n=1+1</b>';
    const compared = await client.create("api/comparisons", { ...without(smallTraining, "model"), variants: [{ label, model: "attention" }] });
    const csv = await client.text(`api/comparisons/${compared.id}.csv`);
    assert.ok(csv.split(/(?<=seconds)\r\n/)[1].startsWith(`"<b>""x"",\r\n=1+1</b>"`), csv);
    const words = "text,label\n<script>alert(1)</script> good,1\n<img src=x onerror=alert(1)> bad,0\n";
    await client.fetch("api/datasets?name=words", { method: "POST", headers: { "Content-Type": "text/csv" }, body: words });
    const { text } = await ask("api/datasets/words/examples?split=train&limit=5");
    assert.ok(JSON.parse(text).examples.length > 0);
});

test("hostile text in a header (host, origin, cookie, address) does no harm", async () => {
    for (const value of hostile.filter((one) => /^[\x20-\x7e]{1,200}$/.test(one) && one.trim())) {
        const headers = { Cookie: `attnlab_owner=${value}; attnlab_session=${value}`, "X-Forwarded-For": value, "Last-Event-ID": `${value}x` };
        assert.equal((await client.fetch("api/runs", { headers })).status, 200, value);
        assert.equal((await client.fetch("api/runs", { headers: { ...headers, Authorization: `Bearer ${value}` } })).status, 200);
        assert.equal((await client.post("api/runs", smallTraining, { Origin: value })).status, 403, value);
        assert.equal((await client.fetch("api/events", { headers })).status, 422);
    }
});
