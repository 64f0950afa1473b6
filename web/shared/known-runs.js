// Finds what the server has already computed. A run is recognised by its parameters, never by its name, so it does not
// matter who started it or how.

import { errorText, get, isOver, post, query } from "./api.js";
import { same, settleDefault } from "./form.js";

const RUNS_SEARCHED = 50;

// Whether a run has exactly the given parameters, and defaults for all others. A default that depends on other values is
// the one that the situation settles (see settleDefault); if it settles none, any value fits. A parameter without any
// default must be absent.
export function hasParameters(parameters, schema, given, situation) {
    return Object.entries(schema.properties).every(([name, property]) => {
        if (name in given) return same(parameters[name], given[name]);
        const value = parameters[name] ?? null;
        if (property.default === undefined && !property["x-default-note"]) return value === null;
        const settled = settleDefault(property, situation).default;
        return settled === undefined || value === null || same(value, settled);
    });
}

// The newest run of the experiment with these parameters that has succeeded or has not ended, with its result, or null.
// `finished`: only a run that has succeeded.
export async function findRun(page, experiment, given, { situation, finished = false } = {}) {
    const { schema } = page.experiment(experiment);
    const path = `/api/runs${query({ experiment, state: finished ? "succeeded" : null, limit: RUNS_SEARCHED })}`;
    const { runs } = await get(path, page.signal);
    const known = runs.find(
        ({ state, parameters }) =>
            (!isOver(state) || state === "succeeded") && hasParameters(parameters, schema, given, situation),
    );
    return known ? get(`/api/runs/${known.id}`, page.signal) : null;
}

// The result of a quick experiment with these parameters, from a known run or a new one.
export async function resultOf(page, experiment, parameters) {
    const run =
        (await findRun(page, experiment, parameters, { finished: true })) ??
        (await post("/api/runs?wait=30", { experiment, ...parameters }, page.signal));
    if (run.state !== "succeeded")
        throw new Error(run.state === "failed" ? errorText(run) : "The run is still waiting in the queue.");
    return run.result;
}
