// Strangers, students and the lecturer: who is let in, and what each may do.
import assert from "node:assert/strict";
import { link, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Browser, Client, longTraining, setCookies, smallTraining, until } from "../support/client.js";
import { runProgram, startDaemon } from "../support/daemon.js";

const token = "correct-horse-battery-staple";
const sentences = "text,label\ngood,1\nbad,0\nfine,1\npoor,0\n";

async function withDaemon(t, args, env = {}) {
    const daemon = await startDaemon({ args: ["--workers", "1", ...args], env });
    t.after(() => daemon.stop());
    const lecturer = new Browser(daemon.url, { Authorization: `Bearer ${token}` });
    const student = () => new Browser(daemon.url).visit();
    return { daemon, lecturer, student, stranger: new Browser(daemon.url) };
}
const withToken = (t, ...args) => withDaemon(t, ["--access", "token", ...args], { ATTNLAB_TOKEN: token });

test("a stranger: the lecturer's token is never written through a link", async (t) => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    t.after(() => rm(data, { recursive: true }));
    const victim = path.join(data, "victim");
    for (const make of [symlink, link]) {
        await writeFile(victim, "precious");
        await make(victim, path.join(data, "attnlab.token.new"));
        const daemon = await startDaemon({ data, args: ["--access", "token"] });
        await daemon.stop();
        assert.equal(await readFile(victim, "utf8"), "precious");
        assert.match(await readFile(path.join(data, "attnlab.token"), "utf8"), /^\S{16,}\n$/);
        await rm(path.join(data, "attnlab.token"));
    }
});

test("the service does not listen beyond loopback without --access", async () => {
    for (const listen of ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"]) {
        const { code, stderr } = await runProgram(["serve", "--listen", listen]);
        assert.equal(code, 2, listen);
        assert.match(stderr, /^attnlab: [^\n]*--access token[^\n]*--access open[^\n]*\n$/);
    }
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    for (const args of [["--access", "open"], ["--access", "token"]]) {
        const daemon = await startDaemon({ args: ["--listen", "0.0.0.0:0", ...args], data });
        assert.equal((await daemon.stop()).code, 0);
    }
    await rm(data, { recursive: true });
});

test("a bad option or token gives one line of error and status 2 or 1", async () => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    const file = path.join(data, "token");
    const cases = [
        [["--access", "everybody"], "", 2, /open, token/],
        [["--students", "all"], "", 2, /none, read, run/],
        [["--students", "run"], "", 2, /only with --access token/],
        [["--access", "token"], "short", 2, /16 to 256 characters; it has 5/],
        [["--access", "token"], "seventeen letters", 2, /without spaces/],
        [["--access", "token", "--token-file", file], "", 1, /cannot read/],
        [["--student-epochs", "0"], "", 2, /from 1 to/],
    ];
    for (const [args, value, status, message] of cases) {
        const { code, stderr } = await runProgram(["serve", "--listen", "127.0.0.1:0", "--data", data, ...args], {
            env: { ATTNLAB_TOKEN: value },
        });
        assert.equal(code, status, stderr);
        assert.match(stderr, message);
        assert.match(stderr, /^attnlab: [^\n]+\n$/);
    }
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    const daemon = await startDaemon({ args: ["--access", "token", "--token-file", file], data });
    assert.equal(await new Browser(daemon.url, { Authorization: `Bearer ${token}` }).status("GET", "metrics"), 200);
    assert.equal((await daemon.stop()).stderr, "");
    await rm(data, { recursive: true });
});

test("if no token is given, the service makes one that only its user can read, and keeps it", async () => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    const file = path.join(data, "attnlab.token");
    const made = [];
    for (let i = 0; i < 2; i++) {
        const daemon = await startDaemon({ args: ["--access", "token"], env: { ATTNLAB_TOKEN: "" }, data });
        made.push((await readFile(file, "utf8")).trim());
        const lecturer = new Browser(daemon.url, { Authorization: `Bearer ${made[0]}` });
        assert.equal(await lecturer.status("GET", "api/runs"), 200);
        const { stdout, stderr } = await daemon.stop();
        assert.ok(stdout.includes(file), stdout);
        assert.ok(!(stdout + stderr).includes(made[0]), "the token itself is never printed");
    }
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(made[0], /^\w{32}$/);
    assert.equal(made[1], made[0]);
    await rm(data, { recursive: true });
});

