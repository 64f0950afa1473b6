// What a chapter expects, and whether this run shows it: yes or no, the measured value, and why it may differ. A result
// that contradicts the text is shown as plainly as one that agrees.

import { h, replaceChildren } from "./dom.js";

// The two nodes of a verdict: `verdict` (yes, no, not run yet) and `text` (the measured value, and why). show() fills both.
export function verdictParts() {
    const verdict = h("span", { class: "verdict" });
    const text = h("span");
    return {
        verdict,
        text,
        show({ shown, measured, why }) {
            verdict.className = `verdict ${shown === null ? "open" : shown ? "yes" : "no"}`;
            verdict.textContent = shown === null ? "not run yet" : shown ? "yes" : "no";
            replaceChildren(
                text,
                measured && h("strong", { class: "measured" }, measured),
                why && h("span", { class: "why" }, " ", why),
            );
        },
    };
}

// claims: [{ claim, check(result) -> { shown: true | false | null, measured, why } }]. `why` explains why the run does not
// show the claim, or is a note. Returns { element, update(result), clear() }.
export function createExpectations(claims) {
    const rows = claims.map((one) => ({ ...one, ...verdictParts() }));
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

    const clear = () => rows.forEach((row) => row.show({ shown: null }));
    clear();
    return {
        element,
        clear,
        update: (result) => rows.forEach((row) => row.show(row.check(result) || { shown: null })),
    };
}
