// The frame: every chapter opens from the contents list, on a projector and on a phone, in light and dark, without an
// error or a request to another server. The page is accessible and small.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible, eventually, holdAnswer, phone, projector, startPage } from "../support/browser.js";

const chapters = [
    "four-models",
    "attention-steps",
    "running-average",
    "scaling",
    "gradient-reach",
    "permutation",
    "cost",
    "transformer-block",
    "sentences",
    "own-data",
    "retrieval",
    "reference",
    "runs",
];

let lab;
before(async () => {
    lab = await startPage();
});
after(() => lab.stop());

test("the contents list names thirteen chapters and leads to each", async () => {
    const { page, faults, close } = await lab.open("");
    const links = page.locator("#contents-list a");
    assert.equal(await links.count(), 13);
    for (let index = 0; index < 13; index += 1) {
        const title = await links.nth(index).textContent();
        await links.nth(index).click();
        await page.locator("h1", { hasText: title }).waitFor();
        assert.equal(await links.nth(index).getAttribute("aria-current"), "page");
    }
    assert.deepEqual(faults, []);
    await close();
});

for (const [name, viewport, colorScheme] of [
    ["a projector, light", projector, "light"],
    ["a phone, dark", phone, "dark"],
]) {
    test(`every chapter on ${name}: no error, no sideways scrolling, accessible`, async () => {
        const { page, faults, settle, close } = await lab.open("", { viewport, colorScheme });
        await page.locator(".cover").waitFor();
        await assertAccessible(page, "the cover");
        for (const chapter of chapters) {
            await page.goto(`${lab.daemon.url}#${chapter}`);
            await settle(chapter);
            await assertAccessible(page, chapter);
            const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(wider <= 0, `${chapter} is ${wider} pixels wider than the screen`);
        }
        assert.deepEqual(faults, []);
        await close();
    });
}

test("a reader can choose light or dark whatever the system's setting, and the choice is kept", async () => {
    const { page, faults, settle, close } = await lab.open("#scaling", { colorScheme: "dark" });
    await settle("scaling");
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const pixel = () =>
        page.locator("figure.chart canvas[role=img]").first().evaluate((canvas) => canvas.toDataURL().length);
    const dark = await ground();
    const darkChart = await pixel();
    const button = page.getByRole("button", { name: "colours" });
    await button.click();
    const light = await ground();
    assert.notEqual(light, dark);
    await eventually(async () => (await pixel()) !== darkChart, "the chart in the new colours");
    await assertAccessible(page, "light on a dark system");
    await page.reload();
    await settle("scaling");
    assert.equal(await ground(), light);
    await button.click();
    assert.equal(await ground(), dark);
    await button.click();
    assert.match(await button.textContent(), /auto/);
    assert.equal(await ground(), dark);
    assert.deepEqual(faults, []);
    await close();
});

test("the page works in a browser that denies it storage", async () => {
    const { page, faults, settle, close } = await lab.open("#scaling");
    // What a page that is left had asked for is not always reported as ended.
    await settle("scaling");
    await page.addInitScript(() =>
        Object.defineProperty(globalThis, "localStorage", {
            get() {
                throw new DOMException("denied", "SecurityError");
            },
        }),
    );
    await page.reload();
    await settle("scaling");
    await page.getByRole("button", { name: "colours" }).click();
    await page.getByRole("button", { name: "colours: light" }).waitFor();
    assert.deepEqual(faults, []);
    await close();
});

test("on a phone the contents list opens and closes", async () => {
    const { page, settle, close } = await lab.open("#scaling", { viewport: phone });
    await settle("scaling");
    const button = page.getByRole("button", { name: "Contents" });
    await button.click();
    await page.locator("#contents").getByText("What attention costs").click();
    await page.locator("h1", { hasText: "What attention costs" }).waitFor();
    assert.equal(await button.getAttribute("aria-expanded"), "false");
    await close();
});

test("a link followed before the session is known shows its chapter once it is", async () => {
    const { page, faults, settle, close } = await lab.open("");
    const session = await holdAnswer(page, (request) => request.url().endsWith("/api/session"));
    await page.reload();
    await session.taken;
    await page.evaluate(() => {
        location.hash = "#runs";
        return new Promise((resolve) => addEventListener("hashchange", resolve));
    });
    assert.equal(await page.locator(".chapter").count(), 0);
    await session.release();
    await settle("runs");
    await page.getByText(/^attnlab .* workers/).waitFor();
    assert.deepEqual(faults, []);
    await close();
});

test("the whole page is under 1 MB", async () => {
    const { page, settle, close } = await lab.open("");
    let bytes = 0;
    page.on("response", async (response) => {
        if (!response.url().includes("/api/")) bytes += Number(response.headers()["content-length"] ?? 0);
    });
    await page.reload();
    for (const chapter of [...chapters, "sentiment"]) {
        await page.goto(`${lab.daemon.url}#${chapter}`);
        await settle(chapter);
    }
    assert.ok(bytes > 200000 && bytes < 1000000, `${bytes} bytes`);
    await close();
});

test("back and forward move between chapters, and a link brings its parameters", async () => {
    const { page, settle, close } = await lab.open("#scaling?dimensions=4,8&keys=16");
    await settle("scaling");
    assert.equal(await page.getByLabel("Keys").inputValue(), "16");
    await page.locator("#contents").getByText("What attention costs").click();
    await page.locator("h1", { hasText: "What attention costs" }).waitFor();
    await page.goBack();
    await page.locator("h1", { hasText: "Why the scores are scaled" }).waitFor();
    assert.equal(await page.getByLabel("Keys").inputValue(), "16");
    await close();
});
