// One transformer block: its parts with their jobs, shapes and parameters, its input and output, and why blocks can be
// stacked.

import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h, replaceChildren, svg } from "../shared/dom.js";
import { fixed, integer, percent } from "../shared/format.js";
import { displayedFormula } from "../shared/formula.js";
import { createHeatmap } from "../shared/heatmap.js";
import { createQuestions } from "../shared/questions.js";
import { createTable } from "../shared/table.js";

const shapeText = (shape) => (Array.isArray(shape) ? shape.join(" \u00d7 ") : String(shape ?? ""));

export function mount(root, page) {
    const picture = h("figure", { class: "block-picture" });
    const tableSlot = h("div");
    const map = (title) =>
        createHeatmap({
            title,
            rowTitle: "token",
            columnTitle: "dimension",
            height: 260,
            maxCell: 22,
            maxCellHeight: 22,
            signal: page.signal,
        });
    const maps = { input: map("input, first example"), output: map("output, first example") };
    const results = h(
        "div",
        { hidden: true },
        h("div", { class: "block-layout" }, picture, tableSlot),
        h("div", { class: "pair" }, maps.input.element, maps.output.element),
    );
    const expectations = createExpectations(CLAIMS);
    const questions = createQuestions(page, {
        chapter: "transformer-block",
        experiment: "transformer-block",
        questions: QUESTIONS,
    });

    const panel = createExperimentPanel(page, {
        experiment: "transformer-block",
        main: ["layers", "norm", "heads", "width", "activation"],
        automatic: true,
        render(result, run) {
            results.hidden = false;
            drawBlock(picture, run.parameters);
            tableSlot.replaceChildren(partsTable(result, run.parameters.layers).element);
            maps.input.setMatrix(result.input[0]);
            maps.output.setMatrix(result.output[0]);
            expectations.update({ result, parameters: run.parameters });
            questions.update(result, run);
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "Attention lets positions exchange what they know; a small network then works on each of them alone; a sum and a normalisation around each keep the signal in shape. That is all of a block. The transformer of 2017 and BERT are stacks of blocks that normalise after each sum; GPT-2 and Llama normalise before each part. Choose the norm and compare.",
        ),
        panel.element,
        questions.answer,
        results,
        expectations.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "Why it can be stacked"),
            h("h3", null, "Norm last: the transformer of 2017, BERT"),
            displayedFormula(
                "<mi>y</mi><mo>=</mo><mi>norm</mi><mo>(</mo><mi>x</mi><mo>+</mo><mi>attention</mi><mo>(</mo><mi>x</mi><mo>)</mo><mo>)</mo>",
            ),
            displayedFormula(
                "<mi>z</mi><mo>=</mo><mi>norm</mi><mo>(</mo><mi>y</mi><mo>+</mo><mi>feedforward</mi><mo>(</mo><mi>y</mi><mo>)</mo><mo>)</mo>",
            ),
            h("h3", null, "Norm first: GPT-2, Llama"),
            displayedFormula(
                "<mi>y</mi><mo>=</mo><mi>x</mi><mo>+</mo><mi>attention</mi><mo>(</mo><mi>norm</mi><mo>(</mo><mi>x</mi><mo>)</mo><mo>)</mo>",
            ),
            displayedFormula(
                "<mi>z</mi><mo>=</mo><mi>y</mi><mo>+</mo><mi>feedforward</mi><mo>(</mo><mi>norm</mi><mo>(</mo><mi>y</mi><mo>)</mo><mo>)</mo>",
            ),
            h(
                "p",
                null,
                "What comes out has the shape of what went in, so the next block can take it as it is. The additions give the gradient a way past every block, straight down the stack. With the norm last, every sum is normalised before it goes on: set the number of layers to 6, and the output still has mean zero and variance one in every row. With the norm first, nothing stands in the path of the sums, so the gradient of a deep stack passes them unchanged; but the numbers grow from block to block, which is why GPT-2 and Llama normalise once more after the last one. Llama\u2019s norm divides by the root of the mean square and subtracts no mean.",
            ),
        ),
        questions.element,
    );
}

