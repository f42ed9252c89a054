import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "@sluice/harness/random";
import type { QueueFigures } from "../cluster/queue-figures.ts";
import { type CaseResult, conclude } from "./case-result.ts";
import { DamageLedger } from "./damage-ledger.ts";
import type { Seen } from "./judge.ts";
import { DAMAGE_KINDS, type DamageKind, damage } from "./kinds.ts";
import { copyState, databaseOf, databasesOf, type Target } from "./state-files.ts";

/**
 * Time after which a commit is reported to the directory, in ms: a queue reports at most 5 s after it. Damage to later
 * commits need not be noticed.
 */
const REPORTED_AFTER_MS = 7_000;

export interface DamageOptions {
  /** Numbers of the cases, from 1, in ascending order. */
  readonly numbers: readonly number[];
  readonly seed: number;
  readonly onCase?: (number: number, result: CaseResult) => void;
}

/** A broker whose files are damaged. */
export interface DamagedBroker {
  /** Number of cases that share one state: making one takes seconds. */
  readonly casesPerState: number;
  /** Queues that have messages when the damage is done. */
  readonly queues: readonly string[];
  /** Starts an epoch on a folder. All its deliveries go into the ledger. */
  start(folder: string, ledger: DamageLedger): Promise<DamagedEpoch>;
  close(): Promise<void>;
}

/** One life of that broker, from its start to a kill. */
export interface DamagedEpoch {
  readonly lines: readonly string[];
  /** Sends messages to every queue and settles some: at the end the others wait, and none is under way. */
  fill(random: Random): Promise<void>;
  /** Takes the messages of all queues, until all owed ones have come or no more come. */
  takeAll(): Promise<void>;
  /** Sends one more message, and waits for it. */
  probe(queue: string): Promise<Seen["probe"]>;
  /** Every queue as the admin API shows it. */
  queues(): Promise<readonly QueueFigures[]>;
  hasEnded(): boolean | Promise<boolean>;
  /** kill -9, so that the latest writes are in the logs. */
  kill(): Promise<void>;
}

interface State {
  readonly folder: string;
  readonly ledger: DamageLedger;
  /** Path of each object's database below the folder, by the keys of `databasesOf`. */
  readonly databases: ReadonlyMap<string, string>;
}

/**
 * Damages the files of one object after the other, in every way, while no broker runs, and observes the next epoch. A
 * case depends on the seed and its number alone.
 */
export async function runDamage(
  broker: DamagedBroker,
  { numbers, seed, onCase }: DamageOptions,
): Promise<CaseResult[]> {
  const stateOf = (number: number) => Math.floor((number - 1) / broker.casesPerState);
  const results: CaseResult[] = [];
  try {
    for (const at of new Set(numbers.map(stateOf))) {
      const state = await makeState(broker, new Random(seed + at));
      try {
        for (const number of numbers.filter((each) => stateOf(each) === at)) {
          const result = await runCase(broker, state, seed, number);
          results.push(result);
          onCase?.(number, result);
        }
      } finally {
        await rm(state.folder, { recursive: true, force: true });
      }
    }
  } finally {
    await broker.close();
  }
  return results;
}

async function makeState(broker: DamagedBroker, random: Random): Promise<State> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-damage-base-"));
  const ledger = new DamageLedger();
  try {
    const epoch = await broker.start(folder, ledger);
    try {
      await epoch.fill(random);
      await sleep(REPORTED_AFTER_MS);
    } finally {
      await epoch.kill();
    }
    return { folder, ledger, databases: await databasesOf(folder) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function runCase(
  broker: DamagedBroker,
  state: State,
  seed: number,
  number: number,
): Promise<CaseResult> {
  const { kind, target, random } = drawCase(broker.queues, seed, number);
  const folder = await copyState(state.folder);
  const ledger = new DamageLedger(state.ledger.messages);
  try {
    const done = await damage(kind, databaseOf(folder, state.databases, target), random);
    const epoch = await broker.start(folder, ledger);
    try {
      await epoch.takeAll();
      const probes = new Map(
        await Promise.all(broker.queues.map(async (queue) => [queue, await epoch.probe(queue)] as const)),
      );
      const figures = await epoch.queues().catch(() => null);
      if (await epoch.hasEnded()) ledger.violation("the process has ended by itself");
      return conclude({ kind, target, done, ledger, probes, figures, lines: epoch.lines });
    } finally {
      await epoch.kill();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Draws a case. With any seed the numbers go through every kind of damage to every object. */
function drawCase(
  queues: readonly string[],
  seed: number,
  number: number,
): { readonly kind: DamageKind; readonly target: Target; readonly random: Random } {
  const targets: Target[] = [
    ...queues.map((name) => ({ kind: "queue", name }) as const),
    { kind: "directory" },
  ];
  const kind = DAMAGE_KINDS[(number - 1) % DAMAGE_KINDS.length];
  const target = targets[Math.floor((number - 1) / DAMAGE_KINDS.length) % targets.length];
  if (kind === undefined || target === undefined) throw new RangeError(`there is no case ${number}`);
  return { kind, target, random: new Random(Math.imul(seed + 1, 0x9e37_79b1) + number) };
}
