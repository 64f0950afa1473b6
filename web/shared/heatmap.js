// A matrix as a heatmap, drawn on a canvas in viridis, sharp on any screen, with labelled axes and a colour scale. A cell
// takes at least one pixel of the screen, so that none vanishes; a matrix that is wider then scrolls. Cells without a
// number are no colour of the scale: masked ones are hatched, those that are not finite are crossed out. The reader reads the value of a cell by pointing at it, touching it, or moving there with the arrow keys (Home and End: ends
// of the row; Page Up and Page Down: ends of the column).

import { h, oncePerFrame } from "./dom.js";
import { fixed, scientific } from "./format.js";
import { cssColor, inkOn, viridis } from "./viridis.js";
import { onThemeChange, themeColor } from "./theme.js";

const FONT = "12px system-ui, sans-serif";
const SCALE_WIDTH = 12;
const NUMBER_CELL_WIDTH = 33;
// From this width on a cell has room for a third decimal place, in larger type.
const ROOMY_CELL_WIDTH = 52;
const NUMBER_CELL_HEIGHT = 18;
// Numbers from here on are written with an exponent.
const LARGE = 1e5;
const MASKED_TEXT = "\u2212\u221e (masked)";
const NOT_FINITE_TEXT = "not finite (too large for a float32, or computed from such a number)";

const withoutNumber = (value) => value === null || !Number.isFinite(value);

// The smallest and largest finite value. The range of a constant matrix is widened, so that it has a colour.
function rangeOf(matrix) {
    let low = Infinity;
    let high = -Infinity;
    for (const row of matrix) {
        for (const value of row) {
            if (withoutNumber(value)) continue;
            if (value < low) low = value;
            if (value > high) high = value;
        }
    }
    if (low > high) return [0, 1];
    const margin = Math.max(0.5, Math.abs(low) * 1e-6);
    return low === high ? [low - margin, high + margin] : [low, high];
}

