// The page of a service that needs a lecturer's token: a student watches, the lecturer signs in and out again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, phone, readAddress, readTable, startPage } from "../support/browser.js";
import { Browser, Client, longTraining, smallTraining } from "../support/client.js";

const token = "correct-horse-battery-staple";

let lab, classroom;
before(async () => {
    const start = (students) =>
        startPage({ args: ["--access", "token", "--students", students], env: { ATTNLAB_TOKEN: token } });
    [lab, classroom] = await Promise.all([start("read"), start("run")]);
});
after(() => Promise.all([lab.stop(), classroom.stop()]));

test("a student who may only read is told so when trying to run", async () => {
    const { page, faults, close } = await lab.open("#running-average", { expected: ["403"] });
    await page.getByText("student (watching only)").waitFor();
    await page.getByText("Nobody has run this yet").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await eventually(async () => (await page.locator(".alert").first().textContent()).length > 10, "a reason");
    await assertAccessible(page, "a student's page");
    assert.deepEqual(faults, []);
    await close();
});

test("on a phone the masthead has room for the reader's role and the button to sign in", async () => {
    const { page, faults, close } = await lab.open("#runs", { viewport: phone });
    await page.getByText("student (watching only)").waitFor();
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `${wider} pixels wider than the screen`);
    assert.deepEqual(faults, []);
    await close();
});

test("a student sees buttons at their own runs only, the lecturer at all runs", async () => {
    const mine = { ...smallTraining, name: "mine" };
    const theirs = { ...longTraining, epochs: 1000, name: "theirs" };
    const { page, faults, close } = await classroom.open("#runs");
    const post = (body) =>
        page.evaluate(
            async (text) =>
                (
                    await fetch("/api/runs?wait=20", {
                        method: "POST",
                        headers: { "Content-Type": "application/json" },
                        body: text,
                    })
                ).json(),
            JSON.stringify(body),
        );
    const actions = async (on) =>
        Object.fromEntries((await readTable(on, "Runs")).slice(1).map((row) => [row[0].split("Parameters")[0], row[2]]));
    await page.getByText("No runs yet").waitFor();
    await post(mine);
    const lecturer = { headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } };
    await fetch(`${classroom.daemon.url}api/runs`, { method: "POST", ...lecturer, body: JSON.stringify(theirs) });
    // Both runs first arrive as events, which do not say whose they are; after a reload both come with the list.
    for (const when of ["as they come", "after a reload"]) {
        await eventually(async () => {
            const found = await actions(page);
            return found.mine === "Delete" && found.theirs === "";
        }, `a button at one of two runs ${when}`);
        await page.reload();
    }
    await page.getByLabel("by", { exact: true }).selectOption("true");
    await eventually(async () => (await readTable(page, "Runs")).length === 2, "only the student's own run");
    assert.equal((await readAddress(page)).parameters.get("mine"), "true");
    await assertAccessible(page, "a student's runs");

    await page.goto(`${classroom.daemon.url}#token=${token}`);
    await page.getByText("signed in as the lecturer").waitFor();
    await page.goto(`${classroom.daemon.url}#runs`);
    await eventually(async () => {
        const found = await actions(page);
        return found.mine === "Delete" && /Cancel|Delete/.test(found.theirs);
    }, "a button at each run");
    assert.deepEqual(faults, []);
    await close();
});

test("a link with the token signs in and the token leaves the address bar; a wrong token is reported", async () => {
    const { page, faults, close } = await lab.open("#token=wrong-horse-battery-staple", { expected: ["401"] });
    await page.locator("dialog .alert p").first().waitFor();
    assert.doesNotMatch(await page.evaluate(() => location.href), /token/);
    assert.doesNotMatch(await page.evaluate(() => JSON.stringify([history.state, document.cookie])), /horse/);
    await page.getByRole("button", { name: "Close" }).click();
    // A link followed while the page is open leaves the reader in the same chapter.
    await page.goto(`${lab.daemon.url}#scaling`);
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    await page.goto(`${lab.daemon.url}#token=${encodeURIComponent(token)}`);
    await page.getByText("signed in as the lecturer").waitFor();
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    assert.equal((await readAddress(page)).chapter, "scaling");
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

test("the lecturer sees who fills the disk, and deletes all ended runs of that student at once", async () => {
    const visit = await new Browser(classroom.client.url).visit();
    for (let i = 0; i < 3; i++) await visit.create("api/runs?wait=60", { ...smallTraining, name: `student's ${i}` });
    const lecturer = new Client(classroom.client.url, { Authorization: `Bearer ${token}` });
    const kept = await lecturer.create("api/runs?wait=60", { ...smallTraining, name: "the lecturer's" });

    const { page, faults, close } = await classroom.open(`#runs`);
    await page.evaluate(async (text) => {
        const headers = { "Content-Type": "application/json" };
        await fetch("/api/session", { method: "POST", headers, body: JSON.stringify({ token: text }) });
    }, token);
    await page.reload();
    await page.getByText(/Runs and data sets take .* of the disk is free/).waitFor();
    const by = page.getByLabel("by", { exact: true });
    const { owners } = await lecturer.get("api/storage");
    const student = owners.find(({ runs }) => runs === 3).owner;
    await by.selectOption(`owner:${student}`);
    await eventually(async () => (await readTable(page, "Runs")).length === 4, "the student's three runs");
    await assertAccessible(page, "the runs of a student");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Delete all that have ended" }).click();
    await page.getByText("No runs yet").waitFor();
    assert.equal((await lecturer.get(`api/runs?owner=${student}`)).runs.length, 0);
    assert.equal((await lecturer.get(`api/runs/${kept.id}`)).state, "succeeded");
    assert.deepEqual(faults, []);
    await close();
});
