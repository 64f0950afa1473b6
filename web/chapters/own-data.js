// The reader's own data: upload sentences or sequences of numbers, look at the examples as a run sees them, train on them,
// delete them.

import { createAlert } from "../shared/alert.js";
import { get, query, remove, request } from "../shared/api.js";
import { createAttentionView } from "../shared/attention-view.js";
import { createCurlLine } from "../shared/curl.js";
import { h, latest, quietButton, replaceChildren } from "../shared/dom.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { labelledField, panelForm } from "../shared/form.js";
import { bytes, fixed, integer, percent, seconds } from "../shared/format.js";
import { hasParameters } from "../shared/known-runs.js";
import { describeModels, SENTENCES } from "../shared/models.js";
import { createPaddedExample } from "../shared/padding.js";
import { createPager } from "../shared/pager.js";
import { createQuestions } from "../shared/questions.js";
import { createTable } from "../shared/table.js";
import { createTrainingCurves } from "../shared/training-curves.js";

const CSV = "text/csv";
const TSV = "text/tab-separated-values";
const EXAMPLES_SHOWN = 10;
const NUMBERS_SHOWN = 12;

export function mount(root, page) {
    const browser = createBrowser(page);
    const list = createList(page, (dataset) => {
        browser.show(dataset);
        trainer.show(dataset);
    });
    const questions = createQuestions(page, {
        chapter: "own-data",
        experiment: "train",
        questions: QUESTIONS.map((one) => ({ ...one, matches: isAnswer(page, one.settings) })),
    });
    const trainer = createTrainer(page, questions);
    root.append(
        h(
            "p",
            { class: "lead" },
            "Train on your own sentences or rows of numbers, each with a label: anything that fits into a table will do. The file stays on the server you are looking at.",
        ),
        createUpload(list).element,
        list.element,
        browser.element,
        trainer.element,
        questions.element,
    );
    list.refresh(page.parameters.get("dataset"));
}

// A file's format, from its name or else from its first line, where a tab means TSV.
function formatOf(name, text) {
    if (/\.csv$/i.test(name)) return CSV;
    if (/\.(tsv|tab)$/i.test(name)) return TSV;
    return text.split("\n", 1)[0].includes("\t") ? TSV : CSV;
}

function createUpload(list) {
    const alert = createAlert();
    const curl = createCurlLine();
    curl.setFile("/api/datasets?name=mine", CSV, "mine.csv");
    const done = h("p", { class: "hint", role: "status" });
    const name = h("input", { type: "text", id: "dataset-name", autocomplete: "off", required: true });
    const file = h("input", {
        type: "file",
        id: "dataset-file",
        accept: ".csv,.tsv,.tab,.txt,text/csv,text/plain",
        onchange: () => {
            if (file.files[0] && name.value === "")
                name.value = file.files[0].name
                    .replace(/\.[^.]*$/, "")
                    .toLowerCase()
                    .replace(/[^a-z0-9]+/g, "-")
                    .replace(/^-|-$/g, "");
        },
    });
    const pasted = h("textarea", {
        id: "dataset-text",
        rows: 4,
        spellcheck: "false",
        placeholder: "text,label\nwhat a lovely day,good\nit rained again,bad",
    });
    const element = panelForm(
        () => upload(),
        h(
            "div",
            { class: "fields" },
            labelledField(
                "File",
                file,
                "CSV with a header (text,label; or numbers and a label column), or lines of text, tab, label",
                { wide: true },
            ),
            labelledField("Name", name, "the name that runs refer to"),
        ),
        labelledField("Or paste it here", pasted),
        h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Upload"), done),
        alert.element,
        curl.element,
    );

    async function upload() {
        alert.clear();
        done.textContent = "";
        const chosen = file.files[0];
        if (!chosen && pasted.value.trim() === "") return alert.show(new Error("Choose a file or paste some rows."));
        try {
            const start = chosen ? await chosen.slice(0, 4096).text() : pasted.value;
            const added = await request("POST", `/api/datasets${query({ name: name.value.trim() })}`, {
                body: chosen ?? pasted.value,
                type: formatOf(chosen?.name ?? "", start),
            });
            done.textContent = `${added.name}: ${integer(added.rows)} rows, ${integer(added.classes)} classes${added.words ? `, ${integer(added.words)} words` : ""}.`;
            element.reset();
            list.refresh(added.name);
        } catch (error) {
            alert.show(error);
        }
        return undefined;
    }
    return { element };
}

