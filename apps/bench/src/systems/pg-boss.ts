import { execFile } from "node:child_process";
import { chown, mkdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { startChild } from "@sluice/harness/child";
import { findProgram, installProgram } from "./debian-packages.ts";
import { installNpmPackages } from "./npm-packages.ts";
import { type StartServer, startPeer } from "./peer.ts";
import type { System } from "./system.ts";

const runToEnd = promisify(execFile);

const USER = "postgres";

/** Starts PostgreSQL as set up by `initdb`: commits wait for the disk (`fsync` and `synchronous_commit` are on). */
const startServer: StartServer = async ({ port, folder }) => {
  const data = path.join(folder, "data");
  const owner = await serverOwner();
  await mkdir(data, { mode: 0o700 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    for (const each of [folder, data]) await chown(each, owner.uid, owner.gid);
  }
  const initdb = (await findProgram("initdb")) ?? "initdb";
  const postgres = (await findProgram("postgres")) ?? "postgres";
  const options = { ...owner, cwd: folder };
  await runToEnd(initdb, ["-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8"], options);
  return startChild(postgres, ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder], options);
};

/** pg-boss whose worker polls for jobs every half second, the shortest interval that it allows. */
export const pgBoss: System = {
  id: "pg-boss",
  name: "pg-boss (PostgreSQL, polling)",
  acknowledged: "disk",
  clockMs: 0,
  how: "insert() of 100; one worker with batches of 500 that polls every 0.5 s",
  async install(options) {
    await installNpmPackages(["pg-boss"], options);
    await installProgram("initdb", "postgresql", options);
    await installProgram("postgres", "postgresql", options);
  },
  start: () => startPeer("pg-boss", startServer),
};

/** pg-boss whose worker is woken by PostgreSQL's NOTIFY: jobs start at once, and sends take longer. */
export const pgBossNotify: System = {
  ...pgBoss,
  id: "pg-boss-notify",
  name: "pg-boss (PostgreSQL, NOTIFY)",
  how: "insert() of 100; one worker with batches of 500, woken by NOTIFY",
  start: () => startPeer("pg-boss-notify", startServer),
};

/** Finds the user for PostgreSQL, which refuses to run as root: then it is the one that its package has created. */
async function serverOwner(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const id = async (flag: string) => Number((await runToEnd("id", [flag, USER])).stdout);
  return { uid: await id("-u"), gid: await id("-g") };
}
