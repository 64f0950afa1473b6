// The task in a picture: the numbers of one test example, with the number that decides in colour.

import { get, query } from "../shared/api.js";
import { h, quietButton, replaceChildren, svg } from "../shared/dom.js";
import { fixed } from "../shared/format.js";

const WIDTH = 360;
const HEIGHT = 120;
const LARGEST = 3;

// Draws the numbers as bars from a zero line; nearly all lie between -3 and 3.
function drawBars(values) {
    const middle = HEIGHT / 2;
    const step = WIDTH / values.length;
    const bars = values.map((value, index) => {
        const height = (Math.min(Math.abs(value), LARGEST) / LARGEST) * middle;
        return svg("rect", {
            x: index * step + step * 0.1,
            y: value > 0 ? middle - height : middle,
            width: step * 0.8,
            height,
            class: index === 0 ? "task-first" : "task-noise",
        });
    });
    return svg(
        "svg",
        {
            viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
            role: "img",
            class: "task-picture",
            "aria-label": `${values.length} random numbers, drawn as bars; the first is ${fixed(values[0], 2)}`,
        },
        svg("rect", { x: 0, y: 0, width: Math.max(step, 4), height: HEIGHT, class: "task-band" }),
        bars,
        svg("line", { x1: 0, x2: WIDTH, y1: middle, y2: middle, class: "task-line" }),
    );
}

// parametersOf() returns the parameters that determine the examples. Returns { element, draw() }.
export function createTaskPicture(page, name, parametersOf) {
    const slot = h("div");
    const text = h("p", { class: "hint", "aria-live": "polite" });
    const next = quietButton("Another example", () => {
        offset += 1;
        draw();
    });
    const caption = h("figcaption", null, "One example of the test set");
    const element = h("figure", { class: "task waiting" }, caption, slot, text, next);
    let offset = 0;
    let newest = 0;

    function show({ values, label, index }) {
        replaceChildren(slot, drawBars(values));
        const reason = `Example ${index}: the first number is ${fixed(values[0], 2)}, so the answer is `;
        replaceChildren(text, reason, h("strong", null, label), ".");
    }
    // Reserves the room before the picture arrives: what is below must not move away from under the pointer.
    show({ values: [0], label: 0, index: 0 });

    async function draw() {
        const { sequence_length, test_examples, test_seed } = parametersOf();
        newest += 1;
        const mine = newest;
        const wanted = query({ split: "test", offset, limit: 1, sequence_length, test_examples, test_seed });
        try {
            const { examples, total } = await get(`/api/datasets/${encodeURIComponent(name)}/examples${wanted}`, page.signal);
            if (mine !== newest) return;
            if (examples.length === 0 && total > 0) {
                offset = 0;
                return draw();
            }
            show(examples[0]);
            element.classList.remove("waiting");
        } catch {
            // If the server refuses a parameter, its field says so; the picture waits for a valid one.
            if (mine === newest) element.classList.add("waiting");
        }
        return undefined;
    }
    return { element, draw };
}
