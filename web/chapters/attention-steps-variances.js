// Why the scores are divided by the root of d_k, in four numbers: the variances of drawn queries, keys and their scores.

import { h } from "../shared/dom.js";
import { fixed } from "../shared/format.js";
import { createTable } from "../shared/table.js";

const ROWS = [
    ["queries", "q", "drawn with variance 1"],
    ["keys", "k", "drawn with variance 1"],
    ["scores", "scores", "a sum of d_k products: about d_k times as large"],
    ["scaled scores", "scaled", "divided by the root of d_k: about 1 again"],
].map(([name, member, why]) => ({ name, member, why }));

// Returns { element, show(variance) }; variance is undefined where the preset draws none, and the table is hidden then.
export function createVariances() {
    let shown = {};
    const table = createTable({
        caption: "Variances of drawn queries and keys, and of their scores",
        columns: [
            { label: "of", cell: ({ name }) => name },
            { label: "variance", numeric: true, cell: ({ member }) => fixed(shown[member], shown[member] < 10 ? 4 : 3) },
            { label: "why", cell: ({ why }) => why },
        ],
    });
    const element = h("div", { hidden: true }, table.element);
    return {
        element,
        show(variance) {
            element.hidden = !variance;
            shown = variance ?? {};
            // Rows are objects of their own, so that they are drawn anew.
            table.update(variance ? ROWS.map((row) => ({ ...row })) : []);
        },
    };
}
