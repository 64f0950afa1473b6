// The gradient that reaches each step of a trained run's input.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, smallTraining } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon();
    client = new Client(daemon.url);
});
after(() => daemon.stop());

test("before training it is that of the experiment gradient-reach, whose numbers are PyTorch's", async () => {
    for (const model of ["rnn", "lstm", "attention", "transformer"]) {
        const reach = await client.run({ experiment: "gradient-reach", sequence_length: 12, examples: 100, models: [model], seed: 3 });
        const [row] = reach.result.rows;
        const training = { experiment: "train", model, sequence_length: 12, train_examples: 100, test_examples: 8, epochs: 2, seed: 3 };
        const run = await client.run(training);
        const gradient = await client.get(`api/runs/${run.id}/gradient?epoch=0`);
        assert.deepEqual([gradient.epoch, gradient.epochs_kept, gradient.examples], [0, [0, 1, 2], 100]);
        row.gradient.forEach((expected, step) =>
            assert.ok(Math.abs(gradient.gradient[step] - expected) <= 1e-4 * expected, `${model}, step ${step}`),
        );
        assert.ok(Math.abs(gradient.loss - row.loss) < 1e-6);
        assert.deepEqual([gradient.first, gradient.last], [gradient.gradient[0], gradient.gradient.at(-1)]);
        assert.ok(Math.abs(gradient.ratio - gradient.last / gradient.first) < 1e-6 * gradient.ratio);
        const trained = await client.get(`api/runs/${run.id}/gradient`);
        assert.equal(trained.epoch, 2);
        assert.notDeepEqual(trained.gradient, gradient.gradient);
        assert.deepEqual(trained, await client.get(`api/runs/${run.id}/gradient?epoch=2&examples=1000`));
    }
});

test("what there is no gradient of is refused", async () => {
    const numbers = await client.run({ ...smallTraining, model: "rnn" });
    const path = `api/runs/${numbers.id}/gradient`;
    for (const query of ["epoch=first", "epoch=-1", "examples=0", "examples=1025", "examples=x", "layer=0"])
        await client.problem(422, `${path}?${query}`);
    await client.problem(404, `${path}?epoch=7`);
    const words = await client.run({ ...smallTraining, task: "reviews", sequence_length: 20 });
    const problem = await client.problem(409, `api/runs/${words.id}/gradient`);
    assert.match(problem.detail, /words have no gradient/);
    const other = await client.run({ experiment: "scaling", dimensions: [4] });
    await client.problem(409, `api/runs/${other.id}/gradient`);
});
