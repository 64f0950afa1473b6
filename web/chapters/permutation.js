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
import { createTable } from "../shared/table.js";

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
    root.append(
        h(
            "p",
            { class: "lead" },
            "Attention adds up over all steps, and a sum does not know in which order it was taken. Unless every step carries a mark of its place, a sequence is a bag.",
        ),
        ...createShuffle(page),
        h("h2", null, "What it means for learning"),
        h(
            "p",
            { class: "prose" },
            "Two tasks, each trained with positions and without, three seeds each. Taking the positions away is a disaster for one and hardly noticed by the other, and both are the right result: whether order matters depends on the task.",
        ),
        ...createAblation(page),
    );
}

function createShuffle(page) {
    const tableSlot = h("div", { class: "pair" });
    const order = h("p", { class: "hint" });
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
                order.textContent = `The shuffle: place 0 gets step ${none.permutation[0]}, then ${none.permutation.slice(1, 12).join(", ")}${none.permutation.length > 12 ? ", \u2026" : "."}`;
                expectations.update({ none, learned, position: "learned positions" });
            } catch (error) {
                alert.show(error);
            }
        },
    });
    return [panel.element, alert.element, order, tableSlot, expectations.element];
}

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