const numberText = (value, digits) => (Math.abs(value) >= LARGE ? scientific(value, 1) : fixed(value, digits));

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// options: title, rowTitle, columnTitle, range ([low, high]; default: the matrix's own), digits, maxCell (largest cell in
// px), height (largest in px, unless the rows need more), scale (show the colour scale).
// Returns { element, setTitle(text), setMatrix(matrix, { rowLabels, columnLabels, isMasked }), mark(cells) }. null in a
// matrix is a masked cell where isMasked(row, column) says so, else a number that is not finite.
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
    const key = h("p", { class: "hint heatmap-key", hidden: true });
    const element = h("figure", { class: "heatmap" }, caption, area, readout, key);

    let matrix = [];
    let labels = { rowLabels: [], columnLabels: [] };
    let range = [0, 1];
    let cursor = null;
    let mark = null;
    let layout = null;
    // The cells alone, drawn again only if they change, and not whenever the cursor moves.
    const cellLayer = h("canvas");
    let drawnLayout = null;

    const rowLabel = (row) => labels.rowLabels?.[row] ?? String(row);
    const columnLabel = (column) => labels.columnLabels?.[column] ?? String(column);
    const isMasked = (row, column) => matrix[row][column] === null && (labels.isMasked?.(row, column) ?? false);
    const valueText = (row, column) => {
        if (isMasked(row, column)) return MASKED_TEXT;
        return withoutNumber(matrix[row][column]) ? NOT_FINITE_TEXT : numberText(matrix[row][column], digits);
    };

    function tellCursor() {
        if (!cursor) return;
        const [row, column] = cursor;
        readout.textContent = `${rowTitle} ${rowLabel(row)}, ${columnTitle} ${columnLabel(column)}: ${valueText(row, column)}`;
    }

    // Says how many cells have no number, and what they look like.
    function tellKey() {
        let masked = 0;
        let notFinite = 0;
        matrix.forEach((row, index) =>
            row.forEach((value, column) => {
                if (!withoutNumber(value)) return;
                if (isMasked(index, column)) masked += 1;
                else notFinite += 1;
            }),
        );
        const cells = (count) => `${count} ${count === 1 ? "cell" : "cells"}`;
        key.hidden = masked + notFinite === 0;
        key.textContent = [
            masked > 0 && `Hatched: ${cells(masked)} masked.`,
            notFinite > 0 && `Crossed out: ${cells(notFinite)} not finite.`,
        ]
            .filter(Boolean)
            .join(" ");
    }

    function measure() {
        const ratio = globalThis.devicePixelRatio || 1;
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
        const cellWidth = Math.max(1 / ratio, Math.min(maxCell, available / columns));
        // Words that are wider than their column are drawn upright.
        const upright =
            columnLabelWidth + 6 > cellWidth && labels.columnLabels?.some((label) => Number.isNaN(Number(label)));
        const bottom = 22 + (upright ? columnLabelWidth + 4 : 16);
        const cellHeight = Math.max(
            1 / ratio,
            Math.min(options.maxCellHeight ?? Math.min(cellWidth, maxCell), (height - bottom - 6) / rows),
        );
        return {
            ratio,
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

    // A cell without a number: hatched or crossed out, where it is large enough to show that.
    function drawWithoutNumber(context, [x, y, width, height], masked) {
        context.fillStyle = themeColor(masked ? "masked" : "no-soft");
        context.fillRect(x, y, width, height);
        context.save();
        context.beginPath();
        context.rect(x, y, width, height);
        context.clip();
        context.strokeStyle = themeColor(masked ? "ink-soft" : "no");
        context.globalAlpha = masked ? 0.35 : 1;
        context.lineWidth = 1;
        context.beginPath();
        if (masked) {
            for (let at = -height; at < width; at += 6) {
                context.moveTo(x + at, y + height);
                context.lineTo(x + at + height, y);
            }
        } else {
            context.moveTo(x, y);
            context.lineTo(x + width, y + height);
            context.moveTo(x, y + height);
            context.lineTo(x + width, y);
        }
        context.stroke();
        context.restore();
    }

    function drawCell(context, row, column, writesNumbers) {
        const { ratio, left, top, cellWidth, cellHeight } = layout;
        // Edges lie on whole pixels of the screen, so that no seam shows between cells.
        const snap = (length) => Math.round(length * ratio) / ratio;
        const x = snap(left + column * cellWidth);
        const y = snap(top + row * cellHeight);
        const box = [x, y, snap(left + (column + 1) * cellWidth) - x, snap(top + (row + 1) * cellHeight) - y];
        const value = matrix[row][column];
        if (withoutNumber(value)) {
            const masked = isMasked(row, column);
            drawWithoutNumber(context, box, masked);
            if (writesNumbers && masked) writeNumber(context, box, "\u2212\u221e", themeColor("ink-soft"));
            return;
        }
        const color = viridis((value - range[0]) / (range[1] - range[0]));
        context.fillStyle = cssColor(color);
        context.fillRect(...box);
        const places = Math.min(digits, cellWidth >= ROOMY_CELL_WIDTH ? 3 : 2);
        if (writesNumbers) writeNumber(context, box, numberText(value, places), inkOn(color));
    }

    function writeNumber(context, [x, y], text, ink) {
        const { cellWidth, cellHeight } = layout;
        context.font = `${cellWidth >= ROOMY_CELL_WIDTH ? 13 : 10.5}px system-ui, sans-serif`;
        context.fillStyle = ink;
        context.fillText(text, x + cellWidth / 2, y + cellHeight / 2 + 0.5, cellWidth - 2);
    }

    function drawCells(context) {
        const { rows, columns, cellWidth, cellHeight } = layout;
        const writesNumbers = cellWidth >= NUMBER_CELL_WIDTH && cellHeight >= NUMBER_CELL_HEIGHT;
        context.textAlign = "center";
        context.textBaseline = "middle";
        for (let row = 0; row < rows; row += 1)
            for (let column = 0; column < columns; column += 1) drawCell(context, row, column, writesNumbers);
    }

    // Sets the size of a canvas in pixels of the screen; its context then counts in CSS pixels.
    function prepare(target) {
        const { ratio, width, height: high } = layout;
        target.width = Math.round(width * ratio);
        target.height = Math.round(high * ratio);
        const context = target.getContext("2d");
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        return context;
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
            context.fillText(numberText(range[0] + share * spread, places), x + SCALE_WIDTH + 5, top + (1 - share) * length);
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
        const newLayout = JSON.stringify(layout);
        if (newLayout !== drawnLayout) drawCells(prepare(cellLayer));
        drawnLayout = newLayout;
        const context = prepare(canvas);
        canvas.style.width = `${layout.width}px`;
        canvas.style.height = `${layout.height}px`;
        context.drawImage(cellLayer, 0, 0, layout.width, layout.height);
        drawAxes(context);
        if (scale) drawScale(context);
        if (mark) drawFrame(context, mark);
        if (cursor) drawFrame(context, { row: cursor[0], column: cursor[1] });
    });
    function drawAgain() {
        drawnLayout = null;
        draw();
    }

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
    onThemeChange(drawAgain, signal);

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
            tellKey();
            drawAgain();
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
