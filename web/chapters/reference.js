// Tables to keep. Measured values come from this server's newest runs with the chapters' own parameters, and each says which
// run that is. If there is no such run yet, the table names the chapter that makes one.

import { get, query } from "../shared/api.js";
import { h, replaceChildren } from "../shared/dom.js";
import { bytes, compact, fixed, integer, scientific } from "../shared/format.js";
import { findRun, hasParameters } from "../shared/known-runs.js";
import { lengthTable } from "../shared/length-table.js";
import { describeModels } from "../shared/models.js";
import { chapterAddress } from "../shared/state.js";
import { textTable } from "../shared/table.js";

const RECURRENCE = [
    ["aspect", "RNN, LSTM", "self-attention"],
    ["in one line", "h_t = tanh(W x_t + U h_{t\u22121} + b), step by step", "softmax(QK\u1d40 / \u221ad_k) V, for all steps at once"],
    ["way from one step to another", "as many hops as steps between them", "one hop, always"],
    ["work done side by side", "none along the sequence: each step waits for the one before", "all steps at once"],
    ["operations in a layer", "T \u00d7 d\u00b2", "T\u00b2 \u00d7 d"],
    ["memory in training", "T \u00d7 d", "T\u00b2, unless the matrix is never written down"],
    ["far-away dependencies", "the gradient shrinks on the way", "a direct line"],
    ["knows the order", "yes, by walking through it", "no: positions must be added"],
    ["adding one more step when writing", "cheap: one state is carried on", "grows with everything said so far"],
];

const PARTS = [
    ["part", "what it does", "without it"],
    [
        "multi-head attention",
        "several look-ups side by side, each free to look for something else",
        "positions could not exchange anything",
    ],
    [
        "residual connection",
        "adds a part\u2019s input to its output",
        "deep stacks would not train: the gradient has no short way down",
    ],
    ["layer norm", "brings each vector back to mean zero and variance one", "numbers would grow from block to block"],
    [
        "feed-forward",
        "two linear maps with a bend between them, at each position alone",
        "everything fetched would only ever be averaged",
    ],
    ["position", "marks each step with its place", "a sentence would be a bag of words"],
    [
        "mask",
        "hides what must not be seen: padding, or the future",
        "a model that writes would copy the answer it is to predict",
    ],
];

const TASKS = [
    ["you want to", "begin with", "because"],
    [
        "sort texts into classes",
        "fine-tuning: a pretrained text model and a new last layer",
        "it knows the language already; only your labels are new",
    ],
    [
        "answer questions from your documents",
        "retrieval-augmented generation (RAG): search for passages, then let a language model answer from them",
        "facts stay in the documents, where they can be corrected",
    ],
    [
        "write in a certain style",
        "fine-tuning with a small trained addition to a large model (LoRA)",
        "the large weights stay as they are; what is trained fits on one machine",
    ],
    ["read text in pictures", "character recognition (OCR): a vision transformer with a text decoder", "looking and writing are learnt together"],
    [
        "find similar pictures",
        "a pretrained image network and nearest neighbours",
        "nothing needs to be trained; measure it against raw pixels first",
    ],
    [
        "forecast a time series",
        "differences, a seasonal model, a simple baseline",
        "short series do not feed a transformer",
    ],
    ["understand how attention works", "a model small enough to take apart", "that is what these pages are for"],
];

// Parameters whose default depends on the machine: the chapter's own runs have these.
const OWN = { cost: { matrix_up_to: 4096 } };

export function mount(root, page) {
    const concepts = h("div");
    const measured = h("div");
    const status = h("p", { class: "hint", role: "status" }, "Looking for this machine\u2019s measurements\u2026");
    replaceChildren(concepts, conceptTable({}));
    root.append(
        h("p", { class: "lead" }, "The whole of it on one page. Where a number can be measured, it was measured here."),
        textTable("Attention against recurrence", RECURRENCE),
        measured,
        concepts,
        status,
        lengthTable(),
        textTable("The parts of a block", PARTS),
        textTable("Which approach for which task", TASKS),
        h(
            "p",
            { class: "prose" },
            "Hardly any of these tasks calls for training a transformer from scratch. You take a model that somebody trained at great expense and adapt it; knowing what is inside tells you what you can ask of it.",
        ),
    );
    fill(page, concepts, measured, status);
}

async function fill(page, concepts, measured, status) {
    try {
        const [reach, cost, shuffle, scaling, accuracies] = await Promise.all([
            ...["gradient-reach", "cost", "permutation", "scaling"].map((experiment) =>
                findRun(page, experiment, OWN[experiment] ?? {}, { finished: true }),
            ),
            trained(page),
        ]);
        const found = { reach, cost, shuffle, scaling, accuracies };
        replaceChildren(concepts, conceptTable(found));
        replaceChildren(measured, measuredTable(found));
        status.textContent = "A dash marks what has not been run yet; the chapters fill it in.";
    } catch (error) {
        if (error.name !== "AbortError") status.textContent = error.message;
    }
}

// The accuracies of each model on the chapter's task with the chapter's own parameters, from the newest runs.
async function trained(page) {
    const { runs } = await get(
        `/api/runs${query({ experiment: "train", state: "succeeded", limit: 200 })}`,
        page.signal,
    );
    const { schema } = page.experiment("train");
    const models = describeModels(page);
    const result = {};
    for (const { parameters, result: outcome } of runs) {
        const variant = models.variantOf(parameters);
        const given = { ...variant?.parameters, seed: parameters.seed };
        if (variant && hasParameters(parameters, schema, given, "usual"))
            (result[variant.id] ??= []).push(outcome.test_accuracy);
    }
    return result;
}

