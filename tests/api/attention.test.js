// Attention matrices, mean attention, weights and predictions of a trained run.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, longTraining, smallTraining } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

const transformer = {
    ...smallTraining,
    model: "transformer",
    task: "reviews",
    heads: 2,
    layers: 3,
    sequence_length: 20,
};

let daemon, client, attention, recurrent, text;
before(async () => {
    daemon = await startDaemon();
    client = new Client(daemon.url);
    [attention, recurrent, text] = await Promise.all(
        [smallTraining, { ...smallTraining, model: "rnn" }, transformer].map((parameters) => client.run(parameters)),
    );
});
after(() => daemon.stop());

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function assertRowsSumToOne(weights) {
    for (const row of weights) assert.ok(Math.abs(sum(row) - 1) < 1e-5, `${sum(row)}`);
}

/** Reads version 1.0 of NumPy's format: { shape, values }. */
function parseNpy(bytes) {
    assert.equal(bytes.subarray(0, 8).toString("latin1"), "\x93NUMPY\x01\x00");
    const begin = 10 + bytes.readUInt16LE(8);
    assert.equal(begin % 64, 0);
    const header = bytes.subarray(10, begin).toString();
    assert.match(header, /'descr': '<f4', 'fortran_order': False/);
    const shape = /'shape': \((\d+), (\d+)\)/.exec(header).slice(1).map(Number);
    const values = Array.from({ length: (bytes.length - begin) / 4 }, (_, i) => bytes.readFloatLE(begin + 4 * i));
    return { shape, values };
}

test("a matrix is served as JSON", async () => {
    const answer = await client.get(`api/runs/${attention.id}/attention`);
    assert.equal(answer.epoch, 2);
    assert.deepEqual(answer.epochs_kept, [0, 1, 2]);
    assert.deepEqual([answer.example, answer.layer, answer.head, answer.heads, answer.layers], [0, 0, "mean", 1, 1]);
    assert.deepEqual(answer.query_labels, ["0", "1", "2", "3", "4", "5"]);
    assert.deepEqual(answer.key_labels, answer.query_labels);
    assert.equal(answer.weights.length, 6);
    assertRowsSumToOne(answer.weights);
});

test("CSV and .npy give the same matrix to the bit", async () => {
    const path = `api/runs/${attention.id}/attention`;
    const { weights } = await client.get(`${path}?epoch=1&example=3`);
    const csv = await client.text(`${path}.csv?epoch=1&example=3`);
    const rows = csv.trim().split("\r\n").map((line) => line.split(","));
    assert.deepEqual(rows[0], ["query", "0", "1", "2", "3", "4", "5"]);
    assert.deepEqual(rows.slice(1).map((row) => row.slice(1).map(Number)), weights);
    const response = await client.fetch(`${path}.npy?epoch=1&example=3`);
    const { shape, values } = parseNpy(Buffer.from(await response.arrayBuffer()));
    assert.deepEqual(shape, [6, 6]);
    assert.deepEqual(values, weights.flat().map(Math.fround));
});

test("each epoch has its own matrix, and epoch 0 is the one before training", async () => {
    const at = async (epoch) => (await client.get(`api/runs/${attention.id}/attention?epoch=${epoch}`)).weights;
    const [before, first, last] = [await at(0), await at(1), await at("last")];
    assert.notDeepEqual(before, first);
    assert.notDeepEqual(first, last);
    assert.deepEqual(await at(2), last);
    assert.deepEqual(await at(0), before);
});

test("a transformer's heads average to the mean matrix, labelled by the words", async () => {
    const path = `api/runs/${text.id}/attention?example=5&layer=1`;
    const mean = await client.get(`${path}&head=mean`);
    const heads = [await client.get(`${path}&head=0`), await client.get(`${path}&head=1`)];
    assert.deepEqual([mean.heads, mean.layers], [2, 3]);
    for (const answer of [mean, ...heads]) assertRowsSumToOne(answer.weights);
    mean.weights.flat().forEach((weight, i) => {
        const average = (heads[0].weights.flat()[i] + heads[1].weights.flat()[i]) / 2;
        assert.ok(Math.abs(weight - average) < 1e-6);
    });
    const { examples } = await client.get("api/datasets/reviews/examples?offset=5&limit=1&train_examples=64&test_examples=20");
    assert.deepEqual(mean.key_labels, examples[0].tokens);
});

