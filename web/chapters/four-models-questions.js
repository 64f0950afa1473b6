// The questions at the end of the four models. Each link sets models, seeds and parameters; a comparison that has exactly
// these, and defaults for all else, answers it, whoever started it.

import { same } from "../shared/form.js";
import { fixed } from "../shared/format.js";
import { hasParameters } from "../shared/known-runs.js";
import { describeModels } from "../shared/models.js";
import { createQuestions } from "../shared/questions.js";

const SEEDS = [0, 1, 2];
const LEARNT = 0.7;
const GUESSING = 0.6;
const NEARLY_ALL = 0.95;

const list = (values, digits = 3) => values.map((value) => fixed(value, digits)).join(", ");

export function createFourModelsQuestions(page) {
    const models = describeModels(page);
    const { schema } = page.experiment("train");

    // Whether the comparison is the one that the settings of a question ask for.
    function isAsked({ models: ids, seeds = SEEDS, ...given }, { comparison, entries }) {
        if (!comparison || !same(comparison.seeds, seeds) || comparison.rows.length !== ids.length) return false;
        const found = new Set(entries.map((entry) => models.variantOf(entry.parameters)?.id));
        return (
            ids.every((id) => found.has(id)) &&
            entries.every(({ parameters: its }) => {
                const own = Object.entries(given).filter(([name]) => models.takes(its.model, name));
                const { model, position, seed } = its;
                return hasParameters(its, schema, { ...Object.fromEntries(own), model, position, seed }, "usual");
            })
        );
    }
    return createQuestions(page, {
        chapter: "four-models",
        experiment: "train",
        questions: QUESTIONS.map((one) => ({ ...one, matches: (results, shown) => isAsked(one.settings, shown) })),
    });
}

const QUESTIONS = [
    {
        question: "the RNN starts from each of the seeds 0 to 7?",
        settings: { models: ["rnn"], seeds: [0, 1, 2, 3, 4, 5, 6, 7] },
        claim: "With at least half of them it gets above 0.7, but with none nearly all right, and with one at least it stays near guessing.",
        check: ({ rnn }) =>
            rnn && {
                shown:
                    2 * rnn.accuracies.filter((value) => value > LEARNT).length >= rnn.accuracies.length &&
                    Math.min(...rnn.accuracies) < GUESSING &&
                    Math.max(...rnn.accuracies) < 0.99,
                measured: list(rnn.accuracies),
            },
    },
    {
        question: "the sequence has ten steps, not sixty?",
        settings: { models: ["lstm"], sequence_length: 10 },
        claim: "Now the LSTM gets nearly every example right with every seed: nothing was wrong with it but the length of the way.",
        check: ({ lstm }) =>
            lstm && { shown: Math.min(...lstm.accuracies) > NEARLY_ALL, measured: list(lstm.accuracies) },
    },
    {
        question: "attention without positions gets a causal mask?",
        settings: { models: ["unordered"], mask: "causal" },
        claim: "It does better than guessing, and is far from right: the mask tells the first step from the others, which all see it, but gives no way to look at it alone.",
        check: ({ unordered }) =>
            unordered && {
                shown: unordered.row.worst > GUESSING && unordered.row.mean < 0.9,
                measured: `${list(unordered.accuracies)}; step 0 gets ${list(unordered.attention.map((mean) => mean.first))} of the attention`,
            },
    },
    {
        question: "a whole transformer block takes the place of attention?",
        settings: { models: ["attention", "transformer"] },
        claim: "It gets nearly every example right as well, and looks at step 0 less: its sums and its feed-forward part carry what attention alone has to fetch.",
        check: ({ attention, transformer }) =>
            attention &&
            transformer && {
                shown:
                    transformer.row.worst > NEARLY_ALL &&
                    Math.max(...transformer.attention.map((mean) => mean.first)) <
                        Math.min(...attention.attention.map((mean) => mean.first)),
                measured: `worst seed ${fixed(transformer.row.worst, 4)}; step 0 gets ${list(transformer.attention.map((mean) => mean.first))} of its attention, and ${list(attention.attention.map((mean) => mean.first))} of the other\u2019s`,
            },
    },
];
