// A pretrained network, used without any training: how often the nearest neighbour of a query picture is of the same class,
// in MobileNetV2's space and among raw pixels. For any query the page shows the neighbours, marked right or wrong.

import { h, replaceChildren } from "../shared/dom.js";
import { createExpectations } from "../shared/expectation.js";
import { createExperimentPanel } from "../shared/experiment-panel.js";
import { fixed, integer } from "../shared/format.js";
import { createQuestions } from "../shared/questions.js";
import { createTable } from "../shared/table.js";

const SPACES = { mobilenet_v2: "MobileNetV2", raw_pixels: "raw pixels" };
const PIXEL_SIZE = 3;

export function mount(root, page) {
    const tableSlot = h("div");
    const pictures = createPictures();
    const network = h("p");
    const results = h("div", { hidden: true }, network, tableSlot, pictures.element);
    const files = howToGetFiles(page);
    const expectations = createExpectations(CLAIMS);
    const questions = createQuestions(page, { chapter: "retrieval", experiment: "retrieval", questions: QUESTIONS });

    const panel = createExperimentPanel(page, {
        experiment: "retrieval",
        main: ["queries", "database", "splits"],
        button: "Search",
        slow: true,
        failed: () => {
            files.open = true;
        },
        render(result, run) {
            results.hidden = false;
            network.textContent = `Nothing was trained: MobileNetV2 has ${integer(result.parameter_count)} parameters without its top, all as they were published; raw pixels have none.`;
            tableSlot.replaceChildren(rateTable(result).element, agreementTable(result));
            pictures.show(result);
            expectations.update(result);
            questions.update(result, run);
        },
    });

    root.append(
        h(
            "p",
            { class: "lead" },
            "MobileNetV2 learnt to name photographs. Cut off its last layer and it turns any picture into 1,280 numbers. Are pictures of the same kind of clothing near each other in that space, although the network never saw one like them?",
        ),
        panel.element,
        questions.answer,
        results,
        files,
        expectations.element,
        h(
            "section",
            { class: "prose" },
            h("h2", null, "What one split can show, and what it cannot"),
            h(
                "p",
                null,
                "Two hundred queries are two hundred tosses of an unknown coin: the share of right answers is uncertain by about three percentage points either way, whichever pictures happen to be drawn. On one split the network wins, on the next raw pixels do. Set the number of splits to ten or more: the mean settles, and the spread column says how far a single split can be off.",
            ),
            h(
                "p",
                null,
                "That raw pixels do so well is no accident. These pictures are small, centred, all of one size and on a black background, so that two shirts cover nearly the same pixels. And enlarged from 28 to 96 they have none of the texture and colour the network learnt to use. A pretrained space is better where the pictures resemble those it came from, not everywhere.",
            ),
        ),
        questions.element,
    );
}

function rateTable(result) {
    const several = result.splits > 1 || result.rows.some((row) => row.spread);
    const chance = { space: "chance", dimensions: null, top1: result.chance, spread: null };
    return createTable({
        caption: "How often the nearest picture is of the same class",
        cards: true,
        columns: [
            { label: "space", cell: (row) => SPACES[row.space] ?? row.space },
            {
                label: "numbers per picture",
                numeric: true,
                cell: (row) => (row.dimensions ? integer(row.dimensions) : ""),
            },
            {
                label: several ? "mean over the splits" : "share right",
                numeric: true,
                cell: (row) => fixed(row.top1, 4),
            },
            ...(several
                ? [
                      {
                          label: "spread",
                          numeric: true,
                          cell: (row) => (row.spread === null || row.spread === undefined ? "" : fixed(row.spread, 4)),
                      },
                  ]
                : []),
            {
                label: "uncertainty of one split",
                numeric: true,
                cell: (row) => (row.standard_error ? `\u00b1 ${fixed(row.standard_error, 3)}` : ""),
            },
        ],
        rows: [...result.rows, chance],
    });
}

