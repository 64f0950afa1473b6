// All runs: their live states, buttons to cancel and delete them, their parameters, and a link to the chapter that shows each.

import { createAlert } from "../shared/alert.js";
import { errorText, get, isOver, post, query, remove, runStates } from "../shared/api.js";
import { atMostEvery, h, latest, oncePerFrame, quietButton, replaceChildren } from "../shared/dom.js";
import { same } from "../shared/form.js";
import { bytes, percent, time } from "../shared/format.js";
import { describeModels, SENTENCES } from "../shared/models.js";
import { listen } from "../shared/stream.js";
import { createTable } from "../shared/table.js";

const RUNS_A_PAGE = 50;
const OWN_MILLISECONDS = 1000;

// The chapter that shows a run's result.
function chapterOf(run, models) {
    if (run.comparison && run.parameters.task === models.task)
        return `#four-models${query({ comparison: run.comparison, run: run.id })}`;
    if (run.experiment === "train")
        return run.parameters.task === SENTENCES.task && run.parameters.model === SENTENCES.model
            ? `#sentences?run=${run.id}`
            : `#own-data${query({ dataset: run.parameters.task, run: run.id })}`;
    return `#${run.experiment}?run=${run.id}`;
}

// All runs of a variant in a comparison have the same name, so the seed is added.
const titleOf = ({ name, experiment, comparison, parameters: { model, task, seed } }) =>
    [name || (experiment === "train" ? `${model} on ${task}` : experiment), comparison && `seed ${seed}`]
        .filter(Boolean)
        .join(", ");

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

// An owner is a digest of a cookie or an address; its first characters tell one student from another.
const nameOf = (owner) => `student ${owner.replace(/^\w+-/, "").slice(0, 6)}`;

// One line on the room that runs and data sets take, and a warning when little is left.
function createStorage() {
    const element = h("p", { class: "hint storage", role: "status" });
    const update = (room) => {
        const { free_bytes, margin_bytes, used_bytes, limit_bytes, own_bytes, own_limit_bytes } = room;
        const own = own_limit_bytes && `Yours take ${bytes(own_bytes)} of ${bytes(own_limit_bytes)}. `;
        const all = `Runs and data sets take ${bytes(used_bytes)}${limit_bytes ? ` of ${bytes(limit_bytes)}` : ""}; `;
        const isShort =
            free_bytes < 4 * margin_bytes || used_bytes > 0.75 * (limit_bytes ?? Infinity) || own_bytes > 0.9 * (own_limit_bytes ?? Infinity);
        element.classList.toggle("short", isShort);
        replaceChildren(
            element,
            own,
            all,
            `${bytes(free_bytes)} of the disk is free.`,
            isShort && " Little room is left: delete what nobody needs any more.",
        );
    };
    return { element, update };
}

