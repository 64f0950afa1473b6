// The first chapter, end to end: choose models, train them, watch, and read the table, the slider and the heatmap.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, holdAnswer, readAddress, readHeatmap, readTable, startPage } from "../support/browser.js";

// Six steps and few examples: attention learns this in a second.
const small = "width=16&sequence_length=6&train_examples=400&test_examples=100&batch_size=16&learning_rate=0.01";
// Trains for many minutes unless it is cancelled.
const long = "width=64&sequence_length=60&train_examples=4000&test_examples=100&epochs=5000";
const caption = "Test accuracy after training";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

const train = (page) => page.getByRole("button", { name: "Train them" });
const isFilled = (rows) =>
    rows.slice(1).every((row) => row.slice(1).every((cell) => /\d/.test(cell) && !/epoch/.test(cell)));

test("four models with two seeds fill in the table, and attention finds step 0", async () => {
    const { page, faults, close } = await lab.open(`#four-models?${small}&epochs=12&seeds=0,1`);
    await train(page).click();
    const rows = await eventually(async () => {
        const table = await readTable(page, caption);
        return isFilled(table) && table;
    }, "the table");
    assert.deepEqual(rows[0], ["model", "seed 0", "seed 1", "mean", "worst", "parameters", "time"]);
    assert.deepEqual(
        rows.slice(1).map((row) => row[0]),
        ["RNN", "LSTM", "attention", "attention (no position)"],
    );
    const attention = rows[3];
    assert.ok(Math.abs((Number(attention[1]) + Number(attention[2])) / 2 - Number(attention[3])) < 1e-4);
    assert.ok(Number(attention[4]) > 0.9, `attention learns this: ${attention}`);

    // The page shows what the service answers.
    const id = (await readAddress(page)).parameters.get("comparison");
    const comparison = await lab.client.get(`api/comparisons/${id}`);
    assert.equal(rows[1][1], comparison.rows[0].accuracies[0].toFixed(4));
    assert.equal(rows[1][5].replace(",", ""), String(comparison.rows[0].parameter_count));

    // The slider: attention is even before training, and on step 0 at the end.
    const slider = page.getByLabel("After epoch");
    await eventually(async () => (await slider.getAttribute("max")) === "12", "all epochs");
    await slider.fill("0");
    const even = await eventually(async () => {
        const text = await readHeatmap(page, "The attention matrix", 2, 0);
        return /^query step 2, step looked at 0: 0\.(1|2)/.test(text) && text;
    }, "an even attention before training");
    await slider.fill("12");
    await eventually(async () => {
        const text = await readHeatmap(page, "The attention matrix", 2, 0);
        return text !== even && Number(text.split(": ")[1]) > 0.5;
    }, "attention on step 0 at the end");
    // When played from the beginning, the slider stops at the last epoch.
    await slider.evaluate((one) => {
        globalThis.played = [];
        new MutationObserver(() => globalThis.played.push(one.value)).observe(one, { attributeFilter: ["aria-valuetext"] });
    });
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Play" }).waitFor();
    const played = await page.evaluate(() => [...new Set(globalThis.played)]);
    assert.deepEqual(played, Array.from({ length: 13 }, (_, epoch) => String(epoch)));
    const shown = await page.locator(".expectations:not(.questions)").textContent();
    assert.match(shown, /✓?yes.*most attended step is step 0/s);

    // Every chart has its table.
    await page.getByText("Table of this chart").nth(1).click();
    const numbers = await readTable(page, /^Test accuracy$/);
    assert.equal(numbers[0].length, 9, "a column for each run");
    assert.equal(numbers.length, 14, "a row for each epoch, including the one before training");

    // A reload brings back the same comparison.
    await page.reload();
    assert.deepEqual(
        await eventually(async () => {
            const table = await readTable(page, caption);
            return isFilled(table) && table;
        }, "the table after a reload"),
        rows,
    );
    assert.deepEqual(faults, []);
    await close();
});

