// What all answers have in common, the service's own endpoints, and the page's files.
import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { Client } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client;
before(async () => {
    daemon = await startDaemon({ args: ["--workers", "1", "--host", "other.example,lab.example"] });
    client = new Client(daemon.url);
});
after(() => daemon.stop());

/** A request by node:http: fetch cannot set Host. */
function request(path, { method = "GET", headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
        const sent = http.request(daemon.url + path, { method, headers }, (response) => {
            let text = "";
            response.on("data", (chunk) => (text += chunk));
            response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
        });
        sent.on("error", reject);
        sent.end(body);
    });
}

test("the first line of output is the address", () => {
    assert.match(daemon.output.stdout, /^attnlab listening on http:\/\/127\.0\.0\.1:\d+\/\n/);
});

test("health", async () => {
    const health = await client.get("api/health");
    assert.equal(health.status, "ok");
    assert.equal(health.workers, 1);
    assert.equal(health.running, 0);
    assert.equal(health.queued, 0);
    assert.match(health.version, /^\d+\.\d+\.\d+$/);
});

test("every experiment has a title, a summary and a schema with defaults", async () => {
    const { experiments } = await client.get("api/experiments");
    assert.ok(experiments.some((experiment) => experiment.name === "train"));
    for (const { name, title, summary, parameters } of experiments) {
        assert.ok(title && summary, name);
        assert.equal(parameters.type, "object");
        assert.equal(parameters.additionalProperties, false);
        for (const [parameter, schema] of Object.entries(parameters.properties)) {
            assert.ok(schema.type && schema.title && schema.description, `${name}.${parameter}`);
        }
    }
    const { learning_rate } = experiments.find(({ name }) => name === "train").parameters.properties;
    assert.equal(learning_rate.exclusiveMinimum, 0);
    assert.equal(learning_rate.maximum, 10);
});

test("the parameters of train name the models that they count for, and its variants have labels", async () => {
    const { experiments } = await client.get("api/experiments");
    const { parameters, variants } = experiments.find(({ name }) => name === "train");
    const { model, heads, mask, task } = parameters.properties;
    assert.deepEqual(heads["x-applies-to"], { model: ["transformer"] });
    assert.match(heads.description, / \(transformer only\)\.$/);
    assert.deepEqual(mask["x-applies-to"], { model: ["attention", "transformer"] });
    assert.match(mask.description, / \(attention and transformer\)\.$/);
    assert.deepEqual(Object.keys(model["x-choice-titles"]), model.enum);
    assert.ok(task.examples.includes(task.default));
    assert.deepEqual(
        variants.map(({ id, label }) => [id, label]),
        [
            ["rnn", "RNN"],
            ["lstm", "LSTM"],
            ["attention", "attention"],
            ["unordered", "attention (no position)"],
            ["transformer", "transformer"],
        ],
    );
    assert.deepEqual(variants.filter(({ extra }) => extra).map(({ id }) => id), ["transformer"]);
    for (const variant of variants) assert.ok(model.enum.includes(variant.parameters.model), variant.id);
});

