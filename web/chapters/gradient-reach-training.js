// The gradient at each input step while a model learns: one curve for every epoch that a run kept, chosen by a slider, beside
// that of the fresh weights.

import { createAlert } from "../shared/alert.js";
import { errorText, get, isOver, post, query } from "../shared/api.js";
import { createChart } from "../shared/chart.js";
import { createCurlLine } from "../shared/curl.js";
import { h } from "../shared/dom.js";
import { createExpectations } from "../shared/expectation.js";
import { createProgress } from "../shared/experiment-panel.js";
import { fixed, integer, scientific } from "../shared/format.js";
import { findRun } from "../shared/known-runs.js";
import { followRun } from "../shared/stream.js";
import { createTable } from "../shared/table.js";

const EPOCHS = 20;
// With this seed the path opens and the RNN learns the task. With others it may open without that, or not at all.
const SEED = 4;
const OPEN = 1;
const GROWN = 1000;

const ratioText = (ratio) => (ratio !== null && ratio < 1000 && ratio >= 0.01 ? fixed(ratio, 2) : scientific(ratio));

export function createTrainedReach(page) {
    const { schema } = page.experiment("train");
    const titles = schema.properties.model["x-choice-titles"];
    const model = h(
        "select",
        { id: "reach-model", onchange: () => describe() },
        schema.properties.model.enum.map((name) => h("option", { value: name, selected: name === "rnn" }, titles[name] ?? name)),
    );
    const seed = h("input", { type: "number", id: "reach-seed", min: 0, value: SEED, onchange: () => describe() });
    const button = h("button", { type: "button", class: "primary", onclick: () => start() }, "Train and measure");
    const alert = createAlert();
    const curl = createCurlLine();
    let run = null;
    const progress = createProgress(alert, () => `/api/runs/${run.id}`);
    const chart = createChart({
        title: "Gradient at each input step, at this epoch",
        tall: true,
        signal: page.signal,
        x: { label: "input step", min: 0 },
        // One range for all epochs and seeds, so that nothing moves but the curve.
        y: { label: "|gradient|, logarithmic", type: "logarithmic", min: 1e-30, max: 1, format: (value) => scientific(value) },
    });
    const epoch = h("input", { type: "range", id: "reach-epoch", min: 0, value: 0, oninput: () => draw() });
    const epochText = h("output", { for: "reach-epoch" });
    const table = createTable({
        caption: "The two ends of the sequence, by epoch",
        columns: [
            { label: "epoch", numeric: true, cell: (row) => integer(row.epoch) },
            { label: "step 0", numeric: true, cell: (row) => scientific(row.first, 2) },
            { label: "last step", numeric: true, cell: (row) => scientific(row.last, 2) },
            { label: "last / first", numeric: true, cell: (row) => ratioText(row.ratio) },
            { label: "loss", numeric: true, cell: (row) => fixed(row.loss, 4) },
        ],
    });
    const results = h(
        "div",
        { hidden: true },
        h("div", { class: "slider-row" }, h("label", { for: "reach-epoch" }, "Epoch"), epoch, epochText),
        chart.element,
        h("details", null, h("summary", null, "Every epoch"), table.element),
    );
    const expectations = createExpectations(CLAIMS);
    let rows = [];

    const parameters = () => ({ model: model.value, seed: Number(seed.value), epochs: EPOCHS });
    function describe() {
        curl.set("GET", run ? `/api/runs/${run.id}/gradient${query({ epoch: epoch.value })}` : "/api/runs/ID/gradient?epoch=0");
    }

    function draw() {
        const row = rows[Number(epoch.value)];
        if (!row) return;
        const points = (gradient) => gradient.map((value, step) => ({ x: step, y: value > 0 ? value : null }));
        epochText.textContent = `${row.epoch} of ${rows.at(-1).epoch}; last / first ${ratioText(row.ratio)}`;
        chart.setSeries([
            { label: "before training", color: 3, dash: 1, points: points(rows[0].gradient) },
            { label: `after epoch ${row.epoch}`, color: 0, points: points(row.gradient) },
        ]);
        describe();
    }

    // Reads the curve of every kept epoch, one after the other.
    async function read(finished) {
        run = finished;
        rows = [];
        const first = await get(`/api/runs/${run.id}/gradient?epoch=0`, page.signal);
        for (const kept of first.epochs_kept)
            rows.push(kept === 0 ? first : await get(`/api/runs/${run.id}/gradient${query({ epoch: kept })}`, page.signal));
        epoch.max = rows.length - 1;
        epoch.value = rows.length - 1;
        results.hidden = false;
        table.update(rows);
        draw();
        expectations.update({ rows, run });
    }

    async function show(finished) {
        progress.hide();
        button.disabled = false;
        if (finished.state !== "succeeded") return alert.show(new Error(errorText(finished) ?? "The run was cancelled."));
        try {
            await read(finished);
        } catch (error) {
            if (error.name !== "AbortError") alert.show(error);
        }
        return undefined;
    }

    function follow(started) {
        run = started;
        button.disabled = true;
        progress.show(started);
        followRun(
            started.id,
            {
                run: progress.show,
                epoch: (row) => progress.showEpoch(row.epoch, started.parameters.epochs),
                end: show,
                failed: (error) => alert.show(error),
            },
            page.signal,
        );
    }

    async function start() {
        alert.clear();
        button.disabled = true;
        try {
            const known = await findRun(page, "train", parameters(), { situation: "usual", finished: true });
            const started = known ?? (await post("/api/runs", { experiment: "train", ...parameters() }, page.signal));
            if (isOver(started.state)) await show(started);
            else follow(started);
        } catch (error) {
            button.disabled = false;
            alert.show(error);
        }
    }
    describe();
    return h(
        "section",
        null,
        h("h2", null, "And while it learns?"),
        h(
            "p",
            { class: "prose" },
            "A run keeps its weights after every epoch, so the same measurement can be made of each: over the first 256 training examples, epoch by epoch. Epoch 0 is the curve above. When does a path to the first step open?",
        ),
        h(
            "div",
            { class: "slider-row" },
            h("label", { for: "reach-model" }, "Model"),
            model,
            h("label", { for: "reach-seed" }, "Seed"),
            seed,
            button,
        ),
        progress.element,
        alert.element,
        curl.element,
        results,
        expectations.element,
    );
}

const CLAIMS = [
    {
        claim: "Training brings gradient to the first step: at some epoch a thousand times as much arrives there as before it.",
        check({ rows, run }) {
            const best = rows.reduce((most, row) => (row.first > most.first ? row : most));
            const growth = best.first / rows[0].first;
            return {
                shown: growth > GROWN,
                measured: `${scientific(growth, 1)} times as much after epoch ${best.epoch}`,
                why: growth > GROWN ? "" : whyNot(run),
            };
        },
    },
    {
        claim: "The path opens: at some epoch the first step gets at least as much as the last.",
        check({ rows, run }) {
            const open = rows.find((row) => row.ratio !== null && row.ratio <= OPEN);
            return {
                shown: Boolean(open),
                measured: open
                    ? `for the first time after epoch ${open.epoch}: last / first ${ratioText(open.ratio)}`
                    : `at no epoch of ${rows.at(-1).epoch}`,
                why: open ? "" : whyNot(run),
            };
        },
    },
];

const whyNot = ({ parameters }) =>
    parameters.model === "attention" || parameters.model === "transformer"
        ? "Attention has a direct path from the beginning; training need not open one."
        : "Whether and when it opens depends on the seed: a recurrent network finds the first step by luck. Try others.";
