// openapi.json itself: an independent linter accepts it, it says what the server holds to, and a wrong answer is noticed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import openapiCore from "@redocly/openapi-core";
import { Client, smallTraining } from "../support/client.js";
import { Contract } from "../support/contract.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client, document, contract;
before(async () => {
    daemon = await startDaemon({ args: ["--workers", "1"] });
    client = new Client(daemon.url);
    document = await client.get("api/openapi.json");
    contract = new Contract(document);
});
after(() => daemon.stop());

const schemasOf = (openapi) => openapi.components.schemas;

/** The branch of a request's schema that is for one experiment. */
const requestOf = (name, experiment) =>
    schemasOf(document)[name].oneOf.find(({ properties }) => properties.experiment.const === experiment);

test("a linter finds nothing to complain about in openapi.json", async () => {
    const { createConfig, lintFromString } = openapiCore;
    const config = await createConfig({
        extends: ["recommended-strict"],
        rules: { "parameter-description": "error", "no-required-schema-properties-undefined": "error" },
    });
    const lint = async (source) => {
        const problems = await lintFromString({ source: JSON.stringify(source), absoluteRef: "openapi.json", config });
        return problems.map(({ ruleId, message, location }) => `${location[0].pointer}: ${message} (${ruleId})`);
    };
    assert.deepEqual(await lint(document), []);
    assert.equal((await lint({ ...document, servers: [] })).length, 1, "the linter finds a fault that is there");
});

test("every declared default, of a parameter or a query, is a value that its own schema allows", () => {
    const declared = schemasOf(document).RunRequest.oneOf.flatMap(({ properties }) => Object.entries(properties));
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    for (const { parameters } of operations) declared.push(...parameters.map(({ name, schema }) => [name, schema]));
    const withDefault = declared.filter(([, schema]) => "default" in schema);
    assert.ok(withDefault.length > 100);
    for (const [name, schema] of withDefault) assert.equal(contract.fault(schema, schema.default), null, name);
});

test("every object of an answer says which members it always has", () => {
    for (const [name, { type, properties, required }] of Object.entries(schemasOf(document))) {
        if (type !== "object" || name === "SessionRequest") continue;
        assert.ok(required.length > 0, name);
        for (const member of required) assert.ok(properties[member], `${name}.${member}`);
        assert.notEqual(contract.fault({ $ref: `#/components/schemas/${name}` }, {}), null, `${name}: {} is valid`);
    }
});

test("the bearer token and both cookies are documented, and each call says which it takes", () => {
    const { token, session, owner } = document.components.securitySchemes;
    assert.deepEqual([token.type, token.scheme], ["http", "bearer"]);
    assert.deepEqual([session.in, session.name], ["cookie", "attnlab_session"]);
    assert.deepEqual([owner.in, owner.name], ["cookie", "attnlab_owner"]);
    const schemes = (operation) => operation.security.flatMap((one) => Object.keys(one));
    assert.deepEqual(schemes(document.paths["/api/health"].get), []);
    assert.deepEqual(schemes(document.paths["/api/runs/{id}"].delete), ["token", "session", "owner"]);
    assert.deepEqual(schemes(document.paths["/metrics"].get), ["token", "session"]);
});

test("a comparison's seeds, variants and labels have the bounds that the server holds to", async () => {
    const { seeds, variants } = requestOf("ComparisonRequest", "train").properties;
    const create = (change) => ({ ...smallTraining, epochs: 1, variants: [{ label: "a" }], ...change });
    const isRefused = async (body) => {
        const response = await client.post("api/comparisons", body);
        const documented = contract.fault({ $ref: "#/components/schemas/ComparisonRequest" }, body);
        assert.equal(response.status, documented === null ? 201 : 422, `${documented}: ${await response.text()}`);
        return response.status === 422;
    };
    const list = (length) => Array.from({ length }, (_, index) => index);
    assert.equal(await isRefused(create({ seeds: list(seeds.maxItems) })), false);
    assert.equal(await isRefused(create({ seeds: list(seeds.maxItems + 1) })), true);
    assert.equal(await isRefused(create({ seeds: [] })), true);
    assert.equal(await isRefused(create({ seeds: [seeds.items.maximum] })), false);
    assert.equal(await isRefused(create({ seeds: [-1] })), true);
    const labels = (length) => list(length).map((index) => ({ label: `${index}` }));
    assert.equal(await isRefused(create({ variants: labels(variants.maxItems) })), false);
    assert.equal(await isRefused(create({ variants: labels(variants.maxItems + 1) })), true);
    assert.equal(await isRefused(create({ variants: [] })), true);
    const { maxLength } = variants.items.properties.label;
    assert.equal(await isRefused(create({ variants: [{ label: "é".repeat(maxLength) }] })), false);
    assert.equal(await isRefused(create({ variants: [{ label: "é".repeat(maxLength + 1) }] })), true);
    assert.equal(await isRefused(create({ variants: [{ label: "a", seed: 7 }] })), true);
    const { comparisons } = await client.get("api/comparisons");
    for (const { id, state } of comparisons)
        if (["queued", "running"].includes(state)) await client.post(`api/comparisons/${id}/cancel`, "");
});

