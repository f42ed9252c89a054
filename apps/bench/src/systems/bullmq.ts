import { startChild } from "@sluice/harness/child";
import { findProgram, installProgram } from "./debian-packages.ts";
import { installNpmPackages } from "./npm-packages.ts";
import { startPeer } from "./peer.ts";
import type { System } from "./system.ts";

/** BullMQ on a Redis that writes and syncs its log before it answers; all other settings are defaults. */
export const bullmq: System = {
  id: "bullmq",
  name: "BullMQ (Redis, appendfsync always)",
  acknowledged: "disk",
  clockMs: 0,
  how: "addBulk(100); one worker, concurrency 50",
  async install(options) {
    await installNpmPackages(["bullmq", "ioredis"], options);
    await installProgram("redis-server", "redis-server", options);
  },
  start: () =>
    startPeer("bullmq", async ({ port, folder }) => {
      const program = (await findProgram("redis-server")) ?? "redis-server";
      return startChild(program, [
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder],
        ...["--save", "", "--appendonly", "yes", "--appendfsync", "always"],
      ]);
    }),
};
