import type { Load } from "./simulate.ts";

/** A simulated load with its name in the tables. */
export interface NamedLoad extends Load {
  readonly title: string;
}

/** Isolates for each shard. */
const ISOLATES = 100;
/** Messages a second for each shard. */
const PER_SECOND = 1_000;

/** Loads that are simulated. */
export const LOADS: readonly NamedLoad[] = [
  even(1),
  even(8),
  even(32),
  even(100),
  { ...even(100), title: "100 shards, half of that load", perSecond: 50_000 },
  { ...even(100), title: "100 shards, 1 of 100 isolates sends 100 times as much", busyShare: 0.01 },
  { ...even(100), title: "100 shards, 1,000 isolates with as much", isolates: 1_000 },
  {
    ...even(100),
    title: "100 shards, half of that load, all isolates new at once",
    startsMs: 0,
    perSecond: 50_000,
  },
  {
    ...even(100),
    title: "100 shards, half of that load, one away for 10 s",
    perSecond: 50_000,
    countedMs: 11_000,
    incident: { kind: "away", atMs: 500, forMs: 10_000, shard: 7 },
  },
  {
    ...even(8),
    title: "8 shards with 1.5 times their load, 32 after 2 s",
    perSecond: 12_000,
    countedMs: 10_000,
    incident: { kind: "grow", atMs: 2_000, shards: 32 },
  },
];

function even(shards: number): NamedLoad {
  return {
    title: `${shards} shard${shards === 1 ? "" : "s"}`,
    shards,
    isolates: shards * ISOLATES,
    perSecond: shards * PER_SECOND,
    // So slowly that shard 0 answers all isolates: each calls it first.
    startsMs: 20_000,
    countedMs: 3_000,
  };
}

/** Makes a load small, for a run that only shows that the simulation works. */
export function quickLoad(load: NamedLoad): NamedLoad {
  const { shards, isolates, perSecond, incident } = load;
  const small = { ...load, isolates: isolates / 10, perSecond: perSecond / 10, countedMs: 500 };
  if (incident === undefined) return { ...small, startsMs: Math.min(load.startsMs, 200) };
  const atMs = 100;
  const quick = incident.kind === "away" ? { ...incident, atMs, forMs: 200 } : { ...incident, atMs };
  return { ...small, shards, startsMs: 200, incident: quick };
}
