// The switches of attention, step by step: scale, mask, a mask and maps of the reader's own, and the slider from the running
// average to attention.

import { h } from "../shared/dom.js";
import { createMaskEditor } from "../shared/mask-editor.js";

// Switches for mask and scale, which follow the preset until the reader touches them, and an editor for a mask matrix.
export function createSwitches(page, onChange) {
    const { properties } = page.experiment("attention-steps").schema;
    const touched = {};
    const box = (name, isOn, choose) => {
        if (page.parameters.has(name)) touched[name] = choose(page.parameters.get(name) === choose(true).toString());
        const element = h("input", {
            type: "checkbox",
            checked: isOn(touched[name]),
            onchange: () => {
                touched[name] = choose(element.checked);
                onChange();
            },
        });
        return element;
    };
    const mask = box(
        "mask",
        (value) => value === "causal",
        (on) => (on ? "causal" : "none"),
    );
    const scale = box(
        "scale",
        (value) => value !== false,
        (on) => on,
    );
    const editor = createMaskEditor({ onChange });
    const own = h("input", { type: "checkbox", onchange: () => showEditor(true) });
    const maps = h("input", { type: "checkbox", onchange: onChange });
    const mapsLabel = h("label", null, maps, "maps of my own");
    const blend = createBlend(page, properties.blend, (value) => {
        touched.blend = value;
        onChange();
    });
    if (blend.value() !== 1) touched.blend = blend.value();
    try {
        if (page.parameters.has("mask_matrix")) {
            editor.write(JSON.parse(page.parameters.get("mask_matrix")));
            own.checked = true;
        }
    } catch {
        // Somebody edited the address: there is no mask matrix then.
    }
    const maskElement = h("div", { class: "matrix-editors" }, editor.element);
    let sizes = null;

    function showEditor(isNew) {
        maskElement.hidden = !own.checked;
        if (isNew && own.checked && sizes) editor.resize(...sizes);
        if (isNew) onChange();
    }
    showEditor(false);
    // Otherwise the form would take these changes for its own, and the experiment would run twice.
    const element = h(
        "div",
        { class: "choices switches", onchange: (event) => event.stopPropagation() },
        h("label", { title: properties.scale.description }, scale, properties.scale.title),
        h("label", { title: properties.mask.description }, mask, "causal mask"),
        h("label", { title: properties.mask_matrix.description }, own, "mask of my own"),
        mapsLabel,
        blend.element,
    );
    return {
        element,
        maskElement,
        values: () => ({ ...touched, ...(own.checked ? { mask_matrix: editor.read() } : {}) }),
        givesMaps: () => maps.checked,
        giveMaps(on) {
            maps.checked = on;
        },
        offerMaps(on) {
            mapsLabel.hidden = !on;
        },
        reset() {
            delete touched.mask;
            delete touched.scale;
            own.checked = false;
            maps.checked = false;
            showEditor(false);
        },
        // Takes over the switches of a run that a link names. Values that equal the preset's stay the preset's.
        adopt({ preset, mask: itsMask, scale: itsScale, mask_matrix: matrix, blend: itsBlend = 1, context_tokens: context }) {
            const isHead = preset === "causal-head";
            if (itsMask !== (isHead && !context ? "causal" : "none")) touched.mask = itsMask;
            if (itsBlend !== 1) touched.blend = itsBlend;
            if (itsScale === isHead) touched.scale = itsScale;
            own.checked = Boolean(matrix);
            if (matrix) editor.write(matrix);
            showEditor(false);
        },
        // Gives the mask as many rows and columns as the next run has queries and keys.
        fit(newSizes) {
            if (newSizes && own.checked) editor.resize(...newSizes);
        },
        show(parameters, newSizes) {
            mask.checked = parameters.mask === "causal";
            scale.checked = parameters.scale !== false;
            blend.show(parameters.blend ?? 1);
            sizes = newSizes;
        },
        setError: editor.setError,
    };
}

// The slider from the running average to attention: what the scores are multiplied by.
function createBlend(page, property, onBlend) {
    const DELAY_MS = 120;
    const given = Number(page.parameters.get("blend") ?? 1);
    // The timer of a value that the reader has chosen and the chapter does not know yet; a result must not take it back.
    let timer = null;
    const range = h("input", {
        type: "range",
        id: "blend",
        min: property.minimum,
        max: property.maximum,
        step: 0.01,
        value: given >= 0 && given <= 1 ? given : 1,
        oninput() {
            text.textContent = range.value;
            clearTimeout(timer);
            timer = setTimeout(() => {
                timer = null;
                onBlend(Number(range.value));
            }, DELAY_MS);
        },
    });
    const text = h("output", { for: "blend" }, range.value);
    page.signal.addEventListener("abort", () => clearTimeout(timer));
    return {
        element: h(
            "div",
            { class: "slider-row blend" },
            h("label", { for: "blend" }, "From the plain average (0) to attention (1)"),
            range,
            text,
        ),
        value: () => Number(range.value),
        show(value) {
            if (timer !== null) return;
            range.value = value;
            text.textContent = range.value;
        },
    };
}
