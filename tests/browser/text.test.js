// Text: training on reviews, attention word by word, a typed sentence, and uploaded data.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, holdAnswer, readAddress, readHeatmap, readTable, startPage } from "../support/browser.js";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

test("the sentiment page trains a model on first use, then answers as the reader types", async () => {
    const { page, faults, close } = await lab.open("#sentiment");
    const label = page.locator(".answer-label");
    await eventually(() => label.isVisible(), "the first answer");
    const sentence = page.getByLabel("Your sentence");
    await sentence.fill("the film was wonderful");
    await eventually(async () => /^positive: (9\d|100)/.test(await label.textContent()), "a positive answer");
    await sentence.fill("the film was terrible");
    await eventually(async () => /^negative: (9\d|100)/.test(await label.textContent()), "a negative answer");
    await sentence.pressSequentially(" xyzzy <b>");
    await eventually(
        async () => (await page.locator(".words .word").allTextContents()).includes("xyzzy"),
        "the last word typed",
    );
    const words = await page.locator(".words li").allTextContents();
    assert.ok(words.find((word) => word.startsWith("xyzzy")).includes("unknown"), "marked as unknown");
    assert.ok(!words.find((word) => word.startsWith("film")).includes("unknown"));
    assert.equal(await page.locator(".words b").count(), 0, "typed markup stays text");
    await sentence.fill("word ".repeat(25));
    await page.getByText("This model reads the first 20 words").waitFor();
    await sentence.fill("the film was terrible");
    await eventually(async () => (await page.locator(".words .word").count()) === 4, "four words");
    assert.equal(await page.getByText("This model reads the first").count(), 0);
    const heatmap = page.locator("figure.heatmap canvas");
    await heatmap.focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await page.locator("figure.heatmap output").textContent(), /^head 1, word the: 0\.\d{4}$/);
    await assertAccessible(page, "the sentiment page");
    assert.deepEqual(faults, []);
    await close();
});

test("sentences: the chapter shows the hit rate and the attention on every word", async () => {
    const { page, faults, close } = await lab.open("#sentences?epochs=3");
    await page.getByRole("button", { name: "Train", exact: true }).click();
    const rows = await readTable(page, "This run");
    assert.ok(Number(rows[1][0]) > 0.7);
    assert.match(rows[1][3], /^\d+ of 120$/);
    await eventually(async () => (await page.locator(".sentence").count()) === 6, "six sentences");
    const shares = await page.locator(".sentence").first().locator(".share").allTextContents();
    const sum = shares.reduce((total, share) => total + Number(share), 0);
    assert.ok(Math.abs(sum - 1) < 0.01, `shares add up to ${sum}`);
    assert.equal(await page.locator(".sentence").first().locator(".decisive").count(), 1);
    // Pointing at a word, or choosing it by keyboard, shows its row of the matrix.
    const first = page.locator(".sentence").first();
    const id = (await readAddress(page)).parameters.get("run");
    const { weights } = await lab.client.get(`api/runs/${id}/attention?example=0`);
    const inRow = (row) => row.map((weight) => weight.toFixed(3));
    const shown = () => first.locator(".share").allTextContents();
    const word = first.locator("button.word");
    await word.nth(1).hover();
    assert.deepEqual(await shown(), inRow(weights[1]));
    await word.nth(2).focus();
    await page.keyboard.press("Enter");
    await page.mouse.move(0, 0);
    assert.deepEqual(await shown(), inRow(weights[2]));
    assert.match(await first.textContent(), new RegExp(`Where “${await word.nth(2).textContent()}” looks`));
    await page.keyboard.press("Enter");
    assert.deepEqual(await shown(), shares);
    await page.getByLabel("Attention of").selectOption("2");
    await eventually(
        async () =>
            (await page.locator(".sentence").first().locator(".share").allTextContents()).join() !== shares.join(),
        "another head",
    );
    await page.getByRole("button", { name: "Further" }).click();
    await page.getByText("7 to 12 of 400").waitFor();
    // A later visitor with the same parameters is shown this run.
    await page.goto("about:blank");
    await page.goto(`${lab.daemon.url}#sentences?epochs=3`);
    assert.deepEqual(await readTable(page, "This run"), rows);
    await assertAccessible(page, "sentences");
    assert.deepEqual(faults, []);
    await close();
});

