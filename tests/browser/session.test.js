// The page where a lecturer's token is needed: a student watches, the lecturer signs in, and out again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, startPage } from "../support/browser.js";

const token = "correct-horse-battery-staple";

let lab;
before(async () => {
    lab = await startPage({ args: ["--access", "token", "--students", "read"], env: { ATTNLAB_TOKEN: token } });
});
after(() => lab.stop());

test("a student reads and is told that starting runs is not theirs", async () => {
    const { page, faults, close } = await lab.open("#running-average", { expected: ["403"] });
    await page.getByText("student (watching only)").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await eventually(async () => (await page.locator(".alert").first().textContent()).length > 10, "a reason");
    await assertAccessible(page, "a student's page");
    assert.deepEqual(faults, []);
    await close();
});

test("the lecturer signs in with the token, runs, and signs out", async () => {
    const { page, faults, close } = await lab.open("#running-average", { expected: ["401", "403"] });
    const signIn = async (text) => {
        await page.locator("#lecturer-token").fill(text);
        await page.getByRole("button", { name: "Sign in" }).click();
    };
    await page.getByRole("button", { name: "Lecturer…" }).click();
    await assertAccessible(page, "the dialog");
    await signIn("wrong-horse-battery-staple");
    await page.locator("dialog .alert p").first().waitFor();
    await signIn(token);
    await page.getByText("signed in as the lecturer").waitFor();
    await page.locator("figure.heatmap canvas").first().waitFor();
    await page.getByText("this run as JSON").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("student (watching only)").waitFor();
    assert.deepEqual(faults, []);
    await close();
});
