// The chapters that take something apart or measure it: each test opens one, reads it, and changes its parameters.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, readAddress, readHeatmap, readTable, startPage } from "../support/browser.js";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

const verdicts = (page, index = 0) => page.locator(".expectations").nth(index).locator(".verdict").allTextContents();

test("attention step by step: the worked example is right to four digits, forward and back", async () => {
    const { page, faults, close } = await lab.open("#attention-steps?preset=worked");
    await page.getByRole("button", { name: "5. Softmax" }).click();
    assert.equal(await readHeatmap(page, "weights", 0, 0), "query 0, key 0: 0.4053");
    assert.equal(await readHeatmap(page, "weights", 0, 1), "query 0, key 1: 0.2458");
    assert.match(await page.locator(".arithmetic").textContent(), /^exp\(0\.000\) \/ \(.*\) = 0\.246$/);
    await page.getByRole("button", { name: "Forward" }).click();
    assert.equal(await readHeatmap(page, "output", 0, 0), "query 0, dimension 0: 5.7974");
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByText("Row sums: 1.0000").waitFor();
    // Without the scale the aligned key gets more weight.
    await page.getByRole("checkbox", { name: "Scale" }).uncheck();
    await eventually(
        async () => (await readHeatmap(page, "weights", 0, 0)) === "query 0, key 0: 0.4742",
        "unscaled weights",
    );
    assert.deepEqual(faults, []);
    await close();
});

test("attention step by step: a causal head hides the future", async () => {
    const { page, close } = await lab.open("#attention-steps?preset=causal-head&step=3");
    await eventually(
        async () => (await readHeatmap(page, "masked scores", 0, 1)) === "query 0, key 1: −∞ (masked)",
        "the mask",
    );
    assert.equal(await page.getByLabel("causal mask").isChecked(), true);
    assert.equal(await page.getByRole("checkbox", { name: "Scale" }).isChecked(), false);
    await page.getByRole("button", { name: "2. Scores" }).click();
    assert.equal(await readHeatmap(page, "scores", 0, 0), "query 0, key 0: −1.7629");
    await close();
});

test("attention step by step: a reader edits matrices cell by cell", async () => {
    const { page, faults, close } = await lab.open("#attention-steps?preset=worked", { expected: ["422"] });
    await page.locator(".stage").waitFor();
    await page.getByLabel("Preset").selectOption("given");
    const cell = page.getByLabel("Q, row 0, column 1");
    await cell.fill("2");
    await cell.press("Tab");
    await page.getByRole("button", { name: "2. Scores" }).click();
    await eventually(
        async () => (await readHeatmap(page, "scores", 0, 1)) === "query 0, key 1: 2.0000",
        "the new score",
    );
    // One more query than before: cross-attention.
    await page.getByRole("button", { name: "Q: add a row" }).click();
    await eventually(
        async () => (await page.locator("figcaption", { hasText: "Q (queries), 2 × 4" }).count()) === 1,
        "two queries",
    );
    // The fault is shown at its matrix.
    await page.getByLabel("K, row 0, column 0").fill("abc");
    await page.getByLabel("K, row 0, column 0").press("Tab");
    await eventually(
        async () => (await page.locator(".matrix-editor").nth(1).locator(".field-error").textContent()) !== "",
        "a fault at K",
    );
    assert.deepEqual(faults, []);
    await close();
});

test("attention step by step: a reader edits the mask cell by cell, and the address keeps it", async () => {
    const { page, faults, close } = await lab.open("#attention-steps?mask=causal&step=4");
    await eventually(
        async () => (await readHeatmap(page, "weights", 0, 1)) === "query 0, key 1: 0.0000",
        "the mask of the link",
    );
    await page.getByLabel("causal mask").uncheck();
    await page.getByLabel("mask of my own").check();
    const cell = page.getByRole("button", { name: "query 2 sees key 1" });
    await cell.click();
    await eventually(
        async () => (await readHeatmap(page, "weights", 2, 1)) === "query 2, key 1: 0.0000",
        "a hidden key",
    );
    assert.notEqual(await readHeatmap(page, "weights", 2, 2), "query 2, key 2: 0.0000");
    await page.getByRole("button", { name: "4. Mask" }).click();
    await readHeatmap(page, "masked scores", 2, 1);
    assert.equal(await page.locator(".arithmetic").textContent(), "The mask matrix hides key 1 from query 2.");
    // By keyboard: hide a whole row, whose weights are then all zero.
    await cell.focus();
    for (const key of ["ArrowLeft", "Enter", "ArrowRight", "ArrowRight", "Enter", "ArrowRight", "Enter"])
        await page.keyboard.press(key);
    await page.getByRole("button", { name: "5. Softmax" }).click();
    await page.locator(".stage").getByText("A row of zeros").waitFor();
    await assertAccessible(page, "the mask editor");
    await page.reload();
    await eventually(async () => (await cell.getAttribute("aria-pressed")) === "false", "the mask after a reload");
    await page.locator(".stage").getByText("A row of zeros").waitFor();
    // More tokens: the mask grows with them.
    await page.getByLabel("Tokens", { exact: true }).fill("6");
    await page.getByLabel("Tokens", { exact: true }).press("Tab");
    await eventually(async () => (await page.locator(".mask-cell").count()) === 36, "a larger mask");
    // A preset shows only the fields that it is drawn from.
    await page.getByLabel("Preset").selectOption("worked");
    await eventually(async () => !(await page.getByLabel("Tokens", { exact: true }).isVisible()), "fields of this preset alone");
    assert.equal(await page.getByLabel("mask of my own").isChecked(), false);
    assert.deepEqual(faults, []);
    await close();
});

