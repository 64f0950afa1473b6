// HTTP by the letter (RFC 9110, RFC 9112), over bare sockets: what is malformed or ambiguous is refused once and the
// connection closed, so that nothing behind it is taken for a request; what is unusual but right is served.
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, test } from "node:test";
import { Client, smallTraining } from "../support/client.js";
import { startDaemon } from "../support/daemon.js";

let daemon, client, hostname, port;
before(async () => {
    daemon = await startDaemon({ args: ["--workers", "1"] });
    client = new Client(daemon.url);
    ({ hostname, port } = new URL(daemon.url));
});
after(async () => {
    const { stderr, code } = await daemon.stop();
    assert.deepEqual([code, stderr], [0, ""]);
});

/** Far more than an answer takes, and less than any of the service's own time limits. */
const AT_ONCE_SECONDS = 10;

/**
 * Sends the pieces one after the other and collects what comes back until the service closes the connection, or until
 * `enough(text)`: { text, isClosed, seconds }.
 */
function exchange(pieces, { enough = () => false, seconds = AT_ONCE_SECONDS, halfClose = false } = {}) {
    return new Promise((resolve, reject) => {
        const started = performance.now();
        const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true });
        let text = "";
        const end = (isClosed) => {
            clearTimeout(timer);
            socket.destroy();
            resolve({ text, isClosed, seconds: (performance.now() - started) / 1000 });
        };
        const timer = setTimeout(() => end(false), 1000 * seconds);
        socket.setNoDelay(true);
        socket.on("error", (error) => (error.code === "ECONNRESET" || error.code === "EPIPE" ? end(true) : reject(error)));
        socket.on("data", (data) => enough((text += data.toString("latin1"))) && end(false));
        socket.on("end", () => end(true));
        (async () => {
            for (const piece of [pieces].flat()) {
                if (socket.destroyed) return;
                socket.write(Buffer.from(piece, "latin1"));
                await new Promise((next) => setTimeout(next, 5));
            }
            if (halfClose) socket.end();
        })();
    });
}

/** The answers in `text`, one after the other: [{ status, headers, body }]. Fails if there is anything else in it. */
function parseAnswers(text, methods = []) {
    const answers = [];
    while (text) {
        const end = text.indexOf("\r\n\r\n");
        assert.ok(end > 0, `no head of an answer: ${JSON.stringify(text.slice(0, 200))}`);
        const [line, ...lines] = text.slice(0, end).split("\r\n");
        const [, status] = /^HTTP\/1\.1 (\d{3}) [A-Z]/.exec(line) ?? assert.fail(`no answer: ${line}`);
        const headers = Object.fromEntries(lines.map((one) => [one.slice(0, one.indexOf(":")).toLowerCase(), one.slice(one.indexOf(":") + 1).trim()]));
        const hasBody = methods[answers.length] !== "HEAD" && !["100", "204", "304"].includes(status);
        const length = hasBody ? Number(headers["content-length"]) : 0;
        assert.ok(Number.isInteger(length), `an answer without Content-Length: ${text.slice(0, end)}`);
        answers.push({ status: Number(status), headers, body: text.slice(end + 4, end + 4 + length) });
        text = text.slice(end + 4 + length);
    }
    return answers;
}

/** Asserts that `bytes` get exactly one answer, a problem with one of the statuses, at once, and that the connection ends. */
async function refused(name, bytes, ...statuses) {
    const { text, isClosed, seconds } = await exchange(bytes);
    assert.ok(isClosed, `${name}: still open after ${seconds.toFixed(1)} s with ${JSON.stringify(text.slice(0, 300))}`);
    const answers = parseAnswers(text);
    assert.equal(answers.length, 1, `${name}: ${text}`);
    const [{ status, headers, body }] = answers;
    assert.ok(statuses.includes(status), `${name}: ${status}, not ${statuses}`);
    assert.equal(headers["content-type"], "application/problem+json", name);
    assert.equal(headers.connection, "close", name);
    assert.ok(headers["x-request-id"] && headers.date && headers["content-security-policy"], name);
    assert.equal(JSON.parse(body).status, status, name);
}

