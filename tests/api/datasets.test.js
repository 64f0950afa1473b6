// Data sets: the drawn ones, and uploaded ones from upload to prediction.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { Browser, Client, isNumber, longTraining, smallTraining, until, without } from "../support/client.js";
import { repository, startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon();
    client = new Client(daemon.url);
});
after(() => daemon.stop());

const upload = (name, type, body) =>
    client.fetch(`api/datasets?name=${encodeURIComponent(name)}`, { method: "POST", headers: { "Content-Type": type }, body });

const sentences = path.join(process.env.ATTNLAB_ASSETS || path.join(repository, "../shared/assets"), "uci_sentiment");
const skip = existsSync(sentences) ? false : `the published sentences are not in ${sentences}`;

/** For four rows. */
const split = { train_examples: 3, test_examples: 1 };

/** A TSV of n rows, each with one word that decides its class. */
function reviews(n) {
    return Array.from({ length: n }, (_, i) => `${i % 2}\tThis was ${i % 2 ? "good" : "bad"}, number ${i % 7}!`).join("\n");
}

test("drawn data sets are listed, and their examples are those that a run sees", async () => {
    const { datasets } = await client.get("api/datasets");
    assert.deepEqual(datasets.map(({ name }) => name), ["first-element", "reviews", "last-element"]);
    const [negative, positive] = datasets[1].decisive_words;
    for (const { label, tokens, decisive_position } of (await client.get("api/datasets/reviews/examples")).examples)
        assert.ok((label === "positive" ? positive : negative).includes(tokens[decisive_position]), tokens.join(" "));
    const path = "api/datasets/first-element/examples";
    const { total, examples } = await client.get(`${path}?limit=3&sequence_length=5`);
    assert.equal(total, 600);
    assert.equal(examples.length, 3);
    for (const { values, label, class_index } of examples) {
        assert.equal(values.length, 5);
        assert.equal(label, values[0] > 0 ? 1 : 0);
        assert.equal(class_index, label);
    }
    const page = await client.get(`${path}?offset=2&limit=1&sequence_length=5`);
    assert.deepEqual(page.examples, [examples[2]]);
    assert.notDeepEqual((await client.get(`${path}?split=train&limit=3&sequence_length=5`)).examples, examples);
    assert.deepEqual((await client.get(`${path}?offset=600`)).examples, []);
    const csv = (await client.text(`${path}.csv?limit=3&sequence_length=5`)).trim().split("\r\n");
    assert.equal(csv[0], "index,label,x0,x1,x2,x3,x4");
    assert.deepEqual(csv[1].split(",").slice(2).map(Number), examples[0].values);
    await client.problem(422, `${path}?sequence_length=0`);
    assert.match((await client.problem(422, `${path}?task=reviews`)).detail, /what the path names/);
});

test("a model trains on uploaded text and predicts from it", async () => {
    const response = await upload("mine", "text/tab-separated-values", `\ufeff${reviews(50).replaceAll("\n", "\r\n")}\r\n\r\n`);
    assert.equal(response.status, 201);
    const dataset = await response.json();
    assert.deepEqual([dataset.name, dataset.kind, dataset.rows, dataset.classes], ["mine", "text", 50, 2]);
    assert.ok(dataset.words > 5);
    const { total, examples } = await client.get("api/datasets/mine/examples?split=train&limit=2");
    assert.equal(total, 40);
    assert.equal(examples[0].text, "This was bad, number 0!");
    assert.deepEqual(examples[0].tokens.slice(0, 4), ["this", "was", "bad", ","]);
    assert.equal(examples[0].label, 0);
    const run = await client.run({ experiment: "train", task: "mine", model: "transformer", width: 8, heads: 2, epochs: 3 });
    const { predictions } = await client.create(`api/runs/${run.id}/predictions`, { texts: ["good grief"] }, 200);
    assert.deepEqual(predictions[0].unknown, [false, true]);
    const many = { experiment: "train", task: "mine", train_examples: 45, test_examples: 6 }; // either alone is allowed
    assert.match((await client.postProblem(422, "api/runs", many)).errors[0].message, /at most 50, the rows of the data; got 45 and 6/);
    assert.equal((await upload("mine", "text/tab-separated-values", reviews(10))).status, 409);
});

