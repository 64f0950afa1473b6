// One transformer block: its parts with their jobs, shapes and parameters, its input and output, and why blocks can be
// stacked.

import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h, replaceChildren, svg } from "../shared/dom.js";
import { integer, percent } from "../shared/format.js";
import { displayedFormula } from "../shared/formula.js";
import { createHeatmap } from "../shared/heatmap.js";
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

    const panel = createExperimentPanel(page, {
        experiment: "transformer-block",
        main: ["layers", "heads", "width", "activation"],
        automatic: true,
        render(result, run) {
            results.hidden = false;
            drawBlock(picture, run.parameters);
            tableSlot.replaceChildren(partsTable(result, run.parameters.layers).element);
            maps.input.setMatrix(result.input[0]);
            maps.output.setMatrix(result.output[0]);
            expectations.update({ result, parameters: run.parameters });
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "Attention lets positions exchange what they know; a small network then works on each of them alone; a sum and a normalisation after each keep the signal in shape. That is all of a block. GPT, BERT and Llama are stacks of it, with their own sizes, masks and positions.",
        ),
        panel.element,
        results,
        expectations.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "Why it can be stacked"),
            displayedFormula(
                "<mi>y</mi><mo>=</mo><mi>norm</mi><mo>(</mo><mi>x</mi><mo>+</mo><mi>attention</mi><mo>(</mo><mi>x</mi><mo>)</mo><mo>)</mo>",
            ),
            displayedFormula(
                "<mi>z</mi><mo>=</mo><mi>norm</mi><mo>(</mo><mi>y</mi><mo>+</mo><mi>feedforward</mi><mo>(</mo><mi>y</mi><mo>)</mo><mo>)</mo>",
            ),
            h(
                "p",
                null,
                "What comes out has the shape of what went in, so the next block can take it as it is. The additions give the gradient a way past every block, straight down the stack; the normalisations keep the numbers from growing from block to block. Set the number of layers to 6 and look at the output: its values still have mean zero and variance one in every row.",
            ),
        ),
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

function drawBlock(figure, { layers, heads, width, feedforward_width: inner }) {
    const box = (y, label, kind) => [
        svg("rect", { x: 60, y, width: 170, height: 38, rx: 7, class: `block-box ${kind}` }),
        svg("text", { x: 145, y: y + 24, "text-anchor": "middle", class: "block-text" }, label),
    ];
    const arrow = (from, to) =>
        svg("path", { d: `M 145 ${from} V ${to - 1}`, class: "block-arrow", "marker-end": "url(#arrow-head)" });
    const around = (from, to) =>
        svg("path", { d: `M 145 ${from} H 36 V ${to} H 58`, class: "block-arrow", "marker-end": "url(#arrow-head)" });
    replaceChildren(
        figure,
        h("figcaption", null, layers > 1 ? `One of ${layers} blocks` : "The block"),
        svg(
            "svg",
            {
                viewBox: "0 0 260 350",
                role: "img",
                "aria-label": `A block: attention with ${heads} heads, sum and norm, feed-forward of ${inner}, sum and norm; around both parts leads a direct path.`,
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
            svg("rect", { x: 16, y: 34, width: 232, height: 278, rx: 12, class: "block-frame" }),
            svg("text", { x: 145, y: 14, "text-anchor": "middle", class: "block-small" }, `tokens \u00d7 ${width} in`),
            arrow(20, 62),
            around(46, 137),
            box(62, `attention, ${heads} heads`, "block-attention"),
            arrow(100, 118),
            box(118, "add & norm", "block-norm"),
            arrow(156, 192),
            around(170, 267),
            box(192, `feed-forward, ${inner}`, "block-forward"),
            arrow(230, 248),
            box(248, "add & norm", "block-norm"),
            arrow(286, 328),
            svg(
                "text",
                { x: 145, y: 344, "text-anchor": "middle", class: "block-small" },
                `tokens \u00d7 ${width} out`,
            ),
        ),
    );
}

const CLAIMS = [
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
