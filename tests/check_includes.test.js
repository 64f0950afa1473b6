// The check of includes can fail: on a climb, on a circle, on a library header out of its room, on an unknown folder.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkIncludes } from "./check_includes.js";

const table = `
core
core/low        core
core/high       core  core/low
server/http     core/*  <microhttpd.h>
server/api      core/*  server/http
tests/unit/server  core/*  server/*  tests/*
`;

/** Checks a tree of these files: {path: [what it includes, ...]}. */
const check = (files) => {
    const root = mkdtempSync(path.join(tmpdir(), "attnlab-includes-"));
    try {
        for (const [name, includes] of Object.entries(files)) {
            mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
            const lines = includes.map((include) => `#include ${include.startsWith("<") ? include : `"${include}"`}\n`);
            writeFileSync(path.join(root, name), `/* A file. */\n${lines.join("")}`);
        }
        return checkIncludes(root, table);
    } finally {
        rmSync(root, { recursive: true });
    }
};

const sound = {
    "core/error.h": [],
    "core/low/list.h": ["core/error.h"],
    "core/low/list.c": ["core/low/list.h"],
    "core/high/model.h": ["core/low/list.h", "<stdio.h>"],
    "server/http/send.h": ["core/error.h", "<microhttpd.h>"],
    "server/api/runs.c": ["server/http/send.h", "core/high/model.h"],
    "tests/unit/server/http/test_send.c": ["server/http/send.h"],
};

test("a tree in order passes, and its floors are counted", () => {
    assert.deepEqual(check(sound), {
        failures: [],
        summary: "5 modules on 4 floors, in 5 folders on 4: 0 upward includes, 0 circles",
    });
});

test("a climb is named with both files, its line and the folders", () => {
    const { failures, summary } = check({ ...sound, "server/http/stream.c": ["core/error.h", "server/api/service.h"], "server/api/service.h": [] });
    assert.equal(failures[0], "server/http/stream.c:3 includes server/api/service.h: http may not include api");
    assert.match(summary, /1 upward includes, 1 circles/);
});

test("core includes nothing of the server", () => {
    const { failures } = check({ ...sound, "core/low/list.c": ["server/http/send.h"] });
    assert.equal(failures[0], "core/low/list.c:2 includes server/http/send.h: core/low may not include http");
});

test("a test of a lower room includes no higher one", () => {
    const { failures } = check({ ...sound, "server/api/api.h": [], "tests/unit/server/http/test_send.c": ["server/api/api.h"] });
    assert.deepEqual(failures, ["tests/unit/server/http/test_send.c:2 includes server/api/api.h: http may not include api"]);
});

test("a circle of modules is named with its includes, also through their sources", () => {
    const { failures } = check({ ...sound, "core/low/list.c": ["core/low/tree.h"], "core/low/tree.h": ["core/low/list.h"] });
    assert.equal(failures.length, 1);
    assert.match(failures[0], /^a circle of 2 modules: core\/low\/list, core\/low\/tree\n/);
    assert.match(failures[0], /core\/low\/list\.c:2 includes core\/low\/tree\.h/);
});

test("a circle of folders is found where no module is in one", () => {
    const { failures, summary } = check({ ...sound, "core/low/other.c": ["core/high/model.h"] });
    assert.ok(failures.some((failure) => failure.startsWith("a circle of 2 folders: ")));
    assert.match(summary, /1 upward includes, 1 circles/);
});

test("a library's header stays in its room", () => {
    const { failures } = check({ ...sound, "server/api/runs.c": ["<microhttpd.h>"] });
    assert.deepEqual(failures, ["server/api/runs.c:2 includes <microhttpd.h>: server/api may not include it"]);
});

test("a folder that the table does not know fails", () => {
    const { failures } = check({ ...sound, "server/attic/box.c": ["core/error.h"] });
    assert.match(failures[0], /^server\/attic\/box\.c:2 includes core\/error\.h: the folder server\/attic is not in the table/);
});

test("the code's own includes are in order", () => {
    assert.deepEqual(checkIncludes(fileURLToPath(new URL("..", import.meta.url))).failures, []);
});
