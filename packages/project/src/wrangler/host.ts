import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { captured } from "./captured.ts";
import { exitCodeOf, MAIN, requireWithMain } from "./load-wrangler.ts";
import { type Command, LIFELINE_FD, TERMINAL_FD, type WranglerRun } from "./run-wrangler.ts";
import { type SecretsFile, secretsFile } from "./secrets-file.ts";

/*
 * A process that runs Wrangler's commands, one after the other. To load Wrangler takes a second and a command a tenth
 * of one, and a deployment of four Workers has ten commands.
 */

type Ran = Omit<WranglerRun, "report">;

const [, , wranglerFile = "", reportFile = ""] = process.argv;
const folder = dirname(reportFile);
/** Ends the process of a command that runs in one of its own. */
let killChild: (() => void) | null = null;
const main = requireWithMain(wranglerFile)[MAIN];
const run = main === undefined ? runInProcess : runHere(main);

// Wrangler closes the channel to its parent at the end of a command. Node.js calls this too, when the parent has ended.
process.disconnect = () => {};
// So it is this pipe that tells of the parent's end, whatever ended it.
new Socket({ fd: LIFELINE_FD }).resume().once("close", endAtOnce);
// The keys that interrupt reach the whole group of processes. Its parent decides what comes then.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
// Its parent sweeps the folders of those that were killed.
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

process.on("message", async ({ args, secrets, asks }: Command) => {
  const from = report().length;
  const file = secrets === null ? null : secretsFile(folder, secrets);
  const done = await run(args, file, asks).finally(() => file?.remove());
  process.send?.({ ...done, report: report().slice(from) } satisfies WranglerRun);
});

/** Ends without the code of others that runs at an exit: in the middle of a command it may wait for ever. */
function endAtOnce(): void {
  killChild?.();
  if (process.stdin.isTTY) process.stdin.setRawMode(false);
  rmSync(folder, { recursive: true, force: true });
  process.kill(process.pid, "SIGKILL");
}

/** Reads all that Wrangler has reported to programs so far: it appends to one file as long as its process lasts. */
function report(): string {
  return existsSync(reportFile) ? readFileSync(reportFile, "utf8") : "";
}

function runHere(command: (args: readonly string[]) => Promise<void>) {
  return async (args: readonly string[], file: SecretsFile | null, asks: boolean): Promise<Ran> => {
    const all = file === null ? args : [...args, "--secrets-file", file.path];
    process.argv = [process.execPath, wranglerFile, ...all];
    process.exitCode = 0;
    const { streams, end } = captured(asks ? TERMINAL_FD : null);
    try {
      const code = await command(all).then(() => Number(process.exitCode), exitCodeOf);
      return { code, ...streams };
    } finally {
      end();
    }
  };
}

/**
 * Runs a command in a process of its own, by a Wrangler whose `main` cannot be reached from outside. Its questions
 * cannot be either: none is asked.
 */
async function runInProcess(args: readonly string[], file: SecretsFile | null): Promise<Ran> {
  const path = file?.isNameless === true ? "/dev/fd/3" : file?.path;
  const secrets = path === undefined ? [] : ["--secrets-file", path];
  const child = spawn(process.execPath, ["--no-warnings", "--", wranglerFile, ...args, ...secrets], {
    stdio: ["ignore", "pipe", "pipe", file?.fd ?? "ignore"],
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("both are pipes");
  killChild = () => child.kill();
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const [out, err, code] = await Promise.all([text(stdout), text(stderr), ended]);
  killChild = null;
  return { code, out, all: out + err };
}
