import { type Bill, billOf, gigabyteSeconds, scaled } from "@sluice/prices";
import { randomFrom } from "@sluice/protocol";
import { type Latency, latency } from "../measure/statistics.ts";
import { type Costs, NETWORK_MS } from "./costs.ts";
import { SimulatedIsolate } from "./simulated-isolate.ts";
import { type ObjectConditions, type ObjectCounts, SimulatedQueue } from "./simulated-queue.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Event in the life of the shards. Times are in ms from the beginning of the counted time. */
type Incident =
  | { readonly kind: "away"; readonly atMs: number; readonly forMs: number; readonly shard: number }
  | { readonly kind: "grow"; readonly atMs: number; readonly shards: number };

/** A load on a queue with shards. */
export interface Load {
  readonly shards: number;
  readonly isolates: number;
  /** Messages a second of all isolates together. Each message comes alone, at a random time (Poisson). */
  readonly perSecond: number;
  /** Share of isolates that send `BUSY_RATE` times as much as others. Default 0. */
  readonly busyShare?: number;
  /**
   * Time before the counted time, over which isolates start, in ms. Each sends one message at its start, and the load
   * from `SETTLES_MS` before the counted time on. 0: all of them are new when the counted time begins.
   */
  readonly startsMs: number;
  /** Time that is counted, in ms. */
  readonly countedMs: number;
  readonly incident?: Incident;
}

/** Factor by which a busy isolate sends more than others. */
export const BUSY_RATE = 100;

/** Time with the whole load before the counted time, in ms. */
const SETTLES_MS = 1_000;

/** Figures of a simulated load. Those without "all" in the name are of the counted time. */
export interface Simulated {
  readonly sent: number;
  readonly stored: number;
  /** Sends that have failed: refused by all shards, or lost with one that is away. */
  readonly failed: number;
  /** Stored messages a second. */
  readonly perSecond: number;
  /** Time from the send to its answer, of stored messages. */
  readonly send: Latency;
  readonly messagesPerCall: number;
  readonly callsPerCommit: number;
  /** Messages of the shard that took most, divided by the mean of all. */
  readonly mostLoaded: number;
  /** Messages of the shard that took fewest, divided by the mean of all. */
  readonly leastLoaded: number;
  /** Share of the time for which the busiest thread of a shard worked. */
  readonly busiest: number;
  /** Calls that the platform refused, so that the isolate moved on, as a share of all calls. */
  readonly refusedShare: number;
  /** Calls that were answered with another map. */
  readonly remapped: number;
  /** Rows for a million stored messages, as the next three. */
  readonly rows: number;
  readonly requests: number;
  readonly gigabyteSeconds: number;
  readonly bill: Bill;
  /** Messages of the whole run, the start included: each is stored or has failed. */
  readonly all: { readonly sent: number; readonly stored: number; readonly failed: number };
}

/** Input of a simulation, which determines its result. */
export interface SimulationInput {
  readonly load: Load;
  readonly costs: Costs;
  readonly seed: number;
  readonly networkMs?: number;
  readonly conditions?: Omit<ObjectConditions, "costs">;
}

/** Simulates a load until no message is under way. */
export async function simulate(input: SimulationInput): Promise<Simulated> {
  const { load, costs, seed, networkMs = NETWORK_MS, conditions = {} } = input;
  const time = new VirtualTime();
  const random = randomFrom(seed);
  const queue = new SimulatedQueue(time, { costs, ...conditions }, load.shards);
  const fromMs = load.startsMs;
  const toMs = fromMs + load.countedMs;
  const all = { sent: 0, stored: 0, failed: 0 };
  const counted = { sent: 0, failed: 0 };
  const sendMs: number[] = [];

  const busy = Math.round(load.isolates * (load.busyShare ?? 0));
  const share = 1 / (load.isolates + busy * (BUSY_RATE - 1));
  const startIsolate = (number: number) => {
    const isolate = new SimulatedIsolate(time, queue, { random, networkMs });
    const perMs = (load.perSecond / 1_000) * share * (number < busy ? BUSY_RATE : 1);
    const sendOne = async () => {
      const sentMs = time.now();
      const counts = sentMs >= fromMs && sentMs < toMs;
      all.sent += 1;
      if (counts) counted.sent += 1;
      const isStored = await isolate.send();
      if (isStored) all.stored += 1;
      else all.failed += 1;
      if (!counts) return;
      if (isStored) sendMs.push(time.now() - sentMs);
      else counted.failed += 1;
    };
    const next = () => {
      const gapMs = -Math.log(1 - random()) / perMs;
      if (time.now() + gapMs >= toMs) return;
      time.after(gapMs, () => {
        void sendOne();
        next();
      });
    };
    if (load.startsMs > 0) void sendOne();
    time.after(fromMs - SETTLES_MS - time.now(), next);
  };
  for (let number = 0; number < load.isolates; number++) {
    time.after(random() * load.startsMs, () => startIsolate(number));
  }

  await time.runUntil(fromMs);
  if (load.incident !== undefined) plan(load.incident, time, queue);
  const before = countsOf(queue);
  await time.runUntil(toMs);
  const after = countsOf(queue);
  await time.runOut();

  const objects = after.map((last, shard) => difference(last, before[shard]));
  const sum = (of: (counts: Counts) => number) => objects.reduce((total, counts) => total + of(counts), 0);
  const messages = objects.map((counts) => counts.messages);
  const [stored, calls, commits] = [sum((o) => o.messages), sum((o) => o.calls), sum((o) => o.commits)];
  const refused = sum((o) => o.overloaded);
  const used = {
    rowsWritten: commits * costs.rowsPerCommit,
    rowsRead: 0,
    requests: calls,
    awakeMs: sum((o) => o.awakeMs),
  };
  const million = 1e6 / stored;
  return {
    sent: counted.sent,
    stored: sendMs.length,
    failed: counted.failed,
    perSecond: (1_000 * stored) / load.countedMs,
    send: latency(sendMs),
    messagesPerCall: stored / (calls - sum((o) => o.remapped)),
    callsPerCommit: calls / commits,
    mostLoaded: (Math.max(...messages) * messages.length) / stored,
    leastLoaded: (Math.min(...messages) * messages.length) / stored,
    busiest: Math.max(...objects.map(({ busyMs }) => busyMs)) / load.countedMs,
    refusedShare: refused / (refused + calls),
    remapped: sum((o) => o.remapped),
    rows: used.rowsWritten * million,
    requests: used.requests * million,
    gigabyteSeconds: gigabyteSeconds(used.awakeMs) * million,
    bill: scaled(billOf(used), million),
    all,
  };
}

interface Counts extends ObjectCounts {
  busyMs: number;
}

function countsOf(queue: SimulatedQueue): Counts[] {
  return queue.shards.map((shard) => ({ ...shard.countsNow(), busyMs: shard.busyMs }));
}

function difference(last: Counts, first: Counts | undefined): Counts {
  if (first === undefined) return last;
  const keys = Object.keys(last) as (keyof Counts)[];
  return Object.fromEntries(keys.map((key) => [key, last[key] - first[key]])) as unknown as Counts;
}

function plan(incident: Incident, time: VirtualTime, queue: SimulatedQueue): void {
  time.after(incident.atMs, () => {
    if (incident.kind === "grow") {
      queue.grow(incident.shards);
      return;
    }
    const shard = queue.shards[incident.shard];
    if (shard === undefined) throw new Error(`there is no shard ${incident.shard}`);
    shard.isAway = true;
    time.after(incident.forMs, () => {
      shard.isAway = false;
    });
  });
}