test("a range of a matrix's rows can be read alone", async () => {
    const path = `api/runs/${attention.id}/attention`;
    const whole = await client.get(path);
    assert.equal(whole.query_from, 0);
    assert.equal(whole.queries, whole.weights.length);
    const some = await client.get(`${path}?query_from=2&query_count=3`);
    assert.deepEqual(some.weights, whole.weights.slice(2, 5));
    assert.deepEqual(some.query_labels, whole.query_labels.slice(2, 5));
    assert.deepEqual([some.query_from, some.queries], [2, whole.queries]);
    await client.problem(422, `${path}?query_from=${whole.queries}`);
});

test("the mean attention equals the one in the run's result", async () => {
    const mean = await client.get(`api/runs/${attention.id}/attention/mean`);
    assert.ok(Math.abs(sum(mean.weights) - 1) < 1e-5);
    assert.equal(mean.argmax, mean.weights.indexOf(Math.max(...mean.weights)));
    assert.ok(Math.abs(mean.first - mean.weights[0]) < 1e-6);
    assert.ok(Math.abs(mean.rest - sum(mean.weights.slice(1)) / 5) < 1e-6);
    assert.deepEqual(attention.result.attention.weights, mean.weights);
    const csv = await client.text(`api/runs/${attention.id}/attention/mean.csv`);
    assert.deepEqual(csv.trim().split("\r\n").slice(1).map((line) => Number(line.split(",")[1])), mean.weights);
});

test("an epoch, layer, head or example that does not exist is refused with the valid range", async () => {
    const path = `api/runs/${attention.id}/attention`;
    for (const query of ["example=20", "layer=1", "head=1", "head=first", "epoch=-1", "epoch=first", "example=-1"]) {
        await client.problem(422, `${path}?${query}`);
    }
    await client.problem(404, `${path}?epoch=7`);
    await client.problem(409, `api/runs/${recurrent.id}/attention`);
    await client.problem(409, `api/runs/${recurrent.id}/attention/mean`);
    const other = await client.run({ experiment: "attention-steps" });
    for (const end of ["attention", "attention/mean", "model.safetensors"]) await client.problem(409, `api/runs/${other.id}/${end}`);
});

test("a queued run has no attention yet", async () => {
    const blockers = await Promise.all([1, 2, 3, 4].map(() => client.create("api/runs", longTraining)));
    const waiting = await client.create("api/runs", smallTraining);
    const { workers } = await client.get("api/health");
    if (workers <= blockers.length) await client.problem(404, `api/runs/${waiting.id}/attention`);
    for (const { id } of [waiting, ...blockers]) await client.post(`api/runs/${id}/cancel`, "");
});

