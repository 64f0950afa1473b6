// Jumps of a loss: found, marked in the chart and said in words.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startPage } from "../support/browser.js";

let host;
before(async () => {
    host = await startPage();
});
after(() => host.stop());

test("a loss that jumps and comes back is a bump, and so is one that is not back yet", async () => {
    const { page, faults, close } = await host.open("#reference");
    const find = (losses) =>
        page.evaluate(async (values) => {
            const { bumpsText, findBumps } = await import("/shared/bumps.js");
            const bumps = findBumps(values.map((y, index) => ({ x: index + 1, y })));
            return { bumps, text: bumpsText([{ label: "attention", bumps }, { label: "RNN", bumps: [] }]) };
        }, losses);
    assert.deepEqual(await find([0.7, 0.5, 0.3, 0.01, 0.02, 0.05, 0.01]), { bumps: [], text: "" });
    const { bumps, text } = await find([0.7, 0.01, 12, 59.09, 0.4, 0.02, 3]);
    assert.deepEqual(bumps, [
        { begin: 3, from: 0.01, peak: 4, top: 59.09, end: 6, to: 0.02 },
        { begin: 7, from: 0.01, peak: 7, top: 3, end: null, to: null },
    ]);
    assert.match(text, /attention in epoch 3 from 0\.01 to 59\.1 \(epoch 4\), back at 0\.02 in epoch 6;/);
    assert.match(text, /attention in epoch 7 from 0\.01 to 3, and is not back yet\./);
    assert.deepEqual(faults, []);
    await close();
});

test("the page marks the bump of a run and says when it came back", async () => {
    // Rows like those of the chapter's seed 17; the page draws what the server answers.
    const { page, faults, close } = await host.open("#sentences");
    const run = await host.client.run({ experiment: "train", task: "reviews", model: "transformer", width: 8, heads: 2, epochs: 4 });
    await page.route(`**/api/runs/${run.id}/metrics`, async (route) => {
        const rows = [null, 0.5, 12, 0.4, 0.3].map((train_loss, epoch) => ({ epoch, train_loss, test_accuracy: 0.9, seconds: epoch }));
        await route.fulfill({ json: { rows } });
    });
    await page.goto(`${page.url().split("#")[0]}#sentences?run=${run.id}`);
    await page.getByText("The loss jumped: in epoch 2 from 0.5 to 12, back at 0.4 in epoch 3").waitFor();
    assert.deepEqual(faults, []);
    await close();
});
