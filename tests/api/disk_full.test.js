// A full disk, made by a tmpfs in the daemon's own mount namespace that is larger than the store's log may grow. Runs
// fail and say why, new ones are refused, and the service stays up. Once there is room again, everything works and the
// store is intact.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, cp, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { after, test } from "node:test";

const directory = await mkdtemp(path.join(tmpdir(), "attnlab-disk-"));
after(() => rm(directory, { recursive: true, force: true }));

// startDaemon starts $ATTNLAB_PROGRAM: here a script that mounts the disk first if ATTNLAB_TEST_DISK is set.
const real = process.env.ATTNLAB_PROGRAM ?? path.resolve("build/attnlab");
const wrapper = path.join(directory, "attnlab");
const mount = 'mount -t tmpfs -o size=96m tmpfs "$ATTNLAB_TEST_DISK" && exec "$@"';
await writeFile(
    wrapper,
    `#!/bin/sh\nif [ -z "$ATTNLAB_TEST_DISK" ]; then exec '${real}' "$@"; fi\n` +
        `exec unshare --map-root-user --mount sh -c '${mount}' sh '${real}' "$@"\n`,
);
await chmod(wrapper, 0o755);
process.env.ATTNLAB_PROGRAM = wrapper;
const { startDaemon } = await import("../support/daemon.js");

const mayMount = spawnSync("unshare", ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", directory]).status === 0;
const training = { experiment: "train", width: 8, sequence_length: 12, train_examples: 320, test_examples: 40, epochs: 5 };

test("a full disk fails runs, not the service", { skip: !mayMount && "mounting in a namespace is not allowed here", timeout: 120_000 }, async () => {
    const daemon = await startDaemon({ data: directory, env: { ATTNLAB_TEST_DISK: directory } });
    const post = (parameters, wait = 0) =>
        fetch(`${daemon.url}api/runs?wait=${wait}`, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(parameters),
        });
    const get = async (what) => (await fetch(`${daemon.url}${what}`)).json();

    const before = await (await post(training, 30)).json();
    assert.equal(before.state, "succeeded");
    const long = await (await post({ ...training, train_examples: 20000, epochs: 10000 })).json(); // trains for minutes

    const disk = `/proc/${daemon.pid}/root${directory}`;
    const filler = await open(`${disk}/filler`, "w");
    for (const size of [1 << 20, 4096]) {
        await assert.rejects(async () => {
            for (;;) await filler.write(Buffer.alloc(size));
        }, /ENOSPC/);
    }
    await filler.close();

    let failed;
    do {
        await delay(20);
        failed = await get(`api/runs/${long.id}`);
    } while (failed.state === "queued" || failed.state === "running");
    assert.equal(failed.state, "failed");
    assert.match(failed.error, /disk .* full/);
    const events = await (await fetch(`${daemon.url}api/runs/${long.id}/events`)).text();
    assert.match(events, /^event: end$/m);

    // Small writes may still find room for a while, but a refusal must come, and must say why.
    let refused;
    const accepted = [];
    for (let i = 0; i < 2000 && !refused; i++) {
        const response = await post({ ...training, epochs: 5000 });
        if (response.status === 201) accepted.push((await response.json()).id);
        else refused = { status: response.status, problem: await response.json() };
    }
    assert.equal(refused?.status, 503, JSON.stringify(refused));
    assert.match(refused.problem.detail, /disk .* full/);
    assert.equal((await get("api/health")).status, "ok");

    await rm(`${disk}/filler`);
    // The runs accepted with the last bytes would fill this small disk again.
    for (const id of accepted) {
        const { state, error } = await get(`api/runs/${id}`);
        assert.ok(state !== "failed" || /disk .* full/.test(error), error);
        await fetch(`${daemon.url}api/runs/${id}/cancel`, { method: "POST" });
        await (await fetch(`${daemon.url}api/runs/${id}/events`)).text();
        assert.equal((await fetch(`${daemon.url}api/runs/${id}`, { method: "DELETE" })).status, 204);
    }
    const again = await (await post(training, 60)).json();
    let last;
    do {
        await delay(20);
        last = await get(`api/runs/${again.id}`);
    } while (last.state === "queued" || last.state === "running");
    assert.equal(last.state, "succeeded", last.error);

    // The disk now holds an intact store.
    const copy = await mkdtemp(path.join(tmpdir(), "attnlab-disk-copy-"));
    await cp(disk, copy, { recursive: true });
    assert.equal((await daemon.stop()).code, 0);
    const second = await startDaemon({ data: copy });
    assert.doesNotMatch(second.output.stderr, /damaged/);
    for (const { id, state } of [before, failed, last]) {
        assert.equal((await (await fetch(`${second.url}api/runs/${id}`)).json()).state, state);
    }
    assert.equal((await second.stop()).code, 0);
    await rm(copy, { recursive: true });
});
