// Runs: create, wait, list, get, cancel, delete, metrics.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, isNumber, longTraining, smallTraining, until } from "../support/client.js";
import { isSanitized, startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon({ args: ["--workers", "1"] });
    client = new Client(daemon.url);
});
after(() => daemon.stop());

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

test("a new run has all defaults filled in", async () => {
    const response = await client.post("api/runs", { experiment: "train", epochs: 1, name: "first <b>" });
    assert.equal(response.status, 201);
    const run = await response.json();
    assert.equal(response.headers.get("location"), `/api/runs/${run.id}`);
    assert.equal(run.name, "first <b>");
    assert.deepEqual(run.parameters, {
        task: "first-element",
        model: "attention",
        position: "learned",
        mask: "none",
        scale: true,
        width: 32,
        heads: 4,
        layers: 1,
        norm: "last",
        feedforward_width: 64,
        activation: "relu",
        sequence_length: 60,
        train_examples: 2000,
        test_examples: 600,
        vocabulary: "all",
        standardise: false,
        train_seed: 1,
        test_seed: 2,
        seed: 0,
        epochs: 1,
        batch_size: 64,
        learning_rate: 0.005,
        optimizer: "adam",
        momentum: 0,
        weight_decay: 0,
    });
    assert.match(run.created_at, time);
    assert.equal(run.comparison, null);
    assert.equal(run.error, null);
});

test("?wait= answers with the run and its result after its end", async () => {
    const run = await client.run(smallTraining);
    assert.match(run.started_at, time);
    assert.match(run.finished_at, time);
    assert.equal(run.progress.done, run.progress.total);
    const { result } = run;
    assert.equal(result.steps, 8);
    assert.ok(isNumber(result.parameter_count, 1) && isNumber(result.seconds));
    assert.ok(isNumber(result.test_accuracy, 0, 1) && isNumber(result.train_loss));
    assert.equal(result.attention.weights.length, 6);
    assert.deepEqual(await client.get(`api/runs/${run.id}`), run);
});

test("?wait= stops waiting when its time is up", async () => {
    const begin = Date.now();
    const run = await client.create("api/runs?wait=1", longTraining);
    const milliseconds = Date.now() - begin;
    assert.ok(milliseconds >= 900 && milliseconds < 10000, `${milliseconds} ms`); // the run itself takes minutes
    assert.equal(run.finished_at, null);
    const response = await client.post(`api/runs/${run.id}/cancel`, "");
    assert.equal(response.status, 200);
});

test("the first event comes within half a second of the POST", { skip: isSanitized() && "a sanitizer slows this program down" }, async () => {
    const times = [];
    while (times.length < 20 && !(Math.min(...times) < 500)) {
        const begin = Date.now();
        const { id } = await client.create("api/runs", { experiment: "train", epochs: 1 });
        await client.events(`api/runs/${id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });
        times.push(Date.now() - begin);
        await client.events(`api/runs/${id}/events`);
    }
    assert.ok(Math.min(...times) < 500, `${times} ms`); // the machine may sometimes be busy with other programs
});

test("the same seed gives the same numbers", async () => {
    const [first, second] = [await client.run(smallTraining), await client.run(smallTraining)];
    const rows = async ({ id }) =>
        (await client.get(`api/runs/${id}/metrics`)).rows.map(({ epoch, train_loss, test_accuracy }) => [epoch, train_loss, test_accuracy]);
    assert.deepEqual(await rows(first), await rows(second));
});

test("a running and a queued run can be cancelled; an ended one cannot", async () => {
    const running = await client.create("api/runs", longTraining);
    const waiting = await client.create("api/runs", longTraining);
    assert.equal(waiting.state, "queued");
    await client.events(`api/runs/${running.id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });
    await client.problem(409, `api/runs/${running.id}`, { method: "DELETE" });
    const cancelled = await client.create(`api/runs/${waiting.id}/cancel`, "", 200);
    assert.equal(cancelled.state, "cancelled");
    const begin = Date.now();
    const { state } = await client.create(`api/runs/${running.id}/cancel`, "", 200);
    // The answer waits for the current step, but at most two seconds: the worker may have to share its core.
    assert.ok(state === "cancelled" || Date.now() - begin >= 1900, state);
    const events = await client.events(`api/runs/${running.id}/events`);
    assert.equal(events.at(-1).event, "end");
    assert.equal(events.at(-1).data.state, "cancelled");
    await client.problem(409, `api/runs/${running.id}/cancel`, { method: "POST" });
});

/** The daemon's CPU time in seconds, which other programs do not affect. */
async function computedSeconds() {
    const numbers = (await readFile(`/proc/${daemon.pid}/stat`, "utf8")).split(") ")[1].split(" ");
    return (Number(numbers[11]) + Number(numbers[12])) / 100; // user and system, in ticks
}

test("a run of large steps is cancelled in the middle of a step", async () => {
    const wide = { experiment: "train", model: "rnn", width: 1024, batch_size: 256, train_examples: 256, test_examples: 256 };
    const many = { experiment: "permutation", sequence_length: 2000, examples: 1024 };
    for (const parameters of [wide, many]) {
        let id, begin;
        const cancelInTheMiddle = async () => {
            ({ id } = await client.create("api/runs", parameters));
            await client.events(`api/runs/${id}/events`, { enough: (events) => events.some(({ data }) => data.state === "running") });
            await sleep(200);
            begin = await computedSeconds();
            return (await client.post(`api/runs/${id}/cancel`, "")).status === 200;
        };
        await until(cancelInTheMiddle, "the run is cancelled before its end"); // it may end first if the 200 ms take long
        assert.equal((await client.events(`api/runs/${id}/events`)).at(-1).data.state, "cancelled");
        const seconds = (await computedSeconds()) - begin;
        assert.ok(seconds < (isSanitized() ? 15 : 2.5), `${seconds} s`);
    }
});

test("deleting a run removes everything that belongs to it", async () => {
    const { id } = await client.run(smallTraining);
    assert.equal((await client.fetch(`api/runs/${id}`, { method: "DELETE" })).status, 204);
    for (const path of ["", "/metrics", "/attention", "/events"]) await client.problem(404, `api/runs/${id}${path}`);
});

test("the list is newest first, paged and filtered", async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push((await client.run({ experiment: "running-average", seed: i })).id);
    const seen = [];
    const path = "api/runs?experiment=running-average&limit=2";
    for (let before = ""; before !== null; ) {
        const page = await client.get(path + (before && `&before=${before}`));
        assert.ok(page.runs.length <= 2);
        seen.push(...page.runs.map(({ id }) => id));
        before = page.next;
        assert.equal(before, page.runs.length === 2 ? page.runs[1].id : null);
    }
    assert.deepEqual(seen, ids.reverse());
    assert.equal((await client.get("api/runs?experiment=running-average&limit=5")).next, null);
    const empty = await client.get("api/runs?state=&experiment=running-average&limit=&before=");
    assert.deepEqual(empty.runs.map(({ id }) => id), ids);
    const { runs } = await client.get("api/runs?state=cancelled");
    assert.ok(runs.length > 0 && runs.every(({ state }) => state === "cancelled"));
    assert.deepEqual((await client.get("api/runs?experiment=nothing")).runs, []);
});

