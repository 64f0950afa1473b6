// Builds elements without parsing HTML: every string becomes a text node, so nothing a person types (a sentence, a data
// set's words, a run's name) can turn into markup.

const SVG = "http://www.w3.org/2000/svg";

// Properties that must be set on the object; everything else becomes an attribute.
const PROPERTIES = new Set([
    "value",
    "checked",
    "disabled",
    "selected",
    "open",
    "hidden",
    "readOnly",
    "indeterminate",
    "files",
]);

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value);
        else if (PROPERTIES.has(name)) element[name] = value;
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
}

export function append(element, children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : String(child));
    }
    return element;
}

export function h(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

// A small button beside what it changes. `label` is for screen readers if the text alone says too little.
export const quietButton = (text, onclick, label) =>
    h("button", { type: "button", class: "quiet", "aria-label": label, onclick }, text);

export function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replaceChildren(element, ...children) {
    element.replaceChildren();
    return append(element, children);
}

let lastId = 0;
// A new id, for labels and descriptions that refer to an element.
export function uniqueId(prefix) {
    lastId += 1;
    return `${prefix}-${lastId}`;
}

// For requests of which only the last one matters. The returned function is called when one begins; what that returns
// tells whether none has begun since.
export function latest() {
    let count = 0;
    return () => {
        count += 1;
        const mine = count;
        return () => mine === count;
    };
}

// Returns a function that calls `work` at most once per frame, however often it is called.
export function oncePerFrame(work) {
    let waiting = false;
    return () => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => {
            waiting = false;
            work();
        });
    };
}

export function debounce(milliseconds, work) {
    let timer = 0;
    return (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => work(...values), milliseconds);
    };
}

// Returns a function that calls `work` at once, then at most once in the given time, and once more at its end if there
// were calls in between.
export function atMostEvery(milliseconds, work) {
    let timer = 0;
    let again = false;
    const run = () => {
        work();
        timer = setTimeout(() => {
            timer = 0;
            if (!again) return;
            again = false;
            run();
        }, milliseconds);
    };
    return () => {
        if (timer) again = true;
        else run();
    };
}
