// Training with the factor 1/sqrt(d_k) and without it, at two widths: four runs of one comparison, and the loss of each after
// every epoch.

import { createAlert } from "../shared/alert.js";
import { isOver, post } from "../shared/api.js";
import { createChart } from "../shared/chart.js";
import { findComparison, followComparison } from "../shared/comparison.js";
import { createComparisonTable } from "../shared/comparison-table.js";
import { createCurlLine } from "../shared/curl.js";
import { h } from "../shared/dom.js";
import { createExpectations } from "../shared/expectation.js";
import { createProgress } from "../shared/experiment-panel.js";
import { fixed } from "../shared/format.js";
import { hasParameters } from "../shared/known-runs.js";

const EPOCHS = 3;
const COMMON = { task: "reviews", model: "attention", epochs: EPOCHS };
// In the order of the variants: the colours are those of the charts above.
const VARIANTS = [
    { label: "width 32, with the factor", color: 2, settings: { width: 32 } },
    { label: "width 32, without", color: 0, settings: { width: 32, scale: false } },
    { label: "width 1,024, with the factor", color: 2, dash: 1, settings: { width: 1024 } },
    { label: "width 1,024, without", color: 0, dash: 1, settings: { width: 1024, scale: false } },
];
const REQUEST = {
    experiment: "train",
    seeds: [0],
    ...COMMON,
    variants: VARIANTS.map(({ label, settings }) => ({ label, ...settings })),
};
const LEARNT = 0.1;
const ALIKE = 2;
const WORSE = 10;

export function createScaledTraining(page) {
    const { schema } = page.experiment("train");
    const alert = createAlert();
    const curl = createCurlLine();
    curl.set("POST", "/api/comparisons", REQUEST);
    const button = h("button", { type: "button", class: "primary", onclick: () => start() }, "Train all four");
    let comparison = null;
    const progress = createProgress(alert, () => `/api/comparisons/${comparison.id}`);
    const table = createComparisonTable("Test accuracy", { brief: true });
    const chart = createChart({
        title: "Training loss",
        signal: page.signal,
        x: { label: "epoch", min: 1, max: EPOCHS },
        y: { label: "cross-entropy", min: 0, format: (value) => fixed(value, 4) },
    });
    const results = h("div", { hidden: true }, chart.element, table.element);
    const expectations = createExpectations(CLAIMS);
    // Of each variant: its losses by epoch, from 1.
    let losses = [];
    const variantOf = new Map();

    function draw() {
        chart.setSeries(
            VARIANTS.map(({ label, color, dash }, index) => ({
                label,
                color,
                dash,
                points: losses[index].map((y, epoch) => ({ x: epoch + 1, y })),
            })),
        );
        if (losses.every((one) => one.length === EPOCHS)) expectations.update(losses.map((one) => one.at(-1)));
    }

    function follow(started) {
        comparison = started;
        losses = VARIANTS.map(() => []);
        results.hidden = false;
        table.begin(started);
        progress.show(started);
        followComparison(
            started,
            {
                rows(newest) {
                    comparison = newest;
                    table.rows(newest);
                    progress.show(newest);
                    button.disabled = !isOver(newest.state);
                },
                run(entries) {
                    entries.forEach((entry) => variantOf.set(entry.id, entry.variant));
                    table.run(entries);
                },
                epoch(id, row) {
                    if (row.train_loss !== null) losses[variantOf.get(id)][row.epoch - 1] = row.train_loss;
                    table.epoch(id, row);
                    draw();
                },
                failed: (error) => alert.show(error),
            },
            page.signal,
        );
    }

    async function start() {
        alert.clear();
        button.disabled = true;
        try {
            follow(await post("/api/comparisons", REQUEST, page.signal));
        } catch (error) {
            button.disabled = false;
            alert.show(error);
        }
    }

    const isOurs = (entries) =>
        entries.length === VARIANTS.length &&
        entries.every(({ parameters, variant }) =>
            hasParameters(parameters, schema, { ...COMMON, ...VARIANTS[variant].settings, seed: 0 }, "text"),
        );
    async function showKnown() {
        try {
            const known = await findComparison(({ rows }) => rows.length === VARIANTS.length, isOurs, page.signal);
            if (known && comparison === null) follow(known);
        } catch (error) {
            if (error.name !== "AbortError") alert.show(error);
        }
    }
    showKnown();
    return h(
        "section",
        null,
        h("h2", null, "What it costs in training"),
        h(
            "p",
            { class: "prose" },
            "The same attention learns to judge the reviews four times: 32 and 1,024 numbers wide, with the factor and without it. The wide ones take some seconds an epoch.",
        ),
        h("div", { class: "actions" }, button, progress.element),
        alert.element,
        curl.element,
        results,
        expectations.element,
    );
}

// losses: of the four variants after the last epoch.
const CLAIMS = [
    {
        claim: "At width 32 the factor hardly matters: the losses stay within a factor of two.",
        check: ([scaled, unscaled]) => ({
            shown: Math.max(scaled / unscaled, unscaled / scaled) < ALIKE,
            measured: `loss ${fixed(scaled, 4)} with it, ${fixed(unscaled, 4)} without`,
            why: "The root of 32 is under six: a softmax can live with that.",
        }),
    },
    {
        claim: "At width 1,024 attention without the factor all but stops learning: its loss stays more than ten times as large.",
        check: ([, , scaled, unscaled]) => ({
            shown: unscaled > WORSE * scaled && unscaled > LEARNT,
            measured: `loss ${fixed(scaled, 4)} with it, ${fixed(unscaled, 4)} without`,
            why: "It still learns a little: gradient also flows through the values, which no softmax holds back.",
        }),
    },
];
