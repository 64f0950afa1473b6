// Shows the attention of one run after any epoch: a bar chart of the average per step, the matrix of one example, and a
// slider over the kept epochs, which can also be played. While the run trains, the view follows the newest epoch. The
// chapter can keep the current choice in the page's address.

import { get, query } from "./api.js";
import { createChart } from "./chart.js";
import { h, replaceChildren } from "./dom.js";
import { createHeatmap } from "./heatmap.js";
import { drawWords, wordKey } from "./words.js";

const PLAY = "\u25b6\u2002Play";
const PAUSE = "\u2016\u2002Pause";
const PLAY_MILLISECONDS = 150;
// The words for the steps of a sequence.
const NUMBERS = { bars: "Average attention on each step", step: "step looked at", query: "query step", key: "step looked at" };
const WORDS = { bars: "Average attention on each position", step: "position in the sentence", query: "word", key: "word looked at" };

const wholeNumber = (text) => Math.max(0, Math.floor(Number(text) || 0));

// address: URLSearchParams whose { run, epoch, example, layer, head } say what to show first; epoch, layer and head belong
// to that run. onChange(): called when the reader chooses something else. isText: the examples are sentences.
// Returns { element, show(run), newEpoch(runId, epoch), place() -> the choice as the address keeps it }.
export function createAttentionView({ signal, address, onChange, isText = false }) {
    const names = isText ? WORDS : NUMBERS;
    const bars = createChart({
        title: names.bars,
        type: "bar",
        legend: false,
        signal,
        x: { label: names.step, type: "category" },
        y: { label: "weight", min: 0 },
    });
    const heatmap = createHeatmap({
        title: "The attention matrix of one example",
        rowTitle: names.query,
        columnTitle: names.key,
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
            chosenEpoch = isAtEnd() ? null : epochs[Number(slider.value)];
            load();
        },
        onchange: () => onChange?.(),
    });
    const play = h("button", { type: "button", onclick: () => (playing ? stopPlaying() : playAll()) }, PLAY);
    const epochText = h("output", { for: "epoch-slider", class: "epoch-text" });
    const example = h("input", {
        type: "number",
        min: 0,
        step: 1,
        value: wholeNumber(address?.get("example")),
        id: "example-number",
        oninput: () => load(),
        onchange: () => onChange?.(),
    });
    const choose = () => {
        load();
        onChange?.();
    };
    const layer = h("select", { id: "attention-layer", onchange: choose });
    const head = h("select", { id: "attention-head", onchange: choose });
    const layerControl = h("span", { class: "control" }, h("label", { for: "attention-layer" }, "Layer"), layer);
    const headControl = h("span", { class: "control" }, h("label", { for: "attention-head" }, "Head"), head);
    const words = h("div");
    const pictures = h(
        "div",
        { hidden: true },
        isText && [wordKey(["top"]), words],
        h("div", { class: "pair" }, bars.element, heatmap.element),
    );
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
            h("span", { class: "control" }, h("label", { for: "example-number" }, "Test example"), example),
            layerControl,
            headControl,
        ),
        pictures,
    );

    let run = null;
    let playing = null; // an object for each playback, so that an old one notices that it is over
    let epochs = [];
    let chosenEpoch = null; // null: always the newest
    let announced = null; // epochs announced while the list of epochs is being fetched; null at other times
    let busy = false;
    let again = false;
    const kept = new Map();

    const isAtEnd = () => Number(slider.value) >= epochs.length - 1;

    const fetchKept = async (path) => {
        if (!kept.has(path)) kept.set(path, await get(path, signal));
        return kept.get(path);
    };

    // A long run keeps only some of its epochs, so an epoch announced as the newest may be gone already. Therefore the
    // newest is requested as "last", not by its number.
    async function fetchShown() {
        const epoch = chosenEpoch ?? "last";
        const read = epoch === "last" ? (path) => get(path, signal) : fetchKept;
        const base = `/api/runs/${run.id}/attention`;
        const matrixOf = { example: wholeNumber(example.value), layer: layer.value, head: head.value };
        const [mean, matrix] = await Promise.all([
            read(`${base}/mean${query({ epoch })}`),
            read(`${base}${query({ epoch, ...matrixOf })}`),
        ]);
        if (epoch === "last") setEpochs(matrix.epochs_kept);
        offer(matrix);
        return { mean, matrix };
    }

    // Only one request at a time: while the slider moves, only its last position matters.
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
                if (isText) replaceChildren(words, drawWords(matrix.key_labels, matrix.weights));
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

    // From the slider's position, or from the beginning if the slider is at the end.
    async function playAll() {
        if (isAtEnd()) goTo(0);
        const mine = {};
        playing = mine;
        play.textContent = PAUSE;
        await load();
        while (playing === mine && !isAtEnd() && !signal.aborted) {
            await new Promise((resolve) => setTimeout(resolve, PLAY_MILLISECONDS));
            if (playing !== mine) return;
            goTo(Number(slider.value) + 1);
            await load();
        }
        if (playing === mine) stopPlaying();
    }

    function stopPlaying() {
        pause();
        onChange?.();
    }

    function goTo(position) {
        slider.value = position;
        chosenEpoch = isAtEnd() ? null : epochs[position];
    }

    function showEpochText() {
        const epoch = epochs[Number(slider.value)];
        epochText.textContent = epoch === 0 ? "0 (before training)" : String(epoch ?? "");
        slider.setAttribute("aria-valuetext", `epoch ${epochText.textContent}`);
    }

    // Sets the slider to the chosen epoch, or to the last kept epoch before it.
    function setEpochs(list) {
        epochs = list;
        slider.max = Math.max(0, epochs.length - 1);
        const until = epochs.filter((epoch) => epoch <= (chosenEpoch ?? Infinity));
        if (chosenEpoch !== null) chosenEpoch = until.at(-1) ?? epochs[0];
        slider.value = Math.max(0, until.length - 1);
        showEpochText();
    }

    // Offers a choice of layers and heads if the model has several. The current choice is kept if it is still possible.
    function offer({ layers, heads }, chosen = { layer: layer.value, head: head.value }) {
        const fillIn = (control, select, values, value) => {
            if (select.options.length !== values.length)
                replaceChildren(
                    select,
                    values.map((one) => h("option", { value: one }, one === "mean" ? "all, averaged" : one)),
                );
            if (values.includes(value)) select.value = value;
            control.hidden = values.length < 2;
        };
        const numbers = (count) => Array.from({ length: count }, (_, index) => String(index));
        fillIn(layerControl, layer, numbers(layers), chosen.layer);
        fillIn(headControl, head, heads > 1 ? ["mean", ...numbers(heads)] : [], chosen.head);
    }

    function newEpoch(runId, epoch) {
        if (run?.id !== runId || epochs.includes(epoch)) return;
        // On its own it would pass for the complete list, and the place from the address would be lost.
        if (announced) return void announced.push(epoch);
        setEpochs([...epochs, epoch].sort((a, b) => a - b));
        if (chosenEpoch === null) load();
    }

    // Fetches the list of epochs. Before its first epoch a run has no attention; newEpoch() will announce it.
    async function open(place) {
        const asked = run;
        const { rows } = await get(`/api/runs/${run.id}/metrics`, signal);
        if (run !== asked || (rows.length === 0 && announced.length === 0)) return;
        const newest = await get(`/api/runs/${run.id}/attention${query({ epoch: "last" })}`, signal);
        if (run !== asked) return;
        offer(newest, place);
        example.max = newest.examples - 1;
        setEpochs(newest.epochs_kept);
        load();
    }

    return {
        element,
        newEpoch,
        place: () => ({
            epoch: chosenEpoch,
            example: wholeNumber(example.value) || null,
            layer: wholeNumber(layer.value) || null,
            head: head.value === "mean" ? null : head.value,
        }),
        async show(newRun) {
            run = newRun;
            pause();
            kept.clear();
            epochs = [];
            // The address says what to show first, but only for the run it names, and only once.
            const place = address?.get("run") === run.id ? Object.fromEntries(address) : {};
            address = null;
            chosenEpoch = place.epoch === undefined ? null : wholeNumber(place.epoch);
            offer({ layers: 0, heads: 0 });
            // Until this run's epochs are known there is nothing to choose: the previous run's epochs are not its own.
            slider.max = 0;
            slider.value = 0;
            pictures.hidden = true;
            epochText.textContent = "nothing kept yet";
            const mine = [];
            announced = mine;
            try {
                await open(place);
            } catch (error) {
                if (error.name !== "AbortError") throw error;
            } finally {
                if (announced === mine) {
                    announced = null;
                    mine.forEach((epoch) => newEpoch(run.id, epoch));
                }
            }
        },
    };
}
