import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import type { BatchReport, Verdict } from "../../workers/wire.ts";
import { Cluster } from "../cluster/cluster.ts";
import { BROKER, clusterServices } from "../cluster/services.ts";
import { PRODUCED_QUEUES } from "../cluster/topology.ts";
import type { DamageLedger } from "./damage-ledger.ts";
import type { DamagedBroker, DamagedEpoch } from "./run-damage.ts";

/** Delay of every waiting message in s, so that none is delivered before the damage is done. */
const WAIT_SECONDS = 3_600;
/** Time by which the clock is moved to make all of them due, in ms. */
const TIME_PASSES_MS = 7_200_000;
const ORDERS = 12;
/** Time without a delivery after which messages that have not come are missing, in ms. */
const STALLED_MS = 2_500;
/** Longest time until a probe is delivered, in ms: the broker retries an object that fails meanwhile. */
const PROBE_MS_MAX = 15_000;
/** Longest time until all messages that are due were delivered and settled before the damage, in ms. */
const SETTLED_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 50;

/** Workers on workerd whose files are damaged. */
export async function damagedWorkers(): Promise<DamagedBroker> {
  const services = await clusterServices();
  return {
    casesPerState: 14,
    queues: PRODUCED_QUEUES,
    async start(folder, ledger) {
      let settle: Settle = (report) => {
        ledger.delivered(report);
        return { acks: [], retries: [], ends: "returns" };
      };
      const handle = async (report: BatchReport) => settle(report);
      const cluster = await Cluster.start({ services, persistDir: folder, handle });
      return epochOf(cluster, ledger, (change) => {
        settle = change;
      });
    },
    close: async () => {},
  };
}

type Settle = (report: BatchReport) => Verdict;

function epochOf(cluster: Cluster, ledger: DamageLedger, settleBy: (settle: Settle) => void): DamagedEpoch {
  return {
    lines: cluster.lines,
    async fill(random) {
      settleBy((report) => settleHalf(report, ledger, random));
      for (let order = 0; order < ORDERS; order++) {
        for (const queue of PRODUCED_QUEUES) await send(cluster, queue, ledger, random);
      }
      const deadlineMs = Date.now() + SETTLED_MS_MAX;
      while ((await cluster.queues()).some(({ messages }) => messages.ready + messages.leased > 0)) {
        if (Date.now() > deadlineMs) throw new Error("healthy queues do not deliver all that is due");
        await sleep(LOOK_AGAIN_MS);
      }
    },
    async takeAll() {
      // Opens every queue that can be opened.
      await cluster.queues().catch(() => null);
      // Moves the clock by the queues' objects, since the directory may be damaged.
      await cluster.request(BROKER, `/__soak/clock?ms=${TIME_PASSES_MS}`, { method: "POST" });
      let [count, sinceMs] = [-1, Date.now()];
      while (PRODUCED_QUEUES.some((queue) => ledger.missing(queue) > 0)) {
        if (ledger.cameCount !== count) [count, sinceMs] = [ledger.cameCount, Date.now()];
        else if (Date.now() - sinceMs > STALLED_MS) break;
        await sleep(LOOK_AGAIN_MS);
      }
      // Settled messages that come again come within this time after the others.
      await sleep(10 * LOOK_AGAIN_MS);
    },
    async probe(queue) {
      const { message, body } = ledger.intend({ queue, bytes: 50 });
      const [answer] = await cluster.send({ queue, how: "singles", messages: [{ body }] });
      if (answer !== null) return "refused";
      const deadlineMs = Date.now() + PROBE_MS_MAX;
      while (!message.hasCome) {
        if (Date.now() > deadlineMs) return "lost";
        await sleep(LOOK_AGAIN_MS);
      }
      return "delivered";
    },
    queues: () => cluster.queues(),
    hasEnded: () => cluster.hasEnded(),
    kill: () => cluster.kill(),
  };
}

/** Settles half of a batch for good, and has the other half retried in an hour. */
function settleHalf({ messages }: BatchReport, ledger: DamageLedger, random: Random): Verdict {
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
    const { body } = ledger.stored(queue, random);
    return isDelayed ? { body, delaySeconds: WAIT_SECONDS } : { body };
  });
  const total = messages.reduce((sum, { body }) => sum + body.length + 32, 0);
  const how = total < 250_000 && random.chance(0.7) ? "batch" : "singles";
  const refused = (await cluster.send({ queue, how, messages })).find((answer) => answer !== null);
  if (refused !== undefined) throw new Error(`a healthy queue refused a message: ${refused}`);
}
