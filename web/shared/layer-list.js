// What a model is made of: its layers as its PyTorch class reads, with their shapes and parameters, from the server's list
// for the parameters of a run. Closed at first, and read when the reader opens it.

import { get, query } from "./api.js";
import { createCurlLine } from "./curl.js";
import { h, latest, replaceChildren } from "./dom.js";
import { integer } from "./format.js";
import { createTable } from "./table.js";

const TIMES = "\u2009\u00d7\u2009";
const shapeText = (shape) => shape.join(TIMES);
// "weight 32 x 1": within its layer a parameter needs no more than the last word of its name.
const parameterText = ({ name, shape }) => `${name.split(".").at(-1)} ${shapeText(shape)}`;

const COLUMNS = [
    { label: "layer", cell: (row) => row.name || `(${row.type})` },
    { label: "as the class writes it", wide: true, place: "text", cell: (row) => h("code", null, row.code) },
    { label: "its output", numeric: true, cell: (row) => shapeText(row.shape) },
    { label: "parameters", place: "text", cell: (row) => row.parameters.map(parameterText).join(", ") },
    { label: "count", numeric: true, cell: (row) => (row.parameter_count ? integer(row.parameter_count) : "") },
];

// parametersOf() returns the parameters of a run. Returns { element, update() }: call update when they have changed.
export function createLayerList(page, label, parametersOf) {
    const slot = h("div");
    const curl = createCurlLine();
    const element = h("details", { class: "layer-list", ontoggle: () => update() }, h("summary", null, label), slot);
    const begin = latest();
    let shown = "";

    async function update() {
        const address = `/api/experiments/train/layers${query(parametersOf())}`;
        if (!element.open || address === shown) return;
        const isLatest = begin();
        shown = address;
        curl.set("GET", address);
        try {
            const { layers, parameter_count: count } = await get(address, page.signal);
            if (!isLatest()) return;
            replaceChildren(
                slot,
                createTable({
                    caption: `${label}: ${integer(count)} parameters`,
                    cards: true,
                    columns: COLUMNS,
                    rows: layers,
                    note: "Outputs are those of one example; a line in brackets is a step of forward().",
                }).element,
                curl.element,
            );
        } catch (error) {
            if (!isLatest() || error.name === "AbortError") return;
            shown = "";
            replaceChildren(slot, h("p", { class: "hint" }, `No layers for these parameters: ${error.message}`));
        }
    }
    return { element, update };
}
