// All runs: their states, live; cancel and delete; what each was asked and where to see it.

import { createAlert } from "../shared/alert.js";
import { errorText, get, isOver, post, query, remove } from "../shared/api.js";
import { h, oncePerFrame, replaceChildren } from "../shared/dom.js";
import { percent, time } from "../shared/format.js";
import { listen } from "../shared/stream.js";
import { createTable } from "../shared/table.js";

const RUNS_A_PAGE = 50;
const STATES = ["queued", "running", "succeeded", "failed", "cancelled"];

// The chapter that shows a run's result.
function chapterOf(run) {
    if (run.comparison && run.parameters.task === "first-element") return `#four-models?comparison=${run.comparison}`;
    if (run.experiment === "train")
        return run.parameters.task === "reviews" && run.parameters.model === "transformer"
            ? `#sentences?run=${run.id}`
            : null;
    return `#${run.experiment}?run=${run.id}`;
}

const parametersText = (parameters) =>
    Object.entries(parameters)
        .filter(([, value]) => value !== null)
        .map(
            ([name, value]) =>
                `${name} ${Array.isArray(value) ? (Array.isArray(value[0]) ? `${value.length} \u00d7 ${value[0].length}` : value.join(",")) : value}`,
        )
        .join(", ");

function outcomeText(run, lastEpoch) {
    if (run.state === "failed") return errorText(run);
    if (run.state === "running") {
        const { done, total, unit } =
            lastEpoch === undefined
                ? (run.progress ?? {})
                : { done: lastEpoch, total: run.parameters.epochs, unit: "epochs" };
        return total ? `${done} of ${total} ${unit}` : "";
    }
    return run.result?.test_accuracy === undefined ? "" : `${percent(run.result.test_accuracy)} right`;
}

export function mount(root, page) {
    const alert = createAlert();
    const service = h("p", { class: "hint", role: "status" });
    const state = h(
        "select",
        { id: "run-state", onchange: () => restart() },
        h("option", { value: "" }, "all states"),
        STATES.map((one) => h("option", { value: one }, one)),
    );
    const experiment = h(
        "select",
        { id: "run-experiment", onchange: () => restart() },
        h("option", { value: "" }, "all experiments"),
        page.experimentNames.map((one) => h("option", { value: one }, one)),
    );
    const more = h("button", { type: "button", hidden: true, onclick: () => loadMore() }, "Older runs");
    const empty = h("p", { class: "hint", hidden: true }, "No runs yet: open a chapter and press its button.");
    const runs = new Map();
    const lastEpochs = new Map();
    // Kept for every run and changed in place: a row that is drawn anew at every epoch cannot be clicked.
    const outcomes = new Map();
    const outcomeCell = (run) => {
        if (!outcomes.has(run.id)) outcomes.set(run.id, h("span", { class: "outcome" }));
        outcomes.get(run.id).textContent = outcomeText(run, lastEpochs.get(run.id));
        return outcomes.get(run.id);
    };
    let next = null;

    const act = async (call) => {
        alert.clear();
        try {
            await call();
        } catch (error) {
            alert.show(error);
        }
    };
    const button = (run) =>
        isOver(run.state)
            ? h(
                  "button",
                  {
                      type: "button",
                      class: "quiet",
                      "aria-label": `Delete run ${run.id}`,
                      onclick: () =>
                          act(async () => {
                              await remove(`/api/runs/${run.id}`);
                              runs.delete(run.id);
                              draw();
                          }),
                  },
                  "Delete",
              )
            : h(
                  "button",
                  {
                      type: "button",
                      class: "quiet",
                      "aria-label": `Cancel run ${run.id}`,
                      onclick: () =>
                          act(async () => {
                              keep(await post(`/api/runs/${run.id}/cancel`));
                          }),
                  },
                  "Cancel",
              );
    const table = createTable({
        caption: "Runs, newest first",
        columns: [
            {
                label: "run",
                cell: (run) => [
                    h("a", { href: chapterOf(run) ?? `/api/runs/${run.id}` }, run.name || run.experiment),
                    h(
                        "details",
                        { class: "run-parameters" },
                        h("summary", null, "Parameters"),
                        h("span", { class: "hint" }, run.experiment, ": ", parametersText(run.parameters)),
                    ),
                ],
            },
            { label: "state", cell: (run) => h("span", { class: `state ${run.state}` }, run.state) },
            { label: "action", cell: button },
            { label: "outcome", cell: outcomeCell },
            { label: "created", cell: (run) => time(run.created_at) },
        ],
    });

    const draw = oncePerFrame(() => {
        const sorted = [...runs.values()].sort((a, b) => b.created_at.localeCompare(a.created_at));
        empty.hidden = sorted.length > 0;
        table.element.hidden = sorted.length === 0;
        // Rows are drawn anew: the keyboard's place in them must not be lost.
        const focused = document.activeElement?.getAttribute("aria-label");
        table.update(sorted);
        if (focused) table.element.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    });

    const fits = (run) =>
        (!state.value || run.state === state.value) && (!experiment.value || run.experiment === experiment.value);
    function keep(run) {
        // An answer may be older than the event that overtook it: what has ended stays ended.
        const known = runs.get(run.id);
        if (known && isOver(known.state) && !isOver(run.state)) return;
        if (fits(run)) runs.set(run.id, run);
        else runs.delete(run.id);
        draw();
    }

    async function loadMore() {
        try {
            const answer = await get(
                `/api/runs${query({ state: state.value, experiment: experiment.value, limit: RUNS_A_PAGE, before: next })}`,
                page.signal,
            );
            answer.runs.forEach(keep);
            next = answer.next;
            more.hidden = !next;
            draw();
            const health = await get("/api/health", page.signal);
            replaceChildren(
                service,
                `attnlab ${health.version}: ${health.workers} workers, ${health.running} running, ${health.queued} waiting.`,
            );
        } catch (error) {
            alert.show(error);
        }
    }
    function restart() {
        runs.clear();
        next = null;
        loadMore();
    }

    listen((type, data) => {
        if (type === "state" || type === "end") keep(data);
        if (type === "epoch" && runs.has(data.run)) {
            lastEpochs.set(data.run, data.epoch);
            outcomeCell(runs.get(data.run));
        }
    }, page.signal);
    root.append(
        service,
        h(
            "div",
            { class: "slider-row" },
            h("label", { for: "run-state" }, "Show"),
            state,
            h("label", { for: "run-experiment" }, "of"),
            experiment,
        ),
        alert.element,
        empty,
        table.element,
        more,
    );
    loadMore();
}
