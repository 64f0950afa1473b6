// A form built from an experiment's JSON Schema (GET /api/experiments). Labels, ranges, choices, defaults and help all come
// from the server's declaration; nothing about a parameter is repeated here. Only the server decides what is valid, and
// the form shows each fault at its field.

import { h, quietButton, uniqueId } from "./dom.js";

const kindOf = (schema) => {
    if (schema.enum) return "choice";
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    if (type !== "array") return type;
    if (schema.items?.enum) return "choices";
    return schema.items?.type === "array" ? "matrix" : "list";
};

// The form element around a chapter's controls; submit() replaces the browser's own submission.
export const panelForm = (submit, ...children) =>
    h(
        "form",
        {
            class: "panel",
            novalidate: true,
            onsubmit: (event) => {
                event.preventDefault();
                submit();
            },
        },
        children,
    );

// A control that comes from no schema: its label above it, its help below.
export function labelledField(label, control, help, { wide = false } = {}) {
    if (help) control.setAttribute("aria-describedby", `${control.id}-help`);
    return h(
        "div",
        { class: wide ? "field field-wide" : "field" },
        h("label", { class: "field-label", for: control.id }, label),
        control,
        help && h("span", { class: "field-help", id: `${control.id}-help` }, help),
    );
}

// A bound beyond this is a limit of the machine and tells a person nothing.
const LARGEST_SHOWN = 1e9;

// A comparison reports the faults of each variant; here they are shown at the field that all variants share.
const OF_VARIANT = /^variants\[\d+\]\./;

const listOf = (text) =>
    text
        .split(/[\s,;]+/)
        .filter((part) => part !== "")
        .map((part) => toNumber(part));
// Text that is not a number is sent as it was typed: the server says what is wrong with it.
const toNumber = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
// Whether two values, lists or sets of parameters are equal.
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function rangeText(schema) {
    const bounds = schema.items?.type === "integer" || schema.items?.type === "number" ? schema.items : schema;
    const low = bounds.exclusiveMinimum ?? bounds.minimum;
    if (low === undefined || bounds.maximum === undefined) return "";
    if (bounds.maximum > LARGEST_SHOWN) return "";
    return bounds.exclusiveMinimum === undefined
        ? `${low} to ${bounds.maximum}`
        : `above ${low}, at most ${bounds.maximum}`;
}

// Each kind of control: { element, read() -> value or undefined for "the default", write(value) }.
const CONTROLS = {
    integer: numberControl,
    number: numberControl,
    string: (schema, attributes) => textControl(attributes, (text) => text, schema.default),
    list(schema, attributes) {
        const control = textControl({ ...attributes, inputmode: "numeric" }, listOf, schema.default?.join(", "));
        return { ...control, write: (value) => control.write(typeof value === "string" ? listOf(value) : value) };
    },
    boolean(schema, attributes) {
        const element = h("input", { ...attributes, type: "checkbox", checked: schema.default === true });
        return {
            element,
            read: () => element.checked,
            write: (value) => {
                element.checked = value === true || value === "true";
            },
        };
    },
    choice(schema, attributes) {
        const element = h(
            "select",
            attributes,
            schema.enum.map((choice) => h("option", { value: choice, selected: choice === schema.default }, choice)),
        );
        return {
            element,
            read: () => element.value,
            write: (value) => {
                element.value = value;
            },
        };
    },
    choices(schema, attributes) {
        const boxes = schema.items.enum.map((choice) =>
            h("input", { type: "checkbox", value: choice, checked: (schema.default ?? []).includes(choice) }),
        );
        const element = h(
            "span",
            { ...attributes, role: "group", class: "choices" },
            boxes.map((box) => h("label", null, box, box.value)),
        );
        return {
            element,
            read: () => boxes.filter((box) => box.checked).map((box) => box.value),
            write: (value) => {
                const chosen = typeof value === "string" ? value.split(",") : value;
                boxes.forEach((box) => {
                    box.checked = chosen.includes(box.value);
                });
            },
        };
    },
};

function numberControl(schema, attributes) {
    const low = schema.exclusiveMinimum ?? schema.minimum;
    return textControl(
        { ...attributes, type: "number", min: low, max: schema.maximum, step: schema.type === "integer" ? 1 : "any" },
        toNumber,
        schema.default,
    );
}

function textControl(attributes, parse, initial) {
    const element = h("input", {
        type: "text",
        autocomplete: "off",
        spellcheck: "false",
        ...attributes,
        value: initial ?? "",
    });
    return {
        element,
        read: () => (element.value.trim() === "" ? undefined : parse(element.value.trim())),
        write: (value) => {
            element.value = Array.isArray(value) ? value.join(", ") : value;
        },
    };
}

// Settles a default that depends on other values. Its note says "text: 12; data of yours: the first 80 %", and the
// chapter's situation, one or more of these conditions or 'usual', decides which part applies. Returns the schema with that
// default, or without one if only the server knows it; then `hint` describes it.
export function settleDefault(schema, situation) {
    if (!schema["x-default-note"]) return schema;
    const open = { ...schema, default: undefined };
    if (situation === undefined)
        return { ...open, hint: [schema.default, `(${schema["x-default-note"]})`].filter((part) => part !== undefined).join(" ") };
    const holds = schema["x-default-note"]
        .split(";")
        .map((part) => part.trim().split(": "))
        .find(([condition, value]) => value !== undefined && [situation].flat().includes(condition));
    if (!holds) return schema;
    return Number.isFinite(Number(holds[1])) ? { ...schema, default: Number(holds[1]) } : { ...open, hint: holds[1] };
}

