// Attention taken apart: queries and keys give scores, which are scaled, masked, and turned by a softmax into the weights
// that average the values. The page shows one step at a time, and for each cell the arithmetic behind it.

import { createAttentionGraph } from "../shared/attention-graph.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { h, replaceChildren } from "../shared/dom.js";
import { fixed, scientific } from "../shared/format.js";
import { displayedFormula } from "../shared/formula.js";
import { createHeatmap } from "../shared/heatmap.js";
import { createMaskEditor } from "../shared/mask-editor.js";
import { createMatrixEditor } from "../shared/matrix-editor.js";
import { createQuestions } from "../shared/questions.js";
import { createForms } from "./attention-steps-forms.js";
import { createOneLine } from "./attention-steps-formula.js";
import { QUESTIONS } from "./attention-steps-questions.js";
import { createVariances } from "./attention-steps-variances.js";

const GIVEN = "given";
const EDITABLE = ["q", "k", "v"];
// The parameters that each preset is drawn from.
const DRAWN_FROM = { drawn: ["seed", "tokens", "width"], "causal-head": ["seed"], worked: [], given: [] };
const NAMES = {
    input: "h (input)",
    q: "Q (queries)",
    k: "K (keys)",
    v: "V (values)",
    scores: "scores",
    scaled: "scaled scores",
    masked: "masked scores",
    weights: "weights",
    output: "output",
};
const AXES = {
    input: ["token", "channel"],
    q: ["query", "dimension"],
    k: ["key", "dimension"],
    v: ["key", "dimension"],
    output: ["query", "dimension"],
    scores: ["query", "key"],
    scaled: ["query", "key"],
    masked: ["query", "key"],
    weights: ["query", "key"],
};
const LONGEST_SUM = 8;

const sum = (terms, operator) => {
    const shown = terms.length > LONGEST_SUM ? [...terms.slice(0, LONGEST_SUM - 1), "\u2026"] : terms;
    return shown.join(` ${operator} `);
};
const n = (value) => (value === null ? "(not finite)" : Math.abs(value) >= 1e5 ? scientific(value, 1) : fixed(value, 3));
const NOT_FINITE = "A score of this row is not finite: too large for a float32. No share of it can be computed.";

// Whether the mask hides the key from the query. A score that is null for any other reason is not finite.
const isHidden = ({ parameters }, query, key) =>
    (parameters.mask === "causal" && key > query) || parameters.mask_matrix?.[query]?.[key] === 0;

// Each step: its name, formula and text, the matrices on show (the last is the step's own), the cells of the others that a
// cell is computed from, and the arithmetic of a cell.
const STEPS = [
    {
        name: "Q, K, V",
        formula: '<mi>Q</mi><mo>,</mo><mspace width="0.4em"/><mi>K</mi><mo>,</mo><mspace width="0.4em"/><mi>V</mi>',
        text: "Each position of the input h gets three vectors by three learnt linear maps: a query says what it is looking for, a key what it offers, a value what it hands over. The presets worked and given begin with Q, K and V themselves.",
        show: ["input", "q", "k", "v"],
        sources: () => ({}),
        cell: () => "",
    },
    {
        name: "Scores",
        formula: "<mi>S</mi><mo>=</mo><mi>Q</mi><msup><mi>K</mi><mi>T</mi></msup>",
        text: "Each query meets each key in a dot product: large where they point the same way, zero where they have nothing to do with each other.",
        show: ["q", "k", "scores"],
        sources: (row, column) => ({ q: { row }, k: { row: column } }),
        cell: ({ q, k, scores }, row, column) =>
            `${sum(
                q[row].map((value, index) => `${n(value)}\u00b7${n(k[column][index])}`),
                "+",
            )} = ${n(scores[row][column])}`,
    },
    {
        name: "Scale",
        formula: "<mfrac><mi>S</mi><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac>",
        text: "Long vectors give large dot products. Dividing by the root of their length keeps the scores in the range where a softmax still listens to all of them.",
        show: ["scores", "scaled"],
        sources: (row, column) => ({ scores: { row, column } }),
        cell: ({ scores, scaled, q }, row, column, run) =>
            run.parameters.scale === false
                ? "Scaling is switched off: the scores pass unchanged."
                : `${n(scores[row][column])} / \u221a${q[0].length} = ${n(scaled[row][column])}`,
    },
    {
        name: "Mask",
        formula:
            '<msub><mi>S</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>=</mo><mo>\u2212</mo><mi>\u221e</mi><mspace width="0.5em"/><mtext>where query\u00a0</mtext><mi>i</mi><mtext>\u00a0must not see key\u00a0</mtext><mi>j</mi>',
        text: "A causal mask hides the future: a score of minus infinity becomes a weight of exactly zero. A model that writes text one word at a time needs it; one that reads a whole sentence does not. Any other pattern can be hidden the same way: padding, far-away words, another document.",
        show: ["scaled", "masked"],
        sources: (row, column) => ({ scaled: { row, column } }),
        cell: ({ masked }, row, column, run) =>
            isHidden(run, row, column)
                ? run.parameters.mask === "causal" && column > row
                    ? `Key ${column} comes after query ${row}: hidden.`
                    : `The mask matrix hides key ${column} from query ${row}.`
                : `Query ${row} may see key ${column}: the score stays ${n(masked[row][column])}.`,
    },
    {
        name: "Softmax",
        formula:
            "<msub><mi>W</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>=</mo><mfrac><msup><mi>e</mi><msub><mi>S</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></msup><mrow><munder><mo>\u2211</mo><mi>m</mi></munder><msup><mi>e</mi><msub><mi>S</mi><mrow><mi>i</mi><mi>m</mi></mrow></msub></msup></mrow></mfrac>",
        text: "Each row of scores becomes shares that add up to one: how much of its attention a query spends on each key.",
        show: ["masked", "weights"],
        sources: (row) => ({ masked: { row } }),
        cell({ masked, weights }, row, column, run) {
            if (isHidden(run, row, column)) return "A hidden key gets nothing.";
            const seen = masked[row].filter((_, key) => !isHidden(run, row, key));
            if (seen.includes(null)) return NOT_FINITE;
            return `exp(${n(masked[row][column])}) / (${sum(
                seen.map((value) => `exp(${n(value)})`),
                "+",
            )}) = ${n(weights[row][column])}`;
        },
    },
    {
        name: "Output",
        formula: "<mi>O</mi><mo>=</mo><mi>W</mi><mi>V</mi>",
        text: "Each query receives the average of all values, weighted by its attention: a table look-up that is soft, and therefore can be learnt.",
        show: ["weights", "v", "output"],
        sources: (row, column) => ({ weights: { row }, v: { column } }),
        cell: ({ weights, v, output }, row, column) =>
            `${sum(
                weights[row].map((weight, index) => `${n(weight)}\u00b7${n(v[index][column])}`),
                "+",
            )} = ${n(output[row][column])}`,
    },
];

