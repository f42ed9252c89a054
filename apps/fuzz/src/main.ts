import { runProgram } from "@sluice/harness/command-line";
import { type FuzzCommand, parseCommandLine, USAGE } from "./command-line.ts";
import { fuzz } from "./fuzz.ts";
import { localTarget } from "./local-target.ts";
import { remoteTarget } from "./target.ts";

async function run({ seed: first, minutes, requests, url }: FuzzCommand): Promise<boolean> {
  const print = console.log;
  // A broker in this process says what is purged and deleted: thousands of lines.
  if (url === null) console.log = () => {};
  const untilMs = performance.now() + 60_000 * minutes;
  const statuses: Record<string, number> = {};
  let [seed, kept] = [first, 0];
  do {
    const local = url === null ? await localTarget() : null;
    const target = local ?? remoteTarget(url ?? "");
    try {
      const report = await fuzz(target, { seed, requests });
      for (const [status, count] of Object.entries(report.statuses))
        statuses[status] = (statuses[status] ?? 0) + count;
      kept += report.kept;
    } catch (error) {
      console.error(error);
      console.error(
        `Again: pnpm fuzz --seed ${seed} --requests ${requests}${url === null ? "" : ` --url ${url}`}`,
      );
      return false;
    } finally {
      await local?.close();
    }
    seed += 1;
  } while (performance.now() < untilMs);
  const answers = Object.entries(statuses).map(([status, count]) => `${count} with ${status}`);
  print(`Seeds ${first} to ${seed - 1}: ${answers.join(", ")}; all ${kept} messages arrived`);
  return true;
}

await runProgram({ usage: USAGE, parse: (args) => parseCommandLine(args, Date.now()), run });
// Timers of brokers that have ended would keep the process.
process.exit();
