// What a chapter expects, and whether this run shows it: yes or no, the measured value, and why it may differ. A result
// that contradicts the text is shown as plainly as one that agrees.

import { h, replaceChildren } from "./dom.js";

// claims: [{ claim, check(result) -> { shown: true | false | null, measured, why } }]. `why` explains why the run does not
// show the claim, or is a note. Returns { element, update(result), clear() }.
export function createExpectations(claims) {
    const rows = claims.map((one) => ({ ...one, verdict: h("span", { class: "verdict" }), text: h("span") }));
    const element = h(
        "section",
        { class: "expectations" },
        h("h2", null, "What to expect"),
        h(
            "ul",
            null,
            rows.map((row) => h("li", null, row.verdict, h("span", null, row.claim, " ", row.text))),
        ),
    );

    const show = (row, { shown, measured, why }) => {
        row.verdict.className = `verdict ${shown === null ? "open" : shown ? "yes" : "no"}`;
        row.verdict.textContent = shown === null ? "not run yet" : shown ? "yes" : "no";
        replaceChildren(
            row.text,
            measured && h("strong", { class: "measured" }, measured),
            why && h("span", { class: "why" }, " ", why),
        );
    };
    const clear = () => rows.forEach((row) => show(row, { shown: null }));
    clear();
    return {
        element,
        clear,
        update: (result) => rows.forEach((row) => show(row, row.check(result) || { shown: null })),
    };
}
