import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../../../cli/test/lab.ts";
import { type WranglerIn, wranglerIn } from "./run-wrangler.ts";

/** A command line that does what it is told, as Wrangler's module is made. */
const COMMANDS = `
const { once } = require("node:events");
const { appendFileSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:net");
class FatalError extends Error {
  constructor(code) { super("fatal"); this.code = code; }
}
let runs = 0;
async function NAME([command, text]) {
  runs++;
  try {
    if (command === "say") { console.log(text, runs); console.error("besides"); }
    if (command === "where") {
      console.log(process.cwd(), process.env.GIVEN, process.stdin.isTTY, process.argv.slice(2).join());
    }
    if (command === "report") appendFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, text + "\\n");
    if (command === "secrets") console.log(readFileSync(process.argv.at(-1), "utf8"), process.argv.at(-1));
    if (command === "hang") {
      writeFileSync("begun", [process.ppid, process.pid, readFileSync(process.argv.at(-1), "utf8")].join("\\n"));
      renameSync("begun", "hangs");
      // What nobody ends goes on for ever.
      await once(createServer().listen(0, "127.0.0.1"), "close");
    }
    if (command === "code") process.exitCode = Number(text);
    if (command === "fatal") throw new FatalError(Number(text));
    if (command === "throw") throw new Error("no more");
    if (command === "end") { console.error("the end"); process.exit(Number(text)); }
  } finally {
    process.disconnect?.();
  }
}
if (require.main === module) {
  NAME(process.argv.slice(2)).catch((error) => process.exit(error instanceof FatalError ? error.code : 1));
}
`;

let folder: string;
let started: WranglerIn[];
beforeEach(() => {
  started = [];
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-run-wrangler-")));
});
afterEach(() => {
  for (const run of started) run[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** @param name of its function: only "main" can be reached from outside. */
function wrangler(name: string): WranglerIn {
  const run = wranglerIn(folder, { ...process.env, GIVEN: "given" }, installed(name));
  started.push(run);
  return run;
}

function installed(name: string): string {
  const file = join(folder, "cli.js");
  writeFileSync(file, COMMANDS.replaceAll("NAME", name));
  return file;
}

/** Starts a process that asks for a command which hangs, with a folder for temporary files. */
function ask(name: string) {
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const asks = join(folder, "asks.ts");
  const module = pathToFileURL(join(import.meta.dirname, "run-wrangler.ts")).href;
  writeFileSync(
    asks,
    `import { wranglerIn } from ${JSON.stringify(module)};
    const run = wranglerIn(${JSON.stringify(folder)}, process.env, ${JSON.stringify(installed(name))});
    void run(["hang"], { secrets: { TOKEN: "a secret" } });`,
  );
  const env = { ...process.env, TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: "1" };
  const asking = spawn(process.execPath, ["--no-warnings", asks], { env, stdio: "inherit" });
  return { asking, temporary };
}

/** The processes that asked for a command which hangs and that run it, once it does, and its secrets. */
async function hanging() {
  const hangs = join(folder, "hangs");
  await expect.poll(() => existsSync(hangs)).toBe(true);
  const [parent, child, secrets] = readFileSync(hangs, "utf8").split("\n");
  return { parent: Number(parent), child: Number(child), secrets };
}

describe.each(["main", "other"])("commands of a Wrangler whose function is called %s", (name) => {
  it("are run with nobody to ask, in the folder and with the variables that are given", async () => {
    const run = wrangler(name);
    const { code, out } = await run(["where", "now"]);
    expect({ code, out }).toEqual({ code: 0, out: `${folder} given undefined where,now\n` });
  });

  it("tell what each has printed, reported and come to", async () => {
    const run = wrangler(name);
    const runs = await Promise.all([
      run(["say", "first"]),
      run(["report", '{"one":1}']),
      run(["code", "3"]),
      run(["fatal", "4"]),
      run(["throw"]),
      run(["report", '{"two":2}']),
      run(["say", "last"]),
    ]);
    const [first, one, , , , two, last] = runs;
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 3, 4, 1, 0, 0]);
    expect(first).toMatchObject({ out: "first 1\n", all: "first 1\nbesides", report: "" });
    expect([one?.report, two?.report]).toEqual(['{"one":1}\n', '{"two":2}\n']);
    // One process for all of them, unless it has to be one for each.
    expect(last?.out).toBe(name === "main" ? "last 7\n" : "last 1\n");
  });

  it("that end their process are told with what they said, and the next one runs", async () => {
    const run = wrangler(name);
    const [ended, next] = await Promise.all([run(["end", "5"]), run(["say", "next"])]);
    expect(ended).toMatchObject({ code: 5, all: "the end" });
    expect(next.out).toBe("next 1\n");
  });

  it("get secrets from a file that has no name", async () => {
    const run = wrangler(name);
    const [{ out }, again, none] = await Promise.all([
      run(["secrets"], { secrets: { TOKEN: "it is" } }),
      run(["secrets"], { secrets: { TOKEN: "another" } }),
      run(["where", "now"]),
    ]);
    expect(out).toMatch(/^\{"TOKEN":"it is"\} \/dev\/fd\/\d+\n$/);
    expect(again.out).toContain('{"TOKEN":"another"}');
    expect(none.out).toContain(" where,now\n");
  });

  it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "end in the middle and leave nothing when the process that asked for them ends by %s",
    async (signal) => {
      const { asking, temporary } = ask(name);
      const { parent, child, secrets } = await hanging();
      expect(secrets).toBe('{"TOKEN":"a secret"}');
      const files = readdirSync(temporary, { recursive: true, encoding: "utf8" });
      expect(files.filter((file) => file.includes("secret"))).toEqual([]);
      asking.kill(signal);
      const all = [asking.pid ?? 0, parent, child];
      await expect.poll(() => all.filter(isRunning)).toEqual([]);
      await expect.poll(() => readdirSync(temporary)).toEqual([]);
    },
    60_000,
  );

  it.runIf(process.platform === "linux")("stop and go on with the process that asked for them", async () => {
    const { asking } = ask(name);
    const { parent, child } = await hanging();
    const states = () =>
      [parent, child].map((pid) => /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
    asking.kill("SIGTSTP");
    await expect.poll(states).toEqual(["T", "T"]);
    asking.kill("SIGCONT");
    await expect.poll(states).not.toContain("T");
    asking.kill();
    await expect.poll(() => isRunning(child)).toBe(false);
  });

  it("end with what they run in when that is disposed of", async () => {
    const run = wrangler(name);
    void run(["hang"], { secrets: { TOKEN: "a secret" } });
    const { child } = await hanging();
    expect(isRunning(child)).toBe(true);
    run[Symbol.dispose]();
    await expect.poll(() => isRunning(child)).toBe(false);
  });
});