test("own data: a reader uploads a file, sees its examples as text, trains on it and deletes it", async () => {
    const { page, faults, close } = await lab.open("#own-data", { expected: ["422"] });
    page.on("dialog", (dialog) => dialog.accept());
    await page.getByLabel("Name", { exact: true }).fill("moods");
    await page.getByLabel("Or paste it here").fill("text,label\nlovely,good\nonly one field");
    await page.getByRole("button", { name: "Upload" }).click();
    await eventually(
        async () => /line 3/.test(await page.locator(".alert").first().textContent()),
        "the number of the bad line",
    );

    const lines = Array.from({ length: 40 }, (_, index) =>
        index % 2 ? `"what a <script>alert(1)</script> day ${index}",good` : `rain again ${index},bad`,
    );
    await page.getByLabel("Or paste it here").fill(`text,label\n${lines.join("\n")}`);
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByText("moods: 40 rows, 2 classes").waitFor();
    await eventually(
        async () =>
            (await readTable(page, "moods, training examples"))[2]?.[2] === "what a <script>alert(1)</script> day 1",
        "the example as written",
    );
    assert.equal(await page.locator("main script").count(), 0);
    await assertAccessible(page, "own data");

    await page.getByRole("button", { name: "Train on moods" }).click();
    await page.getByText("of the test examples right").waitFor();
    // The examples are fetched again to show where the model looks.
    await page.locator("figcaption", { hasText: "The attention matrix" }).waitFor();
    await page.getByRole("button", { name: "Delete moods" }).click();
    await eventually(async () => !(await readTable(page, "Data sets")).flat().includes("moods"), "its deletion");
    const { datasets } = await lab.client.get("api/datasets");
    assert.deepEqual(datasets.filter((one) => one.source !== "drawn").map((one) => one.name), []);
    assert.deepEqual(faults, []);
    await close();
});

