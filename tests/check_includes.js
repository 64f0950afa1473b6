// Checks which folder includes which: prints a summary of the layers, and fails if an include breaks the table.
//
//     node tests/check_includes.js [ROOT]
//
// A module is x.h with x.c. There must be no circle of includes between modules or between folders.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

// The folders from the bottom up. A folder may include itself and the folders in its row; `core/*` is core with all
// folders in it. If a row names a library header, only folders whose rows name it may include it. The tests of a server
// folder follow that folder's row.
export const table = `
core
core/random             core
core/math/lanes         <immintrin.h>  <arm_neon.h>
core/math               core  core/math/lanes  <cblas.h>
core/parameters         core
core/layers             core  core/math  core/random
core/layers/positions   core  core/random  core/layers
core/layers/attention   core  core/math  core/random  core/layers  core/layers/positions
core/layers/blocks      core  core/layers  core/layers/positions  core/layers/attention
core/model              core  core/math  core/random  core/layers/*  core/parameters
core/tasks              core  core/random  <utf8proc.h>
core/training           core  core/math  core/random  core/model  core/parameters  core/tasks
core/pretrained         core  core/math  core/math/lanes
core/experiments        core/*  <nettle/base64.h>
server/system           core
server/formats          core/*  server/system  <jansson.h>
server/hdf5             core  core/pretrained  server/formats  server/system  <hdf5.h>
server/store            core  core/training  server/system  <sqlite3.h>  <pthread.h>  <nettle/sha2.h>  <nettle/base16.h>
server/runs             core/*  server/formats  server/store  server/system  <jansson.h>  <pthread.h>
server/access           core  core/parameters  core/experiments  server/runs  server/formats  server/store  server/system  <pthread.h>  \
                        <nettle/sha2.h>  <nettle/base16.h>  <nettle/memops.h>
server/http             core  core/parameters  server/access  server/runs  server/formats  server/system  \
                        <microhttpd.h>  <jansson.h>  <pthread.h>
server/api              core/*  server/http  server/access  server/runs  server/formats  server/store  server/system
server/commands         core/*  server/*  <pthread.h>
tests/reference         core/*
tests/unit              core/math/lanes
tests/unit/core         core/*  tests/*  <pthread.h>
tests/unit/server       core/*  server/*  tests/*  <jansson.h>  <pthread.h>  <hdf5.h>
tests/bench             core/*  tests/*
tests/fuzz              core/*  server/*  tests/*  <jansson.h>
tests/support           core/*  <jansson.h>
`;

const parseTable = (text) => {
    const lines = text.replaceAll("\\\n", " ").trim().split("\n");
    return lines.map((line) => line.trim().split(/\s+/)).map(([folder, ...may]) => ({ folder, may }));
};

const isWithin = (folder, parent) => folder === parent || folder.startsWith(`${parent}/`);
const covers = (pattern, folder) => (pattern.endsWith("/*") ? isWithin(folder, pattern.slice(0, -2)) : folder === pattern);

/** The row of a folder. A folder of tests without a row has the row of the nearest folder above it. */
const findRow = (rows, folder) => {
    for (let at = folder; at !== "."; at = path.dirname(at)) {
        const row = rows.find((candidate) => candidate.folder === at);
        if (row) return row;
        if (!at.startsWith("tests/")) return undefined;
    }
    return undefined;
};

const listFiles = (root, folder) =>
    existsSync(path.join(root, folder))
        ? readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
              const name = `${folder}/${entry.name}`;
              if (entry.isDirectory()) return entry.name === "node_modules" ? [] : listFiles(root, name);
              return /\.[ch]$/.test(entry.name) ? [name] : [];
          })
        : [];

