// Attention in one line, softmax(QK^T / sqrt(d_k)) V: each step lights the part that it computes, and a click on a part goes
// to its step.

import { h } from "../shared/dom.js";
import { displayedFormula } from "../shared/formula.js";

const part = (steps, markup) => `<mrow data-steps="${steps}">${markup}</mrow>`;
// The numbers are those of the steps. A mask stands in the line only if there is one.
const LINE = [
    part("4", "<mi>softmax</mi>"),
    "<mo>(</mo>",
    "<mfrac>",
    part("1", `${part("0", "<mi>Q</mi>")}<msup>${part("0", "<mi>K</mi>")}<mi>T</mi></msup>`),
    part("2", "<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt>"),
    "</mfrac>",
    part("3", "<mo>+</mo><mi>M</mi>"),
    "<mo>)</mo>",
    part("0 5", "<mi>V</mi>"),
].join("");

const LIT = [
    "Lit in the line: Q, K and V.",
    "Lit in the line: the product of Q with K transposed.",
    "Lit in the line: the division by the root of d_k.",
    "Lit in the line: the mask M.",
    "Lit in the line: the softmax.",
    "Lit in the line: the product with V.",
    "After the line: the outputs of several heads go through one more map.",
];

const stepsOf = (element) => element.dataset.steps.split(" ").map(Number);

// go(step) is called for a click. Returns { element, show(step, { isMasked, isScaled }) }.
export function createOneLine(go) {
    const math = displayedFormula(LINE);
    const parts = [...math.querySelectorAll("[data-steps]")];
    const mask = parts.find((one) => one.dataset.steps === "3");
    const plus = [...mask.childNodes];
    const lit = h("p", { class: "hint one-line-says", "aria-live": "polite" });
    parts.forEach((one) =>
        one.addEventListener("click", (event) => {
            event.stopPropagation();
            go(stepsOf(one).at(-1));
        }),
    );
    return {
        element: h("div", { class: "one-line" }, math, lit),
        show(step, { isMasked, isScaled }) {
            mask.replaceChildren(...(isMasked ? plus : []));
            for (const one of parts) {
                if (stepsOf(one).includes(step)) one.setAttribute("aria-current", "step");
                else one.removeAttribute("aria-current");
            }
            if (step === 3 && !isMasked) lit.textContent = "No mask here: nothing is added to the scores.";
            else if (step === 2 && !isScaled) lit.textContent = "The division is switched off here.";
            else lit.textContent = LIT[step];
        },
    };
}