export function mount(root, page) {
    const stage = createStage(page, () => panel.remember());
    const switches = createSwitches(page, () => panel.changed());
    const editors = Object.fromEntries(
        EDITABLE.map((name) => [
            name,
            createMatrixEditor({ name: name.toUpperCase(), onChange: () => panel.changed() }),
        ]),
    );
    const editorBlock = h(
        "div",
        { class: "matrix-editors", hidden: true },
        EDITABLE.map((name) => editors[name].element),
    );
    const expectations = createExpectations(CLAIMS);
    const graph = createAttentionGraph();
    const forms = createForms();
    const variances = createVariances();
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
        variances.element,
    );
    let panel = null;
    let lastResult = null;
    const { properties } = page.experiment("attention-steps").schema;
    let lastPreset = page.parameters.get("preset") ?? properties.preset.default;

    for (const name of EDITABLE) {
        try {
            if (page.parameters.has(name)) editors[name].write(JSON.parse(page.parameters.get(name)));
        } catch {
            // Somebody edited the address: start from the matrices of the last preset instead.
        }
    }

    // The numbers of queries and keys of the next run, or null if they are not known before it.
    function sizesOf(given) {
        if (given) return [editors.q.read().length, editors.k.read().length];
        if (panel?.form.read("preset") !== "drawn") return null;
        const tokens = panel.form.read("tokens") ?? properties.tokens.default;
        return tokens >= 1 && tokens <= properties.tokens.maximum ? [tokens, tokens] : null;
    }

    const isGiven = () => panel?.form.read("preset") === GIVEN;
    function startEditing() {
        for (const name of EDITABLE) {
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
        except: ["mask", "scale"],
        automatic: true,
        strict: true,
        live: true,
        remember: () => ({ step: stage.step() || null }),
        adopt(parameters) {
            for (const name of EDITABLE) if (parameters[name]) editors[name].write(parameters[name]);
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
            panel?.form.hide(DRAWN_FROM.drawn.filter((name) => !DRAWN_FROM[preset].includes(name)));
            if (given) startEditing();
            switches.fit(sizesOf(given));
            editorBlock.hidden = !given;
            return {
                ...switches.values(),
                ...(given ? Object.fromEntries(EDITABLE.map((name) => [name, editors[name].read()])) : {}),
            };
        },
        showErrors(errors) {
            const owner = (error) => error.field.split("[")[0];
            const messageOf = (name) => errors.find((error) => owner(error) === name)?.message ?? "";
            EDITABLE.forEach((name) => editors[name].setError(messageOf(name)));
            switches.setError(messageOf("mask_matrix"));
            return errors.filter((error) => ![...EDITABLE, "mask_matrix"].includes(owner(error)));
        },
        render(result, run) {
            lastResult = result;
            switches.show(run.parameters, [result.q.length, result.k.length]);
            stage.show(result, run);
            forms.show(result, run);
            replaceChildren(
                notes,
                result.notes.map((note) => h("p", null, note)),
            );
            graph.show(result.weights, {
                queries: result.query_labels,
                keys: result.key_labels,
                isMasked: (query, key) => isHidden(run, query, key),
            });
            variances.show(result.variance);
            after.hidden = false;
            expectations.update({ result, run });
            questions.update(result, run);
        },
    });
    panel.element.querySelector(".form").append(switches.element, switches.maskElement, editorBlock);

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

