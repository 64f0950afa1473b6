// A file system of its own for a test, of a given size, on which daemons can be started one after the other.
//
//   const disk = await makeDisk(40);                        // MB; null where mounting is not allowed
//   const daemon = await startDaemon({ data: disk.path, env: disk.env });
//   await disk.fill();                                      // to the last byte, as another program would
//   await disk.release();
//
// It is a tmpfs in a mount namespace that a sleeping process keeps. $ATTNLAB_PROGRAM becomes a script that enters the
// namespace if $ATTNLAB_TEST_DISK names that process; so import this module before daemon.js.
import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdtemp, open, rm, stat, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";

const folder = await mkdtemp(path.join(tmpdir(), "attnlab-disk-"));
after(() => rm(folder, { recursive: true, force: true }));

const real = process.env.ATTNLAB_PROGRAM ?? path.resolve("build/attnlab");
const wrapper = path.join(folder, "attnlab");
await writeFile(
    wrapper,
    `#!/bin/sh\nif [ -z "$ATTNLAB_TEST_DISK" ]; then exec '${real}' "$@"; fi\n` +
        `exec nsenter --preserve-credentials --user --mount --target "$ATTNLAB_TEST_DISK" '${real}' "$@"\n`,
);
await chmod(wrapper, 0o755);
process.env.ATTNLAB_PROGRAM = wrapper;

/** Why no disk can be made here; false if one can. */
export const noDisk =
    spawnSync("unshare", ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", folder]).status !== 0 &&
    "mounting in a namespace is not allowed here";

/** Makes a disk of so many MB. */
export async function makeDisk(megabytes) {
    const mounted = await mkdtemp(path.join(folder, "disk-"));
    const script = `mount -t tmpfs -o size=${megabytes}m tmpfs '${mounted}' && echo ready && exec sleep 1800`;
    const holder = spawn("unshare", ["--map-root-user", "--mount", "sh", "-c", script]);
    after(() => holder.kill("SIGKILL"));
    await new Promise((resolve, reject) => {
        holder.stdout.once("data", resolve);
        holder.once("close", () => reject(new Error("the disk cannot be mounted")));
    });
    const outside = `/proc/${holder.pid}/root${mounted}`;
    const freeBytes = async () => {
        const { bavail, bsize } = await statfs(outside);
        return bavail * bsize;
    };
    // Another program's file takes all that is free.
    const fill = async () => {
        const file = await open(path.join(outside, "filler"), "a");
        for (const size of [1 << 20, 4096]) {
            try {
                for (;;) await file.write(Buffer.alloc(size, 1));
            } catch (error) {
                if (error.code !== "ENOSPC") throw error;
            }
        }
        await file.close();
    };
    return {
        path: mounted,
        env: { ATTNLAB_TEST_DISK: String(holder.pid) },
        freeBytes,
        taken: async (name) => (await stat(path.join(outside, name)).catch(() => ({ blocks: 0 }))).blocks * 512,
        fill,
        empty: () => rm(path.join(outside, "filler"), { force: true }),
        release: () => holder.kill("SIGKILL"),
    };
}
