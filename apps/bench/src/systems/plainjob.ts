import { installNpmPackages } from "./npm-packages.ts";
import { startPeer } from "./peer.ts";
import type { System } from "./system.ts";

const HOW = "addMany(100); one worker in a process of its own, polling every 1 ms";

/** SQLite in the process of the producer. As it comes it does not wait for the disk (`synchronous = NORMAL`). */
export const plainjob: System = {
  id: "plainjob",
  name: "plainjob (SQLite)",
  acknowledged: "page cache",
  clockMs: 0,
  how: HOW,
  install: (options) => installNpmPackages(["plainjob", "better-sqlite3"], options),
  start: () => startPeer("plainjob", null),
};

/** The same with `synchronous = FULL`: each commit waits for the disk, as Sluice's does. */
export const plainjobFull: System = {
  ...plainjob,
  id: "plainjob-full",
  name: "plainjob (SQLite, synchronous FULL)",
  acknowledged: "commit",
  start: () => startPeer("plainjob-full", null),
};
