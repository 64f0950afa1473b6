// Bad input: the right status and problem+json, all faults at once, and the service keeps running.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Client, smallTraining } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon({ args: ["--workers", "1"] });
    client = new Client(daemon.url);
});
after(() => daemon.stop());

const fields = (problem) => problem.errors.map(({ field }) => field).sort();

test("a body that is not JSON is 400", async () => {
    for (const body of ["", "{", "nonsense", '{"a":1', "{'experiment': 'train'}", '{"experiment": NaN}', "\xff"]) {
        await client.postProblem(400, "api/runs", body);
    }
});

test("JSON other than an object is 422", async () => {
    for (const body of ["[]", "[1, 2]", "null", "true", "1", '"train"']) await client.postProblem(422, "api/runs", body);
});

test("a member twice is 400, at every depth and however it is written", async () => {
    const more = '"epochs": 1, "train_examples": 20, "test_examples": 10';
    for (const body of [
        `{"experiment": "train", ${more}, "seed": 99999999999999999999, "seed": 3}`,
        `{"experiment": "train", ${more}, "seed": 3, "seed": 3}`,
        `{"experiment": "train", ${more}, "seed": 1, "s\\u0065ed": 2}`,
        `{"experiment": "train", ${more}, "seed": {"a": {"b": 1, "b": 1}}}`,
        `{"experiment": "train", ${more}, "seed": [{"b": 99999999999999999999, "b": 1}]}`,
    ]) {
        assert.match((await client.postProblem(400, "api/runs", body)).detail, /twice/, body);
    }
    const variants = '"variants": [{"label": "a", "model": "rnn", "model": "lstm"}]';
    await client.postProblem(400, "api/comparisons", `{"experiment": "train", ${more}, ${variants}}`);
    const { id } = await client.run(smallTraining);
    await client.postProblem(400, `api/runs/${id}/predictions`, '{"sequences": [[1]], "sequences": [[2]]}');
});

test("an argument twice in a query is 400; one left empty, as forms send it, does not count", async () => {
    for (const path of [
        "api/runs?limit=5&limit=6",
        "api/runs?state=failed&limit=5&state=failed",
        "api/datasets/reviews/examples?limit=1&limit=2",
        "api/datasets/reviews/examples?train_seed=1&train_seed=2",
    ]) {
        assert.match((await client.problem(400, path)).detail, /twice/, path);
    }
    assert.match((await client.postProblem(400, "api/runs?wait=1&wait=2", smallTraining)).detail, /wait twice/);
    assert.ok((await client.get("api/runs?limit=&limit=5")).runs);
    // What the path names cannot also be an argument.
    assert.deepEqual(fields(await client.problem(422, "api/datasets/reviews/examples?task=first-element")), ["task"]);
});

test("a whole number may be written as 5.0 or 5e0, in a body and in a query", async () => {
    const create = (body) => client.create("api/runs", body);
    for (const seed of ["5", "5.0", "5e0", "50e-1"]) {
        const { parameters } = await create(JSON.stringify({ ...smallTraining, seed: 0 }).replace('"seed":0', `"seed":${seed}`));
        assert.equal(parameters.seed, 5, seed);
    }
    const { parameters } = await create('{"experiment": "scaling", "samples": 8, "keys": 4, "dimensions": [4.0, 16, 1e2]}');
    assert.deepEqual(parameters.dimensions, [4, 16, 100]);
    const { id } = await client.run(smallTraining);
    for (const one of ["1", "1.0", "1e0"]) {
        const { epoch, example, head } = await client.get(`api/runs/${id}/attention?epoch=${one}&example=${one}&head=0.0`);
        assert.deepEqual([epoch, example, head], [1, 1, 0], one);
        assert.ok((await client.get(`api/runs?limit=${one}`)).runs.length <= 1);
    }
    for (const query of ["epoch=1.5", "example=0.5", "head=0.5", "epoch=0x1", "head=1e99"]) {
        assert.deepEqual(fields(await client.problem(422, `api/runs/${id}/attention?${query}`)), [query.split("=")[0]], query);
    }
});

