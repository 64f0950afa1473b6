// Edits a mask cell by cell. There is a button for each query and key, pressed if the query may see the key. The arrow
// keys move between the cells, and one click sets a whole pattern.

import { h, quietButton, replaceChildren } from "./dom.js";

const LARGEST_EDITED = 16;

const PATTERNS = [
    ["see all", () => 1],
    ["only the past", (query, key) => (key <= query ? 1 : 0)],
    ["only neighbours", (query, key) => (Math.abs(query - key) <= 1 ? 1 : 0)],
    ["all but itself", (query, key) => (query === key ? 0 : 1)],
];
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// Returns { element, read() -> rows of 0 and 1, write(matrix), resize(queries, keys), setError(message) }. New cells are visible.
export function createMaskEditor({ onChange }) {
    const grid = h("div", { class: "mask-grid", role: "group", "aria-label": "Mask matrix" });
    const size = h("span", { class: "hint" });
    const error = h("p", { class: "field-error", role: "alert" });
    let matrix = [[1]];
    let buttons = [];

    const element = h(
        "fieldset",
        { class: "mask-editor" },
        h("legend", null, "Mask matrix ", size),
        h("p", { class: "hint" }, "A row for each query, a column for each key. Click to hide (0) and to show (1)."),
        grid,
        h(
            "div",
            { class: "matrix-buttons" },
            PATTERNS.map(([name, cell]) =>
                quietButton(name, () => {
                    write(matrix.map((row, query) => row.map((_, key) => cell(query, key))));
                    onChange();
                }),
            ),
        ),
        error,
    );

    function cellAt(query, key) {
        const button = h("button", { type: "button", class: "mask-cell" });
        const show = () => {
            const sees = matrix[query][key] !== 0;
            button.textContent = sees ? "1" : "0";
            button.setAttribute("aria-pressed", String(sees));
            button.setAttribute("aria-label", `query ${query} sees key ${key}`);
        };
        button.addEventListener("click", () => {
            matrix[query][key] = matrix[query][key] === 0 ? 1 : 0;
            show();
            onChange();
        });
        button.addEventListener("keydown", (event) => {
            const [down, right] = MOVES[event.key] ?? [];
            if (down === undefined) return;
            event.preventDefault();
            buttons[query + down]?.[key + right]?.focus();
        });
        show();
        return button;
    }

    function write(newMatrix) {
        matrix = newMatrix.map((row) => [...row]);
        size.textContent = `${matrix.length} \u00d7 ${matrix[0].length}`;
        const isLarge = matrix.length > LARGEST_EDITED || matrix[0].length > LARGEST_EDITED;
        buttons = isLarge ? [] : matrix.map((row, query) => row.map((_, key) => cellAt(query, key)));
        replaceChildren(
            grid,
            isLarge && h("p", { class: "hint" }, `Cell by cell up to ${LARGEST_EDITED} \u00d7 ${LARGEST_EDITED}.`),
            buttons.map((row) => h("div", { class: "matrix-row" }, row)),
        );
    }

    write(matrix);
    return {
        element,
        read: () => matrix,
        write,
        resize(queries, keys) {
            if (matrix.length === queries && matrix[0].length === keys) return;
            write(
                Array.from({ length: queries }, (_, query) =>
                    Array.from({ length: keys }, (__, key) => matrix[query]?.[key] ?? 1),
                ),
            );
        },
        setError: (message) => {
            error.textContent = message;
        },
    };
}
