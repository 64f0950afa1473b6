// The controls of a chapter with one experiment: form, run and cancel, progress, faults, the curl line. A
// finished run with the same parameters is shown again instead of being computed again; the run on view and
// the parameters are in the page's address.

import { createAlert } from "./alert.js";
import { errorText, get, isOver, post, query } from "./api.js";
import { createCurlLine } from "./curl.js";
import { h, quietButton, replaceChildren } from "./dom.js";
import { createForm, panelForm, same } from "./form.js";
import { seconds, time } from "./format.js";
import { findRun } from "./known-runs.js";
import { followRun } from "./stream.js";

const QUICK_WAIT_SECONDS = 5;

// The progress line of a run or comparison: what is being done, a bar, and a button to cancel for whom may.
// address() is where what is under way is found; a cancellation that fails is told to the alert.
export function createProgress(alert, address) {
    const onCancel = async () => {
        try {
            await post(`${address()}/cancel`);
        } catch (error) {
            alert.show(error);
        }
    };
    const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
    const text = h("span", { role: "status" });
    const cancel = quietButton("Cancel", onCancel);
    const element = h("div", { class: "progress", hidden: true }, bar, text, cancel);
    return {
        element,
        show({ state, progress, may_delete: mayCancel }) {
            element.hidden = isOver(state);
            // An event tells everybody the same: whose the run is stays as it was last said.
            if (mayCancel !== undefined) cancel.hidden = !mayCancel;
            const { done = 0, total = 0, unit = "" } = progress ?? {};
            bar.max = total || 1;
            if (total) bar.value = done;
            else bar.removeAttribute("value");
            text.textContent =
                state === "queued" ? "waiting in the queue" : total ? `${done} of ${total} ${unit}` : "running";
        },
        showEpoch(epoch, epochs) {
            this.show({ state: "running", progress: { done: epoch, total: epochs, unit: "epochs" } });
        },
        hide() {
            element.hidden = true;
        },
    };
}

// options: experiment (name), main, more, except, situation, initial (as createForm), fixed (parameters the chapter sets),
// extra() (further parameters), render(result, run), clear(run) (a new run begins), automatic (run at
// once where no run fits: for experiments that take milliseconds), live (run on every change), showErrors(errors)
// (faults of fields that the chapter draws itself; returns the rest), failed() (the run failed or was refused),
// button (its text), strict (a known run fits only where it has the documented defaults, notes or not), remember()
// (what else the address keeps), adopt(parameters) (of the run that a link names; the form takes its own).
// Returns { element, form, run(), changed(): something that extra() reads has changed; remember(): something that
// options.remember() reads has }.
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
        initial: options.initial,
        address: page.parameters,
        onChange: () => changed(),
    });
    const progress = createProgress(alert, () => `/api/runs/${current.id}`);
    const element = panelForm(
        () => run(),
        form.element,
        h("div", { class: "actions" }, runButton, progress.element, note),
        alert.element,
        curl.element,
    );

    const chosen = () => ({ ...options.extra?.(), ...form.values() });
    const parameters = () => ({ ...options.fixed, ...chosen() });
    // The run's id stands in the address while the run is the one that was asked for.
    const remember = () =>
        page.remember({ ...chosen(), ...options.remember?.(), run: isAsked ? current?.id : undefined });
    let isAsked = false;

    function showCurl() {
        curl.set("POST", "/api/runs?wait=30", { experiment: options.experiment, ...parameters() });
    }
    function changed() {
        showCurl();
        isAsked = false;
        remember();
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
        // Who watches somebody else's run may start one of their own.
        runButton.disabled = !options.live && started.may_delete;
        options.clear?.(started);
        progress.show(started);
        replaceChildren(note);
        followRun(
            started.id,
            {
                run: progress.show,
                epoch: (row) => {
                    progress.showEpoch(row.epoch, started.parameters.epochs);
                    options.epoch?.(row, started);
                },
                end: (finished) => current?.id === finished.id && show(finished),
                failed: (error) => alert.show(error),
            },
            page.signal,
        );
    }

    // This run has the parameters that were asked for then, and may by now no longer be.
    function take(known, asked) {
        isAsked = same(asked, parameters());
        current = known;
        remember();
        if (isOver(known.state)) show(known);
        else follow(known);
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
            take(started, given);
        } catch (error) {
            if (thisAttempt !== attempt) return;
            runButton.disabled = false;
            options.failed?.();
            const others = showErrors(error.errors ?? []);
            if (!error.errors?.length || others.length) alert.show(error, others);
        }
    }

    // Who presses the button, or changes something, while this waits for an answer, has the last word.
    async function start() {
        // Again: only now can extra() read the chapter's own controls.
        showCurl();
        let asked = parameters();
        const id = page.parameters.get("run");
        if (id) {
            try {
                const known = await get(`/api/runs/${encodeURIComponent(id)}`, page.signal);
                if (attempt > 0) return undefined;
                if (same(asked, parameters())) {
                    // A link may name the run alone.
                    form.adopt(known.parameters);
                    options.adopt?.(known.parameters);
                    showCurl();
                    return take(known, parameters());
                }
            } catch (error) {
                if (error.status !== 404) return alert.show(error);
            }
        }
        try {
            const situation = options.strict ? "usual" : options.situation;
            let known = null;
            do {
                asked = parameters();
                known = await findRun(page, options.experiment, asked, { situation });
                if (attempt > 0) return undefined;
            } while (!same(asked, parameters()));
            if (known) return take(known, asked);
        } catch (error) {
            return alert.show(error);
        }
        if (!options.automatic) return undefined;
        if (page.session.may_run) return run();
        return replaceChildren(note, "Nobody has run this yet, and only the lecturer may.");
    }

    showCurl();
    // After the chapter has put everything in place.
    queueMicrotask(start);
    return { element, form, run, changed, remember };
}
