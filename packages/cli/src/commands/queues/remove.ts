import type { QueueView } from "@sluice/gateway/views";
import { plural } from "@sluice/protocol/words";
import { deleteQueue, purgeQueue, queueNamed } from "../../client/queues.ts";
import { answer, confirm, type OnBroker } from "../on-broker.ts";

/** `sluice queues delete`: deletes a queue with everything in it. */
export async function remove(on: OnBroker, name: string, force: boolean): Promise<number> {
  const queue = await queueNamed(on.client, name);
  await confirm(on, { name, what: `Deletes queue ${name} with ${heldBy(queue)}.`, force });
  await deleteQueue(on.client, queue);
  answer(on, { queue: name, deleted: true }, { words: `Deleted queue ${name}.` });
  return 0;
}

/** `sluice queues purge`: deletes every message of a queue, leased ones too. */
export async function purge(on: OnBroker, name: string, force: boolean): Promise<number> {
  const queue = await queueNamed(on.client, name);
  await confirm(on, { name, what: `Deletes ${heldBy(queue)} of queue ${name}, leased ones too.`, force });
  const purged = await purgeQueue(on.client, name);
  answer(on, { queue: name, purged }, { words: `Deleted ${plural(purged, "message")} of queue ${name}.` });
  return 0;
}

function heldBy({ messages: { ready, delayed, leased } }: QueueView): string {
  return plural(ready + delayed + leased, "message");
}
