// The questions at the end of "Attention, step by step". Each claim is checked against the run that its link asks for.

import { fixed } from "../shared/format.js";

const CLOSE = 1e-6;
const WITH_SCALE = 0.4053;

const distance = (a, b) => a.reduce((most, value, index) => Math.max(most, Math.abs(value - b[index])), 0);

export const QUESTIONS = [
    {
        question: "the scores are not divided by \u221ad_k?",
        settings: { preset: "worked", mask: "none", scale: false },
        claim: "The key equal to the query takes more: nearly half, where with the scale it takes 0.405.",
        check({ weights: [[share]] }) {
            return { shown: share > WITH_SCALE && share > 0.45, measured: `${fixed(share, 4)} of the attention` };
        },
    },
    {
        question: "no token may see the future?",
        settings: { preset: "drawn", mask: "causal", scale: true },
        claim: "The first token hears only itself, so its output is its own value; the last still hears all.",
        check({ output, v, weights }) {
            const off = distance(output[0], v[0]);
            const heard = weights.at(-1).filter((weight) => weight > 0).length;
            return {
                shown: off < CLOSE && heard === weights.length,
                measured: `output and value differ by ${fixed(off, 6)}; the last token hears ${heard} of ${weights.length}`,
            };
        },
    },
    {
        question: "all queries are zero?",
        settings: { preset: "drawn", zero: "q" },
        claim: "Whatever the keys say, each gets the same share, and the output is the plain average of the values.",
        check({ weights, output, v }) {
            const average = v[0].map((_, column) => v.reduce((sum, row) => sum + row[column], 0) / v.length);
            const off = Math.max(
                ...weights.map((row) => distance(row, row.map(() => 1 / row.length))),
                ...output.map((row) => distance(row, average)),
            );
            return { shown: off < CLOSE, measured: `largest distance from 1/${v.length} and the average: ${fixed(off, 6)}` };
        },
    },
    {
        question: "a query may see no key at all?",
        settings: { preset: "worked", mask: "none", scale: true, mask_matrix: [[0, 0, 0]] },
        claim: "There is nothing to share out: weights and output are zero here, where a plain softmax would divide by zero.",
        check({ weights, output }) {
            const zeros = [...weights[0], ...output[0]].filter((value) => value === 0).length;
            const all = weights[0].length + output[0].length;
            return { shown: zeros === all, measured: `${zeros} of ${all} numbers are zero` };
        },
    },
    {
        question: "the mask is a triangle of ones and zeros, multiplied in?",
        settings: { preset: "causal-head", mask_fill: "zero" },
        claim: "It hides nothing: the first token still gives most of its attention to tokens that come after it.",
        check({ weights: [first] }) {
            const future = first.slice(1).reduce((sum, weight) => sum + weight, 0);
            return { shown: future > 0.5, measured: `${fixed(future, 4)} of its attention goes to the future` };
        },
    },
    {
        question: "the softmax runs over the queries, the wrong axis?",
        settings: { preset: "causal-head", softmax_over: "queries" },
        claim: "The columns add up to one and the rows no longer do: an output is no average any more.",
        check({ row_sums: rows, column_sums: columns }) {
            const off = (sums) => Math.max(...sums.map((sum) => Math.abs(sum - 1)));
            return {
                shown: off(columns) < 1e-5 && off(rows) > 0.1,
                measured: `columns within ${fixed(off(columns), 6)} of 1, rows within ${fixed(off(rows), 3)}`,
            };
        },
    },
    {
        question: "the scores of the notebook's head are turned down to nothing?",
        settings: { preset: "causal-head", blend: 0 },
        claim: "It is the running average again: token t shares its attention evenly among t + 1 tokens.",
        check({ weights }) {
            const off = Math.max(
                ...weights.map((row, t) => distance(row, row.map((_, key) => (key <= t ? 1 / (t + 1) : 0)))),
            );
            return { shown: off < CLOSE, measured: `largest distance from 1/(t + 1): ${fixed(off, 6)}` };
        },
    },
];
