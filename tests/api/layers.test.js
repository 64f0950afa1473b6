// The layers of a model as its PyTorch class reads. That they are those of the classes is tested in tests/unit/core/model.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon();
    client = new Client(daemon.url);
});
after(() => daemon.stop());

const PATH = "api/experiments/train/layers";
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const product = (numbers) => numbers.reduce((total, number) => total * number, 1);

test("without parameters the layers are those of the chapter's attention", async () => {
    const { layers, parameter_count } = await client.get(PATH);
    assert.equal(parameter_count, 5218);
    assert.deepEqual(
        layers.filter((layer) => layer.name).map(({ name, code }) => [name, code]),
        [
            ["inp", "nn.Linear(1, 32)"],
            ["pos", "nn.Parameter(0.02 * torch.randn(1, 60, 32))"],
            ...["q", "k", "v"].map((name) => [name, "nn.Linear(32, 32)"]),
            ["fc", "nn.Linear(32, 2)"],
        ],
    );
    assert.deepEqual(layers.at(-1), {
        ...{ name: "fc", type: "Linear", code: "nn.Linear(32, 2)", shape: [1, 2], parameter_count: 66 },
        parameters: [{ name: "fc.weight", shape: [2, 32] }, { name: "fc.bias", shape: [2] }],
    });
});

test("counts are sums of the shapes, and a run with the same parameters has as many", async () => {
    const small = { sequence_length: 5, train_examples: 20, test_examples: 5, epochs: 1 };
    const cases = [
        { model: "lstm", width: 7 },
        { model: "transformer", width: 6, heads: 3, layers: 2, position: "rotary", mask: "causal" },
        { model: "transformer", task: "reviews", width: 6, heads: 2 },
        { model: "rnn", task: "reviews", width: 3 },
    ];
    for (const one of cases) {
        const parameters = { ...small, ...one };
        const { layers, parameter_count } = await client.get(`${PATH}?${new URLSearchParams(parameters)}`);
        for (const layer of layers)
            assert.equal(layer.parameter_count, sum(layer.parameters.map(({ shape }) => product(shape))), layer.code);
        assert.equal(parameter_count, sum(layers.map((layer) => layer.parameter_count)));
        const run = await client.run({ experiment: "train", ...parameters });
        assert.equal(run.result.parameter_count, parameter_count, JSON.stringify(one));
        const shown = layers.flatMap((layer) => layer.parameters);
        const file = Buffer.from(await (await client.fetch(`api/runs/${run.id}/model.safetensors`)).arrayBuffer());
        const { __metadata__, ...stored } = JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))));
        assert.deepEqual(
            Object.fromEntries(shown.map(({ name, shape }) => [name, shape])),
            Object.fromEntries(Object.entries(stored).map(([name, { shape }]) => [name, shape])),
            "the names and shapes in the file of the weights",
        );
    }
});

test("an embedding has a row for each word of the data set, for padding and for the unknown", async () => {
    const rows = ["text,label", ..."abcdefghij".split("").map((word, i) => `${word} same,${i % 2}`)].join("\n");
    const options = { method: "POST", headers: { "Content-Type": "text/csv" }, body: rows };
    assert.equal((await client.fetch("api/datasets?name=letters", options)).status, 201);
    const { layers } = await client.get(`${PATH}?task=letters&model=rnn&width=4`);
    assert.equal(layers[0].code, "nn.Embedding(13, 4, padding_idx=0)");
    await client.fetch("api/datasets/letters", { method: "DELETE" });
    await client.problem(422, `${PATH}?task=letters&model=rnn&width=4`);
});

test("parameters are refused as those of a run are", async () => {
    const refused = [
        ["width=0", "width"],
        ["width=1.5", "width"],
        ["model=perceptron", "model"],
        ["mdel=rnn", "mdel"],
        ["split=test", "split"],
        ["task=nobody", "task"],
        ["model=transformer&width=32&heads=5", "heads"],
        ["model=transformer&position=rotary&width=6&heads=2", "position"],
        ["sequence_length=1e9", "sequence_length"],
        ["learning_rate=0", "learning_rate"],
        ["model=transformer&width=4096&sequence_length=4096&batch_size=512", undefined],
    ];
    for (const [query, field] of refused) {
        const { errors } = await client.problem(422, `${PATH}?${query}`);
        if (field) assert.deepEqual(errors.map((error) => error.field), [field], query);
        const numeric = Object.fromEntries(
            [...new URLSearchParams(query)].map(([name, value]) => [name, Number.isNaN(Number(value)) ? value : Number(value)]),
        );
        const body = JSON.stringify({ experiment: "train", ...numeric });
        const options = { method: "POST", headers: { "Content-Type": "application/json" }, body };
        const ofRun = await client.problem(422, "api/runs", options);
        assert.deepEqual(errors.map((error) => error.field), ofRun.errors.map((error) => error.field), query);
    }
    await client.problem(400, `${PATH}?width=4&width=5`);
    await client.problem(405, PATH, { method: "POST" });
    await client.problem(404, "api/experiments/cost/layers");
});