test("a comparison made elsewhere is recognised by its parameters, whatever its labels, even if some runs are deleted", async () => {
    const common = Object.fromEntries([...new URLSearchParams(small)].map(([name, value]) => [name, Number(value)]));
    const made = await lab.client.create("api/comparisons", {
        ...common,
        experiment: "train",
        epochs: 9,
        seeds: [3, 4],
        variants: [
            { label: "bag", model: "attention", position: "none" },
            { label: "look", model: "attention" },
        ],
    });
    const ended = () => lab.client.get(`api/comparisons/${made.id}`);
    await eventually(async () => (await ended()).state === "succeeded", "its end");
    const verdicts = (page) => page.locator(".expectations .verdict").allTextContents();
    const address = `#four-models?${small}&epochs=9&seeds=3,4&models=attention,unordered`;
    const { page, faults, close } = await lab.open(address);
    const rows = await eventually(async () => {
        const table = await readTable(page, caption);
        return isFilled(table) && table;
    }, "the table, without a click");
    assert.deepEqual(
        rows.slice(1).map((row) => row[0]),
        ["bag", "look"],
    );
    await eventually(async () => (await verdicts(page))[0] !== "not run yet", "a verdict on attention");
    assert.notEqual((await verdicts(page))[2], "not run yet", "and on attention without positions");
    assert.equal((await verdicts(page))[3], "not run yet", "none on the LSTM");

    // After the first run of the first row is deleted, the others keep their places.
    const [[gone, kept], [third]] = made.rows.map((row) => row.runs);
    await lab.client.fetch(`api/runs/${gone}`, { method: "DELETE" });
    await page.goto("about:blank");
    await page.goto(`${lab.daemon.url}#four-models?comparison=${made.id}`);
    const cells = await eventually(async () => {
        const table = await readTable(page, caption);
        return table[1]?.[1] === "deleted" && table;
    }, "the deleted run's cell");
    const accuracy = async (id) => (await lab.client.get(`api/runs/${id}`)).result.test_accuracy.toFixed(4);
    assert.equal(cells[1][2], await accuracy(kept));
    assert.equal(cells[2][1], await accuracy(third));
    await page.getByText("Table of this chart").nth(1).click();
    const [headings] = await readTable(page, /^Test accuracy$/);
    assert.deepEqual(headings, ["epoch", "bag, seed 4", "look, seed 3", "look, seed 4"]);
    assert.deepEqual(faults, []);
    await close();
});

test("an answer that arrives late, when a newer one is on view, changes nothing", async () => {
    const { page, faults, close } = await lab.open(`#four-models?${long}&seeds=5&models=rnn`);
    const cancel = page.getByRole("button", { name: "Cancel" });
    const running = await holdAnswer(page, (request) => /comparisons\/[^/?]+$/.test(request.url()));
    await train(page).click();
    await running.taken;
    await cancel.click();
    await eventually(() => train(page).isEnabled(), "its end");
    await running.release();
    assert.equal(await cancel.isVisible(), false);

    const picture = page.locator(".task-picture rect:not(.task-band)");
    const length = page.getByLabel("Sequence length");
    const nine = await holdAnswer(page, (request) => request.url().includes("sequence_length=9"));
    for (const value of ["9", "4"]) {
        await length.fill(value);
        await length.press("Tab");
    }
    await eventually(async () => (await picture.count()) === 4, "the picture");
    await nine.release();
    assert.equal(await picture.count(), 4);
    assert.deepEqual(faults, []);
    await close();
});

test("curves grow during training, and Cancel stops every run", async () => {
    const { page, faults, close } = await lab.open(`#four-models?${long}&seeds=0&models=rnn,attention`);
    await train(page).click();
    await page.getByText("Table of this chart").first().click();
    await eventually(async () => (await readTable(page, "Training loss")).length > 4, "rows of the live chart");
    await page.getByRole("button", { name: "Cancel" }).click();
    await eventually(async () => /cancelled/.test((await readTable(page, caption)).flat().join(" ")), "cancelled runs");
    await eventually(() => train(page).isEnabled(), "an enabled button");
    await eventually(async () => (await lab.client.get("api/health")).running === 0, "free workers");
    assert.deepEqual(faults, []);
    await close();
});