test("own data: every model can be chosen, with the defaults for the kind of data", async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => `${index % 7},${(-1) ** index},0.5,${index % 2 ? "odd" : "even"}`);
    const words = Array.from({ length: 30 }, (_, index) => (index % 2 ? "such a day,good" : "rain again,bad"));
    for (const [name, text] of [
        ["parity", `a,b,c,label\n${numbers.join("\n")}`],
        ["weather", `text,label\n${words.join("\n")}`],
    ]) {
        const response = await lab.client.fetch(`api/datasets?name=${name}`, {
            method: "POST",
            headers: { "Content-Type": "text/csv" },
            body: text,
        });
        assert.equal(response.status, 201);
    }
    const { page, faults, close } = await lab.open("#own-data?dataset=weather");
    const model = page.getByLabel("Model", { exact: true });
    const asked = async () => JSON.parse((await page.locator(".curl code").last().textContent()).match(/-d '(.+)'$/)[1]);
    await model.waitFor();
    assert.equal(await model.inputValue(), "transformer");
    assert.equal(await page.getByLabel("Epochs").inputValue(), "12");
    const { experiments } = await lab.client.get("api/experiments");
    const choices = experiments.find((one) => one.name === "train").parameters.properties.model.enum;
    assert.ok(["rnn", "lstm", "attention", "transformer"].every((name) => choices.includes(name)), choices.join());
    assert.deepEqual(await model.locator("option").allTextContents(), choices);
    assert.deepEqual(await asked(), { experiment: "train", task: "weather", model: "transformer" });
    await model.selectOption("lstm");
    assert.equal(await page.getByLabel("Positions").isVisible(), false, "an LSTM has no positions");
    await page.getByRole("button", { name: "Train on weather" }).click();
    await page.getByText("of the test examples right").waitFor();
    const { parameters } = await readAddress(page);
    assert.deepEqual([parameters.get("dataset"), parameters.get("model")], ["weather", "lstm"]);
    assert.equal(await page.getByText("Where it looks", { exact: true }).isVisible(), false, "nor attention");
    assert.deepEqual(await asked(), { experiment: "train", task: "weather", model: "lstm" });

    // Late answers about one data set are ignored once another is chosen.
    const { id } = await lab.client.run({ experiment: "train", task: "weather", model: "transformer" });
    const examples = await holdAnswer(page, (request) => request.url().includes("weather/examples"));
    const known = await holdAnswer(page, (request) => request.url().endsWith(`/api/runs/${id}`));
    await page.getByRole("button", { name: "weather", exact: true }).click();
    await Promise.all([examples.taken, known.taken]);
    await page.getByRole("button", { name: "parity", exact: true }).click();
    await page.getByRole("button", { name: "Train on parity" }).waitFor();
    const rows = await readTable(page, "parity, training examples");
    await Promise.all([examples.release(), known.release()]);
    assert.deepEqual(await readTable(page, "parity, training examples"), rows);
    assert.equal((await readAddress(page)).parameters.toString(), "dataset=parity");
    assert.equal(await model.inputValue(), "attention");
    assert.equal(await page.getByLabel("Epochs").inputValue(), "60");
    await page.getByLabel("Epochs").fill("3");
    await page.getByRole("button", { name: "Train on parity" }).click();
    await page.getByText("of the test examples right").waitFor();
    await page.locator("figcaption", { hasText: "The attention matrix" }).waitFor();
    assert.deepEqual(await asked(), { experiment: "train", task: "parity", epochs: 3 });
    await assertAccessible(page, "own numbers");
    // The link restores the data set, the parameters and the run.
    await page.reload();
    await page.getByText("of the test examples right").waitFor();
    assert.equal(await page.getByLabel("Epochs").inputValue(), "3");
    assert.deepEqual(faults, []);
    await close();
});

test("own data: the page shows where a text model looks in a chosen sentence, and the address keeps it", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => (index % 2 ? `lovely day ${index},good` : `it rained again ${index},bad`));
    const upload = { method: "POST", headers: { "Content-Type": "text/csv" }, body: `text,label\n${lines.join("\n")}` };
    assert.equal((await lab.client.fetch("api/datasets?name=diary", upload)).status, 201);
    const { page, faults, close } = await lab.open("#own-data?dataset=diary&layers=2&epochs=3");
    await page.getByRole("button", { name: "Train on diary" }).click();
    await page.getByRole("link", { name: "Type sentences for this model" }).waitFor();
    const words = page.locator(".attention-view button.word");
    await words.first().waitFor();
    await page.getByLabel("Test example", { exact: true }).fill("1");
    await page.getByLabel("Test example", { exact: true }).press("Tab");
    await page.getByLabel("Layer", { exact: true }).selectOption("1");
    await page.getByLabel("Head", { exact: true }).selectOption("2");
    const { parameters: address } = await readAddress(page);
    assert.deepEqual(
        ["example", "layer", "head"].map((name) => address.get(name)),
        ["1", "1", "2"],
    );
    const path = `api/runs/${address.get("run")}/attention?example=1&layer=1&head=2`;
    const { weights, key_labels: labels } = await lab.client.get(path);
    const shown = `word ${labels[1]}, word looked at ${labels[0]}: ${weights[1][0].toFixed(4)}`;
    for (const when of ["when chosen", "after a reload"]) {
        await eventually(async () => (await readHeatmap(page, "The attention matrix", 1, 0)) === shown, `${shown} ${when}`);
        assert.deepEqual(await words.allTextContents(), labels, when);
        await page.reload();
        await words.first().waitFor();
    }
    await assertAccessible(page, "own sentences");
    assert.deepEqual(faults, []);
    await close();
});

