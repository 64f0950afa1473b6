// How much gradient reaches each input step, before training and during it: in the RNN and the LSTM it decays along the
// chain, in attention it does not. Beside the chart, a picture of the signal's path for the given sequence length.

import { createChart } from "../shared/chart.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h, replaceChildren, svg } from "../shared/dom.js";
import { compact, fixed, scientific } from "../shared/format.js";
import { describeModels } from "../shared/models.js";
import { createQuestions } from "../shared/questions.js";
import { createTable } from "../shared/table.js";
import { createTrainedReach } from "./gradient-reach-training.js";

const MOST_DOTS = 80;

export function mount(root, page) {
    const models = describeModels(page);
    const titles = page.experiment("gradient-reach").schema.properties.models["x-choice-titles"];
    const title = (model) => titles[model] ?? model;
    const chart = createChart({
        title: "Mean size of the gradient at each input step",
        tall: true,
        signal: page.signal,
        x: { label: "input step", min: 0 },
        y: { label: "|gradient|, logarithmic", type: "logarithmic", format: (value) => scientific(value) },
    });
    const table = createTable({
        caption: "The two ends of the sequence",
        cards: true,
        columns: [
            { label: "model", cell: (row) => title(row.model) },
            { label: "step 0", numeric: true, cell: (row) => scientific(row.first, 3) },
            { label: "last step", numeric: true, cell: (row) => scientific(row.last, 3) },
            {
                label: "last / first",
                numeric: true,
                cell: (row) => (row.ratio !== null && row.ratio < 1000 ? fixed(row.ratio, 2) : scientific(row.ratio)),
            },
            { label: "loss", numeric: true, cell: (row) => fixed(row.loss, 4) },
        ],
    });
    const paths = h("figure", { class: "paths" });
    const results = h("div", { hidden: true }, h("div", { class: "wide-pair" }, chart.element, paths), table.element);
    const expectations = createExpectations(CLAIMS);
    const questions = createQuestions(page, {
        chapter: "gradient-reach",
        experiment: "gradient-reach",
        questions: QUESTIONS,
    });

    const panel = createExperimentPanel(page, {
        experiment: "gradient-reach",
        main: ["sequence_length", "models", "position"],
        automatic: true,
        render(result, run) {
            results.hidden = false;
            chart.setSeries(
                result.rows.map((row, index) => ({
                    label: title(row.model),
                    color: models.colorOf(row.model) ?? models.variants.length + index,
                    // A logarithmic axis cannot show a gradient that underflowed to zero.
                    points: row.gradient.map((value, step) => ({ x: step, y: value > 0 ? value : null })),
                })),
            );
            table.update(result.rows);
            drawPaths(paths, result.rows[0]?.gradient.length ?? 0);
            expectations.update(result.rows);
            questions.update(result, run);
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "Before a model can learn from its first input, some gradient must arrive there. This is how much arrives at every step, with fresh weights and one batch: no training, one pass forward and one back.",
        ),
        panel.element,
        questions.answer,
        results,
        expectations.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "A chain and a direct line"),
            h(
                "p",
                null,
                "On its way from the last step to the first, the RNN\u2019s gradient is multiplied by one and the same kind of matrix, once a step. With fresh weights each of those fifty-nine factors shrinks it, by about 0.63 on average: with seed 0 it is halved thirty-nine times in all, and what is left is less than the noise of the arithmetic. The LSTM adds a path through its cells, but its gates start half closed, and its gradient is halved forty times.",
            ),
            h(
                "p",
                null,
                "In attention every step contributes to the output through its own weight, and all weights start nearly equal: the first step gets what the last gets. Nothing has been learnt yet; the signal is simply there to learn from.",
            ),
        ),
        createTrainedReach(page),
        questions.element,
    );
}

