// Type a sentence: at every keystroke a trained text model answers with a label, probabilities, and where each of its heads
// looked. If there is no text model yet, the page trains one first.

import { createAlert } from "../shared/alert.js";
import { errorText, get, post, query } from "../shared/api.js";
import { createCurlLine } from "../shared/curl.js";
import { debounce, h, quietButton, replaceChildren } from "../shared/dom.js";
import { createProgress } from "../shared/experiment-panel.js";
import { labelledField } from "../shared/form.js";
import { percent, time } from "../shared/format.js";
import { createHeatmap } from "../shared/heatmap.js";
import { findRun, hasParameters } from "../shared/known-runs.js";
import { describeModels, SENTENCES } from "../shared/models.js";
import { drawPadded } from "../shared/padding.js";
import { createQuestions } from "../shared/questions.js";
import { followRun } from "../shared/stream.js";
import { drawWords, shareOfKeys, wordKey } from "../shared/words.js";

const TYPING_MILLISECONDS = 120;
const EXAMPLES = ["the acting was wonderful", "a boring film from the first hour on", "we saw this last night"];

export function mount(root, page) {
    const known = describeModels(page);
    const alert = createAlert();
    const curl = createCurlLine();
    const choice = h("select", {
        id: "text-model",
        onchange: () => {
            remember();
            predict();
        },
    });
    const text = h("textarea", {
        id: "sentence",
        rows: 2,
        spellcheck: "false",
        maxlength: 5000,
        oninput: () => predictSoon(),
    });
    text.value = page.parameters.get("text") ?? EXAMPLES[0];
    const answer = createAnswer(page);
    const cutNote = h("p", { class: "hint", role: "status" });
    const questions = createQuestions(page, {
        chapter: "sentiment",
        experiment: "train",
        questions: QUESTIONS.map((one) => ({
            ...one,
            matches: (prediction, run) => prediction.text === one.settings.text && isUsual(run),
        })),
    });
    const trained = new Map();
    // The questions are about the model that this chapter would train itself.
    const isUsual = ({ parameters }) =>
        hasParameters(parameters, page.experiment("train").schema, SENTENCES, "text");
    let training = null;
    const progress = createProgress(alert, () => `/api/runs/${training.id}`);
    const trainNote = h(
        "p",
        { class: "hint", hidden: true },
        "There is no trained text model yet. One is being trained now: a small transformer on the reviews.",
    );
    const controls = h(
        "div",
        { class: "panel" },
        labelledField("Model", choice),
        trainNote,
        progress.element,
        h(
            "div",
            { class: "field sentence-field" },
            h("label", { class: "field-label", for: "sentence" }, "Your sentence"),
            text,
            h(
                "span",
                { class: "choices" },
                EXAMPLES.map((example) =>
                    quietButton(example, () => {
                        text.value = example;
                        predict();
                    }),
                ),
            ),
        ),
        alert.element,
        curl.element,
    );

    let newest = 0;
    const remember = () => page.remember({ run: choice.value, text: text.value });

    async function predict() {
        const sentence = text.value.trim();
        const id = choice.value;
        if (!id) return;
        const body = { texts: [sentence] };
        curl.set("POST", `/api/runs/${id}/predictions`, body);
        if (sentence === "") return answer.clear();
        newest += 1;
        const mine = newest;
        try {
            const { predictions, classes } = await post(
                `/api/runs/${id}/predictions${query({ all_heads: true })}`,
                body,
                page.signal,
            );
            if (mine !== newest) return undefined;
            alert.clear();
            const { parameters } = trained.get(id);
            answer.show(predictions[0], classes, parameters, known.hasAttention(parameters.model));
            questions.update({ text: sentence, ...predictions[0] }, trained.get(id));
            // The words alone are too many for the model; punctuation marks, which also count, would only add to them.
            const length = parameters.sequence_length;
            const isCut = sentence.split(/\s+/).length > length;
            cutNote.textContent = isCut ? `This model reads the first ${length} words and punctuation marks of a text.` : "";
            remember();
        } catch (error) {
            if (mine === newest) alert.show(error);
        }
        return undefined;
    }
    const predictSoon = debounce(TYPING_MILLISECONDS, predict);

    async function listModels(wanted) {
        const [{ runs }, { datasets }] = await Promise.all([
            get(`/api/runs${query({ experiment: "train", state: "succeeded", limit: 200 })}`, page.signal),
            get("/api/datasets", page.signal),
        ]);
        const texts = new Set(datasets.filter((one) => one.kind === "text").map((one) => one.name));
        const models = runs.filter((run) => texts.has(run.parameters.task));
        models.forEach((run) => trained.set(run.id, run));
        replaceChildren(
            choice,
            models.map((run) => h("option", { value: run.id }, describe(run, known))),
        );
        const isQuestion = QUESTIONS.some(({ settings }) => settings.text === text.value);
        const first = models.find((run) => run.id === wanted) ?? (isQuestion && models.find(isUsual));
        if (first) choice.value = first.id;
        return models.length;
    }

    async function trainFirst() {
        trainNote.hidden = false;
        // The run may exist already: started here before the reader left the chapter, or by somebody else.
        training =
            (await findRun(page, "train", SENTENCES, { situation: "text" })) ??
            (await post("/api/runs", { experiment: "train", ...SENTENCES }, page.signal));
        progress.show(training);
        const finished = await followRun(
            training.id,
            {
                run: progress.show,
                epoch: (row) => progress.showEpoch(row.epoch, training.parameters.epochs),
                failed: (error) => alert.show(error),
            },
            page.signal,
        );
        trainNote.hidden = true;
        if (finished.state !== "succeeded")
            throw new Error(
                finished.state === "failed"
                    ? errorText(finished)
                    : "The training was cancelled; reload the page to try again.",
            );
        await listModels(finished.id);
    }

    async function start() {
        try {
            if ((await listModels(page.parameters.get("run"))) === 0) await trainFirst();
            predict();
        } catch (error) {
            alert.show(error);
        }
    }

    root.append(
        h(
            "p",
            { class: "lead" },
            "The model reads along as you type. Try a word it knows, then one it cannot know, then \u201cnot wonderful\u201d: it has learnt words, not language, and you will find the edge quickly.",
        ),
        controls,
        cutNote,
        questions.answer,
        answer.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "What it can and cannot know"),
            h(
                "p",
                null,
                "A word that the model has no number for is marked unknown; all unknown words look alike to it. It knows the words of all sentences of its data set, as in the lab sheet, or of the training sentences alone (the parameter vocabulary). What it was trained on is a few dozen words with one decisive word in each sentence, so irony, negation and anything that needs two words at once are beyond it. Train on ",
                h("a", { href: "#own-data" }, "your own data"),
                ", such as real product reviews, and choose that run above.",
            ),
        ),
        questions.element,
    );
    start();
}