test("sentences: a test sentence shows its padding, the mask and the mean's denominator, and follows the form", async () => {
    const { page, faults, close } = await lab.open("#sentences");
    const example = page.locator(".padded-example");
    const { examples } = await lab.client.get("api/datasets/reviews/examples?limit=2");
    const words = () => example.locator("li:not(.padded-key) .padded-word").allTextContents();
    const wanted = ({ tokens }, length) => [...tokens, ...Array(Math.max(0, length - tokens.length)).fill("pad")];
    await eventually(async () => (await words()).join() === wanted(examples[0], 20).join(), "the first sentence with its padding");
    const real = examples[0].tokens.length;
    const cells = await example.locator("li:not(.padded-key)").allTextContents();
    assert.ok(cells.slice(0, real).every((cell) => cell.endsWith(`, mask 1, share of the output 1/${real}`)), cells[0]);
    assert.ok(cells.slice(real).every((cell) => cell === "pad, mask 0, share of the output 0"), cells.at(-1));
    assert.match(await example.textContent(), new RegExp(`divided by ${real}, not by 20`));
    await example.getByRole("button", { name: "Another sentence" }).click();
    await eventually(async () => (await words()).join() === wanted(examples[1], 20).join(), "the next one");
    await page.evaluate(() => (document.querySelector(".more-parameters").open = true));
    await page.getByLabel("Sequence length").fill("30");
    await page.getByLabel("Sequence length").press("Tab");
    await eventually(async () => (await words()).join() === wanted(examples[1], 30).join(), "longer sequences");
    assert.deepEqual(faults, []);
    await close();
});

test("own data: a recurrent model ends at the last real step of a sentence; numbers have no padding", async () => {
    const { page, faults, close } = await lab.open("#own-data?dataset=reviews&model=rnn");
    const example = page.locator(".padded-example");
    await example.getByText("the last real one").waitFor();
    const shares = await example.locator("li:not(.padded-key)").allTextContents();
    assert.equal(shares.filter((cell) => /mask 1, share of the output 1$/.test(cell)).length, 1);
    await page.getByLabel("Model", { exact: true }).selectOption("attention");
    await example.getByText("is the mean over").waitFor();
    await page.getByRole("button", { name: "last-element", exact: true }).click();
    await page.getByRole("button", { name: "Train on last-element" }).waitFor();
    assert.equal(await example.count(), 0);
    assert.deepEqual(faults, []);
    await close();
});

test("sentiment: a question's link fills in its sentence, and the answer of the chapter's model is checked", async () => {
    const { page, faults, close } = await lab.open("#sentiment");
    await eventually(() => page.locator(".answer-label").isVisible(), "the first answer");
    await page.getByRole("link", { name: "the deciding word comes after the last step?" }).click();
    const answer = page.locator(".question-answer");
    await eventually(async () => /yes/.test(await answer.locator(".verdict").textContent()), "the verdict");
    assert.match(await answer.textContent(), /20 words read/);
    assert.equal(await page.locator(".padded li:not(.padded-key)").count(), 20);
    assert.match(await page.locator(".answer").textContent(), /20 words and no padding/);
    assert.deepEqual(faults, []);
    await close();
});

test("sentences and own data: a question is answered by a run with its settings, whoever started it", async () => {
    const { page, faults, close } = await lab.open("#sentences");
    await page.locator(".questions").waitFor();
    await lab.client.run({ experiment: "train", task: "reviews", model: "transformer", sequence_length: 8 });
    await page.getByRole("link", { name: "it reads only the first eight words?" }).click();
    const verdict = (index) => page.locator(".questions .verdict").nth(index).textContent();
    await eventually(async () => (await verdict(3)) === "yes", "its verdict");
    assert.equal(await verdict(0), "not run yet");
    await lab.client.run({ experiment: "train", task: "reviews", model: "rnn" });
    await page.goto(`${lab.daemon.url}#own-data?dataset=reviews&model=rnn`);
    await page.getByRole("button", { name: "Train on reviews" }).waitFor();
    await eventually(async () => (await verdict(2)) === "yes", "the verdict on the RNN");
    assert.deepEqual(faults, []);
    await close();
});
