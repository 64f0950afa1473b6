// Charts: Chart.js in the page's colours, with a legend of real buttons and, below every chart, a table of the same
// numbers (built when it is opened).

import { atMostEvery, h, oncePerFrame, replaceChildren } from "./dom.js";
import { compact, superscript } from "./format.js";
import { createTable } from "./table.js";
import { onThemeChange, seriesColor, themeColor, DASHES } from "./theme.js";

const MARKER_LIMIT = 16;
// The table of a live chart is redrawn only from time to time, and a long table leaves out rows.
const TABLE_MILLISECONDS = 1000;
const TABLE_ROWS = 300;

function dataset(series, type) {
    const color = seriesColor(series.color);
    return {
        label: series.label,
        data: series.points,
        borderColor: color,
        backgroundColor: color,
        borderWidth: type === "bar" ? 0 : 2,
        borderDash: DASHES[(series.dash ?? 0) % DASHES.length],
        pointRadius: type === "line" && series.points.length <= MARKER_LIMIT ? 3.5 : 0,
        pointHitRadius: 8,
        pointHoverRadius: 5,
        maxBarThickness: 46,
    };
}

// Single points that stand out, each with a text of its own: { x, y, color, text }.
function markedPoints(marks) {
    const colors = marks.map((mark) => seriesColor(mark.color));
    return {
        label: "marks",
        data: marks,
        showLine: false,
        borderColor: themeColor("ink"),
        backgroundColor: colors,
        pointStyle: "triangle",
        pointRadius: 8,
        pointHoverRadius: 9,
        clip: false,
        order: -1,
    };
}

function axis(options, discrete) {
    const grid = themeColor("line");
    const ink = themeColor("ink-soft");
    return {
        type: options.type ?? "linear",
        min: options.min,
        max: options.max,
        suggestedMin: options.suggestedMin,
        suggestedMax: options.suggestedMax,
        title: { display: true, text: options.label, color: ink, font: { size: 13 } },
        grid: { color: discrete ? "transparent" : grid, borderColor: grid, tickColor: grid },
        ticks: {
            color: ink,
            font: { size: 12 },
            maxRotation: 0,
            autoSkipPadding: 14,
            callback: options.type === "category" ? undefined : logTick(options),
        },
    };
}

// A log axis labels only powers of ten.
function logTick(options) {
    if (options.type !== "logarithmic") return (value) => compact(value);
    return (value) => {
        const exponent = Math.round(1e6 * Math.log10(value)) / 1e6;
        if (!Number.isInteger(exponent)) return "";
        return Math.abs(exponent) < 4 ? compact(value) : `10${superscript(exponent)}`;
    };
}

function describe(title, x, y) {
    return `${title}. Horizontal: ${x.label}. Vertical: ${y.label}. The table below holds the numbers.`;
}