test("uploaded numbers may have quotes and named classes", async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `${i % 2 ? 1 : -1},0.5,${i},"${i % 2 ? "up, high" : "down"}"`);
    const response = await upload("numbers", "text/csv; charset=utf-8", `a,b,c,label\n${rows.join("\n")}\n`);
    assert.equal(response.status, 201, await response.text());
    assert.equal((await response.json()).kind, "numbers");
    const { examples } = await client.get("api/datasets/numbers/examples?split=train&limit=2");
    assert.deepEqual(examples.map(({ label }) => label), ["down", "up, high"]);
    const csv = await client.text("api/datasets/numbers/examples.csv?split=train&limit=2");
    assert.match(csv, /\r\n1,"up, high",1,0.5,1\r\n$/);
    const run = await client.run({ ...smallTraining, task: "numbers", sequence_length: 3, train_examples: 24, test_examples: 6 });
    assert.ok(isNumber(run.result.test_accuracy, 0, 1));
});

test("the vocabulary is the lab's, of all rows, or of the training rows alone", async () => {
    assert.equal((await upload("vocabulary", "text/tab-separated-values", `${reviews(49)}\n1\tA novelty`)).status, 201);
    const training = { experiment: "train", task: "vocabulary", model: "transformer", width: 8, heads: 2, epochs: 1 };
    const novelty = async (parameters) => (await client.get(`api/datasets/vocabulary/examples?offset=9&${parameters}`)).examples[0].unknown;
    const all = await client.run(training);
    const trained = await client.run({ ...training, vocabulary: "training" });
    assert.equal(all.parameters.vocabulary, "all");
    // Two words of the last row, a test row, with 8 numbers each.
    assert.equal(all.result.parameter_count, trained.result.parameter_count + 2 * 8);
    assert.deepEqual(await novelty(""), [false, false]);
    assert.deepEqual(await novelty("vocabulary=training"), [true, true]);
});

// PyTorch's losses: tests/reference/make_unscaled_golden.py.
const cases = path.join(repository, "tests/api/cases");
const unscaled = JSON.parse(await readFile(path.join(cases, "unscaled-golden.json"), "utf8"));
const unscaledFiles = ["unscaled-10-rows", "unscaled-column"];
const losses = async (run) => (await client.get(`api/runs/${run.id}/metrics`)).rows.slice(1).map((row) => row.train_loss);

function assertNear(actual, expected, what) {
    assert.ok(actual.length >= expected.length, what);
    expected.forEach((value, i) => assert.ok(Math.abs(actual[i] - value) <= 1e-4 * Math.max(1, value), `${what}: ${actual} for ${expected}`));
}

test("columns that nobody scaled train as in PyTorch, or standardised", async () => {
    for (const name of unscaledFiles) {
        const response = await upload(name, "text/csv", await readFile(path.join(cases, `${name}.csv`)));
        assert.equal(response.status, 201, await response.clone().text());
        for (const [model, golden] of Object.entries(unscaled[name])) {
            const training = { experiment: "train", task: name, model, epochs: 6 };
            const given = await client.run(training);
            assert.equal(given.state, "succeeded", given.error);
            const standardised = await client.run({ ...training, standardise: true });
            assertNear(await losses(standardised), golden.standardised, `${name}, ${model}, standardised`);
            assertNear(await losses(given), golden["as given"], `${name}, ${model}`);
        }
    }
});

test("what a standardised run sees, predicts and exports is standardised", async () => {
    const training = { experiment: "train", task: "unscaled-10-rows", model: "attention", epochs: 2, standardise: true };
    const run = await client.run(training);
    const page = await client.get("api/datasets/unscaled-10-rows/examples?split=train&standardise=true");
    const first = page.examples.map(({ values }) => values[0]);
    assert.ok(Math.abs(first.reduce((sum, value) => sum + value)) < 1e-5);
    assert.ok(Math.abs(first.reduce((sum, value) => sum + value * value, 0) / first.length - 1) < 1e-5);
    const predict = async (sequence) =>
        (await client.create(`api/runs/${run.id}/predictions`, { sequences: [sequence] }, 200)).predictions[0];
    // The test rows as they are in the file.
    const right = [await predict([100800, 0]), await predict([100900, 1])].filter(({ label }, i) => label === "xy"[i]).length;
    assert.equal(right / 2, run.result.test_accuracy);
    const bytes = Buffer.from(await (await client.fetch(`api/runs/${run.id}/model.safetensors`)).arrayBuffer());
    const metadata = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString()).__metadata__;
    assert.deepEqual(JSON.parse(metadata.standardise_mean), [100350, 0.5]);
    assert.equal(JSON.parse(metadata.standardise_deviation)[1], 0.5);
    const problem = await client.postProblem(422, "api/runs", { ...training, task: "first-element" });
    assert.match(problem.errors[0].message, /only to data sets of numbers/);
});

