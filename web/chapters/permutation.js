// Shuffling the input. First one forward pass: without positions attention's output stays the same, with them it changes.
// Then training: the same two models on a task in which order matters and on one in which it does not.

import { createAlert } from "../shared/alert.js";
import { isOver, post } from "../shared/api.js";
import { findComparison, followComparison } from "../shared/comparison.js";
import { createComparisonTable } from "../shared/comparison-table.js";
import { createCurlLine } from "../shared/curl.js";
import { h } from "../shared/dom.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel, createProgress } from "../shared/experiment-panel.js";
import { fixed, scientific } from "../shared/format.js";
import { hasParameters, resultOf } from "../shared/known-runs.js";
import { SENTENCES } from "../shared/models.js";
import { createQuestions } from "../shared/questions.js";
import { createTable } from "../shared/table.js";
import { tokenMoves } from "./permutation-tokens.js";

const ROUNDING = 1e-5;
const SEEDS = [0, 1, 2];
const ORDER_MATTERS = 0.2;

const TASKS = [
    {
        key: "ordered",
        title: "Order decides: is the first number positive?",
        common: {},
        model: "attention",
        situation: "usual",
    },
    {
        key: "bag",
        title: "Order does not matter: one word decides, wherever it stands",
        common: { task: SENTENCES.task },
        model: SENTENCES.model,
        situation: "text",
    },
];
const requestFor = ({ common, model }) => ({
    experiment: "train",
    seeds: SEEDS,
    ...common,
    variants: [
        { label: "with positions", model },
        { label: "without positions", model, position: "none" },
    ],
});

export function mount(root, page) {
    const shuffle = createShuffle(page);
    root.append(
        h(
            "p",
            { class: "lead" },
            "Attention adds up over all steps, and a sum does not know in which order it was taken. Unless every step carries a mark of its place, a sequence is a bag.",
        ),
        ...shuffle.elements,
        h("h2", null, "What it means for learning"),
        h(
            "p",
            { class: "prose" },
            "Two tasks, each trained with positions and without, three seeds each. Taking the positions away is a disaster for one and hardly noticed by the other, and both are the right result: whether order matters depends on the task.",
        ),
        ...createAblation(page),
        shuffle.questions,
    );
}

function createShuffle(page) {
    const tableSlot = h("div", { class: "pair" });
    const order = h("p", { class: "hint" });
    const tokenSlot = h("div");
    const questions = createQuestions(page, { chapter: "permutation", experiment: "permutation", questions: QUESTIONS });
    const alert = createAlert();
    const expectations = createExpectations([
        {
            claim: "Without positions the shuffled input gives the same output.",
            check: ({ none }) => ({
                shown: none.max_difference < ROUNDING,
                measured: `largest difference ${scientific(none.max_difference)}`,
                why:
                    none.max_difference > 0 && none.max_difference < ROUNDING
                        ? "Not exactly zero: the same numbers are added in a different order, and each addition rounds."
                        : "",
            }),
        },
        {
            claim: "With positions it gives a different one.",
            check: ({ learned, position }) => ({
                shown: learned.max_difference > ROUNDING,
                measured: `${position}: largest difference ${scientific(learned.max_difference)}`,
                why: "Small all the same: fresh learned positions have a spread of 0.02 only. Training makes them larger where that helps.",
            }),
        },
        {
            claim: "Without positions each token\u2019s output moves with the token: attention is equivariant, and its mean invariant.",
            check: ({ none }) => moves(none, (difference) => difference < ROUNDING),
        },
        {
            claim: "Positions break that: the same token gets another output in another place.",
            check: ({ learned }) => moves(learned, (difference) => difference > ROUNDING),
        },
    ]);

    const panel = createExperimentPanel(page, {
        experiment: "permutation",
        main: ["sequence_length", "examples", "seed"],
        except: ["position"],
        automatic: true,
        fixed: { position: "none" },
        async render(none, run) {
            alert.clear();
            try {
                const { sequence_length: length, examples, seed } = run.parameters;
                const learned = await resultOf(page, "permutation", {
                    sequence_length: length,
                    examples,
                    seed,
                    position: "learned",
                });
                tableSlot.replaceChildren(
                    outputTable("Without positions: the two logits of each example", none),
                    outputTable("With learned positions: the same", learned),
                );
                tokenSlot.replaceChildren(
                    tokenMoves("Without positions: outputs move with their tokens", none),
                    tokenMoves("With learned positions: they change on the way", learned),
                );
                order.textContent = `The shuffle: place 0 gets step ${none.permutation[0]}, then ${none.permutation.slice(1, 12).join(", ")}${none.permutation.length > 12 ? ", \u2026" : "."}`;
                expectations.update({ none, learned, position: "learned positions" });
                questions.update(none, run);
            } catch (error) {
                alert.show(error);
            }
        },
    });
    return {
        elements: [
            panel.element,
            alert.element,
            questions.answer,
            order,
            tableSlot,
            h("h2", null, "Token by token"),
            h(
                "p",
                { class: "prose" },
                "The two logits come from the mean over all tokens, so they can only stay or change. Before the mean there is more to see: the first eight places of the shuffled sequence of example 0, and what attention gives the token that stands there.",
            ),
            tokenSlot,
            expectations.element,
        ],
        questions: questions.element,
    };
}

// Judges how far outputs are from where their tokens moved; runs of earlier versions do not say.
const moves = ({ equivariance_difference: difference }, isShown) =>
    difference !== undefined && { shown: isShown(difference), measured: `largest difference ${scientific(difference)}` };
