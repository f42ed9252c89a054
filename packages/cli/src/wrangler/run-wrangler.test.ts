import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../../test/lab.ts";
import { wranglerIn } from "./run-wrangler.ts";

/** A command line that does what it is told, as Wrangler's module is made. */
const COMMANDS = `
const { appendFileSync } = require("node:fs");
class FatalError extends Error {
  constructor(code) { super("fatal"); this.code = code; }
}
let runs = 0;
async function NAME([command, text]) {
  runs++;
  try {
    if (command === "say") { console.log(text, runs); console.error("besides"); }
    if (command === "pid") console.log(require.main === module ? process.ppid : process.pid);
    if (command === "where") {
      console.log(process.cwd(), process.env.GIVEN, process.stdin.isTTY, process.argv.slice(2).join());
    }
    if (command === "report") appendFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, text + "\\n");
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
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-run-wrangler-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @param name of its function: only "main" can be reached from outside. */
function wrangler(name: string) {
  const file = join(folder, "cli.js");
  writeFileSync(file, COMMANDS.replaceAll("NAME", name));
  return wranglerIn(folder, { ...process.env, GIVEN: "given" }, file);
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

  it("end with what they run in when that is disposed of", async () => {
    const run = wrangler(name);
    const { out } = await run(["pid"]);
    expect(isRunning(Number(out))).toBe(true);
    run[Symbol.dispose]();
    await expect.poll(() => isRunning(Number(out))).toBe(false);
  });
});
