// The heatmap: at 512 steps, and with cells that have no number. Nothing that it shows may be false.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startPage } from "../support/browser.js";

let host;
before(async () => {
    host = await startPage();
});
after(() => host.stop());

/** Draws a heatmap that first shows one bright column, then one bright row, and returns the colours of cells of both. */
function drawTwice(steps) {
    return import("/shared/heatmap.js").then(async ({ createHeatmap }) => {
        const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const heatmap = createHeatmap({ title: "large", range: [0, 1], maxCell: 40, height: 380, scale: false });
        document.querySelector("main").append(heatmap.element);
        const canvas = heatmap.element.querySelector("canvas");
        // The brightest pixel of every line (or column) of the picture, as a count of bright ones.
        const bright = () => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const columns = new Set();
            const rows = new Set();
            let count = 0;
            for (let at = 0; at < data.length; at += 4) {
                if (data[at] !== 253 || data[at + 1] !== 231 || data[at + 2] !== 37) continue;
                columns.add((at / 4) % canvas.width);
                rows.add(Math.floor(at / 4 / canvas.width));
                count += 1;
            }
            return { columns: columns.size, rows: rows.size, count };
        };
        const matrix = (isOne) =>
            Array.from({ length: steps }, (_, row) => Array.from({ length: steps }, (_, column) => (isOne(row, column) ? 1 : 0)));
        const seen = [];
        for (const isOne of [(row, column) => column === 300, (row) => row === 411]) {
            heatmap.setMatrix(matrix(isOne));
            await frames();
            seen.push(bright());
        }
        canvas.focus();
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown" }));
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
        return { seen, readout: heatmap.element.querySelector("output").textContent };
    });
}

test("a matrix of 512 steps shows each of its rows and columns", async () => {
    const { page, faults, close } = await host.open("#reference", { expected: ["willReadFrequently"] });
    await page.locator(".chapter-reference h1").waitFor();
    const { seen, readout } = await page.evaluate(drawTwice, 512);
    const [column, row] = seen;
    // One column of 512 rows, then one row of 512 columns; each at least a pixel, and nothing of the first is left.
    assert.ok(column.columns >= 1 && column.columns <= 2, JSON.stringify(seen));
    assert.ok(column.rows >= 512, JSON.stringify(seen));
    assert.ok(row.rows >= 1 && row.rows <= 2, JSON.stringify(seen));
    assert.ok(row.columns >= 512, JSON.stringify(seen));
    assert.equal(row.count, row.rows * row.columns);
    assert.equal(readout, "row 511, column 511: 0.0000");
    assert.deepEqual(faults, []);
    await close();
});

test("a run's attention over 512 steps can be read to its last cell", async () => {
    const sizes = { sequence_length: 512, train_examples: 8, test_examples: 8, epochs: 1, batch_size: 8 };
    const variants = [{ label: "attention", model: "attention" }];
    const made = await host.client.create("api/comparisons", { experiment: "train", seeds: [0], variants, ...sizes });
    const [run] = made.rows[0].runs;
    await host.client.text(`api/runs/${run}/events`); // ends with the run
    const { weights } = await host.client.get(`api/runs/${run}/attention`);
    const { page, faults, close } = await host.open(`#four-models?comparison=${made.id}`);
    const heatmap = page.locator("figure.heatmap", { hasText: "The attention matrix" });
    await page.waitForFunction(() => document.querySelector("figure.heatmap canvas")?.width > 512);
    await heatmap.locator("canvas").focus();
    await page.keyboard.press("PageDown");
    await page.keyboard.press("End");
    assert.match(await heatmap.locator("output").textContent(), new RegExp(`511.*511: ${weights[511][511].toFixed(4)}$`));
    assert.ok(await heatmap.locator(".heatmap-key").isHidden());
    assert.deepEqual(faults, []);
    await close();
});

/** Goes to the step of that name and reads the cell of the last heatmap there. */
async function readCell(page, step, name, keys) {
    await page.getByRole("button", { name: step }).click();
    const heatmap = page.locator("figure.heatmap", { hasText: name });
    await heatmap.locator("canvas").focus();
    await page.keyboard.press("PageUp");
    await page.keyboard.press("Home");
    for (const key of keys) await page.keyboard.press(key);
    return { cell: await heatmap.locator("output").textContent(), key: await heatmap.locator(".heatmap-key").textContent() };
}

test("a score beyond float32 is said to be so, and is not taken for a masked one", async () => {
    const given = { preset: "given", q: [[1e30], [1]], k: [[1e30], [1]], v: [[1], [2]], mask: "causal" };
    const run = await host.client.run({ experiment: "attention-steps", ...given });
    const { page, faults, close } = await host.open(`#attention-steps?run=${run.id}`);
    await page.locator(".chapter-attention-steps h1").waitFor();
    const score = await readCell(page, /Scores/, "scores", []);
    assert.match(score.cell, /not finite/);
    assert.match(score.key, /^Crossed out: 1 cell not finite\.$/);
    const finite = await readCell(page, /Scores/, "scores", ["ArrowRight"]);
    assert.match(finite.cell, /: 1\.0\u202f\u00d7\u202f10\u00b3\u2070$/);
    const hidden = await readCell(page, /Mask/, "masked scores", ["ArrowRight"]);
    assert.match(hidden.cell, /\u2212\u221e \(masked\)$/);
    assert.equal(hidden.key, "Hatched: 1 cell masked. Crossed out: 1 cell not finite.");
    assert.match((await readCell(page, /Mask/, "masked scores", [])).cell, /not finite/);
    await close();
    assert.deepEqual(faults, []);
});

test("a row that sees no key has no largest weight", async () => {
    const given = { preset: "given", q: [[1], [2]], k: [[1], [3]], v: [[1], [2]], mask_matrix: [[0, 0], [1, 1]] };
    const run = await host.client.run({ experiment: "attention-steps", ...given });
    const { page, faults, close } = await host.open(`#attention-steps?run=${run.id}`);
    await page.getByText("in 1 of 1 rows; 1 more without a largest weight").waitFor();
    assert.deepEqual(faults, []);
    await close();
});