test("a stranger can read the page and health, and sign in, but nothing else", async (t) => {
    const { lecturer, stranger } = await withToken(t);
    const { id } = await lecturer.run(smallTraining);
    for (const path of ["", "app.js", "api/health", "api/openapi.json", "api/session", "api/experiments"]) {
        assert.equal(await stranger.status("GET", path), 200, path);
    }
    assert.equal((await stranger.get("api/session")).role, "stranger");
    const reads = ["", "/events", "/metrics", "/metrics.csv", "/attention", "/attention.npy", "/attention/mean", "/gradient", "/model.safetensors"];
    for (const path of ["api/runs", "api/events", "api/comparisons", "api/datasets", "api/experiments/train/layers", "metrics", ...reads.map((end) => `api/runs/${id}${end}`)]) {
        const problem = await stranger.problem(401, path);
        assert.match(problem.headers.get("www-authenticate"), /^Bearer/);
    }
    assert.equal(await stranger.status("POST", "api/runs", smallTraining), 401);
    assert.equal(await stranger.status("POST", `api/runs/${id}/predictions`, { sequences: [[1]] }), 401);
    assert.equal(await stranger.status("POST", `api/runs/${id}/cancel`), 401);
    assert.equal(await stranger.status("DELETE", `api/runs/${id}`), 401);
    assert.equal(await stranger.status("POST", "api/datasets?name=x", sentences, "text/csv"), 401);
    assert.equal(await stranger.status("POST", "api/runs", "x".repeat(100000)), 401, "refused before the body is read");
});

test("a wrong token is refused everywhere, even if it is nearly right", async (t) => {
    const { daemon } = await withToken(t, "--students", "run");
    for (const wrong of ["x", token.slice(0, -1), `${token}x`, token.toUpperCase()]) {
        const visitor = new Browser(daemon.url, { Authorization: `Bearer ${wrong}` });
        assert.equal(await visitor.status("GET", "api/runs"), 401, wrong);
        assert.equal(await visitor.status("POST", "api/session", { token: wrong }), 401, wrong);
    }
    assert.ok(!(await readFile(`/proc/${daemon.pid}/cmdline`, "utf8")).includes(token));
});

test("an address that sends too many wrong tokens is blocked for the rest of a minute; others and sessions are not", async (t) => {
    const { daemon } = await withToken(t, "--students", "run", "--behind-proxy", "yes");
    const from = (address, headers = {}) => new Browser(daemon.url, { "X-Forwarded-For": address, ...headers });
    const signedIn = from("192.0.2.1");
    assert.equal(await signedIn.status("POST", "api/session", { token }), 200);
    const guess = (address, i) =>
        i % 2 ? from(address).status("POST", "api/session", { token: `wrong-${i}` }) : from(address, { Authorization: `Bearer wrong-${i}` }).status("GET", "api/runs");
    for (let i = 0; i < 10; i++) assert.equal(await guess("192.0.2.1", i), 401, i);
    for (let i = 10; i < 12; i++) assert.equal(await guess("192.0.2.1", i), 429, i);
    const refused = await from("192.0.2.1").postProblem(429, "api/session", { token });
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(seconds > 0 && seconds <= 60, refused.headers.get("retry-after"));
    await from("192.0.2.1", { Authorization: `Bearer ${token}` }).problem(429, "api/runs");
    assert.equal(await signedIn.status("GET", "metrics"), 200, "a session is not affected");
    assert.equal(await from("192.0.2.1").status("GET", "api/runs"), 200, "nor is a student");
    assert.equal(await from("192.0.2.2").status("POST", "api/session", { token }), 200, "nor is another address");
    for (let i = 0; i < 10; i++) assert.equal(await guess(`2001:db8::${i}`, i), 401, i);
    assert.equal(await guess("2001:db8::ffff", 10), 429, "an IPv6 /64 counts as one address");
    assert.equal(await guess("2001:db8:0:1::1", 10), 401, "another /64 counts for itself");
});

