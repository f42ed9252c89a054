import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import getPort from "get-port";
import { median, medians } from "../measure/statistics.ts";
import { residentBytesOfTree } from "../process/processes.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import { makeProject, type StartProject } from "./project.ts";

/** Figures of one start of a development server. */
interface StartFigures {
  /** Time from the start of its process to the first answer to a request. */
  readonly readyMs: number;
  /** Time from the start of its process until the message of the next request is at the consumer. */
  readonly handledMs: number;
  /** Time from saving a changed file to the first answer of the new code. */
  readonly reloadMs: number;
  /** Resident memory of all processes in bytes, after the first message; `null` where there is no `/proc`. */
  readonly residentBytes: number | null;
}

/** Medians of a command's starts. */
export interface Starts extends StartFigures {
  readonly command: string;
}

const POLL_MS = 5;
/** Time from the first message to the reading of the memory, in ms: garbage of the start is collected by then. */
const SETTLE_MS = 2_000;
const RELOADS = 3;
const WAIT_MS_MAX = 60_000;

/** Arguments for Node.js by which `npx` would run each command in the project. */
const COMMANDS: Readonly<Record<string, (project: StartProject) => readonly string[]>> = {
  "sluice dev": ({ sluice, configs }) => [sluice, "dev", ...configs],
  "wrangler dev": ({ wrangler, configs }) => [
    ...[wrangler, "dev"],
    ...configs.flatMap((config) => ["--config", config]),
  ],
};

/**
 * Starts `sluice dev` and `wrangler dev` on one project in turns, in an order that is reversed each time. The first
 * start of each does not count: it reads files for the first time, and fills caches.
 */
export async function measureStarts(runs: number, say: (line: string) => void): Promise<Starts[]> {
  const folder = await temporaryFolder("start");
  const handled = await Handled.listen();
  try {
    const project = await makeProject(folder, handled.url);
    const measured = new Map<string, StartFigures[]>(Object.keys(COMMANDS).map((name) => [name, []]));
    for (let run = 0; run <= runs; run++) {
      const names = Object.keys(COMMANDS);
      for (const name of run % 2 === 0 ? names : names.reverse()) {
        const figures = await measureStart(project, COMMANDS[name]?.(project) ?? [], handled);
        if (run > 0) measured.get(name)?.push(figures);
        say(`${name}${run === 0 ? " (does not count)" : ""}: ${JSON.stringify(figures)}`);
      }
    }
    return [...measured].map(([command, all]) => ({ command, ...medians(all) }));
  } finally {
    handled.close();
    await removeFolder(folder);
  }
}

async function measureStart(
  project: StartProject,
  args: readonly string[],
  handled: Handled,
): Promise<StartFigures> {
  const state = path.join(project.folder, "state");
  await rm(state, { recursive: true, force: true });
  await project.save("0");
  const port = await getPort();
  const startMs = performance.now();
  const child = startChild(process.execPath, [...args, "--port", `${port}`, "--persist-to", state], {
    cwd: project.folder,
    pollMs: POLL_MS,
    env: environmentIn(project.folder),
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await child.ready(async () => (await answer(url)) === "0");
    const readyMs = performance.now() - startMs;
    const first = handled.next();
    await answer(`${url}/send`);
    const handledMs = (await first) - startMs;
    await sleep(SETTLE_MS);
    const residentBytes = await residentBytesOfTree(child.pid);
    const reloads: number[] = [];
    for (let i = 1; i <= RELOADS; i++) reloads.push(await measureReload(project, child, url, `${i}`));
    return { readyMs, handledMs, reloadMs: median(reloads), residentBytes };
  } finally {
    await child.stop("SIGINT");
  }
}

async function measureReload(
  project: StartProject,
  child: Child,
  url: string,
  word: string,
): Promise<number> {
  await project.save(word);
  const startMs = performance.now();
  await child.ready(async () => (await answer(url)) === word);
  return performance.now() - startMs;
}

async function answer(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(WAIT_MS_MAX) });
  return response.text();
}

/** Server that the consumer calls for each batch. */
class Handled {
  readonly #server = createServer((_, response) => {
    this.#notified?.(performance.now());
    response.end();
  });
  #notified: ((atMs: number) => void) | null = null;

  static async listen(): Promise<Handled> {
    const handled = new Handled();
    await once(handled.#server.listen(0, "127.0.0.1"), "listening");
    return handled;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Resolves at the next call, to its time by `performance.now()`. */
  next(): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no message was handled")), WAIT_MS_MAX);
      this.#notified = (atMs) => {
        clearTimeout(timer);
        resolve(atMs);
      };
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
