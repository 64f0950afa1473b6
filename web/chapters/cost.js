// What attention costs: time and memory against sequence length, measured here and now. The score matrix grows fourfold
// when the length doubles. The measured time does not always follow, and the page says when.

import { createChart } from "../shared/chart.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h } from "../shared/dom.js";
import { bytes, fixed, integer } from "../shared/format.js";
import { displayedFormula } from "../shared/formula.js";
import { lengthTable } from "../shared/length-table.js";
import { createQuestions } from "../shared/questions.js";
import { createTable, textTable } from "../shared/table.js";

const milliseconds = (value) =>
    value === null || value === undefined ? "\u2013" : `${value < 10 ? fixed(value, 3) : fixed(value, 1)} ms`;
const times = (value) => (value === null ? "" : `\u00d7 ${fixed(value, 2)}`);

// The factor by which a figure grows from one row to another, or null if one of them was not measured.
const growthOf = (row, before, name) => (before?.[name] && typeof row[name] === "number" ? row[name] / before[name] : null);

// Runs of earlier versions lack some columns.
const has = (rows, name) => rows.some((row) => row[name] !== undefined);

// The names of the two ways of computing attention; a row names the winner.
const WAYS = { attention: "whole", tiled: "tiled" };

const skippedRows = (rows) =>
    rows
        .filter((row) => row.attention_not_measured)
        .map((row) => `T = ${integer(row.length)}: attention was not measured: ${row.attention_not_measured}.`)
        .join(" ");

// Times and memory each have a table: one with all of their columns is wider than the page.
function measuredTable(caption, rows, columns, winner, note = null) {
    // A figure, followed by its growth since the row above.
    const figure = ([label, name, text]) => ({
        label,
        name,
        numeric: true,
        cell: (row) => {
            const growth = times(growthOf(row, row.previous, name));
            return growth ? [text(row[name]), " ", h("span", { class: "growth" }, growth)] : text(row[name]);
        },
    });
    return createTable({
        caption: `${caption}; \u00d7 is against the row above`,
        cards: true,
        columns: [
            { label: "T", numeric: true, cell: (row) => integer(row.length) },
            ...columns.filter(([, name]) => has(rows, name)).map(figure),
            ...(has(rows, "wins")
                ? [{ label: winner.label, labelled: true, cell: ({ wins }) => WAYS[wins[winner.name]] ?? wins[winner.name] }]
                : []),
        ],
        rows: rows.map((row, index) => ({ ...row, previous: rows[index - 1] ?? null })),
        note,
    }).element;
}

const timeTable = (rows) =>
    measuredTable(
        "Time, measured here",
        rows,
        [
            ["RNN", "rnn_ms", milliseconds],
            ["LSTM", "lstm_ms", milliseconds],
            ["attention", "attention_ms", milliseconds],
            ["attention, tiled", "tiled_ms", milliseconds],
            ["identity for single numbers", "identity_ms", milliseconds],
        ],
        { label: "faster attention", name: "time" },
        skippedRows(rows),
    );

const memoryTable = (rows) =>
    measuredTable(
        "Memory, measured here",
        rows,
        [
            ["scores per example", "scores", integer],
            ["RNN", "rnn_bytes", bytes],
            ["LSTM", "lstm_bytes", bytes],
            ["attention", "attention_bytes", bytes],
            ["attention, tiled", "tiled_bytes", bytes],
            ["identity for single numbers", "identity_bytes", bytes],
        ],
        { label: "smaller attention", name: "bytes" },
    );

