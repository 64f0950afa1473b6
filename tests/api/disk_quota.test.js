// Limits on what runs and data sets may take on the disk, and the number of runs that are kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, longTraining, smallTraining, until } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

const token = "correct-horse-battery-staple";
const large = { experiment: "attention-steps", tokens: 512, width: 112 }; // a result of 16 MB

async function start(t, ...args) {
    const daemon = await startDaemon({
        args: ["--workers", "1", "--access", "token", "--students", "run", ...args],
        env: { ATTNLAB_TOKEN: token },
    });
    t.after(() => daemon.stop());
    const lecturer = new Browser(daemon.url, { Authorization: `Bearer ${token}` });
    return { lecturer, student: () => new Browser(daemon.url).visit() };
}

/** Has a run performed, and returns it without its result; or the problem. */
async function perform(client, parameters) {
    const response = await client.fetch("api/runs", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(parameters),
    });
    const run = await response.json();
    if (response.status !== 201) return run;
    await (await client.fetch(`api/runs/${run.id}/events`)).text();
    return (await client.get("api/runs?limit=1")).runs[0];
}

test("a student fills the student's share and no more", async (t) => {
    // A run that could store more than the whole share is refused by an upper bound, which is 24 MB here.
    const { student, lecturer } = await start(t, "--student-disk-mb", "24", "--student-data-mb", "20");
    const [one, other] = [await student(), await student()];
    assert.equal(one.session.limits.disk_mb, 24);
    const first = await perform(one, large);
    assert.equal(first.state, "succeeded");
    // There is some room left, but not for another 16 MB: the run fails, and stores nothing.
    const second = await perform(one, large);
    assert.equal(second.state, "failed");
    assert.match(second.error, /may take 24 MB.* take 15\.\d, .* add 15\.\d; delete/);
    const data = "text,label\n" + "good,1\nbad,0\n".repeat(300000);
    const add = (name) => one.status("POST", `api/datasets?name=${name}`, data, "text/csv");
    assert.deepEqual([await add("first"), await add("second"), await add("third")], [201, 201, 429]);

    assert.equal((await perform(other, smallTraining)).state, "succeeded");
    assert.equal((await perform(lecturer, large)).state, "succeeded");
    assert.equal(await one.status("DELETE", `api/runs/${first.id}`), 204);
    assert.equal((await perform(one, large)).state, "succeeded");
});

test("all students together leave a quarter of the disk's limit to the lecturer", async (t) => {
    const { student, lecturer } = await start(t, "--disk-mb", "40");
    assert.equal((await perform(await student(), large)).state, "succeeded");
    const late = await student();
    const failed = await perform(late, large);
    assert.equal(failed.state, "failed");
    assert.match(failed.error, /students' runs and data sets may take 30 MB/);
    const kept = await perform(lecturer, large);
    assert.equal(kept.state, "succeeded");
    const refused = await perform(late, smallTraining);
    assert.equal(refused.status, 429);
    assert.match(refused.detail, /may take 30 MB .*they take 3[0-2]/);
    const full = await perform(lecturer, large);
    assert.equal(full.state, "failed");
    assert.match(full.error, /may take 40 MB/);
    assert.equal(await lecturer.status("DELETE", `api/runs/${kept.id}`), 204);
    assert.equal((await perform(late, smallTraining)).state, "succeeded");
});

test("the oldest runs without a name go when there are more than are kept", async (t) => {
    const { student, lecturer } = await start(t, "--keep-runs", "3");
    const one = await student();
    const named = await perform(lecturer, { ...smallTraining, name: "for the lecture" });
    const runs = [];
    for (let i = 0; i < 4; i++) runs.push(await perform(i % 2 ? lecturer : one, smallTraining));
    const expected = [...runs.slice(2), named].map(({ id }) => id).sort();
    await until(async () => (await lecturer.get("api/runs")).runs.length === 3, "the oldest are deleted");
    assert.deepEqual((await lecturer.get("api/runs")).runs.map(({ id }) => id).sort(), expected);
    assert.equal(await lecturer.status("GET", `api/runs/${runs[0].id}`), 404);
});

test("the lecturer sees who takes the room, and deletes ended runs of a student at once", async (t) => {
    const { student, lecturer } = await start(t, "--disk-mb", "100");
    const one = await student();
    assert.equal((await perform(one, large)).state, "succeeded");
    const kept = await perform(lecturer, smallTraining);
    const running = (await lecturer.create("api/runs", longTraining)).id;

    const storage = await lecturer.get("api/storage");
    assert.equal(storage.limit_bytes, 100 << 20);
    assert.ok(storage.free_bytes > 0 && storage.database_bytes >= storage.used_bytes && storage.used_bytes > 15 << 20);
    assert.equal(storage.owners[0].runs, 1);
    assert.ok(storage.owners[0].bytes > 15 << 20);
    const own = await one.get("api/storage");
    assert.equal(own.own_bytes, storage.owners[0].bytes);
    assert.equal(own.own_limit_bytes, 200 << 20);
    assert.deepEqual(own.owners, []);
    const metrics = await lecturer.text("metrics");
    for (const name of ["disk_free_bytes", "disk_margin_bytes", "disk_reserve_bytes", "database_used_bytes", "disk_limit_bytes"])
        assert.match(metrics, new RegExp(`^attnlab_${name} [1-9]\\d*$`, "m"));
    assert.ok((await one.get("api/health")).disk_free_bytes > 0);

    assert.equal(await one.status("DELETE", "api/storage/runs?state=succeeded"), 403);
    assert.equal(await lecturer.status("DELETE", "api/storage/runs"), 422);
    const response = await lecturer.fetch(`api/storage/runs?owner=${storage.owners[0].owner}`, { method: "DELETE" });
    assert.deepEqual(await response.json(), { deleted: 1, are_left: false });
    assert.equal((await one.get("api/storage")).own_bytes, 0);
    assert.deepEqual((await lecturer.get("api/runs")).runs.map(({ id }) => id), [running, kept.id]);
    // The run that trains is left alone.
    const rest = await lecturer.fetch("api/storage/runs?experiment=train", { method: "DELETE" });
    assert.deepEqual(await rest.json(), { deleted: 1, are_left: false });
});