test("behind a proxy that adds its own X-Forwarded-For line, the client's lines are ignored", async (t) => {
    const { daemon } = await withToken(t, "--students", "none", "--behind-proxy", "yes");
    const { hostname, port } = new URL(daemon.url);
    /* fetch would merge the two lines into one. */
    const status = (claimed, seen, shown) =>
        new Promise((resolve, reject) => {
            const headers = { "X-Forwarded-For": [claimed, seen], Authorization: `Bearer ${shown}` };
            get({ hostname, port, path: "/api/runs", headers }, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
        });
    for (let i = 0; i < 10; i++) assert.equal(await status(`192.0.2.${i}`, "192.0.2.200", "wrong"), 401);
    assert.equal(await status("192.0.2.11", "192.0.2.200", "wrong"), 429, "invented addresses do not allow further guesses");
    for (let i = 0; i < 12; i++) await status("192.0.2.100", "192.0.2.201", "wrong");
    assert.equal(await status("192.0.2.200", "192.0.2.100", token), 200, "nobody can lock out another address");
});

test("signing in gives an opaque cookie, valid across restarts until sign-out or a new token", async () => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    const start = (value = token) => startDaemon({ args: ["--access", "token"], env: { ATTNLAB_TOKEN: value }, data });
    let daemon = await start();
    const lecturer = new Browser(daemon.url);
    const answer = await lecturer.post("api/session", { token });
    assert.equal(answer.status, 200);
    const cookie = setCookies(answer).find((line) => line.startsWith("attnlab_session="));
    assert.match(cookie, /^attnlab_session=\w{32}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    assert.equal((await lecturer.get("api/session")).role, "lecturer");
    const others = [lecturer.cookies.get("attnlab_session").replace(/.$/, (last) => (last === "0" ? "1" : "0")), "x", "'"];
    for (const value of others) {
        const forger = new Browser(daemon.url, { Cookie: `attnlab_session=${value}` });
        assert.equal(await forger.status("GET", "api/runs"), 401, value);
    }
    for (const wrong of [{}, { token: 1 }, { token, more: 1 }]) assert.equal(await lecturer.status("POST", "api/session", wrong), 422);

    const revisit = async (value) => {
        await daemon.stop();
        daemon = await start(value);
        lecturer.url = daemon.url;
        return lecturer.status("GET", "api/runs");
    };
    assert.equal(await revisit(), 200, "after a restart");
    assert.equal(await revisit("another-token-of-the-lecturer"), 401, "with another token");
    assert.equal(await revisit(), 200);
    const stored = await readFile(path.join(data, "attnlab.sqlite3"));
    assert.ok(!stored.includes(token) && !stored.includes(lecturer.cookies.get("attnlab_session")));
    const thief = new Browser(daemon.url, { Cookie: `attnlab_session=${lecturer.cookies.get("attnlab_session")}` });
    const signedOut = await lecturer.fetch("api/session", { method: "DELETE" });
    assert.equal(signedOut.status, 204);
    assert.match(setCookies(signedOut)[0], /^attnlab_session=; Path=\/; Max-Age=0;/);
    assert.equal(await thief.status("GET", "api/runs"), 401, "the cookie is worthless after signing out");
    await revisit();
    thief.url = daemon.url;
    assert.equal(await thief.status("GET", "api/runs"), 401, "and still so after a restart");
    await daemon.stop();
    await rm(data, { recursive: true });
});

test("cookies are Secure if a trusted proxy reports TLS", async (t) => {
    const https = { "X-Forwarded-Proto": "https" };
    const cookieOf = async (daemon, headers) =>
        setCookies(await new Client(daemon.url).fetch("api/session", { headers }))[0];
    const { daemon } = await withToken(t, "--students", "run", "--behind-proxy", "yes");
    assert.match(await cookieOf(daemon, https), /^attnlab_owner=\w{32};.*HttpOnly; SameSite=Strict; Secure$/);
    assert.doesNotMatch(await cookieOf(daemon, {}), /Secure/);
    const direct = await withToken(t, "--students", "run");
    assert.doesNotMatch(await cookieOf(direct.daemon, https), /Secure/);
});

test("students who may only read can see everything and start nothing", async (t) => {
    const { lecturer, student } = await withToken(t, "--students", "read");
    const reader = await student();
    assert.deepEqual([reader.session.role, reader.session.may_run], ["student", false]);
    const { id } = await lecturer.run(smallTraining);
    assert.equal(await reader.status("GET", `api/runs/${id}/attention`), 200);
    assert.equal((await reader.events(`api/runs/${id}/events`)).at(-1).event, "end");
    await reader.postProblem(403, "api/runs", smallTraining);
    await reader.problem(403, "metrics");
    for (const [method, path] of [
        ["POST", `api/runs/${id}/cancel`],
        ["DELETE", `api/runs/${id}`],
        ["DELETE", "api/datasets/x"],
    ]) {
        assert.equal(await reader.status(method, path), 403, path);
    }
});

test("once students may only read, they cannot change even the runs that they started before", async () => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    const start = (students) => startDaemon({ args: ["--workers", "1", "--access", "token", "--students", students], env: { ATTNLAB_TOKEN: token }, data });
    let daemon = await start("run");
    const student = await new Browser(daemon.url).visit();
    const { id } = await student.run(smallTraining);
    assert.equal((await student.get(`api/runs/${id}`)).may_delete, true);
    await daemon.stop();
    daemon = await start("read");
    student.url = daemon.url;
    assert.equal((await student.get(`api/runs/${id}`)).may_delete, false);
    assert.equal(await student.status("DELETE", `api/runs/${id}`), 403);
    await daemon.stop();
    await rm(data, { recursive: true });
});