export function mount(root, page) {
    const { signal } = page;
    const length = { label: "sequence length T", min: 0 };
    const time = createChart({
        title: "Time of one forward pass over the batch",
        signal,
        x: length,
        y: { label: "milliseconds", min: 0, format: milliseconds },
    });
    const memory = createChart({
        title: "Memory of one forward pass over the batch",
        signal,
        x: length,
        y: { label: "megabytes", min: 0, format: (value) => `${fixed(value, 2)} MB` },
    });
    const tables = h("div");
    const results = h("div", { hidden: true }, h("div", { class: "pair" }, time.element, memory.element), tables);
    const expectations = createExpectations(CLAIMS);
    const questions = createQuestions(page, { chapter: "cost", experiment: "cost", questions: QUESTIONS });

    const panel = createExperimentPanel(page, {
        experiment: "cost",
        main: ["lengths", "width", "batch", "repeats"],
        button: "Measure",
        render(result, run) {
            results.hidden = false;
            const rows = [...result.rows].sort((a, b) => a.length - b.length);
            const series = (label, color, name, unit = 1) => ({
                label,
                color,
                points: rows
                    .filter((row) => row[name] !== undefined)
                    .map((row) => ({ x: row.length, y: row[name] === null ? null : row[name] / unit })),
            });
            time.setSeries(
                [
                    series("RNN", 0, "rnn_ms"),
                    series("LSTM", 1, "lstm_ms"),
                    series("attention", 2, "attention_ms"),
                    series("attention, tiled", 4, "tiled_ms"),
                    series("identity for single numbers", 6, "identity_ms"),
                ].filter((one) => one.points.length > 0),
            );
            memory.setSeries(
                [
                    series("RNN", 0, "rnn_bytes", 1e6),
                    series("LSTM", 1, "lstm_bytes", 1e6),
                    series("attention", 2, "attention_bytes", 1e6),
                    series("the scores alone", 5, "score_bytes", 1e6),
                    series("attention, tiled", 4, "tiled_bytes", 1e6),
                    series("identity for single numbers", 6, "identity_bytes", 1e6),
                ].filter((one) => one.points.length > 0),
            );
            tables.replaceChildren(timeTable(rows), memoryTable(rows));
            expectations.update(rows);
            questions.update({ rows }, run);
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "Attention traded one cost for another: its path between two steps is a single hop, where a recurrent network needs one for each step in between; the price is T squared scores, since every step meets every other.",
        ),
        panel.element,
        questions.answer,
        results,
        expectations.element,
        lengthTable(),
        h(
            "section",
            { class: "prose" },
            h("h2", null, "What the clock says and what counting says"),
            displayedFormula(
                '<mtext>RNN:\u00a0</mtext><mi>O</mi><mo>(</mo><mi>T</mi><msup><mi>d</mi><mn>2</mn></msup><mo>)</mo><mo>,</mo><mspace width="1.2em"/><mtext>attention:\u00a0</mtext><mi>O</mi><mo>(</mo><msup><mi>T</mi><mn>2</mn></msup><mi>d</mi><mo>+</mo><mi>T</mi><msup><mi>d</mi><mn>2</mn></msup><mo>)</mo>',
            ),
            h(
                "p",
                null,
                "Counting operations says which term wins in the end, not where. At short lengths the projections to Q, K and V, which grow only with T, are most of attention\u2019s work, so its time grows less than fourfold; when the scores no longer fit in the processor\u2019s cache, it can grow more. The RNN\u2019s steps are small products, each of which cannot begin before the last one is done. On a single core, with the loop compiled into one piece as it is here, there is nothing to wait for and nobody to share the work with, and the one that computes less is faster. A graphics card has thousands of cores: attention\u2019s scores give all of them work at once, while a step of an RNN occupies few and the next must wait. That is the parallelism for which transformers could be trained on so much text; it is not measured here, as there is no graphics card behind this page.",
            ),
            h(
                "p",
                null,
                "The memory columns are measured too: what one pass over the whole batch has written. The RNN holds its states; attention holds queries, keys, values and the sums of values, 4 \u00b7 T \u00b7 d numbers an example, and T\u00b2 scores. At short lengths the scores are the smaller part, so this too grows less than fourfold at first; in the end they are nearly all of it. That is the wall long sequences run into, and why so much work goes into attention that never writes the whole matrix down: the tiled one makes the same projections and takes the scores a piece at a time.",
            ),
            textTable("What people do about T squared, and what each gives up", REMEDIES),
            h("h2", null, "What the identity is"),
            h(
                "p",
                null,
                "\u201cAttention\u201d is the textbook\u2019s here, with every step of the formula. The models that train on these pages use a shortcut that is no property of attention: their steps are single numbers, so every query and key is a number times one vector, plus what its position adds. The scores of all examples then come from one matrix of products that they share, the mean over the queries needs no value of its own, and most of the work disappears, with the same result up to rounding. With tokens of many numbers there is no such shortcut.",
            ),
        ),
        questions.element,
    );
}

const REMEDIES = [
    ["name", "what it does", "what it gives up"],
    [
        "sparse attention",
        "each query sees only some keys: its neighbours, or every so many",
        "pairs that nobody chose never meet directly",
    ],
    [
        "linear attention",
        "replaces the softmax by a product of two functions, so that keys and values can be summed once for all queries",
        "the softmax\u2019s sharp choice of a single key",
    ],
    [
        "state-space models",
        "carry a state of fixed size from step to step, computed side by side in training",
        "exact look-up: what the state has not kept is gone",
    ],
    [
        "FlashAttention",
        "takes the scores in tiles and never writes the matrix, as the tiled column here",
        "nothing in the result; the T squared operations remain",
    ],
];

const doublings = (rows, name) =>
    rows
        .slice(1)
        .map((row, index) => ({ factor: row.length / rows[index].length, growth: growthOf(row, rows[index], name) }))
        .filter((one) => one.factor === 2 && one.growth !== null)
        .map((one) => one.growth);

// Whether all growths lie within the bounds, and the reason why they may not; false if there are none.
function growsBetween(growths, [low, high], why = "") {
    if (growths.length === 0) return false;
    const shown = growths.every((growth) => growth >= low && growth <= high);
    return { shown, measured: growths.map(times).join(", "), why: shown ? "" : why };
}

const CLAIMS = [
    {
        claim: "At the shortest length attention is faster than the RNN.",
        check(rows) {
            const first = rows.find((row) => row.attention_ms !== null);
            if (!first) return false;
            const shown = first.attention_ms < first.rnn_ms;
            return {
                shown,
                measured: `T = ${integer(first.length)}: attention ${milliseconds(first.attention_ms)}, RNN ${milliseconds(first.rnn_ms)}`,
                why: shown
                    ? ""
                    : "Not here, where the loop is compiled and one core does it all: see below.",
            };
        },
    },
    {
        claim: "The number of scores grows exactly fourfold when T doubles.",
        check: (rows) => growsBetween(doublings(rows, "scores"), [4, 4]),
    },
    {
        claim: "The RNN\u2019s time doubles when T doubles.",
        check: (rows) =>
            growsBetween(
                doublings(rows, "rnn_ms"),
                [1.6, 2.5],
                "Short measurements are disturbed by whatever else the machine does; more repeats steady them.",
            ),
    },
    {
        claim: "Attention\u2019s time grows fourfold, as its scores do.",
        check: (rows) =>
            growsBetween(
                doublings(rows, "attention_ms"),
                [3.4, 4.6],
                "Below four: work that grows only with T, above all the projections, is still a good part. Above four: the scores have outgrown a cache.",
            ),
    },
    {
        claim: "The LSTM takes more than twice the RNN\u2019s time: it has four gates where the RNN has one sum.",
        check(rows) {
            const last = rows.at(-1);
            if (last.lstm_ms === undefined) return false;
            const factor = last.lstm_ms / last.rnn_ms;
            return {
                shown: factor > 2,
                measured: `${times(factor)} at T = ${integer(last.length)}`,
                why: factor > 2 ? "" : "Narrow layers spend their time on other things than products.",
            };
        },
    },
];

const at = (rows, length) => rows.find((row) => row.length === length);

const QUESTIONS = [
    {
        question: "the sequence is sixteen times as long?",
        settings: { lengths: [64, 1024], batch: 8, repeats: 3 },
        claim: "The scores grow 256-fold, and attention\u2019s memory more than 50-fold; in tiles it grows about as the length.",
        check({ rows }) {
            const [first, last] = [at(rows, 64), at(rows, 1024)];
            if (last.attention_ms === null) return null;
            const [whole, tiled] = [last.attention_bytes / first.attention_bytes, last.tiled_bytes / first.tiled_bytes];
            return {
                shown: last.scores / first.scores === 256 && whole > 50 && tiled < 20,
                measured: `memory ${times(whole)} with the matrix, ${times(tiled)} in tiles`,
            };
        },
    },
    {
        question: "the vectors are 256 numbers wide?",
        settings: { width: 256, batch: 16, repeats: 3 },
        claim: "The RNN falls back: its steps multiply by d\u00b2 numbers. At T = 240 it takes more than a fifth of attention\u2019s time, where at width 32 it takes less than a tenth.",
        check({ rows }) {
            const last = rows.at(-1);
            if (last.attention_ms === null) return null;
            const share = last.rnn_ms / last.attention_ms;
            return { shown: share > 1 / 5, measured: `RNN / attention = ${fixed(share, 2)} at T = ${integer(last.length)}` };
        },
    },
    {
        question: "there is one sequence instead of a batch?",
        settings: { batch: 1, repeats: 20 },
        claim: "Everything shrinks alike: attention at T = 240 fits in half a megabyte, and more than half of it are still scores.",
        check({ rows }) {
            const row = at(rows, 240);
            if (row.attention_ms === null) return null;
            const share = row.score_bytes / row.attention_bytes;
            return {
                shown: share > 0.5 && row.attention_bytes < 0.5e6,
                measured: `${bytes(row.attention_bytes)} in all, ${fixed(share, 2)} of it scores`,
            };
        },
    },
];
