// The list of runs: live states, filters, cancelling and deleting.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, phone, readTable, startPage } from "../support/browser.js";
import { longTraining, smallTraining } from "../support/client.js";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

test("a new run appears in the list, and can be cancelled and deleted there", async () => {
    const { page, faults, close } = await lab.open("#runs");
    await page.getByText("No runs yet").waitFor();
    const run = await lab.client.create("api/runs", { ...longTraining, name: "<i>long</i>" });
    await eventually(
        async () => /<i>long<\/i>.*running/.test((await readTable(page, "Runs"))[1]?.join(" ") ?? ""),
        "the running run",
    );
    assert.equal(await page.locator("main i").count(), 0);
    await page.getByRole("button", { name: `Cancel run ${run.id}` }).click();
    await eventually(async () => (await readTable(page, "Runs"))[1].includes("cancelled"), "its cancellation");
    await assertAccessible(page, "runs");
    await page.getByRole("button", { name: `Delete run ${run.id}` }).click();
    await page.getByText("No runs yet").waitFor();
    assert.equal((await lab.client.fetch(`api/runs/${run.id}`)).status, 404);
    assert.deepEqual(faults, []);
    await close();
});

test("the list can be filtered by experiment", async () => {
    await lab.client.run(smallTraining);
    await lab.client.run({ experiment: "running-average" });
    const { page, close } = await lab.open("#runs");
    await eventually(async () => (await readTable(page, "Runs")).length === 3, "two runs");
    await page.getByLabel("of", { exact: true }).selectOption("running-average");
    await eventually(async () => (await readTable(page, "Runs")).length === 2, "one of them");
    await close();
});

test("a row stays unchanged when others come and go", async () => {
    const [first, second] = [await lab.client.run(smallTraining), await lab.client.run(smallTraining)];
    const { page, faults, close } = await lab.open("#runs");
    const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: `Delete run ${first.id}` }) });
    await row.getByText("Parameters").click();
    await row.evaluate((element) => {
        globalThis.moved = 0;
        new MutationObserver((changes) => {
            for (const change of changes) globalThis.moved += [...change.removedNodes].includes(element);
        }).observe(element.parentElement, { childList: true });
    });
    const third = await lab.client.run(smallTraining);
    await page.getByRole("button", { name: `Delete run ${third.id}` }).waitFor();
    await page.getByRole("button", { name: `Delete run ${second.id}` }).click();
    await page.getByRole("button", { name: `Delete run ${second.id}` }).waitFor({ state: "detached" });
    assert.equal(await row.locator("details").evaluate((details) => details.open), true);
    assert.equal(await page.evaluate(() => globalThis.moved), 0);
    assert.deepEqual(faults, []);
    await close();
});

test("on a phone each run is a card, nothing scrolls sideways, and the list is still a table to screen readers", async () => {
    const name = "a long name, such as a class gives its runs, and_one_word_that_is_far_too_long_for_a_telephone";
    const run = await lab.client.run({ ...smallTraining, name });
    const { page, faults, close } = await lab.open("#runs", { viewport: phone });
    const row = page.getByRole("row", { name: run.name });
    await row.waitFor();
    const wider = await page.locator(".table-wrap").evaluate((wrap) => wrap.scrollWidth - wrap.clientWidth);
    assert.equal(wider, 0);
    const width = await row.evaluate((one) => one.getBoundingClientRect().width);
    assert.ok(width > 300, `the card takes the width of the screen: ${width}`);
    await page.getByRole("table", { name: "Runs, newest first" }).waitFor();
    assert.equal(await page.getByRole("columnheader").count(), 5);
    assert.equal(await row.getByRole("cell").count(), 4);
    await row.getByText("Parameters").click();
    assert.equal(await page.locator(".table-wrap").evaluate((wrap) => wrap.scrollWidth - wrap.clientWidth), 0);
    await row.getByRole("button", { name: `Delete run ${run.id}` }).waitFor();
    await assertAccessible(page, "runs on a phone");
    assert.deepEqual(faults, []);
    await close();
});
