// Opens the page in Debian's Chromium, driven by Playwright, on a daemon of its own. Everything that goes wrong in the page
// (exceptions, console errors, refused content, requests to other servers) is collected as faults.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { Client } from "./client.js";
import { startDaemon } from "./daemon.js";

export const projector = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

const { source: axeSource } = createRequire(import.meta.url)("axe-core");
/* The longest wait for anything. It is no promise of speed: it only ends a test whose condition never becomes true. */
const patience = 120000;
const switches = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/**
 * A daemon and a browser; `open` gives a page of it: { page, faults, settle, close }. `through` starts what stands before
 * the daemon, and returns the address of the page there.
 */
export async function startPage({ args = ["--workers", "2"], env = {}, through = (url) => url } = {}) {
    const daemon = await startDaemon({ args, env });
    const url = await through(daemon.url);
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: switches,
        timeout: patience,
    });
    return {
        daemon,
        client: new Client(daemon.url),
        open: (address, options) => openPage(browser, url, address, options),
        async stop() {
            await browser.close();
            await daemon.stop();
        },
    };
}

// `expected`: parts of messages that the test itself provokes, such as the browser's own line about a 422.
async function openPage(browser, url, address, { viewport = projector, colorScheme = "light", expected = [] } = {}) {
    const context = await browser.newContext({ viewport, colorScheme });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    const faults = [];
    const add = (text) => expected.some((piece) => text.includes(piece)) || faults.push(text);
    page.on("pageerror", (error) => add(`exception: ${error.message}`));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && add(`console: ${message.text()}`));
    page.on("request", (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith("data:")) add(`request to ${request.url()}`);
    });
    const settle = settling(page);
    await page.goto(url + address);
    return { page, faults, settle, close: () => context.close() };
}

// Returns a function that waits until a chapter has loaded and drawn all it asked for: no request but the event stream is
// pending, and none follows within two frames.
function settling(page) {
    const asked = new Set();
    page.on("request", (request) => {
        // Leaving a page ends its requests.
        if (request.isNavigationRequest()) asked.clear();
        if (!request.url().endsWith("/api/events")) asked.add(request);
    });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => asked.delete(request));
    return async (chapter) => {
        await page.locator(`.chapter-${chapter} h1`).waitFor();
        await eventually(async () => {
            if (asked.size > 0) return false;
            await twoFrames(page);
            return asked.size === 0;
        }, () => `all that ${chapter} asks for: ${[...asked].map((request) => request.url())}`);
    };
}

/** Resolves when everything scheduled for the next frame is drawn. */
const twoFrames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** The chapter in the address and its parameters, as the page itself sees them: page.url() lags behind. */
export async function readAddress(page) {
    const [chapter, search] = (await page.evaluate(() => location.hash)).slice(1).split("?");
    return { chapter, parameters: new URLSearchParams(search) };
}

/** Asserts that axe finds no violation; the failure names the rule and the element. */
export async function assertAccessible(page, what) {
    await page.evaluate(axeSource);
    // In the middle of a transition a button has neither of its colours.
    await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)));
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
    assert.deepEqual(found, [], what);
}

/** The texts of a table's cells, row by row, headings first. `caption`: a part of its caption, or a regular expression. */
export async function readTable(page, caption) {
    const table = page.locator("table", { has: page.locator("caption", { hasText: caption }) }).first();
    await table.waitFor();
    // All rows in one call: the page may redraw the table at any time.
    return table.evaluate(({ rows }) =>
        [...rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim().replaceAll("\u202f", " "))),
    );
}

/** Moves a heatmap's cursor to a cell by keyboard and returns the text shown for it. */
export async function readHeatmap(page, title, row, column) {
    const figure = page.locator("figure.heatmap", { has: page.locator("figcaption", { hasText: title }) }).first();
    await figure.locator("canvas").focus();
    await page.keyboard.press("PageUp");
    await page.keyboard.press("Home");
    for (let step = 0; step < row; step += 1) await page.keyboard.press("ArrowDown");
    for (let step = 0; step < column; step += 1) await page.keyboard.press("ArrowRight");
    return figure.locator("output").textContent();
}

/** Holds back the answer to the first matching request, as a slow network would. `taken` resolves once the server has answered;
 * `release()` lets the answer through and resolves when the page has drawn the result. */
export async function holdAnswer(page, fits) {
    let release, arrived;
    const released = new Promise((resolve) => (release = resolve));
    const taken = new Promise((resolve) => (arrived = resolve));
    let isFirst = true;
    await page.route("**/api/**", async (route) => {
        if (!isFirst || !fits(route.request())) return route.fallback();
        isFirst = false;
        const response = await route.fetch();
        arrived(route.request());
        await released;
        return route.fulfill({ response });
    });
    return {
        taken,
        async release() {
            const request = await taken;
            release();
            // The page may have aborted the request meanwhile.
            await request.response().then((response) => response?.finished());
            await twoFrames(page);
        },
    };
}

/** Waits until `check` returns something true, and returns it. `what` is a text, or a function that gives one at the end. */
export async function eventually(check, what, milliseconds = patience) {
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
    return assert.fail(`timed out waiting for ${typeof what === "function" ? what() : what}: ${last}`);
}