// How often the two spaces agree about a query, over all splits. Runs of earlier versions lack it.
function agreementTable({ agreement, splits }) {
    if (!agreement) return h("span");
    const total = queriesOf(agreement);
    const rows = [
        ["both", agreement.both],
        ["MobileNetV2 alone", agreement.only_mobilenet_v2],
        ["raw pixels alone", agreement.only_raw_pixels],
        ["neither", agreement.neither],
    ];
    return createTable({
        caption: `Who was right, over ${integer(total)} queries${splits > 1 ? ` of ${integer(splits)} splits` : ""}`,
        columns: [
            { label: "right", cell: ([label]) => label },
            { label: "queries", numeric: true, cell: ([, count]) => integer(count) },
            { label: "share", numeric: true, cell: ([, count]) => fixed(count / total, 3) },
        ],
        rows,
    }).element;
}
const queriesOf = (agreement) => Object.values(agreement).reduce((sum, count) => sum + count, 0);

// Draws a grey picture on a canvas, with enlarged pixels. `pixels` are bytes in base64.
function drawPicture(pixels, rows, columns, label) {
    const canvas = h("canvas", { width: columns, height: rows, role: "img", "aria-label": label, class: "picture" });
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    [...atob(pixels)].forEach((character, index) => {
        const value = character.charCodeAt(0);
        image.data.set([value, value, value, 255], 4 * index);
    });
    context.putImageData(image, 0, 0);
    canvas.style.width = `${PIXEL_SIZE * columns}px`;
    canvas.style.height = `${PIXEL_SIZE * rows}px`;
    return canvas;
}

function createPictures() {
    const choice = h("input", { type: "range", id: "query-picture", min: 0, value: 0, oninput: () => draw() });
    const number = h("output", { for: "query-picture" });
    const slot = h("div", { class: "neighbour-rows" });
    const element = h(
        "section",
        { "aria-labelledby": "neighbours-heading" },
        h("h2", { id: "neighbours-heading" }, "A query and its neighbours"),
        h("div", { class: "slider-row" }, h("label", { for: "query-picture" }, "Query"), choice, number),
        slot,
    );
    let result = null;
    let images = new Map();

    const className = (label) => result.class_names?.[label] ?? `class ${label}`;
    const picture = (index, label) => {
        const image = images.get(index);
        return image
            ? drawPicture(
                  image.pixels,
                  result.image_rows,
                  result.image_columns,
                  `picture ${index}, ${className(label)}`,
              )
            : h("span", { class: "hint" }, `picture ${index}`);
    };

    function draw() {
        const entry = result.neighbours[Number(choice.value)];
        number.textContent = `${Number(choice.value) + 1} of ${result.neighbours.length}`;
        const strip = (space) =>
            h(
                "div",
                { class: "neighbour-row" },
                h("h3", null, `Nearest in ${SPACES[space]}`),
                h(
                    "ol",
                    null,
                    entry[space].map((neighbour) =>
                        h(
                            "li",
                            { class: neighbour.right ? "right" : "wrong" },
                            picture(neighbour.index, neighbour.label),
                            h(
                                "span",
                                { class: "neighbour-label" },
                                neighbour.right ? "\u2713 " : "\u2717 ",
                                className(neighbour.label),
                            ),
                            h("span", { class: "hint" }, `similarity ${fixed(neighbour.similarity, 3)}`),
                        ),
                    ),
                ),
            );
        replaceChildren(
            slot,
            h(
                "div",
                { class: "query-picture" },
                h("h3", null, "The query"),
                picture(entry.query.index, entry.query.label),
                h("span", { class: "neighbour-label" }, className(entry.query.label)),
            ),
            h("div", null, Object.keys(SPACES).map(strip)),
        );
    }

    return {
        element,
        show(newResult) {
            result = newResult;
            images = new Map((result.images ?? []).map((image) => [image.index, image]));
            element.hidden = !result.neighbours?.length;
            choice.max = Math.max(0, (result.neighbours?.length ?? 1) - 1);
            if (!element.hidden) draw();
        },
    };
}