test("openapi.json has every route, and all of its references resolve", async () => {
    const openapi = await client.get("api/openapi.json");
    assert.match(openapi.openapi, /^3\.1\./);
    for (const path of ["/api/runs", "/api/runs/{id}/attention", "/api/comparisons/{id}", "/api/datasets", "/metrics"]) {
        assert.ok(openapi.paths[path], path);
    }
    for (const path of ["metrics.csv", "attention.csv", "attention.npy", "attention/mean.csv"]) {
        assert.ok(openapi.paths[`/api/runs/{id}/${path}`].get.responses[200], path);
    }
    assert.ok(openapi.paths["/api/comparisons/{id}.csv"].get && !openapi.paths["/api/comparisons/{id}.csv"].delete);
    const names = (path) => openapi.paths[path].get.parameters.map(({ name }) => name);
    assert.ok(names("/api/runs/{id}/events").includes("Last-Event-ID"));
    assert.ok(names("/api/datasets/{name}/examples").includes("sequence_length"));
    assert.ok(openapi.paths["/api/runs"].post.responses[201].headers.Location);
    const operations = Object.values(openapi.paths).flatMap((path) => Object.values(path));
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
    const references = [...JSON.stringify(openapi).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    for (const [, name] of references) assert.ok(openapi.components.schemas[name], name);
    const train = openapi.components.schemas.RunRequest.oneOf.find((schema) => schema.properties.experiment.const === "train");
    assert.ok(train.properties.learning_rate);
});

test("Prometheus can read the counters", async () => {
    await client.get("api/health");
    const text = await client.text("metrics");
    assert.match(text, /^attnlab_workers 1$/m);
    assert.match(text, /^attnlab_http_requests_total\{method="GET",route="\/api\/health",status="200"\} [1-9]/m);
    for (const line of text.trim().split("\n")) assert.match(line, /^(#|[a-z_]+(\{[^}]*\})? [0-9.e+-]+(Inf)?$)/);
});

test("every answer carries the security headers", async () => {
    for (const path of ["", "api/health", "api/nothing"]) {
        const { headers } = await client.fetch(path);
        assert.match(headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/);
        for (const directive of headers.get("content-security-policy").split("; ")) {
            assert.match(directive, /^[a-z-]+( 'none'| 'self'|( data:| blob:))+$/, directive);
        }
        assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
        assert.equal(headers.get("x-content-type-options"), "nosniff");
        assert.equal(headers.get("referrer-policy"), "no-referrer");
        assert.equal(headers.get("access-control-allow-origin"), null);
    }
});

test("HEAD returns the headers of GET and no body", async () => {
    const head = await client.fetch("api/health", { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.ok(Number(head.headers.get("content-length")) > 0);
    assert.equal(await head.text(), "");
});

test("unknown paths are 404, other methods are 405 with Allow, and OPTIONS returns Allow", async () => {
    await client.problem(404, "api/nothing");
    await client.problem(404, "api/runs/");
    await client.problem(404, "api/runs/", { method: "PUT" }); // an empty id names no run
    await client.problem(404, "nothing.html");
    await client.problem(404, `api/${"x".repeat(3000)}`);
    const { headers } = await client.problem(405, "api/runs", { method: "PUT", body: "{}" });
    assert.equal(headers.get("allow"), "GET, HEAD, POST, OPTIONS");
    await client.problem(405, "api/runs/x/cancel");
    await client.problem(405, "api/health", { method: "DELETE" });
    await client.problem(405, "index.html", { method: "POST" });
    const options = await client.fetch("api/runs", { method: "OPTIONS" });
    assert.equal(options.status, 204);
    assert.equal(options.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
});

test("a foreign Host is refused, loopback names and --host names are not", async () => {
    const port = new URL(daemon.url).port;
    assert.equal((await request("api/health", { headers: { Host: "evil.example" } })).status, 421);
    assert.equal((await request("", { headers: { Host: `evil.example:${port}` } })).status, 421);
    for (const host of ["lab", "lab.example.evil", "example", "other.example,lab.example", `:${port}`]) {
        assert.equal((await request("api/health", { headers: { Host: host } })).status, 421, host);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, "[::1]:8080", "other.example", "lab.example", "LAB.example:443"]) {
        assert.equal((await request("api/health", { headers: { Host: host } })).status, 200, host);
    }
});

test("a page from another origin cannot write", async () => {
    const body = JSON.stringify({ experiment: "attention-steps" });
    const headers = (origin) => ({ "Content-Type": "application/json", Origin: origin });
    const own = new URL(daemon.url).origin;
    for (const origin of ["http://evil.example", "null", "http://127.0.0.1:1", `${own}0`, `${own}.evil.example`]) {
        const answer = await request("api/runs", { method: "POST", headers: headers(origin), body });
        assert.equal(answer.status, 403, origin);
        assert.equal((await request("api/runs/nobody", { method: "DELETE", headers: { Origin: origin } })).status, 403, origin);
    }
    assert.equal((await request("api/runs/nobody", { method: "DELETE", headers: { Origin: own } })).status, 404);
    assert.equal((await request("api/runs", { method: "POST", headers: headers(own), body })).status, 201);
});

test("the page is built into the program, and served with an ETag", async () => {
    for (const [path, type] of [
        ["", "text/html"],
        ["index.html", "text/html"],
        ["vendor/chart.min.js", "text/javascript"],
        ["style.css", "text/css"],
    ]) {
        const first = await client.fetch(path);
        assert.equal(first.status, 200, path);
        assert.ok(first.headers.get("content-type").startsWith(type), path);
        assert.ok((await first.text()).length > 100, path);
        assert.equal(first.headers.get("cache-control"), "no-cache", path); // cached, but revalidated
        const again = await client.fetch(path, { headers: { "If-None-Match": first.headers.get("etag") } });
        assert.equal(again.status, 304, path);
        assert.equal(await again.text(), "");
    }
});

test("a path cannot leave the page's folder", async () => {
    for (const path of ["../Makefile", "..%2fMakefile", "%2e%2e/Makefile", "/etc/passwd", "index.html%00.js", ".git/config"]) {
        const answer = await request(path);
        assert.ok(answer.status === 404 || answer.text.includes("<!doctype html>"), `${path}: ${answer.status}`);
        assert.ok(!answer.text.includes("root:"), path);
    }
});
