// Two buttons for paging through a long list, and the current position in it.

import { h } from "./dom.js";
import { integer } from "./format.js";

// Returns { elements, offset(), reset(), show(count, total) }; onMove() is called after a step of `size`.
export function createPager(size, onMove) {
    let offset = 0;
    const move = (step) => {
        offset = Math.max(0, offset + step);
        onMove();
    };
    const back = h("button", { type: "button", onclick: () => move(-size) }, "\u2190 Earlier");
    const forward = h("button", { type: "button", onclick: () => move(size) }, "Further \u2192");
    const position = h("span", { class: "hint", role: "status" });
    return {
        elements: [back, forward, position],
        offset: () => offset,
        reset() {
            offset = 0;
        },
        show(count, total) {
            position.textContent = count > 0 ? `${offset + 1} to ${offset + count} of ${integer(total)}` : "none";
            back.disabled = offset === 0;
            forward.disabled = offset + size >= total;
        },
    };
}
