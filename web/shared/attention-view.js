// The attention of one run after any of its epochs: a bar chart of the average by step, the matrix of one
// example, and a slider over the epochs that were kept, which can also be played. While the run trains, the view
// follows the newest.

import { get, query } from "./api.js";
import { createChart } from "./chart.js";
import { h } from "./dom.js";
import { createHeatmap } from "./heatmap.js";

const PLAY = "\u25b6\u2002Play";
const PAUSE = "\u2016\u2002Pause";
const PLAY_MILLISECONDS = 150;

// Returns { element, show(run), newEpoch(runId, epoch), refresh() }.
export function createAttentionView({ signal }) {
    const bars = createChart({
        title: "Average attention on each step",
        type: "bar",
        legend: false,
        signal,
        x: { label: "step looked at", type: "category" },
        y: { label: "weight", min: 0 },
    });
    const heatmap = createHeatmap({
        title: "The attention matrix of one example",
        rowTitle: "query step",
        columnTitle: "step looked at",
        height: 380,
        maxCell: 40,
        maxCellHeight: 24,
        signal,
    });
    const slider = h("input", {
        type: "range",
        min: 0,
        max: 0,
        value: 0,
        step: 1,
        id: "epoch-slider",
        oninput: () => {
            pause();
            load();
        },
    });
    const play = h("button", { type: "button", onclick: () => (playing ? pause() : playAll()) }, PLAY);
    const epochText = h("output", { for: "epoch-slider", class: "epoch-text" });
    const example = h("input", {
        type: "number",
        min: 0,
        step: 1,
        value: 0,
        id: "example-number",
        oninput: () => load(),
    });
    const pictures = h("div", { class: "pair", hidden: true }, bars.element, heatmap.element);
    const element = h(
        "div",
        { class: "attention-view" },
        h(
            "div",
            { class: "slider-row" },
            h("label", { for: "epoch-slider" }, "After epoch"),
            play,
            slider,
            epochText,
            h("label", { for: "example-number" }, "Test example"),
            example,
        ),
        pictures,
    );

    let run = null;
    let playing = null; // what tells one playing from the next
    let epochs = [];
    let busy = false;
    let again = false;
    const kept = new Map();

    const isAtEnd = () => Number(slider.value) >= epochs.length - 1;

    const fetchKept = async (path) => {
        if (!kept.has(path)) kept.set(path, await get(path, signal));
        return kept.get(path);
    };

    // At the end of the slider the newest is asked for, whichever it is by then: a long run keeps only some of
    // its epochs, so one that was announced may be gone already.
    async function fetchShown() {
        const epoch = isAtEnd() ? "last" : epochs[Number(slider.value)];
        const read = epoch === "last" ? (path) => get(path, signal) : fetchKept;
        const base = `/api/runs/${run.id}/attention`;
        const number = Math.max(0, Math.floor(Number(example.value) || 0));
        const [mean, matrix] = await Promise.all([
            read(`${base}/mean${query({ epoch })}`),
            read(`${base}${query({ epoch, example: number })}`),
        ]);
        if (epoch === "last") setEpochs(matrix.epochs_kept);
        return { mean, matrix };
    }

    // One request at a time: while the slider moves, only its last position matters.
    async function load() {
        if (!run || epochs.length === 0) return;
        showEpochText();
        if (busy) {
            again = true;
            return;
        }
        busy = true;
        do {
            again = false;
            const asked = run;
            try {
                const { mean, matrix } = await fetchShown();
                if (asked !== run) continue;
                pictures.hidden = false;
                bars.setSeries([
                    {
                        label: "average weight",
                        color: 2,
                        points: mean.weights.map((weight, step) => ({ x: String(step), y: weight })),
                    },
                ]);
                heatmap.setMatrix(matrix.weights, { rowLabels: matrix.query_labels, columnLabels: matrix.key_labels });
                example.setCustomValidity("");
            } catch (error) {
                if (error.name === "AbortError") break;
                example.setCustomValidity(error.message);
                example.reportValidity();
            }
        } while (again);
        busy = false;
    }

    function pause() {
        playing = null;
        play.textContent = PLAY;
    }

    // From where the slider stands, or from the beginning where that is the end.
    async function playAll() {
        if (isAtEnd()) slider.value = 0;
        const mine = {};
        playing = mine;
        play.textContent = PAUSE;
        await load();
        while (playing === mine && !isAtEnd() && !signal.aborted) {
            await new Promise((resolve) => setTimeout(resolve, PLAY_MILLISECONDS));
            if (playing !== mine) return;
            slider.value = Number(slider.value) + 1;
            await load();
        }
        if (playing === mine) pause();
    }

    function showEpochText() {
        const epoch = epochs[Number(slider.value)];
        epochText.textContent = epoch === 0 ? "0 (before training)" : String(epoch ?? "");
        slider.setAttribute("aria-valuetext", `epoch ${epochText.textContent}`);
    }

    function setEpochs(list) {
        const atEnd = isAtEnd();
        epochs = list;
        slider.max = Math.max(0, epochs.length - 1);
        if (atEnd) slider.value = slider.max;
        showEpochText();
    }

    return {
        element,
        async show(newRun) {
            run = newRun;
            pause();
            kept.clear();
            epochs = [];
            slider.value = 0;
            pictures.hidden = true;
            epochText.textContent = "nothing kept yet";
            try {
                // Before its first epoch a run has no attention to ask for; its first snapshot announces itself.
                const { rows } = await get(`/api/runs/${run.id}/metrics`, signal);
                if (run !== newRun || rows.length === 0) return;
                const { epochs_kept: list } = await get(
                    `/api/runs/${run.id}/attention${query({ epoch: "last" })}`,
                    signal,
                );
                if (run !== newRun) return;
                setEpochs(list);
                load();
            } catch (error) {
                if (error.name !== "AbortError") throw error;
            }
        },
        newEpoch(runId, epoch) {
            if (run?.id !== runId || epochs.includes(epoch)) return;
            const atEnd = Number(slider.value) >= epochs.length - 1;
            setEpochs([...epochs, epoch].sort((a, b) => a - b));
            if (atEnd) load();
        },
    };
}