/** The tensors of a safetensors file, each as bytes. */
async function exported(run) {
    const response = await client.fetch(`api/runs/${run.id}/model.safetensors`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const body = 8 + Number(bytes.readBigUInt64LE(0));
    const { __metadata__, ...tensors } = JSON.parse(bytes.subarray(8, body));
    const slice = ([first, last]) => bytes.subarray(body + first, body + last);
    return new Map(Object.entries(tensors).map(([name, tensor]) => [name, slice(tensor.data_offsets)]));
}

/** Which tensors differ from those that a run at a rate too small to move anything exports. */
async function moved(parameters) {
    const [trained, initial] = await Promise.all(
        [parameters, { ...parameters, learning_rate: 1e-30 }].map(async (each) => exported(await client.run(each))),
    );
    assert.ok(initial.size > 0);
    return [...trained].filter(([name, bytes]) => !bytes.equals(initial.get(name))).map(([name]) => name);
}

const queryAndKey = ["q.weight", "q.bias", "k.weight", "k.bias"];

// Adam makes whole steps of a gradient that is only rounding.
test("query and key stay as they were drawn where every weight is one, as in PyTorch", async () => {
    const oneStep = { ...smallTraining, sequence_length: 1, train_examples: 256, batch_size: 4, epochs: 1, learning_rate: 0.005 };
    for (const variant of [{}, { position: "none" }, { position: "rotary" }, { mask: "causal" }]) {
        const names = await moved({ ...oneStep, ...variant });
        assert.ok(names.includes("v.weight"), `${names}`);
        assert.deepEqual(names.filter((name) => queryAndKey.includes(name)), [], JSON.stringify(variant));
    }
    // Heights, weights and ages, as in tests/reference/test_saturated.py: twenty steps with the whole table.
    let state = 1;
    const draw = (least, most) => least + ((state = (state * 48271) % 2147483647) % (most - least + 1));
    const rows = Array.from({ length: 250 }, () => [draw(150, 200), draw(45, 110), draw(18, 80), draw(0, 1)].join());
    const table = ["height,weight,age,label", ...rows].join("\n");
    const added = await client.fetch("api/datasets?name=ages", { method: "POST", headers: { "content-type": "text/csv" }, body: table });
    assert.equal(added.status, 201);
    const training = { experiment: "train", task: "ages", model: "attention", seed: 1, batch_size: 200, epochs: 20, learning_rate: 0.005 };
    const names = await moved(training);
    assert.ok(names.includes("v.weight"), `${names}`);
    assert.deepEqual(names.filter((name) => name.startsWith("q.")), []);
});

test("the weights are exported as safetensors under PyTorch's names", async () => {
    for (const run of [attention, recurrent, text]) {
        const response = await client.fetch(`api/runs/${run.id}/model.safetensors`);
        const bytes = Buffer.from(await response.arrayBuffer());
        const size = Number(bytes.readBigUInt64LE(0));
        const tensors = Object.entries(JSON.parse(bytes.subarray(8, 8 + size))).filter(([name]) => name !== "__metadata__");
        let numbers = 0;
        for (const [name, { dtype, shape, data_offsets }] of tensors) {
            assert.equal(dtype, "F32", name);
            const count = shape.reduce((product, length) => product * length, 1);
            assert.equal(data_offsets[1] - data_offsets[0], 4 * count, name);
            assert.ok(8 + size + data_offsets[1] <= bytes.length, name);
            numbers += count;
        }
        assert.equal(numbers, run.result.parameter_count);
    }
});

test("a model predicts classes for sequences", async () => {
    const sequences = [[1, 0, 0, 0, 0, 0], [-1, 0.5, 2, 0, 0, 1]];
    const { classes, predictions } = await client.create(`api/runs/${attention.id}/predictions`, { sequences }, 200);
    assert.equal(predictions.length, 2);
    for (const { label, probabilities, logits, attention: weights } of predictions) {
        assert.ok(Math.abs(sum(probabilities) - 1) < 1e-5);
        assert.equal(label, classes[logits.indexOf(Math.max(...logits))]);
        assertRowsSumToOne(weights);
    }
});

test("predictions for texts mark unknown words and include every head", async () => {
    const texts = ["The food was excellent, zyzzyva!", "TERRIBLE"];
    const path = `api/runs/${text.id}/predictions?all_heads=true`;
    const { predictions } = await client.create(path, { texts }, 200);
    const [first, second] = predictions;
    assert.deepEqual(second.tokens, ["terrible"]);
    assert.ok(first.tokens.includes("zyzzyva"));
    assert.equal(first.unknown[first.tokens.indexOf("zyzzyva")], true);
    assert.equal(first.unknown.length, first.tokens.length);
    assert.equal(first.attention_by_head.length, 3);
    const [one, other] = first.attention_by_head[0];
    assert.equal(first.attention_by_head[0].length, 2);
    assert.notDeepEqual(one, other);
    for (const layer of first.attention_by_head.slice(1)) assert.notDeepEqual(layer, first.attention_by_head[0]);
    first.attention.flat().forEach((weight, i) => assert.ok(Math.abs(weight - (one.flat()[i] + other.flat()[i]) / 2) < 1e-6));
    for (const head of first.attention_by_head.flat()) assertRowsSumToOne(head);
    assert.equal((await client.create(`api/runs/${recurrent.id}/predictions`, { sequences: [[1, 2]] }, 200)).predictions[0].attention, null);
});

test("bad input for predictions is refused", async () => {
    const path = `api/runs/${attention.id}/predictions`;
    for (const body of [
        {},
        { sequences: [] },
        { sequences: [[]] },
        { sequences: "1,2" },
        { sequences: [["a"]] },
        { sequences: [1] },
        { sequences: [[1]], texts: ["a"] },
        { texts: ["good"] },
        { sequence: [[1]] },
        { sequences: [[1, 2, 3, 4, 5, 6, 7]] },
        { sequences: Array(65).fill([1]) },
    ]) {
        await client.postProblem(422, path, body);
    }
    await client.postProblem(422, `api/runs/${text.id}/predictions`, { sequences: [[1]] });
    await client.postProblem(422, `api/runs/${text.id}/predictions`, { texts: [3] });
});
