// What a run takes: the memory that was promised, and the time and the disk that a student's run is held to.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { Client, smallTraining } from "../support/client.js";
import { isSanitized, startDaemon } from "../support/daemon.js";

const MEMORY_MB = 40;
const train = { experiment: "train", model: "rnn", epochs: 1, test_examples: 10 };

/* Each experiment with one parameter that grows to what --memory-mb admits, at most to `most`. */
const growing = [
    ["train_examples", 1000000, { ...train, width: 4, sequence_length: 100, batch_size: 16 }],
    ["test_examples", 1000000, { ...train, model: "attention", width: 4, sequence_length: 100, train_examples: 64 }],
    ["width", 4096, { ...train, epochs: 2, sequence_length: 4, train_examples: 64 }],
    ["batch_size", 20000, { ...train, model: "transformer", width: 8, sequence_length: 20, train_examples: 20000 }],
    ["train_examples", 1000000, { ...train, task: "reviews", width: 4 }],
    ["tokens", 512, { experiment: "attention-steps" }],
    ["tokens", 256, { experiment: "running-average", batch: 64, channels: 4 }],
    ["samples", 262144, { experiment: "scaling", dimensions: [64] }],
    ["examples", 4096, { experiment: "gradient-reach" }],
    ["examples", 1024, { experiment: "permutation", sequence_length: 500 }],
    ["batch", 1024, { experiment: "cost", repeats: 1, lengths: [200], matrix_up_to: 200 }],
    ["layers", 48, { experiment: "transformer-block", width: 128, feedforward_width: 512 }],
    ["tokens", 512, { experiment: "transformer-block", batch: 1, width: 64, heads: 64 }],
];

async function resident(pid, what) {
    return 1024 * Number(new RegExp(`${what}:\\s+(\\d+)`).exec(await readFile(`/proc/${pid}/status`, "utf8"))[1]);
}

/** The largest value that the service admits, within a hundredth. */
async function findLimit(parameter, most, body) {
    const daemon = await startDaemon({ args: ["--workers", "1", "--memory-mb", `${MEMORY_MB}`] });
    const client = new Client(daemon.url);
    const admits = async (value) => {
        const response = await client.fetch("api/runs", {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ ...body, [parameter]: value }),
        });
        const answer = await response.json();
        if (response.status === 201) await client.fetch(`api/runs/${answer.id}/cancel`, { method: "POST" });
        else assert.match(answer.errors[0].message, /would take [0-9.]+ MB of memory|must be at most/);
        return response.status === 201;
    };
    let [low, high] = [1, most + 1];
    while (high - low > Math.max(1, low / 100)) {
        const middle = Math.floor((low + high) / 2);
        if (await admits(middle)) low = middle;
        else high = middle;
    }
    await daemon.stop();
    return low;
}

test("all runs together stay within the memory limit: a run of each experiment that is just admitted takes no more than was promised", async (t) => {
    if (isSanitized()) return t.skip("a sanitizer takes memory of its own");
    for (const [parameter, most, body] of growing) {
        const value = await findLimit(parameter, most, body);
        const daemon = await startDaemon({ args: ["--workers", "1", "--memory-mb", `${MEMORY_MB}`] });
        const client = new Client(daemon.url);
        await client.get("api/health");
        await writeFile(`/proc/${daemon.pid}/clear_refs`, "5"); // the peak is counted from here
        const rest = await resident(daemon.pid, "VmRSS");
        const run = await client.run({ ...body, [parameter]: value });
        assert.equal(run.state, "succeeded", run.error);
        const taken = (await resident(daemon.pid, "VmHWM")) - rest;
        const what = `${body.experiment} ${parameter} ${value}: ${(taken / 1e6).toFixed(1)} MB`;
        t.diagnostic(what);
        assert.ok(taken <= MEMORY_MB << 20, what);
        await daemon.stop();
    }
});

test("a student's run is bounded in seconds and in what it stores, whatever parameter makes it large", async (t) => {
    const limits = ["--student-seconds", "1", "--student-epochs", "10000", "--student-disk-mb", "4", "--student-memory-mb", "64"];
    const token = "correct-horse-battery-staple";
    const daemon = await startDaemon({
        args: ["--workers", "1", "--access", "token", "--students", "run", ...limits],
        env: { ATTNLAB_TOKEN: token },
    });
    t.after(() => daemon.stop());
    const student = new Client(daemon.url);
    const lecturer = new Client(daemon.url, { Authorization: `Bearer ${token}` });
    const lengths = [470, 475, 480, 485, 490, 495, 500, 504, 506, 508, 510, 512];
    for (const [field, body] of [
        ["repeats", { experiment: "cost", lengths: [30], repeats: 1000, batch: 960 }],
        ["lengths", { experiment: "cost", lengths, repeats: 1000, batch: 4 }],
        ["dimensions", { experiment: "scaling", samples: 4000, dimensions: Array(16).fill(1024) }],
        ["layers", { experiment: "train", model: "transformer", layers: 12, heads: 8, sequence_length: 20 }],
    ]) {
        const { errors } = await student.postProblem(422, "api/runs", body);
        const [{ message }] = errors;
        assert.match(message, /^is too large: the run would take about [0-9.]+ s of one core, at most 1\.0 s of one core are allowed in a student's run/);
        assert.ok(errors[0].field === field || message.includes(field), `${field}: ${errors[0].field} ${message}`);
    }
    const large = { experiment: "train", model: "transformer", batch_size: 2000, epochs: 1 };
    assert.match((await student.postProblem(422, "api/runs", large)).detail, /at most 67\.1 MB of memory .*batch_size/);
    const storing = { ...smallTraining, model: "rnn", width: 128, train_examples: 16, epochs: 200 };
    const { errors } = await student.postProblem(422, "api/runs", storing);
    assert.match(errors.at(-1).message, /^is too large: the run would store up to [0-9.]+ MB, at most 4\.2 MB are allowed in a student's run/);
    const answers = [1, 2].map(() => student.postProblem(422, "api/runs", { experiment: "cost", lengths, repeats: 1000 }));
    const [first, second] = await Promise.all(answers);
    assert.equal(first.detail, second.detail, "the same request gets the same answer");
    const { id } = await lecturer.create("api/runs", { experiment: "cost", lengths, repeats: 1000 });
    await lecturer.post(`api/runs/${id}/cancel`);
});

test("what the page offers by default is within a student's limits", async (t) => {
    const daemon = await startDaemon({
        args: ["--workers", "1", "--access", "token", "--students", "run"],
        env: { ATTNLAB_TOKEN: "correct-horse-battery-staple" },
    });
    t.after(() => daemon.stop());
    const student = new Client(daemon.url);
    const { experiments } = await student.get("api/experiments");
    for (const { name } of experiments.filter((each) => each.name !== "retrieval")) {
        const { id } = await student.create("api/runs", { experiment: name });
        await student.fetch(`api/runs/${id}/cancel`, { method: "POST" });
    }
    const variants = [
        { label: "RNN", model: "rnn" },
        { label: "LSTM", model: "lstm" },
        { label: "attention", model: "attention" },
        { label: "no position", model: "attention", position: "none" },
    ];
    await student.create("api/comparisons", { experiment: "train", seeds: [0, 1, 2], variants });
});
