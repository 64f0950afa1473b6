// What the address keeps: every chapter's parameters survive a reload and travel in a link, and a reader who leaves
// a training run comes back to it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, readHeatmap, readTable, startPage } from "../support/browser.js";
import { smallTraining } from "../support/client.js";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

// A field of each chapter, another value for it, and what else a run needs to be short.
const fields = [
    ["four-models", "Epochs", "7", ""],
    ["attention-steps", "Tokens", "5", ""],
    ["running-average", "Tokens", "6", ""],
    ["scaling", "Dimensions", "4, 8", ""],
    ["gradient-reach", "Sequence length", "12", "examples=4"],
    ["permutation", "Examples", "3", ""],
    ["cost", "Lengths", "8, 16", "batch=2&repeats=2"],
    ["transformer-block", "Heads", "8", ""],
    ["sentences", "Epochs", "2", "train_examples=50"],
    ["retrieval", "Splits", "3", ""],
];

const open = (page, name) =>
    page.evaluate(async (label) => {
        const details = document.querySelector(".more-parameters");
        const inside = [...(details?.querySelectorAll("label") ?? [])].some((one) => one.textContent === label);
        if (inside) details.open = true;
    }, name);

test("a changed parameter is in the address at once, and there after a reload", async () => {
    const { page, faults, close } = await lab.open("", { expected: ["422"] });
    for (const [chapter, label, value, more] of fields) {
        await page.goto(`${lab.daemon.url}#${chapter}${more && `?${more}`}`);
        const field = page.locator(".chapter-body").getByLabel(label, { exact: true }).first();
        await field.waitFor({ state: "attached" });
        await open(page, label);
        await field.fill(value);
        await field.press("Tab");
        await eventually(() => page.url().includes(value.replaceAll(", ", "%2C")), `${chapter}'s address`);
        await page.reload();
        await field.waitFor({ state: "attached" });
        assert.equal(await field.inputValue(), value, chapter);
        if (more) assert.match(page.url(), new RegExp(more.split("=")[0]), chapter);
    }
    assert.deepEqual(faults, []);
    await close();
});

