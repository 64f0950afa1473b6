// kill -9 at random instants. Nothing that was acknowledged is lost. Interrupted runs resume by themselves and end with
// the same bits as uninterrupted ones. A client that follows all runs across the restarts misses no event and gets none
// twice. The runs are attention on numbers, a transformer on text, an LSTM, and comparisons of all three.
// ATTNLAB_KILLS is the number of kills (default 50).
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { after, test } from "node:test";
import { fetchChecked } from "../support/contract.js";
import { startDaemon } from "../support/daemon.js";

const kills = Number(process.env.ATTNLAB_KILLS ?? 50);
const seeds = 3;
const epochs = 100;
const numbers = {
    experiment: "train",
    width: 8,
    sequence_length: 12,
    train_examples: 320,
    test_examples: 40,
    batch_size: 16,
    epochs,
};
const text = {
    ...numbers,
    task: "reviews",
    model: "transformer",
    position: "sinusoidal",
    heads: 2,
    feedforward_width: 16,
    train_examples: 96,
};
const lstm = { ...numbers, model: "lstm", train_examples: 160 };
const kinds = [numbers, text, lstm];

const data = await mkdtemp(path.join(tmpdir(), "attnlab-crash-"));
after(() => rm(data, { recursive: true, force: true }));

async function create(url, parameters, what = "runs", signal = undefined) {
    const response = await fetchChecked(`${url}api/${what}`, {
        signal,
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(parameters),
    });
    assert.equal(response.status, 201, await response.text());
    return response.json();
}

async function get(url, what) {
    const response = await fetchChecked(url + what);
    assert.equal(response.status, 200, `${what}: ${await response.text()}`);
    return response.json();
}

/** Follows all runs, from the end of `followed`, until the connection breaks or `isEnough(event)`. */
async function follow(url, followed, isEnough = () => false, signal = undefined) {
    const resume = followed.length > 0 ? followed.at(-1).id : "0";
    let rest = "";
    try {
        const response = await fetchChecked(`${url}api/events`, { headers: { "Last-Event-ID": resume }, signal });
        for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
            const blocks = (rest + chunk).split("\n\n");
            rest = blocks.pop();
            for (const block of blocks) {
                const [, id] = /^id: (\d+)$/m.exec(block) ?? [];
                if (!id) continue;
                const [, event] = /^event: (\w+)$/m.exec(block);
                followed.push({ id, event, data: JSON.parse(/^data: (.*)$/m.exec(block)[1]) });
                if (isEnough(followed.at(-1))) return;
            }
        }
    } catch {
        // The daemon was killed: the next call resumes after the last complete event.
    }
}

/** Asserts that each epoch came once and in order, then one end. Returns how often the run was interrupted. */
function assertWhole(run, kind, followed) {
    const own = followed.filter(({ data }) => (data.run ?? data.id) === run);
    const epochs = own.filter(({ event }) => event === "epoch").map(({ data }) => data.epoch);
    assert.deepEqual(epochs, Array.from({ length: kind.epochs + 1 }, (_, epoch) => epoch), run);
    const snapshots = own.filter(({ event }) => event === "attention").map(({ data }) => data.epoch);
    assert.deepEqual(snapshots, kind === lstm ? [] : epochs, run);
    assert.equal(own.filter(({ event }) => event === "end").length, 1, run);
    assert.equal(own.at(-1).event, "end", run);
    return own.filter(({ event, data }) => event === "state" && data.state === "running").length - 1;
}

/** Trains every kind with every seed, uninterrupted: the results that all others must match, and the mean time of a run in ms. */
async function runUndisturbed(followed) {
    const daemon = await startDaemon({ data, args: ["--workers", "2"] });
    const whole = [];
    for (const kind of kinds)
        for (let seed = 0; seed < seeds; seed++)
            whole.push({ kind, seed, id: (await create(daemon.url, { ...kind, seed })).id });
    let waiting = whole.length;
    await follow(daemon.url, followed, ({ event }) => event === "end" && --waiting === 0);
    let milliseconds = 0;
    for (const one of whole) {
        one.weights = await weights(daemon.url, one.id);
        one.rows = (await get(daemon.url, `api/runs/${one.id}/metrics`)).rows;
        const { started_at: started, finished_at: finished } = await get(daemon.url, `api/runs/${one.id}`);
        milliseconds += (Date.parse(finished) - Date.parse(started)) / whole.length;
    }
    assert.equal((await daemon.stop()).code, 0);
    return { whole, milliseconds };
}

