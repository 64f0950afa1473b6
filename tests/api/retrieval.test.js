// Retrieval over HTTP: what the service answers without the published files, and a complete run with them if they are in
// ../shared/assets or ATTNLAB_ASSETS.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { Client } from "../support/client.js";
import { program, repository, startDaemon } from "../support/daemon.js";

const assets = process.env.ATTNLAB_ASSETS || path.join(repository, "../shared/assets");
const files = {
    weights: "mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_96_no_top.h5",
    images: "fashion_mnist/train-images-idx3-ubyte.gz",
    labels: "fashion_mnist/train-labels-idx1-ubyte.gz",
};
const present = await Promise.all(Object.values(files).map((file) => stat(path.join(assets, file)))).then(
    () => true,
    () => false,
);
const skip = present ? false : `the published files are not in ${assets}`;

let daemon, client;
before(async () => {
    daemon = await startDaemon();
    client = new Client(daemon.url);
});
after(() => daemon.stop());

test("if its files are missing, the answer names all three, their place and where they are published", async () => {
    const { errors } = await client.postProblem(422, "api/runs", { experiment: "retrieval" });
    assert.deepEqual(
        errors.map(({ field }) => field),
        Object.keys(files),
    );
    for (const { field, message } of errors) {
        assert.ok(message.includes(path.basename(files[field])), message);
        assert.ok(message.includes(daemon.data), message);
        assert.match(message, /download https?:\/\/\S+ and put it there/);
    }
});

test("a damaged file fails the run with the reason", async () => {
    const header = Buffer.from([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 5, 6]);
    const labels = Buffer.from([0, 0, 8, 1, 0, 0, 0, 2, 0, 1]);
    await writeFile(path.join(daemon.data, "images"), header);
    await writeFile(path.join(daemon.data, "cut"), header.subarray(0, 17));
    await writeFile(path.join(daemon.data, "labels"), labels);
    await writeFile(path.join(daemon.data, "page.h5"), "<!doctype html>");
    await writeFile(path.join(daemon.data, "bad.h5"), Buffer.from("\x89HDF\r\n\x1a\n and then nothing", "latin1"));
    const parameters = { experiment: "retrieval", labels: "labels", queries: 1, database: 1, size: 32 };
    const reasons = [
        [{ images: "cut", weights: "bad.h5" }, /the file cut is incomplete/],
        [{ images: "images", weights: "page.h5" }, /it is not an HDF5 file/],
        [{ images: "images", weights: "bad.h5" }, /the HDF5 file is damaged or incomplete/],
    ];
    for (const [given, reason] of reasons) {
        const run = await client.runToEnd({ ...parameters, ...given });
        assert.equal(run.state, "failed");
        assert.match(run.error, reason);
    }
    await client.postProblem(422, "api/runs", { experiment: "retrieval", weights: "../weights.h5" });
    await client.get("api/health");
});

test("a parent that ignores SIGCHLD does not hide how the reader of weight files ended", () => {
    const given = "run retrieval --weights bad.h5 --images images --labels labels --queries 1 --database 1 --size 32";
    const ignoring = ["-e", '$SIG{CHLD} = "IGNORE"; exec @ARGV', program, ...given.split(" ")];
    const { status, stderr } = spawnSync("perl", ignoring, {
        env: { ...process.env, ATTNLAB_DATA: daemon.data },
        encoding: "utf8",
    });
    assert.match(stderr, /the HDF5 file is damaged or incomplete/);
    assert.equal(status, 1);
});

test("the published network retrieves what PyTorch's does, and reuses its features the second time", { skip }, async () => {
    for (const file of Object.values(files)) await copyFile(path.join(assets, file), path.join(daemon.data, path.basename(file)));
    const { result } = await client.run({ experiment: "retrieval" });
    assert.deepEqual(
        result.rows.map(({ space, dimensions, top1, spread }) => ({ space, dimensions, top1, spread })),
        [
            { space: "mobilenet_v2", dimensions: 1280, top1: 0.82, spread: null },
            { space: "raw_pixels", dimensions: 784, top1: 0.785, spread: null },
        ],
    );
    assert.equal(result.chance, 0.1);
    assert.equal(result.parameter_count, 2257984);
    assert.equal(result.embedded, 1200);
    assert.equal(result.neighbours.length, 20);
    const known = new Set(result.images.map(({ index }) => index));
    for (const { query, mobilenet_v2, raw_pixels } of result.neighbours)
        for (const { index } of [query, ...mobilenet_v2, ...raw_pixels]) assert.ok(known.has(index), `${index}`);
    const again = await client.run({ experiment: "retrieval" });
    assert.equal(again.result.embedded, 0);
    assert.deepEqual(again.result.rows, result.rows);
    assert.deepEqual(again.result.neighbours, result.neighbours);
});
