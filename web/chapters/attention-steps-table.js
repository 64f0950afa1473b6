// The steps of attention as a table: for each its name, formula and text, the matrices on show, and the arithmetic behind a
// cell of them.

import { fixed, scientific } from "../shared/format.js";

export const NAMES = {
    input: "h (input)",
    context: "the other sequence",
    w_q: "W_q (map to queries)",
    w_k: "W_k (map to keys)",
    w_v: "W_v (map to values)",
    q: "Q (queries)",
    k: "K (keys)",
    v: "V (values)",
    scores: "scores",
    scaled: "scaled scores",
    masked: "masked scores",
    weights: "weights",
    output: "output",
    concatenated: "outputs of the heads, side by side",
    w_o: "W_o (map to the output)",
};
export const AXES = {
    input: ["token", "channel"],
    context: ["token", "channel"],
    w_q: ["dimension", "channel"],
    w_k: ["dimension", "channel"],
    w_v: ["dimension", "channel"],
    concatenated: ["query", "dimension"],
    w_o: ["channel", "dimension"],
    q: ["query", "dimension"],
    k: ["key", "dimension"],
    v: ["key", "dimension"],
    output: ["query", "dimension"],
    scores: ["query", "key"],
    scaled: ["query", "key"],
    masked: ["query", "key"],
    weights: ["query", "key"],
};
const LONGEST_SUM = 8;

const sum = (terms, operator) => {
    const shown = terms.length > LONGEST_SUM ? [...terms.slice(0, LONGEST_SUM - 1), "\u2026"] : terms;
    return shown.join(` ${operator} `);
};
const n = (value) => (value === null ? "(not finite)" : Math.abs(value) >= 1e5 ? scientific(value, 1) : fixed(value, 3));
const NOT_FINITE = "A score of this row is not finite: too large for a float32. No share of it can be computed.";

const isOfMask = ({ parameters }, query, key) =>
    (parameters.mask === "causal" && key > query) || parameters.mask_matrix?.[query]?.[key] === 0;
// Whether the key gets no attention from the query because of the mask: a score of zero hides nothing. A score that is null
// for any other reason is not finite.
export const isHidden = (run, query, key) => run.parameters.mask_fill !== "zero" && isOfMask(run, query, key);
export const isOverQueries = (run) => run.parameters.softmax_over === "queries";

// The heads of a result, one at least: a result of several has each of them apart.
export const headsOf = (result) => result.heads ?? [result];

const MAKERS = { q: ["input", "w_q", "b_q"], k: ["context", "w_k", "b_k"], v: ["context", "w_v", "b_v"] };

// The arithmetic of a cell of Q, K or V: a row of the input times a row of the map.
function mapCell(result, row, column, run, name) {
    const [source, map, bias] = MAKERS[name];
    const input = result[source] ?? result.input;
    const { swap, zero } = run.parameters;
    if (!input || swap || zero !== "none") return "";
    const terms = input[row].map((value, index) => `${n(value)}\u00b7${n(result[map][column][index])}`);
    const added = result[bias] ? ` + ${n(result[bias][column])}` : "";
    return `${sum(terms, "+")}${added} = ${n(result[name][row][column])}`;
}

