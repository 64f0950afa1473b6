// Comparisons: several variants, each with several seeds, as one table.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, isNumber, longTraining, smallTraining, without } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon();
    client = new Client(daemon.url);
});
after(() => daemon.stop());

const comparison = {
    ...without(smallTraining, "model"),
    name: "with and without",
    seeds: [0, 1, 2],
    variants: [
        { label: "RNN", model: "rnn" },
        { label: "attention (no position)", model: "attention", position: "none" },
    ],
};

async function ended(id) {
    for (;;) {
        const view = await client.get(`api/comparisons/${id}`);
        if (!["queued", "running"].includes(view.state)) return view;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

test("a comparison's table fills as its runs end", async () => {
    const response = await client.post("api/comparisons", comparison);
    assert.equal(response.status, 201);
    const created = await response.json();
    assert.equal(response.headers.get("location"), `/api/comparisons/${created.id}`);
    assert.equal(created.runs.length, 6);
    assert.deepEqual(created.rows.map(({ label }) => label), ["RNN", "attention (no position)"]);
    const view = await ended(created.id);
    assert.equal(view.state, "succeeded");
    assert.equal(view.progress.done, view.progress.total);
    for (const { accuracies, mean, worst, parameter_count, seconds } of view.rows) {
        assert.equal(accuracies.length, 3);
        assert.ok(Math.abs(mean - (accuracies[0] + accuracies[1] + accuracies[2]) / 3) < 1e-9);
        assert.equal(worst, Math.min(...accuracies));
        assert.ok(isNumber(parameter_count, 1) && isNumber(seconds));
    }
    const runs = await Promise.all(view.runs.map((id) => client.get(`api/runs/${id}`)));
    assert.deepEqual(runs.map(({ parameters }) => parameters.seed).sort(), [0, 0, 1, 1, 2, 2]);
    assert.ok(runs.every((run) => run.comparison === created.id));
    for (const { runs: ids, accuracies, seconds } of view.rows) {
        const results = ids.map((id) => runs.find((run) => run.id === id).result);
        assert.deepEqual(accuracies, results.map((result) => result.test_accuracy));
        assert.ok(Math.abs(seconds - results.reduce((sum, result) => sum + result.seconds, 0)) < 1e-9);
    }
    assert.deepEqual(runs.filter(({ parameters }) => parameters.model === "rnn").length, 3);
    const list = await client.get(`api/runs?comparison=${created.id}`);
    assert.equal(list.runs.length, 6);

    const csv = (await client.text(`api/comparisons/${created.id}.csv`)).trim().split("\r\n");
    assert.equal(csv.length, 3);
    assert.match(csv[0], /^label,.*mean,worst,parameter_count,seconds$/);
    assert.equal(Number(csv[1].split(",")[1]), view.rows[0].accuracies[0]);

    assert.ok((await client.get("api/comparisons")).comparisons.some(({ id }) => id === created.id));
    assert.equal((await client.fetch(`api/comparisons/${created.id}`, { method: "DELETE" })).status, 204);
    await client.problem(404, `api/comparisons/${created.id}`);
    await client.problem(404, `api/runs/${view.runs[0]}`);
});

test("a row says which run belongs to which seed, even after some are deleted", async () => {
    const { id } = await client.create("api/comparisons", comparison);
    const { runs, rows } = await ended(id);
    assert.deepEqual(rows.flatMap((row) => row.runs), runs);
    assert.equal((await client.fetch(`api/runs/${runs[1]}`, { method: "DELETE" })).status, 204);
    const view = await client.get(`api/comparisons/${id}`);
    assert.equal(view.runs.length, 5);
    assert.deepEqual(view.rows.map((row) => row.runs), [[runs[0], null, runs[2]], runs.slice(3)]);
    assert.deepEqual(view.rows[0].accuracies.map((accuracy) => accuracy === null), [false, true, false]);
});

test("without `seeds`, `seed` is an ordinary parameter", async () => {
    const { id, seeds, runs } = await client.create("api/comparisons", { ...without(comparison, "seeds"), seed: 5 });
    assert.deepEqual(seeds, [5]);
    assert.equal((await client.get(`api/runs/${runs[0]}`)).parameters.seed, 5);
    await ended(id);
});

test("a comparison shows the seed that runs, however the seed comes about", async () => {
    const small = { ...without(comparison, "seeds"), epochs: 1 };
    const shown = async (body) => {
        const { id, seeds, runs } = await client.create("api/comparisons", body);
        const ran = new Set();
        for (const run of runs) ran.add((await client.get(`api/runs/${run}`)).parameters.seed ?? null);
        assert.deepEqual(seeds, [...ran], JSON.stringify(body));
        await ended(id);
        return seeds;
    };
    for (const seed of ["5", "5.0", "5e0"])
        assert.deepEqual(await shown(JSON.stringify({ ...small, seed: 0 }).replace('"seed":0', `"seed":${seed}`)), [5]);
    assert.deepEqual(await shown(small), [0]);
    // Defaults other than 0, of an experiment and of a preset; and an experiment that draws nothing.
    const variants = [{ label: "a" }];
    assert.deepEqual(await shown({ experiment: "running-average", variants }), [1337]);
    assert.deepEqual(await shown({ experiment: "attention-steps", preset: "causal-head", variants }), [1337]);
    assert.deepEqual(await shown({ experiment: "cost", lengths: [4], batch: 1, repeats: 1, variants }), [null]);
});

test("a seed that not all variants share is refused under its field", async () => {
    const refused = async (change) => {
        const { errors } = await client.postProblem(422, "api/comparisons", { ...without(comparison, "seeds"), ...change });
        return errors.map(({ field }) => field).sort();
    };
    const seven = [{ label: "a" }, { label: "b", seed: 7 }];
    assert.deepEqual(await refused({ variants: seven }), ["variants[1].seed"]);
    assert.deepEqual(await refused({ variants: seven, seed: 5 }), ["variants[1].seed"]);
    assert.deepEqual(await refused({ variants: seven, seeds: [5, 6] }), ["variants[1].seed"]);
    assert.deepEqual(await refused({ seed: 5, seeds: [6] }), ["seed"]);
    const presets = [{ label: "drawn", preset: "drawn" }, { label: "causal", preset: "causal-head" }];
    const steps = { experiment: "attention-steps", variants: presets };
    const { errors } = await client.postProblem(422, "api/comparisons", steps);
    assert.deepEqual(errors.map(({ field }) => field), ["seed"]);
    assert.match(errors[0].message, /0 for variant 0 and 1337 for variant 1/);
    const { id, seeds } = await client.create("api/comparisons", { ...steps, seed: 3 });
    assert.deepEqual(seeds, [3]);
    await ended(id);
});

test("cancelling a comparison stops all of its runs", async () => {
    const { id } = await client.create("api/comparisons", { ...comparison, ...without(longTraining, "model") });
    await client.problem(409, `api/comparisons/${id}`, { method: "DELETE" });
    await client.create(`api/comparisons/${id}/cancel`, "", 200);
    const view = await ended(id);
    assert.equal(view.state, "cancelled");
    assert.ok(view.rows.every(({ accuracies }) => accuracies.every((accuracy) => accuracy === null)));
    await client.problem(409, `api/comparisons/${id}/cancel`, { method: "POST" });
});

test("a comparison cannot be deleted while one of its runs has not ended", async () => {
    const { id } = await client.create("api/comparisons", {
        ...without(longTraining, "model"),
        seeds: [0],
        variants: [{ label: "attention", model: "attention" }],
    });
    await client.problem(409, `api/comparisons/${id}`, { method: "DELETE" });
    await client.create(`api/comparisons/${id}/cancel`, "", 200);
    assert.equal((await ended(id)).state, "cancelled");
    assert.equal((await client.fetch(`api/comparisons/${id}`, { method: "DELETE" })).status, 204);
});

test("a failed run fails its comparison, and the other runs keep their results", async () => {
    // The scores of a transformer on such numbers soon pass float32's largest.
    const rows = Array.from({ length: 10 }, (_, i) => `${i}e14,1e15,${i % 2}`).join("\n");
    const body = `a,b,label\n${rows}\n`;
    await client.fetch("api/datasets?name=huge", { method: "POST", headers: { "Content-Type": "text/csv" }, body });
    const { id } = await client.create("api/comparisons", {
        experiment: "train",
        task: "huge",
        model: "transformer",
        seeds: [0],
        variants: [
            { label: "calm", standardise: true, epochs: 1 },
            { label: "wild", learning_rate: 10 },
        ],
    });
    const view = await ended(id);
    assert.equal(view.state, "failed");
    assert.ok(isNumber(view.rows[0].accuracies[0]));
    assert.deepEqual(view.rows[1].accuracies, [null]);
});

test("a bad comparison is refused with every fault and the variant it is in", async () => {
    for (const [change, field] of [
        [{ variants: undefined }, "variants"],
        [{ variants: [] }, "variants"],
        [{ variants: [{ model: "rnn" }] }, "variants"],
        [{ variants: ["rnn"] }, "variants"],
        [{ seeds: [] }, "seeds"],
        [{ seeds: [0.5] }, "seeds"],
        [{ seeds: "0" }, "seeds"],
        [{ seeds: Array(40).fill(0) }, "seeds"],
        [{ experiment: "nothing" }, "experiment"],
        [{ variants: [{ label: "a", model: "cnn" }] }, "variants[0].model"],
        [{ variants: [{ label: "a" }, { label: "b", widht: 3 }] }, "variants[1].widht"],
    ]) {
        const problem = await client.postProblem(422, "api/comparisons", { ...comparison, ...change });
        assert.ok(problem.errors.some((fault) => fault.field === field), JSON.stringify(problem.errors));
    }
    const problem = await client.postProblem(422, "api/comparisons", { ...comparison, epochs: 0 });
    assert.deepEqual(problem.errors.map(({ field }) => field), ["epochs"]);
    const fields = async (change) => {
        const { errors } = await client.postProblem(422, "api/comparisons", { ...comparison, ...change });
        return errors.map(({ field }) => field).sort();
    };
    assert.deepEqual(await fields({ seeds: [-1], variants: [], epochs: 0 }), ["epochs", "seeds", "variants"]);
    const variants = [{ label: "a", experiment: "scaling", name: "b" }];
    assert.deepEqual(await fields({ label: "x", variants }), ["label", "variants[0].experiment", "variants[0].name"]);
});

test("a seed may be written as 1.0, as in a run", async () => {
    const body = JSON.stringify({ ...comparison, seeds: [] }).replace('"seeds":[]', '"seeds":[1.0]');
    const { id, seeds } = await client.create("api/comparisons", body);
    assert.deepEqual(seeds, [1]);
    await ended(id);
});
