// Starts the real program for a test, on a free port and with a data directory of its own, and stops it afterwards.
//
//   const daemon = await startDaemon({ args: ["--workers", "1"] });
//   await fetch(daemon.url + "api/health");
//   const { code } = await daemon.stop();     // SIGTERM; removes the data directory unless the caller gave one
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../..", import.meta.url));
export const program = process.env.ATTNLAB_PROGRAM ?? path.join(repository, "build/attnlab");

/* Without this, a test that fails before it stops its daemon would keep its file from ending. The hook runs before the
 * file's own hooks, which may stop a daemon and check its exit, so it gives them a minute. The timer does not keep a
 * finished file waiting. */
const running = new Set();
after(() => setTimeout(() => running.forEach((child) => child.kill("SIGKILL")), 60000).unref());

/** Whether the program is built with a sanitizer, which makes it several times slower. */
export const isSanitized = () => /__[at]san_init/.test(readFileSync(program, "latin1"));

/* The time that the program has to exit: 5 s on an idle machine, in proportion more if it has to share the cores. */
export const endingMs = () => (isSanitized() ? 30000 : 5000) * Math.max(1, programsThatRun() / cpus().length);

const programsThatRun = () => Math.max(loadavg()[0], Number(/ (\d+)\//.exec(readFileSync("/proc/loadavg", "utf8"))[1]));

/* The longest wait for the daemon's address. It only ends the test of a program that hangs. */
const START_MS = 120000;

/** Runs the program to its end: { code, signal, stdout, stderr }. */
export function runProgram(args, { env = {}, timeout = 300000 } = {}) {
    const child = spawn(program, args, { env: { ...process.env, ...env }, timeout });
    const output = collect(child);
    return new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code, signal) => resolve({ code, signal, ...output }));
    });
}

/** Starts `attnlab serve` and waits for the address it prints. `under`: a command that runs another, with its arguments. */
export async function startDaemon({ args = [], env = {}, data = null, under = [] } = {}) {
    const directory = data ?? (await mkdtemp(path.join(tmpdir(), "attnlab-test-")));
    const command = [...under, program, "serve", "--listen", "127.0.0.1:0", "--data", directory, ...args];
    const child = spawn(command[0], command.slice(1), {
        env: { ...process.env, ...env },
    });
    running.add(child);
    const output = collect(child);
    const closed = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal })));
    closed.then(() => running.delete(child));
    const url = await new Promise((resolve, reject) => {
        child.on("error", reject);
        setTimeout(() => reject(new Error(`the daemon printed no address: ${output.stderr}`)), START_MS).unref();
        closed.then(({ code }) => reject(new Error(`the daemon ended with status ${code}: ${output.stderr}`)));
        child.stdout.on("data", () => {
            const line = /^attnlab listening on (http:\S+)$/m.exec(output.stdout);
            if (line) resolve(line[1]);
        });
    });
    const stop = async (signal = "SIGTERM") => {
        child.kill(signal);
        const ended = await closed;
        if (data === null) await rm(directory, { recursive: true, force: true });
        return { ...ended, ...output };
    };
    return { url, data: directory, pid: child.pid, output, closed, stop };
}

function collect(child) {
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => (output.stdout += chunk));
    child.stderr.on("data", (chunk) => (output.stderr += chunk));
    return output;
}