// Switches for mask and scale, which follow the preset until the reader touches them, and an editor for a mask matrix.
function createSwitches(page, onChange) {
    const { properties } = page.experiment("attention-steps").schema;
    const touched = {};
    const box = (name, isOn, choose) => {
        if (page.parameters.has(name)) touched[name] = choose(page.parameters.get(name) === choose(true).toString());
        const element = h("input", {
            type: "checkbox",
            checked: isOn(touched[name]),
            onchange: () => {
                touched[name] = choose(element.checked);
                onChange();
            },
        });
        return element;
    };
    const mask = box(
        "mask",
        (value) => value === "causal",
        (on) => (on ? "causal" : "none"),
    );
    const scale = box(
        "scale",
        (value) => value !== false,
        (on) => on,
    );
    const editor = createMaskEditor({ onChange });
    const own = h("input", { type: "checkbox", onchange: () => showEditor(true) });
    try {
        if (page.parameters.has("mask_matrix")) {
            editor.write(JSON.parse(page.parameters.get("mask_matrix")));
            own.checked = true;
        }
    } catch {
        // Somebody edited the address: there is no mask matrix then.
    }
    const maskElement = h("div", { class: "matrix-editors" }, editor.element);
    let sizes = null;

    function showEditor(isNew) {
        maskElement.hidden = !own.checked;
        if (isNew && own.checked && sizes) editor.resize(...sizes);
        if (isNew) onChange();
    }
    showEditor(false);
    // Otherwise the form would take these changes for its own, and the experiment would run twice.
    const element = h(
        "div",
        { class: "choices switches", onchange: (event) => event.stopPropagation() },
        h("label", { title: properties.scale.description }, scale, properties.scale.title),
        h("label", { title: properties.mask.description }, mask, "causal mask"),
        h("label", { title: properties.mask_matrix.description }, own, "mask of my own"),
    );
    return {
        element,
        maskElement,
        values: () => ({ ...touched, ...(own.checked ? { mask_matrix: editor.read() } : {}) }),
        reset() {
            delete touched.mask;
            delete touched.scale;
            own.checked = false;
            showEditor(false);
        },
        // Takes over the switches of a run that a link names. Values that equal the preset's stay the preset's.
        adopt({ preset, mask: itsMask, scale: itsScale, mask_matrix: matrix }) {
            const isHead = preset === "causal-head";
            if (itsMask !== (isHead ? "causal" : "none")) touched.mask = itsMask;
            if (itsScale === isHead) touched.scale = itsScale;
            own.checked = Boolean(matrix);
            if (matrix) editor.write(matrix);
            showEditor(false);
        },
        // Gives the mask as many rows and columns as the next run has queries and keys.
        fit(newSizes) {
            if (newSizes && own.checked) editor.resize(...newSizes);
        },
        show(parameters, newSizes) {
            mask.checked = parameters.mask === "causal";
            scale.checked = parameters.scale !== false;
            sizes = newSizes;
        },
        setError: editor.setError,
    };
}

