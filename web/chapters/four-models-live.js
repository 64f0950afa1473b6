// What changes while the four models train: curves, table and attention. Also the chapter's expectations.

import { createAttentionView } from "../shared/attention-view.js";
import { createComparisonTable } from "../shared/comparison-table.js";
import { h, oncePerFrame, replaceChildren } from "../shared/dom.js";
import { createExpectations } from "../shared/expectation.js";
import { compact, fixed, percent } from "../shared/format.js";
import { DASHES, seriesColor } from "../shared/theme.js";
import { createCurveCharts } from "../shared/training-curves.js";

const CHANCE = 0.5;
// Clearly better than guessing on this task.
const LEARNT = 0.7;

export const swatch = (index) => {
    const element = h("span", { class: "swatch", "aria-hidden": "true" });
    element.style.backgroundColor = seriesColor(index);
    return element;
};

// Shows everything that changes while the comparison trains. onPlace(): called when the reader chooses another run, epoch
// or example of the attention. onResults(results by variant, entries): called whenever more of the comparison is known.
export function createLiveView(page, models, onPlace, onResults) {
    const { signal } = page;
    const charts = createCurveCharts(signal, {
        loss: { label: "cross-entropy (cut at 1)", max: 1 },
        accuracy: { suggestedMin: 0.4 },
    });
    const key = h("div", { class: "series-key" });
    const table = createComparisonTable("Test accuracy after training (guessing gives 0.5)");
    const attention = createAttentionView({ signal, address: page.parameters, onChange: onPlace });
    const runChoice = h("select", {
        id: "attention-run",
        onchange: () => {
            chooseRun(runChoice.value);
            onPlace();
        },
    });
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
        charts.element,
        table.element,
        attentionBlock,
    );
    const element = h("div", null, results, expectations.element);

    let comparison = null;
    let runs = new Map();
    let shownRun = null;
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
        charts.setLoss(series((row) => row.train_loss));
        charts.accuracy.setSeries(series((row) => row.test_accuracy));
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
                        swatch(entries.find((entry) => entry.variant === index)?.color ?? index),
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
        if (!comparison) return;
        const entries = [...runs.values()];
        const results = resultsByVariant(comparison, entries, models);
        expectations.update(results);
        onResults(results, entries);
    }

    function drawRunChoice() {
        const withAttention = [...runs.entries()].filter(([, entry]) => entry.hasAttention);
        attentionBlock.hidden = withAttention.length === 0;
        replaceChildren(
            runChoice,
            withAttention.map(([id, entry]) => h("option", { value: id }, `${entry.label}, seed ${entry.seed}`)),
        );
        if (withAttention.length === 0) return;
        const wanted = page.parameters.get("run");
        if (withAttention.some(([id]) => id === wanted)) runChoice.value = wanted;
        chooseRun(runChoice.value);
    }

    return {
        element,
        // The choice of attention as the address keeps it; epochs and examples belong to one run.
        place() {
            const place = attention.place();
            if (shownRun === null) return { example: place.example };
            const isUsual = runChoice.selectedIndex === 0 && Object.values(place).every((value) => !value && value !== 0);
            return isUsual ? {} : { run: shownRun, ...place };
        },
        scrollIntoView: () => results.scrollIntoView({ block: "nearest" }),
        begin(started) {
            comparison = started;
            runs = new Map();
            shownRun = null;
            results.hidden = false;
            attentionBlock.hidden = true;
            hidden.clear();
            expectations.clear();
            table.begin(started);
        },
        rows(newest) {
            comparison = newest;
            table.rows(newest);
            updateExpectations();
        },
        // Takes all runs of the comparison, as readEntries returns them.
        run(entries) {
            table.run(entries);
            const first = runs.size === 0;
            const colors = colorsOfRows(entries, models);
            for (const entry of entries) {
                const known = runs.get(entry.id);
                if (known) Object.assign(known, { state: entry.state, result: entry.result });
                else {
                    runs.set(entry.id, {
                        ...entry,
                        epochs: [],
                        color: colors.get(entry.variant),
                        hasAttention: models.hasAttention(entry.parameters.model),
                    });
                }
            }
            if (first) {
                charts.setLast(Math.max(...entries.map((entry) => entry.parameters.epochs)));
                drawKey();
                drawRunChoice();
            }
            draw();
            updateExpectations();
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

// Each row of the table has its model's colour; a second row of the same model, or an unknown model, gets the next colour.
function colorsOfRows(entries, models) {
    const colors = new Map();
    let next = models.variants.length;
    for (const { variant, parameters } of entries) {
        if (colors.has(variant)) continue;
        const known = models.variants.indexOf(models.variantOf(parameters));
        const isFree = known >= 0 && ![...colors.values()].includes(known);
        colors.set(variant, isFree ? known : next++);
    }
    return colors;
}

// The comparison's results for each of the chapter's models, once all of the model's remaining runs have succeeded:
// { [id]: { row, accuracies, attention: the mean attention of each run, parameters of one of them } }.
function resultsByVariant(comparison, entries, models) {
    const results = {};
    comparison.rows.forEach((row, index) => {
        const members = entries.filter((entry) => entry.variant === index);
        const id = members.length > 0 && models.variantOf(members[0].parameters)?.id;
        if (!id || results[id] || !members.every((entry) => entry.result)) return;
        results[id] = {
            row,
            accuracies: members.map((entry) => entry.result.test_accuracy),
            attention: members.map((entry) => entry.result.attention).filter(Boolean),
            parameters: members[0].parameters,
        };
    });
    return results;
}

const CLAIMS = [
    {
        claim: "Attention with positions gets nearly every example right, whatever the seed.",
        check({ attention: { row } = {} }) {
            return (
                row && {
                    shown: row.worst >= 0.95,
                    measured: `worst seed ${fixed(row.worst, 4)}`,
                    why:
                        row.worst >= 0.95
                            ? ""
                            : "With few epochs, few examples or a small learning rate it gets only halfway; a large learning rate throws it off again.",
                }
            );
        },
    },
    {
        claim: "Its most attended step is step 0.",
        check({ attention: { attention: means } = {} }) {
            if (!means?.length) return null;
            const hits = means.filter((mean) => mean.argmax === 0).length;
            return {
                shown: hits === means.length,
                measured: `${hits} of ${means.length} runs; step 0 gets ${means.map((mean) => fixed(mean.first, 3)).join(", ")}, the others on average ${means.map((mean) => compact(mean.rest, 2)).join(", ")}`,
                why:
                    hits === means.length
                        ? ""
                        : "A run that has not learnt the task has no reason to prefer a step: before training all get about the same.",
            };
        },
    },
    {
        claim: "Without positions attention does no better than guessing.",
        check({ unordered: { row, parameters } = {} }) {
            return (
                row && {
                    shown: row.mean < CHANCE + 0.1,
                    measured: `mean ${percent(row.mean)}`,
                    why:
                        row.mean < CHANCE + 0.1
                            ? "A little above one half is not a mistake: the average of all numbers contains the first one."
                            : parameters.mask === "causal"
                              ? "The causal mask gives the order away: the first step is the one that all others see."
                              : "A short sequence gives it away: the average of a few numbers says much about each of them.",
                }
            );
        },
    },
    {
        claim: "The LSTM stays near guessing with most seeds.",
        check({ lstm: { accuracies } = {} }) {
            return (
                accuracies && {
                    shown: 2 * accuracies.filter((value) => value > LEARNT).length < accuracies.length,
                    measured: accuracies.map((value) => fixed(value, 3)).join(", "),
                    why: accuracies.some((value) => value > LEARNT)
                        ? "Which seed succeeds is luck, decided by rounding: see the paragraph on seed 7 below."
                        : "",
                }
            );
        },
    },
];
