// Attention as a directed graph: an arrow from each key to each query that hears it, as thick as the weight. Arrows that
// the mask removes are grey and dashed. What the picture shows also stands below it in words.

import { h, replaceChildren, svg, uniqueId } from "./dom.js";
import { fixed } from "./format.js";

const LARGEST = 16;
const BETWEEN = 170;
const LETTER = 7.6;
const TOP = 42;
const SPACING = 34;
const RADIUS = 6;
const THICKEST = 9;
// Thinner arrows would vanish, though a weight that small still counts.
const THINNEST = 0.4;

// The room for the names beside a column of tokens, which is never less than its heading needs.
const roomFor = (names) => 2 * RADIUS + 6 + LETTER * Math.max(12, ...names.map((name) => name.length));
const place = (index, count, most) => TOP + (index + (most - count) / 2) * SPACING;
const list = (parts) => (parts.length > 0 ? parts.join(", ") : "no key");

// The words for one query: whom it hears, and whom the mask keeps from it.
function sentence(query, weights, labels, isMasked) {
    const keys = weights.map((weight, key) => ({ weight, name: labels.keys[key], hidden: isMasked(query, key) }));
    const heard = keys.filter((key) => !key.hidden).map(({ name, weight }) => `${name} (${fixed(weight, 3)})`);
    const hidden = keys.filter((key) => key.hidden).map(({ name }) => name);
    const removed = hidden.length > 0 ? ` The mask removes ${hidden.join(", ")}.` : "";
    return `${labels.queries[query]} hears ${list(heard)}.${removed}`;
}

// Returns { element, show(weights, { queries, keys, isMasked }) }: weights[query][key] from 0 to 1, null where a number is
// not finite; `queries` and `keys` are the names of the tokens; isMasked(query, key) says what the mask removes.
export function createAttentionGraph() {
    const choice = h("select", { id: uniqueId("graph-query"), onchange: () => draw() });
    const picture = h("div", { class: "attention-graph-picture" });
    const words = h("ul");
    const tooLarge = h(
        "p",
        { class: "hint", hidden: true },
        `With more than ${LARGEST} tokens the arrows would cover each other: choose one query, or read the matrix.`,
    );
    const element = h(
        "figure",
        { class: "attention-graph" },
        h("figcaption", null, "Attention as a directed graph"),
        h("div", { class: "slider-row" }, h("label", { for: choice.id }, "Arrows into"), choice),
        tooLarge,
        picture,
        h(
            "p",
            { class: "hint" },
            "An arrow runs from a key to a query that hears it, as thick as its weight. Grey and dashed: removed by the mask.",
        ),
        h("details", null, h("summary", null, "The graph in words"), words),
    );
    let shown = null;

    function arrow(query, key, most, left, heads) {
        const { weights, labels, isMasked } = shown;
        const masked = isMasked(query, key);
        const weight = weights[query][key];
        if (!masked && !(weight > 0)) return null;
        return svg("line", {
            class: masked ? "graph-masked" : "graph-arrow",
            x1: left + RADIUS,
            y1: place(key, labels.keys.length, most),
            x2: left + BETWEEN - RADIUS - 3,
            y2: place(query, labels.queries.length, most),
            "stroke-width": masked ? 1 : Math.max(THINNEST, THICKEST * weight),
            "marker-end": `url(#${masked ? heads.masked : heads.arrow})`,
        });
    }

    function nodes(names, x, most, anchor, title) {
        const textAt = anchor === "end" ? x - RADIUS - 6 : x + RADIUS + 6;
        return [
            svg("text", { class: "graph-title", x: textAt, y: 18, "text-anchor": anchor }, title),
            names.map((name, index) => {
                const y = place(index, names.length, most);
                return [
                    svg("circle", { class: "graph-node", cx: x, cy: y, r: RADIUS }),
                    svg("text", { class: "graph-text", x: textAt, y: y + 5, "text-anchor": anchor }, name),
                ];
            }),
        ];
    }

    function head(id, kind) {
        const size = { markerWidth: 9, markerHeight: 9, refX: 6, refY: 4.5, orient: "auto", markerUnits: "userSpaceOnUse" };
        return svg("marker", { id, ...size }, svg("path", { class: kind, d: "M0 0.5 L9 4.5 L0 8.5 z" }));
    }

    function draw() {
        const { labels } = shown;
        const left = roomFor(labels.keys);
        const right = left + BETWEEN;
        const most = Math.max(labels.queries.length, labels.keys.length);
        const chosen = choice.value === "" ? labels.queries.map((_, index) => index) : [Number(choice.value)];
        tooLarge.hidden = most <= LARGEST;
        const heads = { arrow: uniqueId("arrow"), masked: uniqueId("arrow") };
        const arrows = chosen.flatMap((query) => labels.keys.map((_, key) => arrow(query, key, most, left, heads)));
        const sentences = chosen.map((query) => sentence(query, shown.weights[query], labels, shown.isMasked));
        const drawing =
            most <= LARGEST || chosen.length === 1
                ? svg(
                      "svg",
                      {
                          viewBox: `0 0 ${right + roomFor(labels.queries)} ${TOP + most * SPACING}`,
                          role: "img",
                          "aria-label": `Arrows from ${labels.keys.length} keys to ${labels.queries.length} queries. The graph in words follows.`,
                      },
                      svg("defs", null, head(heads.arrow, "graph-head"), head(heads.masked, "graph-masked-head")),
                      // What counts is drawn over what is removed.
                      arrows.filter((one) => one?.classList.contains("graph-masked")),
                      arrows.filter((one) => one?.classList.contains("graph-arrow")),
                      nodes(labels.keys, left, most, "end", "keys, values"),
                      nodes(labels.queries, right, most, "start", "queries"),
                  )
                : null;
        replaceChildren(picture, drawing);
        replaceChildren(
            words,
            sentences.map((text) => h("li", null, text)),
        );
    }

    return {
        element,
        show(weights, { queries, keys, isMasked }) {
            const before = choice.value;
            shown = { weights, labels: { queries, keys }, isMasked };
            replaceChildren(
                choice,
                h("option", { value: "" }, "all queries"),
                queries.map((name, index) => h("option", { value: index }, name)),
            );
            if (Number(before) < queries.length) choice.value = before;
            draw();
        },
    };
}