test("attention step by step: maps of the reader's own, several heads, and a slider to the running average", async () => {
    const { page, faults, close } = await lab.open("#attention-steps");
    await page.locator(".stage").waitFor();
    await page.getByLabel("maps of my own").check();
    // With a map of zeros but for one entry, each token's first number of Q is its first channel.
    const row = ["1", ...Array(7).fill("0")];
    for (const [column, value] of row.entries()) {
        const cell = page.getByLabel(`W_q, row 0, column ${column}`);
        await cell.fill(value);
        await cell.press("Tab");
    }
    const first = (await readHeatmap(page, "h (input)", 0, 0)).split(": ")[1];
    await eventually(async () => (await readHeatmap(page, "Q (queries)", 0, 0)).endsWith(`: ${first}`), "Q of the new map");
    await page.getByLabel("maps of my own").uncheck();
    await page.goto(page.url().replace(/#.*/, "#attention-steps?heads=2&width=8"));
    await page.getByRole("button", { name: "5. Softmax" }).click();
    const shares = [];
    for (const head of ["0", "1"]) {
        await page.getByLabel("Head", { exact: true }).selectOption(head);
        shares.push(Number((await readHeatmap(page, "weights", 0, 0)).split(": ")[1]));
        const words = await page.locator(".attention-graph li").first().textContent();
        const drawn = Number(/token 0 \(([0-9.]+)\)/.exec(words)[1]);
        assert.ok(Math.abs(drawn - shares.at(-1)) < 1e-3, "the graph follows the head");
    }
    assert.notEqual(shares[0], shares[1]);
    await page.getByRole("button", { name: "7. Output map" }).click();
    await readHeatmap(page, "output", 3, 7);
    assert.equal((await readTable(page, "The same parameters")).length, 9);
    await page.goto(page.url().replace(/#.*/, "#attention-steps?preset=causal-head&step=4"));
    await page.getByLabel("From the plain average").fill("0");
    await eventually(async () => (await readHeatmap(page, "weights", 3, 0)) === "query 3, key 0: 0.2500", "the average");
    assert.equal((await readAddress(page)).parameters.get("blend"), "0");
    await assertAccessible(page);
    assert.deepEqual(faults, []);
    await close();
});

test("attention step by step: each step lights its part of the line, and the forms are a switch", async () => {
    const { page, faults, close } = await lab.open("#attention-steps");
    await page.locator(".stage").waitFor();
    const lit = () =>
        page.locator(".one-line [aria-current]").evaluateAll((parts) => parts.map((one) => one.textContent).join(" "));
    const formOnView = () => page.locator(".attention-forms [aria-current]").allTextContents();
    assert.equal(await lit(), "Q K V");
    await readHeatmap(page, "h (input)", 0, 0);
    for (const expected of ["QKT", "dk", "", "softmax", "V"]) {
        await page.getByRole("button", { name: "Forward" }).focus();
        await page.keyboard.press("Enter");
        assert.equal(await lit(), expected);
    }
    await page.locator(".one-line msqrt").click();
    assert.equal(await page.locator(".step-tabs [aria-current]").textContent(), "3. Scale");
    assert.deepEqual(await formOnView(), ["Encoder"]);
    await page.getByRole("link", { name: "Decoder", exact: true }).click();
    await eventually(async () => (await formOnView())[0] === "Decoder", "the decoder");
    await page.getByRole("button", { name: "4. Mask" }).click();
    assert.equal(await lit(), "+M");
    // Of the 16 pairs the causal mask removes six.
    assert.equal(await page.locator(".graph-arrow").count(), 10);
    assert.equal(await page.locator(".graph-masked").count(), 6);
    await page.getByLabel("Arrows into").selectOption("token 1");
    assert.equal(await page.locator(".graph-masked").count(), 2);
    await page.getByText("The graph in words").click();
    const words = await page.locator(".attention-graph li").allTextContents();
    assert.match(words.join(), /^token 1 hears token 0 \(0\.\d{3}\), token 1 \(0\.\d{3}\)\. The mask removes token 2, token 3\.$/);
    await assertAccessible(page, "the graph");
    await page.getByRole("link", { name: "Cross-attention", exact: true }).click();
    await eventually(async () => (await formOnView())[0] === "Cross-attention", "cross-attention");
    assert.equal(await page.locator(".graph-arrow").count(), 24);
    assert.deepEqual(faults, []);
    await close();
});

test("attention step by step: the variances of the notebook are a table, and the keys have names", async () => {
    const { page, faults, close } = await lab.open("#attention-steps?preset=causal-head");
    const rows = await readTable(page, "Variances of drawn queries");
    assert.deepEqual(
        rows.slice(1).map((row) => row[1]),
        ["1.0700", "1.0449", "17.469", "1.0918"],
    );
    await page.getByLabel("Preset").selectOption("worked");
    const name = page.locator(".graph-text", { hasText: "identical" });
    await name.waitFor();
    // No name is cut off at the picture's edge.
    assert.ok(await name.evaluate((text) => text.getBBox().x >= 0));
    assert.equal(await page.locator("caption", { hasText: "Variances" }).isVisible(), false);
    assert.deepEqual(faults, []);
    await close();
});

test("every question of a chapter that answers at once sets the parameters, and its claim holds", async () => {
    for (const chapter of ["attention-steps", "running-average", "scaling", "gradient-reach", "permutation", "transformer-block"]) {
        const { page, faults, close } = await lab.open(`#${chapter}`);
        const links = page.locator(".questions a");
        await links.first().waitFor();
        const count = await links.count();
        assert.ok(count >= 3 && count <= 7, `${chapter} has ${count} questions`);
        for (let index = 0; index < count; index++) {
            const question = await links.nth(index).textContent();
            await links.nth(index).click();
            const verdict = page.locator(".question-answer", { hasText: question }).locator(".verdict:is(.yes, .no)");
            assert.equal(await verdict.textContent(), "yes", `${chapter}: ${question}`);
        }
        assert.deepEqual(faults, []);
        await close();
    }
});

test("the running average: three ways give one result", async () => {
    const { page, faults, close } = await lab.open("#running-average");
    await eventually(async () => (await verdicts(page))[0] === "yes", "agreement");
    const read = (way) => readHeatmap(page, way, 2, 1);
    const loop = await read("1. a loop");
    assert.equal(loop, "token 2, channel 1: −0.3199");
    assert.equal(await read("2. a triangular matrix"), loop);
    assert.equal(await read("3. softmax of a mask"), loop);
    assert.equal(await readHeatmap(page, "the mask", 0, 1), "token 0, may look at token 1: −∞ (masked)");
    assert.deepEqual(faults, []);
    await close();
});

test("questions: a link sets the parameters, and the claim is checked once they have run", async () => {
    const { page, faults, close } = await lab.open("#running-average");
    const questions = page.locator(".questions");
    const verdict = (index) => questions.locator(".verdict").nth(index);
    await questions.waitFor();
    assert.equal(await page.locator(".question-answer").isVisible(), false);
    assert.deepEqual(await questions.locator(".verdict").allTextContents(), Array(3).fill("not run yet"));
    await questions.getByRole("link", { name: "32 examples" }).click();
    await eventually(async () => (await verdict(1).textContent()) === "yes", "the verdict");
    assert.match(await questions.locator("li").nth(1).textContent(), /32 of 32 examples/);
    assert.match(await page.locator(".question-answer").textContent(), /^What happens if the batch has 32.*32 of 32 examples$/);
    assert.equal((await readAddress(page)).parameters.get("batch"), "32");
    // The answer to one question outlasts the next, and other parameters answer none.
    await questions.getByRole("link", { name: "64 tokens" }).click();
    await eventually(async () => (await verdict(0).textContent()) === "yes", "the second verdict");
    assert.equal(await verdict(1).textContent(), "yes");
    assert.equal(await verdict(2).textContent(), "not run yet");
    await page.getByLabel("Seed").fill("5");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".question-answer").waitFor({ state: "hidden" });
    await assertAccessible(page);
    assert.deepEqual(faults, []);
    await close();
});

test("scaling: the table equals the lab sheet's, and another seed gives another table", async () => {
    const { page, faults, close } = await lab.open("#scaling");
    const rows = await readTable(page, "Measured, by width");
    assert.deepEqual(rows[1].slice(0, 4), ["4", "2.025", "1.013", "0.1615"]);
    assert.deepEqual(rows[5].slice(0, 4), ["1,024", "33.167", "1.036", "0.9857"]);
    // Through the softmax: the gradient, unscaled and scaled.
    assert.deepEqual(rows[5].slice(5), ["0.028", "0.958"]);
    assert.deepEqual(await verdicts(page), ["yes", "yes", "yes", "yes"]);
    await page.getByLabel("Seed").fill("1");
    await page.getByRole("button", { name: "Run" }).click();
    await eventually(async () => (await readTable(page, "Measured, by width"))[1][1] !== "2.025", "another table");
    assert.equal((await readAddress(page)).parameters.get("seed"), "1");
    assert.deepEqual(faults, []);
    await close();
});

test("gradient reach: the values span twelve powers of ten, and the path follows the sequence length", async () => {
    const { page, faults, close } = await lab.open("#gradient-reach");
    const rows = await readTable(page, "The two ends");
    assert.deepEqual([rows[1][0], rows[1][1]], ["RNN", "2.427 × 10⁻¹⁷"]);
    assert.equal(rows[3][3], "1.05");
    assert.equal(await page.locator(".path-chain").count(), 59);
    await page.getByLabel("Sequence length").fill("10");
    await page.getByRole("button", { name: "Run" }).click();
    await eventually(async () => (await page.locator(".path-chain").count()) === 9, "nine hops");
    assert.deepEqual(faults, []);
    await close();
});

test("gradient reach: a run trained from the chapter shows its gradient epoch by epoch", async () => {
    const { page, faults, close } = await lab.open("#gradient-reach");
    await page.getByRole("button", { name: "Train and measure" }).click();
    const slider = page.getByLabel("Epoch", { exact: true });
    await slider.waitFor({ timeout: 60000 });
    await eventually(async () => (await slider.inputValue()) === "20", "the last epoch");
    assert.match(await page.locator("output[for=reach-epoch]").textContent(), /^20 of 20; last \/ first /);
    await page.getByText("Every epoch", { exact: true }).click();
    assert.equal((await readTable(page, "The two ends of the sequence, by epoch")).length, 22);
    assert.deepEqual((await verdicts(page, 1)).filter((one) => one === "not run yet"), []);
    await slider.fill("0");
    assert.match(await page.locator("output[for=reach-epoch]").textContent(), /^0 of 20/);
    await assertAccessible(page);
    assert.deepEqual(faults, []);
    await close();
});

test("permutation: the output changes with positions and stays without them", async () => {
    const { page, faults, close } = await lab.open("#permutation");
    const without = await readTable(page, "Without positions");
    assert.equal(without.length, 9);
    assert.equal(without[1][1], without[1][2]);
    const learned = await readTable(page, "With learned positions");
    assert.notEqual(learned[1][1], learned[1][2]);
    assert.deepEqual(await verdicts(page), ["yes", "yes", "yes", "yes"]);
    // Each token's output moves with it, and with positions changes: eight cards in each row.
    const pictures = page.locator(".token-cards");
    assert.equal(await pictures.count(), 2);
    assert.deepEqual(await pictures.first().evaluate((picture) => picture.querySelectorAll(".token-card").length), 16);
    assert.equal(await pictures.first().locator(".token-card.changed").count(), 0);
    assert.equal(await pictures.last().locator(".token-card.changed").count(), 8);
    await assertAccessible(page);
    assert.deepEqual(faults, []);
    await close();
});

test("permutation: comparisons of both tasks made elsewhere are found by their parameters, whatever their labels", async () => {
    const sides = (model) => [
        { label: "told the order", model },
        { label: "not told", model, position: "none" },
    ];
    const common = { experiment: "train", seeds: [4] };
    const made = await Promise.all([
        lab.client.create("api/comparisons", { ...common, variants: sides("attention") }),
        lab.client.create("api/comparisons", { ...common, task: "reviews", variants: sides("transformer") }),
        // Not found: it has another number of epochs.
        lab.client.create("api/comparisons", { ...common, epochs: 1, variants: sides("attention") }),
    ]);
    const isOver = async ({ id }) => (await lab.client.get(`api/comparisons/${id}`)).state === "succeeded";
    await eventually(async () => (await Promise.all(made.map(isOver))).every(Boolean), "their ends");
    const { page, faults, close } = await lab.open("#permutation");
    await eventually(async () => !(await verdicts(page, 1)).includes("not run yet"), "verdicts on both");
    const { rows } = await lab.client.get(`api/comparisons/${made[0].id}`);
    const shown = await readTable(page, "Test accuracy");
    assert.deepEqual(
        shown.slice(1).map(([label, accuracy]) => [label, accuracy]),
        rows.map((row) => [row.label, row.mean.toFixed(4)]),
    );
    assert.deepEqual(faults, []);
    await close();
});

test("cost: times are measured, and twice the length has four times the scores", async () => {
    const { page, faults, close } = await lab.open("#cost?lengths=8,16,32&batch=4&repeats=3");
    await page.getByRole("button", { name: "Measure" }).click();
    const rows = await readTable(page, "Time, measured here");
    assert.deepEqual(
        rows.slice(1).map((row) => row[0]),
        ["8", "16", "32"],
    );
    const memory = await readTable(page, "Memory, measured here");
    assert.match(memory[2].join(" "), /256 × 4\.00/);
    assert.ok(["whole", "tiled"].includes(memory[1].at(-1)) && ["whole", "tiled"].includes(rows[1].at(-1)));
    const wrap = page.locator(".table-wrap", { hasText: "measured here" });
    for (const one of await wrap.all()) assert.ok(await one.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
    assert.match(rows[1][1], /^\d+\.\d+ ms$/);
    assert.equal((await verdicts(page)).filter((one) => one === "not run yet").length, 0);
    assert.deepEqual(faults, []);
    await close();
});

test("cost: a skipped measurement leaves a gap and says why", async () => {
    const { page, faults, close } = await lab.open("#cost?lengths=8,16,32&batch=4&repeats=1&matrix_up_to=16");
    await page.getByRole("button", { name: "Measure" }).click();
    const rows = await readTable(page, "Time, measured here");
    const [whole, tiled] = ["attention", "attention, tiled"].map((name) => rows[0].indexOf(name));
    assert.match(rows[2][whole], /^\d+\.\d+ ms × \d/);
    assert.equal(rows[3][whole], "–");
    assert.match(rows[3][tiled], /^\d+\.\d+ ms × \d/);
    await page.getByText("T = 32: attention was not measured: above matrix_up_to").waitFor();
    const growth = page.locator("li", { hasText: "Attention’s time grows fourfold" }).locator(".measured");
    assert.match(await growth.textContent(), /^× \d+\.\d+$/);
    assert.deepEqual(faults, []);
    await close();
});

test("the block: it has 12,704 parameters, and its output has the shape of its input", async () => {
    const { page, faults, close } = await lab.open("#transformer-block");
    await page.locator("caption", { hasText: "12,704 parameters" }).waitFor();
    await page.getByLabel("Layers").fill("3");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator("caption", { hasText: "38,112 parameters" }).waitFor();
    assert.equal((await verdicts(page))[0], "yes");
    assert.deepEqual(faults, []);
    await close();
});

test("retrieval: if files are missing, the chapter says which ones and where to put them", async () => {
    const { page, faults, close } = await lab.open("#retrieval", { expected: ["422"] });
    await page.getByRole("button", { name: "Search" }).click();
    await eventually(
        async () =>
            /mobilenet_v2_weights/.test(
                await page
                    .locator(".field-error")
                    .allTextContents()
                    .then((all) => all.join(" ")),
            ),
        "the missing file",
    );
    await page.locator(".files").getByText("train-images-idx3-ubyte.gz").waitFor();
    assert.deepEqual(faults, []);
    await close();
});

test("the reference tables include what this server has measured", async () => {
    await lab.client.run({ experiment: "gradient-reach", sequence_length: 60 });
    // Newer runs with parameters of somebody's own must not take their place.
    await lab.client.run({ experiment: "gradient-reach", sequence_length: 10 });
    await lab.client.run({ experiment: "train", model: "rnn", epochs: 1, train_examples: 64, test_examples: 16 });
    const { page, faults, close } = await lab.open("#reference");
    const rows = await eventually(async () => {
        const table = await readTable(page, "The same, measured on this machine");
        return /10¹¹/.test(table[1][1]) && table;
    }, "the measured ratio");
    assert.equal(rows[1][3], "1.05 at T = 60 this run");
    assert.match(rows[2][1], /^\u2013/, "no run with the chapter's own parameters");
    for (const caption of [
        "Attention against recurrence",
        "The price of length",
        "The parts of a block",
        "The words, each in a sentence",
        "Which approach",
    ]) {
        assert.ok((await readTable(page, caption)).length > 5, caption);
    }
    assert.deepEqual(faults, []);
    await close();
});
