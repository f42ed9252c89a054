import { LOADS, quickLoad } from "./loads.ts";
import { measureScale } from "./measure-scale.ts";
import { type SimulatedLoad, scaleChart, scaleTables } from "./scale-tables.ts";
import { simulate } from "./simulate.ts";

/** Length of a measured run, in ms. */
const RUN_MS = 3_000;
const QUICK_RUN_MS = 300;
/** Seed of every simulation. */
const SEED = 1;

/** Measures the costs of the steps of a send, and simulates loads on queues with shards by these costs. */
export async function scale(isQuick: boolean, say: (line: string) => void) {
  const measured = await measureScale(isQuick ? QUICK_RUN_MS : RUN_MS, say);
  const simulated: SimulatedLoad[] = [];
  for (const each of LOADS) {
    const load = isQuick ? quickLoad(each) : each;
    say(`simulated: ${load.title}`);
    simulated.push({ load, outcome: await simulate({ load, costs: measured.costs, seed: SEED }) });
  }
  return {
    markdown: scaleTables(measured, simulated),
    data: { measured, simulated },
    chart: { name: "scale", svg: scaleChart(simulated) },
  };
}
