import { parseArgs } from "node:util";
import type { Case, Measured } from "./system.ts";
import { SYSTEMS } from "./systems.ts";

const CASES: readonly Case[] = [
  { way: "single", messages: 2_000, title: "send, one by one" },
  { way: "concurrent50", messages: 20_000, title: "send, 50 at once" },
  { way: "concurrent500", messages: 50_000, title: "send, 500 at once" },
  { way: "batch100", messages: 50_000, title: "sendBatch(100), one by one" },
  { way: "batch100parallel10", messages: 100_000, title: "sendBatch(100), 10 at once" },
];

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    scale: { type: "string", default: "1" },
    system: { type: "string", multiple: true },
  },
});
const runs = Number(values.runs);
const scale = Number(values.scale);

const rows: string[][] = [
  ["system", "acknowledged", "case", "sent/s", "handled/s", "call p50 ms", "p99", "end to end p50 ms", "p99"],
];
for (const system of SYSTEMS) {
  if (
    values.system !== undefined &&
    !values.system.some((name) => system.name.toLowerCase().startsWith(name))
  )
    continue;
  console.error(`starting ${system.name} …`);
  try {
    const running = await system.start();
    try {
      for (const testCase of CASES) {
        const scaled = {
          ...testCase,
          messages: Math.max(100, Math.round((testCase.messages * scale) / 100) * 100),
        };
        await running.run({ ...scaled, messages: Math.max(100, scaled.messages / 10) });
        const measured: Measured[] = [];
        for (let run = 0; run < runs; run++) measured.push(await running.run(scaled));
        rows.push([system.name, system.acknowledged, testCase.title, ...figures(measured)]);
        console.error(`  ${testCase.title}: ${rows.at(-1)?.slice(3).join(" ")}`);
      }
    } finally {
      await running.stop();
    }
  } catch (error) {
    rows.push([system.name, system.acknowledged, `could not be measured: ${String(error).split("\n")[0]}`]);
    console.error(`  ${error}`);
  }
}
console.log(rows.map((row) => `| ${row.join(" | ")} |`).join("\n"));

/** Medians over the runs. */
function figures(measured: readonly Measured[]): string[] {
  const median = (pick: (one: Measured) => number): number => {
    const sorted = measured.map(pick).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  const rate = (value: number) => Math.round(value).toLocaleString("en");
  const ms = (value: number) => value.toFixed(2);
  return [
    rate(median((one) => one.sendPerSecond)),
    rate(median((one) => one.handledPerSecond)),
    ms(median((one) => one.callP50Ms)),
    ms(median((one) => one.callP99Ms)),
    ms(median((one) => one.endToEndP50Ms)),
    ms(median((one) => one.endToEndP99Ms)),
  ];
}
