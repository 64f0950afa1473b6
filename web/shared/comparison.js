// Follows a comparison: its runs' events as they come, and its table whenever a run ends. Which run belongs
// to which row and seed follows from the order: the runs of the first row, seed by seed, then the next row's.

import { get, isOver } from "./api.js";
import { followRun } from "./stream.js";

// handlers: rows(comparison), run(entries), epoch(runId, row), attention(runId, epoch), failed(error).
export async function followComparison(started, handlers, signal) {
    let stopped = false;

    const refresh = async () => {
        if (stopped || signal.aborted) return;
        try {
            const newest = await get(`/api/comparisons/${started.id}`, signal);
            stopped = isOver(newest.state);
            handlers.rows(newest);
        } catch (error) {
            if (error.name !== "AbortError") handlers.failed(error);
        }
    };

    try {
        const seedCount = Math.max(1, started.rows[0]?.accuracies.length ?? 1);
        const runs = await Promise.all(started.runs.map((id) => get(`/api/runs/${id}`, signal)));
        const entry = (run, index) => {
            const variant = Math.floor(index / seedCount);
            return {
                id: run.id,
                variant,
                seedIndex: index % seedCount,
                seed: run.parameters.seed,
                label: started.rows[variant]?.label ?? run.name,
                parameters: run.parameters,
                state: run.state,
            };
        };
        const entries = runs.map(entry);
        handlers.run(entries);
        entries.forEach((one, index) =>
            followRun(
                one.id,
                {
                    run: (state) => handlers.run([entry(state, index)]),
                    epoch: (row) => handlers.epoch(one.id, row),
                    attention: (epoch) => handlers.attention?.(one.id, epoch),
                    end: refresh,
                    failed: handlers.failed,
                },
                signal,
            ),
        );
        refresh();
    } catch (error) {
        if (error.name !== "AbortError") handlers.failed(error);
    }
}
