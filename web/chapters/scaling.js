// Why the scores are divided by the root of d_k: dot products spread more as the width grows, and a softmax of widely spread
// scores puts nearly everything on one key.

import { createChart } from "../shared/chart.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h } from "../shared/dom.js";
import { fixed, integer, percent } from "../shared/format.js";
import { displayedFormula, formula } from "../shared/formula.js";
import { createQuestions } from "../shared/questions.js";
import { createTable } from "../shared/table.js";
import { createScaledTraining } from "./scaling-training.js";

const SATURATED = 0.8;
const RESPONSIVE = 0.8;
const STUCK = 0.1;

export function mount(root, page) {
    const { signal } = page;
    const width = { label: "d_k (width of query and key)", type: "logarithmic" };
    const spread = createChart({
        title: "Standard deviation of a dot product",
        signal,
        x: width,
        y: { label: "standard deviation", type: "logarithmic", format: (value) => fixed(value, 3) },
    });
    const sharpness = createChart({
        title: "Largest softmax weight",
        signal,
        x: width,
        y: { label: "weight of the favourite key", min: 0, max: 1, format: (value) => fixed(value, 4) },
    });
    const response = createChart({
        title: "Gradient through the softmax",
        signal,
        x: width,
        y: { label: "sum of W(1 \u2212 W)", min: 0, max: 1, format: (value) => fixed(value, 3) },
    });
    const table = createTable({
        caption: "Measured, by width",
        columns: [
            { label: "d_k", numeric: true, cell: (row) => integer(row.d_k) },
            { label: "std of q\u00b7k", numeric: true, cell: (row) => fixed(row.std, 3) },
            { label: "std / \u221ad_k", numeric: true, cell: (row) => fixed(row.std_over_sqrt, 3) },
            { label: "largest weight, unscaled", numeric: true, cell: (row) => fixed(row.max_weight, 4) },
            { label: "largest weight, scaled", numeric: true, cell: (row) => fixed(row.max_weight_scaled, 4) },
            { label: "gradient, unscaled", numeric: true, cell: (row) => fixed(row.gradient, 3) },
            { label: "gradient, scaled", numeric: true, cell: (row) => fixed(row.gradient_scaled, 3) },
        ],
    });
    const results = h(
        "div",
        { hidden: true },
        h("div", { class: "pair" }, spread.element, sharpness.element, response.element),
        table.element,
    );
    const expectations = createExpectations(CLAIMS);
    const questions = createQuestions(page, { chapter: "scaling", experiment: "scaling", questions: QUESTIONS });
    const points = (rows, name) => rows.map((row) => ({ x: row.d_k, y: row[name] }));

    const panel = createExperimentPanel(page, {
        experiment: "scaling",
        main: ["dimensions", "seed"],
        automatic: true,
        render(result, run) {
            results.hidden = false;
            const rows = [...result.rows].sort((a, b) => a.d_k - b.d_k);
            spread.setSeries([
                // It comes first so that it is drawn on top of the line that it predicts.
                {
                    label: "\u221ad_k, as predicted",
                    color: 3,
                    dash: 1,
                    points: rows.map((row) => ({ x: row.d_k, y: Math.sqrt(row.d_k) })),
                },
                { label: "q\u00b7k", color: 0, points: points(rows, "std") },
                { label: "q\u00b7k / \u221ad_k", color: 2, points: points(rows, "std_over_sqrt") },
            ]);
            sharpness.setSeries([
                { label: "unscaled", color: 0, points: points(rows, "max_weight") },
                { label: "divided by \u221ad_k", color: 2, points: points(rows, "max_weight_scaled") },
                {
                    label: "all keys alike",
                    color: 3,
                    dash: 1,
                    points: rows.map((row) => ({ x: row.d_k, y: 1 / run.parameters.keys })),
                },
            ]);
            response.setSeries([
                { label: "unscaled", color: 0, points: points(rows, "gradient") },
                { label: "divided by \u221ad_k", color: 2, points: points(rows, "gradient_scaled") },
            ]);
            table.update(result.rows);
            expectations.update({ rows, keys: run.parameters.keys });
            questions.update(result, run);
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "Two random vectors with entries of variance one have a dot product of variance ",
            formula("<msub><mi>d</mi><mi>k</mi></msub>"),
            ": it is a sum of that many independent terms. The wider the vectors, the wilder the scores, and the softmax with them.",
        ),
        panel.element,
        questions.answer,
        results,
        expectations.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "What a saturated softmax costs"),
            displayedFormula(
                "<mfrac><mrow><mo>\u2202</mo><msub><mi>W</mi><mi>i</mi></msub></mrow><mrow><mo>\u2202</mo><msub><mi>S</mi><mi>j</mi></msub></mrow></mfrac><mo>=</mo><msub><mi>W</mi><mi>i</mi></msub><mo>(</mo><msub><mi>\u03b4</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>\u2212</mo><msub><mi>W</mi><mi>j</mi></msub><mo>)</mo>",
            ),
            h(
                "p",
                null,
                "The curve of the gradient adds up these products for i = j, the sum of W(1 \u2212 W): nearly one while many keys share the attention, zero once one has it all. Once one weight is nearly one and the others nearly zero, each of these products is nearly zero: no gradient flows back to the queries and keys, and the head keeps looking wherever its random start happened to point. Dividing by the root brings the variance back to one for any width, and leaves it to training to sharpen the scores where that helps.",
            ),
            h(
                "p",
                null,
                "Each row of the table is one draw of scores for a handful of keys, so the unscaled column need not rise at every step: a lucky second key can hold the favourite back. Change the seed and see which of its values move; the trend stays.",
            ),
        ),
        createScaledTraining(page),
        questions.element,
    );
}

