// The stage of attention, step by step: the matrices of one step at a time, and the arithmetic of the cell under the pointer
// or the cursor.

import { h, replaceChildren } from "../shared/dom.js";
import { fixed } from "../shared/format.js";
import { displayedFormula } from "../shared/formula.js";
import { createHeatmap } from "../shared/heatmap.js";
import { createOneLine } from "./attention-steps-formula.js";
import { AXES, NAMES, OUTPUT_MAP, STEPS, headsOf, isHidden, isOfWhole, isOverQueries } from "./attention-steps-table.js";

// onStep() is called when another step is chosen; onHead(matrices) whenever there is another head to show, with its matrices.
// Returns { element, step(), show(result, run) }.
export function createStage(page, { onStep, onHead }) {
    let shown = null;
    let step = Math.min(STEPS.length, Math.max(0, Number(page.parameters.get("step")) || 0));
    const all = [...STEPS, OUTPUT_MAP];
    const tabs = all.map((one, index) =>
        h("button", { type: "button", onclick: () => go(index) }, `${index + 1}. ${one.name}`),
    );
    const head = h("select", { id: "attention-head", onchange: () => showHead() });
    const headRow = h("p", { class: "slider-row", hidden: true }, h("label", { for: "attention-head" }, "Head"), head);
    // Seven steps with several heads, else six.
    const last = () => (shown?.result.heads ? all.length : STEPS.length) - 1;
    // The matrices of the chosen head; and those of a step, which may be of all heads together.
    const matricesOfHead = () => ({ ...shown.result, ...headsOf(shown.result)[Number(head.value)] });
    const matricesAt = (index) => (isOfWhole(index) ? shown.result : matricesOfHead());
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
        const hasHeads = head.options.length > 1;
        tabs.at(-1).parentElement.hidden = !hasHeads;
        headRow.hidden = !hasHeads || isOfWhole(step);
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
        sums.textContent = current.name === "Softmax" ? sumsText(result) : "";
    }

    const listOf = (values) => values.map((value) => fixed(value, 4)).join(", ");
    function sumsText({ row_sums: rows, column_sums: columns }) {
        const blind = rows.includes(0) ? ". A row of zeros: its query may not see any key." : "";
        return `Row sums: ${listOf(rows)}${blind}${isOverQueries(shown.run) ? ` Column sums: ${listOf(columns)}` : ""}`;
    }

    function showHead() {
        draw();
        onHead(matricesOfHead());
    }

    // Another result may have another number of heads.
    function fillHeads() {
        const count = headsOf(shown.result).length;
        if (head.options.length === count) return;
        replaceChildren(
            head,
            Array.from({ length: count }, (_, index) => h("option", { value: index }, String(index))),
        );
    }

    return {
        element,
        step: () => step,
        show(result, run) {
            shown = { result, run };
            element.hidden = false;
            fillHeads();
            showHead();
        },
    };
}
