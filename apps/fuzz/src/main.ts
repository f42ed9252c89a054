import { runProgram } from "@sluice/harness/command-line";
import { type FuzzCommand, parseCommandLine, USAGE } from "./command-line.ts";
import { localTarget } from "./local-target.ts";
import { SHAPES } from "./shapes/index.ts";
import type { Open, ShapeReport } from "./shapes/shape.ts";
import { remoteTarget } from "./target.ts";

class Tally {
  readonly #statuses: Record<string, number> = {};
  #slowestMs = 0;
  #rounds = 0;

  add({ statuses, slowestMs }: ShapeReport): void {
    for (const [status, count] of Object.entries(statuses))
      this.#statuses[status] = (this.#statuses[status] ?? 0) + count;
    this.#slowestMs = Math.max(this.#slowestMs, slowestMs ?? 0);
    this.#rounds += 1;
  }

  get text(): string {
    const answers = Object.entries(this.#statuses).map(([status, count]) => `${count} with ${status}`);
    const slowest =
      this.#slowestMs === 0 ? "" : `; the slowest took ${Math.round(this.#slowestMs)} ms of processor time`;
    return `${this.#rounds} rounds: ${answers.join(", ")}${slowest}`;
  }
}

async function run({ shapes, seed: first, minutes, requests, url }: FuzzCommand): Promise<boolean> {
  const print = console.log;
  // A broker in this process logs thousands of lines about purges, deletions and failures.
  if (url === null) console.log = console.warn = () => {};
  const open: Open = url === null ? localTarget : async () => remote(url);
  const untilMs = performance.now() + 60_000 * minutes;
  const tallies = new Map(shapes.map((name) => [name, new Tally()]));
  let seed = first;
  do {
    for (const [name, tally] of tallies) {
      const shape = SHAPES.get(name);
      try {
        if (shape !== undefined)
          tally.add(await shape.run(open, { seed, requests: requests ?? shape.cases }));
      } catch (error) {
        console.error(error);
        const options = `${requests === null ? "" : ` --requests ${requests}`}${url === null ? "" : ` --url ${url}`}`;
        console.error(`Again: pnpm fuzz --shape ${name} --seed ${seed}${options}`);
        return false;
      }
    }
    seed += 1;
  } while (performance.now() < untilMs);
  print(`Seeds ${first} to ${seed - 1}`);
  for (const [name, { text }] of tallies) print(`${name}, ${text}`);
  return true;
}

/** Makes a target of a broker in another process, which goes on after the run. */
function remote(url: string) {
  return { ...remoteTarget(url), routes: [], reopen() {}, async close() {} };
}

await runProgram({ usage: USAGE, parse: (args) => parseCommandLine(args, Date.now()), run });
// Timers of brokers that have ended would keep the process.
process.exit();
