import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { exitCodeOf, MAIN, requireWithMain } from "./load-wrangler.ts";
import type { WranglerRun } from "./run-wrangler.ts";

/*
 * A process that runs Wrangler's commands, one after the other. To load Wrangler takes a second and a command a tenth
 * of one, and a deployment of four Workers has ten commands.
 */

type Streams = Pick<WranglerRun, "out" | "all">;

const [, , wranglerFile = "", reportFile = ""] = process.argv;
const main = requireWithMain(wranglerFile)[MAIN];
const run = main === undefined ? runInProcess : runHere(main);

// Wrangler closes the channel to its parent at the end of a command.
process.disconnect = () => {};
process.on("message", async (args: readonly string[]) => {
  const from = report().length;
  const done = await run(args);
  process.send?.({ ...done, report: report().slice(from) } satisfies WranglerRun);
});
process.once("disconnect", () => process.exit());
// Its parent removes the folder too, unless it was killed.
process.once("exit", () => {
  if (reportFile !== "") rmSync(dirname(reportFile), { recursive: true, force: true });
});

/** What Wrangler has said to programs so far: it appends to one file as long as its process lasts. */
function report(): string {
  return existsSync(reportFile) ? readFileSync(reportFile, "utf8") : "";
}

function runHere(command: (args: readonly string[]) => Promise<void>) {
  return async (args: readonly string[]): Promise<Omit<WranglerRun, "report">> => {
    process.argv = [process.execPath, wranglerFile, ...args];
    process.exitCode = 0;
    const { streams, end } = captured();
    try {
      const code = await command(args).then(() => Number(process.exitCode), exitCodeOf);
      return { code, ...streams };
    } finally {
      end();
    }
  };
}

/** Of a Wrangler whose `main` cannot be reached from outside. */
async function runInProcess(args: readonly string[]): Promise<Omit<WranglerRun, "report">> {
  const child = spawn(process.execPath, ["--no-warnings", "--", wranglerFile, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, all: out + err };
}

/** Keeps what is printed, until it ends. It goes on its way too: a command that ends its process answers no more. */
function captured(): { readonly streams: Streams; end(): void } {
  const streams = { out: "", all: "" };
  const { stdout, stderr } = process;
  const originals = [stdout, stderr].map((stream) => ({ stream, write: stream.write }));
  for (const { stream, write } of originals) {
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const said = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      streams.all += said;
      if (stream === stdout) streams.out += said;
      return Reflect.apply(write, stream, [chunk, ...rest]);
    };
  }
  return {
    streams,
    end: () => {
      for (const { stream, write } of originals) stream.write = write;
    },
  };
}