test("an example shows the task, drawn with the form's parameters", async () => {
    const { page, faults, close } = await lab.open("", { expected: ["422"] });
    const picture = page.locator(".task-picture");
    const top = () => train(page).evaluate((button) => button.getBoundingClientRect().top);
    const example = await holdAnswer(page, (request) => request.url().includes("first-element/examples"));
    await page.goto(`${lab.daemon.url}#four-models?sequence_length=9`);
    await example.taken;
    const before = await top();
    assert.equal(await picture.isVisible(), false);
    await example.release();
    await picture.waitFor();
    assert.equal(await top(), before, "nothing moves when the picture appears");
    assert.equal(await picture.locator("rect:not(.task-band)").count(), 9);
    const text = page.locator(".task .hint");
    const read = async (index) => {
        const { examples } = await lab.client.get(
            `api/datasets/first-element/examples?split=test&offset=${index}&limit=1&sequence_length=9`,
        );
        const [{ values, label }] = examples;
        return `Example ${index}: the first number is ${values[0].toFixed(2).replace("-", "−")}, so the answer is ${label}.`;
    };
    assert.equal(await text.textContent(), await read(0));
    await page.getByRole("button", { name: "Another example" }).click();
    const second = await read(1);
    await eventually(async () => (await text.textContent()) === second, "the second example");
    await page.getByLabel("Sequence length").fill("4");
    await page.getByLabel("Sequence length").press("Tab");
    await eventually(async () => (await picture.locator("rect:not(.task-band)").count()) === 4, "a shorter one");
    await page.getByLabel("Sequence length").fill("-4");
    await page.getByLabel("Sequence length").press("Tab");
    await picture.waitFor({ state: "hidden" });
    assert.equal(await top(), before, "nor when there is no picture to show");
    assert.deepEqual(faults, []);
    await close();
});

test("all faults are shown at once, each at its field", async () => {
    const { page, faults, close } = await lab.open("#four-models", { expected: ["422"] });
    await page.getByLabel("Epochs").fill("0");
    await page.getByText("More parameters").click();
    await page.getByLabel("Learning rate").fill("-1");
    await train(page).click();
    for (const name of ["Epochs", "Learning rate"]) {
        await eventually(async () => (await page.getByLabel(name).getAttribute("aria-invalid")) === "true", name);
    }
    assert.match(
        await page.locator(".field", { hasText: "Learning rate" }).locator(".field-error").textContent(),
        /-1/,
    );
    assert.deepEqual(
        (await lab.client.get("api/comparisons")).comparisons.filter((one) => one.state === "running"),
        [],
    );
    assert.deepEqual(faults, []);
    await close();
});

test("the curl line does what the button does", async () => {
    const { page, close } = await lab.open("#four-models?models=attention&seeds=3");
    const line = await page.locator(".curl code").first().textContent();
    const [, path, body] = line.match(/^curl -s -X POST '([^']+)' -H 'Content-Type: application\/json' -d '(.+)'$/);
    assert.equal(path, `${lab.daemon.url}api/comparisons`);
    assert.deepEqual(JSON.parse(body), {
        experiment: "train",
        seeds: [3],
        variants: [{ label: "attention", model: "attention" }],
    });
    await close();
});

test("each chosen model says what it is made of, for the parameters on view", async () => {
    const { page, faults, close } = await lab.open("#four-models?width=7&sequence_length=5&models=lstm,attention");
    const lists = page.locator(".layer-list:visible summary");
    await lists.first().waitFor();
    assert.deepEqual(await lists.allTextContents(), ["LSTM", "attention"]);
    await lists.first().click();
    const rows = async (name) => (await readTable(page, name)).map((row) => row.slice(0, 3));
    await eventually(async () => (await rows(/^LSTM: 296 parameters/)).length > 0, "the layers of the LSTM");
    assert.deepEqual((await rows(/^LSTM/)).slice(1), [
        ["rnn", "nn.LSTM(1, 7, batch_first=True)", "5\u2009\u00d7\u20097"],
        ["(last step)", "h = h[:, -1]", "1\u2009\u00d7\u20097"],
        ["fc", "nn.Linear(7, 2)", "1\u2009\u00d7\u20092"],
    ]);
    // They follow the form; a mask concerns attention alone.
    await lists.nth(1).click();
    await eventually(async () => (await rows(/^attention/)).length > 0, "the layers of attention");
    assert.ok(!(await rows(/^attention/)).some(([name]) => name === "(mask)"));
    await page.getByLabel("Mask", { exact: true }).selectOption("causal");
    await eventually(async () => (await rows(/^attention/)).some(([name]) => name === "(mask)"), "the mask");
    assert.equal((await rows(/^LSTM/)).length, 4);
    assert.deepEqual(faults, []);
    await close();
});