/** Every include as {from, line, to}; `to` is a path from the root, or <header> for a library's header. */
const readIncludes = (root, files) => {
    const known = new Set(files);
    return files.flatMap((from) =>
        readFileSync(path.join(root, from), "utf8")
            .split("\n")
            .flatMap((text, index) => {
                const found = text.match(/^\s*#\s*include\s*(?:"([^"]+)"|(<[^>]+>))/);
                if (!found) return [];
                const beside = found[1] && path.posix.join(path.dirname(from), found[1]);
                return [{ from, line: index + 1, to: found[2] ?? (known.has(found[1]) || !known.has(beside) ? found[1] : beside) }];
            }),
    );
};

/** The arrows between the names that `nameOf` gives to files: each name's targets, each with one of its includes. */
const drawArrows = (files, includes, nameOf) => {
    const arrows = new Map(files.map((file) => [nameOf(file), new Map()]));
    for (const include of includes) {
        const from = nameOf(include.from);
        const to = nameOf(include.to);
        if (from !== to && arrows.has(to) && !arrows.get(from).has(to)) arrows.get(from).set(to, include);
    }
    return arrows;
};

/** Tarjan's strongly connected components; a component comes after those that it includes. */
const findComponents = (arrows) => {
    const state = new Map();
    const stack = [];
    const components = [];
    const visit = (name) => {
        const own = { index: state.size, low: state.size, isOnStack: true };
        state.set(name, own);
        stack.push(name);
        for (const target of arrows.get(name).keys()) {
            if (!state.has(target)) own.low = Math.min(own.low, visit(target).low);
            else if (state.get(target).isOnStack) own.low = Math.min(own.low, state.get(target).index);
        }
        if (own.low === own.index) {
            const component = stack.splice(stack.indexOf(name));
            for (const member of component) state.get(member).isOnStack = false;
            components.push(component);
        }
        return own;
    };
    for (const name of arrows.keys()) if (!state.has(name)) visit(name);
    return components;
};

/** The circles and the number of floors. A name is one floor above the highest name that it includes. */
const measure = (arrows) => {
    const components = findComponents(arrows);
    const floors = new Map();
    for (const component of components) {
        const below = component.flatMap((name) => [...arrows.get(name).keys()]).map((target) => floors.get(target) ?? 0);
        const floor = 1 + Math.max(0, ...below);
        for (const name of component) floors.set(name, floor);
    }
    return { floors: Math.max(0, ...floors.values()), circles: components.filter((component) => component.length > 1) };
};

const describeCircle = (kind, circle, arrows) =>
    [
        `a circle of ${circle.length} ${kind}: ${circle.join(", ")}`,
        ...circle.flatMap((name) =>
            [...arrows.get(name)]
                .filter(([target]) => circle.includes(target))
                .map(([, include]) => `    ${include.from}:${include.line} includes ${include.to}`),
        ),
    ].join("\n");

const moduleOf = (file) => file.replace(/\.[ch]$/, "");

/** The fault of one include, or undefined. */
const judge = (rows, known, { from, line, to }) => {
    const folder = path.dirname(from);
    const row = findRow(rows, folder);
    const place = `${from}:${line} includes ${to}`;
    if (!row) return `${place}: the folder ${folder} is not in the table of tests/check_includes.js`;
    const mirrored = rows.find((candidate) => `tests/unit/${candidate.folder}` === folder && isWithin(candidate.folder, "server"));
    if (to.startsWith("<")) {
        const isKept = rows.some((candidate) => candidate.may.includes(to));
        const own = [...row.may, ...(mirrored?.may ?? [])];
        return !isKept || own.includes(to) ? undefined : `${place}: ${row.folder} may not include it`;
    }
    if (!known.has(to)) return to.includes("/") ? `${place}: there is no such file` : undefined;
    const target = path.dirname(to);
    const may = mirrored ? [...mirrored.may, mirrored.folder, "tests/*"] : row.may;
    if (target === folder || may.some((pattern) => covers(pattern, target))) return undefined;
    return `${place}: ${(mirrored ?? row).folder.replace("server/", "")} may not include ${target.replace("server/", "")}`;
};

/** Reads the C code below `root`. Returns {failures, summary}: texts, and one line. */
export const checkIncludes = (root, tableText = table) => {
    const rows = parseTable(tableText);
    const files = ["core", "server", "tests"].flatMap((folder) => listFiles(root, folder)).sort();
    const includes = readIncludes(root, files);
    const known = new Set(files);
    const failures = includes.map((include) => judge(rows, known, include)).filter((failure) => failure !== undefined);

    const isCode = (file) => known.has(file) && !file.startsWith("tests/");
    const arrows = includes.filter(({ from, to }) => isCode(from) && isCode(to));
    const modules = drawArrows(files.filter(isCode), arrows, moduleOf);
    const folders = drawArrows(files.filter(isCode), arrows, path.dirname);
    const height = (file) => rows.findIndex((row) => row.folder === path.dirname(file));
    const upward = arrows.filter(({ from, to }) => height(from) < height(to));
    const byModule = measure(modules);
    const byFolder = measure(folders);
    for (const circle of byModule.circles) failures.push(describeCircle("modules", circle, modules));
    for (const circle of byFolder.circles) failures.push(describeCircle("folders", circle, folders));
    const circles = byModule.circles.length + byFolder.circles.length;
    const summary =
        `${modules.size} modules on ${byModule.floors} floors, in ${folders.size} folders on ${byFolder.floors}: ` +
        `${upward.length} upward includes, ${circles} circles`;
    return { failures, summary };
};

// Node resolves links in the module's address, but not in argv: a checkout behind a link must be checked too.
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const { failures, summary } = checkIncludes(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
    for (const failure of failures) console.error(failure);
    console.log(`includes: ${summary}`);
    process.exitCode = failures.length > 0 ? 1 : 0;
}
