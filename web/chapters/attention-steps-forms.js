// The three forms of attention as a switch: encoder, decoder, cross-attention. The one on view is marked.

import { h } from "../shared/dom.js";
import { chapterAddress } from "../shared/state.js";

const FORMS = [
    {
        name: "Encoder",
        text: "full mask: every token hears every token of its sequence.",
        settings: { preset: "drawn", mask: "none" },
        isShown: (result, { mask, ...others }) => isSelf(result, others) && mask !== "causal",
    },
    {
        name: "Decoder",
        text: "causal mask: a token hears itself and those before it.",
        settings: { preset: "drawn", mask: "causal" },
        isShown: (result, { mask, ...others }) => isSelf(result, others) && mask === "causal",
    },
    {
        name: "Cross-attention",
        text: "queries from one sequence, keys and values from another.",
        settings: { preset: "drawn", context_tokens: 6 },
        isShown: (_, { context_tokens: context }) => context > 0,
    },
];
// Within one sequence each token has a query and a key. A mask of the reader's own makes neither encoder nor decoder.
const isSelf = (result, { context_tokens: context, mask_matrix: matrix }) =>
    !context && !matrix && result.q.length === result.k.length;

// Returns { element, show(result, run) }.
export function createForms() {
    const links = FORMS.map(({ name, settings }) => h("a", { href: chapterAddress("attention-steps", settings) }, name));
    return {
        element: h(
            "ul",
            { class: "attention-forms", "aria-label": "Encoder, decoder or cross-attention" },
            FORMS.map(({ text }, index) => h("li", null, links[index], ": ", text)),
        ),
        show(result, { parameters }) {
            FORMS.forEach(({ isShown }, index) => {
                if (isShown(result, parameters)) links[index].setAttribute("aria-current", "true");
                else links[index].removeAttribute("aria-current");
            });
        },
    };
}
