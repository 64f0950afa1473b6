// The controls of a chapter with one experiment: form, run and cancel, progress, faults, the curl line. If the server has
// a finished run with the same parameters, the panel shows it instead of computing it again. The page's address keeps the
// run on view and the parameters.

import { createAlert } from "./alert.js";
import { serviceAddress, errorText, get, isOver, post, query } from "./api.js";
import { createCurlLine } from "./curl.js";
import { h, quietButton, replaceChildren } from "./dom.js";
import { createForm, panelForm, same } from "./form.js";
import { seconds, time } from "./format.js";
import { findRun } from "./known-runs.js";
import { followRun } from "./stream.js";

const QUICK_WAIT_SECONDS = 5;

// The progress line of a run or comparison: its state, a bar, and a cancel button for those who may cancel it. address()
// is the API path of the run or comparison; `alert` shows a failed cancellation.
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
            // Events are the same for everybody and do not say whose the run is: keep what the last answer said.
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

// options: experiment (name); main, more, except, situation, initial (as in createForm); fixed (parameters that the chapter
// sets); extra() (further parameters); render(result, run); clear(run) (a new run begins); automatic (start a run at once
// if no known run fits: for experiments that take milliseconds); live (run on every change); showErrors(errors) (shows the
// faults of fields that the chapter draws itself and returns the rest); failed() (the run failed or was refused); button
// (its text); strict (a known run fits only if it has the documented defaults, even those with a note); remember() (what
// else the address keeps); adopt(parameters) (takes the parameters of a run that a link names; the form adopts its own).
// Returns { element, form, run(), changed(), remember() }. The chapter calls changed() when something that extra() reads
// has changed, and remember() when something that options.remember() reads has changed.
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
    // The address has the run's id only while the run has the parameters of the form.
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
            h("a", { href: serviceAddress(`/api/runs/${finished.id}`) }, "this run as JSON"),
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
        // A reader who watches somebody else's run may start their own.
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

    // Shows a run that has the parameters `asked`; the form may have changed since then.
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
        // Disabling the button would lose the keyboard focus, so a chapter that runs on every change leaves it enabled.
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

    // If the reader presses the button or changes something while this waits for an answer, the reader's action wins.
    async function start() {
        // Repeated here because extra() can read the chapter's own controls only now.
        showCurl();
        let asked = parameters();
        const id = page.parameters.get("run");
        if (id) {
            try {
                const known = await get(`/api/runs/${encodeURIComponent(id)}`, page.signal);
                if (attempt > 0) return undefined;
                if (same(asked, parameters())) {
                    // The link may name only the run.
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
        return replaceChildren(note, "Nobody has run this yet, and only the lecturer may run it.");
    }

    showCurl();
    // Only after the chapter has set up everything.
    queueMicrotask(start);
    return { element, form, run, changed, remember };
}