// The steps and their matrices.
function createStage(page, onStep) {
    let shown = null;
    let step = Math.min(STEPS.length - 1, Math.max(0, Number(page.parameters.get("step")) || 0));
    const tabs = STEPS.map((one, index) =>
        h("button", { type: "button", onclick: () => go(index) }, `${index + 1}. ${one.name}`),
    );
    const back = h("button", { type: "button", onclick: () => go(step - 1) }, "\u2190 Back");
    const forward = h("button", { type: "button", class: "primary", onclick: () => go(step + 1) }, "Forward \u2192");
    const text = h("p");
    const formulaSlot = h("div");
    const oneLine = createOneLine((target) => go(target));
    const matrices = h("div", { class: "matrices" });
    const arithmetic = h("p", { class: "arithmetic", "aria-live": "polite" });
    const sums = h("p", { class: "hint" });
    const element = h(
        "section",
        { class: "stage", "aria-label": "The steps", hidden: true },
        h(
            "div",
            { class: "step-bar" },
            h(
                "ol",
                { class: "step-tabs" },
                tabs.map((tab) => h("li", null, tab)),
            ),
            h("div", { class: "step-buttons" }, back, forward),
        ),
        oneLine.element,
        h("div", { class: "step-text" }, formulaSlot, text),
        matrices,
        arithmetic,
        sums,
    );
    // One heatmap for each matrix, kept from step to step so that the cursor stays in place.
    const heatmaps = Object.fromEntries(
        Object.keys(NAMES).map((name) => [
            name,
            createHeatmap({
                title: NAMES[name],
                rowTitle: AXES[name][0],
                columnTitle: AXES[name][1],
                range: name === "weights" ? [0, 1] : undefined,
                maxCell: 58,
                maxCellHeight: 36,
                height: 330,
                scale: false,
                signal: page.signal,
                onCell: (row, column) => explain(name, row, column),
            }),
        ]),
    );

    // A preset that begins with Q, K and V has no input.
    const namesOf = ({ show }) => show.filter((name) => shown.result[name]);

    function explain(name, row, column) {
        const { sources, cell } = STEPS[step];
        const show = namesOf(STEPS[step]);
        if (name !== show.at(-1)) return;
        arithmetic.textContent = cell(shown.result, row, column, shown.run);
        const marks = step > 0 ? { ...sources(row, column), [name]: { row, column } } : {};
        show.forEach((one) => heatmaps[one].mark(marks[one] ?? null));
    }

    function go(target) {
        step = Math.min(STEPS.length - 1, Math.max(0, target));
        draw();
        onStep();
    }

    function draw() {
        if (!shown) return;
        const { result } = shown;
        const current = STEPS[step];
        tabs.forEach((tab, index) => {
            if (index === step) tab.setAttribute("aria-current", "step");
            else tab.removeAttribute("aria-current");
        });
        back.disabled = step === 0;
        forward.disabled = step === STEPS.length - 1;
        text.textContent = current.text;
        replaceChildren(formulaSlot, displayedFormula(current.formula));
        oneLine.show(step, {
            isMasked: shown.run.parameters.mask === "causal" || Boolean(shown.run.parameters.mask_matrix),
            isScaled: shown.run.parameters.scale !== false,
        });
        const show = namesOf(current);
        replaceChildren(
            matrices,
            show.map((name) => h("div", { class: "matrix-card" }, heatmaps[name].element)),
        );
        for (const name of show) {
            heatmaps[name].setTitle(`${NAMES[name]}, ${result[name].length} \u00d7 ${result[name][0].length}`);
            heatmaps[name].setMatrix(result[name], {
                isMasked: (row, column) => name === "masked" && isHidden(shown.run, row, column),
            });
        }
        explain(show.at(-1), 0, 0);
        sums.textContent =
            current.name === "Softmax"
                ? `Row sums: ${result.row_sums.map((value) => fixed(value, 4)).join(", ")}${result.row_sums.includes(0) ? ". A row of zeros: its query may not see any key." : ""}`
                : "";
    }

    return {
        element,
        step: () => step,
        show(result, run) {
            shown = { result, run };
            element.hidden = false;
            draw();
        },
    };
}

const CLAIMS = [
    {
        claim: "Every row of weights adds up to one.",
        check({ result }) {
            if (result.row_sums.includes(null))
                return { shown: false, measured: "not every sum is finite", why: "Some scores are too large for a float32." };
            const worst = result.row_sums.reduce((most, value) => Math.max(most, Math.abs(value - 1)), 0);
            return {
                shown: worst < 1e-5,
                measured: `largest distance from 1: ${scientific(worst, 1)}`,
                why:
                    worst < 1e-5
                        ? ""
                        : "A query that may not see any key has a row of zeros: there is nothing to share out.",
            };
        },
    },
    {
        claim: "The key with the largest score gets the largest weight.",
        check({ result }) {
            const largest = (row) => row.indexOf(row.reduce((most, value) => Math.max(most, value ?? -Infinity), -Infinity));
            // A row that sees no key has no largest weight, and neither has one with numbers that are not finite.
            const rows = result.masked.flatMap((scores, index) =>
                scores.some((value) => value !== null) && !result.weights[index].includes(null)
                    ? [largest(scores) === largest(result.weights[index])]
                    : [],
            );
            const agree = rows.filter(Boolean).length;
            const others = result.masked.length - rows.length;
            return {
                shown: rows.length > 0 && agree === rows.length,
                measured: `in ${agree} of ${rows.length} rows${others > 0 ? `; ${others} more without a largest weight` : ""}`,
                why: "The softmax keeps the order; scale and mask decide how sharply it is drawn.",
            };
        },
    },
];
