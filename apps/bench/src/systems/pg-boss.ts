import { chown, mkdir } from "node:fs/promises";
import path from "node:path";
import { accepts } from "../process/accepts.ts";
import { runToEnd, startChild } from "../process/child.ts";
import { findProgram, installProgram } from "./debian-packages.ts";
import { installNpmPackages } from "./npm-packages.ts";
import { startPeer } from "./peer.ts";
import type { System } from "./system.ts";

const USER = "postgres";

/** PostgreSQL as `initdb` sets it up: every commit waits for the disk (`fsync` and `synchronous_commit` on). */
export const pgBoss: System = {
  id: "pg-boss",
  name: "pg-boss (PostgreSQL)",
  acknowledged: "commit",
  clockMs: 0,
  how: "insert() of 100; two workers with batches of 500, woken by NOTIFY",
  async install(options) {
    await installNpmPackages(["pg-boss"], options);
    await installProgram("initdb", "postgresql", options);
    await installProgram("postgres", "postgresql", options);
  },
  start: () =>
    startPeer("pg-boss", async ({ port, folder }) => {
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
      const server = startChild(
        postgres,
        ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder],
        options,
      );
      await server.ready(() => accepts(port));
      return server;
    }),
};

/** PostgreSQL refuses to run as root: then it runs as the user that its package has made. */
async function serverOwner(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const id = async (flag: string) => Number(await runToEnd("id", [flag, USER]));
  return { uid: await id("-u"), gid: await id("-g") };
}
