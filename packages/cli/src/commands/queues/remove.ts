import type { QueueView } from "@sluice/gateway/views";
import { plural } from "@sluice/protocol/words";
import { finishedOf } from "../../client/messages.ts";
import { deleteQueue, purgeQueue, queueNamed } from "../../client/queues.ts";
import { answer, confirm, type OnBroker } from "../on-broker.ts";

/** Warning for a queue that the configuration names: a restart does not create it again. */
const STAYS_DELETED =
  "The configuration names it; sends to it fail then, also after a restart, until it is created again.";

/** `sluice queues delete`: deletes a queue with everything in it. */
export async function remove(on: OnBroker, name: string, force: boolean): Promise<number> {
  const queue = await queueNamed(on.client, name);
  if (!force) {
    const finished = await finishedOf(on.client, queue);
    const what = `Deletes queue ${name} with ${heldBy(queue)}${andFinished(finished, "keeps")}.`;
    await confirm(on, { name, what: queue.isConfigured ? `${what} ${STAYS_DELETED}` : what, force });
  }
  await deleteQueue(on.client, queue);
  const { isConfigured } = queue;
  const words = isConfigured
    ? `Deleted queue ${name}. The configuration names it; sends to it fail now, also after a restart. ` +
      `"sluice queues create ${name}" brings it back, with the consumer and the settings of the configuration.`
    : `Deleted queue ${name}.`;
  answer(on, { queue: name, deleted: true, ...(isConfigured ? { isConfigured } : {}) }, { words });
  return 0;
}

/** `sluice queues purge`: deletes every message of a queue, leased ones too, and the finished ones that it keeps. */
export async function purge(on: OnBroker, name: string, force: boolean): Promise<number> {
  const queue = await queueNamed(on.client, name);
  const finished = await finishedOf(on.client, queue);
  const what = `Deletes ${heldBy(queue)} of queue ${name}, leased ones too${andFinished(finished, "keeps")}.`;
  await confirm(on, { name, what, force });
  const purged = await purgeQueue(on.client, name);
  const words = `Deleted ${plural(purged, "message")} of queue ${name}${andFinished(finished, "kept")}.`;
  answer(on, { queue: name, purged, ...(finished === 0 ? {} : { finished }) }, { words });
  return 0;
}

function heldBy({ messages: { ready, delayed, leased } }: QueueView): string {
  return plural(ready + delayed + leased, "message");
}

function andFinished(finished: number, keeps: "keeps" | "kept"): string {
  return finished === 0 ? "" : `, and the ${plural(finished, "finished message")} that it ${keeps}`;
}
