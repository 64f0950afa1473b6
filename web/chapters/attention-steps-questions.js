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
        settings: {
            preset: "given",
            mask: "none",
            scale: true,
            q: [
                [0, 0],
                [0, 0],
            ],
            k: [
                [3, 0],
                [0, 3],
                [-1, 2],
            ],
            v: [
                [10, 0],
                [0, 10],
                [5, 5],
            ],
        },
        claim: "Whatever the keys say, each gets the same share, and the output is the plain average of the values.",
        check({ weights }) {
            const off = Math.max(...weights.map((row) => distance(row, row.map(() => 1 / row.length))));
            return { shown: off < CLOSE, measured: `largest distance from 1/${weights[0].length}: ${fixed(off, 6)}` };
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
];
