// A sentence drawn word by word: the darker the word's ground, the more attention it got; the share stands
// below it, so that nothing depends on colour alone.

import { h } from "./dom.js";
import { fixed } from "./format.js";
import { cssColor, inkOn, viridis } from "./viridis.js";

// Signs are short, so that a mark never pushes the words apart.
const MARKS = [
    { key: "top", sign: "\u25b2", meaning: "most attended" },
    { key: "decisive", sign: "\u25c6", meaning: "the word that decides" },
    { key: "unknown", sign: "?", meaning: "unknown to the model" },
];

// words: texts. weights: a share for each. marks: { decisive: index or null, unknown: [boolean] }.
// The ground is relative to the sentence's largest share.
export function drawWords(words, weights, marks = {}) {
    const largest = Math.max(...weights, Number.MIN_VALUE);
    const top = weights.indexOf(Math.max(...weights));
    return h(
        "ol",
        { class: "words" },
        words.map((word, index) => {
            const color = viridis(0.12 + 0.88 * (weights[index] / largest));
            const label = h("span", { class: "word" }, word);
            label.style.backgroundColor = cssColor(color);
            label.style.color = inkOn(color);
            const noted = MARKS.filter(
                ({ key }) =>
                    ({ top: index === top, decisive: index === marks.decisive, unknown: marks.unknown?.[index] })[key],
            );
            return h(
                "li",
                { class: index === marks.decisive ? "decisive" : null },
                label,
                h("span", { class: "share" }, fixed(weights[index], 3)),
                noted.length > 0 &&
                    h(
                        "span",
                        { class: "note" },
                        noted.map(({ sign, meaning }) => [
                            h("span", { "aria-hidden": "true" }, sign),
                            h("span", { class: "visually-hidden" }, ` ${meaning} `),
                        ]),
                    ),
            );
        }),
    );
}

// What the signs below the words mean.
export const wordKey = (keys = MARKS.map(({ key }) => key)) =>
    h(
        "p",
        { class: "hint" },
        MARKS.filter(({ key }) => keys.includes(key))
            .map(({ sign, meaning }) => `${sign} ${meaning}`)
            .join("\u2003"),
    );

// How much each key gets, averaged over the queries.
export function shareOfKeys(matrix) {
    return (matrix[0] ?? []).map((_, key) => matrix.reduce((sum, row) => sum + row[key], 0) / matrix.length);
}