test("lengths are characters, in the document and in the server", async () => {
    const { maxLength } = requestOf("RunRequest", "attention-steps").properties.name;
    for (const character of ["a", "é", "ก", "😀"]) {
        const { name } = await client.create("api/runs", { experiment: "attention-steps", name: character.repeat(maxLength) });
        assert.equal(name, character.repeat(maxLength));
        const body = { experiment: "attention-steps", name: character.repeat(maxLength + 1) };
        assert.deepEqual((await client.postProblem(422, "api/runs", body)).errors.map(({ field }) => field), ["name"]);
    }
    // A task's name, in a body and in a query: refused as unknown up to the limit, and as too long above it.
    const { task } = requestOf("RunRequest", "train").properties;
    const messageOf = async (length) => (await client.postProblem(422, "api/runs", { experiment: "train", task: "😀".repeat(length) })).detail;
    assert.doesNotMatch(await messageOf(task.maxLength), /characters/);
    assert.match(await messageOf(task.maxLength + 1), /at most \d+ characters long; got \d+/);
    const query = (length) => `api/runs?experiment=${encodeURIComponent("😀".repeat(length))}`;
    assert.deepEqual(await client.get(query(64)), { runs: [], next: null });
    await client.problem(422, query(65));
});

test("a text with NUL or half a surrogate pair is refused, and a whole pair is one character", async () => {
    const create = (name) => `{"experiment": "attention-steps", "name": "${name}"}`;
    await client.postProblem(422, "api/runs", create("a\\u0000b"));
    for (const half of ["\\ud83d", "\\ude00", "\\ud83d\\ud83d", "a\\ude00\\ud83d"]) await client.postProblem(400, "api/runs", create(half));
    assert.equal((await client.create("api/runs", create("\\ud83d\\ude00"))).name, "😀");
    assert.equal((await client.create("api/runs", create("\\ud83d\\ude00".repeat(200)))).name, "😀".repeat(200));
});

test("an answer that is not as documented is noticed", () => {
    const headers = new Headers({ "Content-Type": "application/json", "X-Request-Id": "1" });
    const health = { status: "ok", version: "1", workers: 1, running: 0, queued: 0, kernels: "plain" };
    const check = (method, path, status, body, changed = headers) =>
        contract.check(method, path, status, changed, body && JSON.stringify(body));
    const known = schemasOf(document).Health.required;
    const answer = Object.fromEntries(known.map((name) => [name, health[name] ?? 0]));
    check("GET", "/api/health", 200, answer);
    check("HEAD", "/api/health", 200);
    for (const [method, path, status, body, changed] of [
        ["GET", "/api/health", 200, {}],
        ["GET", "/api/health", 200, { ...answer, more: 1 }],
        ["GET", "/api/health", 200, { ...answer, workers: "1" }],
        ["GET", "/api/health", 202, answer],
        ["GET", "/api/helth", 200, answer],
        ["PUT", "/api/health", 200, answer],
        ["GET", "/api/health", 200, answer, new Headers({ "Content-Type": "text/html", "X-Request-Id": "1" })],
        ["GET", "/api/health", 200, answer, new Headers({ "Content-Type": "application/json" })],
        ["DELETE", "/api/session", 204, answer],
        ["GET", "/api/health", 503, answer],
    ]) {
        assert.throws(() => check(method, path, status, body, changed), `${method} ${path} ${status} ${JSON.stringify(body)}`);
    }
    contract.checkEvent("/api/events", { id: "1", event: "step", data: { run: "a", step: 1, loss: 0.5 } });
    assert.throws(() => contract.checkEvent("/api/events", { id: "1", event: "step", data: { run: "a", step: 1 } }));
    assert.throws(() => contract.checkEvent("/api/events", { id: "1", event: "other", data: {} }));
});
