// A matrix as a heatmap, drawn on a canvas in viridis, sharp on any screen, with labelled axes and a colour scale. The
// reader reads the value of a cell by pointing at it, touching it, or moving there with the arrow keys (Home and End: ends
// of the row; Page Up and Page Down: ends of the column).

import { h, oncePerFrame } from "./dom.js";
import { fixed } from "./format.js";
import { cssColor, inkOn, viridis } from "./viridis.js";
import { onThemeChange, themeColor } from "./theme.js";

const FONT = "12px system-ui, sans-serif";
const SCALE_WIDTH = 12;
const NUMBER_CELL_WIDTH = 33;
// From this width on a cell has room for a third decimal place, in larger type.
const ROOMY_CELL_WIDTH = 52;
const NUMBER_CELL_HEIGHT = 18;

// The smallest and largest finite value. The range of a constant matrix is widened, so that it has a colour.
function rangeOf(matrix) {
    const values = matrix.flat().filter((value) => value !== null);
    if (values.length === 0) return [0, 1];
    const low = Math.min(...values);
    const high = Math.max(...values);
    return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// options: title, rowTitle, columnTitle, range ([low, high]; default: the matrix's own), digits, maxCell (largest cell in
// px), height (largest in px), scale (show the colour scale), maskedText.
// Returns { element, setTitle(text), setMatrix(matrix, { rowLabels, columnLabels }), mark(cells) }. null in a matrix is a
// masked cell.
export function createHeatmap(options) {
    const {
        title,
        rowTitle = "row",
        columnTitle = "column",
        digits = 4,
        maxCell = 46,
        height = 400,
        scale = true,
        signal,
    } = options;
    const canvas = h("canvas", {
        tabindex: "0",
        role: "application",
        "aria-roledescription": "heatmap",
        "aria-label": `${title}. Arrow keys move from cell to cell.`,
    });
    const readout = h("output", { class: "readout", "aria-live": "polite" }, "\u00a0");
    const area = h("div", { class: "heatmap-area" }, canvas);
    const caption = h("figcaption", null, title);
    const element = h("figure", { class: "heatmap" }, caption, area, readout);

    let matrix = [];
    let labels = { rowLabels: [], columnLabels: [] };
    let range = [0, 1];
    let cursor = null;
    let mark = null;
    let layout = null;

    const rowLabel = (row) => labels.rowLabels?.[row] ?? String(row);
    const columnLabel = (column) => labels.columnLabels?.[column] ?? String(column);
    const valueText = (value) =>
        value === null ? (options.maskedText ?? "\u2212\u221e (masked)") : fixed(value, digits);

    function tellCursor() {
        if (!cursor) return;
        const [row, column] = cursor;
        readout.textContent = `${rowTitle} ${rowLabel(row)}, ${columnTitle} ${columnLabel(column)}: ${valueText(matrix[row][column])}`;
    }

    function measure() {
        const context = canvas.getContext("2d");
        context.font = FONT;
        const widest = (count, label) => {
            let width = 0;
            for (let index = 0; index < count; index += 1)
                width = Math.max(width, context.measureText(label(index)).width);
            return Math.ceil(width);
        };
        const rows = matrix.length;
        const columns = matrix[0].length;
        const rowLabelWidth = widest(rows, rowLabel);
        const columnLabelWidth = widest(columns, columnLabel);
        const left = 20 + rowLabelWidth + 6;
        const right = scale ? SCALE_WIDTH + 16 + Math.ceil(context.measureText("\u22120.000").width) + 6 : 8;
        const available = Math.max(120, area.clientWidth - left - right);
        const cellWidth = Math.min(maxCell, available / columns);
        // Words that are wider than their column are drawn upright.
        const upright =
            columnLabelWidth + 6 > cellWidth && labels.columnLabels?.some((label) => Number.isNaN(Number(label)));
        const bottom = 22 + (upright ? columnLabelWidth + 4 : 16);
        const cellHeight = Math.min(
            options.maxCellHeight ?? Math.min(cellWidth, maxCell),
            (height - bottom - 6) / rows,
        );
        return {
            rows,
            columns,
            left,
            top: 6,
            cellWidth,
            cellHeight,
            upright,
            columnLabelWidth,
            bottom,
            width: left + cellWidth * columns + right,
            height: 6 + cellHeight * rows + bottom,
        };
    }

    function drawCells(context) {
        const { rows, columns, left, top, cellWidth, cellHeight } = layout;
        const numbers = cellWidth >= NUMBER_CELL_WIDTH && cellHeight >= NUMBER_CELL_HEIGHT;
        const masked = themeColor("masked");
        context.textAlign = "center";
        context.textBaseline = "middle";
        for (let row = 0; row < rows; row += 1) {
            for (let column = 0; column < columns; column += 1) {
                const value = matrix[row][column];
                const color = viridis((value - range[0]) / (range[1] - range[0]));
                // Edges lie on whole pixels, so that no seam shows between cells.
                const x = Math.round(left + column * cellWidth);
                const y = Math.round(top + row * cellHeight);
                context.fillStyle = value === null ? masked : cssColor(color);
                context.fillRect(
                    x,
                    y,
                    Math.round(left + (column + 1) * cellWidth) - x,
                    Math.round(top + (row + 1) * cellHeight) - y,
                );
                if (!numbers) continue;
                context.font = `${cellWidth >= ROOMY_CELL_WIDTH ? 13 : 10.5}px system-ui, sans-serif`;
                context.fillStyle = value === null ? themeColor("ink-soft") : inkOn(color);
                context.fillText(
                    value === null
                        ? "\u2212\u221e"
                        : fixed(value, Math.min(digits, cellWidth >= ROOMY_CELL_WIDTH ? 3 : 2)),
                    x + cellWidth / 2,
                    y + cellHeight / 2 + 0.5,
                );
            }
        }
    }

    function drawAxes(context) {
        const { rows, columns, left, top, cellWidth, cellHeight, upright, columnLabelWidth } = layout;
        const bottomEdge = top + rows * cellHeight;
        context.fillStyle = themeColor("ink-soft");
        context.font = FONT;
        context.textBaseline = "middle";
        context.textAlign = "right";
        const rowStep = labelStep(rows, 15 / cellHeight);
        for (let row = 0; row < rows; row += rowStep)
            context.fillText(rowLabel(row), left - 6, top + (row + 0.5) * cellHeight);
        const columnStep = labelStep(columns, (upright ? 15 : columnLabelWidth + 6) / cellWidth);
        for (let column = 0; column < columns; column += columnStep) {
            const x = left + (column + 0.5) * cellWidth;
            context.save();
            context.translate(x, bottomEdge + (upright ? 5 : 11));
            if (upright) context.rotate(-Math.PI / 2);
            context.textAlign = upright ? "right" : "center";
            context.fillText(columnLabel(column), 0, 0);
            context.restore();
        }
        context.textAlign = "center";
        context.fillText(columnTitle, left + (columns * cellWidth) / 2, layout.height - 8);
        context.save();
        context.translate(9, top + (rows * cellHeight) / 2);
        context.rotate(-Math.PI / 2);
        context.fillText(rowTitle, 0, 0);
        context.restore();
    }

    function drawScale(context) {
        const { rows, columns, left, top, cellWidth, cellHeight } = layout;
        const x = left + columns * cellWidth + 14;
        const length = rows * cellHeight;
        for (let pixel = 0; pixel < length; pixel += 1) {
            context.fillStyle = cssColor(viridis(1 - pixel / length));
            context.fillRect(x, top + pixel, SCALE_WIDTH, 1.5);
        }
        context.fillStyle = themeColor("ink-soft");
        context.textAlign = "left";
        const spread = range[1] - range[0];
        const places = spread >= 10 ? 1 : spread >= 0.1 ? 2 : 3;
        const ends = length > 90 ? [0, 0.5, 1] : [0, 1];
        for (const share of ends) {
            context.textBaseline = share === 0 ? "bottom" : share === 1 ? "top" : "middle";
            context.fillText(fixed(range[0] + share * spread, places), x + SCALE_WIDTH + 5, top + (1 - share) * length);
        }
    }

    // Draws a frame around a cell, or around a whole row or column if only that is given.
    function drawFrame(context, { row, column }) {
        const { left, top, cellWidth, cellHeight, rows, columns } = layout;
        const box = [
            left + (column ?? 0) * cellWidth - 1,
            top + (row ?? 0) * cellHeight - 1,
            cellWidth * (column === undefined ? columns : 1) + 2,
            cellHeight * (row === undefined ? rows : 1) + 2,
        ];
        context.lineWidth = 4;
        context.strokeStyle = "#000";
        context.strokeRect(...box);
        context.lineWidth = 2;
        context.strokeStyle = "#fff";
        context.strokeRect(...box);
    }

    const draw = oncePerFrame(() => {
        if (!element.isConnected || matrix.length === 0 || area.clientWidth === 0) return;
        layout = measure();
        const ratio = globalThis.devicePixelRatio || 1;
        canvas.width = Math.round(layout.width * ratio);
        canvas.height = Math.round(layout.height * ratio);
        canvas.style.width = `${layout.width}px`;
        canvas.style.height = `${layout.height}px`;
        const context = canvas.getContext("2d");
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, layout.width, layout.height);
        drawCells(context);
        drawAxes(context);
        if (scale) drawScale(context);
        if (mark) drawFrame(context, mark);
        if (cursor) drawFrame(context, { row: cursor[0], column: cursor[1] });
    });

    function moveTo(row, column) {
        cursor = [clamp(row, 0, matrix.length - 1), clamp(column, 0, matrix[0].length - 1)];
        tellCursor();
        draw();
        options.onCell?.(...cursor);
    }

    canvas.addEventListener("pointermove", (event) => pointAt(event), { signal });
    canvas.addEventListener("pointerdown", (event) => pointAt(event), { signal });
    function pointAt(event) {
        if (!layout) return;
        const row = Math.floor((event.offsetY - layout.top) / layout.cellHeight);
        const column = Math.floor((event.offsetX - layout.left) / layout.cellWidth);
        if (row >= 0 && row < layout.rows && column >= 0 && column < layout.columns) moveTo(row, column);
    }
    canvas.addEventListener("focus", () => matrix.length > 0 && !cursor && moveTo(0, 0), { signal });
    canvas.addEventListener(
        "keydown",
        (event) => {
            if (matrix.length === 0) return;
            const [row, column] = cursor ?? [0, 0];
            const far = 1e9;
            const target = {
                ArrowLeft: [row, column - 1],
                ArrowRight: [row, column + 1],
                ArrowUp: [row - 1, column],
                ArrowDown: [row + 1, column],
                Home: [row, 0],
                End: [row, far],
                PageUp: [0, column],
                PageDown: [far, column],
            }[event.key];
            if (!target || event.altKey || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            moveTo(...target);
        },
        { signal },
    );

    const observer = new ResizeObserver(draw);
    observer.observe(area);
    signal?.addEventListener("abort", () => observer.disconnect(), { once: true });
    onThemeChange(draw, signal);

    return {
        element,
        // Lets the chapter frame a cell, a row ({ row }) or a column ({ column }); null removes the frame.
        mark(newMark) {
            mark = newMark;
            draw();
        },
        setTitle(text) {
            caption.textContent = text;
        },
        setMatrix(newMatrix, newLabels = {}) {
            matrix = newMatrix;
            labels = newLabels;
            range = options.range ?? rangeOf(matrix);
            if (cursor && (cursor[0] >= matrix.length || cursor[1] >= (matrix[0]?.length ?? 0))) cursor = null;
            if (cursor) tellCursor();
            else readout.textContent = "\u00a0";
            draw();
        },
    };
}

// The n for which drawing every nth label leaves enough room: 1, 2, 5, 10, 20, …
function labelStep(count, least) {
    for (let unit = 1; ; unit *= 10) {
        for (const step of [unit, 2 * unit, 5 * unit]) {
            if (step >= least || step >= count) return step;
        }
    }
}
