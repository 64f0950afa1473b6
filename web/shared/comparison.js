// Follows a comparison: its runs' events as they arrive, and its table whenever a run ends. The table itself says which
// run belongs to which row and seed, so it can be read even if some runs are deleted.

import { get, isOver, query } from "./api.js";
import { followRun } from "./stream.js";

const RUNS_A_PAGE = 500;

// All runs of a comparison that have not been deleted, by id.
async function readRuns(comparison, signal) {
    const runs = new Map();
    let before = null;
    do {
        const path = `/api/runs${query({ comparison: comparison.id, limit: RUNS_A_PAGE, before })}`;
        const answer = await get(path, signal);
        answer.runs.forEach((run) => runs.set(run.id, run));
        before = answer.next;
    } while (before);
    return runs;
}

// The runs of a comparison with their places in its table: [{ id, variant, seedIndex, seed, label, parameters,
// state, result }], row by row.
export async function readEntries(comparison, signal) {
    const runs = await readRuns(comparison, signal);
    return comparison.rows.flatMap((row, variant) =>
        row.runs.flatMap((id, seedIndex) => {
            const run = runs.get(id);
            if (!run) return [];
            const { parameters, state, result } = run;
            return [{ id, variant, seedIndex, seed: parameters.seed, label: row.label, parameters, state, result }];
        }),
    );
}

// The newest comparison that is not cancelled and passes both tests: mayBe(comparison as listed) and is(its entries).
// Null if there is none.
export async function findComparison(mayBe, is, signal) {
    const { comparisons } = await get("/api/comparisons?limit=50", signal);
    for (const comparison of comparisons) {
        if (comparison.state === "cancelled" || comparison.runs.length === 0 || !mayBe(comparison)) continue;
        if (is(await readEntries(comparison, signal))) return comparison;
    }
    return null;
}

// handlers: rows(comparison), run(entries), epoch(runId, row), attention(runId, epoch), failed(error).
export async function followComparison(started, handlers, signal) {
    let stopped = false;
    let asked = 0;
    let answered = 0;

    const refresh = async () => {
        if (stopped || signal.aborted) return;
        asked += 1;
        const mine = asked;
        try {
            const newest = await get(`/api/comparisons/${started.id}`, signal);
            // Runs that end together cause several requests at once, and an older answer may arrive later.
            if (mine < answered) return;
            answered = mine;
            stopped = isOver(newest.state);
            handlers.rows(newest);
        } catch (error) {
            if (error.name !== "AbortError") handlers.failed(error);
        }
    };

    try {
        const entries = await readEntries(started, signal);
        handlers.run(entries);
        for (const entry of entries) {
            followRun(
                entry.id,
                {
                    run: ({ state, result }) => handlers.run([{ ...entry, state, result }]),
                    epoch: (row) => handlers.epoch(entry.id, row),
                    attention: (epoch) => handlers.attention?.(entry.id, epoch),
                    end: refresh,
                    failed: handlers.failed,
                },
                signal,
            );
        }
        refresh();
    } catch (error) {
        if (error.name !== "AbortError") handlers.failed(error);
    }
}