test("another media type is 415", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) {
        const options = { method: "POST", headers: { "Content-Type": type }, body: "{}" };
        await client.problem(415, "api/runs", options);
    }
    const run = await client.post("api/runs", smallTraining, { "Content-Type": "application/json; charset=utf-8" });
    assert.equal(run.status, 201);
});

test("a compressed body is 415, whatever is in it", async () => {
    const packed = gzipSync(JSON.stringify(smallTraining));
    const bodies = { "api/runs": "application/json", "api/datasets?name=packed": "text/csv" };
    for (const [path, type] of Object.entries(bodies)) {
        for (const encoding of ["gzip", "br", "identity, gzip"]) {
            const headers = { "Content-Type": type, "Content-Encoding": encoding };
            const { detail } = await client.problem(415, path, { method: "POST", headers, body: packed });
            assert.ok(detail.endsWith(`it is ${encoding}`), detail);
        }
    }
    const refused = await client.post("api/runs", packed.toString("latin1"), { "Content-Encoding": "gzip" });
    assert.equal(refused.headers.get("accept-encoding"), "identity");
    assert.equal((await client.post("api/runs", smallTraining, { "Content-Encoding": "identity" })).status, 201);
});

/** A POST of so many MiB of JSON, without a Content-Length. */
function postInChunks(count) {
    const body = new ReadableStream({
        start(controller) {
            for (let i = 0; i < count; i++) controller.enqueue(new TextEncoder().encode(" ".repeat(1 << 20)));
            controller.close();
        },
    });
    return { method: "POST", headers: { "Content-Type": "application/json" }, body, duplex: "half" };
}

test("too large a body is 413, with a Content-Length or without", async () => {
    const body = JSON.stringify({ experiment: "train", name: "x".repeat(5 << 20) });
    await client.postProblem(413, "api/runs", body);
    await client.problem(413, "api/runs", postInChunks(5));
    await client.problem(413, "api/runs/x/cancel", { method: "POST", body: "x".repeat(100000) });
    await client.postProblem(404, "api/runs/x/cancel", {});
});

test("a client that sends far too much can still read the 413", async () => {
    const body = `{"name": "${"x".repeat(24 << 20)}"}`;
    await client.postProblem(413, "api/runs", body);
    await client.problem(413, "api/runs", postInChunks(24));
});

/** Writes until the server closes the connection or `limit` bytes are sent: the number of bytes, and the answer. */
function pour(head, limit) {
    const { hostname, port } = new URL(daemon.url);
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    return new Promise((resolve) => {
        let sent = 0;
        let answer = "";
        const socket = net.connect(Number(port), hostname, () => socket.write(head, more));
        const more = (error) => {
            if (error) return;
            if (sent >= limit) socket.end();
            else socket.write(chunk, more);
            sent += chunk.length;
        };
        socket.on("data", (data) => (answer += data));
        socket.on("error", () => {});
        socket.on("close", () => resolve({ sent, answer }));
    });
}

test("a refused body is read only up to a limit", async () => {
    const limit = 64 << 20; // the service reads 8 MB, and the kernel buffers some of the rest
    const refused = await pour("POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", limit);
    assert.ok(refused.sent > 8 << 20 && refused.sent < limit, `${refused.sent} bytes`);
    const announced = await sendRaw("POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000000\r\n\r\n");
    assert.match(announced, /^HTTP\/1\.1 404 /, "refused at once, before any of the body is sent");
});

test("an escaped NUL truncates nothing", async () => {
    await client.problem(404, "api/runs%00x");
    await client.problem(404, "api/health%00");
    await client.problem(422, "api/runs?state=queued%00x");
    await client.problem(422, "api/runs?limit%00x=5");
    const options = { method: "POST", headers: { "Content-Type": "text/csv" }, body: "text,label\ngood,1\nbad,0\n" };
    await client.problem(422, "api/datasets?name=ab%00c", options);
});

test("numbers too large for a model are refused, not answered with nulls", async () => {
    const { id } = await client.run(smallTraining);
    for (const number of [1e16, -1e38, 1e39, 1e300]) {
        const problem = await client.postProblem(422, `api/runs/${id}/predictions`, { sequences: [[1, number]] });
        assert.match(problem.detail, /number 1 of the sequence must be from -1e15 to 1e15/);
    }
    const { predictions } = await client.create(`api/runs/${id}/predictions`, { sequences: [[1e15, -1e15, 1]] }, 200);
    for (const row of predictions[0].attention) assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5, `${row}`);
    const options = { method: "POST", headers: { "Content-Type": "text/csv" }, body: "a,label\n1e30,0\n1,1\n" };
    assert.match((await client.problem(422, "api/datasets?name=large", options)).detail, /line 2, column 1/);
});

