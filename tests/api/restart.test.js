// Acknowledged work survives a clean shutdown and a kill, and running runs resume by themselves.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Client, longTraining, smallTraining, until } from "../support/client.js";
import { endingMs, startDaemon } from "../support/daemon.js";

const training = { ...smallTraining, train_examples: 640, epochs: 300 };

let data;
before(async () => (data = await mkdtemp(path.join(tmpdir(), "attnlab-restart-"))));
after(() => rm(data, { recursive: true, force: true }));

async function start() {
    const daemon = await startDaemon({ data, args: ["--workers", "1"] });
    return { daemon, client: new Client(daemon.url) };
}

test("a crowd, slow readers: a stream is resumed in the database that replaced another, from its beginning", async () => {
    const place = await mkdtemp(path.join(tmpdir(), "attnlab-replaced-"));
    const begin = async () => {
        const daemon = await startDaemon({ data: place, args: ["--workers", "1"] });
        return { daemon, client: new Client(daemon.url) };
    };
    let { daemon, client } = await begin();
    await daemon.stop();
    ({ daemon, client } = await begin());
    const first = await client.run(smallTraining);
    const lastEventId = (await client.events(`api/runs/${first.id}/events`)).at(-1).id;
    await daemon.stop();
    for (const name of ["attnlab.sqlite3", "attnlab.sqlite3-wal", "attnlab.sqlite3-shm"])
        await rm(path.join(place, name), { force: true });
    ({ daemon, client } = await begin());
    const { id } = await client.run(smallTraining);
    const whole = await client.events(`api/runs/${id}/events`);
    assert.ok(BigInt(whole.at(-1).id) < BigInt(lastEventId), "the ids have not come so far");
    assert.deepEqual(await client.events(`api/runs/${id}/events`, { lastEventId }), whole);
    const all = await client.events("api/events", { lastEventId, enough: (events) => events.at(-1).event === "end" });
    assert.deepEqual([all[0].event, all[0].data.state, all.at(-1).data.id], ["state", "queued", id]);
    await daemon.stop();
    await rm(place, { recursive: true });
});

const losses = ({ rows }) => rows.map(({ epoch, train_loss, test_accuracy }) => [epoch, train_loss, test_accuracy]);

for (const signal of ["SIGTERM", "SIGHUP", "SIGKILL"]) {
    test(`a run interrupted by ${signal} resumes and ends with the numbers of an uninterrupted one`, async () => {
        let { daemon, client } = await start();
        const whole = await client.run({ ...training, seed: 5 });
        const expected = losses(await client.get(`api/runs/${whole.id}/metrics`));
        const cut = await client.create("api/runs", { ...training, seed: 5 });
        const queued = await client.create("api/runs", smallTraining);
        const before = await client.events(`api/runs/${cut.id}/events`, {
            enough: (events) => events.filter(({ event }) => event === "epoch").length === 8,
        });
        const { code } = await daemon.stop(signal);
        assert.equal(code, signal === "SIGKILL" ? null : 0);

        ({ daemon, client } = await start());
        const rest = await client.events(`api/runs/${cut.id}/events`, { lastEventId: before.at(-1).id });
        assert.equal(rest.at(-1).event, "end");
        assert.equal(rest.at(-1).data.state, "succeeded");
        const epochs = [...before, ...rest].filter(({ event }) => event === "epoch").map(({ data: { epoch } }) => epoch);
        assert.deepEqual(epochs, expected.map(([epoch]) => epoch));
        assert.deepEqual(losses(await client.get(`api/runs/${cut.id}/metrics`)), expected);
        assert.deepEqual(rest.at(-1).data.result.attention, whole.result.attention);
        assert.deepEqual(await client.get(`api/runs/${whole.id}`), whole);
        assert.equal((await client.events(`api/runs/${queued.id}/events`)).at(-1).data.state, "succeeded");
        await daemon.stop();
    });
}

test("SIGTERM ends the program within five seconds even with open streams and a running run", async () => {
    const { daemon, client } = await start();
    const { id } = await client.create("api/runs", longTraining);
    const streams = [1, 2, 3].map(() => client.events(`api/runs/${id}/events`).catch(() => []));
    const all = client.events("api/events").catch(() => []);
    const waiting = client.post("api/runs?wait=100", training).then((response) => response.status, () => 0);
    const areIn = async () => (await client.get("api/health")).queued === 1 && /^attnlab_event_streams 4$/m.test(await client.text("metrics"));
    await until(areIn, "all clients are connected");
    await client.events(`api/runs/${id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });
    const begin = Date.now();
    const { code } = await daemon.stop("SIGTERM");
    assert.equal(code, 0);
    assert.ok(Date.now() - begin < endingMs(), `${Date.now() - begin} ms`);
    for (const events of await Promise.all(streams)) assert.notEqual(events.at(-1).event, "end");
    await all;
    assert.ok([0, 201].includes(await waiting));
});

test("a second daemon refuses to start on the same data directory", async () => {
    const { daemon } = await start();
    await assert.rejects(startDaemon({ data }), /status 1: attnlab: .+\n$/);
    await daemon.stop();
});
