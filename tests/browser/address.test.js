// The address bar keeps what is on view: every chapter's parameters survive a reload and work as a link, and a reader who
// leaves a training run can come back to it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, holdAnswer, readAddress, readHeatmap, readTable, startPage } from "../support/browser.js";
import { longTraining, smallTraining, without } from "../support/client.js";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

// For each chapter: a field, a value other than its default, and the parameters that keep its run short.
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

test("a changed parameter is in the address at once and survives a reload", async () => {
    const { page, faults, close } = await lab.open("", { expected: ["422"] });
    for (const [chapter, label, value, more] of fields) {
        await page.goto(`${lab.daemon.url}#${chapter}${more && `?${more}`}`);
        // The previous chapter may have a field of this name, and stays until this one has loaded.
        const field = page.locator(`.chapter-${chapter} .chapter-body`).getByLabel(label, { exact: true }).first();
        await field.waitFor({ state: "attached" });
        await open(page, label);
        await field.fill(value);
        await field.press("Tab");
        const kept = (await readAddress(page)).parameters;
        assert.ok([...kept.values()].includes(value.replaceAll(", ", ",")), `${value} in ${chapter}'s address: ${kept}`);
        for (const [name, given] of new URLSearchParams(more)) assert.equal(kept.get(name), given, chapter);
        await page.reload();
        await field.waitFor({ state: "attached" });
        assert.equal(await field.inputValue(), value, chapter);
    }
    assert.deepEqual(faults, []);
    await close();
});

