// Edits a matrix cell by cell. Tab and the up and down arrows move between cells, and pasting a block from a spreadsheet
// or a Python list replaces the whole matrix.

import { h, quietButton, replaceChildren } from "./dom.js";

const LARGEST_EDITED = 16;

function parseBlock(text) {
    const rows = text
        .trim()
        .split(/\n|\],|;/)
        .map((line) => line.match(/[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/gi)?.map(Number))
        .filter(Boolean);
    const isMatrix =
        rows.length > 0 && rows.every((row) => row.length === rows[0].length) && rows.length * rows[0].length > 1;
    return isMatrix ? rows : null;
}

// Returns { element, read(), write(matrix), setError(message) }. read() returns numbers; a cell that holds no number gives
// its text, which the server then reports as a fault.
export function createMatrixEditor({ name, onChange }) {
    const grid = h("div", { class: "matrix-grid" });
    const error = h("p", { class: "field-error", role: "alert" });
    const size = h("span", { class: "hint" });
    let cells = [];

    const resize = (rows, columns) => {
        const old = read();
        write(
            Array.from({ length: rows }, (_, row) =>
                Array.from({ length: columns }, (__, column) => old[row]?.[column] ?? 0),
            ),
        );
        onChange?.();
    };
    const button = (text, label, rows, columns) =>
        quietButton(
            text,
            () => {
                const newRows = cells.length + rows;
                const newColumns = cells[0].length + columns;
                if (newRows >= 1 && newColumns >= 1 && newRows <= LARGEST_EDITED && newColumns <= LARGEST_EDITED)
                    resize(newRows, newColumns);
            },
            label,
        );
    const element = h(
        "fieldset",
        { class: "matrix-editor" },
        h("legend", null, name, " ", size),
        grid,
        h(
            "div",
            { class: "matrix-buttons" },
            button("+ row", `${name}: add a row`, 1, 0),
            button("\u2212 row", `${name}: remove the last row`, -1, 0),
            button("+ column", `${name}: add a column`, 0, 1),
            button("\u2212 column", `${name}: remove the last column`, 0, -1),
        ),
        error,
    );

    function cellAt(row, column, value) {
        const input = h("input", {
            type: "text",
            inputmode: "decimal",
            autocomplete: "off",
            value: String(value),
            "aria-label": `${name}, row ${row}, column ${column}`,
        });
        input.addEventListener("change", () => onChange?.());
        input.addEventListener("keydown", (event) => {
            const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!step) return;
            event.preventDefault();
            cells[row + step]?.[column]?.focus();
        });
        input.addEventListener("paste", (event) => {
            const block = parseBlock(event.clipboardData.getData("text"));
            if (!block) return;
            event.preventDefault();
            write(block);
            onChange?.();
        });
        return input;
    }

    function read() {
        return cells.map((row) =>
            row.map((input) => {
                const text = input.value.trim().replace("\u2212", "-");
                return text !== "" && Number.isFinite(Number(text)) ? Number(text) : input.value;
            }),
        );
    }

    function write(matrix) {
        cells = matrix.map((row, rowIndex) => row.map((value, column) => cellAt(rowIndex, column, value)));
        replaceChildren(
            grid,
            cells.map((row) => h("div", { class: "matrix-row" }, row)),
        );
        size.textContent = `${matrix.length} \u00d7 ${matrix[0]?.length ?? 0}`;
    }

    return {
        element,
        read,
        write,
        setError: (message) => {
            error.textContent = message;
        },
    };
}
