// A full disk: small file systems, filled by a student and then to the last byte by another program. Runs fail and say why,
// new ones are refused, and the service stays up; it can be started, signed in to and emptied, and then everything works.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeDisk, noDisk } from "../support/small_disk.js";
import { Browser, longTraining, smallTraining, until } from "../support/client.js";
const { startDaemon } = await import("../support/daemon.js");

const MB = 1 << 20;
const token = "correct-horse-battery-staple";
// Its result has 16 MB.
const large = { experiment: "attention-steps", tokens: 512, width: 128 };

const post = (client, parameters) =>
    client.fetch("api/runs", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(parameters),
    });

/** Posts a run and waits for its end; without its result, which may be large. */
async function perform(client, parameters) {
    const response = await post(client, parameters);
    let run = await response.json();
    if (response.status !== 201) return { status: response.status, ...run };
    await (await client.fetch(`api/runs/${run.id}/events`)).text();
    ({ runs: [run] } = await client.get("api/runs?limit=1"));
    return run;
}

/** Has runs performed until one fails or is refused: what became of it, and the ids of all runs. */
async function fillByRuns(client, afterEach) {
    const ids = [];
    for (let i = 0; i < 100; i++) {
        const run = await perform(client, large);
        await afterEach();
        if (run.id) ids.push(run.id);
        if (run.state !== "succeeded") return { last: run, ids };
    }
    assert.fail("a hundred runs of 16 MB fit");
}

for (const size of [40, 100, 300]) {
    // What attnlab never fills, and what its reserve takes besides.
    const margin = Math.min(16 * MB, (size * MB) / 16);

    test(`a full disk of ${size} MB is started on, signed in to and emptied`, { skip: noDisk, timeout: 300_000 }, async () => {
        const disk = await makeDisk(size);
        // The disk must be full before the student's share of it is.
        const args = ["--workers", "1", "--access", "token", "--students", "run", "--student-disk-mb", "1000"];
        const start = () => startDaemon({ data: disk.path, args, env: { ...disk.env, ATTNLAB_TOKEN: token } });
        let daemon = await start();
        const student = await new Browser(daemon.url).visit();
        const early = await perform(student, smallTraining);
        assert.equal(early.state, "succeeded");

        let least = Infinity;
        const filled = await fillByRuns(student, async () => (least = Math.min(least, await disk.freeBytes())));
        assert.match(filled.last.detail ?? filled.last.error, /disk .* full.* delete/);
        if (!filled.last.id) assert.equal(filled.last.status, 503);
        assert.ok(least >= margin, `${least} bytes were free, ${margin} must be`);
        assert.ok(filled.ids.length >= Math.floor((size - 24) / 20), `only ${filled.ids.length} runs fit`);

        await disk.fill();
        assert.equal(await disk.freeBytes(), 0);
        const refused = await post(student, smallTraining);
        assert.equal(refused.status, 503);
        assert.match((await refused.json()).detail, /disk .* full.* delete/);
        assert.equal((await student.get("api/health")).status, "ok");

        // A start after a clean end, and one after a kill: both find the disk full to the last byte.
        for (const signal of ["SIGTERM", "SIGKILL"]) {
            await daemon.stop(signal);
            await disk.fill();
            daemon = await start();
            assert.doesNotMatch(daemon.output.stderr, /damaged/);
        }
        await disk.fill();
        const lecturer = new Browser(daemon.url);
        assert.equal(await lecturer.status("POST", "api/session", { token }), 200);
        const { runs } = await lecturer.get("api/runs?limit=500");
        assert.equal(runs.length, filled.ids.length + 1);
        for (const { id } of runs.filter(({ id }) => id !== early.id))
            assert.equal(await lecturer.status("DELETE", `api/runs/${id}`), 204);
        assert.equal((await lecturer.get(`api/runs/${early.id}`)).state, "succeeded");

        // The other program's file is still there, but what the runs took is free again.
        await until(async () => (await disk.taken("attnlab.sqlite3")) < 2 * MB, "the database is short");
        if (filled.ids.length > 2) {
            await until(async () => (await disk.taken("attnlab.reserve")) >= margin, "the reserve is back");
            assert.equal((await perform(lecturer, smallTraining)).state, "succeeded");
        }
        await disk.empty();
        assert.equal((await perform(lecturer, large)).state, "succeeded");

        assert.equal((await daemon.stop()).code, 0);
        daemon = await start();
        assert.doesNotMatch(daemon.output.stderr, /damaged/);
        assert.equal((await new Browser(daemon.url, { Authorization: `Bearer ${token}` }).get("api/runs")).runs[0].state, "succeeded");
        assert.equal((await daemon.stop()).code, 0);
        disk.release();
    });
}

test("a full disk fails the run that trains, not the service", { skip: noDisk, timeout: 120_000 }, async () => {
    const disk = await makeDisk(40);
    const daemon = await startDaemon({ data: disk.path, args: ["--workers", "1"], env: disk.env });
    const client = new Browser(daemon.url);
    const run = await (await post(client, longTraining)).json();
    await until(async () => (await client.get(`api/runs/${run.id}/metrics`)).rows.length > 1, "an epoch is over");
    await disk.fill();
    assert.match(await (await client.fetch(`api/runs/${run.id}/events`)).text(), /^event: end$/m);
    const failed = await client.get(`api/runs/${run.id}`);
    assert.equal(failed.state, "failed");
    assert.match(failed.error, /disk .* full/);
    assert.equal((await client.get("api/health")).status, "ok");
    await disk.empty();
    assert.equal((await perform(client, smallTraining)).state, "succeeded");

    // What is on the disk is an intact store.
    assert.equal((await daemon.stop()).code, 0);
    const second = await startDaemon({ data: disk.path, env: disk.env });
    assert.doesNotMatch(second.output.stderr, /damaged/);
    assert.equal((await new Browser(second.url).get(`api/runs/${run.id}`)).state, "failed");
    assert.equal((await second.stop()).code, 0);
    disk.release();
});