export function mount(root, page) {
    const models = describeModels(page);
    const alert = createAlert();
    const service = h("p", { class: "hint", role: "status" });
    const filter = (name, all, choices) => {
        const element = h(
            "select",
            { id: `run-${name}`, onchange: () => restart() },
            h("option", { value: "" }, all),
            choices.map(([value, text = value]) => h("option", { value }, text)),
        );
        const wanted = page.parameters.get(name);
        if (choices.some(([value]) => value === wanted)) element.value = wanted;
        return element;
    };
    const state = filter("state", "all states", runStates.map(({ name }) => [name]));
    const experiment = filter("experiment", "all experiments", page.experimentNames.map((one) => [one]));
    const mine = filter("mine", "everybody", [["true", "me"]]);
    const isLecturer = page.session.role === "lecturer";
    // The owner that "by" names, or nothing. The lecturer can also choose one of those who take most room.
    const owner = () => (mine.value.startsWith("owner:") ? mine.value.slice("owner:".length) : "");
    const whose = () => (owner() ? { owner: owner() } : { mine: mine.value });
    const storage = createStorage();
    // Without sign-in everybody is the same person, so there is nothing to filter.
    const byWhom = page.session.access === "local" ? [] : [h("span", { class: "control" }, h("label", { for: "run-mine" }, "by"), mine)];
    const more = h("button", { type: "button", hidden: true, onclick: () => loadMore() }, "Older runs");
    const empty = h("p", { class: "hint", hidden: true }, "No runs yet: open a chapter and press its button.");
    const runs = new Map();
    const lastEpochs = new Map();
    // Each run's outcome is kept and changed in place: a row that is redrawn at every epoch cannot be clicked.
    const outcomes = new Map();
    const outcomeCell = (run) => {
        if (!outcomes.has(run.id)) outcomes.set(run.id, h("span", { class: "outcome" }));
        outcomes.get(run.id).textContent = outcomeText(run, lastEpochs.get(run.id));
        return outcomes.get(run.id);
    };
    let next = null;
    const begin = latest();

    const act = async (call) => {
        alert.clear();
        try {
            await call();
        } catch (error) {
            alert.show(error);
        }
    };
    const button = (run) => {
        if (!mayChange(run)) return null;
        const [text, action] = isOver(run.state)
            ? [
                  "Delete",
                  async () => {
                      await remove(`/api/runs/${run.id}`);
                      runs.delete(run.id);
                      draw();
                  },
              ]
            : ["Cancel", async () => keep(await post(`/api/runs/${run.id}/cancel`))];
        return quietButton(text, () => act(action), `${text} run ${run.id}`);
    };
    const table = createTable({
        caption: "Runs, newest first",
        cards: true,
        columns: [
            {
                label: "run",
                cell: (run) => [
                    h("a", { href: chapterOf(run, models) }, titleOf(run)),
                    h(
                        "details",
                        { class: "run-parameters" },
                        h("summary", null, "Parameters"),
                        h("span", { class: "hint" }, run.experiment, ": ", parametersText(run.parameters)),
                    ),
                ],
            },
            { label: "state", place: "aside", cell: (run) => h("span", { class: `state ${run.state}` }, run.state) },
            { label: "action", place: "action", cell: button },
            { label: "outcome", place: "text", cell: outcomeCell },
            { label: "created", place: "note", cell: (run) => time(run.created_at) },
        ],
    });

    const draw = oncePerFrame(() => {
        const sorted = [...runs.values()].sort((a, b) => b.created_at.localeCompare(a.created_at));
        empty.hidden = sorted.length > 0;
        table.element.hidden = sorted.length === 0;
        // A changed row is redrawn, and the keyboard focus in it must not be lost.
        const focused = document.activeElement?.getAttribute("aria-label");
        table.update(sorted);
        if (focused) table.element.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
    });

    const mayChange = (run) => run.may_delete ?? isLecturer;
    const fits = (run) =>
        (!state.value || run.state === state.value) && (!experiment.value || run.experiment === experiment.value);
    function keep(run) {
        // An event may overtake an older answer: a run that has ended stays ended.
        const known = runs.get(run.id);
        if (known && isOver(known.state) && !isOver(run.state)) return;
        const kept = { ...run, may_delete: run.may_delete ?? known?.may_delete };
        if (!fits(run)) runs.delete(run.id);
        else if (!same(kept, known)) runs.set(run.id, kept);
        draw();
    }

    // Events are the same for everybody, so the event of a new run does not say whose it is.
    function hear(run) {
        if (runs.has(run.id) || !mine.value) keep(run);
        if (mine.value || !isLecturer) findOwn();
    }
    const findOwn = atMostEvery(OWN_MILLISECONDS, async () => {
        try {
            const answer = await get(`/api/runs${query({ ...(owner() ? whose() : { mine: true }), limit: RUNS_A_PAGE })}`, page.signal);
            answer.runs.forEach(keep);
        } catch (error) {
            alert.show(error);
        }
    });

    async function loadMore() {
        const isLatest = begin();
        try {
            const answer = await get(
                `/api/runs${query({ state: state.value, experiment: experiment.value, ...whose(), limit: RUNS_A_PAGE, before: next })}`,
                page.signal,
            );
            // The reader has chosen other filters since, and their answer is on the way.
            if (!isLatest()) return;
            answer.runs.forEach(keep);
            next = answer.next;
            more.hidden = !next;
            draw();
            showStorage(await get("/api/storage", page.signal));
            const health = await get("/api/health", page.signal);
            replaceChildren(
                service,
                `attnlab ${health.version}: ${health.workers} workers, ${health.running} running, ${health.queued} waiting.`,
            );
        } catch (error) {
            if (isLatest()) alert.show(error);
        }
    }
    function restart() {
        runs.clear();
        next = null;
        page.remember({ state: state.value, experiment: experiment.value, mine: mine.value });
        loadMore();
    }

    // While the line was down, runs may have been deleted, or the service started with other data.
    let isStale = false;
    function showStorage(room) {
        storage.update(room);
        if (byWhom.length === 0 || !isLecturer) return;
        const chosen = mine.value;
        for (const option of [...mine.options]) if (option.value.startsWith("owner:")) option.remove();
        const students = room.owners.filter((one) => one.owner !== "lecturer");
        if (owner() && !students.some((one) => one.owner === owner())) students.push({ owner: owner(), bytes: 0, runs: 0 });
        mine.append(
            ...students.map((one) =>
                h("option", { value: `owner:${one.owner}` }, `${nameOf(one.owner)}: ${bytes(one.bytes)}`),
            ),
        );
        mine.value = chosen;
    }

    // All ended runs that fit the filters, not only those that the list has loaded.
    async function deleteAll() {
        const states = runStates.filter(({ name, ended }) => ended && (!state.value || name === state.value));
        const who = mine.value ? `of ${mine.selectedOptions[0].textContent}` : "of everybody";
        const what = [states.length === 1 ? states[0].name : "ended", experiment.value, "runs"].filter(Boolean).join(" ");
        if (!globalThis.confirm(`Delete all ${what} ${who}? This cannot be undone.`)) return;
        await act(async () => {
            for (const { name } of states) {
                let answer;
                do {
                    const which = { state: name, experiment: experiment.value, owner: ownerToDelete() };
                    answer = await remove(`/api/storage/runs${query(which)}`, page.signal);
                } while (answer.are_left);
            }
        });
        restart();
    }
    const ownerToDelete = () => owner() || (mine.value ? "lecturer" : "");
    const removeAll = h("button", { type: "button", class: "quiet", hidden: !isLecturer, onclick: deleteAll }, "Delete all that have ended");

    listen((type, data) => {
        if (type === "lost") isStale = true;
        if (type === "open" && isStale) {
            isStale = false;
            restart();
        }
        if (type === "state" || type === "end") hear(data);
        if (type === "epoch" && runs.has(data.run)) {
            lastEpochs.set(data.run, data.epoch);
            outcomeCell(runs.get(data.run));
        }
    }, page.signal);
    root.append(
        service,
        storage.element,
        h(
            "div",
            { class: "slider-row" },
            h("span", { class: "control" }, h("label", { for: "run-state" }, "Show"), state),
            h("span", { class: "control" }, h("label", { for: "run-experiment" }, "of"), experiment),
            byWhom,
            removeAll,
        ),
        alert.element,
        empty,
        table.element,
        more,
    );
    loadMore();
}