test("HTML and formulas in the data stay plain text", async () => {
    const hostile = '<script>alert("1")</script> =cmd()';
    const body = Array.from({ length: 10 }, (_, i) => `${i % 2}\t${hostile} ${i % 2 ? "good" : "bad"}`).join("\n");
    assert.equal((await upload("hostile", "text/tab-separated-values", body)).status, 201);
    const response = await client.fetch("api/datasets/hostile/examples?split=train&limit=1");
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal((await response.json()).examples[0].text, `${hostile} bad`);
});

test("bad data is refused with the number of its line", async () => {
    for (const [type, body, line] of [
        ["text/csv", "text,label\ngood,1\n\"open,0\n", /line [23]/],
        ["text/csv", "a,b,label\n1,2,x\n1,zwei,y\n", /line 3/],
        ["text/csv", "a,b,label\n1,2,x\n1,y\n", /line 3/],
        ["text/tab-separated-values", "1\tgood\nno tab here\n", /line 2/],
        ["text/csv", "", /./],
        ["text/csv", "\x00\x01\x02\xff\xfe", /./],
    ]) {
        const problem = await client.problem(422, "api/datasets?name=bad", {
            method: "POST",
            headers: { "Content-Type": type },
            body: Buffer.from(body, "latin1"),
        });
        assert.match(problem.detail, line, body);
    }
    await client.problem(415, "api/datasets?name=bad", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    assert.equal((await client.get("api/datasets")).datasets.some(({ name }) => name === "bad"), false);
});

test("names of data sets are restricted to plain characters", async () => {
    for (const name of ["", "../etc", "a/b", "first-element", "reviews", "x".repeat(65), "<b>", ".hidden"]) {
        const response = await upload(name, "text/tab-separated-values", reviews(10));
        assert.ok([409, 422].includes(response.status), `${name}: ${response.status}`);
    }
    for (const name of ["x".repeat(64), "1.a_B-c"]) assert.equal((await upload(name, "text/tab-separated-values", reviews(10))).status, 201, name);
});

test("a deleted data set is gone", async () => {
    assert.equal((await upload("brief", "text/tab-separated-values", reviews(10))).status, 201);
    assert.equal((await client.fetch("api/datasets/brief", { method: "DELETE" })).status, 204);
    await client.problem(404, "api/datasets/brief/examples");
    await client.postProblem(422, "api/runs", { experiment: "train", task: "brief" });
});

test("a data set uploaded under a deleted one's name is a new data set", async () => {
    const rows = (word) => `text,label\n${["a", "b", "a", "b"].map((label) => `${word} ${label},${label}`).join("\n")}\n`;
    const examples = () => client.get("api/datasets/again/examples?split=train&limit=1");
    assert.equal((await upload("again", "text/csv", rows("first"))).status, 201);
    assert.equal((await examples()).examples[0].text, "first a");
    const run = await client.run({ ...without(smallTraining, "sequence_length"), ...split, task: "again" });
    assert.ok(await client.get(`api/runs/${run.id}/attention`));
    await client.fetch("api/datasets/again", { method: "DELETE" });
    assert.equal((await upload("again", "text/csv", rows("second"))).status, 201);
    assert.equal((await examples()).examples[0].text, "second a");
    assert.match((await client.problem(409, `api/runs/${run.id}/attention`)).detail, /again.*deleted.*other contents/);
    // The same contents are the same data set, whatever its name.
    assert.equal((await upload("once-more", "text/csv", rows("first"))).status, 201);
    assert.ok(await client.get(`api/runs/${run.id}/attention`));
});

test("a run that has not ended keeps its data set, and after that says that it was deleted", async () => {
    const remove = (name) => client.fetch(`api/datasets/${name}`, { method: "DELETE" });
    const file = reviews(20100);
    const { digest } = await (await upload("kept", "text/tab-separated-values", file)).json();
    const wanted = { ...without(longTraining, "sequence_length"), test_examples: 100, task: "kept" };
    const runs = [await client.create("api/runs", wanted), await client.create("api/runs", wanted)];
    assert.equal(runs[0].dataset_digest, digest);
    const refusal = await client.problem(409, "api/datasets/kept", { method: "DELETE" });
    assert.match(refusal.detail, /kept is used by 2 runs/);
    assert.deepEqual(refusal.runs, runs.map(({ id }) => id).sort());
    // Another copy of the contents is as good.
    assert.equal((await upload("copy", "text/tab-separated-values", file)).status, 201);
    assert.equal((await remove("copy")).status, 204);
    await client.create(`api/runs/${runs[1].id}/cancel`, {}, 200);
    assert.deepEqual((await client.problem(409, "api/datasets/kept", { method: "DELETE" })).runs, [runs[0].id]);
    await until(async () => (await client.get(`api/runs/${runs[0].id}/metrics`)).rows.length > 0, "an epoch");
    await client.create(`api/runs/${runs[0].id}/cancel`, {}, 200);
    await until(async () => (await client.get(`api/runs/${runs[0].id}`)).finished_at, "the run ends");
    assert.equal((await remove("kept")).status, 204);
    for (const what of ["attention", "attention/mean"])
        assert.match((await client.problem(409, `api/runs/${runs[0].id}/${what}`)).detail, /kept was deleted; add the same file/);
    const question = { texts: ["This was good"] };
    assert.match((await client.postProblem(409, `api/runs/${runs[0].id}/predictions`, question)).detail, /kept was deleted/);
    assert.equal((await upload("kept", "text/tab-separated-values", file)).status, 201);
    assert.ok(await client.get(`api/runs/${runs[0].id}/attention`));
});

test("data sets are listed in pages, by name", async () => {
    const whole = await client.get("api/datasets");
    assert.equal(whole.next, null);
    const given = whole.datasets.filter(({ source }) => source === "given").map(({ name }) => name);
    assert.deepEqual(given, [...given].sort());
    assert.ok(given.length > 2);
    const pages = [];
    for (let after = ""; after !== null; ) {
        const { datasets, next } = await client.get(`api/datasets?limit=2${after && `&after=${after}`}`);
        pages.push(...datasets);
        after = next;
    }
    assert.deepEqual(pages, whole.datasets);
});

test("a student cannot add data sets without end, however small", async (t) => {
    const guarded = await startDaemon({ args: ["--access", "token", "--students", "run"], env: { ATTNLAB_TOKEN: "correct-horse-battery" } });
    t.after(() => guarded.stop());
    const student = await new Browser(guarded.url).visit();
    const add = (i) =>
        student.fetch(`api/datasets?name=tiny${i}`, { method: "POST", headers: { "Content-Type": "text/csv" }, body: "text,label\na,1\nb,0\n" });
    for (let i = 0; i < 50; i++) assert.equal((await add(i)).status, 201);
    const refused = await add(50);
    assert.equal(refused.status, 429);
    assert.match((await refused.json()).detail, /you may have 50 data sets/);
});

test("an offset beyond the last example gives an empty table", async () => {
    assert.equal(await client.text("api/datasets/reviews/examples.csv?offset=100000"), "index,label,text\r\n");
});

test("a model trains on the published sentences as they are", { skip }, async () => {
    for (const name of ["amazon_cells_labelled", "yelp_labelled"]) {
        const file = await readFile(path.join(sentences, `${name}.txt`));
        const response = await upload(name, "text/tab-separated-values", file);
        assert.equal(response.status, 201, await response.text());
        const { rows, classes } = await response.json();
        assert.deepEqual([rows, classes], [1000, 2]);
        const { result } = await client.run({ experiment: "train", task: name, model: "transformer", epochs: 8 });
        assert.ok(result.test_accuracy > 0.65, `${name}: ${result.test_accuracy}`);
    }
});

test("a page of drawn examples is the same whether or not the others are drawn", async () => {
    for (const [task, split] of [["first-element", "train"], ["first-element", "test"], ["last-element", "train"], ["reviews", "test"]]) {
        const path = `api/datasets/${task}/examples?split=${split}&train_examples=900&test_examples=700`;
        const all = await client.get(`${path}&limit=1000`);
        assert.equal(all.total, split === "train" ? 900 : 700);
        assert.equal(all.examples.length, all.total);
        for (const offset of [0, 10, 600, 699]) {
            const page = await client.get(`${path}&offset=${offset}&limit=2`);
            assert.equal(page.total, all.total);
            assert.deepEqual(page.examples, all.examples.slice(offset, offset + 2));
        }
        assert.deepEqual((await client.get(`${path}&offset=${all.total}`)).examples, []);
    }
});
