// The average of all earlier tokens in three ways: a loop, a product with a triangular matrix, and the softmax of a mask.
// The third is attention before anything is learnt.

import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h, replaceChildren } from "../shared/dom.js";
import { fixed, scientific } from "../shared/format.js";
import { same } from "../shared/form.js";
import { displayedFormula } from "../shared/formula.js";
import { createHeatmap } from "../shared/heatmap.js";
import { createQuestions } from "../shared/questions.js";

const AGREEMENT = 1e-6;

export function mount(root, page) {
    const heatmap = (title, rowTitle, columnTitle, options) =>
        createHeatmap({
            title,
            rowTitle,
            columnTitle,
            maxCell: 56,
            maxCellHeight: 30,
            height: 330,
            scale: false,
            signal: page.signal,
            ...options,
        });
    const input = heatmap("the input x", "token", "channel");
    const ways = {
        loop: heatmap("1. a loop", "token", "channel"),
        matrix: heatmap("2. a triangular matrix", "token", "channel"),
        softmax: heatmap("3. softmax of a mask", "token", "channel"),
    };
    const triangle = heatmap("the triangular matrix, each row divided by its count", "token", "averages over token", {
        range: [0, 1],
    });
    const mask = heatmap("the mask: zero for the past, minus infinity for the future", "token", "may look at token", {
        digits: 0,
    });
    const weights = heatmap("its softmax: the same matrix", "token", "averages over token", { range: [0, 1] });
    const example = h("select", { id: "batch-example", onchange: () => draw() });
    const walk = h("p", { class: "arithmetic", "aria-live": "polite" });
    const row = h("input", { type: "range", id: "walk-token", min: 0, value: 2, oninput: () => drawWalk() });
    const rowText = h("output", { for: "walk-token" });
    const expectations = createExpectations([
        {
            claim: "The three ways agree to rounding.",
            check: (result) => ({
                shown: result.max_difference < AGREEMENT,
                measured: `largest difference ${scientific(result.max_difference)}`,
                why:
                    result.max_difference === 0
                        ? ""
                        : "The sums are added in a different order, so the last bit may differ.",
            }),
        },
    ]);
    const questions = createQuestions(page, {
        chapter: "running-average",
        experiment: "running-average",
        questions: QUESTIONS,
    });
    const results = h(
        "div",
        { hidden: true },
        h(
            "div",
            { class: "slider-row" },
            h("label", { for: "batch-example" }, "Example of the batch"),
            example,
            h("label", { for: "walk-token" }, "Token"),
            row,
            rowText,
        ),
        walk,
        h(
            "div",
            { class: "matrices narrow" },
            input.element,
            Object.values(ways).map((one) => one.element),
        ),
        h("h2", null, "The matrices behind it"),
        h("div", { class: "matrices" }, triangle.element, mask.element, weights.element),
    );
    let shown = null;

    function drawWalk() {
        const token = Number(row.value);
        const x = shown.x[Number(example.value)];
        const values = x.slice(0, token + 1).map((vector) => fixed(vector[0], 3));
        walk.textContent = `Channel 0 of token ${token}: (${values.join(" + ")}) / ${token + 1} = ${fixed(shown.loop[Number(example.value)][token][0], 3)}`;
        row.setAttribute("aria-valuetext", `token ${token}`);
        rowText.textContent = token;
        input.mark({ row: token });
        Object.values(ways).forEach((way) => way.mark({ row: token }));
        [triangle, mask, weights].forEach((matrix) => matrix.mark({ row: token }));
    }

    function draw() {
        const index = Number(example.value);
        input.setMatrix(shown.x[index]);
        for (const [name, one] of Object.entries(ways)) one.setMatrix(shown[name][index]);
        triangle.setMatrix(shown.averaging);
        weights.setMatrix(shown.weights);
        mask.setMatrix(shown.masked, { isMasked: () => true });
        row.max = shown.weights.length - 1;
        drawWalk();
    }

    const panel = createExperimentPanel(page, {
        experiment: "running-average",
        main: [],
        automatic: true,
        render(result, run) {
            shown = result;
            results.hidden = false;
            replaceChildren(
                example,
                result.x.map((_, index) => h("option", { value: index }, String(index))),
            );
            draw();
            expectations.update(result);
            questions.update(result, run);
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "The simplest way for a token to hear from those before it: take their average. Written as a loop it is slow; written as a matrix it is one product; written as a softmax it is attention in which every key is still equally interesting.",
        ),
        panel.element,
        questions.answer,
        results,
        expectations.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "Why the third way matters"),
            displayedFormula(
                '<mi>W</mi><mo>=</mo><mi>softmax</mi><mo>(</mo><mi>S</mi><mo>+</mo><mi>mask</mi><mo>)</mo><mo>,</mo><mspace width="1em"/><mi>O</mi><mo>=</mo><mi>W</mi><mi>X</mi>',
            ),
            h(
                "p",
                null,
                "With all scores zero, the softmax shares its attention evenly over whatever the mask leaves, and the product with x is the running average. Put scores that depend on the tokens in place of the zeros and each token chooses whom to listen to: that is the whole step from here to ",
                h("a", { href: "#attention-steps?preset=causal-head" }, "a causal attention head"),
                ".",
            ),
        ),
        questions.element,
    );
}

const rootMeanSquare = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

const QUESTIONS = [
    {
        question: "the sequence has 64 tokens instead of 8?",
        settings: { tokens: 64 },
        claim: "An average over everything forgets: the last token's is about an eighth (1/\u221a64) as large as a token, as the draws cancel.",
        check(result) {
            const last = rootMeanSquare(result.loop.flatMap((example) => example.at(-1)));
            const ratio = last / rootMeanSquare(result.x.flat(2));
            return {
                shown: ratio > 1 / 16 && ratio < 1 / 4,
                measured: `${fixed(ratio, 3)} of a token's size, where 1/8 is ${fixed(1 / 8, 3)}`,
                why: "A few numbers are an uncertain estimate: within a factor of two counts.",
            };
        },
    },
    {
        question: "the batch has 32 examples?",
        settings: { batch: 32 },
        claim: "Examples never talk: in each of them the first token's average is that token itself, and nothing else.",
        check(result) {
            const alone = result.loop.filter((example, index) => same(example[0], result.x[index][0])).length;
            return { shown: alone === result.x.length, measured: `${alone} of ${result.x.length} examples` };
        },
    },
    {
        question: "the sums have 256 terms?",
        settings: { tokens: 256 },
        claim: "The three ways still agree to rounding, but no longer to the last bit: each adds in another order.",
        check: (result) => ({
            shown: result.max_difference > 0 && result.max_difference < AGREEMENT,
            measured: `largest difference ${scientific(result.max_difference)}`,
        }),
    },
];
