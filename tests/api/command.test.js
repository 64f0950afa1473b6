// The command line: exit statuses, messages, and the commands run and health.
import assert from "node:assert/strict";
import { once } from "node:events";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Client, isNumber, longTraining, smallTraining, until, without } from "../support/client.js";
import { program, runProgram, startDaemon } from "../support/daemon.js";

let folder;
before(async () => (folder = await mkdtemp(path.join(tmpdir(), "attnlab-command-"))));
after(() => rm(folder, { recursive: true, force: true }));

/** Asserts that the program exits with `status` and prints one line of error that matches. */
async function assertFails(status, args, pattern, env) {
    const { code, stdout, stderr } = await runProgram(args, { env });
    assert.equal(code, status, stderr);
    assert.match(stderr, pattern);
    assert.match(stderr, /^attnlab: [^\n]+\n$/);
    assert.equal(stdout, "");
}

test("--version prints the version, and --help the options", async () => {
    assert.match((await runProgram(["--version"])).stdout, /^attnlab \d+\.\d+\.\d+\n$/);
    const { code, stdout } = await runProgram(["--help"]);
    assert.equal(code, 0);
    for (const option of ["--listen", "--data", "--workers", "--web", "health"]) assert.ok(stdout.includes(option), option);
});

test("--kernels chooses the processor's instructions, and a run says which it was computed with", async () => {
    const data = path.join(folder, "kernels");
    const start = async (kernels) => {
        const daemon = await startDaemon({ data, args: ["--workers", "2", "--kernels", kernels] });
        const client = new Client(daemon.url);
        assert.equal((await client.get("api/health")).kernels, kernels);
        return { daemon, client };
    };
    const { stderr } = await runProgram(["serve", "--kernels", "abacus"]);
    const known = /that this machine has: (.*); got/.exec(stderr)[1].split(", ");
    assert.equal(known.at(-1), "plain");
    await assertFails(2, ["serve", "--kernels", "abacus"], /--kernels.*plain.*abacus/);
    await assertFails(2, ["run", "train", "--kernels", known[0] === "neon" ? "avx2" : "neon"], /--kernels.*plain/);
    await assertFails(2, ["serve"], /--kernels.*plain.*abacus/, { ATTNLAB_KERNELS: "abacus" });

    let { daemon, client } = await start("plain");
    const losses = async (id) => (await client.get(`api/runs/${id}/metrics`)).rows.at(-1).train_loss;
    const whole = await client.run(smallTraining);
    assert.equal(whole.kernels, "plain");
    const plain = await losses(whole.id);
    const cut = await client.create("api/runs", longTraining);
    await client.events(`api/runs/${cut.id}/events`, { enough: (events) => events.some(({ event }) => event === "epoch") });
    await daemon.stop();

    ({ daemon, client } = await start(known[0]));
    const again = await client.run({ ...smallTraining, name: "again" });
    await until(async () => (await client.get(`api/runs/${cut.id}`)).state === "running", "the run goes on");
    assert.equal(again.kernels, known[0]);
    assert.ok(Math.abs((await losses(again.id)) - plain) < 1e-4, "the sets agree");
    const both = (await client.get(`api/runs/${cut.id}`)).kernels;
    assert.equal(both, known.length > 1 ? `plain, ${known[0]}` : "plain");
    await client.post(`api/runs/${cut.id}/cancel`, {});
    await daemon.stop();
});

test("a bad option exits with status 2 and says what is allowed", async () => {
    await assertFails(2, ["--nonsense"], /--listen.*--data/);
    await assertFails(2, ["serve", "--workers", "0"], /1 to/);
    await assertFails(2, ["serve", "--workers", "many"], /many/);
    await assertFails(2, ["serve", "--workers"], /needs a value/);
    await assertFails(2, ["serve", "--listen", "here"], /address:port/);
    await assertFails(2, ["serve", "--listen", "127.0.0.1:99999"], /address:port/);
    await assertFails(2, ["serve", "--listen", "host.invalid:0", "--access", "open"], /host\.invalid/);
    await assertFails(2, ["serve", "--web", "/nowhere"], /folder/);
    await assertFails(2, ["dance"], /serve, run and health/);
    await assertFails(2, ["serve"], /1 to/, { ATTNLAB_WORKERS: "none" });
});

test("an unusable address or data directory exits with status 1 and the reason", async () => {
    const daemon = await startDaemon();
    const { host, port } = new URL(daemon.url);
    await assertFails(1, ["--listen", host, "--data", path.join(folder, "a")], new RegExp(`${port}.*use`));
    await daemon.stop();
    await writeFile(path.join(folder, "file"), "");
    await assertFails(1, ["--listen", "127.0.0.1:0", "--data", path.join(folder, "file", "x")], /file/);
});

test("options can also be set in the environment", async () => {
    const daemon = await startDaemon({ env: { ATTNLAB_WORKERS: "3" } });
    assert.equal((await new Client(daemon.url).get("api/health")).workers, 3);
    await daemon.stop();
});

test("--web serves the page from a folder", async () => {
    await writeFile(path.join(folder, "index.html"), "<!doctype html>mine");
    const daemon = await startDaemon({ args: ["--web", folder] });
    const client = new Client(daemon.url);
    assert.equal(await client.text(""), "<!doctype html>mine");
    assert.ok((await client.text("vendor/chart.min.js")).length > 1000);
    await writeFile(path.join(folder, ".hidden.js"), "mine alone");
    await client.problem(404, ".hidden.js");
    await daemon.stop();
});