test("what a chapter remembers in the instant in which the reader leaves it does not hold them back", async () => {
    const { page, faults, close } = await lab.open("#scaling");
    await page.locator(".chapter-body").getByLabel("Dimensions", { exact: true }).waitFor();
    await page.evaluate(() => {
        const field = [...document.querySelectorAll("label")].find((one) => one.textContent === "Dimensions").control;
        location.hash = "#permutation"; // hashchange comes only after this script
        field.value = "4, 8";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.locator("h1", { hasText: "Shuffling the input" }).waitFor();
    assert.equal(new URL(page.url()).hash.split("?")[0], "#permutation");
    await page.goBack();
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    assert.deepEqual(faults, []);
    await close();
});

test("a link that names a run alone brings its parameters", async () => {
    const { page, faults, close } = await lab.open("");
    const check = async (chapter, run, label, value) => {
        await page.goto(`${lab.daemon.url}#${chapter}?run=${run.id}`);
        const field = page.locator(".chapter-body").getByLabel(label, { exact: true }).first();
        await eventually(async () => (await field.inputValue()) === value, `${label} of ${chapter}`);
    };
    await check("scaling", await lab.client.run({ experiment: "scaling", dimensions: [2, 4], seed: 5 }), "Seed", "5");
    const given = { q: [[1, 2]], k: [[3, 4]], v: [[5, 6]], mask_matrix: [[0]], scale: false };
    const steps = await lab.client.run({ experiment: "attention-steps", preset: "given", ...given });
    await check("attention-steps", steps, "Q, row 0, column 1", "2");
    assert.equal(await page.getByRole("checkbox", { name: "Scale" }).isChecked(), false);
    const line = await page.locator(".curl code").textContent();
    assert.deepEqual(JSON.parse(line.match(/-d '(.+)'$/)[1]), {
        experiment: "attention-steps",
        preset: "given",
        ...given,
    });
    assert.equal(await page.getByRole("button", { name: "query 0 sees key 0" }).textContent(), "0");
    assert.deepEqual(faults, []);
    await close();
});

test("the attention on view is in the address: of which run, after which epoch, of which example", async () => {
    const sides = [{ label: "attention", model: "attention" }];
    const made = await lab.client.create("api/comparisons", { ...smallTraining, epochs: 6, seeds: [0, 1], variants: sides });
    const ended = async () => (await lab.client.get(`api/comparisons/${made.id}`)).state === "succeeded";
    await eventually(ended, "its end");
    const [, second] = made.rows[0].runs;
    const { page, faults, close } = await lab.open(`#four-models?comparison=${made.id}`);
    const run = page.getByLabel("Run", { exact: true });
    const slider = page.getByLabel("After epoch");
    const example = page.getByLabel("Test example", { exact: true });
    const address = () => new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
    const kept = () => ["run", "epoch", "example"].map((name) => address().get(name));
    const heatmap = page.locator("figcaption", { hasText: "The attention matrix" });
    await heatmap.waitFor();
    assert.deepEqual(kept(), [null, null, null], "the usual place");
    await run.selectOption(second);
    await eventually(async () => (await slider.getAttribute("max")) === "6", "its epochs");
    await slider.fill("0");
    await example.fill("3");
    await example.press("Tab");
    assert.deepEqual(kept(), [second, "0", "3"]);

    await page.reload();
    await heatmap.waitFor();
    assert.equal(await run.inputValue(), second);
    assert.deepEqual([await slider.inputValue(), await example.inputValue()], ["0", "3"]);
    await page.getByText("0 (before training)").waitFor();
    const { weights } = await lab.client.get(`api/runs/${second}/attention?epoch=0&example=3`);
    const cell = await readHeatmap(page, "The attention matrix", 2, 1);
    assert.equal(cell, `query step 2, step looked at 1: ${weights[2][1].toFixed(4)}`);

    // The newest epoch is no choice; and the list of runs leads to each one's attention.
    await slider.fill("6");
    assert.deepEqual(kept(), [second, null, "3"]);
    await page.goto(`${lab.daemon.url}#runs`);
    await page.getByRole("link", { name: "attention, seed 1" }).click();
    await eventually(async () => (await run.inputValue()) === second, "the run that was clicked");
    assert.deepEqual(faults, []);
    await close();
});

const isWhole = (rows) => rows.length > 4 && rows.slice(1).every((row, index) => row[0] === String(index));

test("a reader leaves a training run and comes back: the curves are whole and move on", async () => {
    const sizes = "width=64&sequence_length=60&train_examples=3000&test_examples=100&epochs=4000&seeds=0&models=attention";
    const { page, faults, close } = await lab.open(`#four-models?${sizes}`);
    await page.getByRole("button", { name: "Train them" }).click();
    const curve = async () => {
        const details = page.locator("details.numbers").nth(1);
        if (!(await details.evaluate((one) => one.open))) await details.locator("summary").click();
        const rows = await readTable(page, "Test accuracy");
        return isWhole(rows) && rows.every((row) => row[1] !== "–") && rows.length;
    };
    const before = await eventually(curve, "a few epochs");
    await page.locator("#contents").getByText("Why the scores are scaled").click();
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await page.locator("#contents").getByText("Four models, one task").click();
    const back = await eventually(curve, "the curve, whole again");
    assert.ok(back >= before, `${back} rows after ${before}`);
    await eventually(async () => (await curve()) > back, "further epochs");
    // Whoever asks for the same sees it too, without the link.
    const other = await lab.open(`#four-models?${sizes}`);
    await eventually(() => other.page.getByRole("button", { name: "Cancel" }).isVisible(), "the same run");
    await other.close();
    await page.getByRole("button", { name: "Cancel" }).click();
    await eventually(async () => (await lab.client.get("api/health")).running === 0, "its end");
    assert.deepEqual(faults, []);
    await close();
});

test("a run that was started elsewhere is followed, not started a second time", async () => {
    const words = { experiment: "train", task: "reviews", model: "transformer" };
    const started = await lab.client.create("api/runs", { ...words, epochs: 9000 });
    const { page, faults, close } = await lab.open("#sentences?epochs=9000");
    await page.getByText(/^\d+ of 9000 epochs$/).waitFor();
    assert.match(page.url(), new RegExp(`run=${started.id}`));
    const { runs } = await lab.client.get("api/runs?state=running");
    assert.deepEqual(
        runs.map(({ id }) => id),
        [started.id],
    );
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled.").waitFor();
    assert.deepEqual(faults, []);
    await close();
});