const pairText = (values) => values.map((value) => fixed(value, 4)).join(", ");
const difference = ([before, after]) => Math.max(...before.map((value, index) => Math.abs(value - after[index])));

function outputTable(caption, { original, shuffled }) {
    return createTable({
        caption,
        cards: true,
        columns: [
            { label: "example", numeric: true, cell: (row) => row.example },
            { label: "in order", numeric: true, cell: (row) => pairText(row.pair[0]) },
            { label: "shuffled", numeric: true, cell: (row) => pairText(row.pair[1]) },
            { label: "difference", numeric: true, place: "note", cell: (row) => scientific(difference(row.pair), 1) },
        ],
        rows: original.map((output, example) => ({ example, pair: [output, shuffled[example]] })),
    }).element;
}

function createAblation(page) {
    const alert = createAlert();
    const button = h("button", { type: "button", class: "primary", onclick: () => run() }, "Train both tasks");
    const expectations = createExpectations(CLAIMS);
    const sides = new Map(TASKS.map((task) => [task.key, createSide(task, page, alert, changed)]));

    function changed() {
        const comparisons = Object.fromEntries([...sides].map(([key, side]) => [key, side.comparison()]));
        button.disabled = Object.values(comparisons).some((one) => one && !isOver(one.state));
        expectations.update(comparisons);
    }

    async function run() {
        alert.clear();
        button.disabled = true;
        try {
            for (const task of TASKS)
                sides.get(task.key).follow(await post("/api/comparisons", requestFor(task), page.signal));
        } catch (error) {
            button.disabled = false;
            alert.show(error);
        }
    }

    async function showKnown() {
        try {
            for (const task of TASKS) {
                const known = await findComparison(
                    (comparison) => comparison.rows.length === 2,
                    (entries) => isAblation(entries, page.experiment("train").schema, task),
                    page.signal,
                );
                // If the reader has pressed the button meanwhile, their own comparison stays on view.
                const side = sides.get(task.key);
                if (known && side.comparison() === null) side.follow(known);
            }
        } catch (error) {
            alert.show(error);
        }
    }
    showKnown();
    return [
        h("div", { class: "actions" }, button),
        alert.element,
        h(
            "div",
            { class: "pair ablation" },
            [...sides.values()].map((side) => side.element),
        ),
        expectations.element,
    ];
}

// Whether a comparison's first row is the task's model with positions, and the second the same model without them.
function isAblation(entries, schema, { situation, common, model }) {
    const isSide = (variant, position) => {
        const members = entries.filter((entry) => entry.variant === variant);
        const given = { ...common, model, position };
        return (
            members.length > 0 &&
            members.every(({ parameters }) =>
                hasParameters(parameters, schema, { ...given, seed: parameters.seed }, situation),
            )
        );
    };
    return isSide(0, "learned") && isSide(1, "none");
}

function createSide(task, page, alert, changed) {
    const table = createComparisonTable("Test accuracy", { brief: true });
    const curl = createCurlLine();
    curl.set("POST", "/api/comparisons", requestFor(task));
    let comparison = null;
    const progress = createProgress(alert, () => `/api/comparisons/${comparison.id}`);
    return {
        element: h("section", null, h("h3", null, task.title), progress.element, table.element, curl.element),
        comparison: () => comparison,
        follow(started) {
            comparison = started;
            table.begin(started);
            progress.show(started);
            changed();
            followComparison(
                started,
                {
                    rows(newest) {
                        comparison = newest;
                        table.rows(newest);
                        progress.show(newest);
                        changed();
                    },
                    run: table.run,
                    epoch: table.epoch,
                    failed: (error) => alert.show(error),
                },
                page.signal,
            );
        },
    };
}

const complete = (comparison) =>
    comparison && comparison.rows.every((row) => row.accuracies.every((value) => value !== null));
const loss = (comparison) => comparison.rows[0].mean - comparison.rows[1].mean;
const measured = (comparison) =>
    `${fixed(comparison.rows[0].mean, 4)} with, ${fixed(comparison.rows[1].mean, 4)} without`;

const CLAIMS = [
    {
        claim: "If order decides, taking the positions away ruins the model.",
        check: ({ ordered }) =>
            complete(ordered) && { shown: loss(ordered) > ORDER_MATTERS, measured: measured(ordered) },
    },
    {
        claim: "If it does not, taking them away makes hardly any difference.",
        check: ({ bag }) =>
            complete(bag) && {
                shown: Math.abs(loss(bag)) < 0.03,
                measured: measured(bag),
                why: "A null result, and worth as much as the other: an ablation on this task alone would have said that positions are useless.",
            },
    },
];

const QUESTIONS = [
    {
        question: "there are only two tokens to shuffle?",
        settings: { sequence_length: 2, position: "none" },
        claim: "Then a sum of two terms is taken in the other order, and a + b is b + a to the last bit.",
        check: ({ max_difference: difference }) => ({
            shown: difference === 0,
            measured: `largest difference ${scientific(difference)}`,
        }),
    },
    {
        question: "the sequence has 1,000 tokens?",
        settings: { sequence_length: 1000, position: "none" },
        claim: "The output still does not move: more terms round more often, but no order is better than another.",
        check: ({ max_difference: difference }) => ({
            shown: difference < ROUNDING,
            measured: `largest difference ${scientific(difference)}`,
        }),
    },
    {
        question: "other weights are drawn?",
        settings: { seed: 1, position: "none" },
        claim: "It is no accident of one seed: outputs move with their tokens whatever the weights are.",
        check: (result) => moves(result, (difference) => difference < ROUNDING),
    },
];
