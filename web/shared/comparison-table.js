// The table of a comparison, which fills in as its runs train: each seed, mean, worst, parameters, time. The cell of an
// unfinished run shows its progress.

import { isOver } from "./api.js";
import { h, oncePerFrame, replaceChildren } from "./dom.js";
import { fixed, integer, seconds } from "./format.js";
import { createTable } from "./table.js";

// With more seeds than these the columns stand closer, so that eight still fit on a laptop's screen.
const SEEDS_WITH_ROOM = 4;

const seedCountOf = (comparison) => comparison.rows[0]?.accuracies.length ?? 0;

// brief: leaves out parameters and time, so that two tables fit side by side.
// Returns { element, begin(comparison), rows(comparison), run(entries), epoch(runId, row) }, where entries are those of
// followComparison.
export function createComparisonTable(caption, { brief = false } = {}) {
    const element = h("div");
    const runs = new Map();
    let comparison = null;
    let table = null;

    const entryAt = (variant, seedIndex) =>
        [...runs.values()].find((one) => one.variant === variant && one.seedIndex === seedIndex);

    function accuracyCell(row, seedIndex) {
        if (row.accuracies[seedIndex] !== null) return fixed(row.accuracies[seedIndex], 4);
        if (row.runs[seedIndex] === null) return h("span", { class: "pending" }, "deleted");
        const entry = entryAt(row.index, seedIndex);
        const waiting = entry?.lastEpoch === undefined || isOver(entry.state);
        return h("span", { class: "pending" }, waiting ? (entry?.state ?? "queued") : `epoch ${entry.lastEpoch}`);
    }

    function createColumns() {
        const seedCount = seedCountOf(comparison);
        return [
            { label: "model", cell: (row) => row.label },
            ...Array.from({ length: seedCount }, (_, index) => ({
                label: `seed ${comparison.seeds[index]}`,
                numeric: true,
                cell: (row) => accuracyCell(row, index),
            })),
            { label: "mean", numeric: true, cell: (row) => fixed(row.mean, 4) },
            { label: "worst", numeric: true, cell: (row) => fixed(row.worst, 4) },
            ...(brief
                ? []
                : [
                      { label: "parameters", numeric: true, cell: (row) => integer(row.parameter_count) },
                      { label: "time", numeric: true, cell: (row) => seconds(row.seconds) },
                  ]),
        ];
    }

    function draw() {
        if (!comparison) return;
        if (!table) {
            table = createTable({ caption, columns: createColumns(), cards: true });
            table.element.classList.toggle("dense", seedCountOf(comparison) > SEEDS_WITH_ROOM);
            replaceChildren(element, table.element);
        }
        table.update(comparison.rows.map((row, index) => ({ ...row, index })));
    }
    const drawSoon = oncePerFrame(draw);

    return {
        element,
        begin(started) {
            comparison = started;
            runs.clear();
            table = null;
            draw();
        },
        rows(newest) {
            comparison = newest;
            drawSoon();
        },
        run(entries) {
            entries.forEach((entry) => runs.set(entry.id, { ...runs.get(entry.id), ...entry }));
            drawSoon();
        },
        epoch(runId, row) {
            const entry = runs.get(runId);
            if (entry) entry.lastEpoch = Math.max(entry.lastEpoch ?? 0, row.epoch);
            drawSoon();
        },
    };
}
