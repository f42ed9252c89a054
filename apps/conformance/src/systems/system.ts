import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import getPort from "get-port";
import { writeProject } from "../project/write-project.ts";
import type { Scenario, SeenBatch } from "../scenario/scenario.ts";
import { type DevProcess, startDevProcess } from "./dev-process.ts";

/** What runs a project of Workers. */
export interface System {
  readonly name: "sluice" | "miniflare";
  /** Arguments of Node that start it over the Workers' folders, without ports and where it keeps its state. */
  readonly commandLine: (workers: readonly string[]) => readonly string[];
  /** Where its clock can be moved. */
  readonly clockPath: string | null;
}

/** A system with the scenarios' project in it. */
export interface RunningSystem {
  /** What it has printed, without colours. */
  readonly log: string;
  /** Lets a scenario send, and answers what that came to. */
  send(id: string): Promise<unknown>;
  /** Lets a scenario look at its queues afterwards. */
  look(id: string): Promise<unknown>;
  /** Every batch that has come since it was started. */
  seen(): Promise<readonly SeenBatch[]>;
  /** Moves its clock; `null` where that cannot be done. */
  readonly advanceClock: ((ms: number) => Promise<void>) | null;
  /** Interrupts it and starts it again over the same project and the same state. */
  restart(): Promise<void>;
  /** Ends it, and removes the project. */
  stop(): Promise<void>;
}

const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");
const CLI = path.join(REPOSITORY, "packages/cli/src/main.ts");
const WRANGLER = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin/wrangler.js",
);

export const SYSTEMS: readonly System[] = [
  { name: "sluice", commandLine: (workers) => [CLI, "dev", ...workers], clockPath: "__sluice/api/clock" },
  {
    name: "miniflare",
    commandLine: (workers) => [
      WRANGLER,
      "dev",
      ...workers.flatMap((worker) => ["--config", `${worker}/wrangler.json`]),
    ],
    clockPath: null,
  },
];

/** Characters of a system's output in the message of a failure: what it printed last. */
const LOG_SHOWN = 4_000;

/** Writes the scenarios' project into a folder of its own and starts a system over it. */
export async function startSystem(system: System, scenarios: readonly Scenario[]): Promise<RunningSystem> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), `conformance-${system.name}-`)));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    const workers = await writeProject(folder, scenarios);
    const [port, inspectorPort] = await Promise.all([getPort(), getPort()]);
    const url = `http://127.0.0.1:${port}`;
    const args = [
      ...system.commandLine(workers),
      ...["--port", `${port}`, "--ip", "127.0.0.1", "--inspector-port", `${inspectorPort}`],
      ...["--persist-to", path.join(folder, "state")],
    ];
    const isReady = async () => (await (await fetch(url)).text()) === "ready";
    const start = () => startDevProcess(args, { cwd: folder, env: environmentIn(folder) }, isReady);
    return running(await start(), start, url, system, remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

function environmentIn(folder: string): NodeJS.ProcessEnv {
  const { CLOUDFLARE_ENV: _, ...rest } = process.env;
  return {
    ...rest,
    CI: "1",
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    // Wrangler's local observability makes every call about ten times slower.
    X_LOCAL_OBSERVABILITY: "false",
    WRANGLER_REGISTRY_PATH: path.join(folder, "registry"),
  };
}

function running(
  first: DevProcess,
  start: () => Promise<DevProcess>,
  url: string,
  { clockPath }: System,
  remove: () => Promise<void>,
): RunningSystem {
  let child = first;
  const call = async (what: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(`${url}/${what}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${what}: ${response.status} ${text}\n${child.log.slice(-LOG_SHOWN)}`);
    return JSON.parse(text);
  };
  const advance = async (path: string, advanceMs: number) => {
    await call(path, { method: "POST", body: JSON.stringify({ advanceMs }) });
  };
  return {
    get log() {
      return child.log;
    },
    send: (id) => call(`run/${id}`),
    look: (id) => call(`look/${id}`),
    seen: async () => (await call("seen")) as SeenBatch[],
    advanceClock: clockPath === null ? null : (ms) => advance(clockPath, ms),
    async restart() {
      await child.stop();
      child = await start();
    },
    async stop() {
      await child.stop();
      await remove();
    },
  };
}
