// Little address space (ulimit -v): the service says so and does not start, or it works; it never hangs.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Client, longTraining, smallTraining, until } from "../support/client.js";
import { isSanitized, startDaemon } from "../support/daemon.js";

/** Its products are large enough for OpenBLAS, which maps 128 MiB for the first one at a time. */
const wide = { ...smallTraining, width: 256 };

/** Every reason that a user may read. */
const reasons = /too little address space|out of memory|failed to map|cannot allocate|cannot create|cannot start|memory/i;

async function startWithin(megabytes, data) {
    const under = ["sh", "-c", `ulimit -v ${megabytes * 1024} && exec "$@"`, "sh"];
    try {
        return await startDaemon({ data, under, args: ["--workers", "2"] });
    } catch (error) {
        const [, status, output] = /ended with status (\d+): (.*)/s.exec(error.message) ?? assert.fail(error.message);
        assert.ok(["1", "127"].includes(status), error.message);
        assert.match(output, reasons, `${megabytes} MB`);
        return null;
    }
}

async function assertWorks({ url }, megabytes) {
    const client = new Client(url);
    const run = await client.runToEnd(wide);
    if (run.state === "failed") assert.match(run.error, reasons, `${megabytes} MB`);
    else assert.equal(run.state, "succeeded");
    const { id } = await client.create("api/runs", { ...longTraining, width: 256 });
    await until(async () => (await client.get(`api/runs/${id}`)).state !== "queued", "the run starts");
    const { state } = await client.get(`api/runs/${id}`);
    if (state === "running") await client.create(`api/runs/${id}/cancel`, {}, 200);
    await until(async () => (await client.get(`api/runs/${id}`)).finished_at, `it ends under ${megabytes} MB`);
}

test("crashes: under any limit on address space the service works or says why not", { skip: isSanitized() && "a sanitizer needs address space" }, async () => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-little-"));
    let started = 0;
    for (const megabytes of [60, 180, 250, 340, 600, 760, 800, 850, 1000, 2000]) {
        const daemon = await startWithin(megabytes, data);
        if (daemon === null) continue;
        started += 1;
        await assertWorks(daemon, megabytes);
        assert.equal((await daemon.stop()).code, 0);
    }
    assert.ok(started > 0);
    await rm(data, { recursive: true });
});
