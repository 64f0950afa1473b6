// A clean shutdown under valgrind: with open streams, a waiting client, a running run, and data sets and models in use,
// SIGTERM leads to no error, no leak and status 0.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { Client, longTraining, smallTraining } from "../support/client.js";

const real = process.env.ATTNLAB_PROGRAM ?? path.resolve("build/attnlab");
const directory = await mkdtemp(path.join(tmpdir(), "attnlab-valgrind-"));
after(() => rm(directory, { recursive: true, force: true }));

const isSanitized = (await readFile(real)).includes("__asan_init") || (await readFile(real)).includes("__tsan_init");
const hasValgrind = spawnSync("valgrind", ["--version"]).status === 0;
const skip = (isSanitized && "a sanitizer watches this program") || (!hasValgrind && "valgrind is not installed");

// startDaemon starts $ATTNLAB_PROGRAM: here a script that runs it under valgrind. Valgrind runs one thread at a time;
// --fair-sched makes them take turns, or a worker that computes would keep the others from answering.
const report = path.join(directory, "report");
const wrapper = path.join(directory, "attnlab");
const options = `--fair-sched=yes --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --log-file='${report}'`;
await writeFile(wrapper, `#!/bin/sh\nexec valgrind --error-exitcode=99 ${options} '${real}' "$@"\n`);
await chmod(wrapper, 0o755);
process.env.ATTNLAB_PROGRAM = wrapper;
const { startDaemon } = await import("../support/daemon.js");

test("SIGTERM with open streams leaks nothing", { skip, timeout: 300_000 }, async () => {
    const daemon = await startDaemon({ args: ["--workers", "2"] });
    const client = new Client(daemon.url);
    const ended = await client.create("api/runs?wait=100", smallTraining);
    assert.equal(ended.state, "succeeded", ended.error);
    await client.get(`api/runs/${ended.id}/attention?example=1`);
    await client.get("api/datasets/reviews/examples?limit=3&train_examples=20&test_examples=5");
    await client.problem(404, "api/runs/nothing");
    await client.postProblem(400, "api/runs", "{");
    await client.create("api/comparisons", { ...smallTraining, seeds: [0, 1], variants: [{ label: "RNN", model: "rnn" }] });

    // Its epochs are short even under valgrind; the first epoch of `longTraining` would take minutes.
    const sentences = { model: "transformer", task: "reviews", train_examples: 640, test_examples: 100 };
    const long = await client.create("api/runs", { ...longTraining, ...sentences });
    const streams = [`api/runs/${long.id}/events`, "api/events", "api/events?after=0"].map((stream) =>
        client.events(stream).catch(() => []),
    );
    const waiting = client.post("api/runs?wait=200", longTraining).then((response) => response.status, () => 0);
    await client.events(`api/runs/${long.id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });

    const { code, stderr } = await daemon.stop("SIGTERM");
    const said = await readFile(report, "utf8");
    assert.match(said, /ERROR SUMMARY: 0 errors/, said);
    assert.equal(code, 0, stderr + said);
    await Promise.all(streams);
    assert.ok([0, 201].includes(await waiting));
});
