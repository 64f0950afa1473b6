// What moves while the four models train: curves, table, attention; and what the chapter expects of them.

import { createAttentionView } from "../shared/attention-view.js";
import { createChart } from "../shared/chart.js";
import { createComparisonTable } from "../shared/comparison-table.js";
import { h, oncePerFrame, replaceChildren } from "../shared/dom.js";
import { createExpectations } from "../shared/expectation.js";
import { fixed, percent } from "../shared/format.js";
import { DASHES, seriesColor } from "../shared/theme.js";

// The models of the chapter, in the order of their colours.
export const VARIANTS = [
    { id: "rnn", label: "RNN", parameters: { model: "rnn" } },
    { id: "lstm", label: "LSTM", parameters: { model: "lstm" } },
    { id: "attention", label: "attention", parameters: { model: "attention" } },
    { id: "unordered", label: "attention (no position)", parameters: { model: "attention", position: "none" } },
];
const CHANCE = 0.5;
// Clearly better than guessing on this task.
const LEARNT = 0.7;

export const swatch = (index) => {
    const element = h("span", { class: "swatch", "aria-hidden": "true" });
    element.style.backgroundColor = seriesColor(index);
    return element;
};

// Everything that moves while the comparison trains.
export function createLiveView(page) {
    const { signal } = page;
    const loss = createChart({
        title: "Training loss",
        legend: false,
        signal,
        x: { label: "epoch", min: 0 },
        y: { label: "cross-entropy (cut at 1)", min: 0, max: 1, format: (value) => fixed(value, 4) },
    });
    const accuracy = createChart({
        title: "Test accuracy",
        legend: false,
        signal,
        x: { label: "epoch", min: 0 },
        y: { label: "share of test examples", min: 0.4, max: 1, format: (value) => fixed(value, 4) },
    });
    const key = h("div", { class: "series-key" });
    const table = createComparisonTable("Test accuracy after training (guessing gives 0.5)");
    const attention = createAttentionView({
        signal,
        onChange: (shown) => {
            attentionShown = shown;
            updateExpectations();
        },
    });
    const runChoice = h("select", { id: "attention-run", onchange: () => chooseRun(runChoice.value) });
    const attentionBlock = h(
        "section",
        { hidden: true, "aria-labelledby": "attention-heading" },
        h("h2", { id: "attention-heading" }, "Where it looks"),
        h("div", { class: "slider-row" }, h("label", { for: "attention-run" }, "Run"), runChoice),
        attention.element,
    );
    const expectations = createExpectations(CLAIMS);
    const results = h(
        "div",
        { hidden: true },
        key,
        h("div", { class: "pair" }, loss.element, accuracy.element),
        table.element,
        attentionBlock,
    );
    const element = h("div", null, results, expectations.element);

    let comparison = null;
    let runs = new Map();
    let shownRun = null;
    let attentionShown = null;
    const hidden = new Set();

    const draw = oncePerFrame(() => {
        const shown = [...runs.values()].filter((entry) => !hidden.has(entry.variant));
        const series = (value) =>
            shown.map((entry) => ({
                label: `${entry.label}, seed ${entry.seed}`,
                color: entry.color,
                dash: entry.seedIndex,
                points: entry.epochs
                    .filter((row) => row && value(row) !== null)
                    .map((row) => ({ x: row.epoch, y: value(row) })),
            }));
        loss.setSeries(series((row) => row.train_loss));
        accuracy.setSeries(series((row) => row.test_accuracy));
    });

    function drawKey() {
        const entries = [...runs.values()];
        const seeds = [...new Set(entries.map((entry) => entry.seed))];
        replaceChildren(
            key,
            h(
                "ul",
                { class: "legend", "aria-label": "Models in the charts" },
                comparison.rows.map((row, index) => {
                    const button = h(
                        "button",
                        { type: "button", class: "legend-key", "aria-pressed": "true" },
                        swatch(colorOf(row.label, index)),
                        row.label,
                    );
                    button.addEventListener("click", () => {
                        if (!hidden.delete(index)) hidden.add(index);
                        button.setAttribute("aria-pressed", String(!hidden.has(index)));
                        draw();
                    });
                    return h("li", null, button);
                }),
            ),
            seeds.length > 1 &&
                h(
                    "p",
                    { class: "hint" },
                    seeds
                        .slice(0, DASHES.length)
                        .map(
                            (seed, index) =>
                                `${index ? ", " : ""}${["solid", "dashed", "dotted", "dash-dot", "short dashes", "long dashes"][index]}: seed ${seed}`,
                        )
                        .join(""),
                ),
        );
    }

    function chooseRun(id) {
        shownRun = id;
        attention.show({ id }).catch(() => {
            attentionBlock.hidden = true;
        });
    }

    function updateExpectations() {
        if (comparison) expectations.update({ comparison, attention: attentionShown });
    }

    function drawRunChoice() {
        const withAttention = [...runs.entries()].filter(([, entry]) => entry.hasAttention);
        attentionBlock.hidden = withAttention.length === 0;
        replaceChildren(
            runChoice,
            withAttention.map(([id, entry]) => h("option", { value: id }, `${entry.label}, seed ${entry.seed}`)),
        );
        if (withAttention.length > 0) chooseRun(withAttention[0][0]);
    }

    return {
        element,
        begin(started) {
            comparison = started;
            runs = new Map();
            attentionShown = null;
            results.hidden = false;
            attentionBlock.hidden = true;
            hidden.clear();
            expectations.clear();
            table.begin(started);
            results.scrollIntoView({ block: "nearest" });
        },
        rows(newest) {
            comparison = newest;
            table.rows(newest);
            updateExpectations();
        },
        // All runs of the comparison, once known: [{ id, variant, seed, seedIndex, label, parameters, state }].
        run(entries) {
            table.run(entries);
            const longest = Math.max(...entries.map((entry) => entry.parameters.epochs));
            loss.setLast(longest);
            accuracy.setLast(longest);
            const first = runs.size === 0;
            for (const entry of entries) {
                const known = runs.get(entry.id);
                if (known) known.state = entry.state;
                else {
                    runs.set(entry.id, {
                        ...entry,
                        epochs: [],
                        color: colorOf(entry.label, entry.variant),
                        hasAttention: ["attention", "transformer"].includes(entry.parameters.model),
                    });
                }
            }
            if (first) {
                drawKey();
                drawRunChoice();
            }
            draw();
        },
        epoch(id, row) {
            const entry = runs.get(id);
            if (!entry) return;
            entry.epochs[row.epoch] = row;
            table.epoch(id, row);
            draw();
        },
        attention(id, epoch) {
            if (id === shownRun) attention.newEpoch(id, epoch);
        },
    };
}