function howToGetFiles(page) {
    const { properties } = page.experiment("retrieval").schema;
    const file = (name) => h("li", null, h("code", null, properties[name].default), ": ", properties[name].description);
    return h(
        "details",
        { class: "files" },
        h("summary", null, "Which files this needs, and where they go"),
        h(
            "p",
            null,
            "The program fetches nothing from the network. Put these three files into its data directory (the folder given with --data), under these names:",
        ),
        h("ul", null, ["weights", "images", "labels"].map(file)),
        h(
            "p",
            null,
            "The weights are the ones Keras publishes for MobileNetV2 (width 1.0, size 96, without the top), the pictures are Fashion-MNIST\u2019s own files from its repository, zalandoresearch/fashion-mnist. No restart is needed.",
        ),
    );
}

const rate = (result, space) => result.rows.find((row) => row.space === space)?.top1;

const CLAIMS = [
    {
        claim: "Both spaces do far better than chance.",
        check: (result) => ({
            shown: result.rows.every((row) => row.top1 > 3 * result.chance),
            measured: `${result.rows.map((row) => fixed(row.top1, 3)).join(" and ")} against ${fixed(result.chance, 3)}`,
        }),
    },
    {
        claim: "The network\u2019s space beats raw pixels.",
        check(result) {
            const [network, pixels] = [rate(result, "mobilenet_v2"), rate(result, "raw_pixels")];
            const uncertainty =
                Math.hypot(...result.rows.map((row) => row.standard_error ?? 0.03)) / Math.sqrt(result.splits ?? 1);
            const close = Math.abs(network - pixels) < 2 * uncertainty;
            return {
                shown: network > pixels,
                measured: `${fixed(network, 4)} against ${fixed(pixels, 4)}`,
                why: close
                    ? "The choice of pictures alone can make a difference of this size: no verdict either way."
                    : "",
            };
        },
    },
    {
        claim: "The two spaces err differently: the queries that one of them alone gets right are more than twice the difference of their rates.",
        check({ agreement, rows }) {
            if (!agreement) return false;
            const alone = agreement.only_mobilenet_v2 + agreement.only_raw_pixels;
            const difference = Math.abs(agreement.only_mobilenet_v2 - agreement.only_raw_pixels);
            const total = queriesOf(agreement);
            return {
                shown: alone > 2 * difference,
                measured: `one alone is right on ${fixed(alone / total, 3)} of the queries; the rates, ${rows.map((row) => fixed(row.top1, 3)).join(" and ")}, differ by ${fixed(difference / total, 3)}`,
                why: "Like rates do not mean like answers: a search that asks both could be better than either.",
            };
        },
    },
];

const QUESTIONS = [
    {
        question: "the pictures are drawn anew ten times?",
        settings: { splits: 10 },
        claim: "A single split can be off by percentage points: the rates of raw pixels differ by more than 0.03 between the luckiest split and the unluckiest.",
        check({ rows }) {
            const rates = rows.find((row) => row.space === "raw_pixels").top1_by_split;
            const range = Math.max(...rates) - Math.min(...rates);
            return { shown: range > 0.03, measured: `between ${fixed(Math.min(...rates), 3)} and ${fixed(Math.max(...rates), 3)}` };
        },
    },
    {
        question: "the database has 100 pictures instead of 1,000?",
        settings: { database: 100 },
        claim: "Both spaces fall below 0.7, as the nearest picture is farther away, and still do three times as well as chance.",
        check: ({ rows, chance }) => ({
            shown: rows.every((row) => row.top1 > 3 * chance && row.top1 < 0.7),
            measured: rows.map((row) => fixed(row.top1, 3)).join(" and "),
        }),
    },
    {
        question: "the network sees the pictures at 128 instead of 96?",
        settings: { size: 128 },
        claim: "Enlarging adds nothing that was not in 28 by 28 points: the rate stays within 0.05 of raw pixels\u2019.",
        check(result) {
            const difference = rate(result, "mobilenet_v2") - rate(result, "raw_pixels");
            return { shown: Math.abs(difference) < 0.05, measured: `${fixed(difference, 3)} above raw pixels` };
        },
    },
];
