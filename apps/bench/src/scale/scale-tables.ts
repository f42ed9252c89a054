import { type BarKind, chartSvg } from "../report/chart.ts";
import { count, millis, threeDigits } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import { DURABLE_MS, NETWORK_MS, REQUESTS_PER_SECOND_MAX } from "./costs.ts";
import type { NamedLoad } from "./loads.ts";
import { type MeasuredScale, SHARDS_MEASURED } from "./measure-scale.ts";
import type { Simulated } from "./simulate.ts";
import { computedPerSecond } from "./step-costs.ts";

/** A load with the figures of its simulation. */
export interface SimulatedLoad {
  readonly load: NamedLoad;
  readonly outcome: Simulated;
}

/** Makes the tables of measured, computed and simulated figures. */
export function scaleTables(measured: MeasuredScale, simulated: readonly SimulatedLoad[]): string {
  return [
    "### Measured: the steps of a send",
    "",
    stepsTable(measured),
    "",
    "### Measured: sends to several shards on this machine, and computed: with a core for each",
    "",
    measuredTable(measured),
    "",
    "### Simulated: sends of many isolates",
    "",
    `Assumed: ${NETWORK_MS} to ${2 * NETWORK_MS} ms one way, ${DURABLE_MS} ms until a commit is durable, ` +
      `${count(REQUESTS_PER_SECOND_MAX)} requests a second to an object. CPU times are those measured above.`,
    "",
    loadTable(simulated),
    "",
    "### Simulated: USD for a million sends, without deliveries",
    "",
    billTable(simulated),
  ].join("\n");
}

function stepsTable({ steps }: MeasuredScale): string {
  const micros = (ms: number) => threeDigits(1_000 * ms);
  return markdownTable(
    ["a call, µs", "a message, µs", "a commit, µs", "waits for the disk, µs", "rows of a commit"],
    [
      [
        micros(steps.callMs),
        micros(steps.messageMs),
        micros(steps.commitMs),
        micros(steps.diskMs),
        threeDigits(steps.rowsPerCommit),
      ],
    ],
    0,
  );
}

function measuredTable({ steps, shards }: MeasuredScale): string {
  const computed = (perCommit: number) => computedPerSecond(steps, perCommit);
  const one = shards.find((row) => row.shards === 1);
  const rows = SHARDS_MEASURED.flatMap((of) =>
    shards
      .filter((row) => row.shards === of)
      .map((row) => [
        `${of}, ${row.where}`,
        count(row.perSecond),
        millis(row.call.p50Ms, 1),
        millis(row.call.p99Ms, 1),
        threeDigits(row.cpuMicrosPerMessage),
        threeDigits(row.callsPerCommit),
        count(of * computed(row.callsPerCommit)),
        threeDigits((of * computed(row.callsPerCommit)) / computed(one?.callsPerCommit ?? 1)),
      ]),
  );
  const header = ["shards", "sends/s", "p50 ms", "p99 ms", "CPU µs a send", "calls a commit"];
  return markdownTable([...header, "computed sends/s", "times one shard"], rows);
}

function loadTable(simulated: readonly SimulatedLoad[]): string {
  return markdownTable(
    [
      ...["load", "offered/s", "stored/s", "p50 ms", "p99 ms", "most loaded", "busiest thread"],
      ...["calls a commit", "moved on", "failed"],
    ],
    simulated.map(({ load, outcome }) => [
      load.title,
      count(load.perSecond),
      count(outcome.perSecond),
      millis(outcome.send.p50Ms),
      millis(outcome.send.p99Ms),
      `${threeDigits(outcome.mostLoaded)} x`,
      percent(outcome.busiest),
      threeDigits(outcome.callsPerCommit),
      percent(outcome.refusedShare),
      percent(outcome.failed / outcome.sent),
    ]),
  );
}

function billTable(simulated: readonly SimulatedLoad[]): string {
  return markdownTable(
    ["load", "rows", "requests", "GB-s", "rows USD", "requests USD", "GB-s USD", "USD"],
    simulated.map(({ load, outcome: { rows, requests, gigabyteSeconds, bill } }) => [
      load.title,
      count(rows),
      count(requests),
      threeDigits(gigabyteSeconds),
      ...[bill.rowsWritten, bill.requests, bill.duration, bill.total].map((usd) => usd.toFixed(3)),
    ]),
  );
}

/** Draws the stored messages a second of each load beside the offered ones. */
export function scaleChart(simulated: readonly SimulatedLoad[]): string {
  return chartSvg({
    title: "Simulated: messages a second by shards",
    subtitle: "10,000 isolates at 100 shards; the platform's limit is 1,000 requests a second for each shard",
    legend: [
      { kind: "ours", text: "stored" },
      { kind: "memory", text: "offered" },
    ],
    format: count,
    panels: simulated.map(({ load, outcome }) => ({
      title: load.title,
      bars: [bar("stored", outcome.perSecond, "ours"), bar("offered", load.perSecond, "memory")],
    })),
  });
}

function bar(label: string, value: number, kind: BarKind) {
  return { label, value, kind };
}

function percent(share: number): string {
  return `${threeDigits(100 * share)} %`;
}