async function weights(url, run) {
    const response = await fetchChecked(`${url}api/runs/${run}/model.safetensors`);
    assert.equal(response.status, 200);
    return Buffer.from(await response.arrayBuffer());
}

/** Starts a run, or at every fifth kill a comparison, and adds it to the lists if the daemon acknowledges it. */
async function startSomething(url, kill, runs, comparisons, signal) {
    const seed = kill % seeds;
    if (kill % 5 !== 4) {
        const kind = kinds[kill % kinds.length];
        const { id } = await create(url, { ...kind, seed }, "runs", signal);
        runs.push({ id, kind, seed });
        return;
    }
    const variants = kinds.map((kind, index) => ({ ...kind, label: `${index}` }));
    for (const variant of variants) delete variant.experiment;
    const comparison = { experiment: "train", seeds: [seed], variants };
    const { id, runs: ids } = await create(url, comparison, "comparisons", signal);
    comparisons.push({ id, seed });
    ids.forEach((run, index) => runs.push({ id: run, kind: kinds[index], seed }));
}

test(`killed ${kills} times`, { timeout: 800_000 }, async () => {
    const runs = [];
    const comparisons = [];
    const followed = [];
    const { whole, milliseconds } = await runUndisturbed(followed);
    for (let kill = 0; kill < kills; kill++) {
        const daemon = await startDaemon({ data, args: ["--workers", "2"] });
        const dead = new AbortController(); // fetch does not always notice that the daemon is gone
        const following = follow(daemon.url, followed, () => false, dead.signal);
        // If the kill comes before the answer, nothing was promised.
        const starting = startSomething(daemon.url, kill, runs, comparisons, dead.signal).catch(() => null);
        await delay(Math.random() * 2 * milliseconds);
        assert.equal((await daemon.stop("SIGKILL")).signal, "SIGKILL");
        dead.abort();
        await Promise.all([following, starting]);
    }
    assert.ok(runs.length > kills / 4, `only ${runs.length} runs of ${kills} kills were acknowledged`);
    assert.ok(comparisons.length > 0 || kills < 20, "no comparison was acknowledged");

    const daemon = await startDaemon({ data, args: ["--workers", "2"] });
    const waiting = new Set(runs.map(({ id }) => id));
    for (const { event, data: ended } of followed) if (event === "end") waiting.delete(ended.id);
    while (waiting.size > 0)
        await follow(daemon.url, followed, ({ event, data: ended }) => event === "end" && waiting.delete(ended.id) && waiting.size === 0);
    const expected = ({ kind, seed }) => whole.find((one) => one.kind === kind && one.seed === seed);
    const plain = ({ epoch, train_loss, test_accuracy }) => [epoch, train_loss, test_accuracy];
    let interruptions = 0;
    for (const one of runs) {
        const run = await get(daemon.url, `api/runs/${one.id}`);
        assert.equal(run.state, "succeeded", run.error);
        const { rows } = await get(daemon.url, `api/runs/${one.id}/metrics`);
        assert.deepEqual(rows.map(plain), expected(one).rows.map(plain), one.id);
        assert.ok(expected(one).weights.equals(await weights(daemon.url, one.id)), `the weights of ${one.id} differ`);
        interruptions += assertWhole(one.id, one.kind, followed);
    }
    for (const { id, seed } of comparisons) {
        const { state, rows } = await get(daemon.url, `api/comparisons/${id}`);
        assert.equal(state, "succeeded");
        const accuracies = kinds.map((kind) => [expected({ kind, seed }).rows.at(-1).test_accuracy]);
        assert.deepEqual(rows.map((row) => row.accuracies), accuracies);
    }
    assert.ok(interruptions > kills / 10 || kills < 20, `only ${interruptions} interruptions of runs`);
    for (let i = 1; i < followed.length; i++) assert.ok(BigInt(followed[i].id) > BigInt(followed[i - 1].id));
    assert.equal((await daemon.stop()).code, 0);
});