function colorOf(label, index) {
    const known = VARIANTS.findIndex((variant) => variant.label === label);
    return known >= 0 ? known : index;
}

const rowOf = (comparison, label) => {
    const row = comparison.rows.find((one) => one.label === label);
    return row && row.accuracies.every((value) => value !== null) ? row : null;
};

const CLAIMS = [
    {
        claim: "Attention with positions gets nearly every example right, whatever the seed.",
        check({ comparison }) {
            const row = rowOf(comparison, "attention");
            return (
                row && {
                    shown: row.worst >= 0.95,
                    measured: `worst seed ${fixed(row.worst, 4)}`,
                    why:
                        row.worst >= 0.95
                            ? ""
                            : "Few epochs, few examples or a small learning rate leave it halfway; a large one throws it out again.",
                }
            );
        },
    },
    {
        claim: "Its most attended step is step 0.",
        check({ comparison, attention }) {
            if (!attention || !rowOf(comparison, "attention")) return null;
            const { mean, epoch } = attention;
            const why =
                mean.argmax === 0
                    ? ""
                    : "The run on view may be the one without positions, or an epoch before it was learnt: before training every step gets about the same.";
            return {
                shown: mean.argmax === 0,
                measured: `after epoch ${epoch}: step ${mean.argmax}; step 0 gets ${fixed(mean.first, 4)}, the others ${mean.rest === null ? "\u2013" : mean.rest.toExponential(1)} each`,
                why,
            };
        },
    },
    {
        claim: "Without positions attention does no better than guessing.",
        check({ comparison }) {
            const row = rowOf(comparison, "attention (no position)");
            return (
                row && {
                    shown: row.mean < CHANCE + 0.1,
                    measured: `mean ${percent(row.mean)}`,
                    why:
                        row.mean < CHANCE + 0.1
                            ? "A little above one half is no mistake: the average of all numbers contains the first one."
                            : "A short sequence gives it away: the average of a few numbers says much about each of them.",
                }
            );
        },
    },
    {
        claim: "The LSTM stays near guessing with most seeds.",
        check({ comparison }) {
            const row = rowOf(comparison, "LSTM");
            return (
                row && {
                    shown: 2 * row.accuracies.filter((value) => value > LEARNT).length < row.accuracies.length,
                    measured: row.accuracies.map((value) => fixed(value, 3)).join(", "),
                    why: row.accuracies.some((value) => value > LEARNT)
                        ? "Which seed finds it is luck, and decided by rounding: see the paragraph on seed 7 below."
                        : "",
                }
            );
        },
    },
];
