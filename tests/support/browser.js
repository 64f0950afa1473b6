// The page in Debian's chromium, driven by playwright: opened on a daemon of its own, with everything that
// goes wrong in it (exceptions, console errors, refused content, requests to elsewhere) collected as faults.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { Client } from "./client.js";
import { startDaemon } from "./daemon.js";

export const projector = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

const { source: axeSource } = createRequire(import.meta.url)("axe-core");
const switches = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/** A daemon and a browser; `open` gives a page of it: { page, faults }. */
export async function startPage({ args = ["--workers", "2"], env = {} } = {}) {
    const daemon = await startDaemon({ args, env });
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: switches,
    });
    return {
        daemon,
        client: new Client(daemon.url),
        open: (address, options) => openPage(browser, daemon.url, address, options),
        async stop() {
            await browser.close();
            await daemon.stop();
        },
    };
}

// `expected`: pieces of messages that the test provokes itself, such as the browser's own line on a 422.
async function openPage(browser, url, address, { viewport = projector, colorScheme = "light", expected = [] } = {}) {
    const context = await browser.newContext({ viewport, colorScheme });
    const page = await context.newPage();
    const faults = [];
    const add = (text) => expected.some((piece) => text.includes(piece)) || faults.push(text);
    page.on("pageerror", (error) => add(`exception: ${error.message}`));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && add(`console: ${message.text()}`));
    page.on("request", (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith("data:")) add(`request to ${request.url()}`);
    });
    await page.goto(url + address);
    return { page, faults, close: () => context.close() };
}

/** Fails where axe finds a violation, naming the rule and the element. */
export async function assertAccessible(page, what) {
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
    assert.deepEqual(found, [], what);
}

/** The texts of a table's cells, row by row, headings first. */
export async function readTable(page, caption) {
    const table = page.locator("table", { has: page.locator("caption", { hasText: caption }) }).first();
    await table.waitFor();
    return table
        .locator("tr")
        .evaluateAll((rows) =>
            rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim().replaceAll("\u202f", " "))),
        );
}

/** Moves the keyboard's cursor in a heatmap to a cell and gives what is read out there. */
export async function readHeatmap(page, title, row, column) {
    const figure = page.locator("figure.heatmap", { has: page.locator("figcaption", { hasText: title }) }).first();
    await figure.locator("canvas").focus();
    await page.keyboard.press("PageUp");
    await page.keyboard.press("Home");
    for (let step = 0; step < row; step += 1) await page.keyboard.press("ArrowDown");
    for (let step = 0; step < column; step += 1) await page.keyboard.press("ArrowRight");
    return figure.locator("output").textContent();
}

/** Waits until `check` holds, for what arrives when it will. */
export async function eventually(check, what, milliseconds = 30000) {
    const end = Date.now() + milliseconds;
    let last;
    do {
        try {
            last = await check();
            if (last) return last;
        } catch (error) {
            last = error;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
    } while (Date.now() < end);
    return assert.fail(`${what} did not come about: ${last}`);
}
