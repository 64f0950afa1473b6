// The list of runs: live states, cancel, delete, and what happens when the server goes away.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, readTable, startPage } from "../support/browser.js";
import { longTraining, smallTraining } from "../support/client.js";

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

test("runs are listed as they come, cancelled and deleted", async () => {
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

test("states can be chosen", async () => {
    await lab.client.run(smallTraining);
    await lab.client.run({ experiment: "running-average" });
    const { page, close } = await lab.open("#runs");
    await eventually(async () => (await readTable(page, "Runs")).length === 3, "two runs");
    await page.getByLabel("of", { exact: true }).selectOption("running-average");
    await eventually(async () => (await readTable(page, "Runs")).length === 2, "one of them");
    await close();
});
