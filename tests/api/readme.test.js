// Runs every curl line of the README, in order and in one shell, against a daemon. Each must be answered with a body and
// a status below 400.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { repository, startDaemon } from "../support/daemon.js";

const readme = await readFile(path.join(repository, "README.md"), "utf8");
const lines = readme.split("\n").filter((line) => /^(\w+=\$\()?curl /.test(line));
const seconds = 120;

// Each line's output and status go to files. A variable that a line assigns is visible to the later ones.
function scriptOf(commands, address) {
    const steps = commands.map((line, index) => {
        const command = line.replaceAll("http://127.0.0.1:8080/", address);
        return `{ ${command}\n} >${index}.out 2>${index}.err; echo $? >${index}.status`;
    });
    // Without --fail-with-body curl exits with 0 even on a 404.
    return `set -o pipefail; curl() { command curl --fail-with-body --show-error --max-time ${seconds} "$@"; }\n${steps.join("\n")}\n`;
}

let folder;
before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "attnlab-readme-"));
    const daemon = await startDaemon();
    const shell = spawn("bash", ["-c", scriptOf(lines, daemon.url)], { cwd: folder });
    await new Promise((resolve) => shell.on("close", resolve));
    await daemon.stop();
});
after(() => rm(folder, { recursive: true, force: true }));

test("the README shows at least ten curl lines", () => assert.ok(lines.length >= 10, `${lines.length} lines`));

lines.forEach((line, index) => {
    test(line, async () => {
        const read = (name) => readFile(path.join(folder, name), "utf8");
        const [status, output, errors] = await Promise.all(["status", "out", "err"].map((end) => read(`${index}.${end}`)));
        assert.equal(status.trim(), "0", errors + output);
        const file = / -o (\w\S*)/.exec(line);
        const assigns = /^\w+=/.test(line);
        const body = file ? await read(file[1]) : output;
        assert.ok(assigns || body.length > 0, "no answer");
    });
});
