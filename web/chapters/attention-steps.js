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
import { createHeadsNote } from "./attention-steps-heads.js";
import { createOneLine } from "./attention-steps-formula.js";
import { QUESTIONS } from "./attention-steps-questions.js";
import { createVariances } from "./attention-steps-variances.js";

const GIVEN = "given";
const EDITABLE = ["q", "k", "v"];
const MAPS = ["w_q", "w_k", "w_v"];
const MATRICES = [...EDITABLE, ...MAPS];
const TITLES = { q: "Q", k: "K", v: "V", w_q: "W_q", w_k: "W_k", w_v: "W_v" };
// The parameters of the presets that draw tokens; the others begin with Q, K and V.
const DRAWN_FROM = ["seed", "tokens", "width", "batch", "example", "heads", "head_size", "context_tokens"];
const isDrawn = (preset) => preset === "drawn" || preset === "causal-head";
const NAMES = {
    input: "h (input)",
    context: "the other sequence",
    w_q: "W_q (map to queries)",
    w_k: "W_k (map to keys)",
    w_v: "W_v (map to values)",
    q: "Q (queries)",
    k: "K (keys)",
    v: "V (values)",
    scores: "scores",
    scaled: "scaled scores",
    masked: "masked scores",
    weights: "weights",
    output: "output",
    concatenated: "outputs of the heads, side by side",
    w_o: "W_o (map to the output)",
};
const AXES = {
    input: ["token", "channel"],
    context: ["token", "channel"],
    w_q: ["dimension", "channel"],
    w_k: ["dimension", "channel"],
    w_v: ["dimension", "channel"],
    concatenated: ["query", "dimension"],
    w_o: ["channel", "dimension"],
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

const isOfMask = ({ parameters }, query, key) =>
    (parameters.mask === "causal" && key > query) || parameters.mask_matrix?.[query]?.[key] === 0;
// Whether the key gets no attention from the query because of the mask: a score of zero hides nothing. A score that is null
// for any other reason is not finite.
const isHidden = (run, query, key) => run.parameters.mask_fill !== "zero" && isOfMask(run, query, key);
const isOverQueries = (run) => run.parameters.softmax_over === "queries";

const MAKERS = { q: ["input", "w_q", "b_q"], k: ["context", "w_k", "b_k"], v: ["context", "w_v", "b_v"] };

// The arithmetic of a cell of Q, K or V: a row of the input times a row of the map.
function mapCell(result, row, column, run, name) {
    const [source, map, bias] = MAKERS[name];
    const input = result[source] ?? result.input;
    const { swap, zero } = run.parameters;
    if (!input || swap || zero !== "none") return "";
    const terms = input[row].map((value, index) => `${n(value)}\u00b7${n(result[map][column][index])}`);
    const added = result[bias] ? ` + ${n(result[bias][column])}` : "";
    return `${sum(terms, "+")}${added} = ${n(result[name][row][column])}`;
}

// Each step: its name, formula and text, the matrices on show, which of them have arithmetic to show (by default the last,
// the step's own), the cells of the others that a cell is computed from, and the arithmetic of a cell.
const STEPS = [
    {
        name: "Q, K, V",
        formula: '<mi>Q</mi><mo>,</mo><mspace width="0.4em"/><mi>K</mi><mo>,</mo><mspace width="0.4em"/><mi>V</mi>',
        text: "Each position of the input h gets three vectors by three learnt linear maps: a query says what it is looking for, a key what it offers, a value what it hands over. Several heads share the columns of Q, K and V among them. The presets worked and given begin with Q, K and V themselves.",
        show: ["input", "context", "w_q", "w_k", "w_v", "q", "k", "v"],
        own: ["q", "k", "v"],
        sources: (row, column, name, result) => {
            const [source, map] = MAKERS[name];
            return { [result[source] ? source : "input"]: { row }, [map]: { row: column } };
        },
        cell: mapCell,
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
        cell({ scores, scaled, q }, row, column, run) {
            const { scale, blend } = run.parameters;
            if (scale === false && blend === 1) return "Scaling is switched off: the scores pass unchanged.";
            const root = scale === false ? "" : ` / \u221a${q[0].length}`;
            return `${n(scores[row][column])}${root}${blend === 1 ? "" : ` \u00b7 ${blend}`} = ${n(scaled[row][column])}`;
        },
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
                : isOfMask(run, row, column)
                  ? `Key ${column} should be hidden from query ${row}. Multiplied by 0, its score is 0, and exp(0) = 1: not hidden.`
                  : `Query ${row} may see key ${column}: the score stays ${n(masked[row][column])}.`,
    },
    {
        name: "Softmax",
        formula:
            "<msub><mi>W</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>=</mo><mfrac><msup><mi>e</mi><msub><mi>S</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></msup><mrow><munder><mo>\u2211</mo><mi>m</mi></munder><msup><mi>e</mi><msub><mi>S</mi><mrow><mi>i</mi><mi>m</mi></mrow></msub></msup></mrow></mfrac>",
        text: "Each row of scores becomes shares that add up to one: how much of its attention a query spends on each key.",
        show: ["masked", "weights"],
        sources: (row, column, _name, _result, run) => ({ masked: isOverQueries(run) ? { column } : { row } }),
        cell({ masked, weights }, row, column, run) {
            if (isHidden(run, row, column)) return "A hidden key gets nothing.";
            const seen = isOverQueries(run)
                ? masked.map((scores) => scores[column]).filter((_, query) => !isHidden(run, query, column))
                : masked[row].filter((_, key) => !isHidden(run, row, key));
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
// With several heads, one more: their outputs side by side, through a last map.
const OUTPUT_MAP = {
    name: "Output map",
    formula:
        "<mi>O</mi><mo>=</mo><mo>[</mo><msub><mi>O</mi><mn>1</mn></msub><mo>\u2026</mo><msub><mi>O</mi><mi>h</mi></msub><mo>]</mo><msubsup><mi>W</mi><mi>o</mi><mi>T</mi></msubsup><mo>+</mo><mi>b</mi>",
    text: "The outputs of the heads stand side by side again, and a fourth map mixes them: what one head found can reach every channel.",
    show: ["concatenated", "w_o", "output"],
    sources: (row, column) => ({ concatenated: { row }, w_o: { row: column } }),
    cell: ({ concatenated, w_o: map, b_o: bias, output }, row, column) =>
        `${sum(
            concatenated[row].map((value, index) => `${n(value)}\u00b7${n(map[column][index])}`),
            "+",
        )} + ${n(bias[column])} = ${n(output[row][column])}`,
};
const isOfWhole = (step) => step === 0 || step === STEPS.length;

export function mount(root, page) {
    const stage = createStage(page, () => panel.remember());
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
    const maps = h("input", { type: "checkbox", onchange: onChange });
    const mapsLabel = h("label", null, maps, "maps of my own");
    const blend = createBlend(page, properties.blend, (value) => {
        touched.blend = value;
        onChange();
    });
    if (blend.value() !== 1) touched.blend = blend.value();
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
        mapsLabel,
        blend.element,
    );
    return {
        element,
        maskElement,
        values: () => ({ ...touched, ...(own.checked ? { mask_matrix: editor.read() } : {}) }),
        givesMaps: () => maps.checked,
        giveMaps(on) {
            maps.checked = on;
        },
        offerMaps(on) {
            mapsLabel.hidden = !on;
        },
        reset() {
            delete touched.mask;
            delete touched.scale;
            own.checked = false;
            showEditor(false);
        },
        // Takes over the switches of a run that a link names. Values that equal the preset's stay the preset's.
        adopt({ preset, mask: itsMask, scale: itsScale, mask_matrix: matrix, blend: itsBlend, context_tokens: context }) {
            const isHead = preset === "causal-head";
            if (itsMask !== (isHead && !context ? "causal" : "none")) touched.mask = itsMask;
            if (itsBlend !== 1) touched.blend = itsBlend;
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
            blend.show(parameters.blend);
            sizes = newSizes;
        },
        setError: editor.setError,
    };
}

// The slider from the running average to attention: what the scores are multiplied by.
function createBlend(page, property, onBlend) {
    const DELAY_MS = 120;
    const given = Number(page.parameters.get("blend") ?? 1);
    let timer = null;
    const range = h("input", {
        type: "range",
        id: "blend",
        min: property.minimum,
        max: property.maximum,
        step: 0.05,
        value: given >= 0 && given <= 1 ? given : 1,
        oninput() {
            text.textContent = range.value;
            clearTimeout(timer);
            timer = setTimeout(() => onBlend(Number(range.value)), DELAY_MS);
        },
    });
    const text = h("output", { for: "blend" }, range.value);
    page.signal.addEventListener("abort", () => clearTimeout(timer));
    return {
        element: h(
            "div",
            { class: "slider-row blend" },
            h("label", { for: "blend" }, "From the plain average (0) to attention (1)"),
            range,
            text,
        ),
        value: () => Number(range.value),
        show(value) {
            range.value = value;
            text.textContent = range.value;
        },
    };
}

// The steps and their matrices.
function createStage(page, onStep) {
    let shown = null;
    let step = Math.min(STEPS.length, Math.max(0, Number(page.parameters.get("step")) || 0));
    const all = [...STEPS, OUTPUT_MAP];
    const tabs = all.map((one, index) =>
        h("button", { type: "button", onclick: () => go(index) }, `${index + 1}. ${one.name}`),
    );
    const head = h("select", { id: "attention-head", onchange: () => draw() });
    const headRow = h("p", { class: "slider-row", hidden: true }, h("label", { for: "attention-head" }, "Head"), head);
    // Seven steps with several heads, else six.
    const last = () => (shown?.result.heads ? all.length : STEPS.length) - 1;
    // The matrices of a step: those of the chosen head, or of all heads together.
    const matricesAt = (index) =>
        shown.result.heads && !isOfWhole(index)
            ? { ...shown.result, ...shown.result.heads[Number(head.value)] }
            : shown.result;
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
        headRow,
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
        const { sources, cell, own } = all[step];
        const show = namesOf(all[step]);
        const result = matricesAt(step);
        if (own ? !own.includes(name) : name !== show.at(-1)) return;
        arithmetic.textContent = cell(result, row, column, shown.run, name);
        const marks = { ...sources(row, column, name, result, shown.run), [name]: { row, column } };
        show.forEach((one) => heatmaps[one].mark(marks[one] ?? null));
    }

    function go(target) {
        step = Math.min(last(), Math.max(0, target));
        draw();
        onStep();
    }

    function draw() {
        if (!shown) return;
        step = Math.min(last(), step);
        const result = matricesAt(step);
        const current = all[step];
        const heads = shown.result.heads?.length ?? 1;
        tabs.at(-1).parentElement.hidden = heads === 1;
        headRow.hidden = heads === 1 || isOfWhole(step);
        if (head.options.length !== heads)
            replaceChildren(
                head,
                Array.from({ length: heads }, (_, index) => h("option", { value: index }, String(index))),
            );
        tabs.forEach((tab, index) => {
            if (index === step) tab.setAttribute("aria-current", "step");
            else tab.removeAttribute("aria-current");
        });
        back.disabled = step === 0;
        forward.disabled = step === last();
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
        check({ result, run }) {
            if (result.row_sums.includes(null))
                return { shown: false, measured: "not every sum is finite", why: "Some scores are too large for a float32." };
            const worst = result.row_sums.reduce((most, value) => Math.max(most, Math.abs(value - 1)), 0);
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
                why: isOverQueries(run)
                    ? "Over the queries, a key's weights are compared with each other, not a query's."
                    : "The softmax keeps the order; scale and mask decide how sharply it is drawn.",
            };
        },
    },
];