// { title, type: 'line' | 'bar', x, y, tall }; axes are { label, type, min, max, suggestedMin, suggestedMax, format }.
// Returns { element, setSeries([{ label, color, dash, points: [{x, y}] }], marks), setLast(x) }. Marks are in no table: the
// caller says them in words (see markedPoints). setLast fixes the end of the
// horizontal axis, so that live curves grow into it. x values are numbers, or texts if x.type is 'category'.
export function createChart({ title, type = "line", x, y, tall = false, legend = true, signal }) {
    const canvas = h("canvas", { role: "img", "aria-label": describe(title, x, y) });
    const keys = h("ul", { class: "legend", "aria-label": `Series of: ${title}` });
    const tableSlot = h("div");
    const details = h(
        "details",
        { class: "numbers", ontoggle: () => fillTable() },
        h("summary", null, "Table of this chart"),
        tableSlot,
    );
    const element = h(
        "figure",
        { class: "chart" },
        h("figcaption", null, title),
        legend && keys,
        h("div", { class: tall ? "chart-area tall" : "chart-area" }, canvas),
        details,
    );

    let allSeries = [];
    let allMarks = [];
    const hiddenLabels = new Set();
    let chart = null;

    const build = () => {
        chart?.destroy();
        globalThis.Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
        chart = new globalThis.Chart(canvas, {
            type,
            data: { datasets: [] },
            options: {
                animation: false,
                responsive: true,
                maintainAspectRatio: false,
                parsing: x.type === "category" ? undefined : false,
                normalized: true,
                interaction: { mode: "nearest", axis: "x", intersect: false },
                scales: { x: axis(x, type === "bar"), y: axis(y) },
                plugins: {
                    legend: { display: false },
                    tooltip: {
                        callbacks: {
                            title: (items) => `${x.label}: ${items[0]?.label ?? ""}`,
                            label: (item) => item.raw.text ?? `${item.dataset.label}: ${(y.format ?? compact)(item.raw.y)}`,
                        },
                    },
                },
            },
        });
    };

    const draw = oncePerFrame(() => {
        if (!element.isConnected) return;
        if (!chart) build();
        chart.options.scales.x.max = x.max;
        chart.data.datasets = allSeries
            .filter((series) => !hiddenLabels.has(series.label))
            .map((series) => dataset(series, type));
        if (allMarks.length > 0) chart.data.datasets.push(markedPoints(allMarks));
        chart.update("none");
        if (details.open) fillTableSoon();
    });

    const fillTableSoon = atMostEvery(TABLE_MILLISECONDS, fillTable);

    function fillTable() {
        if (!details.open) return;
        const positions = [...new Set(allSeries.flatMap((series) => series.points.map((point) => point.x)))];
        if (x.type !== "category") positions.sort((a, b) => a - b);
        const lookup = allSeries.map((series) => new Map(series.points.map((point) => [point.x, point.y])));
        const columns = [{ label: x.label, numeric: true, cell: (row) => row }].concat(
            allSeries.map((series, index) => ({
                label: series.label,
                numeric: true,
                cell: (row) => (y.format ?? compact)(lookup[index].get(row)),
            })),
        );
        const step = Math.ceil(positions.length / TABLE_ROWS);
        const rows = positions.filter((_, index) => index % step === 0 || index === positions.length - 1);
        const note = step > 1 ? `One row in ${step}, of ${positions.length} in all; the curl line gives all of them.` : null;
        replaceChildren(tableSlot, createTable({ caption: title, columns, rows, note }).element);
    }

    function drawLegend() {
        replaceChildren(
            keys,
            allSeries.map((series) => {
                const sample = legendSample(series, type);
                const button = h(
                    "button",
                    { type: "button", class: "legend-key", "aria-pressed": String(!hiddenLabels.has(series.label)) },
                    sample,
                    series.label,
                );
                button.addEventListener("click", () => {
                    if (!hiddenLabels.delete(series.label)) hiddenLabels.add(series.label);
                    button.setAttribute("aria-pressed", String(!hiddenLabels.has(series.label)));
                    draw();
                });
                return h("li", null, button);
            }),
        );
    }

    onThemeChange(() => {
        chart?.destroy();
        chart = null;
        drawLegend();
        draw();
    }, signal);
    signal?.addEventListener("abort", () => chart?.destroy(), { once: true });

    return {
        element,
        setLast(position) {
            x.max = position;
        },
        setSeries(series, marks = []) {
            const changed =
                series.length !== allSeries.length || series.some((one, index) => one.label !== allSeries[index].label);
            allSeries = series;
            allMarks = marks;
            if (legend && changed) drawLegend();
            draw();
        },
    };
}

function legendSample(series, type) {
    const canvas = h("canvas", { class: "legend-sample", "aria-hidden": "true", width: "56", height: "20" });
    const context = canvas.getContext("2d");
    context.strokeStyle = seriesColor(series.color);
    context.fillStyle = seriesColor(series.color);
    if (type === "bar") {
        context.fillRect(16, 2, 24, 16);
    } else {
        context.lineWidth = 4;
        context.setLineDash(DASHES[(series.dash ?? 0) % DASHES.length].map((length) => 2 * length));
        context.beginPath();
        context.moveTo(0, 10);
        context.lineTo(56, 10);
        context.stroke();
    }
    return canvas;
}
