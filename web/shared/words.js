// Draws a sentence word by word: the brighter a word's background, the more attention it gets. The share is printed below
// the word, so that nothing depends on colour alone.

import { h, replaceChildren } from "./dom.js";
import { fixed } from "./format.js";
import { cssColor, inkOn, viridis } from "./viridis.js";

// The signs are short, so that a mark never pushes the words apart.
const MARKS = [
    { key: "top", sign: "\u25b2", meaning: "most attended" },
    { key: "decisive", sign: "\u25c6", meaning: "the word that decides" },
    { key: "unknown", sign: "?", meaning: "unknown to the model" },
];

// One word with its share below it: { element, label, paint(share, largest, isTop) }.
function createWord(text, marks, isButton) {
    const label = isButton
        ? h("button", { type: "button", class: "word", "aria-pressed": "false" }, text)
        : h("span", { class: "word" }, text);
    const share = h("span", { class: "share" });
    const note = h("span", { class: "note" });
    return {
        label,
        element: h("li", { class: marks.decisive ? "decisive" : null }, label, share, note),
        paint(value, largest, isTop) {
            const color = viridis(0.12 + 0.88 * (value / largest));
            label.style.backgroundColor = cssColor(color);
            label.style.color = inkOn(color);
            share.textContent = fixed(value, 3);
            const noted = MARKS.filter(({ key }) => (key === "top" ? isTop : marks[key]));
            replaceChildren(
                note,
                noted.map(({ sign, meaning }) => [
                    h("span", { "aria-hidden": "true" }, sign),
                    h("span", { class: "visually-hidden" }, ` ${meaning} `),
                ]),
            );
        },
    };
}

// words: texts. matrix: for each word a row of weights that sums to one; if null, all words look alike.
// marks: { decisive: index or null, unknown: [boolean] }. Each word shows how much attention it gets on average; while the
// reader points at a word, or has chosen it, the words show where that word looks. Brightness is relative to the largest
// share.
export function drawWords(words, matrix, marks = {}) {
    const items = words.map((text, index) =>
        createWord(text, { decisive: index === marks.decisive, unknown: marks.unknown?.[index] }, matrix !== null),
    );
    const says = h("p", { class: "hint", "aria-live": "polite" });
    let chosen = null;

    function show(query) {
        const shares = !matrix ? words.map(() => 0) : query === null ? shareOfKeys(matrix) : matrix[query];
        const largest = shares.reduce((most, share) => Math.max(most, share), Number.MIN_VALUE);
        // A word that sees nothing looks nowhere: none of its zeros is the largest.
        const top = shares.indexOf(largest);
        items.forEach((item, index) => item.paint(shares[index], largest, index === top));
        says.textContent = query === null ? "" : `Where \u201c${words[query]}\u201d looks.`;
    }
    function choose(query) {
        chosen = chosen === query ? null : query;
        items.forEach(({ label }, index) => label.setAttribute("aria-pressed", String(index === chosen)));
        show(chosen);
    }
    if (matrix) {
        items.forEach(({ label }, index) => {
            label.addEventListener("click", () => choose(index));
            label.addEventListener("pointerenter", () => show(index));
            label.addEventListener("pointerleave", () => show(chosen));
        });
    }
    show(null);
    return [
        h(
            "ol",
            { class: "words" },
            items.map((item) => item.element),
        ),
        says,
    ];
}

// Explains the signs below the words.
export const wordKey = (keys = MARKS.map(({ key }) => key)) =>
    h(
        "p",
        { class: "hint" },
        MARKS.filter(({ key }) => keys.includes(key)).map(({ sign, meaning }) => `${sign} ${meaning}\u2003`),
        "Each word shows how much attention it gets on average; point at a word, or choose it, to see where it looks.",
    );

// How much attention each key gets, averaged over the queries.
export function shareOfKeys(matrix) {
    return (matrix[0] ?? []).map((_, key) => matrix.reduce((sum, row) => sum + row[key], 0) / matrix.length);
}