function describe(run, known) {
    const { task, model, seed, heads, layers } = run.parameters;
    const shape = known.takes(model, "heads") ? `, ${layers} \u00d7 ${heads} heads` : "";
    return `${run.name || model} on ${task}${shape}, seed ${seed}: ${percent(run.result?.test_accuracy)} right, ${time(run.finished_at)}`;
}

function createAnswer(page) {
    const label = h("p", { class: "answer-label", role: "status" });
    const bars = h("dl", { class: "probabilities" });
    const words = h("div");
    const layer = h("select", { id: "answer-layer", onchange: () => drawHeads() });
    const layerRow = h("div", { class: "slider-row" }, h("label", { for: "answer-layer" }, "Layer"), layer);
    const heatmap = createHeatmap({
        title: "Attention on each word, head by head",
        rowTitle: "head",
        columnTitle: "word",
        height: 320,
        maxCell: 64,
        maxCellHeight: 34,
        signal: page.signal,
    });
    const padded = h("div");
    const headBlock = h("div", null, layerRow, heatmap.element);
    const element = h(
        "div",
        { class: "answer", hidden: true },
        label,
        bars,
        h("h2", null, "Where it looked"),
        wordKey(["top", "unknown"]),
        words,
        headBlock,
        h("h2", null, "What it read"),
        padded,
    );
    let shown = null;

    function drawHeads() {
        const layers = shown.attention_by_head;
        headBlock.hidden = !layers?.length;
        if (headBlock.hidden) return;
        if (layer.options.length !== layers.length)
            replaceChildren(
                layer,
                layers.map((_, index) => h("option", { value: index }, String(index))),
            );
        layerRow.hidden = layers.length === 1;
        const heads = layers[Number(layer.value) || 0];
        heatmap.setMatrix(heads.map(shareOfKeys), {
            columnLabels: shown.tokens,
            rowLabels: heads.map((_, index) => String(index)),
        });
    }

    return {
        element,
        clear() {
            element.hidden = true;
        },
        show(prediction, classes, { sequence_length: length }, isMean) {
            shown = prediction;
            replaceChildren(padded, drawPadded(prediction.tokens, length, isMean ? "mean" : "last real step"));
            element.hidden = false;
            label.textContent = `${classText(prediction.label)}: ${percent(Math.max(...prediction.probabilities))}`;
            replaceChildren(
                bars,
                prediction.probabilities.map((probability, index) => {
                    const bar = h("span", { class: "probability-bar", "aria-hidden": "true" });
                    bar.style.width = `${100 * probability}%`;
                    return [
                        h("dt", null, classText(classes[index] ?? index)),
                        h(
                            "dd",
                            null,
                            h("span", { class: "probability-track" }, bar),
                            h("span", null, percent(probability)),
                        ),
                    ];
                }),
            );
            replaceChildren(
                words,
                drawWords(prediction.tokens, prediction.attention, { unknown: prediction.unknown }),
                !prediction.attention &&
                    h("p", { class: "hint" }, "This model has no attention: it does not say where it looked."),
            );
            drawHeads();
        },
    };
}

