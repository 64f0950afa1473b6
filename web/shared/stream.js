// One event stream for the whole page, on which chapters follow their runs. The browser reconnects by itself and sends
// Last-Event-ID, so events arrive without gap or repeat. After every (re)connection followers also GET the run once, to
// learn what happened before they listened. Rows are keyed by epoch, so receiving one twice does no harm.

import { serviceAddress, get, isOver } from "./api.js";

const TYPES = ["state", "epoch", "step", "attention", "end"];
const RETRY_MILLISECONDS = 2000;
// Runs without epochs send no events about their progress, so it is polled.
const PROGRESS_MILLISECONDS = 1000;

const listeners = new Set();
let source = null;
let connected = false;

function tell(type, data) {
    for (const listener of [...listeners]) listener(type, data);
}

function connect() {
    source = new EventSource(serviceAddress("/api/events"));
    source.addEventListener("open", () => {
        connected = true;
        tell("open", null);
    });
    source.addEventListener("error", () => {
        if (connected) tell("lost", null);
        connected = false;
        // The browser retries by itself unless the server refused the stream; then the page has to retry.
        if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MILLISECONDS);
    });
    for (const type of TYPES) {
        source.addEventListener(type, (event) => tell(type, JSON.parse(event.data)));
    }
}

// Calls listener(type, data) for every event, and for "open" and "lost", until the signal aborts.
export function listen(listener, signal) {
    if (signal?.aborted) return;
    if (!source) connect();
    listeners.add(listener);
    signal?.addEventListener("abort", () => listeners.delete(listener), { once: true });
}

// Follows one run until it ends or the signal aborts. Handlers, all optional: run(run) at the start and on every change of
// state, epoch(row), step({step, loss}), attention(epoch), end(run), failed(error). Resolves with the run when it ends.
export function followRun(id, handlers, signal) {
    return new Promise((resolve) => {
        const stop = new AbortController();
        let over = false;
        signal?.addEventListener("abort", () => stop.abort(), { once: true });

        const finish = (run) => {
            if (over) return;
            over = true;
            stop.abort();
            handlers.end?.(run);
            resolve(run);
        };

        let timer = 0;
        const poll = () => {
            clearTimeout(timer);
            timer = setTimeout(catchUp, PROGRESS_MILLISECONDS);
        };
        stop.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });

        const catchUp = async () => {
            try {
                const run = await get(`/api/runs/${id}`, signal);
                if (handlers.epoch && run.experiment === "train") {
                    const { rows } = await get(`/api/runs/${id}/metrics`, signal);
                    rows.forEach((row) => handlers.epoch(row));
                }
                if (over || stop.signal.aborted) return;
                handlers.run?.(run);
                if (isOver(run.state)) finish(run);
                else if (run.experiment !== "train") poll();
            } catch (error) {
                if (error.name !== "AbortError") handlers.failed?.(error);
            }
        };

        listen((type, data) => {
            if (type === "open") catchUp();
            else if (type === "state" && data.id === id) handlers.run?.(data);
            else if (type === "end" && data.id === id) catchUp();
            else if (data?.run !== id) return;
            else if (type === "epoch") handlers.epoch?.(data);
            else if (type === "step") handlers.step?.(data);
            else if (type === "attention") handlers.attention?.(data.epoch);
        }, stop.signal);
        catchUp();
    });
}
