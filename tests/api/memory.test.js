// The memory of answers: known before it is taken, bounded for one request and for all, and no danger to a run.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { after, before, test } from "node:test";
import { Client, isNumber, longTraining, setCookies } from "../support/client.js";
import { isSanitized, startDaemon } from "../support/daemon.js";

const MEGABYTE = 1 << 20;
const MEMORY_MB = 256; // of all runs
const ANSWERS_MB = 32; // of all answers: an eighth, and at least this
const token = "the-token-of-the-lecturer";
const steps = 512;
const sequences = (count) => ({ sequences: Array.from({ length: count }, (_, i) => Array.from({ length: steps }, (_, t) => Math.sin(i + t))) });
// ../shared/cases/http/predictions_run.json with few layers: its 64 predictions with all heads take 2 to 3 GB.
const manyHeads = {
    ...{ experiment: "train", task: "first-element", model: "transformer", width: 32, heads: 16, layers: 1, feedforward_width: 8 },
    ...{ sequence_length: steps, train_examples: 1, test_examples: 1, epochs: 1, batch_size: 1 },
};

let daemon, client, lecturer, student, run;
before(async () => {
    const args = ["--workers", "2", "--memory-mb", String(MEMORY_MB), "--access", "token", "--students", "run"];
    daemon = await startDaemon({ args, env: { ATTNLAB_TOKEN: token } });
    const visitor = new Client(daemon.url);
    const cookie = setCookies(await visitor.fetch("api/session"))[0].split(";")[0];
    lecturer = new Client(daemon.url, { Authorization: `Bearer ${token}` });
    client = new Client(daemon.url, { Cookie: cookie });
    student = { Cookie: cookie };
    run = await client.run(manyHeads);
});
after(() => daemon.stop());

/** The peak of resident memory since the start, in bytes. */
const peak = async () => 1024 * Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${daemon.pid}/status`, "utf8"))[1]);

/** Posts to a path and reads the answer without keeping it: its status, and how many bytes. */
function post(path, body, headers) {
    return new Promise((resolve, reject) => {
        const request = http.request(daemon.url + path, { method: "POST", headers: { "Content-Type": "application/json", ...headers } }, (response) => {
            let bytes = 0;
            response.on("data", (chunk) => (bytes += chunk.length)).on("end", () => resolve({ status: response.statusCode, bytes, retry: response.headers["retry-after"] }));
            response.on("error", reject);
        });
        request.on("error", reject).end(JSON.stringify(body));
    });
}

test("a student: an answer that is too large is a 422 with its size, before anything is computed", async () => {
    const path = `api/runs/${run.id}/predictions?all_heads=true`;
    for (const [asker, limit] of [[client, ANSWERS_MB / 2], [lecturer, ANSWERS_MB]]) {
        const { detail } = await asker.postProblem(422, path, sequences(64));
        const [size, most] = detail.match(/\d+\.\d/g).map(Number);
        assert.ok(isNumber(size, 2000, 8000), detail);
        assert.ok(Math.abs(most - (limit * MEGABYTE) / 1e6) < 0.1, detail);
    }
    // What fits is answered, in full.
    const { predictions } = await client.create(`api/runs/${run.id}/predictions`, sequences(1), 200);
    assert.equal(predictions[0].attention.length, steps);
});

test("a crowd: large answers, asked for by many at once, stay within their memory, and a run survives", async (t) => {
    const long = await lecturer.create("api/runs", longTraining);
    t.after(() => lecturer.post(`api/runs/${long.id}/cancel`, {}));
    const all = `api/runs/${run.id}/predictions?all_heads=true`;
    const calls = Array.from({ length: 16 }, (_, i) => {
        const [path, count] = [[all, 16], [all, 64], [`api/runs/${run.id}/predictions`, 2], [`api/runs/${run.id}/predictions`, 1]][i % 4];
        return post(path, sequences(count), i % 3 === 0 ? lecturer.headers : student);
    });
    const answers = await Promise.all(calls);
    for (const { status, retry } of answers) {
        assert.ok([200, 422, 503].includes(status), `${status}`);
        if (status === 503) assert.ok(Number(retry) > 0);
    }
    assert.ok(answers.filter(({ status }) => status === 200).length >= 4);
    assert.equal((await lecturer.get(`api/runs/${long.id}`)).state, "running");
    // The program itself, both shares of the runs, models that are open, answers, and their requests' JSON.
    const bound = (32 + MEMORY_MB + MEMORY_MB / 2 + ANSWERS_MB + 64) * MEGABYTE;
    if (!isSanitized()) assert.ok((await peak()) < bound, `${(await peak()) / MEGABYTE} MB`);
});

test("a student: large parameters are complete in their run, and left out of lists and events", async () => {
    const matrix = Array.from({ length: 64 }, (_, i) => Array.from({ length: 64 }, (_, j) => Math.fround(Math.cos(i * j))));
    const given = await client.run({ experiment: "attention-steps", preset: "given", q: matrix, k: matrix, v: matrix });
    assert.equal(given.parameters.q.length, 64);
    const listed = (await client.get("api/runs")).runs.find(({ id }) => id === given.id);
    assert.deepEqual([listed.parameters, listed.parameters_omitted], [{}, true]);
    const events = await client.events(`api/runs/${given.id}/events`);
    assert.deepEqual(events.at(-1).data.parameters, {});
    assert.equal((await client.get(`api/runs/${given.id}`)).parameters_omitted, undefined);
});

test("a student: more examples at once than an answer may have memory for are refused with their size", async () => {
    const examples = "api/datasets/first-element/examples?train_examples=1&test_examples=1000&limit=1000&model=rnn&width=4";
    assert.equal((await client.get(`${examples}&sequence_length=512`)).examples.length, 1000);
    assert.match((await lecturer.problem(422, `${examples}&sequence_length=4000`)).detail, /up to \d+\.\d MB/);
});