function partsTable(result, layers) {
    return createTable({
        caption: `${integer(result.parameter_count)} parameters`,
        cards: true,
        columns: [
            { label: "part", cell: (row) => (layers > 1 ? `${row.layer + 1}. ${row.part}` : row.part) },
            { label: "job", place: "text", cell: (row) => row.job },
            { label: "shape of its output", numeric: true, cell: (row) => shapeText(row.shape) },
            { label: "parameters", numeric: true, cell: (row) => integer(row.parameter_count) },
            { label: "share", numeric: true, place: "aside", cell: (row) => percent(row.parameter_count / result.parameter_count) },
        ],
        rows: result.parts,
    });
}

// The boxes of a block from the top down, as [y, label, kind]; `around` are the direct paths past them, as [from, to].
const DRAWINGS = {
    last: (attention, forward) => ({
        boxes: [
            [62, attention, "block-attention"],
            [118, "add & norm", "block-norm"],
            [192, forward, "block-forward"],
            [248, "add & norm", "block-norm"],
        ],
        around: [
            [46, 137],
            [170, 267],
        ],
        said: "attention, sum and norm, feed-forward, sum and norm",
    }),
    first: (attention, forward) => ({
        boxes: [
            [62, "norm", "block-norm"],
            [118, attention, "block-attention"],
            [174, "add", "block-norm"],
            [248, "norm", "block-norm"],
            [304, forward, "block-forward"],
            [360, "add", "block-norm"],
        ],
        around: [
            [46, 193],
            [226, 379],
        ],
        said: "norm, attention, sum, norm, feed-forward, sum",
    }),
};
const BOX_HEIGHT = 38;

function drawBlock(figure, { layers, heads, width, feedforward_width: inner, norm = "last" }) {
    const { boxes, around, said } = DRAWINGS[norm](`attention, ${heads} heads`, `feed-forward, ${inner}`);
    const bottom = boxes.at(-1)[0] + BOX_HEIGHT;
    const box = ([y, label, kind]) => [
        svg("rect", { x: 60, y, width: 170, height: BOX_HEIGHT, rx: 7, class: `block-box ${kind}` }),
        svg("text", { x: 145, y: y + 24, "text-anchor": "middle", class: "block-text" }, label),
    ];
    const path = (d) => svg("path", { d, class: "block-arrow", "marker-end": "url(#arrow-head)" });
    const arrow = (from, to) => path(`M 145 ${from} V ${to - 1}`);
    const starts = [20, ...boxes.map(([y]) => y + BOX_HEIGHT)];
    const ends = [...boxes.map(([y]) => y), bottom + 42];
    replaceChildren(
        figure,
        h("figcaption", null, layers > 1 ? `One of ${layers} blocks` : "The block"),
        svg(
            "svg",
            {
                viewBox: `0 0 260 ${bottom + 64}`,
                role: "img",
                "aria-label": `A block of ${heads} heads with a feed-forward part of ${inner}: ${said}; around both parts leads a direct path.`,
            },
            svg(
                "defs",
                null,
                svg(
                    "marker",
                    {
                        id: "arrow-head",
                        viewBox: "0 0 8 8",
                        refX: 7,
                        refY: 4,
                        markerWidth: 7,
                        markerHeight: 7,
                        orient: "auto",
                    },
                    svg("path", { d: "M 0 0 L 8 4 L 0 8 z", class: "block-head" }),
                ),
            ),
            svg("rect", { x: 16, y: 34, width: 232, height: bottom - 8, rx: 12, class: "block-frame" }),
            svg("text", { x: 145, y: 14, "text-anchor": "middle", class: "block-small" }, `tokens \u00d7 ${width} in`),
            starts.map((from, index) => arrow(from, ends[index])),
            around.map(([from, to]) => path(`M 145 ${from} H 36 V ${to} H 58`)),
            boxes.map(box),
            svg(
                "text",
                { x: 145, y: bottom + 58, "text-anchor": "middle", class: "block-small" },
                `tokens \u00d7 ${width} out`,
            ),
        ),
    );
}