const CLAIMS = [
    {
        claim: "The standard deviation of a dot product is the root of the width.",
        check({ rows }) {
            const worst = Math.max(...rows.map((row) => Math.abs(row.std_over_sqrt - 1)));
            return {
                shown: worst < 0.1,
                measured: `std / \u221ad_k is within ${percent(worst)} of 1`,
                why: worst < 0.1 ? "" : "With few samples the estimate itself is uncertain.",
            };
        },
    },
    {
        claim: "Unscaled, the widest vectors put nearly all attention on one key.",
        check({ rows }) {
            const widest = rows.at(-1);
            return {
                shown: widest.max_weight > SATURATED,
                measured: `${fixed(widest.max_weight, 4)} at d_k = ${integer(widest.d_k)}`,
                why:
                    widest.max_weight > SATURATED
                        ? ""
                        : "One draw: a second key can come close by chance, above all at small widths.",
            };
        },
    },
    {
        claim: "Scaled, the largest weight stays small at every width.",
        check({ rows, keys }) {
            const largest = Math.max(...rows.map((row) => row.max_weight_scaled));
            return {
                shown: largest < 0.4,
                measured: `at most ${fixed(largest, 4)}, where an even share is ${fixed(1 / keys, 4)}`,
                why: largest < 0.4 ? "" : "With few keys even the even share is large.",
            };
        },
    },
    {
        claim: "Unscaled, hardly any gradient gets through at the widest vectors; scaled, nearly all of it does.",
        check({ rows }) {
            const { d_k: widest, gradient, gradient_scaled: scaled } = rows.at(-1);
            return {
                shown: gradient < STUCK && scaled > RESPONSIVE,
                measured: `${fixed(gradient, 3)} unscaled, ${fixed(scaled, 3)} scaled, at d_k = ${integer(widest)}`,
                why:
                    gradient < STUCK && scaled > RESPONSIVE
                        ? ""
                        : "One draw: while a second key comes close to the favourite, the softmax still responds.",
            };
        },
    },
];

const QUESTIONS = [
    {
        question: "the vectors have a single dimension?",
        settings: { dimensions: [1] },
        claim: "There is nothing to repair: \u221a1 is 1, and the softmax is the same with the factor and without.",
        check({ rows: [row] }) {
            const off = Math.abs(row.max_weight - row.max_weight_scaled);
            return { shown: off === 0, measured: `largest weight ${fixed(row.max_weight, 4)} in both` };
        },
    },
    {
        question: "the vectors are 4,096 numbers wide?",
        settings: { dimensions: [4096] },
        claim: "Unscaled, one key has it all and no gradient is left; scaled, it is as at every other width.",
        check({ rows: [row] }) {
            return {
                shown: row.max_weight > SATURATED && row.gradient < STUCK && row.gradient_scaled > RESPONSIVE,
                measured: `gradient ${fixed(row.gradient, 3)} unscaled, ${fixed(row.gradient_scaled, 3)} scaled`,
            };
        },
    },
    {
        question: "there are only two keys to choose from?",
        settings: { keys: 2 },
        claim: "The spread of the scores does not depend on the keys: it is still the root of the width.",
        check({ rows }) {
            const worst = Math.max(...rows.map((row) => Math.abs(row.std_over_sqrt - 1)));
            return { shown: worst < 0.1, measured: `std / \u221ad_k is within ${percent(worst)} of 1` };
        },
    },
    {
        question: "the spread is measured over ten pairs of vectors only?",
        settings: { samples: 10 },
        claim: "The estimate is rough: somewhere it is more than a tenth off, though the law is the same.",
        check({ rows }) {
            const worst = Math.max(...rows.map((row) => Math.abs(row.std_over_sqrt - 1)));
            return { shown: worst > 0.1, measured: `std / \u221ad_k is up to ${percent(worst)} off` };
        },
    },
];
