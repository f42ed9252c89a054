import { type FuzzCommand, parseCommandLine, USAGE } from "./command-line.ts";
import { fuzz } from "./fuzz.ts";
import { memoryTarget } from "./memory-target.ts";
import { remoteTarget } from "./target.ts";

async function run({ seed: first, minutes, requests, url }: FuzzCommand): Promise<void> {
  const untilMs = performance.now() + 60_000 * minutes;
  const statuses: Record<string, number> = {};
  let [seed, kept] = [first, 0];
  do {
    const target = url === null ? memoryTarget() : remoteTarget(url);
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
      process.exitCode = 1;
      return;
    }
    seed += 1;
  } while (performance.now() < untilMs);
  const answers = Object.entries(statuses).map(([status, count]) => `${count} with ${status}`);
  console.log(`Seeds ${first} to ${seed - 1}: ${answers.join(", ")}; all ${kept} messages arrived`);
}

const command = parseCommandLine(process.argv.slice(2), Date.now());
if (typeof command === "string") {
  console.error(`${command}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  await run(command);
}