test("a large result is in the run, not in the list", async () => {
    const large = await client.run({ experiment: "attention-steps", tokens: 64 });
    const small = await client.run({ experiment: "attention-steps", tokens: 4 });
    assert.ok(JSON.stringify(large.result).length > 16384);
    const { runs } = await client.get("api/runs?experiment=attention-steps");
    assert.deepEqual(runs.map(({ id, state }) => [id, state]), [[small.id, "succeeded"], [large.id, "succeeded"]]);
    assert.deepEqual(runs[0].result, small.result);
    assert.equal(runs[1].result, null);
    assert.deepEqual((await client.get(`api/runs/${large.id}`)).result, large.result);
});

test("metrics have one row per epoch, as JSON and as CSV", async () => {
    const { id } = await client.run(smallTraining);
    const { rows } = await client.get(`api/runs/${id}/metrics`);
    assert.deepEqual(rows.map(({ epoch }) => epoch), [0, 1, 2]);
    assert.equal(rows[0].train_loss, null);
    assert.ok(rows[1].train_loss > 0);
    const csv = await client.text(`api/runs/${id}/metrics.csv`);
    const lines = csv.trim().split("\r\n").map((line) => line.split(","));
    assert.deepEqual(lines[0], ["epoch", "train_loss", "test_accuracy", "seconds"]);
    assert.equal(lines[1][1], "");
    assert.equal(Number(lines[2][1]), rows[1].train_loss);
    for (const [accept, type] of [
        ["text/csv", "text/csv; charset=utf-8"],
        ["application/xml, Text/CSV", "text/csv; charset=utf-8"],
        ["application/json;q=0.5,text/csv;q=0.9", "text/csv; charset=utf-8"],
        ["text/*", "text/csv; charset=utf-8"],
        ["text/csv, */*", "text/csv; charset=utf-8"],
        ["*/*", "application/json"],
        ["application/json, text/csv", "application/json"],
        ["text/csv;q=0.5, application/json", "application/json"],
        ["text/csv;q=0, */*", "application/json"],
        ["text/csvx", "application/json"],
        ["image/png", "application/json"],
    ]) {
        const answer = await client.fetch(`api/runs/${id}/metrics`, { headers: { Accept: accept } });
        assert.equal(answer.headers.get("content-type"), type, accept);
        if (type.startsWith("text/csv")) assert.equal(await answer.text(), csv);
    }
});

test("every experiment runs with its defaults, or says what it needs", async () => {
    const { experiments } = await client.get("api/experiments");
    const quick = { cost: { lengths: [4, 8], repeats: 1, batch: 2 }, train: smallTraining, "gradient-reach": { examples: 4 } };
    for (const { name } of experiments) {
        if (name === "retrieval") continue;
        const run = await client.run({ ...quick[name], experiment: name });
        assert.ok(Object.keys(run.result).length > 0, name);
    }
});