function createList(page, onChoose) {
    const alert = createAlert();
    const choose = (dataset) => {
        page.remember({ dataset: dataset.name });
        onChoose(dataset);
    };
    const table = createTable({
        caption: "Data sets on this server",
        cards: true,
        columns: [
            {
                label: "name",
                cell: (row) => h("button", { type: "button", class: "link", onclick: () => choose(row) }, row.name),
            },
            { label: "kind", place: "aside", cell: (row) => row.kind },
            { label: "rows", numeric: true, cell: (row) => (row.source === "drawn" ? "drawn" : integer(row.rows)) },
            { label: "classes", numeric: true, cell: (row) => integer(row.classes) },
            { label: "words", numeric: true, cell: (row) => (row.words ? integer(row.words) : "") },
            { label: "size", numeric: true, cell: (row) => (row.size_bytes ? bytes(row.size_bytes) : "") },
            {
                label: "action",
                place: "action",
                cell: (row) => row.may_delete && quietButton("Delete", () => drop(row), `Delete ${row.name}`),
            },
        ],
    });
    async function refresh(wanted) {
        try {
            const { datasets } = await get("/api/datasets", page.signal);
            table.update(datasets);
            const dataset = datasets.find((one) => one.name === wanted);
            if (dataset) choose(dataset);
        } catch (error) {
            alert.show(error);
        }
    }
    async function drop(dataset) {
        if (
            !confirm(
                `Delete the data set ${dataset.name}? Runs that were trained on it keep their results, but can no longer show examples.`,
            )
        )
            return;
        alert.clear();
        try {
            await remove(`/api/datasets/${encodeURIComponent(dataset.name)}`);
            refresh(null);
        } catch (error) {
            alert.show(error);
        }
    }
    return { element: h("div", null, table.element, alert.element), refresh };
}

function exampleTable(dataset, split, examples) {
    const asText = (row) =>
        row.values
            ? `${row.values
                  .slice(0, NUMBERS_SHOWN)
                  .map((value) => fixed(value, 3))
                  .join("  ")}${row.values.length > NUMBERS_SHOWN ? `  \u2026 (${row.values.length})` : ""}`
            : row.text;
    return createTable({
        caption: `${dataset.name}, ${split} examples`,
        cards: true,
        columns: [
            { label: "example", numeric: true, cell: (row) => row.index },
            { label: "label", place: "aside", labelled: true, cell: (row) => row.label },
            { label: dataset.kind === "text" ? "text" : "numbers", wide: true, place: "text", cell: asText },
        ],
        rows: examples,
    }).element;
}

// The examples as a run sees them, split into two parts.
function createBrowser(page) {
    const alert = createAlert();
    const slot = h("div");
    const pager = createPager(EXAMPLES_SHOWN, () => load());
    const split = h(
        "select",
        {
            id: "example-split",
            onchange: () => {
                pager.reset();
                load();
            },
        },
        h("option", { value: "train" }, "training part"),
        h("option", { value: "test" }, "test part"),
    );
    const element = h(
        "section",
        { hidden: true, "aria-label": "Examples" },
        h("h2", null, "Examples"),
        h("div", { class: "slider-row" }, h("label", { for: "example-split" }, "Show the"), split, pager.elements),
        alert.element,
        slot,
    );
    let dataset = null;
    const begin = latest();

    async function load() {
        alert.clear();
        const isLatest = begin();
        try {
            const answer = await get(
                `/api/datasets/${encodeURIComponent(dataset.name)}/examples${query({ split: split.value, offset: pager.offset(), limit: EXAMPLES_SHOWN })}`,
                page.signal,
            );
            if (!isLatest()) return;
            pager.show(answer.examples.length, answer.total);
            replaceChildren(slot, exampleTable(dataset, split.value === "test" ? "test" : "training", answer.examples));
        } catch (error) {
            if (!isLatest()) return;
            slot.replaceChildren();
            alert.show(error);
        }
    }
    return {
        element,
        show(newDataset) {
            dataset = newDataset;
            pager.reset();
            element.hidden = false;
            load();
        },
    };
}

// The situation that settles the defaults for a data set (see settleDefault).
const situationOf = ({ kind, source }) => [
    kind === "text" ? "text" : "",
    ...(source === "given" ? ["data of yours", `${kind} of yours`] : []),
];

