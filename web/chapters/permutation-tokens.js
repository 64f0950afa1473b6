// Tokens as cards, once in order and once shuffled, with a line from each to where it went. A card shows what attention gives
// the token. Without positions that moves with the token; with positions it changes.

import { h, svg } from "../shared/dom.js";
import { fixed, scientific } from "../shared/format.js";
import { createTable } from "../shared/table.js";

const SHOWN = 8;
const CARD = { width: 92, height: 46, gap: 12 };
const ROW_GAP = 90;
const TOP = 24;
const SAME = 1e-5;

const distance = (a, b) => a.reduce((most, value, index) => Math.max(most, Math.abs(value - b[index])), 0);

// The first places of the shuffled sequence, each with its token and that token's output before and after.
function readMoves({ permutation, tokens }) {
    return permutation.slice(0, SHOWN).map((token, place) => {
        const [before, after] = [tokens.original[token], tokens.shuffled[place]];
        return { token, place, before, after, changed: distance(before, after) > SAME };
    });
}

function card(x, y, title, output, changed) {
    return svg(
        "g",
        { class: `token-card${changed ? " changed" : ""}` },
        svg("rect", { x, y, width: CARD.width, height: CARD.height, rx: 6 }),
        svg("text", { x: x + CARD.width / 2, y: y + 18, class: "token-name" }, title),
        svg("text", { x: x + CARD.width / 2, y: y + 36 }, fixed(output[0], 3)),
    );
}

function drawMoves(moves) {
    const sorted = [...moves].sort((a, b) => a.token - b.token);
    const xOf = (index) => index * (CARD.width + CARD.gap) + 1;
    const width = xOf(moves.length) - CARD.gap + 1;
    const below = TOP + CARD.height + ROW_GAP;
    const lines = sorted.map(({ place, changed }, index) =>
        svg("line", {
            class: changed ? "token-line changed" : "token-line",
            x1: xOf(index) + CARD.width / 2,
            y1: TOP + CARD.height,
            x2: xOf(place) + CARD.width / 2,
            y2: below,
        }),
    );
    return svg(
        "svg",
        {
            class: "token-cards",
            viewBox: `0 0 ${width} ${below + CARD.height + 2}`,
            role: "img",
            "aria-label": "Cards of tokens in order, lines to the places where the shuffle puts them; the table below has the numbers.",
        },
        svg("text", { x: 1, y: 16, class: "token-row" }, "in order"),
        svg("text", { x: 1, y: below - 8, class: "token-row" }, "shuffled"),
        lines,
        sorted.map(({ token, before }, index) => card(xOf(index), TOP, `token ${token}`, before, false)),
        moves.map(({ token, place, after, changed }) => card(xOf(place), below, `token ${token}`, after, changed)),
    );
}

// The picture and the table of one result. Runs of earlier versions have no outputs of tokens.
export function tokenMoves(title, result) {
    if (!result.tokens) return h("p", { class: "hint" }, `${title}: the run on view was made by an earlier version. Run it again.`);
    const moves = readMoves(result);
    return h(
        "section",
        { class: "token-moves" },
        h("h3", null, title),
        drawMoves(moves),
        createTable({
            caption: "Outputs of tokens: the first of their 32 numbers",
            cards: true,
            columns: [
                { label: "place after the shuffle", numeric: true, cell: (row) => row.place },
                { label: "token", numeric: true, cell: (row) => row.token },
                { label: "output before", numeric: true, cell: (row) => fixed(row.before[0], 4) },
                { label: "output after", numeric: true, cell: (row) => fixed(row.after[0], 4) },
                {
                    label: "largest difference",
                    numeric: true,
                    cell: (row) => scientific(distance(row.before, row.after), 1),
                },
            ],
            rows: moves,
        }).element,
    );
}
