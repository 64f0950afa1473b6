// A form built from an experiment's JSON Schema (GET /api/experiments): labels, ranges, choices, defaults and
// help all come from the server's one declaration. Nothing about a parameter is written here a second time,
// and the server alone decides what is valid; its faults are shown at their fields.

import { h, uniqueId } from "./dom.js";

const kindOf = (schema) => {
    if (schema.enum) return "choice";
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    if (type !== "array") return type;
    if (schema.items?.enum) return "choices";
    return schema.items?.type === "array" ? "matrix" : "list";
};

// A bound beyond this is there for the machine's sake and tells a person nothing.
const LARGEST_SHOWN = 1e9;

// A comparison names the faults of each variant; here they belong to the one field that all share.
const OF_VARIANT = /^variants\[\d+\]\./;

const listOf = (text) =>
    text
        .split(/[\s,;]+/)
        .filter((part) => part !== "")
        .map((part) => toNumber(part));
// What is not a number is sent as it was typed: the server says what is wrong with it.
const toNumber = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

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
    list: (schema, attributes) =>
        textControl({ ...attributes, inputmode: "numeric" }, listOf, schema.default?.join(", ")),
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

// A default that depends on other values is left to the server, unless the chapter's situation settles it: the
// note says "text: 12", and the chapter is about text; or the usual case holds. Gives the schema with the
// settled default, or with none.
export function settleDefault(schema, situation) {
    if (!schema.default_note || situation === "usual") return schema;
    const known = schema.default_note
        .split(";")
        .map((part) => part.trim())
        .find((part) => part.startsWith(`${situation}: `));
    const value = known && Number(known.slice(situation.length + 2));
    return { ...schema, default: Number.isFinite(value) ? value : undefined };
}

function createField(name, schema, situation) {
    const id = uniqueId(name);
    const helpId = `${id}-help`;
    const errorId = `${id}-error`;
    const kind = kindOf(schema);
    const usable = kind === "choice" || kind === "boolean" ? schema : settleDefault(schema, situation);
    const depends = usable.default === undefined && schema.default_note;
    const attributes = {
        id,
        name,
        "aria-describedby": `${helpId} ${errorId}`,
        placeholder: depends
            ? [schema.default, `(${schema.default_note})`].filter((part) => part !== undefined).join(" ")
            : null,
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
        // Names the default that holds in this situation, where it depends on one.
        settle: (newSituation) => {
            const settled = settleDefault(schema, newSituation).default ?? schema.default;
            if (depends && kind !== "choice") control.element.placeholder = settled ?? "";
        },
        reset: () => {
            if (usable.default !== undefined) control.write(usable.default);
            else if (kind !== "choice") control.write("");
        },
        setError(message) {
            error.textContent = message;
            if (message) control.element.setAttribute("aria-invalid", "true");
            else control.element.removeAttribute("aria-invalid");
        },
    };
}

// schema: the experiment's; main: names shown at once; more: names behind "More parameters" (default: all
// others but `except`). situation: 'usual' or 'text' where that settles defaults. address: URLSearchParams to start from. onChange(): after any change.
// Returns { element, values(), read(name), set(name, value), settle(situation, names): the situation has become
// another, and of the fields that depend on one only these apply; showErrors(errors) -> those of no field here }.
export function createForm({ schema, main = [], more, except = [], situation, address, onChange }) {
    const names = Object.keys(schema.properties).filter(
        (name) => kindOf(schema.properties[name]) !== "matrix" && !except.includes(name),
    );
    const rest = (more ?? names.filter((name) => !main.includes(name))).filter((name) => names.includes(name));
    const fields = new Map(
        [...main, ...rest]
            .filter((name) => names.includes(name))
            .map((name) => [name, createField(name, schema.properties[name], situation)]),
    );
    const elements = (list) => list.filter((name) => fields.has(name)).map((name) => fields.get(name).element);

    const reset = h(
        "button",
        {
            type: "button",
            class: "quiet",
            onclick: () => {
                fields.forEach((field) => {
                    field.reset();
                    field.setError("");
                });
                onChange?.();
            },
        },
        "Back to the defaults",
    );
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

    if (address) {
        for (const [name, field] of fields) {
            if (!address.has(name)) continue;
            field.control.write(address.get(name));
            if (rest.includes(name)) details.open = true;
        }
    }

    return {
        element,
        // Only what differs from the defaults: the server fills in the rest.
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
        read: (name) => fields.get(name).control.read(),
        settle(newSituation, applying) {
            for (const [name, field] of fields) {
                if (!schema.properties[name].default_note || kindOf(schema.properties[name]) === "choice") continue;
                field.element.hidden = !applying.includes(name);
                field.settle(newSituation);
            }
        },
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
