// Tables of numbers: a caption, one row header a row, figures right-aligned, wide ones scroll by themselves.

import { h, replaceChildren } from "./dom.js";

const kindOf = ({ numeric, wide }) => (numeric ? "numeric" : wide ? "wide" : null);

// columns: [{ label, cell(row), numeric, wide: room for sentences }]; the first column is the row's header.
// Returns { element, update(rows) }.
export function createTable({ caption, columns, rows = [], note }) {
    const body = h("tbody");
    const element = h(
        "div",
        { class: "table-wrap", tabindex: "0", role: "group", "aria-label": caption },
        h(
            "table",
            null,
            h("caption", null, caption),
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    columns.map((column) =>
                        h("th", { scope: "col", class: kindOf(column) }, column.label),
                    ),
                ),
            ),
            body,
        ),
        note && h("p", { class: "hint" }, note),
    );

    const update = (newRows) => {
        replaceChildren(
            body,
            newRows.map((row) =>
                h(
                    "tr",
                    { class: row.rowClass ?? null },
                    columns.map((column, index) =>
                        h(
                            index === 0 ? "th" : "td",
                            { scope: index === 0 ? "row" : null, class: kindOf(column) },
                            column.cell(row),
                        ),
                    ),
                ),
            ),
        );
    };
    update(rows);
    return { element, update };
}

// A table of constant texts: the first row holds the headings.
export function textTable(caption, [headings, ...rows]) {
    const columns = headings.map((label, index) => ({ label, cell: (row) => row[index] }));
    return createTable({ caption, columns, rows }).element;
}