test("a chapter that writes the address just as the reader leaves does not bring them back", async () => {
    const { page, faults, close } = await lab.open("#scaling");
    await page.locator(".chapter-body").getByLabel("Dimensions", { exact: true }).waitFor();
    await page.evaluate(() => {
        const field = [...document.querySelectorAll("label")].find((one) => one.textContent === "Dimensions").control;
        location.hash = "#permutation"; // hashchange fires only after this script
        field.value = "4, 8";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.locator("h1", { hasText: "Shuffling the input" }).waitFor();
    assert.equal((await readAddress(page)).chapter, "permutation");
    await page.goBack();
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    assert.deepEqual(faults, []);
    await close();
});

test("a change made while the page looks for a known run, or waits for its own, takes effect", async () => {
    await lab.client.run({ experiment: "scaling" });
    const { page, faults, close } = await lab.open("");
    const known = await holdAnswer(page, (request) => request.url().includes("/api/runs?experiment=scaling"));
    const dimensions = page.locator(".chapter-scaling").getByLabel("Dimensions", { exact: true });
    const change = async (value) => {
        await dimensions.fill(value);
        await dimensions.press("Tab");
    };
    const widths = async () => (await readTable(page, "Measured, by width")).slice(1).map(([width]) => width);
    await page.goto(`${lab.daemon.url}#scaling`);
    await known.taken;
    await change("4, 8");
    await known.release();
    assert.deepEqual(await widths(), ["4", "8"]);
    const { parameters } = await readAddress(page);
    assert.deepEqual([...parameters.keys()], ["dimensions", "run"]);

    // A run of the earlier parameters is shown, but not linked: the address now holds other parameters than the run's.
    const own = await holdAnswer(page, (request) => request.method() === "POST");
    await change("2, 16");
    await page.getByRole("button", { name: "Run" }).click();
    await own.taken;
    await change("2, 32");
    await own.release();
    assert.deepEqual(await widths(), ["2", "16"]);
    assert.equal((await readAddress(page)).parameters.toString(), "dimensions=2%2C32");
    assert.deepEqual(faults, []);
    await close();
});

test("a link with nothing but a run fills in that run's parameters", async () => {
    const { page, faults, close } = await lab.open("");
    const check = async (chapter, run, label, value) => {
        await page.goto(`${lab.daemon.url}#${chapter}?run=${run.id}`);
        const field = page.locator(`.chapter-${chapter} .chapter-body`).getByLabel(label, { exact: true }).first();
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

test("the address keeps the run, epoch and example of the attention on view", async () => {
    const sides = [{ label: "attention", model: "attention" }];
    const made = await lab.client.create("api/comparisons", { ...smallTraining, epochs: 6, seeds: [0, 1], variants: sides });
    const ended = async () => (await lab.client.get(`api/comparisons/${made.id}`)).state === "succeeded";
    await eventually(ended, "its end");
    const [, second] = made.rows[0].runs;
    const { page, faults, close } = await lab.open(`#four-models?comparison=${made.id}`);
    const run = page.getByLabel("Run", { exact: true });
    const slider = page.getByLabel("After epoch");
    const example = page.getByLabel("Test example", { exact: true });
    const kept = async () => {
        const { parameters } = await readAddress(page);
        return ["run", "epoch", "example"].map((name) => parameters.get(name));
    };
    const heatmap = page.locator("figcaption", { hasText: "The attention matrix" });
    await heatmap.waitFor();
    assert.deepEqual(await kept(), [null, null, null], "nothing but the default view");
    // No epoch can be chosen until those of the other run are known.
    const epochs = await holdAnswer(page, (request) => request.url().endsWith(`${second}/metrics`));
    await run.selectOption(second);
    await epochs.taken;
    assert.equal(await slider.getAttribute("max"), "0");
    await epochs.release();
    await eventually(async () => (await slider.getAttribute("max")) === "6", "its epochs");
    await slider.fill("0");
    await example.fill("3");
    await example.press("Tab");
    assert.deepEqual(await kept(), [second, "0", "3"]);

    await page.reload();
    await heatmap.waitFor();
    assert.equal(await run.inputValue(), second);
    assert.deepEqual([await slider.inputValue(), await example.inputValue()], ["0", "3"]);
    await page.getByText("0 (before training)").waitFor();
    const { weights } = await lab.client.get(`api/runs/${second}/attention?epoch=0&example=3`);
    const cell = await readHeatmap(page, "The attention matrix", 2, 1);
    assert.equal(cell, `query step 2, step looked at 1: ${weights[2][1].toFixed(4)}`);

    // The newest epoch is the default, so it is not in the address. The list of runs links to each run's attention.
    await slider.fill("6");
    assert.deepEqual(await kept(), [second, null, "3"]);
    await page.goto(`${lab.daemon.url}#runs`);
    await page.getByRole("link", { name: "attention, seed 1" }).click();
    await eventually(async () => (await run.inputValue()) === second, "the clicked run");
    assert.deepEqual(faults, []);
    await close();
});

test("the chosen epoch of a training run stays on view while the run announces new ones", async () => {
    const sides = [{ label: "attention", model: "attention" }];
    const long = { ...without(longTraining, "model"), seeds: [2], variants: sides };
    const made = await lab.client.create("api/comparisons", long);
    const [[run]] = made.rows.map((row) => row.runs);
    await eventually(async () => (await lab.client.get(`api/runs/${run}/metrics`)).rows.length > 1, "its first epochs");
    const { page, faults, close } = await lab.open("");
    const newest = await holdAnswer(page, (request) => request.url().endsWith("/attention?epoch=last"));
    await page.goto(`${lab.daemon.url}#four-models?comparison=${made.id}&run=${run}&epoch=0`);
    await newest.taken;
    const epoch = async () => Number(/epoch (\d+)/.exec((await readTable(page, "after training")).join())?.[1]);
    const first = await eventually(epoch, "an epoch");
    await eventually(async () => (await epoch()) > first, "another");
    await newest.release();
    await page.getByText("0 (before training)").waitFor();
    const slider = page.getByLabel("After epoch");
    await eventually(async () => Number(await slider.getAttribute("max")) > 1, "the epochs to choose from");
    assert.equal(await slider.inputValue(), "0");
    await page.getByRole("button", { name: "Cancel" }).click();
    await eventually(async () => (await lab.client.get("api/health")).running === 0, "its end");
    assert.deepEqual(faults, []);
    await close();
});

// The last epoch in the table of a curve, if the curve has no gap, else null. Without a gap every epoch has its value; of
// a long run the table shows every nth epoch and the last.
function lastOfWhole([, ...rows]) {
    if (rows.length < 4 || rows.some((row) => row[1] === "–")) return null;
    const epochs = rows.map((row) => Number(row[0]));
    const step = epochs[1];
    const isWhole = epochs.every((epoch, index) => epoch === index * step || (index === epochs.length - 1 && epoch < index * step));
    return isWhole ? epochs.at(-1) : null;
}

test("a reader who comes back to a training run finds its curves complete and growing", async () => {
    const sizes = "width=64&sequence_length=60&train_examples=3000&test_examples=100&epochs=10000&seeds=0&models=attention";
    const { page, faults, close } = await lab.open(`#four-models?${sizes}`);
    await page.getByRole("button", { name: "Train them" }).click();
    const curve = async () => {
        // The chapter just left has such a table too.
        const details = page.locator(".chapter-four-models details.numbers").nth(1);
        if (!(await details.evaluate((one) => one.open))) await details.locator("summary").click();
        return lastOfWhole(await readTable(page, /^Test accuracy$/));
    };
    const before = await eventually(curve, "a few epochs");
    await page.locator("#contents").getByText("Why the scores are scaled").click();
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await page.locator("#contents").getByText("Four models, one task").click();
    const back = await eventually(curve, "the complete curve");
    assert.ok(back >= before, `epoch ${back} after ${before}`);
    await eventually(async () => (await curve()) > back, "further epochs");
    // Anybody who asks for the same parameters sees the run too, without the link.
    const other = await lab.open(`#four-models?${sizes}`);
    await eventually(() => other.page.getByRole("button", { name: "Cancel" }).isVisible(), "the same run");
    await other.close();
    await page.getByRole("button", { name: "Cancel" }).click();
    await eventually(async () => (await lab.client.get("api/health")).running === 0, "its end");
    assert.deepEqual(faults, []);
    await close();
});

test("the page follows a run that was started elsewhere instead of starting a second one", async () => {
    const words = { experiment: "train", task: "reviews", model: "transformer" };
    const started = await lab.client.create("api/runs", { ...words, epochs: 9000 });
    const { page, faults, close } = await lab.open("#sentences?epochs=9000");
    await page.getByText(/^\d+ of 9000 epochs$/).waitFor();
    assert.equal((await readAddress(page)).parameters.get("run"), started.id);
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