function createField(name, schema, situation, initial) {
    const id = uniqueId(name);
    const helpId = `${id}-help`;
    const errorId = `${id}-error`;
    const kind = kindOf(schema);
    const usable = kind === "choice" || kind === "boolean" ? schema : settleDefault(schema, situation);
    const attributes = {
        id,
        name,
        "aria-describedby": `${helpId} ${errorId}`,
        placeholder: usable.hint,
    };
    const grouped = kind === "choices";
    if (grouped) {
        attributes["aria-labelledby"] = `${id}-label`;
        delete attributes.placeholder;
    }
    const control = CONTROLS[kind](usable, attributes);
    const label = h(
        grouped ? "span" : "label",
        { class: "field-label", id: `${id}-label`, for: grouped ? null : id },
        schema.title ?? name,
    );
    const help = h(
        "span",
        { class: "field-help", id: helpId },
        [schema.description, rangeText(schema)].filter(Boolean).join(" "),
    );
    const error = h("span", { class: "field-error", id: errorId, role: "alert" });
    const element = h(
        "div",
        { class: `field field-${kind}` },
        kind === "boolean" ? [control.element, label] : [label, control.element],
        error,
        help,
    );
    return {
        name,
        element,
        control,
        changed: () => {
            const value = control.read();
            return !element.hidden && value !== undefined && !same(value, usable.default);
        },
        // Shows the default for this situation, if the default depends on it.
        settle: (newSituation) => {
            const settled = settleDefault(schema, newSituation);
            if (usable.hint) control.element.placeholder = settled.hint ?? settled.default;
        },
        adopt: (value) => {
            const isDefault = value === null || value === undefined || same(value, usable.default ?? schema.default);
            if (!isDefault) control.write(value);
        },
        reset: () => {
            if (initial !== undefined) control.write(initial);
            else if (usable.default !== undefined) control.write(usable.default);
            else if (kind !== "choice") control.write("");
        },
        setError(message) {
            error.textContent = message;
            if (message) control.element.setAttribute("aria-invalid", "true");
            else control.element.removeAttribute("aria-invalid");
        },
    };
}

// schema: the experiment's. main: the names always shown. more: the names under "More parameters" (default: all others
// except `except`). situation: see settleDefault. initial: the chapter's own choices that differ from the defaults.
// address: URLSearchParams to start from. onChange(): called after any change.
// Returns { element, values(), read(name), set(name, value), adopt(parameters), settle(newSituation), hide(names that do
// not apply now), showErrors(errors) -> the errors of no field here }.
export function createForm({ schema, main = [], more, except = [], situation, initial = {}, address, onChange }) {
    const names = Object.keys(schema.properties).filter(
        (name) => kindOf(schema.properties[name]) !== "matrix" && !except.includes(name),
    );
    const rest = (more ?? names.filter((name) => !main.includes(name))).filter((name) => names.includes(name));
    const fields = new Map(
        [...main, ...rest]
            .filter((name) => names.includes(name))
            .map((name) => [name, createField(name, schema.properties[name], situation, initial[name])]),
    );
    const elements = (list) => list.filter((name) => fields.has(name)).map((name) => fields.get(name).element);

    const reset = quietButton("Back to the defaults", () => {
        fields.forEach((field) => {
            field.reset();
            field.setError("");
        });
        onChange?.();
    });
    const details =
        rest.length > 0 &&
        h(
            "details",
            { class: "more-parameters" },
            h("summary", null, "More parameters"),
            h("div", { class: "fields" }, elements(rest)),
            reset,
        );
    const element = h(
        "div",
        { class: "form" },
        main.length > 0 && h("div", { class: "fields" }, elements(main)),
        details,
    );
    element.addEventListener("change", () => onChange?.());

    for (const name of Object.keys(initial)) fields.get(name).reset();
    if (address) {
        for (const [name, field] of fields) {
            if (!address.has(name)) continue;
            field.control.write(address.get(name));
            if (rest.includes(name)) details.open = true;
        }
    }

    return {
        element,
        // Only the values that differ from the defaults: the server fills in the rest.
        values() {
            return Object.fromEntries(
                [...fields.values()]
                    .filter((field) => field.changed())
                    .map((field) => [field.name, field.control.read()]),
            );
        },
        set(name, value) {
            fields.get(name).control.write(value);
        },
        // Shows these parameters, except those that the address sets.
        adopt(parameters) {
            for (const [name, field] of fields) if (!address?.has(name)) field.adopt(parameters[name]);
        },
        read: (name) => fields.get(name).control.read(),
        settle: (newSituation) => fields.forEach((field) => field.settle(newSituation)),
        hide: (hidden) =>
            fields.forEach((field, name) => {
                field.element.hidden = hidden.includes(name);
            }),
        showErrors(errors) {
            fields.forEach((field) => field.setError(""));
            const others = [];
            for (const error of errors) {
                const field = fields.get(error.field.replace(OF_VARIANT, "").split(/[.[]/)[0]);
                if (field) field.setError(error.message);
                else others.push(error);
                if (field && rest.includes(field.name)) details.open = true;
            }
            return others;
        },
    };
}