// Each step: its name, formula and text, the matrices on show, which of them have arithmetic to show (by default the last,
// the step's own), the cells of the others that a cell is computed from, and the arithmetic of a cell.
export const STEPS = [
    {
        name: "Q, K, V",
        formula: '<mi>Q</mi><mo>,</mo><mspace width="0.4em"/><mi>K</mi><mo>,</mo><mspace width="0.4em"/><mi>V</mi>',
        text: "Each position of the input h gets three vectors by three learnt linear maps: a query says what it is looking for, a key what it offers, a value what it hands over. Several heads share the columns of Q, K and V among them. The presets worked and given begin with Q, K and V themselves.",
        show: ["input", "context", "w_q", "w_k", "w_v", "q", "k", "v"],
        own: ["q", "k", "v"],
        sources: (row, column, name, result) => {
            const [source, map] = MAKERS[name];
            return { [result[source] ? source : "input"]: { row }, [map]: { row: column } };
        },
        cell: mapCell,
    },
    {
        name: "Scores",
        formula: "<mi>S</mi><mo>=</mo><mi>Q</mi><msup><mi>K</mi><mi>T</mi></msup>",
        text: "Each query meets each key in a dot product: large where they point the same way, zero where they have nothing to do with each other.",
        show: ["q", "k", "scores"],
        sources: (row, column) => ({ q: { row }, k: { row: column } }),
        cell: ({ q, k, scores }, row, column) =>
            `${sum(
                q[row].map((value, index) => `${n(value)}\u00b7${n(k[column][index])}`),
                "+",
            )} = ${n(scores[row][column])}`,
    },
    {
        name: "Scale",
        formula: "<mfrac><mi>S</mi><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac>",
        text: "Long vectors give large dot products. Dividing by the root of their length keeps the scores in the range where a softmax still listens to all of them.",
        show: ["scores", "scaled"],
        sources: (row, column) => ({ scores: { row, column } }),
        cell({ scores, scaled, q }, row, column, run) {
            const { scale, blend = 1 } = run.parameters;
            if (scale === false && blend === 1) return "Scaling is switched off: the scores pass unchanged.";
            const root = scale === false ? "" : ` / \u221a${q[0].length}`;
            return `${n(scores[row][column])}${root}${blend === 1 ? "" : ` \u00b7 ${blend}`} = ${n(scaled[row][column])}`;
        },
    },
    {
        name: "Mask",
        formula:
            '<msub><mi>S</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>=</mo><mo>\u2212</mo><mi>\u221e</mi><mspace width="0.5em"/><mtext>where query\u00a0</mtext><mi>i</mi><mtext>\u00a0must not see key\u00a0</mtext><mi>j</mi>',
        text: "A causal mask hides the future: a score of minus infinity becomes a weight of exactly zero. A model that writes text one word at a time needs it; one that reads a whole sentence does not. Any other pattern can be hidden the same way: padding, far-away words, another document.",
        show: ["scaled", "masked"],
        sources: (row, column) => ({ scaled: { row, column } }),
        cell: ({ masked }, row, column, run) =>
            isHidden(run, row, column)
                ? run.parameters.mask === "causal" && column > row
                    ? `Key ${column} comes after query ${row}: hidden.`
                    : `The mask matrix hides key ${column} from query ${row}.`
                : isOfMask(run, row, column)
                  ? `Key ${column} should be hidden from query ${row}. Multiplied by 0, its score is 0, and exp(0) = 1: not hidden.`
                  : `Query ${row} may see key ${column}: the score stays ${n(masked[row][column])}.`,
    },
    {
        name: "Softmax",
        formula:
            "<msub><mi>W</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo>=</mo><mfrac><msup><mi>e</mi><msub><mi>S</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></msup><mrow><munder><mo>\u2211</mo><mi>m</mi></munder><msup><mi>e</mi><msub><mi>S</mi><mrow><mi>i</mi><mi>m</mi></mrow></msub></msup></mrow></mfrac>",
        text: "Each row of scores becomes shares that add up to one: how much of its attention a query spends on each key.",
        show: ["masked", "weights"],
        sources: (row, column, _name, _result, run) => ({ masked: isOverQueries(run) ? { column } : { row } }),
        cell({ masked, weights }, row, column, run) {
            if (isHidden(run, row, column)) return "A hidden key gets nothing.";
            const seen = isOverQueries(run)
                ? masked.map((scores) => scores[column]).filter((_, query) => !isHidden(run, query, column))
                : masked[row].filter((_, key) => !isHidden(run, row, key));
            if (seen.includes(null)) return NOT_FINITE;
            return `exp(${n(masked[row][column])}) / (${sum(
                seen.map((value) => `exp(${n(value)})`),
                "+",
            )}) = ${n(weights[row][column])}`;
        },
    },
    {
        name: "Output",
        formula: "<mi>O</mi><mo>=</mo><mi>W</mi><mi>V</mi>",
        text: "Each query receives the average of all values, weighted by its attention: a table look-up that is soft, and therefore can be learnt.",
        show: ["weights", "v", "output"],
        sources: (row, column) => ({ weights: { row }, v: { column } }),
        cell: ({ weights, v, output }, row, column) =>
            `${sum(
                weights[row].map((weight, index) => `${n(weight)}\u00b7${n(v[index][column])}`),
                "+",
            )} = ${n(output[row][column])}`,
    },
];
// With several heads, one more: their outputs side by side, through a last map.
export const OUTPUT_MAP = {
    name: "Output map",
    formula:
        "<mi>O</mi><mo>=</mo><mo>[</mo><msub><mi>O</mi><mn>1</mn></msub><mo>\u2026</mo><msub><mi>O</mi><mi>h</mi></msub><mo>]</mo><msubsup><mi>W</mi><mi>o</mi><mi>T</mi></msubsup><mo>+</mo><mi>b</mi>",
    text: "The outputs of the heads stand side by side again, and a fourth map mixes them: what one head found can reach every channel.",
    show: ["concatenated", "w_o", "output"],
    sources: (row, column) => ({ concatenated: { row }, w_o: { row: column } }),
    cell: ({ concatenated, w_o: map, b_o: bias, output }, row, column) =>
        `${sum(
            concatenated[row].map((value, index) => `${n(value)}\u00b7${n(map[column][index])}`),
            "+",
        )} + ${n(bias[column])} = ${n(output[row][column])}`,
};
export const isOfWhole = (step) => step === 0 || step === STEPS.length;
