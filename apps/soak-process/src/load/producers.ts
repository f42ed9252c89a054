import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import type { SendOrder } from "../../workers/wire.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { PRODUCED_QUEUES } from "../cluster/topology.ts";
import type { DeliveryLedger } from "../ledger/delivery-ledger.ts";
import type { Message } from "../ledger/message.ts";

const PRODUCERS = 4;
/** Owed messages at which the producers pause: more would only make the end of a run longer. */
const OPEN_MAX = 3_000;
/** Longest pause between two orders of a producer, in ms. */
const PAUSE_MS_MAX = 15;
/** Longest delay of a message, in seconds: longer than the epochs between two kills. */
const DELAY_SECONDS_MAX = 3;

/**
 * Sends at random until `stop`: single messages, many at once, batches, and both with delays. Resolves when every
 * producer has stopped, by `stop` or because its process was killed.
 */
export async function produce(
  cluster: Pick<Cluster, "send">,
  ledger: DeliveryLedger,
  random: Random,
  stop: AbortSignal,
): Promise<void> {
  await Promise.all(
    Array.from({ length: PRODUCERS }, () => produceOne(cluster, ledger, random.fork(), stop)),
  );
}

async function produceOne(
  cluster: Pick<Cluster, "send">,
  ledger: DeliveryLedger,
  random: Random,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    if (ledger.owed < OPEN_MAX) {
      const isAlive = await sendOrder(cluster, ledger, drawOrder(random));
      if (!isAlive) return;
    }
    await sleep(random.between(0, PAUSE_MS_MAX));
  }
}

/** Code of a send that failed without a refusal by the queue, as when its object was reset. */
const INTERNAL_ERROR = "(15000)";

/** An order before its messages are in the ledger. */
interface DrawnOrder {
  readonly queue: string;
  readonly how: SendOrder["how"];
  readonly messages: readonly { readonly bytes: number; readonly delaySeconds: number | null }[];
}

function drawOrder(random: Random): DrawnOrder {
  const how = random.pick(["batch", "singles"]);
  const isDelayed = random.chance(0.25);
  const count = how === "batch" ? random.between(1, 60) : random.between(1, 12);
  return {
    queue: random.pick(PRODUCED_QUEUES),
    how,
    messages: Array.from({ length: count }, () => ({
      bytes: random.chance(0.02) ? random.between(1_000, 60_000) : random.between(1, 400),
      delaySeconds: isDelayed && random.chance(0.7) ? random.between(1, DELAY_SECONDS_MAX) : null,
    })),
  };
}

/**
 * Enters an order into the ledger, sends it and enters the answers.
 *
 * @returns whether there were any: `false` if the process is gone.
 */
async function sendOrder(
  cluster: Pick<Cluster, "send">,
  ledger: DeliveryLedger,
  { queue, how, messages }: DrawnOrder,
): Promise<boolean> {
  const entries: Message[] = [];
  const outgoing = withinBatchLimit(messages).map(({ bytes, delaySeconds }) => {
    const { message, body } = ledger.intend({ queue, bytes, delayMs: 1000 * (delaySeconds ?? 0) });
    entries.push(message);
    return delaySeconds === null ? { body } : { body, delaySeconds };
  });
  try {
    const answers = await cluster.send({ queue, how, messages: outgoing });
    for (const [i, answer] of answers.entries()) {
      const entry = entries[i];
      // After an internal error the message may be stored or not: only a refusal that names its reason is certain.
      const isOpen = answer?.includes(INTERNAL_ERROR) ?? false;
      if (entry !== undefined && answer === null) ledger.acknowledged(entry);
      else if (entry !== undefined && !isOpen) ledger.refused(entry);
      if (answer !== null) ledger.refusals.add(answer);
    }
    return true;
  } catch {
    return false;
  }
}

/** Keeps the first message, and those that fit into one `sendBatch`: 256,000 bytes, JSON's quotes included. */
function withinBatchLimit(messages: DrawnOrder["messages"]): DrawnOrder["messages"] {
  let bytes = 0;
  return messages.filter((message, i) => {
    bytes += message.bytes + 32;
    return i === 0 || bytes < 250_000;
  });
}