const reachOf = (run, model) => run?.result.rows.find((row) => row.model === model)?.ratio;
// The row of the longest sequences for which both models were measured.
const longest = (run) =>
    run?.result.rows
        .filter((row) => row.attention_ms !== null)
        .sort((a, b) => a.length - b.length)
        .at(-1);
const link = (chapter, text) => h("a", { href: `#${chapter}` }, text);
const orLink = (content, chapter, name) => content ?? h("span", null, "\u2013 ", link(chapter, name));
// A figure with the run that it comes from.
const from = (run, text) =>
    text && h("span", null, text, " ", h("a", { href: chapterAddress(run.experiment, { run: run.id }) }, "this run"));
const mean = (values) =>
    values?.length
        ? `${fixed(values.reduce((sum, value) => sum + value, 0) / values.length, 4)} (${values.length} run${values.length > 1 ? "s" : ""})`
        : null;
const ratio = (value) =>
    value === undefined || value === null ? null : value < 1000 ? fixed(value, 2) : scientific(value);
const lengthOf = (run) => `T = ${integer(run.parameters.sequence_length)}`;

function measuredTable({ reach, cost, accuracies }) {
    const last = longest(cost);
    const time = (name) =>
        orLink(
            from(cost, last?.[name] ? `${compact(last[name], 3)} ms at T = ${integer(last.length)}` : null),
            "cost",
            "measure",
        );
    const reaches = (model) => {
        const value = ratio(reachOf(reach, model));
        return orLink(from(reach, value && `${value} at ${lengthOf(reach)}`), "gradient-reach", "measure");
    };
    const rows = [
        ["gradient at the last step / at the first", reaches("rnn"), reaches("lstm"), reaches("attention")],
        [
            "accuracy on \u201cis the first number positive?\u201d",
            orLink(mean(accuracies.rnn), "four-models", "train"),
            orLink(mean(accuracies.lstm), "four-models", "train"),
            orLink(mean(accuracies.attention), "four-models", "train"),
        ],
        ["the same without positions", "", "", orLink(mean(accuracies.unordered), "four-models", "train")],
        ["time of a forward pass", time("rnn_ms"), time("lstm_ms"), time("attention_ms")],
        [
            "memory of the scores",
            "",
            "",
            orLink(from(cost, last && `${bytes(last.score_bytes)} at T = ${integer(last.length)}`), "cost", "measure"),
        ],
    ];
    return textTable("The same, measured on this machine with the chapters\u2019 own parameters", [
        ["measured", "RNN", "LSTM", "attention"],
        ...rows,
    ]);
}

function conceptTable({ reach, cost, shuffle, scaling }) {
    const last = longest(cost);
    const widest = scaling?.result.rows.at(-1);
    const dash = "\u2013";
    return textTable("The words, each in a sentence", [
        ["concept", "in a sentence", "measured here"],
        [
            "attention",
            "softmax(QK\u1d40 / \u221ad_k) V: each position takes the average of all values, weighted by how well its query fits their keys",
            "",
        ],
        [
            "query, key, value",
            "what I look for, what I offer, what I hand over: three linear maps of the same vector",
            "",
        ],
        [
            "the factor 1/\u221ad_k",
            "keeps the softmax from deciding before anything was learnt",
            from(
                scaling,
                widest &&
                    `favourite key at width ${integer(widest.d_k)}: ${fixed(widest.max_weight, 3)} without, ${fixed(widest.max_weight_scaled, 3)} with it`,
            ) ?? dash,
        ],
        [
            "path length",
            "how many hops a signal takes between two positions: one in attention, their distance in a chain",
            "",
        ],
        [
            "gradient reach",
            "how much of the learning signal arrives at the first step",
            from(
                reach,
                reach &&
                    `last / first: ${ratio(reachOf(reach, "rnn")) ?? dash} for the RNN, ${ratio(reachOf(reach, "attention")) ?? dash} for attention, at ${lengthOf(reach)}`,
            ) ?? dash,
        ],
        [
            "position",
            "what has to be added because a sum knows no order",
            from(
                shuffle,
                shuffle &&
                    `shuffled without it, the output moves by ${scientific(shuffle.result.max_difference, 1)} at ${lengthOf(shuffle)}`,
            ) ?? dash,
        ],
        ["causal mask", "minus infinity for the future, so that its weight is exactly zero", ""],
        [
            "head",
            "one of several attentions side by side; each projects the whole width to queries, keys and values of its own, narrower than one head\u2019s would be",
            "",
        ],
        [
            "parallelism",
            "attention computes all steps at once, a recurrent network one after the other; a machine with many cores needs the former",
            from(
                cost,
                last &&
                    `on one core here: attention ${compact(last.attention_ms, 3)} ms, RNN ${compact(last.rnn_ms, 3)} ms, at T = ${integer(last.length)}`,
            ) ?? dash,
        ],
        [
            "T\u00b2",
            "every step meets every other, so memory grows with the square of the length",
            from(cost, last && `${bytes(last.score_bytes)} of scores at T = ${integer(last.length)}`) ?? dash,
        ],
        [
            "transformer block",
            "attention, residual connections, norms and a feed-forward part, stacked as often as one likes",
            link("transformer-block", "its parts"),
        ],
        [
            "attention as explanation",
            "shows where information came from, not why the answer came out",
            link("sentences", "see the hit rate"),
        ],
    ]);
}
