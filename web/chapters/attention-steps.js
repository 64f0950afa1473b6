// Attention taken apart: queries and keys give scores, which are scaled, masked, and turned by a softmax into the weights
// that average the values. The page shows one step at a time, and for each cell the arithmetic behind it.

import { createAttentionGraph } from "../shared/attention-graph.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h, replaceChildren } from "../shared/dom.js";
import { scientific } from "../shared/format.js";
import { createMatrixEditor } from "../shared/matrix-editor.js";
import { createQuestions } from "../shared/questions.js";
import { createForms } from "./attention-steps-forms.js";
import { createHeadsNote } from "./attention-steps-heads.js";
import { QUESTIONS } from "./attention-steps-questions.js";
import { createStage } from "./attention-steps-stage.js";
import { createSwitches } from "./attention-steps-switches.js";
import { headsOf, isHidden, isOverQueries } from "./attention-steps-table.js";
import { createVariances } from "./attention-steps-variances.js";

const GIVEN = "given";
const EDITABLE = ["q", "k", "v"];
const MAPS = ["w_q", "w_k", "w_v"];
const MATRICES = [...EDITABLE, ...MAPS];
const TITLES = { q: "Q", k: "K", v: "V", w_q: "W_q", w_k: "W_k", w_v: "W_v" };
// The parameters of the presets that draw tokens; the others begin with Q, K and V.
const DRAWN_FROM = ["seed", "tokens", "width", "batch", "example", "heads", "head_size", "context_tokens"];
const isDrawn = (preset) => preset === "drawn" || preset === "causal-head";

export function mount(root, page) {
    const stage = createStage(page, { onStep: () => panel.remember(), onHead: (matrices) => drawGraph(matrices) });
    const switches = createSwitches(page, () => panel.changed());
    const editors = Object.fromEntries(
        MATRICES.map((name) => [name, createMatrixEditor({ name: TITLES[name], onChange: () => panel.changed() })]),
    );
    const editorBlock = h(
        "div",
        { class: "matrix-editors", hidden: true },
        EDITABLE.map((name) => editors[name].element),
    );
    const mapBlock = h(
        "div",
        { class: "matrix-editors", hidden: true },
        MAPS.map((name) => editors[name].element),
    );
    const expectations = createExpectations(CLAIMS);
    const graph = createAttentionGraph();
    const forms = createForms();
    const variances = createVariances();
    const heads = createHeadsNote();
    const notes = h("div", { class: "step-notes", role: "status" });
    const questions = createQuestions(page, {
        chapter: "attention-steps",
        experiment: "attention-steps",
        questions: QUESTIONS,
    });
    const after = h(
        "div",
        { hidden: true },
        graph.element,
        h(
            "p",
            null,
            "The examples of a batch never talk: each has a graph of its own, and no arrow leads from one to another.",
        ),
        heads.element,
        variances.element,
    );
    let panel = null;
    let lastResult = null;
    let lastRun = null;
    const drawGraph = ({ weights, query_labels: queries, key_labels: keys }) =>
        graph.show(weights, { queries, keys, isMasked: (query, key) => isHidden(lastRun, query, key) });
    const { properties } = page.experiment("attention-steps").schema;
    let lastPreset = page.parameters.get("preset") ?? properties.preset.default;

    for (const name of MATRICES) {
        try {
            if (!page.parameters.has(name)) continue;
            editors[name].write(JSON.parse(page.parameters.get(name)));
            if (MAPS.includes(name)) switches.giveMaps(true);
        } catch {
            // Somebody edited the address: start from the matrices of the last preset instead.
        }
    }

    // The numbers of queries and keys of the next run, or null if they are not known before it.
    function sizesOf(given) {
        if (given) return [editors.q.read().length, editors.k.read().length];
        if (panel?.form.read("preset") !== "drawn") return null;
        const tokens = panel.form.read("tokens") ?? properties.tokens.default;
        const keys = panel.form.read("context_tokens") || tokens;
        const isSize = (size) => size >= 1 && size <= properties.tokens.maximum;
        return isSize(tokens) && isSize(keys) ? [tokens, keys] : null;
    }

    const isGiven = () => panel?.form.read("preset") === GIVEN;
    function startEditing(names) {
        for (const name of names) {
            if (editors[name].read().length === 0)
                editors[name].write(
                    roundForEditing(
                        lastResult?.[name] ?? [
                            [1, 0],
                            [0, 1],
                        ],
                    ),
                );
        }
    }

    panel = createExperimentPanel(page, {
        experiment: "attention-steps",
        main: ["preset", "seed", "tokens", "width"],
        except: ["mask", "scale", "blend"],
        automatic: true,
        strict: true,
        live: true,
        remember: () => ({ step: stage.step() || null }),
        adopt(parameters) {
            for (const name of MATRICES) if (parameters[name]) editors[name].write(parameters[name]);
            switches.giveMaps(MAPS.some((name) => parameters[name]));
            lastPreset = parameters.preset;
            switches.adopt(parameters);
        },
        extra() {
            const given = isGiven();
            const preset = panel?.form.read("preset") ?? lastPreset;
            // A different preset has its own mask and scale.
            if (panel && preset !== lastPreset) switches.reset();
            lastPreset = preset;
            panel?.form.settle(preset);
            panel?.form.hide(isDrawn(preset) ? [] : DRAWN_FROM);
            // Next time they begin as the maps of the run on view, whose sizes may be others.
            if (!switches.givesMaps()) MAPS.forEach((name) => editors[name].write([]));
            const edited = given ? EDITABLE : isDrawn(preset) && switches.givesMaps() ? MAPS : [];
            startEditing(edited);
            switches.fit(sizesOf(given));
            switches.offerMaps(isDrawn(preset));
            editorBlock.hidden = !given;
            mapBlock.hidden = edited !== MAPS;
            return {
                ...switches.values(),
                ...Object.fromEntries(edited.map((name) => [name, editors[name].read()])),
            };
        },
        showErrors(errors) {
            const owner = (error) => error.field.split("[")[0];
            const messageOf = (name) => errors.find((error) => owner(error) === name)?.message ?? "";
            MATRICES.forEach((name) => editors[name].setError(messageOf(name)));
            switches.setError(messageOf("mask_matrix"));
            return errors.filter((error) => ![...MATRICES, "mask_matrix"].includes(owner(error)));
        },
        render(result, run) {
            [lastResult, lastRun] = [result, run];
            switches.show(run.parameters, [result.q.length, result.k.length]);
            stage.show(result, run);
            forms.show(result, run);
            replaceChildren(
                notes,
                result.notes.map((note) => h("p", null, note)),
            );
            variances.show(result.variance);
            heads.show(result.parameters);
            after.hidden = false;
            expectations.update({ result, run });
            questions.update(result, run);
        },
    });
    panel.element.querySelector(".form").append(switches.element, switches.maskElement, editorBlock, mapBlock);

    root.append(
        h(
            "p",
            { class: "lead" },
            "Five small operations, nothing else. Step through them, switch the scale and the mask, or type your own numbers; the arithmetic of the cell under the pointer or the cursor is written out below it.",
        ),
        forms.element,
        panel.element,
        questions.answer,
        stage.element,
        notes,
        after,
        expectations.element,
        questions.element,
    );
}