// Data sets often number their classes; the names of the reviews' classes need no explanation.
const classText = (name) => (/^\d+$/.test(String(name)) ? `class ${name}` : String(name));

const sure = ({ label, probabilities }) => `${label}, ${percent(Math.max(...probabilities))}`;

const QUESTIONS = [
    {
        question: "the words stand in another order?",
        settings: { text: "wonderful was acting the" },
        claim: "The answer is the same as for \u201cthe acting was wonderful\u201d: positive.",
        check: (prediction) => ({ shown: prediction.label === "positive", measured: sure(prediction) }),
    },
    {
        question: "no word decides?",
        settings: { text: "the acting was" },
        claim: "The model is sure of an answer all the same, above 90 %: it was never shown a sentence without one.",
        check: (prediction) => ({
            shown: Math.max(...prediction.probabilities) > 0.9,
            measured: sure(prediction),
            why: "Another seed may be less sure, or sure of the opposite.",
        }),
    },
    {
        question: "the deciding word is one that it never saw?",
        settings: { text: "the acting was sublime" },
        claim: "It takes \u201csublime\u201d for the unknown word, as it would any other, so its answer says nothing about this one.",
        check: (prediction) => ({ shown: prediction.unknown[3] === true, measured: sure(prediction) }),
    },
    {
        question: "somebody writes \u201cnot wonderful\u201d?",
        settings: { text: "the acting was not wonderful" },
        claim: "It answers positive: it does not know \u201cnot\u201d, and does know \u201cwonderful\u201d.",
        check: (prediction) => ({
            shown: prediction.label === "positive",
            measured: sure(prediction),
            why: prediction.label === "positive" ? "" : "The unknown word was never trained, and with this seed it happens to count as a bad one.",
        }),
    },
    {
        question: "the deciding word comes after the last step?",
        settings: {
            text: "we saw this film last night and the acting of the whole cast in it was from the first scene to the end really wonderful",
        },
        claim: "The model does not read it, and the answer rests on words that decide nothing.",
        check: (prediction) => ({
            shown: !prediction.tokens.includes("wonderful"),
            measured: `${prediction.tokens.length} words read; ${sure(prediction)}`,
        }),
    },
];