test("a student can cancel and delete only what is their own; the lecturer, everything", async (t) => {
    const { daemon, lecturer, student } = await withToken(t, "--students", "run", "--student-seconds", "1000000", "--student-epochs", String(longTraining.epochs));
    const [one, other] = [await student(), await student()];
    const bare = new Browser(daemon.url); // curl without a cookie jar
    const comparison = { ...longTraining, seeds: [0], variants: [{ label: "a" }] };
    const makers = [one, lecturer, bare];
    for (const maker of makers) {
        const run = await maker.create("api/runs", longTraining);
        const compared = await maker.create("api/comparisons", comparison);
        const name = `data-${makers.indexOf(maker)}`;
        assert.equal(await maker.status("POST", `api/datasets?name=${name}`, sentences, "text/csv"), 201);
        const paths = [
            ["POST", `api/runs/${run.id}/cancel`, 200],
            ["DELETE", `api/runs/${run.id}`, 204],
            ["POST", `api/comparisons/${compared.id}/cancel`, 200],
            ["POST", `api/runs/${compared.runs[0]}/cancel`, 409],
            ["DELETE", `api/comparisons/${compared.id}`, 204],
            ["DELETE", `api/datasets/${name}`, 204],
        ];
        for (const visitor of [other, bare, ...(maker === lecturer ? [one] : [])]) {
            for (const [method, path] of paths) assert.equal(await visitor.status(method, path), 403, path);
        }
        assert.equal((await other.get("api/datasets")).datasets.find((set) => set.name === name).may_delete, false);
        const owner = maker === one ? one : lecturer;
        assert.equal((await owner.get("api/datasets")).datasets.find((set) => set.name === name).may_delete, true);
        for (const [visitor, may] of [[owner, true], [lecturer, true], [other, false], [bare, false]]) {
            assert.equal((await visitor.get(`api/runs/${run.id}`)).may_delete, may);
            assert.equal((await visitor.get("api/runs")).runs.find(({ id }) => id === run.id).may_delete, may);
            assert.equal((await visitor.get(`api/comparisons/${compared.id}`)).may_delete, may);
            assert.equal((await visitor.get("api/comparisons")).comparisons[0].may_delete, may);
        }
        if (maker === one) {
            assert.deepEqual((await one.get("api/runs?mine=true")).runs.map(({ id }) => id).sort(), [run.id, compared.runs[0]].sort());
            assert.deepEqual((await other.get("api/runs?mine=true")).runs, []);
        }
        for (const [method, path, status] of paths) {
            const isDone = async () => {
                const got = await owner.status(method, path);
                if (got !== 409 && status !== 409) assert.equal(got, status, path);
                return got === status;
            };
            await until(isDone, `${method} ${path} answers ${status} once the run is cancelled`);
        }
    }
    assert.equal(await one.status("DELETE", "api/runs/nobody"), 404);
    assert.ok(!JSON.stringify(await lecturer.get("api/runs")).includes(one.cookies.get("attnlab_owner")));
});