const roundForEditing = (matrix) => matrix.map((row) => row.map((value) => Number(value.toFixed(3))));

const CLAIMS = [
    {
        claim: "Every row of weights adds up to one.",
        check({ result, run }) {
            const sums = headsOf(result).flatMap((head) => head.row_sums);
            if (sums.includes(null))
                return { shown: false, measured: "not every sum is finite", why: "Some scores are too large for a float32." };
            const worst = sums.reduce((most, value) => Math.max(most, Math.abs(value - 1)), 0);
            return {
                shown: worst < 1e-5,
                measured: `largest distance from 1: ${scientific(worst, 1)}`,
                why:
                    worst < 1e-5
                        ? ""
                        : isOverQueries(run)
                          ? "The softmax ran over the queries, the wrong axis: it is the columns that add up to one."
                          : "A query that may not see any key has a row of zeros: there is nothing to share out.",
            };
        },
    },
    {
        claim: "The key with the largest score gets the largest weight.",
        check({ result, run }) {
            const largest = (row) => row.indexOf(row.reduce((most, value) => Math.max(most, value ?? -Infinity), -Infinity));
            // A row that sees no key has no largest weight, and neither has one with numbers that are not finite.
            const all = headsOf(result).flatMap(({ masked, weights }) =>
                masked.map((scores, index) => ({ scores, weights: weights[index] })),
            );
            const rows = all
                .filter(({ scores, weights }) => scores.some((value) => value !== null) && !weights.includes(null))
                .map(({ scores, weights }) => largest(scores) === largest(weights));
            const agree = rows.filter(Boolean).length;
            const others = all.length - rows.length;
            return {
                shown: rows.length > 0 && agree === rows.length,
                measured: `in ${agree} of ${rows.length} rows${others > 0 ? `; ${others} more without a largest weight` : ""}`,
                why: isOverQueries(run)
                    ? "Over the queries, a key's weights are compared with each other, not a query's."
                    : "The softmax keeps the order; scale and mask decide how sharply it is drawn.",
            };
        },
    },
];
