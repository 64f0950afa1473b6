// The controls of a chapter with one experiment: form, run and cancel, progress, faults, the curl line. A
// finished run with the same parameters is shown again instead of being computed again; the run on view and
// the parameters are in the page's address.

import { createAlert } from "./alert.js";
import { errorText, get, isOver, post, query } from "./api.js";
import { createCurlLine } from "./curl.js";
import { h, replaceChildren } from "./dom.js";
import { createForm } from "./form.js";
import { seconds, time } from "./format.js";
import { followRun } from "./stream.js";

const QUICK_WAIT_SECONDS = 5;

// The progress line of a run: what is being done, a bar, and a button to cancel.
export function createProgress(onCancel) {
    const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
    const text = h("span", { role: "status" });
    const cancel = h("button", { type: "button", class: "quiet", onclick: onCancel }, "Cancel");
    const element = h("div", { class: "progress", hidden: true }, bar, text, cancel);
    return {
        element,
        show(state, progress) {
            element.hidden = isOver(state);
            const { done = 0, total = 0, unit = "" } = progress ?? {};
            bar.max = total || 1;
            if (total) bar.value = done;
            else bar.removeAttribute("value");
            text.textContent =
                state === "queued" ? "waiting in the queue" : total ? `${done} of ${total} ${unit}` : "running";
        },
        hide() {
            element.hidden = true;
        },
    };
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Whether the run has just these parameters, where what is not given has its default.
function hasParameters(run, schema, body, strict = false) {
    return Object.entries(schema.properties).every(([name, property]) => {
        if (name in body) return same(run.parameters[name], body[name]);
        if (property.default === undefined || (property.default_note && !strict)) return true;
        return run.parameters[name] === null || same(run.parameters[name], property.default);
    });
}

// options: experiment (name), main, more, except, situation (as createForm), fixed (parameters the chapter sets),
// extra() (further parameters), render(result, run), clear(run) (a new run begins), automatic (run at
// once where no run fits: for experiments that take milliseconds), live (run on every change), showErrors(errors)
// (faults of fields that the chapter draws itself; returns the rest), failed() (the run failed or was refused),
// button (its text), strict (a known run fits only where it has the documented defaults, notes or not).
// Returns { element, form, run(), refresh() }.
export function createExperimentPanel(page, options) {
    const { schema } = page.experiment(options.experiment);
    const alert = createAlert();
    const curl = createCurlLine();
    const note = h("p", { class: "hint run-note" });
    const runButton = h("button", { type: "submit", class: "primary" }, options.button ?? "Run");
    let current = null;
    let attempt = 0;

    const form = createForm({
        schema,
        main: options.main,
        more: options.more,
        except: options.except,
        situation: options.situation,
        address: page.parameters,
        onChange: () => refresh(),
    });
    const progress = createProgress(async () => {
        try {
            await post(`/api/runs/${current.id}/cancel`);
        } catch (error) {
            alert.show(error);
        }
    });
    const element = h(
        "form",
        {
            class: "panel",
            novalidate: true,
            onsubmit: (event) => {
                event.preventDefault();
                run();
            },
        },
        form.element,
        h("div", { class: "actions" }, runButton, progress.element, note),
        alert.element,
        curl.element,
    );

    const parameters = () => ({ ...options.fixed, ...options.extra?.(), ...form.values() });

    function refresh() {
        curl.set("POST", "/api/runs?wait=30", { experiment: options.experiment, ...parameters() });
        if (options.live && current !== null) run();
    }

    function showErrors(errors) {
        const others = form.showErrors(errors);
        return options.showErrors ? options.showErrors(others) : others;
    }

    async function show(finished) {
        current = finished;
        progress.hide();
        runButton.disabled = false;
        if (finished.state === "failed") {
            options.failed?.();
            return alert.show(new Error(errorText(finished)));
        }
        if (finished.state === "cancelled") return replaceChildren(note, "Cancelled.");
        const took = (Date.parse(finished.finished_at) - Date.parse(finished.started_at)) / 1000;
        replaceChildren(
            note,
            h("a", { href: `/api/runs/${finished.id}` }, "this run as JSON"),
            `, ${time(finished.finished_at)}`,
            Number.isFinite(took) && took > 0 ? `, took ${seconds(took)}` : "",
        );
        try {
            await options.render(finished.result, finished);
        } catch (error) {
            alert.show(error);
        }
        return undefined;
    }

    function follow(started) {
        current = started;
        runButton.disabled = !options.live;
        options.clear?.(started);
        progress.show(started.state, started.progress);
        replaceChildren(note);
        followRun(
            started.id,
            {
                run: (state) => progress.show(state.state, state.progress),
                epoch: (row) => {
                    progress.show("running", { done: row.epoch, total: started.parameters.epochs, unit: "epochs" });
                    options.epoch?.(row, started);
                },
                end: (finished) => current?.id === finished.id && show(finished),
                failed: (error) => alert.show(error),
            },
            page.signal,
        );
    }

    async function run() {
        const given = parameters();
        attempt += 1;
        const thisAttempt = attempt;
        alert.clear();
        // A disabled button would lose the keyboard's place; a chapter that runs on every change keeps it.
        runButton.disabled = !options.live;
        try {
            const started = await post(
                `/api/runs${query({ wait: options.slow ? null : QUICK_WAIT_SECONDS })}`,
                { experiment: options.experiment, ...given },
                page.signal,
            );
            if (thisAttempt !== attempt) return;
            showErrors([]);
            page.remember({ ...options.remember?.(), ...given, run: started.id });
            if (isOver(started.state)) show(started);
            else follow(started);
        } catch (error) {
            if (thisAttempt !== attempt) return;
            runButton.disabled = false;
            options.failed?.();
            const others = showErrors(error.errors ?? []);
            if (!error.errors?.length || others.length) alert.show(error, others);
        }
    }

    async function start() {
        const id = page.parameters.get("run");
        if (id) {
            try {
                const known = await get(`/api/runs/${encodeURIComponent(id)}`, page.signal);
                if (isOver(known.state)) return show(known);
                return follow(known);
            } catch (error) {
                if (error.status !== 404) return alert.show(error);
            }
        }
        try {
            const { runs } = await get(
                `/api/runs${query({ experiment: options.experiment, state: "succeeded", limit: 20 })}`,
                page.signal,
            );
            const given = parameters();
            const fitting = runs.find((candidate) => hasParameters(candidate, schema, given, options.strict));
            if (fitting) return show(await get(`/api/runs/${fitting.id}`, page.signal));
        } catch (error) {
            return alert.show(error);
        }
        return options.automatic ? run() : undefined;
    }

    refresh();
    // After the chapter has put everything in place.
    queueMicrotask(start);
    return { element, form, run, refresh };
}

// The result of a quick experiment with these parameters, from an earlier run or a new one.
export async function resultOf(page, experiment, parameters) {
    const { schema } = page.experiment(experiment);
    const { runs } = await get(`/api/runs${query({ experiment, state: "succeeded", limit: 20 })}`, page.signal);
    const known = runs.find((candidate) => hasParameters(candidate, schema, parameters));
    const run = known
        ? await get(`/api/runs/${known.id}`, page.signal)
        : await post("/api/runs?wait=30", { experiment, ...parameters }, page.signal);
    if (run.state !== "succeeded")
        throw new Error(run.state === "failed" ? errorText(run) : "The run is still waiting in the queue.");
    return run.result;
}
