// Tables of numbers with a caption and a row header in each row. Numbers are right-aligned. A wide table scrolls by itself
// or, on a narrow screen, becomes a list of cards.

import { h } from "./dom.js";

const kindOf = ({ numeric, wide, place }) =>
    [numeric && "numeric", wide && "wide", place && `place-${place}`].filter(Boolean).join(" ") || null;

// columns: [{ label, cell(row), numeric, wide: room for sentences, place, labelled }]; the first is the row header.
// cards: on a narrow screen each row becomes a card, and `place` says where in it a cell lies: beside the header ("aside"),
// across the whole width ("text"), on the rest of the last line ("note"), or at the end of that line ("action"). On a card,
// numeric and labelled cells show their label.
// Returns { element, update(rows) }.
export function createTable({ caption, columns, rows = [], note, cards = false }) {
    // Some browsers no longer expose a table as one if CSS changes its display. The roles restore that.
    const role = (name) => (cards ? name : null);
    const body = h("tbody", { role: role("rowgroup") });
    const element = h(
        "div",
        { class: cards ? "table-wrap cards-when-narrow" : "table-wrap", tabindex: "0", role: "group", "aria-label": caption },
        h(
            "table",
            { role: role("table") },
            h("caption", null, caption),
            h(
                "thead",
                { role: role("rowgroup") },
                h(
                    "tr",
                    { role: role("row") },
                    columns.map((column) =>
                        h("th", { scope: "col", role: role("columnheader"), class: kindOf(column) }, column.label),
                    ),
                ),
            ),
            body,
        ),
        note && h("p", { class: "hint" }, note),
    );

    const createRow = (row) =>
        h(
            "tr",
            { role: role("row") },
            columns.map((column, index) =>
                h(
                    index === 0 ? "th" : "td",
                    {
                        scope: index === 0 ? "row" : null,
                        role: role(index === 0 ? "rowheader" : "cell"),
                        class: kindOf(column),
                        "data-label": cards && (column.numeric || column.labelled) ? column.label : null,
                    },
                    column.cell(row),
                ),
            ),
        );

    // The row of an object that is still there is not even moved, so that open details stay open and a click that has begun
    // on it succeeds.
    let drawn = new Map();
    const update = (newRows) => {
        const kept = new Map(newRows.map((row) => [row, drawn.get(row) ?? createRow(row)]));
        drawn.forEach((element, row) => kept.has(row) || element.remove());
        let place = body.firstElementChild;
        kept.forEach((element) => {
            if (element === place) place = place.nextElementSibling;
            else body.insertBefore(element, place);
        });
        drawn = kept;
    };
    update(rows);
    return { element, update };
}

// A table of constant texts; the first row holds the headings.
export function textTable(caption, [headings, ...rows]) {
    const columns = headings.map((label, index) => ({
        label,
        place: index > 0 ? "text" : null,
        labelled: index > 0,
        cell: (row) => row[index],
    }));
    return createTable({ caption, columns, rows, cards: true }).element;
}
