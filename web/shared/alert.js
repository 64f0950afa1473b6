// The place for errors that belong to no single field.

import { h, replaceChildren } from "./dom.js";

// Returns { element, show(error, otherErrors), clear() }.
export function createAlert() {
    const element = h("div", { class: "alert", role: "alert", hidden: true });
    return {
        element,
        clear() {
            element.hidden = true;
            element.replaceChildren();
        },
        show(error, others = error.errors ?? []) {
            if (error.name === "AbortError") return;
            element.hidden = false;
            replaceChildren(
                element,
                h("p", null, error.message),
                error.retryAfter && h("p", null, `Try again in ${error.retryAfter} s.`),
                others.length > 0 &&
                    h(
                        "ul",
                        null,
                        others.map((one) => h("li", null, h("code", null, one.field), " ", one.message)),
                    ),
            );
        },
    };
}
