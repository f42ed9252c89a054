import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import type { BatchReport, Verdict } from "../../workers/wire.ts";
import type { WorkerSources } from "../cluster/bundle-workers.ts";
import { Cluster } from "../cluster/cluster.ts";
import { PRODUCED_QUEUES } from "../cluster/topology.ts";
import { DamageLedger, type Kept } from "./damage-ledger.ts";

/** Everything that waits does so for this long, so that nothing is delivered before the damage is done; in s. */
const WAIT_SECONDS = 3_600;
/** A queue reports how far it has come at most 5 s after a commit; what was committed since is not covered. In ms. */
const REPORTED_AFTER_MS = 7_000;
/** Orders to each queue. */
const ORDERS = 12;
const LOOK_AGAIN_MS = 50;

/** A state with messages in every queue, some waiting, some retried, some done with, and nothing under way. */
export interface BaseState {
  readonly folder: string;
  readonly kept: readonly Kept[];
}

/** Makes a state to be damaged. Its process is ended with kill -9, so that the latest of it lies in the logs. */
export async function makeBaseState(sources: WorkerSources, random: Random): Promise<BaseState> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-damage-base-"));
  const ledger = new DamageLedger();
  const cluster = await Cluster.start({
    sources,
    persistDir: folder,
    handle: async (report) => settle(report, ledger, random),
  });
  try {
    for (let order = 0; order < ORDERS; order++) {
      for (const queue of PRODUCED_QUEUES) await send(cluster, queue, ledger, random);
    }
    await untilNothingIsUnderWay(cluster);
    await sleep(REPORTED_AFTER_MS);
    return { folder, kept: ledger.messages };
  } finally {
    cluster.kill();
    await cluster.ended();
  }
}

/** Half of what is delivered is done with, the other half is retried in an hour. */
function settle({ messages }: BatchReport, ledger: DamageLedger, random: Random): Verdict {
  const retries: { position: number; delaySeconds: number }[] = [];
  for (const [position, { body }] of messages.entries()) {
    const message = ledger.sentAs(body);
    if (random.chance(0.5)) retries.push({ position, delaySeconds: WAIT_SECONDS });
    else message.isSettled = true;
  }
  return { acks: [], retries, ends: "returns" };
}

async function send(cluster: Cluster, queue: string, ledger: DamageLedger, random: Random): Promise<void> {
  const isDelayed = random.chance(0.6);
  const messages = Array.from({ length: random.between(1, 50) }, () => {
    const bytes = random.chance(0.05) ? random.between(1_000, 20_000) : random.between(1, 400);
    const { message, body } = ledger.intend({ queue, bytes });
    ledger.acknowledged(message);
    return isDelayed ? { body, delaySeconds: WAIT_SECONDS } : { body };
  });
  const total = messages.reduce((sum, { body }) => sum + body.length + 32, 0);
  const how = total < 250_000 && random.chance(0.7) ? "batch" : "singles";
  const refused = (await cluster.send({ queue, how, messages })).find((answer) => answer !== null);
  if (refused !== undefined) throw new Error(`a healthy queue refused a message: ${refused}`);
}

async function untilNothingIsUnderWay(cluster: Cluster): Promise<void> {
  for (;;) {
    const queues = await cluster.queues();
    if (queues.every(({ messages }) => messages.ready + messages.leased === 0)) return;
    await sleep(LOOK_AGAIN_MS);
  }
}