// The steps as dots; above them the hops along the chain, below them the single hop of attention.
function drawPaths(figure, length) {
    const width = 360;
    const shownCount = Math.min(length, MOST_DOTS);
    const x = (index) => (shownCount < 2 ? width / 2 : 20 + (index * (width - 40)) / (shownCount - 1));
    const middle = 96;
    const dots = Array.from({ length: shownCount }, (_, index) =>
        svg("circle", {
            cx: x(index),
            cy: middle,
            r: index === 0 || index === shownCount - 1 ? 5 : 2.5,
            class: "path-dot",
        }),
    );
    const hops = Array.from({ length: Math.max(0, shownCount - 1) }, (_, index) => {
        const height = Math.min(24, 4 + (x(index + 1) - x(index)) / 2);
        return svg("path", {
            d: `M ${x(index)} ${middle - 7} Q ${(x(index) + x(index + 1)) / 2} ${middle - 7 - 2 * height} ${x(index + 1)} ${middle - 7}`,
            class: "path-chain",
        });
    });
    const direct = svg("path", {
        d: `M ${x(0)} ${middle + 34} Q ${width / 2} ${middle + 150} ${x(shownCount - 1)} ${middle + 34}`,
        class: "path-direct",
    });
    const text = (content, y, anchor = "middle", at = width / 2, kind = "path-text") =>
        svg("text", { x: at, y, "text-anchor": anchor, class: kind }, content);
    const steps = Math.max(0, length - 1);
    const description = `From step 0 to step ${steps}: ${steps} hops through a recurrent network, one through attention.`;
    replaceChildren(
        figure,
        h("figcaption", null, "The path from the first step to the last"),
        svg(
            "svg",
            { viewBox: `0 0 ${width} 230`, role: "img", "aria-label": description, class: "paths-picture" },
            text(`RNN and LSTM: ${compact(steps)} hops`, 26),
            text("each one weakens the signal", 46, "middle", width / 2, "path-small"),
            hops,
            dots,
            length > 1 && direct,
            text("step 0", middle + 24, "start", 6, "path-small"),
            text(`step ${steps}`, middle + 24, "end", width - 6, "path-small"),
            text("attention: 1 hop", 216),
        ),
        length > MOST_DOTS && h("p", { class: "hint" }, `Drawn with ${MOST_DOTS} of the ${length} steps.`),
    );
}

const ratioClaim = (model, title) => ({
    claim: `The gradient of the ${title} all but vanishes on the way to step 0.`,
    check(rows) {
        const row = rows.find((one) => one.model === model);
        if (!row) return null;
        const shown = row.ratio === null || row.ratio > 1e6;
        return {
            shown,
            measured:
                row.ratio === null
                    ? "nothing arrives at step 0"
                    : `the last step gets ${compact(row.ratio)} times as much as the first`,
            why: shown ? "" : "On a short sequence there are few steps to weaken it.",
        };
    },
});

const CLAIMS = [
    ratioClaim("rnn", "RNN"),
    ratioClaim("lstm", "LSTM"),
    {
        claim: "In attention the first and the last step get about the same.",
        check(rows) {
            const row = rows.find((one) => one.model === "attention");
            return row && { shown: row.ratio > 0.2 && row.ratio < 5, measured: `ratio ${fixed(row.ratio, 3)}` };
        },
    },
];

const rowOf = (rows, model) => rows.find((row) => row.model === model);

const QUESTIONS = [
    {
        question: "the sequence is twice as long?",
        settings: { sequence_length: 120 },
        claim: "The RNN loses as much again: the last step gets more than 10\u00b2\u2070 times what the first gets. In attention both ends stay alike.",
        check({ rows }) {
            const [rnn, attention] = [rowOf(rows, "rnn"), rowOf(rows, "attention")];
            return {
                shown: (rnn.ratio === null || rnn.ratio > 1e20) && attention.ratio > 0.2 && attention.ratio < 5,
                measured: `RNN ${rnn.ratio === null ? "nothing arrives" : scientific(rnn.ratio)}, attention ${fixed(attention.ratio, 2)}`,
            };
        },
    },
    {
        question: "attention has no positions?",
        settings: { models: ["attention"], position: "none" },
        claim: "The gradient still reaches every step: positions are needed to know the first step, not to hear it.",
        check({ rows: [row] }) {
            return { shown: row.ratio > 0.2 && row.ratio < 5, measured: `last / first ${fixed(row.ratio, 3)}` };
        },
    },
    {
        question: "it is a whole transformer block?",
        settings: { models: ["transformer"] },
        claim: "Residual connections, norms and feed-forward part leave the direct path open: both ends get about the same.",
        check({ rows: [row] }) {
            return { shown: row.ratio > 0.2 && row.ratio < 5, measured: `last / first ${fixed(row.ratio, 3)}` };
        },
    },
    {
        question: "a GRU walks the sequence?",
        settings: { models: ["gru"] },
        claim: "Its gates do not help before training: less than a millionth of the last step\u2019s gradient reaches the first.",
        check({ rows: [row] }) {
            return {
                shown: row.ratio === null || row.ratio > 1e6,
                measured: row.ratio === null ? "nothing arrives at step 0" : `last / first ${scientific(row.ratio)}`,
            };
        },
    },
];