test("health reports by its exit status whether the service answers", async () => {
    const daemon = await startDaemon();
    assert.equal((await runProgram(["health", "--url", daemon.url])).code, 0);
    const { url } = daemon;
    await daemon.stop();
    await assertFails(1, ["health", "--url", url], /does not answer/);
    const ending = createServer((request, response) => response.writeHead(503).end()).listen(0, "127.0.0.1");
    await once(ending, "listening");
    await assertFails(1, ["health", "--url", `http://127.0.0.1:${ending.address().port}/`], /answers with status 503/);
    ending.close();
    await assertFails(2, ["health", "--url", "ftp://x"], /http/);
    await assertFails(2, ["health", "--nonsense"], /--url/);
});

test("run gives the same numbers as the service", async () => {
    const args = Object.entries(without(smallTraining, "experiment")).flatMap(([name, value]) => [`--${name}`, `${value}`]);
    const { code, stdout, stderr } = await runProgram(["run", "train", ...args, "--json"]);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, "");
    const result = JSON.parse(stdout);
    const daemon = await startDaemon();
    const run = await new Client(daemon.url).run(smallTraining);
    await daemon.stop();
    assert.deepEqual(without(result, "seconds"), without(run.result, "seconds"));
});

test("run gives the same bits on one thread and on three", async () => {
    const results = [];
    for (const workers of ["1", "3"]) {
        const { code, stdout } = await runProgram(["run", "train", "--epochs", "2", "--json", "--workers", workers]);
        assert.equal(code, 0);
        results.push(without(JSON.parse(stdout), "seconds"));
    }
    assert.deepEqual(results[0], results[1]);
    await assertFails(2, ["run", "train", "--workers", "0"], /1 to/);
});

test("run without --json prints text for people", async () => {
    const { code, stdout } = await runProgram(["run", "scaling", "--dimensions", "4,16", "--samples", "100"]);
    assert.equal(code, 0);
    assert.match(stdout, /d_k.*max_weight_scaled/);
    assert.match(stdout, /^ +16 /m);
});

test("run --help lists the experiments, and run EXPERIMENT --help its parameters", async () => {
    assert.match((await runProgram(["run", "--help"])).stdout, /attention-steps/);
    assert.match((await runProgram(["run", "train", "--help"])).stdout, /--learning_rate \(default: 0.005/);
    await assertFails(2, ["run", "nothing"], /attention-steps/);
    await assertFails(2, ["run", "train", "--learning_rate", "-1"], /must be above 0 and at most 10; got -1/);
    await assertFails(2, ["run", "train", "--epoch", "1"], /did you mean epochs/);
    const { code, stderr } = await runProgram(["run", "train", "--epochs", "0", "--width", "x"]);
    assert.equal(code, 2);
    assert.equal(stderr.trim().split("\n").length, 2);
});

test("run refuses an experiment that would not fit in memory, as the service does", async () => {
    const absurd = { model: "transformer", width: 1024, heads: 1, layers: 12, feedforward_width: 4096, sequence_length: 2000, batch_size: 2048 };
    const args = Object.entries(absurd).flatMap(([name, value]) => [`--${name}`, `${value}`]);
    await assertFails(2, ["run", "train", ...args], /--batch_size is too large: the run would take \d+\.\d MB of memory/);
    const daemon = await startDaemon();
    const problem = await new Client(daemon.url).postProblem(422, "api/runs", { experiment: "train", ...absurd });
    assert.equal(problem.errors[0].field, "batch_size");
    await daemon.stop();
});

test("run accepts a file as a data set", async () => {
    const file = path.join(folder, "mine.tsv");
    await writeFile(file, Array.from({ length: 20 }, (_, i) => `${i % 2}\tit was ${i % 2 ? "good" : "bad"}`).join("\n"));
    const { code, stdout, stderr } = await runProgram(["run", "train", "--task", file, "--model", "transformer", "--epochs", "2", "--json"]);
    assert.equal(code, 0, stderr);
    assert.ok(isNumber(JSON.parse(stdout).test_accuracy, 0, 1));
});

test("an interrupted run exits with status 1", async () => {
    const args = Object.entries(without(longTraining, "experiment")).flatMap(([name, value]) => [`--${name}`, `${value}`]);
    const running = spawn(program, ["run", "train", ...args]);
    let stderr = "";
    running.stderr.on("data", (chunk) => (stderr += chunk));
    const caught = async () => BigInt(`0x${/SigCgt:\s+(\w+)/.exec(await readFile(`/proc/${running.pid}/status`, "utf8"))[1]}`);
    await until(async () => (await caught()) & (1n << 14n), "the program catches SIGTERM");
    running.kill();
    const [code] = await once(running, "close");
    assert.equal(code, 1);
    assert.match(stderr, /cancelled/);
});

test("the program fails if it cannot write its output", { skip: !existsSync("/dev/full") && "no /dev/full here" }, async () => {
    const full = await open("/dev/full", "w");
    const args = ["run", "train", ...Object.entries(without(smallTraining, "experiment")).flatMap(([name, value]) => [`--${name}`, `${value}`])];
    for (const one of [args, ["--help"], ["--version"]]) {
        const { status, stderr } = spawnSync(program, one, { stdio: ["ignore", full.fd, "pipe"], encoding: "utf8" });
        assert.match(stderr, /attnlab: cannot write to standard output: No space left/);
        assert.equal(status, 1);
    }
    await full.close();
});
