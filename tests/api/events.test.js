// Event streams: order, resuming without a gap or a repeat, many readers, a reader that stops reading.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, test } from "node:test";
import { Client, isNumber, longTraining, smallTraining } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon({ args: ["--workers", "2"] });
    client = new Client(daemon.url);
});
after(() => daemon.stop());

const kinds = (events) => events.map(({ event }) => event);

/** Asserts that ids only grow: the events are in order, and none is repeated. */
function assertOrdered(events) {
    for (let i = 1; i < events.length; i++) assert.ok(BigInt(events[i].id) > BigInt(events[i - 1].id), events[i].id);
}

test("a run's stream tells all that happens to it and closes after its end", async () => {
    const { id } = await client.create("api/runs", { ...smallTraining, epochs: 3 });
    const events = await client.events(`api/runs/${id}/events`);
    assertOrdered(events);
    const epochs = events.filter(({ event }) => event === "epoch").map(({ data }) => data);
    assert.deepEqual(epochs.map(({ epoch }) => epoch), [0, 1, 2, 3]);
    assert.equal(epochs[0].train_loss, null);
    assert.ok(epochs.every(({ run, test_accuracy, seconds }) => run === id && isNumber(test_accuracy, 0, 1) && isNumber(seconds)));
    const attention = events.filter(({ event }) => event === "attention").map(({ data }) => data);
    assert.deepEqual(attention, [0, 1, 2, 3].map((epoch) => ({ run: id, epoch })));
    const states = events.filter(({ event }) => event === "state").map(({ data }) => data.state);
    assert.deepEqual(states, ["queued", "running", "succeeded"]);
    assert.equal(events.at(-1).event, "end");
    assert.equal(events.at(-1).data.state, "succeeded");
    const { may_delete: mayDelete, ...run } = await client.get(`api/runs/${id}`);
    assert.equal(mayDelete, true); // not in events: it depends on who asks, and events are the same for all
    assert.deepEqual(events.at(-1).data, run);
    const steps = events.filter(({ event }) => event === "step").map(({ data }) => data.step);
    assert.equal(steps.at(-1), 12);
});

test("Last-Event-ID and ?after= resume after any event without a gap or a repeat", async () => {
    const { id } = await client.run(smallTraining);
    const path = `api/runs/${id}/events`;
    const whole = await client.events(path);
    for (let i = 0; i < whole.length; i++) {
        const rest = await client.events(path, { lastEventId: whole[i].id });
        assert.deepEqual(rest, whole.slice(i + 1), `after ${i}`);
    }
    assert.deepEqual(await client.events(`${path}?after=${whole[2].id}`), whole.slice(3));
    assert.deepEqual(await client.events(`${path}?after=0`), whole);
    // An id that this service has not come to is from another database: the client has none of these events.
    for (const beyond of [`${2 ** 52}`, "18446744073709551615"]) {
        assert.deepEqual(await client.events(path, { lastEventId: beyond }), whole);
        assert.deepEqual(await client.events(`${path}?after=${beyond}`), whole);
        const [first] = await client.events("api/events", { lastEventId: beyond, enough: (events) => events.length > 0 });
        assert.equal(first.event, "state");
    }
    // A browser that reconnects sends the id of its last event, to the address that it was first given.
    assert.deepEqual(await client.events(`${path}?after=${whole[0].id}`, { lastEventId: whole[2].id }), whole.slice(3));
});

test("a live stream that is repeatedly cut and resumed misses no epoch", async () => {
    const { id } = await client.create("api/runs", { ...smallTraining, epochs: 40 });
    const events = [];
    while (events.at(-1)?.event !== "end") {
        const part = await client.events(`api/runs/${id}/events`, {
            lastEventId: events.at(-1)?.id,
            enough: (some) => some.length >= 7,
        });
        assert.ok(part.length > 0);
        events.push(...part);
    }
    assertOrdered(events);
    const epochs = events.filter(({ event }) => event === "epoch").map(({ data }) => data.epoch);
    assert.deepEqual(epochs, Array.from({ length: 41 }, (_, i) => i));
});

test("one stream carries the events of all runs from now on", async () => {
    const old = await client.run(smallTraining);
    const ended = new Set();
    let stream;
    await new Promise((opened) => {
        stream = client.events("api/events", {
            opened,
            enough: (events) => {
                if (events.at(-1)?.event === "end") ended.add(events.at(-1).data.id);
                return ended.size === 2;
            },
        });
    });
    const runs = await Promise.all([1, 2].map((seed) => client.create("api/runs", { ...smallTraining, seed })));
    const events = await stream;
    assertOrdered(events);
    const ids = new Set(events.map(({ data }) => data.run ?? data.id));
    assert.deepEqual([...ids].sort(), runs.map(({ id }) => id).sort());
    assert.ok(!ids.has(old.id));
});

test("steps come at most 20 times a second", async () => {
    const begin = Date.now();
    const { id } = await client.create("api/runs", longTraining);
    const count = (events) => events.filter(({ event }) => event === "step").length;
    const enough = (events) => Date.now() - begin > 2000 && count(events) >= 5; // the fifth may come late
    const steps = count(await client.events(`api/runs/${id}/events`, { enough }));
    const seconds = (Date.now() - begin) / 1000;
    await client.post(`api/runs/${id}/cancel`, "");
    assert.ok(steps >= 5 && steps <= 20 * seconds + 2, `${steps} steps in ${seconds} s`);
});

test("a hundred readers of one run all get every event", async () => {
    const { id } = await client.create("api/runs", { ...smallTraining, epochs: 30 });
    const streams = await Promise.all(Array.from({ length: 100 }, () => client.events(`api/runs/${id}/events`)));
    const whole = await client.events(`api/runs/${id}/events`);
    const kept = (events) => events.filter(({ event }) => event !== "step");
    for (const events of streams) {
        assertOrdered(events);
        assert.deepEqual(kept(events), kept(whole));
    }
    assert.equal(kinds(whole).at(-1), "end");
});

test("an idle stream is kept open, and proxies are told not to buffer it", async () => {
    const stop = new AbortController();
    const begin = Date.now();
    const response = await client.fetch("api/events", { signal: stop.signal });
    assert.equal(response.headers.get("x-accel-buffering"), "no");
    assert.equal(response.headers.get("cache-control"), "no-store");
    const reader = response.body.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /^: /);
    const { value } = await reader.read();
    const seconds = (Date.now() - begin) / 1000;
    assert.match(new TextDecoder().decode(value), /^: .*\n\n$/);
    assert.ok(seconds > 14 && seconds < 25, `${seconds} s`); // it may be late on a busy machine
    stop.abort();
});

test("a reader that stops reading delays nobody else", async () => {
    const { id } = await client.create("api/runs", { ...smallTraining, epochs: 200 });
    const { hostname, port } = new URL(daemon.url);
    const lazy = net.connect(Number(port), hostname);
    lazy.write(`GET /api/runs/${id}/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    lazy.pause();
    const events = await client.events(`api/runs/${id}/events`);
    assert.equal(events.at(-1).event, "end");
    assert.equal((await client.get("api/health")).status, "ok");
    lazy.destroy();
});

test("the stream of an ended run closes, and that of an unknown run is 404", async () => {
    const { id } = await client.run({ experiment: "running-average" });
    const events = await client.events(`api/runs/${id}/events`);
    assert.deepEqual(kinds(events).at(-1), "end");
    assert.deepEqual(await client.events(`api/runs/${id}/events`, { lastEventId: events.at(-1).id }), []);
    await client.problem(404, "api/runs/nobody/events");
});
