import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type Child, startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import getPort from "get-port";
import { SLUICE, WRANGLER_BIN } from "sluice/test/running";
import { writeProject } from "../project/write-project.ts";
import type { Scenario, SeenBatch } from "../scenario/scenario.ts";

export type SystemName = "sluice" | "miniflare";

/** Program that runs a project of Workers. */
export interface System {
  readonly name: SystemName;
  /** Makes the arguments of Node.js that start it on the Workers' folders, without the options for ports and state. */
  readonly commandLine: (workers: readonly string[]) => readonly string[];
}

/** A system that runs the scenarios' project. */
export interface RunningSystem {
  /** Text that it has printed since its last start, without colours. */
  readonly log: string;
  /** Runs `send` of a scenario, and resolves to its result. */
  send(id: string): Promise<unknown>;
  /** Runs `afterRestart` of a scenario, and resolves to its result. */
  look(id: string): Promise<unknown>;
  /** Lists the batches that have come since its last start. */
  seen(): Promise<readonly SeenBatch[]>;
  /** Interrupts it and starts it again on the same project and state. */
  restart(): Promise<void>;
  /** Ends it, and removes the project. */
  stop(): Promise<void>;
}

export const SYSTEMS: Readonly<Record<SystemName, System>> = {
  sluice: { name: "sluice", commandLine: (workers) => [SLUICE, "dev", ...workers] },
  miniflare: {
    name: "miniflare",
    commandLine: (workers) => [
      WRANGLER_BIN,
      "dev",
      ...workers.flatMap((worker) => ["--config", `${worker}/wrangler.json`]),
    ],
  },
};

/** Length of the end of a system's output that is shown with a failure. */
const LOG_SHOWN = 4_000;

/** Writes the scenarios' project into a new folder, and starts a system on it. */
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
    const start = async () => {
      const child = startChild(process.execPath, args, { cwd: folder, env: environmentIn(folder) });
      try {
        await child.ready(isReady);
        return child;
      } catch (error) {
        await child.stop("SIGINT");
        throw error;
      }
    };
    return running(await start(), start, url, remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

function running(
  first: Child,
  start: () => Promise<Child>,
  url: string,
  remove: () => Promise<void>,
): RunningSystem {
  let child = first;
  const call = async (what: string): Promise<unknown> => {
    const response = await fetch(`${url}/${what}`);
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${what}: ${response.status} ${text}\n${child.output.slice(-LOG_SHOWN)}`);
    return JSON.parse(text);
  };
  return {
    get log() {
      return stripVTControlCharacters(child.output);
    },
    send: (id) => call(`run/${id}`),
    look: (id) => call(`look/${id}`),
    seen: async () => (await call("seen")) as SeenBatch[],
    async restart() {
      await child.stop("SIGINT");
      child = await start();
    },
    async stop() {
      await child.stop("SIGINT");
      await remove();
    },
  };
}
