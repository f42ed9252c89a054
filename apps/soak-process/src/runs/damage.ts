import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleWorkers, type WorkerSources } from "../cluster/bundle-workers.ts";
import { Cluster } from "../cluster/cluster.ts";
import { PRODUCED_QUEUES } from "../cluster/topology.ts";
import { type BaseState, makeBaseState } from "../damage/base-state.ts";
import { type CaseResult, conclude, look } from "../damage/case-result.ts";
import { DamageLedger } from "../damage/damage-ledger.ts";
import type { Seen } from "../damage/judge.ts";
import { damage } from "../damage/kinds.ts";
import { type Case, type DamageOptions, runCases } from "../damage/run-cases.ts";
import { copyState, databaseOf, type Target } from "../damage/state-files.ts";

/** A state is made once for so many cases: to make one takes seconds. */
const CASES_PER_STATE = 14;
/** Longer than what waits in a state. In ms. */
const TIME_PASSES_MS = 7_200_000;
/** Longest that a case waits without a delivery before what has not come is missing, in ms. */
const STALLED_MS = 2_500;
/** Longest that a case waits for a deliverable probe, in ms: a refused object is tried again meanwhile. */
const PROBE_MS_MAX = 15_000;
const LOOK_AGAIN_MS = 50;

const TARGETS: readonly Target[] = [
  ...PRODUCED_QUEUES.map((name): Target => ({ kind: "queue", name })),
  { kind: "directory" },
];

/**
 * Damages the files of one object after the other, in every way, and looks at what the next life makes of it. What a
 * case does depends on the seed and the case's number alone.
 */
export async function runDamage(options: DamageOptions): Promise<CaseResult[]> {
  const sources = await bundleWorkers();
  return runCases(options, {
    casesPerState: CASES_PER_STATE,
    targets: TARGETS,
    makeBase: (random) => makeBaseState(sources, random),
    run: (drawn) => runCase(sources, drawn),
  });
}

async function runCase(
  sources: WorkerSources,
  { base, databases, kind, target, random }: Case<BaseState>,
): Promise<CaseResult> {
  const folder = await copyState(base.folder);
  const ledger = new DamageLedger(base.kept);
  try {
    const done = await damage(kind, databaseOf(folder, databases, target), random);
    const cluster = await Cluster.start({
      sources,
      persistDir: folder,
      handle: async (report) => {
        ledger.delivered(report);
        return { acks: [], retries: [], ends: "returns" };
      },
    });
    try {
      await untilDelivered(cluster, ledger);
      const probed = await Promise.all(PRODUCED_QUEUES.map((queue) => probe(cluster, queue, ledger)));
      const figures = await cluster.queues().catch(() => null);
      const seen = PRODUCED_QUEUES.map((queue, i) =>
        look(queue, ledger, figures, cluster.lines, probed[i] ?? "lost"),
      );
      return conclude({ kind, target, done, ledger, seen, figures, lines: cluster.lines });
    } finally {
      cluster.kill();
      await cluster.ended();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lets time pass until everything has been delivered, or nothing more comes. */
async function untilDelivered(cluster: Cluster, ledger: DamageLedger): Promise<void> {
  // Opens every queue that can be.
  await cluster.queues().catch(() => null);
  await cluster.advanceClock(TIME_PASSES_MS);
  let [count, sinceMs] = [-1, Date.now()];
  for (;;) {
    if (PRODUCED_QUEUES.every((queue) => ledger.missing(queue) === 0)) break;
    if (ledger.cameCount !== count) [count, sinceMs] = [ledger.cameCount, Date.now()];
    else if (Date.now() - sinceMs > STALLED_MS) break;
    await sleep(LOOK_AGAIN_MS);
  }
  // What comes although it was settled comes in the same way: after the rest, at the latest.
  await sleep(10 * LOOK_AGAIN_MS);
}

/** Sends one more message, and waits for it. */
async function probe(cluster: Cluster, queue: string, ledger: DamageLedger): Promise<Seen["probe"]> {
  const { message, body } = ledger.intend({ queue, bytes: 50 });
  const [answer] = await cluster.send({ queue, how: "singles", messages: [{ body }] });
  if (answer !== null) return "refused";
  const deadlineMs = Date.now() + PROBE_MS_MAX;
  while (!message.hasCome) {
    if (Date.now() > deadlineMs) return "lost";
    await sleep(LOOK_AGAIN_MS);
  }
  return "delivered";
}