const health = "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
const last = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const post = (headers, body = "") => `POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
const get = (headers) => `GET /api/health HTTP/1.1\r\n${headers}\r\n`;
const chunked = (body) => post("Transfer-Encoding: chunked\r\n", body);

// Each of these is followed by a request that must not be served.
const ambiguous = {
    "Content-Length with Transfer-Encoding": [post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400],
    "the same in the other order": [post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", "0\r\n\r\n"), 400],
    "two Content-Lengths": [post("Content-Length: 5\r\nContent-Length: 32\r\n", '{"experiment":"attention-steps"}'), 400],
    "two equal Content-Lengths": [post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), 400],
    "Content-Length: 5, 5": [post("Content-Length: 5, 5\r\n"), 400],
    "Content-Length: -1": [post("Content-Length: -1\r\n"), 400],
    "Content-Length: +5": [post("Content-Length: +5\r\n"), 400],
    "Content-Length: 0x5": [post("Content-Length: 0x5\r\n"), 400],
    "Content-Length: 5 5": [post("Content-Length: 5 5\r\n"), 400],
    "Content-Length: 2.0": [post("Content-Length: 2.0\r\n"), 400],
    "an empty Content-Length": [post("Content-Length:\r\n"), 400],
    "a Content-Length of 2^64": [post("Content-Length: 18446744073709551616\r\n"), 400],
    "a Content-Length of 2^64 + 2": [post("Content-Length: 18446744073709551618\r\n", "{}"), 400],
    "blanks after a Content-Length": [post("Content-Length: 2 \r\n", "{}"), 400],
    "Transfer-Encoding: gzip, chunked": [post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501],
    "Transfer-Encoding: gzip": [post("Transfer-Encoding: gzip\r\n"), 501],
    "Transfer-Encoding: identity": [post("Transfer-Encoding: identity\r\n"), 501],
    "Transfer-Encoding: chunked, chunked": [post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 400],
    "Transfer-Encoding: chunked, identity": [post("Transfer-Encoding: chunked, identity\r\n"), 400],
    "two Transfer-Encodings": [post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400],
    "Transfer-Encoding with a vertical tab": [post("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n"), 400],
    "Transfer-Encoding in HTTP/1.0": [chunked("0\r\n\r\n").replace("HTTP/1.1", "HTTP/1.0"), 400],
    "a header over two lines": [get("Host: localhost\r\nX-A: b\r\n c\r\n"), 400],
    "a length over two lines": [post("Content-Length:\r\n 5\r\n"), 400],
    "blanks before the first header": [get(" Host: localhost\r\n"), 400],
    "a blank before the colon": [post("Content-Length : 5\r\n"), 400],
    "a tab before the colon": [post("Transfer-Encoding\t: chunked\r\n"), 400],
    "a header without a colon": [get("Host: localhost\r\nnonsense\r\n"), 400],
    "a header without a name": [get("Host: localhost\r\n: x\r\n"), 400],
    "a header name in quotes": [get('Host: localhost\r\n"X": y\r\n'), 400],
    "a bare carriage return in a value": [get("Host: localhost\r\nX-A: b\rContent-Length: 5\r\n"), 400],
    "a NUL in a value": [get("Host: localhost\r\nX-A: b\0c\r\n"), 400],
    "a NUL in a name": [get("Host: localhost\r\nX\0-A: b\r\n"), 400],
    "a NUL in the address": ["GET /api/health\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "lines that end without a carriage return": ["GET /api/health HTTP/1.1\nHost: localhost\n\n", 400],
    "two Hosts": [get("Host: localhost\r\nHost: localhost\r\n"), 400],
    "no Host": [get("X-A: b\r\n"), 400],
    "a Host with a path": [get("Host: localhost/x\r\n"), 400],
    "a Host with a user": [get("Host: me@localhost\r\n"), 400],
    "a Host with a blank": [get("Host: local host\r\n"), 400],
    "two Hosts in one": [get("Host: localhost, localhost\r\n"), 400, 421],
    "a Host without a colon before its port": [get("Host: [::1]80\r\n"), 400],
    "a Host with a bad port": [get("Host: localhost:80a\r\n"), 400],
    "no address": ["GET HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "no version": ["GET /api/health\r\nHost: localhost\r\n\r\n", 400],
    "two blanks in the request line": ["GET  /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "a tab in the request line": ["GET\t/api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "a blank in the address": ["GET /api/health x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "a blank after the version": ["GET /api/health HTTP/1.1 \r\nHost: localhost\r\n\r\n", 400],
    "a fragment in the address": ["GET /api/health#x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "an address without a slash": ["GET api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "an asterisk as the address of a GET": ["GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "an address of another scheme": ["GET ftp://localhost/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "an absolute address without a host": ["GET http:///x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "a method in brackets": ["(GET) /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    "a version in small letters": ["GET /api/health http/1.1\r\nHost: localhost\r\n\r\n", 400],
    "HTTP/1.10": ["GET /api/health HTTP/1.10\r\nHost: localhost\r\n\r\n", 400],
    "HTTP/0.9": ["GET /api/health HTTP/0.9\r\nHost: localhost\r\n\r\n", 505],
    "HTTP/2.0": ["GET /api/health HTTP/2.0\r\nHost: localhost\r\n\r\n", 505],
    "the preface of HTTP/2": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
    "a TLS hello": ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400],
    CONNECT: ["CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n", 501],
    "an unknown expectation": [get("Host: localhost\r\nExpect: a-pony\r\n"), 417],
    "400 ampersands": [`GET /api/health?${"&".repeat(400)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 414],
    "many arguments": [`GET /api/health?${Array.from({ length: 300 }, (_, i) => `a${i}=1`).join("&")} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 414],
    "a long address": [`GET /${"x".repeat(9000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 414],
    "an endless address": [`GET /${"x".repeat(200000)}`, 414],
    "a long header": [get(`Host: localhost\r\nX-A: ${"x".repeat(9000)}\r\n`), 431],
    "an endless header": [get(`Host: localhost\r\nX-A: ${"x".repeat(200000)}`), 431],
    "many headers": [get(`Host: localhost\r\n${"X: y\r\n".repeat(500)}`), 431],
    "a head of 17 KiB": [get(`Host: localhost\r\n${`X-A: ${"x".repeat(5700)}\r\n`.repeat(3)}`), 431],
    "many cookies": [get(`Host: localhost\r\nCookie: ${"a=b;".repeat(500)}\r\n`), 431],
    "a chunk's size that is no number": [chunked("zz\r\n{}\r\n0\r\n\r\n"), 400],
    "an empty chunk size": [chunked("\r\n{}\r\n0\r\n\r\n"), 400],
    "a chunk size with 0x": [chunked("0x2\r\n{}\r\n0\r\n\r\n"), 400],
    "a negative chunk size": [chunked("-2\r\n{}\r\n0\r\n\r\n"), 400],
    "a chunk size of 2^64 + 2": [chunked("10000000000000002\r\n{}\r\n0\r\n\r\n"), 400],
    "a blank after a chunk's size": [chunked("2 \r\n{}\r\n0\r\n\r\n"), 400],
    "a chunk line without a carriage return": [chunked("2\n{}\r\n0\r\n\r\n"), 400],
    "a chunk that is longer than its size": [chunked("2\r\n{}{}\r\n0\r\n\r\n"), 400],
    "a long chunk extension": [chunked(`2;${"x".repeat(9000)}\r\n{}\r\n0\r\n\r\n`), 400],
    "a trailer without a colon": [chunked("2\r\n{}\r\n0\r\nnonsense\r\n\r\n"), 400],
    "an endless trailer": [chunked(`2\r\n{}\r\n0\r\n${"X: y\r\n".repeat(2000)}`), 431],
};

test("a malformed or ambiguous request is refused once, at once, and what follows it is not served", async () => {
    for (const [name, [bytes, ...statuses]] of Object.entries(ambiguous)) await refused(name, bytes + last, ...statuses);
    assert.equal((await client.get("api/runs")).runs.length, 0, "none of them has started a run");
});

test("it is refused as well behind a good request, in one piece or byte by byte", async () => {
    for (const [name, [bytes, ...statuses]] of Object.entries(ambiguous).filter(([, [{ length }]]) => length < 1000)) {
        const { text, isClosed } = await exchange(health + bytes + last);
        const answers = parseAnswers(text);
        assert.ok(isClosed, `${name}: still open`);
        assert.deepEqual(answers.map(({ status }) => statuses.includes(status) || status), [200, true], name);
    }
    const slow = ["two Content-Lengths", "a header over two lines", "Content-Length with Transfer-Encoding", "a chunk that is longer than its size"];
    await Promise.all(slow.map((name) => refused(name, [...ambiguous[name][0]], ...ambiguous[name].slice(1))));
});

test("a HEAD that is refused gets no body", async () => {
    const { text, isClosed } = await exchange("HEAD /api/health HTTP/1.1\r\n\r\n");
    assert.ok(isClosed);
    assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n(?:.+\r\n)+\r\n$/);
});