test("all faults are reported at once, and an unknown field with the nearest known one", async () => {
    const problem = await client.postProblem(422, "api/runs", {
        experiment: "train",
        learning_rat: 0.1,
        learning_rate: -1,
        epochs: "many",
        batch_size: 1.5,
        model: "cnn",
        zzz: 1,
    });
    assert.deepEqual(fields(problem), ["batch_size", "epochs", "learning_rat", "learning_rate", "model", "zzz"]);
    const messageOf = (name) => problem.errors.find(({ field }) => field === name).message;
    assert.equal(messageOf("learning_rate"), "must be above 0 and at most 10; got -1");
    assert.match(messageOf("learning_rat"), /learning_rate/);
    assert.match(messageOf("model"), /rnn.*lstm.*attention.*transformer/);
    assert.match(messageOf("epochs"), /"many"/);
});

test("a missing or unknown experiment is answered with the known ones", async () => {
    for (const body of [{}, { experiment: "trian" }, { experiment: 3 }, { experiment: null }]) {
        const problem = await client.postProblem(422, "api/runs", body);
        assert.deepEqual(fields(problem), ["experiment"]);
        assert.match(problem.errors[0].message, /attention-steps/);
    }
});

test("wrong types, nulls and numbers out of range are 422", async () => {
    const values = [null, [], {}, "0.1", true, 1e308, -1, 0, 11];
    for (const learning_rate of values) {
        const problem = await client.postProblem(422, "api/runs", { ...smallTraining, learning_rate });
        assert.deepEqual(fields(problem), ["learning_rate"], JSON.stringify(learning_rate));
    }
    for (const seed of ["123456789012345678901234567890", "1e400", "-1", "0.5"]) {
        await client.postProblem(422, "api/runs", `{"experiment": "train", "seed": ${seed}}`);
    }
    await client.postProblem(422, "api/runs", { ...smallTraining, name: 3 });
});

test("values that contradict each other are refused under their fields", async () => {
    const problem = await client.postProblem(422, "api/runs", { experiment: "train", model: "transformer", width: 30, heads: 4 });
    assert.ok(problem.errors.some(({ field }) => field === "heads" || field === "width"));
});

test("a run that would not fit in memory is refused with the size that it would need", async () => {
    const absurd = {
        ...smallTraining,
        model: "transformer",
        width: 512,
        heads: 8,
        layers: 8,
        sequence_length: 4096,
        batch_size: 4096,
        train_examples: 100000,
    };
    const problem = await client.postProblem(422, "api/runs", absurd);
    assert.match(problem.errors[0].message, /would take [0-9.]+ MB of memory, at most [0-9.]+ MB/);
});

test("unknown ids are 404 everywhere", async () => {
    for (const path of ["", "/events", "/metrics", "/metrics.csv", "/attention", "/attention/mean", "/gradient", "/model.safetensors"]) {
        await client.problem(404, `api/runs/nobody${path}`);
    }
    await client.problem(404, "api/runs/nobody", { method: "DELETE" });
    await client.problem(404, "api/runs/nobody/cancel", { method: "POST" });
    await client.postProblem(404, "api/runs/nobody/predictions", { sequences: [[1]] });
    await client.problem(404, "api/comparisons/nobody");
    await client.problem(404, "api/datasets/nobody/examples");
    await client.problem(404, "api/datasets/nobody", { method: "DELETE" });
    await client.problem(404, "api/runs/%27%20OR%201=1--");
});

