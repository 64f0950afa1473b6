// A client of the API for the tests: calls, and server-sent events. Each answer is held to openapi.json (contract.js).
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { contractOf, fetchChecked } from "./contract.js";

/** A run of `train` that takes a few hundredths of a second. */
export const smallTraining = {
    experiment: "train",
    model: "attention",
    width: 8,
    sequence_length: 6,
    train_examples: 64,
    test_examples: 20,
    batch_size: 16,
    epochs: 2,
};

/** A run of `train` that takes minutes even on a fast machine, so that it outlasts every test unless it is cancelled. */
export const longTraining = { ...smallTraining, train_examples: 20000, epochs: 10000 };

/** Waits until `condition` holds. The time limit only keeps a failing test from running for ever. */
export async function until(condition, what, seconds = 120) {
    for (const started = performance.now(); !(await condition()); await sleep(20)) {
        assert.ok(performance.now() - started < 1000 * seconds, `not within ${seconds} s: ${what}`);
    }
}

/** Whether `value` is a number from `least` to `most`. Null is not, although it compares like 0. */
export const isNumber = (value, least = 0, most = Infinity) => typeof value === "number" && value >= least && value <= most;

/** A copy of an object without one of its members. */
export function without(object, name) {
    return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** The Set-Cookie lines of an answer. Debian's Node.js returns them only joined. */
export const setCookies = (response) => (response.headers.get("set-cookie") ?? "").split(/, (?=\w+=)/).filter(Boolean);

export class Client {
    /** `headers` are sent with every call. */
    constructor(url, headers = {}) {
        this.url = url;
        this.headers = headers;
    }

    fetch(path, options = {}) {
        return fetchChecked(this.url + path, { ...options, headers: { ...this.headers, ...options.headers } });
    }

    /** The JSON answer to a GET; fails unless the status is 200. */
    async get(path) {
        const response = await this.fetch(path);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        return JSON.parse(text);
    }

    async text(path, options) {
        const response = await this.fetch(path, options);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        return text;
    }

    post(path, body, headers = {}) {
        return this.fetch(path, {
            method: "POST",
            headers: { "Content-Type": "application/json", ...headers },
            body: typeof body === "string" ? body : JSON.stringify(body),
        });
    }

    /** The JSON answer to a POST; fails unless the status is `status`. */
    async create(path, body, status = 201) {
        const response = await this.post(path, body);
        const text = await response.text();
        assert.equal(response.status, status, text);
        return JSON.parse(text);
    }

    /** Runs an experiment to its end, in whatever state, however busy the machine is. */
    async runToEnd(parameters) {
        let run = await this.create("api/runs?wait=200", parameters);
        await until(async () => run.finished_at ?? (run = await this.get(`api/runs/${run.id}`)).finished_at, "the run ends", 600);
        return run;
    }

    /** Runs an experiment to its end; fails unless it succeeds. */
    async run(parameters) {
        const run = await this.runToEnd(parameters);
        assert.equal(run.state, "succeeded", run.error);
        return run;
    }

    /** The problem document that a call is answered with; fails unless the status is `status`. */
    async problem(status, path, options) {
        const response = await this.fetch(path, options);
        const text = await response.text();
        assert.equal(response.status, status, text);
        assert.equal(response.headers.get("content-type"), "application/problem+json");
        const problem = JSON.parse(text);
        assert.equal(problem.status, status);
        for (const member of ["type", "title", "detail"]) assert.equal(typeof problem[member], "string", member);
        return { ...problem, headers: response.headers };
    }

    postProblem(status, path, body) {
        return this.problem(status, path, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: typeof body === "string" ? body : JSON.stringify(body),
        });
    }

    /** The events of a stream until it closes or `enough(events)` is true. `opened` is called once the stream is open. */
    async events(path, { lastEventId, enough = () => false, opened = () => {}, headers = {} } = {}) {
        const stop = new AbortController();
        if (lastEventId) headers = { ...headers, "Last-Event-ID": lastEventId };
        const response = await this.fetch(path, { headers, signal: stop.signal });
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("content-type"), "text/event-stream");
        opened();
        const contract = await contractOf(this.url);
        const { pathname } = new URL(this.url + path);
        const events = [];
        let rest = "";
        const decoder = new TextDecoder();
        try {
            for await (const chunk of response.body) {
                rest += decoder.decode(chunk, { stream: true });
                const blocks = rest.split("\n\n");
                rest = blocks.pop();
                for (const block of blocks) {
                    const event = parseEvent(block);
                    if (event) contract.checkEvent(pathname, event);
                    if (event) events.push(event);
                    if (enough(events)) {
                        stop.abort();
                        return events;
                    }
                }
            }
        } catch (error) {
            if (stop.signal.aborted) return events;
            stop.abort();
            throw error;
        }
        return events;
    }
}

/** A client that keeps cookies as a browser does. */
export class Browser extends Client {
    cookies = new Map();
    async fetch(path, options = {}) {
        const cookie = [...this.cookies].map((pair) => pair.join("=")).join("; ");
        const headers = { ...options.headers, ...(cookie && { Cookie: cookie }) };
        const response = await super.fetch(path, { ...options, headers });
        for (const line of setCookies(response)) {
            const [, name, value] = /^(\w+)=(\w*)/.exec(line);
            if (value) this.cookies.set(name, value);
            else this.cookies.delete(name);
        }
        return response;
    }
    async visit() {
        this.session = await this.get("api/session");
        return this;
    }
    async status(method, path, body, type = "application/json") {
        const headers = body === undefined ? {} : { "Content-Type": type };
        const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
        const response = await this.fetch(path, { method, headers, body: text });
        await response.arrayBuffer();
        return response.status;
    }
}

function parseEvent(block) {
    if (block.startsWith(":")) return null;
    const fields = Object.fromEntries(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
    );
    return { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
}
