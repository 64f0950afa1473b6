// Four models on one task: the label is the sign of the first of sixty numbers. A comparison trains every chosen model with
// every seed. Meanwhile curves grow, the table fills in, and attention shows where it learnt to look.

import { createAlert } from "../shared/alert.js";
import { get, isOver, post } from "../shared/api.js";
import { findComparison, followComparison, readEntries } from "../shared/comparison.js";
import { createCurlLine } from "../shared/curl.js";
import { h, uniqueId } from "../shared/dom.js";
import { createProgress } from "../shared/experiment-panel.js";
import { createForm, panelForm, same } from "../shared/form.js";
import { hasParameters } from "../shared/known-runs.js";
import { createLayerList } from "../shared/layer-list.js";
import { describeModels } from "../shared/models.js";
import { createLiveView, swatch } from "./four-models-live.js";
import { createFourModelsQuestions } from "./four-models-questions.js";
import { fourModelsStory } from "./four-models-story.js";
import { createTaskPicture } from "./four-models-task.js";

const DEFAULT_SEEDS = "0, 1, 2";
export function mount(root, page) {
    const alert = createAlert();
    const curl = createCurlLine();
    const models = describeModels(page);
    const questions = createFourModelsQuestions(page);
    const live = createLiveView(page, models, () => remember(comparison), answer);
    const task = createTaskPicture(page, models.task, () => form.values());
    let comparison = null;
    let attempt = 0;

    const usual = models.variants.filter((variant) => !variant.extra).map((variant) => variant.id);
    const chosen = page.parameters.get("models")?.split(",") ?? usual;
    const boxes = models.variants.map((variant) =>
        h("input", { type: "checkbox", value: variant.id, checked: chosen.includes(variant.id) }),
    );
    const seedsId = uniqueId("seeds");
    const seedsInput = h("input", {
        id: seedsId,
        type: "text",
        value: page.parameters.get("seeds")?.replaceAll(",", ", ") ?? DEFAULT_SEEDS,
        "aria-describedby": `${seedsId}-help ${seedsId}-error`,
    });
    const seedsError = h("span", { class: "field-error", role: "alert", id: `${seedsId}-error` });
    const form = createForm({
        schema: page.experiment("train").schema,
        main: ["epochs", "mask"],
        except: ["task", "seed", "vocabulary", "standardise", ...models.ofVariants],
        situation: "usual",
        address: page.parameters,
        onChange: changed,
    });
    const runButton = h("button", { type: "submit", class: "primary" }, "Train them");
    const progress = createProgress(alert, () => `/api/comparisons/${comparison.id}`);

    const panel = panelForm(
        () => run(),
        h(
            "fieldset",
            null,
            h("legend", null, "Models"),
            h(
                "div",
                { class: "choices" },
                models.variants.map((variant, index) => h("label", null, boxes[index], swatch(index), variant.label)),
            ),
        ),
        h(
            "div",
            { class: "fields" },
            h(
                "div",
                { class: "field" },
                h("label", { class: "field-label", for: seedsId }, "Seeds"),
                seedsInput,
                seedsError,
                h(
                    "span",
                    { class: "field-help", id: `${seedsId}-help` },
                    "one run per model and seed, which draws weights and batch order",
                ),
            ),
        ),
        form.element,
        h("div", { class: "actions" }, runButton, progress.element),
        alert.element,
        curl.element,
    );
    panel.addEventListener("change", changed);
    // Puts the seeds in one row with the other main field.
    panel.querySelector(".form .fields").prepend(panel.querySelector(".field"));
    panel.querySelector(":scope > .fields").remove();

    const seeds = () =>
        seedsInput.value
            .split(/[\s,;]+/)
            .filter(Boolean)
            .map((text) => (Number.isFinite(Number(text)) ? Number(text) : text));
    const variants = () => models.variants.filter((variant, index) => boxes[index].checked);
    // The values of the form that concern a model, and those that concern every model.
    const valuesFor = (keep) => Object.fromEntries(Object.entries(form.values()).filter(([name]) => keep(name)));
    const ofModel = (model) => valuesFor((name) => models.takes(model, name));
    const rowOf = ({ label, parameters }) => {
        const own = valuesFor((name) => models.ofSome.includes(name) && models.takes(parameters.model, name));
        return { label: own.mask ? `${label}, ${own.mask}` : label, ...parameters, ...own };
    };
    const body = () => ({
        experiment: "train",
        seeds: seeds(),
        variants: variants().map(rowOf),
        ...valuesFor((name) => !models.ofSome.includes(name)),
    });
    const layerLists = models.variants.map(({ label, parameters }) =>
        createLayerList(page, label, () => ({ ...parameters, ...ofModel(parameters.model) })),
    );
    // Shows what concerns the chosen models.
    function arrange() {
        const taken = variants().map(({ parameters }) => parameters.model);
        form.hide(models.ofSome.filter((name) => !taken.some((model) => models.takes(model, name))));
        layerLists.forEach((list, index) => {
            list.element.hidden = !boxes[index].checked;
            list.update();
        });
    }

    function answer(results, entries) {
        questions.update(results, { comparison, entries });
    }

    function refresh() {
        curl.set("POST", "/api/comparisons", body());
    }

    function changed() {
        arrange();
        refresh();
        task.draw();
        remember(null);
    }

    function remember(shown) {
        const ids = variants().map((variant) => variant.id);
        page.remember({
            models: same(ids, usual) ? null : ids,
            seeds: seedsInput.value === DEFAULT_SEEDS ? null : seeds(),
            ...form.values(),
            comparison: shown?.id,
            ...(shown && live.place()),
        });
    }

    function showErrors(error) {
        const others = form.showErrors(error.errors ?? []);
        const ofSeeds = others.find((one) => one.field.startsWith("seeds"));
        seedsError.textContent = ofSeeds?.message ?? "";
        const rest = others.filter((one) => one !== ofSeeds);
        if (!error.errors?.length || rest.length > 0) alert.show(error, rest);
    }

    async function run() {
        alert.clear();
        seedsError.textContent = "";
        form.showErrors([]);
        if (variants().length === 0) return alert.show(new Error("Choose at least one model."));
        runButton.disabled = true;
        attempt += 1;
        const asked = body();
        try {
            follow(await post("/api/comparisons", asked, page.signal));
            live.scrollIntoView();
            if (same(asked, body())) remember(comparison);
        } catch (error) {
            runButton.disabled = false;
            showErrors(error);
        }
        return undefined;
    }

    async function follow(started) {
        comparison = started;
        runButton.disabled = !isOver(started.state) && started.may_delete;
        progress.show(started);
        live.begin(started);
        followComparison(
            started,
            {
                rows: (newest) => {
                    comparison = newest;
                    progress.show(newest);
                    if (isOver(newest.state)) runButton.disabled = false;
                    live.rows(newest);
                },
                run: live.run,
                epoch: live.epoch,
                attention: live.attention,
                failed: (error) => alert.show(error),
            },
            page.signal,
        );
    }

    // Whether a comparison has the chosen seeds, models and parameters: a first test by its entry in the list, then by its runs.
    const mayBeChosen = ({ seeds: itsSeeds, rows }) =>
        same(itsSeeds, seeds()) && rows.length === variants().length;
    function isChosen(entries) {
        const { schema } = page.experiment("train");
        const found = new Set(entries.map((entry) => models.variantOf(entry.parameters)));
        return (
            variants().every((variant) => found.has(variant)) &&
            entries.every(({ parameters: its }) =>
                hasParameters(
                    its,
                    schema,
                    { ...ofModel(its.model), model: its.model, position: its.position, seed: its.seed },
                    "usual",
                ),
            )
        );
    }

    // If a link names only the comparison, the form takes over the comparison's parameters.
    function adopt({ seeds: itsSeeds }, entries) {
        const found = new Set(entries.map((entry) => models.variantOf(entry.parameters)));
        if (!page.parameters.has("models") && models.variants.some((variant) => found.has(variant)))
            boxes.forEach((box, index) => (box.checked = found.has(models.variants[index])));
        if (!page.parameters.has("seeds")) seedsInput.value = itsSeeds.join(", ");
        // Each model's runs have the parameters that it takes, and the defaults of all others.
        for (const { parameters } of entries) form.adopt(parameters);
        arrange();
        refresh();
    }

    // If the reader presses the button or changes something while this waits for an answer, the reader's action wins.
    async function start() {
        const id = page.parameters.get("comparison");
        const asked = body();
        try {
            const known = id && (await get(`/api/comparisons/${encodeURIComponent(id)}`, page.signal));
            const entries = known && (await readEntries(known, page.signal));
            if (attempt > 0) return undefined;
            if (known && same(asked, body())) {
                adopt(known, entries);
                return follow(known);
            }
        } catch (error) {
            if (error.status !== 404) return alert.show(error);
        }
        try {
            const fitting = await findComparison(mayBeChosen, isChosen, page.signal);
            if (fitting && attempt === 0 && mayBeChosen(fitting)) follow(fitting);
        } catch (error) {
            alert.show(error);
        }
        return undefined;
    }

    root.append(
        h(
            "div",
            { class: "wide-pair" },
            h(
                "p",
                { class: "lead" },
                "Sixty random numbers; the answer is whether the first of them is positive. All the rest is noise. " +
                    "A recurrent network must carry that one sign through fifty-nine steps. Attention can look straight at it, if it is told which step is which.",
            ),
            task.element,
        ),
        panel,
        questions.answer,
        live.element,
        h(
            "section",
            { "aria-labelledby": "layers-heading" },
            h("h2", { id: "layers-heading" }, "What each of them is made of"),
            layerLists.map((list) => list.element),
        ),
        ...fourModelsStory(),
        questions.element,
    );
    arrange();
    refresh();
    task.draw();
    start();
}
