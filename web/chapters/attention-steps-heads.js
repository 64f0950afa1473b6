// Several heads: the same under the names of nn.MultiheadAttention, PyTorch's ready-made form.

import { h } from "../shared/dom.js";
import { createTable } from "../shared/table.js";

// Returns { element, show(parameters) }; parameters are those of the result, undefined for one head.
export function createHeadsNote() {
    const table = createTable({
        caption: "The same parameters, under two names",
        columns: [
            { label: "written by hand", cell: (row) => row.name },
            { label: "nn.MultiheadAttention", cell: (row) => row.torch_name ?? "has no such sizes" },
            { label: "shape", numeric: true, cell: (row) => row.shape.join(" \u00d7 ") },
        ],
    });
    const element = h(
        "section",
        { class: "prose", hidden: true },
        h("h2", null, "The ready-made form"),
        h(
            "p",
            null,
            "Each head takes its share of the columns of Q, K and V and attends by itself; their outputs stand side by side again and go through a last map. PyTorch's nn.MultiheadAttention computes the same numbers from the same parameters: it keeps the three maps below one another in one matrix.",
        ),
        table.element,
    );
    return {
        element,
        show(parameters) {
            element.hidden = !parameters;
            table.update(parameters ?? []);
        },
    };
}