test("a bad query argument is 422 and names the field", async () => {
    for (const [path, field] of [
        ["api/runs?limit=0", "limit"],
        ["api/runs?limit=many", "limit"],
        ["api/runs?state=dead", "state"],
        ["api/runs?stat=failed", "stat"],
        ["api/events?after=x", "after"],
        ["api/events?after=-1", "after"],
        ["api/datasets/reviews/examples?splt=test", "splt"],
        ["api/datasets/reviews/examples?limit=0", "limit"],
    ]) {
        const problem = await client.problem(422, path);
        assert.deepEqual(fields(problem), [field], path);
    }
    assert.deepEqual(fields(await client.postProblem(422, "api/runs?wait=forever", smallTraining)), ["wait"]);
});

test("faults of a query, a prediction's input or an upload name their fields", async () => {
    const { id } = await client.run(smallTraining);
    const attention = `api/runs/${id}/attention`;
    for (const [query, ...named] of [
        ["example=20", "example"],
        ["example=20&layer=1&head=1&query_count=9", "example", "head", "layer", "query_count"],
        ["query_from=6", "query_from"],
    ]) {
        assert.deepEqual(fields(await client.problem(422, `${attention}?${query}`)), named, query);
    }
    const predictions = (body) => client.postProblem(422, `api/runs/${id}/predictions`, body);
    const long = Array(7).fill(1);
    assert.deepEqual(fields(await predictions({ sequences: [long, [1], [1e20]] })), ["sequences", "sequences"]);
    assert.deepEqual(fields(await predictions({ texts: ["good"] })), ["texts"]);
    for (const body of ["[]", '{"experiment": "a\\u0000b"}']) {
        assert.deepEqual(fields(await client.postProblem(422, "api/runs", body)), ["body"], body);
    }
    const upload = (name, body) =>
        client.problem(422, `api/datasets?name=${name}`, { method: "POST", headers: { "Content-Type": "text/csv" }, body });
    assert.deepEqual(fields(await upload("", "text,label\ngood,1\nbad,0\n")), ["name"]);
    const { errors } = await upload("bad", "text,label\ngood,1\nbad\n");
    assert.deepEqual(errors.map(({ field }) => field), ["body"]);
    assert.match(errors[0].message, /^line 3/);
});

test("a diverging run fails with a helpful message, and no NaN reaches JSON", async () => {
    // A transformer's scores of such numbers soon pass float32's largest; attention alone saturates and stays finite.
    const rows = Array.from({ length: 10 }, (_, i) => `${i}e14,1e15,${i % 2}`).join("\n");
    const body = `a,b,label\n${rows}\n`;
    const response = await client.fetch("api/datasets?name=huge", { method: "POST", headers: { "Content-Type": "text/csv" }, body });
    assert.equal(response.status, 201);
    const run = await client.runToEnd({ experiment: "train", model: "transformer", task: "huge", learning_rate: 10 });
    assert.equal(run.state, "failed");
    assert.match(run.error, /at step \d+ \(epoch \d+\)\. .*the features reach 1e\+15/);
    assert.equal(run.result, null);
    const events = await client.text(`api/runs/${run.id}/events`);
    const metrics = await client.text(`api/runs/${run.id}/metrics`);
    assert.doesNotMatch(events + metrics, /NaN|Infinity|[^a-z]inf[^a-z]/);
});

/** Sends bytes that are not valid HTTP and returns the answer. */
function sendRaw(bytes) {
    const { hostname, port } = new URL(daemon.url);
    return new Promise((resolve) => {
        const socket = net.connect(Number(port), hostname, () => socket.end(bytes));
        let answer = "";
        socket.on("data", (chunk) => (answer += chunk));
        socket.on("close", () => resolve(answer));
        socket.on("error", () => {});
        socket.setTimeout(5000, () => socket.destroy());
    });
}

test("invalid HTTP does no harm", async () => {
    for (const bytes of [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        `GET / HTTP/1.1\r\nX: ${"y".repeat(100000)}\r\n\r\n`,
        "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ]) {
        const answer = await sendRaw(bytes);
        assert.doesNotMatch(answer, /^HTTP\/1\.1 (200|201|500)/, bytes.slice(0, 40));
    }
    assert.equal((await client.get("api/health")).status, "ok");
});

test("deeply nested JSON does no harm", async () => {
    await client.postProblem(400, "api/runs", `{"experiment": ${"[".repeat(100000)}`);
    await client.postProblem(400, "api/runs", `{"experiment": ${"[".repeat(3000)}${"]".repeat(3000)}}`);
});