test("a transformer and a causal mask can be chosen, reach only the models that take them, and survive a reload", async () => {
    const tiny = "width=4&sequence_length=4&train_examples=20&test_examples=10&epochs=1&seeds=0,1,2,3,4,5,6,7";
    const { page, faults, close } = await lab.open(`#four-models?${tiny}&models=rnn,unordered`);
    await page.getByLabel("transformer", { exact: true }).waitFor();
    const heads = page.locator(".field").filter({ has: page.getByLabel("Heads", { exact: true }) });
    assert.equal(await heads.evaluate((one) => one.hidden), true, "no model that is chosen has heads");
    await page.getByLabel("transformer", { exact: true }).check();
    assert.equal(await heads.evaluate((one) => one.hidden), false);
    await page.getByLabel("Mask", { exact: true }).selectOption("causal");
    await train(page).click();
    const rows = await eventually(async () => {
        const table = await readTable(page, caption);
        return table.length === 4 && isFilled(table) && table;
    }, "the table");
    assert.deepEqual(
        rows.slice(1).map((row) => row[0]),
        ["RNN", "attention (no position), causal", "transformer, causal"],
    );
    const table = page.getByRole("group", { name: caption });
    assert.ok(await table.evaluate((one) => one.scrollWidth <= one.clientWidth), "eight seeds fit without scrolling sideways");
    const { parameters } = await readAddress(page);
    assert.equal(parameters.get("mask"), "causal");
    assert.equal(parameters.get("models"), "rnn,unordered,transformer");
    const { runs } = await lab.client.get(`api/runs?comparison=${parameters.get("comparison")}`);
    const masks = Object.fromEntries(runs.map((run) => [run.parameters.model, run.parameters.mask]));
    assert.deepEqual(masks, { rnn: "none", attention: "causal", transformer: "causal" });

    // Also without its id the comparison is found by what the form says.
    await page.goto("about:blank");
    await page.goto(`${lab.daemon.url}#four-models?${tiny}&models=rnn,unordered,transformer&mask=causal`);
    await eventually(async () => isFilled(await readTable(page, caption)) && (await readTable(page, caption)).length === 4, "the table again");
    assert.deepEqual(faults, []);
    await close();
});

test("a question's link sets the models and parameters, and its claim is checked once they have run", async () => {
    const { page, faults, close } = await lab.open("#four-models");
    await page.getByRole("link", { name: "the sequence has ten steps" }).click();
    await eventually(async () => (await page.getByLabel("Sequence length").inputValue()) === "10", "its parameters");
    assert.deepEqual(await page.locator("fieldset input:checked").evaluateAll((boxes) => boxes.map((box) => box.value)), ["lstm"]);
    const answer = page.locator(".question-answer");
    assert.match(await answer.textContent(), /not run yet/);
    // One epoch answers nothing.
    await page.getByLabel("Epochs").fill("1");
    await train(page).click();
    const verdicts = () => page.locator(".questions .verdict").allTextContents();
    await eventually(async () => isFilled(await readTable(page, caption)), "another comparison");
    assert.deepEqual(await verdicts(), Array(4).fill("not run yet"));
    await page.getByLabel("Epochs").fill("60");
    await train(page).click();
    await eventually(async () => (await verdicts())[1] === "yes", "a verdict");
    assert.match(await page.locator(".questions li").nth(1).textContent(), /(\d\.\d{3}, ){2}\d\.\d{3}/);
    assert.deepEqual(faults, []);
    await close();
});
