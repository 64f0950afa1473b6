// Holds each answer that a test gets to the daemon's own openapi.json: path, method, status, content type, headers, body.
//
// Clients must expect members that they do not know; the tests do not, so that the document cannot fall behind: here an
// object may have no member that its schema does not declare.
import assert from "node:assert/strict";
import Ajv from "ajv/dist/2020.js";

// The problems of HTTP itself, before there is a route.
const OF_HTTP = [400, 413, 414, 417, 421, 431, 501, 503, 505];
const PROBLEM = "application/problem+json";
const EVENTS = "text/event-stream";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const isObject = (value) => typeof value === "object" && value !== null;

/** A copy of a schema whose objects have only the members that it declares. */
function closed(schema) {
    if (Array.isArray(schema)) return schema.map(closed);
    if (!isObject(schema)) return schema;
    const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
    const isOpen = isObject(schema.properties) && schema.type === "object" && schema.additionalProperties === undefined;
    return isOpen ? { ...copy, additionalProperties: false } : copy;
}

export class Contract {
    constructor(document) {
        this.document = document;
        this.ajv = new Ajv({ strict: false, formats: { "date-time": TIME } });
        this.checks = new Map(); // by schema
        this.ajv.addSchema({ components: closed(document.components) }, "openapi");
        const literal = (path) => path.replace(/\{\w+\}/g, "").length;
        this.paths = Object.keys(document.paths)
            .sort((one, other) => literal(other) - literal(one))
            .map((path) => [new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`), document.paths[path]]);
    }

    /** The part of the document that a reference names, or the object itself. */
    resolve(object) {
        if (!object?.$ref) return object;
        return object.$ref.slice(2).split("/").reduce((at, key) => at[key], this.document);
    }

    /** What is wrong with a value, or null. */
    fault(schema, value) {
        const key = JSON.stringify(closed(schema)).replaceAll('"$ref":"#/', '"$ref":"openapi#/');
        if (!this.checks.has(key)) this.checks.set(key, this.ajv.compile(JSON.parse(key)));
        const check = this.checks.get(key);
        return check(value) ? null : this.ajv.errorsText(check.errors, { dataVar: "" });
    }

    /** The documented answer of this status; null for one that HTTP itself gives, or that no document can list. */
    answer(method, path, status) {
        const [, operations] = this.paths.find(([pattern]) => pattern.test(path)) ?? [];
        const operation = operations?.[method === "HEAD" ? "get" : method.toLowerCase()];
        if (operation?.responses[status]) return this.resolve(operation.responses[status]);
        if (OF_HTTP.includes(status)) return null;
        if (!operations) assert.ok(!path.startsWith("/api/") || status === 404, "the path is not documented");
        else if (!operation) assert.ok(status === 405 || method === "OPTIONS", "the method is not documented");
        else assert.fail("the status is not documented");
        return null;
    }

    /** Fails if an answer breaks the contract. `headers` is a Headers; `text` is undefined if there is no body. */
    check(method, path, status, headers, text) {
        const answer = this.answer(method, path, status);
        const type = headers.get("content-type")?.split(";")[0];
        if (!answer && status >= 400) assert.equal(type, PROBLEM);
        for (const [name, reference] of Object.entries(answer?.headers ?? {})) {
            const { required, schema } = this.resolve(reference);
            const value = headers.get(name);
            if (value === null) assert.ok(!required, `the header ${name} is missing`);
            else assert.equal(this.fault(schema, schema.type === "integer" ? Number(value) : value), null, name);
        }
        if (answer && !answer.content) assert.equal(text ?? "", "", "the answer should have no body");
        if (answer?.content) assert.ok(answer.content[type], `the content type ${type} is not documented`);
        if (text === undefined || !/^application\/(problem\+)?json$/.test(type)) return;
        const schema = type === PROBLEM ? { $ref: "#/components/schemas/Problem" } : answer?.content[type].schema;
        if (schema) assert.equal(this.fault(schema, JSON.parse(text)), null);
    }

    /** Fails if an event is not as the document declares those of this path. */
    checkEvent(path, event) {
        const { schema } = this.answer("GET", path, 200).content[EVENTS];
        assert.equal(this.fault(schema.contentSchema.items, event), null, `${path}: ${JSON.stringify(event).slice(0, 400)}`);
    }
}

let contract = null;

/** The contract of the daemon at `url`; all daemons of a test file are the same program, so the first one is asked. */
export async function contractOf(url) {
    contract ??= new Contract(await (await fetch(new URL("/api/openapi.json", url))).json());
    return contract;
}

/** fetch() for the tests: fails if the answer breaks the contract. Streams and binary bodies are left to their readers. */
export async function fetchChecked(url, options = {}) {
    const response = await fetch(url, options);
    const { pathname, origin } = new URL(url);
    const isJson = /^application\/(problem\+)?json/.test(response.headers.get("content-type"));
    const bytes = isJson && options.method !== "HEAD" ? await response.arrayBuffer() : null;
    const text = bytes ? new TextDecoder().decode(bytes) : undefined;
    await checkAnswer(origin, options.method ?? "GET", pathname, response.status, response.headers, text);
    if (!bytes) return response;
    return Object.assign(response, {
        clone: () => response, // it can be read any number of times
        arrayBuffer: async () => bytes,
        text: async () => text,
        json: async () => JSON.parse(text),
    });
}

/** Fails if an answer of the daemon at `url` breaks the contract: see Contract.check. */
export async function checkAnswer(url, method, path, status, headers, text) {
    const agreed = await contractOf(url);
    try {
        agreed.check(method, path, status, headers, text);
    } catch (error) {
        error.message = `${method} ${path} is answered with ${status}, which is not as in openapi.json: ${error.message}`;
        if (text) error.message += `\n${text.slice(0, 1000)}`;
        throw error;
    }
}
