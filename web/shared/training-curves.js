// Loss and accuracy by epoch: two charts side by side.

import { get } from "./api.js";
import { bumpsText, findBumps } from "./bumps.js";
import { createChart } from "./chart.js";
import { h } from "./dom.js";
import { fixed } from "./format.js";

// The two charts, without data. limits: { loss, accuracy }, the options of the vertical axes that replace the defaults.
// Returns { element, setLoss(series), accuracy, setLast(epochs) }. setLoss also marks where a loss jumped, and says so.
export function createCurveCharts(signal, { loss: lossLimits, accuracy: accuracyLimits }) {
    const chart = (title, y) =>
        createChart({
            title,
            legend: false,
            signal,
            x: { label: "epoch", min: 0 },
            y: { format: (value) => fixed(value, 4), ...y },
        });
    const loss = chart("Training loss", { label: "cross-entropy", min: 0, ...lossLimits });
    const says = h("p", { class: "hint", hidden: true });
    const accuracy = chart("Test accuracy", { label: "share of test examples", max: 1, ...accuracyLimits });
    return {
        element: h("div", null, h("div", { class: "pair" }, loss.element, accuracy.element), says),
        setLoss(series) {
            const found = series.map((one) => ({ ...one, bumps: findBumps(one.points) }));
            const marks = found.flatMap(({ label, color, bumps }) =>
                bumps.map(({ peak, top }) => ({
                    color,
                    x: peak,
                    y: Math.min(top, lossLimits?.max ?? Infinity),
                    text: `${label}: jumped to ${fixed(top, 4)}`,
                })),
            );
            loss.setSeries(series, marks);
            const text = bumpsText(found);
            says.hidden = text === "";
            if (says.textContent !== text) says.textContent = text;
        },
        accuracy,
        setLast(epochs) {
            loss.setLast(epochs);
            accuracy.setLast(epochs);
        },
    };
}

// The curves of one run while it trains; hidden until it begins.
// Returns { element, begin(run), epoch(row), show(run) }; show draws all epochs of a run that has ended.
export function createTrainingCurves(signal) {
    const charts = createCurveCharts(signal, { accuracy: { min: 0 } });
    const element = h("div", { hidden: true }, charts.element);
    let rows = [];
    const points = (name) =>
        rows.filter((row) => row && row[name] !== null).map((row) => ({ x: row.epoch, y: row[name] }));

    function begin(run) {
        rows = [];
        charts.setLast(run.parameters.epochs);
        element.hidden = false;
    }
    function epoch(row) {
        rows[row.epoch] = row;
        charts.setLoss([{ label: "training loss", color: 2, points: points("train_loss") }]);
        charts.accuracy.setSeries([{ label: "test accuracy", color: 2, points: points("test_accuracy") }]);
    }
    return {
        element,
        begin,
        epoch,
        async show(run) {
            begin(run);
            const { rows: all } = await get(`/api/runs/${run.id}/metrics`, signal);
            all.forEach(epoch);
        },
    };
}
