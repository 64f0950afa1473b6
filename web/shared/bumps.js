// Where a loss jumped: rose far above the lowest so far. Attention's loss does that now and then, in PyTorch too, and
// comes back; only a loss that is not finite ends a run.

import { compact } from "./format.js";

// A jump is to more than this many times the lowest loss so far, and by more than this many nats.
const TIMES = 3;
const NATS = 0.25;
const MOST_SAID = 4;

const isHigh = (loss, lowest) => loss > TIMES * lowest && loss - lowest > NATS;

// points: [{ x: epoch, y: loss }] in order. Returns [{ begin, from, peak, top, end, to }]: the epoch in which each jump
// began and the lowest loss before it, the epoch of its peak and that loss, and the epoch in which it was back (null: not
// yet) and that loss.
export function findBumps(points) {
    const bumps = [];
    let lowest = Infinity;
    let open = null;
    for (const { x, y } of points) {
        if (open && !isHigh(y, lowest)) {
            Object.assign(open, { end: x, to: y });
            open = null;
        } else if (open && y > open.top) {
            Object.assign(open, { peak: x, top: y });
        } else if (!open && isHigh(y, lowest)) {
            open = { begin: x, from: lowest, peak: x, top: y, end: null, to: null };
            bumps.push(open);
        }
        lowest = Math.min(lowest, y);
    }
    return bumps;
}

const bumpText = ({ begin, from, peak, top, end, to }) =>
    `in epoch ${begin} from ${compact(from, 2)} to ${compact(top, 3)}${peak === begin ? "" : ` (epoch ${peak})`}, ${end === null ? "and is not back yet" : `back at ${compact(to, 2)} in epoch ${end}`}`;

// What the bumps of all series were, in words; "" if there were none. A series alone needs no name.
// found: [{ label, bumps }].
export function bumpsText(found) {
    const said = found.flatMap(({ label, bumps }) =>
        bumps.map((bump) => `${found.length > 1 ? `${label} ` : ""}${bumpText(bump)}`),
    );
    if (said.length === 0) return "";
    const more = said.length > MOST_SAID ? `; and ${said.length - MOST_SAID} more` : "";
    return `\u25b2 The loss jumped: ${said.slice(0, MOST_SAID).join("; ")}${more}. A step that was too long does that; the run goes on, as PyTorch\u2019s does.`;
}
