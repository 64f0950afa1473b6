// How sentences of different length become one batch: what is missing at the end is filled with padding, a mask says which
// steps are words, and the mean that the model ends with is taken over those alone.

import { get, query } from "./api.js";
import { h, quietButton, replaceChildren } from "./dom.js";

const key = (words, shares) =>
    h(
        "li",
        { class: "padded-key", "aria-hidden": "true" },
        h("span", null, words),
        h("span", null, "mask"),
        h("span", null, shares),
    );

function step(word, isPadding, share) {
    const labelled = (label, text) => h("span", null, h("span", { class: "visually-hidden" }, `, ${label} `), text);
    return h(
        "li",
        { class: isPadding ? "padding" : null },
        h("span", { class: "padded-word" }, isPadding ? "pad" : word),
        labelled("mask", isPadding ? "0" : "1"),
        labelled("share of the output", share),
    );
}

// words: those that the model reads; length: its number of steps; ending: "mean" of the real steps, or "last real step".
export function drawPadded(words, length, ending) {
    const real = words.length;
    const padding = Math.max(0, length - real);
    const isMean = ending === "mean";
    const shareOf = (index) => (isMean ? `1/${real}` : index === real - 1 ? "1" : "0");
    const hidden = padding > 0 ? `${padding} of padding, which the mask hides (0)` : "no padding";
    const output = isMean
        ? `The model\u2019s output is the mean over the ${real} real steps: their sum divided by ${real}${padding > 0 ? `, not by ${length}` : ""}.`
        : `The model\u2019s output is its state after step ${real - 1}, the last real one; what comes after is not read.`;
    const keys =
        isMean && padding > 0 ? " The score of a hidden step is \u2212\u221e, so that the softmax gives it the weight 0." : "";
    return [
        h(
            "ol",
            { class: "padded" },
            key("step", "share"),
            words.map((word, index) => step(word, false, shareOf(index))),
            Array.from({ length: padding }, () => step("", true, "0")),
        ),
        h("p", { class: "hint" }, `${length} steps: ${real} ${real === 1 ? "word" : "words"} and ${hidden}.${keys} ${output}`),
    ];
}

// One test sentence of a data set as the model reads it. parametersOf() returns the parameters of a run on it, without the
// task. Returns { element, draw() }: call draw when they have changed.
export function createPaddedExample(page, name, parametersOf) {
    const slot = h("div", { "aria-live": "polite" });
    const next = quietButton("Another sentence", () => {
        offset += 1;
        draw();
    });
    const element = h(
        "figure",
        { class: "task padded-example waiting" },
        h("figcaption", null, "One sentence of the test set, as the model reads it"),
        slot,
        next,
    );
    let offset = 0;
    let newest = 0;
    // Reserves the room before the sentence arrives: what is below must not move away from under the pointer.
    replaceChildren(slot, drawPadded(Array(12).fill("sentence"), 20, "mean"));

    async function draw() {
        newest += 1;
        const mine = newest;
        const given = parametersOf();
        try {
            const [{ examples, total }, { layers }] = await Promise.all([
                get(
                    `/api/datasets/${encodeURIComponent(name)}/examples${query({ split: "test", offset, limit: 1, ...given })}`,
                    page.signal,
                ),
                get(`/api/experiments/train/layers${query({ task: name, ...given })}`, page.signal),
            ]);
            if (mine !== newest) return undefined;
            if (examples.length === 0 && total > 0) {
                offset = 0;
                return draw();
            }
            const ending = layers.some(({ type }) => type === "mean") ? "mean" : "last real step";
            replaceChildren(slot, drawPadded(examples[0].tokens, layers[0].shape[0], ending));
            element.classList.remove("waiting");
        } catch {
            // If the server refuses a parameter, its field says so; the sentence waits for a valid one.
            if (mine === newest) element.classList.add("waiting");
        }
        return undefined;
    }
    return { element, draw };
}