function createTrainer(page, questions) {
    const models = describeModels(page);
    const element = h("section", { hidden: true, "aria-label": "Training" });
    let leave = new AbortController();
    page.signal.addEventListener("abort", () => leave.abort(), { once: true });

    function show(dataset) {
        // Requests and streams of the previous data set must not change this one's section.
        leave.abort();
        leave = new AbortController();
        const { signal } = leave;
        const curves = createTrainingCurves(signal);
        const outcome = h("p", { role: "status" });
        const isText = dataset.kind === "text";
        const address = dataset.name === page.parameters.get("dataset") ? page.parameters : new URLSearchParams();
        const attention = createAttentionView({ signal, address, onChange: () => panel.remember(), isText });
        const attentionBlock = h("div", { hidden: true }, h("h2", null, "Where it looks"), attention.element);
        let panel = null;
        const padded = createPaddedExample({ ...page, signal }, dataset.name, () => panel.form.values());
        panel = createExperimentPanel(
            {
                ...page,
                signal,
                parameters: address,
                remember: (values) => signal.aborted || page.remember({ dataset: dataset.name, ...values }),
            },
            {
                experiment: "train",
                fixed: { task: dataset.name },
                // Where it does not apply, "standardise" is among the exceptions, which win.
                main: ["model", "position", "epochs", "seed", "learning_rate", "standardise"],
                except: [
                    "task",
                    isText ? "standardise" : "vocabulary",
                    ...(dataset.source === "given" ? ["train_seed", "test_seed"] : ["standardise"]),
                ],
                // The lab sheet's model for sentences, the course chapter's for numbers.
                initial: isText ? { model: SENTENCES.model } : {},
                situation: situationOf(dataset),
                extra() {
                    panel?.form.hide(models.absent(panel.form.read("model")));
                    if (panel && isText) padded.draw();
                    return {};
                },
                button: `Train on ${dataset.name}`,
                slow: true,
                remember: () => (attentionBlock.hidden ? {} : attention.place()),
                clear(run) {
                    curves.begin(run);
                    attentionBlock.hidden = true;
                    outcome.textContent = "";
                },
                epoch: curves.epoch,
                async render(result, run) {
                    questions.update(result, run);
                    await curves.show(run);
                    attentionBlock.hidden = !result.attention;
                    replaceChildren(
                        outcome,
                        `${percent(result.test_accuracy)} of the test examples right, ${integer(result.parameter_count)} parameters, ${seconds(result.seconds)}. `,
                        isText && h("a", { href: `#sentiment?run=${run.id}` }, "Type sentences for this model"),
                    );
                    if (!result.attention) return;
                    await attention.show(run);
                    panel.remember();
                },
            },
        );
        element.hidden = false;
        replaceChildren(
            element,
            h("h2", null, `Train on ${dataset.name}`),
            panel.element,
            isText && padded.element,
            questions.answer,
            curves.element,
            outcome,
            attentionBlock,
        );
    }
    return { element, show };
}

// Whether a run answers a question: these settings and, for all else, the defaults for the kind of data set.
const isAnswer =
    (page, { dataset, ...settings }) =>
    (result, { parameters }) =>
        parameters.task === dataset &&
        hasParameters(
            parameters,
            page.experiment("train").schema,
            { task: dataset, ...settings },
            dataset === SENTENCES.task ? "text" : "usual",
        );

const rightOf = (result) => `${percent(result.test_accuracy)} right`;
const learns = (result) => ({ shown: result.test_accuracy > 0.95, measured: rightOf(result) });

const QUESTIONS = [
    {
        question: "the number that decides is the last one, not the first, and an LSTM reads them?",
        settings: { dataset: "last-element", model: "lstm" },
        claim: "It gets nearly every example right: what it read last it need not keep.",
        check: learns,
    },
    {
        question: "attention without positions looks for the last number?",
        settings: { dataset: "last-element", position: "none" },
        claim: "It does no better than guessing: for it the last number is as good as any.",
        check: (result) => ({ shown: result.test_accuracy < 0.6, measured: rightOf(result) }),
    },
    {
        question: "an RNN reads the sentences?",
        settings: { dataset: "reviews", model: "rnn" },
        claim: "It judges nearly all of them correctly: a sentence of 16 words is a short way.",
        check: learns,
    },
    {
        question: "attention reads the sentences without positions?",
        settings: { dataset: "reviews", model: "attention", position: "none" },
        claim: "It judges nearly all of them correctly as well: here the order of the words decides nothing.",
        check: learns,
    },
];