const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const spreadOf = (row) => Math.sqrt(meanOf(row.map((value) => (value - meanOf(row)) ** 2)));
const spreadOfTokens = (examples) => meanOf(examples.flat().map(spreadOf));
// Half of float32's digits are far more than the small number in the norm's root takes away.
const IS_ONE = 1e-3;

const CLAIMS = [
    {
        claim: "Norm last: every token leaves with spread 1. Norm first: the sum is never brought back, and its spread grows.",
        check({ result, parameters }) {
            const before = spreadOfTokens(result.input);
            const after = spreadOfTokens(result.output);
            const isFirst = parameters.norm === "first";
            return {
                shown: isFirst ? after > before : Math.abs(after - 1) < IS_ONE,
                measured: `norm ${parameters.norm ?? "last"}: spread ${fixed(before, 3)} in, ${fixed(after, 3)} out`,
                why: isFirst && after <= before ? "What the parts added happened to cancel." : "",
            };
        },
    },
    {
        claim: "The output has the shape of the input.",
        check: ({ result }) => ({
            shown: JSON.stringify(result.input_shape) === JSON.stringify(result.output_shape),
            measured: `${shapeText(result.input_shape)} in, ${shapeText(result.output_shape)} out`,
        }),
    },
    {
        claim: "The feed-forward part holds most of the parameters.",
        check({ result, parameters }) {
            const { width, feedforward_width: inner, layers } = parameters;
            const forward = layers * (2 * width * inner + inner + width);
            const shown = forward > result.parameter_count / 2;
            return {
                shown,
                measured: percent(forward / result.parameter_count),
                why: shown
                    ? ""
                    : "Attention has four matrices of width by width; a narrow feed-forward part has fewer.",
            };
        },
    },
];

const ONE_BLOCK = 12704;
const variance = (values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
};

const QUESTIONS = [
    {
        question: "there are eight heads instead of four?",
        settings: { heads: 8 },
        claim: "Not one parameter more: each head is half as wide, and together they read the same width.",
        check: ({ parameter_count: count }) => ({ shown: count === ONE_BLOCK, measured: `${integer(count)} parameters` }),
    },
    {
        question: "six blocks are stacked?",
        settings: { layers: 6 },
        claim: "Six times the parameters, the same shape, and every row still has variance one.",
        check({ parameter_count: count, output }) {
            const worst = Math.max(...output.flat().map((row) => Math.abs(variance(row) - 1)));
            return {
                shown: count === 6 * ONE_BLOCK && worst < 0.01,
                measured: `${integer(count)} parameters, variances within ${percent(worst)} of 1`,
            };
        },
    },
    {
        question: "twelve blocks normalise first, as in GPT-2?",
        settings: { layers: 12, norm: "first" },
        claim: "The numbers grow on the way: the output\u2019s variance is more than one and a half times the input\u2019s.",
        check({ input, output }) {
            const growth = variance(output.flat(2)) / variance(input.flat(2));
            return { shown: growth > 1.5, measured: `\u00d7 ${fixed(growth, 2)}` };
        },
    },
    {
        question: "the feed-forward part is half as wide?",
        settings: { feedforward_width: 64 },
        claim: "It is two thirds of a block, so the block loses a third of its parameters; attention keeps all of its own.",
        check({ parameter_count: count }) {
            const lost = 1 - count / ONE_BLOCK;
            return { shown: lost > 0.3 && lost < 0.36, measured: `${integer(count)} parameters, ${percent(lost)} fewer` };
        },
    },
];
