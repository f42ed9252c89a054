import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownModule } from "../runtime-modules.ts";
import { wranglerFile } from "./load-wrangler.ts";

/** What a command of Wrangler's came to. */
export interface WranglerRun {
  readonly code: number;
  /** Standard output alone. */
  readonly out: string;
  /** Everything that it printed. */
  readonly all: string;
  /** What it said to programs: lines of JSON. */
  readonly report: string;
}

/** Runs a command of Wrangler's to its end. */
export type RunWrangler = (args: readonly string[]) => Promise<WranglerRun>;

/**
 * Runs the Wrangler that is installed, in a folder: one command after the other, all in one process, which ends when it
 * is disposed of, or with this one. Nobody can answer its questions: it takes the default of each.
 *
 * @param env variables of that process.
 * @param file Wrangler's main module. Absolute.
 */
export function wranglerIn(
  cwd: string,
  env: NodeJS.ProcessEnv,
  file: string = wranglerFile(),
): RunWrangler & Disposable {
  let host: ChildProcess | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const run = (args: readonly string[]) =>
    new Promise<WranglerRun>((resolve, reject) => {
      host ??= startHost(cwd, env, file);
      const running = host;
      let printed = "";
      const read = (chunk: Buffer) => {
        printed += chunk;
      };
      const settle = () => {
        running.removeAllListeners();
        for (const stream of [running.stdout, running.stderr]) stream?.off("data", read);
      };
      for (const stream of [running.stdout, running.stderr]) stream?.on("data", read);
      running.once("message", (done: WranglerRun) => {
        settle();
        resolve({ ...done, all: done.all.trim() });
      });
      running.once("error", (error) => {
        settle();
        reject(error);
      });
      // A command that ends its process ends this one; the next command gets another.
      running.once("close", (code) => {
        settle();
        host = null;
        resolve({ code: code === 0 || code === null ? 1 : code, out: "", all: printed.trim(), report: "" });
      });
      running.send(args);
    });
  const inTurn: RunWrangler = (args) => {
    const done = last.then(() => run(args));
    last = done.catch(() => undefined);
    return done;
  };
  return Object.assign(inTurn, { [Symbol.dispose]: () => host?.disconnect() });
}

function startHost(cwd: string, env: NodeJS.ProcessEnv, file: string): ChildProcess {
  const folder = mkdtempSync(join(tmpdir(), "sluice-wrangler-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const report = join(folder, "report.ndjson");
  return fork(ownModule("wrangler/host"), [file, report], {
    cwd,
    // Colours would be in the way of whoever reads a log.
    env: { ...env, NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_OUTPUT_FILE_PATH: report },
    execArgv: ["--no-warnings"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}
