// Loss and accuracy of one run while it trains.

import { createChart } from "./chart.js";
import { h } from "./dom.js";
import { fixed } from "./format.js";

// Returns { element, begin(epochs), epoch(row) }.
export function createTrainingCurves(signal) {
    const x = { label: "epoch", min: 0 };
    const loss = createChart({
        title: "Training loss",
        legend: false,
        signal,
        x,
        y: { label: "cross-entropy", min: 0, format: (value) => fixed(value, 4) },
    });
    const accuracy = createChart({
        title: "Test accuracy",
        legend: false,
        signal,
        x,
        y: { label: "share of test examples", min: 0, max: 1, format: (value) => fixed(value, 4) },
    });
    let rows = [];
    const points = (name) =>
        rows.filter((row) => row && row[name] !== null).map((row) => ({ x: row.epoch, y: row[name] }));
    return {
        element: h("div", { class: "pair" }, loss.element, accuracy.element),
        begin(epochs) {
            rows = [];
            loss.setLast(epochs);
            accuracy.setLast(epochs);
        },
        epoch(row) {
            rows[row.epoch] = row;
            loss.setSeries([{ label: "training loss", color: 2, points: points("train_loss") }]);
            accuracy.setSeries([{ label: "test accuracy", color: 2, points: points("test_accuracy") }]);
        },
    };
}