test("students are limited in epochs, sizes, memory, waiting runs and data; the lecturer is not", async (t) => {
    const limits = ["--student-epochs", "4", "--student-width", "16", "--student-sequence-length", "10", "--student-examples", "100"];
    const more = ["--student-queued-runs", "3", "--student-data-mb", "1", "--student-memory-mb", "20"];
    const { lecturer, student } = await withToken(t, "--students", "run", ...limits, ...more);
    const one = await student();
    assert.equal(one.session.limits.epochs, 4);
    const large = { ...smallTraining, epochs: 5, width: 17, sequence_length: 11, train_examples: 101 };
    const problem = await one.postProblem(422, "api/runs", large);
    assert.deepEqual(problem.errors.map(({ field }) => field).sort(), ["epochs", "sequence_length", "train_examples", "width"]);
    assert.match(problem.detail, /at most \d+ in a student's run; got \d+/);
    const variants = [{ label: "a", epochs: 5 }];
    const compared = await one.postProblem(422, "api/comparisons", { ...smallTraining, variants });
    assert.equal(compared.errors[0].field, "variants[0].epochs");
    await one.problem(422, "api/datasets/first-element/examples?train_examples=200");
    await one.problem(422, "api/experiments/train/layers?width=17");
    for (const [field, parameters] of [
        ["lengths", { experiment: "cost", width: 16, lengths: [10, 20] }],
        ["lengths", { experiment: "cost", width: 16, lengths: [20, 10] }],
        ["tokens", { experiment: "transformer-block", width: 16, feedforward_width: 64, tokens: 11 }],
        ["feedforward_width", { experiment: "transformer-block", width: 16, feedforward_width: 65 }],
        ["channels", { experiment: "running-average", channels: 17 }],
        ["samples", { experiment: "scaling", samples: 101 }],
        ["examples", { experiment: "permutation", sequence_length: 10, examples: 101 }],
        ["test_examples", { ...smallTraining, test_examples: 101 }],
    ]) {
        const { errors } = await one.postProblem(422, "api/runs", parameters);
        assert.deepEqual(errors.map((fault) => fault.field), [field]);
    }
    await one.run({ ...smallTraining, epochs: 4, width: 16, sequence_length: 10, train_examples: 100 }); // exactly at the limits
    await one.run({ experiment: "transformer-block", width: 16, feedforward_width: 64, tokens: 10 });
    const wide = { ...smallTraining, model: "transformer", width: 16, heads: 1, layers: 12, batch_size: 4096 };
    assert.match((await one.postProblem(422, "api/runs", wide)).errors[0].message, /at most 21\.0 MB/); // 20 MiB
    await lecturer.run(large);

    const blocker = await lecturer.create("api/runs", longTraining);
    const waiting = [];
    for (let i = 0; i < 3; i++) waiting.push(await one.create("api/runs", smallTraining));
    const full = await one.postProblem(429, "api/runs", smallTraining);
    assert.ok(full.headers.get("retry-after"));
    await one.postProblem(429, "api/comparisons", { ...smallTraining, variants: [{ label: "a" }] });
    const other = await student();
    await other.create("api/runs", smallTraining);
    for (let i = 0; i < 5; i++) waiting.push(await lecturer.create("api/runs", smallTraining));
    await lecturer.post(`api/runs/${blocker.id}/cancel`);

    const rows = "text,label\n" + "some words,1\nother words,0\n".repeat(24000);
    assert.ok(rows.length > 1 << 19 && rows.length < 1 << 20);
    assert.equal(await one.status("POST", "api/datasets?name=first", rows, "text/csv"), 201);
    assert.equal(await one.status("POST", "api/datasets?name=second", rows, "text/csv"), 429);
    assert.equal(await one.status("POST", "api/datasets?name=third", rows + rows, "text/csv"), 413);
    assert.equal(await other.status("POST", "api/datasets?name=second", rows, "text/csv"), 201);
    const third = await student();
    const whole = "text,label\ngood,1\nbad,0\n".padEnd(1 << 20, "\n");
    assert.equal(await third.status("POST", "api/datasets?name=whole", `${whole}\n`, "text/csv"), 413);
    assert.equal(await third.status("POST", "api/datasets?name=whole", whole, "text/csv"), 201, "exactly the size allowed");
    assert.equal(await third.status("DELETE", "api/datasets/whole"), 204);
    assert.equal(await lecturer.status("POST", "api/datasets?name=third", rows + rows, "text/csv"), 201);
});

test("one student's runs leave a worker free, so that the next student need not wait", async (t) => {
    const { lecturer, student } = await withToken(t, "--workers", "2", "--students", "run", "--student-seconds", "1000000", "--student-epochs", String(longTraining.epochs));
    const [one, other] = [await student(), await student()];
    const held = [];
    for (let i = 0; i < 3; i++) held.push((await one.create("api/runs", longTraining)).id);
    await until(async () => (await one.get(`api/runs/${held[0]}`)).state === "running", "a worker has started the first run");
    await other.run(smallTraining);
    const states = await Promise.all(held.map(async (id) => (await one.get(`api/runs/${id}`)).state));
    assert.deepEqual(states, ["running", "queued", "queued"]);
    await lecturer.run(smallTraining);
    for (const id of held) await one.post(`api/runs/${id}/cancel`);
});

test("students who discard their cookies still share limits: waiting runs per address, and data in total", async (t) => {
    const limits = ["--student-queued-runs", "2", "--student-queued-runs-per-address", "5", "--all-student-data-mb", "1"];
    const { daemon, lecturer } = await withToken(t, "--students", "run", "--behind-proxy", "yes", ...limits);
    const student = (address) => new Browser(daemon.url, { "X-Forwarded-For": address }).visit();
    const blocker = await lecturer.create("api/runs", longTraining);
    // The lecturer's runs do not count against the classroom's address.
    const beside = new Browser(daemon.url, { "X-Forwarded-For": "192.0.2.1", Authorization: `Bearer ${token}` });
    await beside.create("api/runs", smallTraining);
    const accepted = async (address) => {
        const answers = [];
        for (let i = 0; i < 8; i++) answers.push(await (await student(address)).status("POST", "api/runs", smallTraining));
        return answers.filter((status) => status === 201).length;
    };
    assert.equal(await accepted("192.0.2.1"), 5);
    const compared = { ...smallTraining, seeds: [0], variants: [{ label: "a" }] };
    const full = await (await student("192.0.2.1")).postProblem(429, "api/comparisons", compared);
    assert.match(full.detail, /5 runs from your network address are waiting/);
    assert.equal(await accepted("192.0.2.2"), 5, "another address");
    await lecturer.create("api/runs", smallTraining);
    const rows = "text,label\n" + "some words,1\nother words,0\n".repeat(24000);
    assert.equal(await lecturer.status("POST", "api/datasets?name=before", rows, "text/csv"), 201);
    assert.equal(await (await student("192.0.2.1")).status("POST", "api/datasets?name=one", rows, "text/csv"), 201);
    assert.equal(await (await student("192.0.2.2")).status("POST", "api/datasets?name=two", rows, "text/csv"), 429);
    assert.equal(await lecturer.status("POST", "api/datasets?name=three", rows, "text/csv"), 201);
    await lecturer.post(`api/runs/${blocker.id}/cancel`);
});

test("students who fill the queue leave the lecturer's places free, and their limits by address survive a restart", async () => {
    const data = await mkdtemp(path.join(tmpdir(), "attnlab-test-"));
    const args = ["--workers", "1", "--access", "token", "--students", "run", "--behind-proxy", "yes", "--student-queued-runs", "1000"];
    const start = () => startDaemon({ args, env: { ATTNLAB_TOKEN: token }, data });
    let daemon = await start();
    const from = (address) => new Browser(daemon.url, { "X-Forwarded-For": address });
    const asLecturer = () => new Browser(daemon.url, { Authorization: `Bearer ${token}` });
    const compared = (variants, seeds) => ({
        ...smallTraining,
        seeds: [...Array(seeds).keys()],
        variants: [...Array(variants).keys()].map((i) => ({ label: `${i}` })),
    });
    const blocker = await asLecturer().create("api/runs", longTraining);
    await until(async () => (await asLecturer().get(`api/runs/${blocker.id}`)).state === "running", "the worker is busy");
    await from("192.0.2.1").create("api/comparisons", compared(20, 25));
    const full = await from("192.0.2.2").postProblem(429, "api/comparisons", compared(20, 25));
    assert.match(full.detail, /the last 200 places are the lecturer's/);
    await from("192.0.2.2").create("api/comparisons", compared(20, 15));
    assert.equal(await from("192.0.2.3").status("POST", "api/runs", smallTraining), 429);
    await asLecturer().create("api/comparisons", compared(10, 10));

    await daemon.stop();
    daemon = await start();
    const again = await from("192.0.2.1").postProblem(429, "api/runs", smallTraining);
    assert.match(again.detail, /500 runs from your network address are waiting/);
    await asLecturer().create("api/runs", smallTraining);
    await daemon.stop();
    const stored = await readFile(path.join(data, "attnlab.sqlite3"), "latin1");
    assert.ok(!stored.includes("192.0.2."), "no address is stored");
    await rm(data, { recursive: true });
});

test("a comparison that can never fit among a student's waiting runs is a 422 that says so", async (t) => {
    const { lecturer, student } = await withToken(t, "--students", "run", "--student-queued-runs-per-address", "15");
    const one = await student();
    const compared = (variants, seeds) => ({
        ...smallTraining,
        seeds: [...Array(seeds).keys()],
        variants: [...Array(variants).keys()].map((i) => ({ label: `${i}` })),
    });
    const large = await one.postProblem(422, "api/comparisons", compared(7, 3));
    assert.deepEqual(large.errors.map(({ field }) => field), ["variants"]);
    assert.match(large.detail, /21 runs are more than can ever wait: at most 15 /);
    assert.equal(large.headers.get("retry-after"), null);
    assert.match((await one.postProblem(422, "api/comparisons", compared(8, 2))).detail, /at most 15 from your network address/);
    await lecturer.postProblem(422, "api/comparisons", compared(32, 32));
    await one.create("api/comparisons", compared(5, 3));
});

test("on loopback without --access everybody is the lecturer", async (t) => {
    const { student, stranger } = await withDaemon(t, []);
    const one = await student();
    assert.deepEqual([one.session.access, one.session.role, one.session.limits], ["local", "lecturer", null]);
    const run = await one.create("api/runs", longTraining);
    assert.equal(await stranger.status("POST", `api/runs/${run.id}/cancel`), 200);
    assert.equal(await one.status("POST", "api/session", { token }), 409);
});

test("openapi.json says which credentials each call needs", async (t) => {
    const { stranger } = await withToken(t);
    const { paths, components } = await stranger.get("api/openapi.json");
    assert.equal(components.securitySchemes.token.scheme, "bearer");
    assert.deepEqual(paths["/metrics"].get.security, [{ token: [] }, { session: [] }]);
    assert.deepEqual(paths["/api/health"].get.security, []);
});
