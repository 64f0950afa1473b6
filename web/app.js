// The frame of the page: the contents list, the address, and one chapter at a time. A chapter is a module that exports
// mount(article, page). Leaving it aborts page.signal, which ends its listeners, charts and requests.

import { chapters, extraPages } from "./chapters.js";
import { createAlert } from "./shared/alert.js";
import { get, runStates } from "./shared/api.js";
import { h, replaceChildren } from "./shared/dom.js";
import { openSession } from "./shared/session.js";
import { readAddress, writeAddress } from "./shared/state.js";
import { listen } from "./shared/stream.js";
import { openTheme } from "./shared/theme.js";

const main = document.getElementById("main");
const contents = document.getElementById("contents");
const menuButton = document.getElementById("menu-button");
const connection = document.getElementById("connection");
const pages = [...chapters, ...extraPages];

let leave = new AbortController();
let shownAddress = null;
let experiments = null;
let session = null;
// The last address of each chapter: the frame's links lead back to it.
const leftAt = new Map();
const addressOf = (entry) => leftAt.get(entry.id) ?? `#${entry.id}`;

async function loadExperiments() {
    experiments ??= get("/api/experiments").then((answer) => {
        runStates.splice(0, Infinity, ...answer.run_states);
        return new Map(answer.experiments.map((one) => [one.name, { ...one, schema: one.parameters }]));
    });
    try {
        return await experiments;
    } catch (error) {
        experiments = null;
        throw error;
    }
}

function fillContents() {
    const link = (entry) => h("li", null, h("a", { href: addressOf(entry), "data-id": entry.id }, entry.title));
    replaceChildren(document.getElementById("contents-list"), chapters.map(link));
    replaceChildren(document.getElementById("contents-extra"), extraPages.map(link));
}

function markContents(id) {
    for (const link of contents.querySelectorAll("a")) {
        if (link.dataset.id === id) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
}

function openMenu(open) {
    menuButton.setAttribute("aria-expanded", String(open));
    contents.classList.toggle("open", open);
}

function showContents() {
    document.title = "attnlab";
    const card = (entry) =>
        h("li", null, h("a", { href: addressOf(entry) }, h("strong", null, entry.title), h("span", null, entry.summary)));
    replaceChildren(
        main,
        h(
            "article",
            { class: "cover" },
            h("h1", null, "Watch attention being learnt"),
            h(
                "p",
                { class: "lead" },
                "Every number on these pages is computed by the program behind them, now, on this machine. " +
                    "The same seed draws the weights, data and batches that PyTorch draws; the line under each button does the same from a terminal.",
            ),
            h("ol", { class: "cards" }, chapters.map(card)),
            h("ul", { class: "cards plain" }, extraPages.map(card)),
        ),
    );
}

function neighbours(entry) {
    const index = chapters.indexOf(entry);
    if (index < 0) return null;
    const link = (other, text, rel) => other && h("a", { href: addressOf(other), rel }, text(other.title));
    return h(
        "nav",
        { class: "neighbours", "aria-label": "Next and previous chapter" },
        link(chapters[index - 1], (title) => `\u2190\u00a0${title}`, "prev"),
        h("span"),
        link(chapters[index + 1], (title) => `${title}\u00a0\u2192`, "next"),
    );
}

async function showChapter(entry, parameters) {
    const { signal } = leave;
    const number = chapters.indexOf(entry) + 1;
    document.title = `${entry.title} \u2013 attnlab`;
    const body = h("div", { class: "chapter-body" }, h("p", { class: "hint" }, "Loading\u2026"));
    const article = h(
        "article",
        { class: `chapter chapter-${entry.id}` },
        h(
            "header",
            null,
            number > 0 && h("p", { class: "chapter-number" }, `Chapter ${number}`),
            h("h1", null, entry.title),
        ),
        body,
        neighbours(entry),
    );
    replaceChildren(main, article);
    try {
        const [module, known] = await Promise.all([entry.load(), loadExperiments()]);
        if (signal.aborted) return;
        body.replaceChildren();
        module.mount(body, {
            signal,
            parameters,
            session,
            experiment: (name) => known.get(name),
            experimentNames: [...known.keys()],
            remember: (values) => {
                // If the address has changed, the reader is leaving, even if the hashchange event has not arrived yet.
                if (signal.aborted || location.hash !== shownAddress) return;
                writeAddress(entry.id, values);
                shownAddress = location.hash;
                leftAt.set(entry.id, location.hash);
                contents.querySelector(`a[data-id="${entry.id}"]`).href = location.hash;
            },
        });
    } catch (error) {
        if (signal.aborted) return;
        const alert = createAlert();
        alert.show(error);
        replaceChildren(
            body,
            alert.element,
            h(
                "button",
                {
                    type: "button",
                    class: "primary",
                    onclick: () => {
                        shownAddress = null;
                        route();
                    },
                },
                "Try again",
            ),
        );
    }
}

function route() {
    if (location.hash === shownAddress) return;
    const first = shownAddress === null;
    shownAddress = location.hash;
    leave.abort();
    leave = new AbortController();
    const { chapter, parameters } = readAddress();
    const entry = pages.find((one) => one.id === chapter);
    openMenu(false);
    markContents(entry?.id);
    if (entry) showChapter(entry, parameters);
    else showContents();
    if (first) return;
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
}

openTheme(document.getElementById("theme-button"));
fillContents();
menuButton.addEventListener("click", () => openMenu(menuButton.getAttribute("aria-expanded") !== "true"));
document.addEventListener("keydown", (event) => event.key === "Escape" && openMenu(false));
document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
});
// This comes first: the answer sets the cookie that makes this browser the owner of what it creates. If the reader follows
// a link meanwhile, the first chapter is shown from the new address.
session = await openSession(document.getElementById("session"));
addEventListener("hashchange", route);
listen((type) => {
    if (type === "open") connection.textContent = "";
    if (type === "lost") connection.textContent = "The server does not answer; trying again\u2026";
});
route();