test("what is unusual but right is served", async () => {
    const body = JSON.stringify({ ...smallTraining, experiment: "attention-steps" }).replace(/.*/, '{"experiment":"attention-steps"}');
    const size = body.length.toString(16);
    const right = {
        "an empty line before the request": ["\r\n" + last, 200],
        "HTTP/1.0 without Host": ["GET /api/health HTTP/1.0\r\n\r\n", 200],
        "HTTP/1.2": [last.replace("1.1", "1.2"), 200],
        "names in other cases, and no blank after the colon": ["GET /api/health HTTP/1.1\r\nhOST:localhost\r\nCONNECTION:\t CLOSE \r\n\r\n", 200],
        "an address with a port": [last.replace("localhost", "[::1]:8080"), 200],
        "letters beyond ASCII in a value": [last.replace("Connection", "X-A: \xe9t\xe9\r\nConnection"), 200],
        "an absolute address": [`GET http://localhost:${port}/api/health HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n`, 200],
        "an absolute address without a path": ["GET HTTP://LOCALHOST HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200],
        "an absolute address with a foreign host": ["GET http://elsewhere.example/api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 421],
        "a query of 90 arguments": [`GET /api/experiments?${"&".repeat(89)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, 200],
        "a body in chunks with extensions and a trailer": [post("Transfer-Encoding: Chunked\r\nConnection: close\r\n", `${size};a=b;c="d"\r\n${body}\r\n000\r\nX-Sum: 1\r\n\r\n`), 201],
        "a body of a GET": ["GET /api/health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", 200],
        "TRACE": ["TRACE /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405],
        "an unknown method": ["BREW /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405],
    };
    for (const [name, [bytes, status]] of Object.entries(right)) {
        for (const pieces of [bytes, [...bytes.slice(0, 20), bytes.slice(20)]]) {
            const { text } = await exchange(pieces);
            const [answer, ...rest] = parseAnswers(text);
            assert.deepEqual([answer?.status, rest.length], [status, 0], `${name}: ${text}`);
        }
    }
});

test("an absolute address is the origin that a page must have", async () => {
    const from = (origin) => `POST http://localhost:1234/api/runs/none/cancel HTTP/1.1\r\nHost: elsewhere.example\r\nOrigin: ${origin}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    assert.match((await exchange(from("http://elsewhere.example"))).text, /^HTTP\/1\.1 403 /);
    assert.match((await exchange(from("http://localhost:1234"))).text, /^HTTP\/1\.1 404 /);
});

test("HEAD of a stream sends headers only, and no keep-alive client takes anything for its next answer", async () => {
    const run = await client.run(smallTraining);
    for (const path of ["/api/events", `/api/runs/${run.id}/events`]) {
        const { text, isClosed } = await exchange(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n${health}`);
        const [head, ...rest] = parseAnswers(text, ["HEAD", "GET"]);
        assert.equal(head.status, 200);
        assert.equal(head.headers["content-type"], "text/event-stream");
        assert.equal(head.headers["content-length"], undefined);
        if (isClosed) assert.deepEqual([head.headers.connection, rest.length], ["close", 0]);
        else assert.deepEqual(rest.map(({ status }) => status), [200]);
    }
    assert.match(await client.text("metrics"), /^attnlab_event_streams 0$/m);
});

test("HEAD answers what GET answers, without the body", async () => {
    const run = await client.run(smallTraining);
    for (const path of ["/", "/api/health", `/api/runs/${run.id}`, `/api/runs/${run.id}/metrics.csv`, "/api/nothing"]) {
        const [got] = parseAnswers((await exchange(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).text);
        const { text } = await exchange(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n${last}`);
        const [head, next] = parseAnswers(text, ["HEAD", "GET"]);
        assert.equal(head.status, got.status, path);
        for (const name of ["content-type", "content-length", "etag"]) assert.equal(head.headers[name], got.headers[name], `${path} ${name}`);
        assert.equal(next.status, 200);
    }
});

test("If-None-Match: lists, weak tags and * give 304, with the length of the 200 or none", async () => {
    const { headers } = await client.fetch("style.css");
    const [etag, length] = [headers.get("etag"), headers.get("content-length")];
    const ask = async (value, method = "GET", path = "style.css") => {
        const { text } = await exchange(`${method} /${path} HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: ${value}\r\n\r\n${last}`);
        const [answer, next] = parseAnswers(text, [method]);
        assert.equal(next.status, 200);
        return answer;
    };
    for (const value of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/"y" , W/${etag}, "z"`, "*", `"${"x, y"}", ${etag}`]) {
        for (const method of ["GET", "HEAD"]) {
            const answer = await ask(value, method);
            assert.equal(answer.status, 304, value);
            assert.equal(answer.headers.etag, etag);
            assert.ok([undefined, length].includes(answer.headers["content-length"]), `${answer.headers["content-length"]} for ${length}`);
        }
    }
    for (const value of ['"x"', etag.slice(1), `"x${etag.slice(1)}`, `"x" ${etag.slice(0, -1)}`, "", `w/${etag}`]) {
        assert.equal((await ask(value)).status, 200, value);
    }
    assert.equal((await ask("*", "GET", "api/health")).status, 304);
    assert.equal((await ask(etag, "GET", "api/health")).status, 200);
    assert.equal((await ask("*", "GET", "api/nothing")).status, 404);
});

test("OPTIONS of the service and of a path are 204 with Allow", async () => {
    const ask = async (target) => parseAnswers((await exchange(`OPTIONS ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).text)[0];
    for (const [target, allow] of [["*", "GET, HEAD, POST, DELETE, OPTIONS"], ["http://localhost", "GET, HEAD, POST, DELETE, OPTIONS"], ["/api/runs", "GET, HEAD, POST, OPTIONS"], ["/style.css", "GET, HEAD, OPTIONS"]]) {
        const { status, headers } = await ask(target);
        assert.deepEqual([status, headers.allow, headers["content-length"]], [204, allow, undefined], target);
    }
    assert.equal((await ask("/api/nothing")).status, 404);
});

test("Expect: 100-continue gets 100 for a body that is wanted, and for one that is refused the final answer alone", async () => {
    const body = '{"experiment":"attention-steps"}';
    const expecting = (path, headers) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Expect: 100-continue\r\nConnection: close\r\n\r\n`;
    const good = expecting("/api/runs", `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`);
    const asked = await exchange(good, { enough: (text) => text.includes("\r\n\r\n") });
    assert.equal(asked.text, "HTTP/1.1 100 Continue\r\n\r\n");
    const { text } = await exchange([good, body]);
    assert.deepEqual(parseAnswers(text).map(({ status }) => status), [100, 201]);
    const bad = {
        404: expecting("/api/nothing", "Content-Length: 10\r\n"),
        405: expecting("/api/health", "Content-Length: 10\r\n"),
        413: expecting("/api/runs", "Content-Type: application/json\r\nContent-Length: 9000000\r\n"),
        415: expecting("/api/runs", "Content-Type: text/plain\r\nContent-Length: 10\r\n"),
        421: expecting("/api/runs", "Content-Length: 10\r\n").replace("localhost", "elsewhere.example"),
    };
    for (const [status, bytes] of Object.entries(bad)) await refused(status, bytes, Number(status));
});

test("requests that come in one piece are answered in order, whatever their bodies", async () => {
    const bodies = [post("Content-Length: 2\r\n", "{}"), chunked("1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), health, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", last];
    const whole = bodies.join("");
    for (const pieces of [whole, [...whole], whole.match(/[^]{1,37}/g)]) {
        const { text, isClosed } = await exchange(pieces, { seconds: 20 });
        assert.deepEqual(parseAnswers(text, ["POST", "POST", "GET", "HEAD"]).map(({ status }) => status), [422, 422, 200, 200, 200]);
        assert.ok(isClosed);
    }
});

test("nothing that comes after the last request of a connection is read as one", async () => {
    for (const bytes of [last + last, last + "nonsense\r\n\r\n", "GET /api/health HTTP/1.0\r\n\r\n" + last]) {
        assert.equal(parseAnswers((await exchange(bytes)).text).length, 1, bytes);
    }
});
